"""Figure 2: how far the observed metrics are from the true ones, and in which direction."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cells
from unskew.studies.framework.claims import Claim, claim
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
PRECISION, RECALL, MRR, _ = METRICS
PENALISED = (PRECISION, MRR)
PAIR = ("oracle", "popular")
OBSERVED, TRUTH = SIDES
WAYS = (ARCHIVE, EXPECTED)
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
        tuple(cell for data in sets for cell in _cells(values, data)),
        (*identities(values), *claims(values)),
        tuple(figure(values, data, way) for way in WAYS for data in sets),
        (*method(runs), *gap_notes(values), *provenance(context)),
        used=sources_of(sets),
        trials=values,
    )


def _cells(values: Trials, data: str) -> Iterator[ReproducedCell]:
    def archived(world: str, way: str, recommender: str, metric: str, side: str) -> float | None:
        return MEANS[SETS[data].paper, world, recommender, metric, side] if way == ARCHIVE else None

    return cells(
        values.at(data=data),
        row=lambda *, world, recommender, way, **_: f"{world}, {recommender}, {TITLES[way]}",
        column=lambda *, metric, side, **_: f"{NAMES[metric]}: {side}",
        data=data,
        printed=archived,
        printed_note=note_of(data),
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


def identities(values: Trials) -> Iterator[Claim]:
    """What follows from how worlds and recommenders are constructed."""
    oracle = values.where(recommender="oracle", side=TRUTH).groups
    off = max(float(np.max(np.abs(truth - 1))) for key, truth in oracle.items() if key[4] in PENALISED)
    yield claim(
        "The oracle's true precision and reciprocal rank are 1",
        (off < ROUNDING, f"largest distance in a run {off:.1e}"),
        needs_full=False,
    )
    errors = {
        f"{data} {world} {recommender}": error_of(values, data, world, ARCHIVE, recommender, RECALL)
        for data, world, recommender in product(values.levels("data"), values.levels("world"), RECOMMENDERS)
        if world in UNIFORM
    }
    if errors:
        far = {name: Gap.of(error, 0.0).z for name, error in errors.items()}
        worst = max(far, key=lambda key: abs(far[key]))
        reach = allowed(min(map(len, errors.values())))
        evidence = (
            f"furthest of {len(far)}: {worst} {far[worst]:+.1f} s.e.; by Student's t, {reach:.1f} s.e. are as rare as "
            f"{FAR} by the normal distribution"
        )
        yield claim(
            f"Recall is observed without bias under uniform observation: within {FAR} standard errors of the truth, "
            "for all three recommenders",
            (all(abs(z) < reach for z in far.values()), evidence),
            needs_full=False,
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

    def __str__(self) -> str:
        total = sum(map(len, self))
        if len(self.above) == total:
            return f"in all {total}"
        near = f", no clear difference (within {CLEARLY} s.e.) for {some(self.near)}" if self.near else ""
        below = f", not for {some(self.below)}" if self.below else ""
        return f"in {len(self.above)} of {total}{below}{near}"


def shapes(values: Trials) -> dict[str, Mapping[str, Floats]]:
    """Sentences of the paper, and differences by their names that must be above 0 for them to hold."""
    recall = {f"{world} {name}": error_of(values, world, name, RECALL) for world, name in product(POPULAR, PAIR)}
    low = {
        f"{world} {name} {NAMES[metric]}": -error_of(values, world, name, metric)
        for world, name, metric in product(WORLDS, RECOMMENDERS, PENALISED)
    }
    lower, ratio = {}, {}
    for world, metric in product(WORLDS, PENALISED):
        place = f"{world} {NAMES[metric]}"
        oracle, popular = (values.at(world=world, metric=metric, recommender=name) for name in PAIR)
        lower[place] = error_of(popular) - error_of(oracle)
        if world in UNIFORM:
            # the difference of the ratios, times both denominators, because in a small run one may be 0
            ratio[place] = oracle[OBSERVED,] * popular[TRUTH,] - oracle[TRUTH,] * popular[OBSERVED,]
    return {
        "recall is overestimated for oracle and popular where popularity decides what is observed": recall,
        "precision and reciprocal rank are underestimated for all recommenders in all worlds": low,
        "precision and reciprocal rank are underestimated more for the oracle than for popular, so that the absolute "
        "gap between them is underestimated": lower,
        "under uniform observation the relative gap from popular to oracle, in precision and reciprocal rank, is "
        "overestimated": ratio,
    }


def claims(values: Trials) -> Iterator[Claim]:
    """The shapes that the paper reports, for each data set."""
    for data in values.levels("data"):
        paper = SETS[data].paper
        ours = {way: shapes(values.at(data=data, way=way)) for way in (EXPECTED, ARCHIVE)}
        for sentence, printed in shapes(ARCHIVED.at(data=paper)).items():
            signs = {way: Signs.of(each[sentence]) for way, each in ours.items()}
            against, clear = any(each.below for each in signs.values()), all(each.above for each in signs.values())
            evidence = "; ".join(f"{TITLES[way]}: {each}" for way, each in signs.items())
            archived = f"in the means that the authors archived for {paper}: {Signs.of(printed)}"
            holds = False if against else True if clear else None
            yield claim(f"{data}: {sentence}", (holds, f"{evidence}; {archived}"))


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
