"""Figure 2: how far the observed metrics are from the true ones."""

from collections.abc import Iterator, Sequence

import numpy as np

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020 import words
from unskew.studies.tian2020.fig2_words import claims, gap_notes, identities
from unskew.studies.tian2020.printed import MEANS, RECOMMENDERS, WORLDS
from unskew.studies.tian2020.runs import ARCHIVE, EXPECTED, Runs, all_runs
from unskew.studies.tian2020.sets import NEEDS, SETS, provenance, sets_at_hand

SIDES = ("observed", "truth")


def run(context: Context) -> Findings:
    """Observed and true values, their errors as a figure, and what the paper says of them."""
    runs = all_runs(context)
    if not runs:
        return Findings(notes=provenance(context), used=())
    sets = sets_at_hand(context)
    figures = [_figure(data, [each for each in runs if each.data == data], way) for way in WAYS for data in sets]
    return Findings(
        tuple(cell for each in runs for way in WAYS for cell in _cells(each, way)),
        (*identities(runs), *words.soften(context, tuple(claims(runs)))),
        tuple(figures),
        (*words.METHOD, words.how_often(runs), *gap_notes(runs), *provenance(context)),
        used=tuple(dict.fromkeys(SETS[data].source for data in sets)),
    )


WAYS = (ARCHIVE, EXPECTED)


def _cells(each: Runs, way: str) -> Iterator[ReproducedCell]:
    data = SETS[each.data]
    for recommender in RECOMMENDERS:
        for metric in words.PAPER_METRICS:
            printed = MEANS[data.paper][each.world][recommender][metric]
            for side, paper, values in zip(SIDES, printed, each.values(recommender, metric, way), strict=True):
                found = Mean.of(values)
                yield ReproducedCell(
                    f"{each.world}, {recommender}, {words.TITLES[way]}",
                    f"{words.NAMES[metric]}: {side}",
                    each.data,
                    paper if way == ARCHIVE else None,
                    found.value,
                    found.spread,
                    note=data.note if way == ARCHIVE else "",
                )


def _figure(data: str, runs: Sequence[Runs], way: str) -> Figure:
    beside = way == ARCHIVE
    panels = []
    for metric in words.PAPER_METRICS:
        series = []
        for recommender in RECOMMENDERS:
            series.append(_series(recommender, runs, metric, way))
            if beside:
                series.append(_printed(recommender, data, metric))
        panels.append(Panel(f"{words.NAMES[metric]}, error", tuple(series)))
    archived = f" Grey, right of each: the means that the authors archived, of {SETS[data].paper}." if beside else ""
    return Figure(
        f"Observed less true metrics on worlds calibrated to {data}, {words.TITLES[way]}",
        "world",
        tuple(panels),
        note=f"Points are means over runs, intervals hold the middle 95 % of the runs.{archived}",
        categories=WORLDS,
    )


def _series(recommender: str, runs: Sequence[Runs], metric: str, way: str) -> Series:
    errors = []
    for each in runs:
        observed, truth = each.values(recommender, metric, way)
        errors.append(observed - truth)
    # one world at a time: cheap ones have more runs
    low, high = zip(*((float(x) for x in np.percentile(error, (2.5, 97.5))) for error in errors), strict=True)
    means = [float(np.mean(error)) for error in errors]
    return Series(recommender, _places(), tuple(means), tuple(low), tuple(high))


def _printed(recommender: str, data: str, metric: str) -> Series:
    means = tuple(MEANS[SETS[data].paper][world][recommender][metric].error for world in WORLDS)
    return Series(f"{recommender}, the paper", _places(), means, means, means, naive=True)


def _places() -> tuple[float, ...]:
    return tuple(map(float, range(len(WORLDS))))


TABLE = Table("fig2", "Observed less true values of four metrics, for three recommenders", run, needs=NEEDS)
