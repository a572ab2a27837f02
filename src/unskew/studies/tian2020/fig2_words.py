"""What figure 2 says: identities that must hold, and which way the errors go."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.stats import Mean
from unskew.studies.tian2020 import words
from unskew.studies.tian2020.printed import MEANS, RECOMMENDERS
from unskew.studies.tian2020.runs import ARCHIVE, EXPECTED, Runs
from unskew.studies.tian2020.sets import SETS

FAR = 4
"""Standard errors over runs that an unbiased estimate may be off; more of them when few runs tell what they are."""
CLEARLY = 3
ROUNDING = 1e-9
PRECISION, RECALL, MRR, _ = words.PAPER_METRICS
PENALISED = (PRECISION, MRR)


class Seen(NamedTuple):
    """The observed and the true value of each run."""

    observed: Floats
    truth: Floats

    @property
    def error(self) -> Floats:
        """Observed less true."""
        return self.observed - self.truth


Values: TypeAlias = Mapping[tuple[str, str, str], Seen]
"""By world, recommender and metric."""


def identities(runs: Sequence[Runs]) -> Iterator[Claim]:
    """What follows from how worlds and recommenders are made."""
    ways = (EXPECTED, ARCHIVE)
    off = max(
        float(np.max(np.abs(each.values("oracle", metric, way)[1] - 1)))
        for each in runs
        for metric in PENALISED
        for way in ways
    )
    yield Claim(
        "The oracle's true precision and reciprocal rank are 1", off < ROUNDING, f"largest distance of a run {off:.1e}"
    )
    uniform = [each for each in runs if each.world in words.UNIFORM]
    far = {
        f"{each.data} {each.world} {recommender}": _distance(each, recommender, way)
        for each in uniform
        for recommender in RECOMMENDERS
        for way in ways
    }
    if far:
        worst = max(far, key=lambda key: abs(far[key]))
        reach = allowed(min(len(each) for each in uniform))
        yield Claim(
            f"Recall is observed without bias under uniform observation: within {FAR} standard errors of the truth, "
            "all three recommenders",
            all(abs(z) < reach for z in far.values()),
            f"furthest of {len(far)}: {worst} {far[worst]:+.1f} s.e., where {reach:.1f} by Student's t are as rare as "
            f"{FAR} by the normal",
        )


def allowed(runs: int) -> float:
    """Standard errors, estimated from so many runs, that are as rare as `FAR` known ones.

    Examples
    --------
    >>> round(allowed(100), 2), round(allowed(8), 2)
    (4.18, 8.47)
    """
    from scipy.stats import norm, t

    return float(t.isf(norm.sf(FAR), runs - 1))


def _distance(each: Runs, recommender: str, way: str) -> float:
    """Mean error of recall in standard errors over runs; nothing at all where no run has any."""
    observed, truth = each.values(recommender, RECALL, way)
    mean = Mean.of(observed - truth)
    return mean.value / mean.error if mean.error else 0.0


def values_of(runs: Sequence[Runs], way: str) -> Values:
    """Every run of one data set."""
    return {
        (each.world, recommender, metric): Seen(*each.values(recommender, metric, way))
        for each in runs
        for recommender in RECOMMENDERS
        for metric in words.PAPER_METRICS
    }


def printed_values(paper: str) -> Values:
    """The means that the authors archived, as one run."""
    return {
        (world, recommender, metric): Seen(np.array([pair.observed]), np.array([pair.truth]))
        for world, by_recommender in MEANS[paper].items()
        for recommender, by_metric in by_recommender.items()
        for metric, pair in by_metric.items()
    }


def claims(runs: Sequence[Runs]) -> Iterator[Claim]:
    """The shapes that the paper reports, for each data set."""
    for data in dict.fromkeys(each.data for each in runs):
        own = [each for each in runs if each.data == data]
        ours = {way: values_of(own, way) for way in (EXPECTED, ARCHIVE)}
        archived = printed_values(SETS[data].paper)
        for sentence, shape in _SHAPES.items():
            found = {way: Tally.of(shape(values)) for way, values in ours.items()}
            told = [f"{words.TITLES[way]}: {each.told}" for way, each in found.items()]
            yield Claim(
                f"{data}: {sentence}",
                _judged(found.values()),
                f"{'; '.join(told)}; in the means of {SETS[data].paper} that the authors archived: "
                f"{Tally.of(shape(archived)).told}",
            )


@dataclass(frozen=True)
class Tally:
    """Where something that should be above 0 is, where it is not, and where it cannot be told from 0."""

    good: tuple[str, ...]
    against: tuple[str, ...]
    unsure: tuple[str, ...]

    @classmethod
    def of(cls, shape: Iterable[tuple[str, Floats]]) -> "Tally":
        """By the mean over runs and its standard error; a single run decides by its sign."""
        lists: tuple[list[str], list[str], list[str]] = ([], [], [])
        for name, values in shape:
            mean = Mean.of(values)
            reach = CLEARLY * (mean.error or 0.0)
            side = 2 if abs(mean.value) <= reach else int(mean.value <= 0)
            lists[side].append(name)
        return cls(*map(tuple, lists))

    @property
    def told(self) -> str:
        """In words."""
        total = len(self.good) + len(self.against) + len(self.unsure)
        if len(self.good) == total:
            return f"in all {total}"
        unsure = f", within {CLEARLY} s.e. of no difference {words.some(self.unsure)}" if self.unsure else ""
        against = f", not for {words.some(self.against)}" if self.against else ""
        return f"in {len(self.good)} of {total}{against}{unsure}"


def _judged(found: Iterable[Tally]) -> bool | None:
    """Whether nothing speaks against it; None where nothing speaks for it either."""
    tallies = list(found)
    if any(each.against for each in tallies):
        return False
    return True if all(each.good for each in tallies) else None


Shape: TypeAlias = Iterator[tuple[str, Floats]]


def _recall_above(values: Values) -> Shape:
    for (world, recommender, metric), seen in values.items():
        if metric == RECALL and world in words.POPULAR and recommender != "random":
            yield f"{world} {recommender}", seen.error


def _below(values: Values) -> Shape:
    for (world, recommender, metric), seen in values.items():
        if metric in PENALISED:
            yield f"{world} {recommender} {words.NAMES[metric]}", -seen.error


def _oracle_lower(values: Values) -> Shape:
    for (world, metric), (oracle, popular) in _pairs(values).items():
        if metric in PENALISED:
            yield f"{world} {words.NAMES[metric]}", popular.error - oracle.error


def _ratio_larger(values: Values) -> Shape:
    for (world, metric), (oracle, popular) in _pairs(values).items():
        if metric in PENALISED and world in words.UNIFORM:
            # as the difference of the ratios, times both denominators: in a small run one may be 0
            apart = oracle.observed * popular.truth - oracle.truth * popular.observed
            yield f"{world} {words.NAMES[metric]}", apart


def _pairs(values: Values) -> dict[tuple[str, str], tuple["Seen", "Seen"]]:
    """Oracle and popular by world and metric."""
    keys = [(world, metric) for world, recommender, metric in values if recommender == "oracle"]
    return {(w, m): (values[w, "oracle", m], values[w, "popular", m]) for w, m in keys}


_SHAPES = {
    "recall is overestimated for oracle and popular where popularity decides what is observed": _recall_above,
    "precision and reciprocal rank are underestimated for all recommenders in all worlds": _below,
    "precision and reciprocal rank are underestimated more for the oracle than for popular, so that the absolute gap "
    "between them is underestimated": _oracle_lower,
    "under uniform observation the relative gap from popular to oracle, in precision and reciprocal rank, is "
    "overestimated": _ratio_larger,
}


def gap_notes(runs: Sequence[Runs]) -> Iterator[str]:
    """How the gap between oracle and popular is seen, as a ratio and as a difference, in all metrics."""
    for data in dict.fromkeys(each.data for each in runs):
        pairs = _pairs(values_of([each for each in runs if each.data == data], EXPECTED))
        told, wider, larger = [], 0, 0
        for (world, metric), (oracle, popular) in pairs.items():
            seen, true, rival_seen, rival_true = (
                float(np.mean(x)) for x in (oracle.observed, oracle.truth, popular.observed, popular.truth)
            )
            ratio, gap = (_over(seen, rival_seen), _over(true, rival_true)), (seen - rival_seen, true - rival_true)
            wider += ratio[0] > ratio[1] + ROUNDING
            larger += gap[0] > gap[1] + ROUNDING
            told.append(f"{world} {words.NAMES[metric]} {ratio[0]:.2f} ({ratio[1]:.2f}), {gap[0]:+.4f} ({gap[1]:+.4f})")
        yield (
            f"{data}, oracle over and less popular, observed and in brackets true, ties expected: {'; '.join(told)}. "
            f"The ratio is overestimated in {wider} of {len(pairs)}, the difference in {larger}."
        )


def _over(above: float, below: float) -> float:
    return above / below if below else float("inf")
