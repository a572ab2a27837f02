"""Figure 2: how far the observed metrics are from the true ones, and in which direction."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.tian2020.printed import MEANS, METRICS, POPULAR, RECOMMENDERS, SIDES, UNIFORM, WORLDS
from unskew.studies.tian2020.runs import ARCHIVE, EXPECTED, NAMES, TITLES, all_runs, method, naive_values, some
from unskew.studies.tian2020.sets import NEEDS, SETS, note_of, provenance, sources_of

FAR = 4
"""Standard errors over runs that an unbiased estimate may be off; more when they are estimated from few runs."""
CLEARLY = 3
ROUNDING = 1e-9
RECALL = METRICS[1]
NAMED = tuple(NAMES[metric] for metric in METRICS)
SENTENCES = {
    "recall is overestimated for oracle and popular where popularity decides what is observed": "Fig. 2",
    "precision and reciprocal rank are underestimated for all recommenders in all worlds": "Fig. 2",
    "precision and reciprocal rank are underestimated more for the oracle than for popular, so that the absolute "
    "gap between them is underestimated": "Fig. 2",
    "under uniform observation the effect size, as the ratio of oracle to popular in precision and reciprocal rank, is "
    "overestimated": "Sec. 4.2",
}
"""What the paper says of the errors, and where."""
Differences: TypeAlias = Mapping[str, Floats]
"""One value per run, by name."""
PAIR = ("oracle", "popular")
OBSERVED, TRUTH = SIDES
WAYS = (ARCHIVE, EXPECTED)
_ARCHIVED = "the reference is a mean of the authors' archived runs"
ARCHIVED = Trials.collect(("data", "world", "recommender", "metric", "side"), "run", MEANS.items())
"""The means that the authors archived, as one run."""


def run(context: Context) -> Findings:
    """Observed and true values, their errors as a figure, and what the paper says about them."""
    runs = all_runs(context)
    if not runs:
        return Findings(notes=provenance(context), used=())
    values = naive_values(runs, WAYS)
    sets = values.levels("data")
    return Findings(
        tuple(each for data in sets for each in _cells(values, data)),
        (*unbiased_recall(values), *claims(values)),
        tuple(figure(values, data, way) for way in WAYS for data in sets),
        (*method(runs), *gap_notes(values), *provenance(context)),
        used=sources_of(sets),
        trials=values,
    )


def _cells(values: Trials, data: str) -> Iterator[ReproducedCell]:
    """Observed and true values; the figure has no numbers, so the authors' archived means are references."""
    for (world, way, recommender, metric, side), numbers in values.at(data=data).groups.items():
        archived = MEANS[SETS[data].paper, world, recommender, metric, side] if way == ARCHIVE else None
        yield cell(
            f"{world}, {recommender}, {TITLES[way]}",
            f"{NAMES[metric]}: {side}",
            data,
            numbers,
            note="" if archived is None else f"{_ARCHIVED}; {note_of(data)}",
            reference=archived,
        )


def figure(values: Trials, data: str, way: str) -> Figure:
    """The errors of a data set, in one panel per metric."""
    ours, archived, with_archived = values.at(data=data, way=way), ARCHIVED.at(data=SETS[data].paper), way == ARCHIVE
    places = range(len(WORLDS))
    panels = []
    for metric in METRICS:
        series = []
        for recommender in RECOMMENDERS:
            errors = [error_of(ours, world, recommender, metric) for world in WORLDS]
            series.append(Series.middle(recommender, places, errors))
            if with_archived:
                means = [float(error_of(archived, world, recommender, metric)[0]) for world in WORLDS]
                series.append(Series.exact(f"{recommender}, the paper", places, means, naive=True))
        panels.append(Panel(f"{NAMES[metric]}, error", tuple(series)))
    grey = f" Grey, to the right: the means that the authors archived for {SETS[data].paper}." if with_archived else ""
    title = f"Observed minus true metrics on worlds calibrated to {data}, {TITLES[way]}"
    note = f"Points are means over runs, intervals hold the middle 95 % of the runs.{grey}"
    return Figure(title, "world", tuple(panels), note=note, categories=WORLDS)


def error_of(values: Trials, *key: str) -> Floats:
    """Observed minus true value of each run."""
    return values[(*key, OBSERVED)] - values[(*key, TRUTH)]


def unbiased_recall(values: Trials) -> Iterator[Claim]:
    """Whether recall has no error under uniform observation, as the authors' program computes it."""
    errors = {
        f"{data} {world} {recommender}": error_of(values, data, world, ARCHIVE, recommender, RECALL)
        for data, world, recommender in product(values.levels("data"), values.levels("world"), RECOMMENDERS)
        if world in UNIFORM
    }
    if errors:
        text = (
            f"Recall is observed without bias under uniform observation: within {FAR} standard errors of the truth, "
            "for all three recommenders"
        )
        yield claim(text, no_error(errors), section="Fig. 2", needs_full=False)


def no_error(errors: Mapping[str, Floats]) -> Verdict:
    """Whether all mean errors are within `FAR` standard errors of 0."""
    # if all items are candidates, the recall of random lists has no error but in the last bits
    far = {name: 0.0 if np.abs(error).max() < ROUNDING else Gap.of(error, 0.0).z for name, error in errors.items()}
    worst = max(far, key=lambda key: abs(far[key]))
    reach = allowed(min(map(len, errors.values())))
    return all(abs(z) < reach for z in far.values()), (
        f"furthest of {len(far)}: {worst} {far[worst]:+.1f} s.e.; by Student's t, {reach:.1f} s.e. are as rare as "
        f"{FAR} by the normal distribution"
    )


