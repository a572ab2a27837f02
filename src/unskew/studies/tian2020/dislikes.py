"""Beyond the paper: users who consume what they dislike, or by how much they like it."""

from collections.abc import Iterator, Sequence

import numpy as np

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020.dislikes_runs import ORACLE, POPULAR, SETTINGS, SHARES, WORLDS, Setting, Tally, simulate
from unskew.studies.tian2020.dislikes_words import claims, notes
from unskew.studies.tian2020.estimates import (
    ADG,
    COLUMNS,
    KNOWN,
    KNOWN_RATIO,
    METRICS,
    NAIVE,
    POPULARITY_RATIO,
    RECALL,
    mean_cell,
)

RUNS, FAST_RUNS = 30, 3


def run(context: Context) -> Findings:
    """Judge oracle and popular on many logs of each world and setting."""
    tally = simulate(context, context.n_trials(RUNS, FAST_RUNS))
    return Findings(
        cells=tuple(_cells(tally)),
        claims=tuple(claims(tally, judged=not context.fast)),
        figures=(_errors(tally), _choices(tally)),
        notes=tuple(notes(tally)),
    )


def _cells(tally: Tally) -> Iterator[ReproducedCell]:
    for name in WORLDS:
        for setting in SETTINGS:
            data = f"{name}, {setting}"  # the word of the world in full is in the notes
            for metric in METRICS:
                for recommender in (ORACLE, POPULAR):
                    row = f"error of {metric} of {recommender}"
                    yield mean_cell(row, "truth", data, tally.truth(name, setting, recommender, metric))
                    for method, title in COLUMNS.items():
                        error = tally.error(name, setting, recommender, metric, method)
                        if not np.isnan(error).any():
                            yield mean_cell(row, title, data, error)
                for method, title in COLUMNS.items():
                    share = tally.chosen(name, setting, metric, method)
                    if share is not None:
                        yield ReproducedCell(f"share with the oracle first by {metric}", title, data, None, share)


def _errors(tally: Tally) -> Figure:
    """Errors of recall over the share of dislikes."""
    panels = []
    for name in WORLDS:
        for recommender in (ORACLE, POPULAR):
            lines = []
            for method in (NAIVE, KNOWN, KNOWN_RATIO, POPULARITY_RATIO):
                found = [tally.error(name, Setting(share), recommender, RECALL, method) for share in SHARES]
                means = [Mean.of(each) for each in found]
                lines.append(_line(method, [m.value for m in means], [m.error or np.nan for m in means]))
            panels.append(Panel(f"{name}: {recommender}", tuple(lines)))
    return Figure(
        f"Error of {RECALL}",
        "share of the rows that are disliked",
        tuple(panels),
        note=f"Means over {tally.runs} worlds; bands are 1.96 standard errors to both sides.",
    )


def _choices(tally: Tally) -> Figure:
    """How often the oracle is put first."""
    panels = []
    for name in WORLDS:
        lines = []
        for method in (NAIVE, KNOWN, KNOWN_RATIO, POPULARITY_RATIO):
            shares = [tally.chosen(name, Setting(share), ADG, method) or 0.0 for share in SHARES]
            lines.append(_line(method, shares, [np.sqrt(p * (1 - p) / tally.runs) for p in shares]))
        panels.append(Panel(name, tuple(lines)))
    return Figure(
        f"Share of worlds in which the oracle is put before popular by {ADG}",
        "share of the rows that are disliked",
        tuple(panels),
        note=f"The oracle is truly better in {tally.better(ADG):.0%} of all worlds. Bands are 1.96 binomial standard "
        "errors to both sides.",
    )


def _line(method: str, values: Sequence[float], errors: Sequence[float]) -> Series:
    return Series.of(COLUMNS[method], SHARES, values, errors, naive=method == NAIVE)


TABLE = Table("dislikes", "Beyond the paper: users who consume what they dislike, or by how much they like it", run)
