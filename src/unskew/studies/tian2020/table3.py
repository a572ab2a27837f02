"""Table 3: in how many runs the oracle is seen to be at least as good as popularity."""

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020 import words
from unskew.studies.tian2020.printed import TABLE3
from unskew.studies.tian2020.runs import ARCHIVE, EXPECTED, NAIVE, ORDINAL, Runs, all_runs
from unskew.studies.tian2020.sets import NEEDS, SETS, provenance, sets_at_hand

OFTEN = 0.95
CLEARLY = 3
"""Standard errors over runs."""


def run(context: Context) -> Findings:
    """The shares of runs, by world and metric, with every tie rule."""
    runs = all_runs(context)
    notes = (*words.METHOD, words.how_often(runs), *provenance(context)) if runs else provenance(context)
    return Findings(
        tuple(cell for each in runs for cell in _cells(each)),
        words.soften(context, tuple(claims(runs))),
        notes=notes,
        used=tuple(dict.fromkeys(SETS[data].source for data in sets_at_hand(context))),
    )


def ways_of(each: Runs) -> tuple[str, ...]:
    """The ways that differ in a world: the authors' is that of ordinal ties where nothing is graded."""
    return (EXPECTED, ORDINAL, ARCHIVE) if each.world.startswith("lda") else (EXPECTED, ORDINAL)


def printed_way(each: Runs) -> str:
    """The way that the paper's number stands beside."""
    return ways_of(each)[-1]


def _cells(each: Runs) -> Iterator[ReproducedCell]:
    data = SETS[each.data]
    for way in ways_of(each):
        for metric in words.PAPER_METRICS:
            share = chosen(each, metric, way)
            paper = float(TABLE3[data.paper][each.world][metric]) if way == printed_way(each) else None
            yield ReproducedCell(
                f"{each.world}, {words.TITLES[way]}",
                words.NAMES[metric],
                each.data,
                paper,
                100 * share,
                100 * sqrt(share * (1 - share)),
                note="" if paper is None else f"per cent of runs; {data.note}",
            )


def chosen(each: Runs, metric: str, way: str) -> float:
    """Share of runs in which the oracle's observed value is at least that of popular."""
    share = each.summary(way).pair("oracle", "popular", metric, NAIVE).first_chosen
    return float("nan") if share is None else share


def claims(runs: Sequence[Runs]) -> Iterator[Claim]:
    """Which worlds crown the wrong one, as the paper counts, and what ties do."""
    for data in dict.fromkeys(each.data for each in runs):
        own = [each for each in runs if each.data == data]
        yield _inversions(data, own, ARCHIVE)
        yield _inversions(data, own, EXPECTED)
    buffets = [(each, metric) for each in runs if each.world.startswith("ibp") for metric in words.PAPER_METRICS]
    if buffets:
        yield _ties(buffets)


def _ties(buffets: Sequence[tuple[Runs, str]]) -> Claim:
    """Whether the oracle gains on popular when ties go by item code, in the same runs."""
    moved: list[str] = []
    worse: list[str] = []
    for each, metric in buffets:
        first, second = chosen(each, metric, ORDINAL), chosen(each, metric, EXPECTED)
        place = f"{each.data} {each.world} {words.NAMES[metric]}"
        if abs(first - second) >= 1 - OFTEN:
            moved.append(f"{place} {100 * first:.0f} to {100 * second:.0f} %")
        gain = each.gaps(metric, ORDINAL)[0] - each.gaps(metric, EXPECTED)[0]
        error = float(np.std(gain, ddof=1)) / len(gain) ** 0.5
        if float(np.mean(gain)) < -3 * error:
            worse.append(f"{place} by {float(np.mean(gain)) / error:.1f} s.e.")
    told = f"runs with the oracle ahead, from ordinal to expected ties: {words.some(moved)}"
    return Claim(
        "In IBP worlds the order of item codes does not make the oracle look worse, beside popular, than a random "
        "order of ties does",
        not worse,
        f"worse by 3 s.e. of the paired difference: {words.some(worse)}; {told}",
    )


def _inversions(data: str, runs: Sequence[Runs], way: str) -> Claim:
    """Whether popularity is ahead in the mean of the runs only in IBP worlds observed by popularity."""
    inverted: list[tuple[str, str]] = []
    near: list[str] = []
    for each in runs:
        for metric in words.PAPER_METRICS:
            share = chosen(each, metric, way)
            place = f"{each.world} {words.NAMES[metric]} {100 * share:.0f} %"
            if is_inverted(each, metric, way):
                inverted.append((each.world, place))
            elif share < OFTEN:
                near.append(place)
    return Claim(
        f"{data}: on average popularity is put above the oracle only in IBP worlds observed by popularity "
        f"({words.TITLES[way]})",
        all(world == "ibp-pop" for world, _ in inverted),
        f"where it is, with the share of runs in which the oracle is at least as good: "
        f"{words.some([place for _, place in inverted])}; near-ties, where the oracle is ahead or level on average but "
        f"in fewer than 95 % of runs: {words.some(near)}",
    )


def is_inverted(each: Runs, metric: str, way: str) -> bool:
    """Whether the oracle, better in truth, is seen to be worse in the mean of the runs, by three standard errors."""
    observed, truth = each.gaps(metric, way)
    seen = Mean.of(observed)
    return bool(np.mean(truth) > 0) and seen.value < -CLEARLY * (seen.error or 0.0)


TABLE = Table("table3", "How often the oracle is seen to be at least as good as popularity", run, needs=NEEDS)
