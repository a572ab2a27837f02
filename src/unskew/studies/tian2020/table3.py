"""Table 3: in how many runs the oracle is seen to be at least as good as popularity."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.tian2020.concentration import WORLD, Shared, reversed_metrics
from unskew.studies.tian2020.fig2 import Signs
from unskew.studies.tian2020.printed import METRICS, SIDES, TABLE3
from unskew.studies.tian2020.runs import (
    ARCHIVE,
    EXPECTED,
    NAIVE,
    NAMES,
    ORDINAL,
    TITLES,
    Runs,
    all_runs,
    method,
    naive_values,
    some,
    worlds_of,
)
from unskew.studies.tian2020.sets import NEEDS, SETS, calibrations, note_of, provenance, sources_of

if TYPE_CHECKING:
    from unskew.arrays import Floats

OFTEN = 0.95
CLEARLY = 3
"""Standard errors over runs."""


def run(context: Context) -> Findings:
    """The shares of runs, by world and metric, with every tie rule."""
    runs = all_runs(context)
    shared = list(Shared.simulate(context))
    return Findings(
        (*_cells(runs), *(each for one in shared for each in one.cells())),
        (*claims(runs), *(each.claim() for each in shared)),
        notes=(*method(runs), *provenance(context)),
        used=sources_of(calibrations(context)),
        trials=naive_values(runs),
    )


def _cells(runs: Runs) -> Iterator[ReproducedCell]:
    for data, world in worlds_of(runs):
        # likes of IBP worlds have no grades, so the authors' program equals ordinal ties there
        ways = (EXPECTED, ORDINAL, ARCHIVE) if world.startswith("lda") else (EXPECTED, ORDINAL)
        for way, metric in product(ways, METRICS):
            share = chosen(runs, data, world, way, metric)
            ours = Mean(100 * share, 100 * sqrt(share * (1 - share)), None)
            paper = TABLE3[SETS[data].paper, world, metric] if way == ways[-1] else None
            note = "" if paper is None else f"per cent of runs; {note_of(data)}"
            yield cell(f"{world}, {TITLES[way]}", NAMES[metric], data, ours, paper, note=note)


def chosen(runs: Runs, data: str, world: str, way: str, metric: str) -> float:
    """Share of runs in which the oracle's observed value is at least that of popular."""
    share = runs[data, world, way].pair("oracle", "popular", metric, NAIVE).first_chosen
    return float("nan") if share is None else share


def claims(runs: Runs) -> Iterator[Claim]:
    """Where the wrong one is put first, as the paper counts and with ties in expectation, and what ties do."""
    values = naive_values(runs)
    sets = values.levels("data")
    places = {(data, way): inversions(runs, values, data, way) for data, way in product(sets, (ARCHIVE, EXPECTED))}
    if sets:
        wrong = [f"{data} {place}" for data in sets for place in places[data, ARCHIVE].inverted.values()]
        yield claim(
            "In some cases popular is ranked above a perfect recommender that is truly better",
            (bool(wrong), f"on average over runs, with the share of runs in which the oracle is ahead: {some(wrong)}"),
            section="abstract",
        )
    for data in sets:
        yield from _as_printed(data, places[data, ARCHIVE])
        yield _only_by_popularity(data, EXPECTED, places[data, EXPECTED])
    if WORLD in values.levels("world"):
        yield _ties(runs, values)


class Inversions(NamedTuple):
    """Places where popular is clearly above the oracle on average, by world and metric; and near-ties."""

    inverted: Mapping[tuple[str, str], str]
    near: Sequence[str]

    def __str__(self) -> str:
        return (
            f"where it is above, with the share of runs in which the oracle is at least as good: "
            f"{some(list(self.inverted.values()))}; near-ties, where the oracle is ahead or level on average but "
            f"in fewer than 95 % of runs: {some(self.near)}"
        )


def inversions(runs: Runs, values: Trials, data: str, way: str) -> Inversions:
    """Where the oracle, better in truth, is seen to be worse in the mean of the runs, by three standard errors."""
    inverted: dict[tuple[str, str], str] = {}
    near: list[str] = []
    for world, metric in product(values.where(data=data).levels("world"), METRICS):
        share = chosen(runs, data, world, way, metric)
        place = f"{world} {NAMES[metric]} {100 * share:.0f} %"
        ours = values.at(data=data, world=world, way=way, metric=metric)
        observed, truth = (ours.gap({"recommender": "oracle"}, {"recommender": "popular"}, side=side) for side in SIDES)
        if truth.mean > 0 and observed.mean < -CLEARLY * observed.error:
            inverted[world, metric] = place
        elif share < OFTEN:
            near.append(place)
    return Inversions(inverted, near)


def _as_printed(data: str, places: Inversions) -> Iterator[Claim]:
    """That popular is above the oracle where the paper's table says so, and only in such worlds."""
    yield _only_by_popularity(data, ARCHIVE, places, section="Table 3")
    paper = SETS[data].paper
    metrics = reversed_metrics(data)
    if metrics:
        names, lost = (", ".join(NAMES[metric] for metric in each) for each in (metrics, _missing(metrics, places)))
        yield claim(
            f"{data}: in the IBP world observed by popularity, popular is ranked above the oracle by {names}, as for "
            f"the paper's {paper}",
            (not lost, f"not by {lost}; {places}" if lost else str(places)),
            section="Table 3",
        )


def _missing(metrics: Sequence[str], places: Inversions) -> list[str]:
    return [metric for metric in metrics if (WORLD, metric) not in places.inverted]


def _only_by_popularity(data: str, way: str, places: Inversions, section: str = "") -> Claim:
    """Whether popularity is ahead in the mean of the runs only in IBP worlds observed by popularity."""
    return claim(
        f"{data}: on average popular is ranked above the oracle only in IBP worlds observed by popularity "
        f"({TITLES[way]})",
        (all(world == WORLD for world, _ in places.inverted), str(places)),
        section=section,
    )


def _ties(runs: Runs, values: Trials) -> Claim:
    """Whether the oracle gains on popular when ties go by item code, in the same runs."""
    moved: list[str] = []
    gains: dict[str, Floats] = {}
    for (data, world), metric in product(worlds_of(runs), METRICS):
        if world != WORLD:
            continue
        place = f"{data} {NAMES[metric]}"
        before, after = (chosen(runs, data, world, way, metric) for way in (ORDINAL, EXPECTED))
        if abs(before - after) >= 1 - OFTEN:
            moved.append(f"{place} {100 * before:.0f} to {100 * after:.0f} %")
        ours = values.at(data=data, world=world, metric=metric, side="observed")
        ordinal, expected = (ours[way, "oracle"] - ours[way, "popular"] for way in (ORDINAL, EXPECTED))
        gains[place] = ordinal - expected
    signs = Signs.of(gains)
    evidence = f"{signs}; runs with the oracle ahead, from ordinal to expected ties: {some(moved)}"
    return claim(
        "In IBP worlds observed by popularity, ties that are broken by item code make the oracle look better, compared "
        "with popular, than ties in expectation",
        (signs.all_above, evidence),
    )


TABLE = Table("table3", "How often the oracle is seen to be at least as good as popularity", run, needs=NEEDS)
