"""Beyond the paper: how estimates drift from the truth when a recommender's output becomes the next log."""

from collections.abc import Iterator

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020.estimates import (
    COLUMNS,
    KNOWN,
    METRICS,
    NAIVE,
    POPULARITY_RATIO,
    RECALL,
    mean_cell,
)
from unskew.studies.tian2020.feedback_runs import BESIDE, LOOPS, Loop, Tally, simulate
from unskew.studies.tian2020.feedback_words import claims, notes

ROUNDS, FAST_ROUNDS = 10, 3
REPLICATIONS, FAST_REPLICATIONS = 10, 2
ENDS = {"first round": 0, "last round": -1}


def run(context: Context) -> Findings:
    """Play all loops, and tell what came of them."""
    rounds = FAST_ROUNDS if context.fast else ROUNDS
    tally = simulate(context, rounds, context.n_trials(REPLICATIONS, FAST_REPLICATIONS))
    return Findings(
        cells=tuple(_cells(tally)),
        claims=tuple(claims(tally, judged=not context.fast)),
        figures=(_drift(tally), _heads(tally)),
        notes=tuple(notes(tally)),
    )


def judged_in(loop: Loop) -> tuple[str, ...]:
    """Recommenders judged in a loop, that which shows the lists last."""
    return tuple(dict.fromkeys([*(each for each in BESIDE if each != loop.recommender), loop.recommender]))


def _cells(tally: Tally) -> Iterator[ReproducedCell]:
    """The truth, and each error in the first and the last round."""
    for loop in LOOPS:
        data = f"lists of {loop}"  # the word of the world in full is in the notes
        for name, states in (("rows of the log", tally.rows(loop)), ("share of the head", tally.head(loop))):
            for when, place in ENDS.items():
                yield mean_cell(f"{name}, {when}", "log", data, states[:, place])
        for recommender in judged_in(loop):
            for metric in METRICS:
                for when, place in ENDS.items():
                    row = f"error of {metric} of {recommender}, {when}"
                    yield mean_cell(row, "truth", data, tally.truth(loop, recommender, metric)[:, place])
                    for method, title in COLUMNS.items():
                        error = tally.error(loop, recommender, metric, method)
                        if not np.isnan(error).any():
                            yield mean_cell(row, title, data, error[:, place])


def _drift(tally: Tally) -> Figure:
    """Recall of the recommender that shows the lists, loop by loop."""
    panels = []
    for loop in LOOPS:
        own = loop.recommender
        lines = [_line("truth", tally.truth(loop, own, RECALL), 1)]
        for method in (NAIVE, KNOWN, POPULARITY_RATIO):
            values = tally.estimate(loop, own, RECALL, method)
            lines.append(_line(COLUMNS[method], values, 1, naive=method == NAIVE))
        panels.append(Panel(f"lists of {loop}", tuple(lines)))
    return Figure(
        f"{RECALL} of the recommender that shows the lists, over the rounds",
        "round",
        tuple(panels),
        note=f"Means over {tally.replications} replications; bands are 1.96 standard errors to both sides.",
    )


def _heads(tally: Tally) -> Figure:
    """How the log changes."""
    lines = tuple(_line(f"lists of {loop}", tally.head(loop), 0) for loop in LOOPS)
    title = "Share of the log's rows that the 5 % most consumed items have"
    return Figure(title, "rounds played", (Panel(title, lines),), note="Means over replications; bands as above.")


def _line(name: str, values: Floats, first: int, *, naive: bool = False) -> Series:
    means = [Mean.of(column) for column in values.T]
    x = range(first, first + len(means))
    return Series.of(name, x, [mean.value for mean in means], [mean.error or np.nan for mean in means], naive=naive)


TABLE = Table("feedback", "Beyond the paper: a recommender's output becomes the next log", run)