def allowed(runs: int) -> float:
    """Standard errors, estimated from this number of runs, that are as rare as `FAR` known ones.

    Examples
    --------
    >>> round(allowed(100), 2), round(allowed(8), 2)
    (4.18, 8.47)
    """
    from scipy.stats import norm, t

    return float(t.isf(norm.sf(FAR), runs - 1))


class Signs(NamedTuple):
    """Names of what is clearly above 0, of what is clearly below, and of what is too near to 0 to decide."""

    above: tuple[str, ...]
    below: tuple[str, ...]
    near: tuple[str, ...]

    @classmethod
    def of(cls, differences: Mapping[str, Floats]) -> "Signs":
        """By the mean over runs and its standard error; a single run decides by its sign."""
        lists: tuple[list[str], list[str], list[str]] = ([], [], [])
        for name, values in differences.items():
            mean = Mean.of(values)
            side = 2 if abs(mean.value) <= CLEARLY * (mean.error or 0.0) else int(mean.value <= 0)
            lists[side].append(name)
        return cls(*map(tuple, lists))

    @property
    def all_above(self) -> bool | None:
        """Whether all are clearly above 0; None where some are not clear and none is clearly below."""
        return False if self.below else None if self.near else True

    def __str__(self) -> str:
        total = sum(map(len, self))
        if len(self.above) == total:
            return f"in all {total}"
        near = f", no clear difference (within {CLEARLY} s.e.) for {some(self.near)}" if self.near else ""
        below = f", not for {some(self.below)}" if self.below else ""
        return f"in {len(self.above)} of {total}{below}{near}"


def shapes(
    values: Trials, uniform: Sequence[str] = UNIFORM, popular: Sequence[str] = POPULAR
) -> dict[str, Differences]:
    """Sentences of the paper, and differences by their names that must be above 0 for them to hold.

    The worlds are given by how they are observed. The metrics are precision, recall, reciprocal rank and NDCG, in the
    order of the trials.
    """
    worlds = tuple(world for world in values.levels("world") if world in (*uniform, *popular))
    precision, recall, mrr, *_ = values.levels("metric")
    penalised = {precision: NAMED[0], mrr: NAMED[2]}
    high = {f"{world} {name}": error_of(values, world, name, recall) for world, name in product(popular, PAIR)}
    low = {
        f"{world} {name} {title}": -error_of(values, world, name, metric)
        for world, name, (metric, title) in product(worlds, RECOMMENDERS, penalised.items())
    }
    lower, ratio = {}, {}
    for world, (metric, title) in product(worlds, penalised.items()):
        oracle, rival = (values.at(world=world, metric=metric, recommender=name) for name in PAIR)
        lower[f"{world} {title}"] = error_of(rival) - error_of(oracle)
        if world in uniform:
            # the difference of the ratios, times both denominators, because in a small run one may be 0
            ratio[f"{world} {title}"] = oracle[OBSERVED,] * rival[TRUTH,] - oracle[TRUTH,] * rival[OBSERVED,]
    return dict(zip(SENTENCES, (high, low, lower, ratio), strict=True))


def claims(values: Trials) -> Iterator[Claim]:
    """The shapes that the paper reports, for each data set: by the authors' program; ours are in the evidence."""
    for data in values.levels("data"):
        paper = SETS[data].paper
        ours = {way: shapes(values.at(data=data, way=way)) for way in WAYS}
        for sentence, archived in shapes(ARCHIVED.at(data=paper)).items():
            signs = {way: Signs.of(each[sentence]) for way, each in ours.items()}
            evidence = "; ".join(f"{TITLES[way]}: {each}" for way, each in signs.items())
            seen = f"{evidence}; in the means that the authors archived for {paper}: {Signs.of(archived)}"
            yield claim(f"{data}: {sentence}", (signs[ARCHIVE].all_above, seen), section=SENTENCES[sentence])


def gap_notes(values: Trials) -> Iterator[str]:
    """How the gap between oracle and popular is seen, as a ratio and as a difference, in all metrics."""
    for data in values.levels("data"):
        ours = values.at(data=data, way=EXPECTED)
        parts, wider, larger = [], 0, 0
        for world, metric in product(WORLDS, METRICS):
            seen, true, rival_seen, rival_true = (
                float(np.mean(ours[world, name, metric, side])) for name in PAIR for side in SIDES
            )
            ratio, true_ratio = (a / b if b else np.inf for a, b in ((seen, rival_seen), (true, rival_true)))
            gap, true_gap = seen - rival_seen, true - rival_true
            wider += ratio > true_ratio + ROUNDING
            larger += gap > true_gap + ROUNDING
            parts.append(f"{world} {NAMES[metric]} {ratio:.2f} ({true_ratio:.2f}), {gap:+.4f} ({true_gap:+.4f})")
        yield (
            f"{data}, oracle divided by popular, and oracle minus popular: observed values, true ones in brackets, "
            f"ties expected. {'; '.join(parts)}. The ratio is overestimated in {wider} of {len(parts)}, "
            f"the difference in {larger}."
        )


TABLE = Table("fig2", "Observed minus true values of four metrics, for three recommenders", run, needs=NEEDS)
