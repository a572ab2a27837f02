"""Beyond the paper: ADG estimated and trained with inverse propensities, in a world whose truth is known."""

from collections.abc import Iterator, Mapping

import numpy as np

from unskew.arrays import Floats
from unskew.simulators import Marketplace
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.lim2015.weighted_fits import (
    ASSUMED,
    FAST_PENALTIES,
    NAIVE,
    PENALTIES,
    Choice,
    Per,
    Way,
    run_trial,
)
from unskew.studies.lim2015.weighted_words import Gain, Tally, claims, method, notes, other_worlds
from unskew.studies.lim2015.weighted_world import HELD, KNOWN, Draw

LOGS, FAST_LOGS, OTHER_LOGS = 20, 2, 4
GAMMAS, FAST_GAMMAS = (-0.5, 0.0, 0.5, 1.0), (0.0,)
FAST_USERS = 1500
WORLDS: Mapping[str, Marketplace] = {
    "all items shown alike": Marketplace(holdout=HELD, exponent=0.0, top=0.08, floor=0.08),
    "more rows a user": Marketplace(holdout=HELD, floor=0.25),
    "exposure falls all the way": Marketplace(holdout=HELD, exponent=0.5, floor=0.01),
    "steeper and fewer rows": Marketplace(holdout=HELD, exponent=0.65, floor=0.015),
}
"""Other worlds than the demo's, by what is different."""
_PERS: tuple[Per, ...] = ("user", "pair")
_PANELS: Mapping[Choice, str] = {
    "known": "chosen by SNIPS with known P",
    "own": "chosen with the weights of the training",
}
_CHOICES: Mapping[Choice, str] = {"aoa": "chosen by aoa", "own": "chosen by own weights", "known": "chosen by known P"}


def run(context: Context) -> Findings:
    """Train on many logs of the demo's world, and on a few of others."""
    main = Marketplace(holdout=HELD, users=FAST_USERS) if context.fast else Marketplace(holdout=HELD)
    gammas = FAST_GAMMAS if context.fast else GAMMAS
    tally = simulate(context, "the demo's world", main, gammas, context.n_trials(LOGS, FAST_LOGS), yardsticks=True)
    others = {}
    if not context.fast:
        few = min(context.trials or OTHER_LOGS, OTHER_LOGS)
        others = {name: simulate(context, name, world, (0.0,), few) for name, world in WORLDS.items()}
    cells = [*_cells(str(main), tally), *_estimators(str(main), tally)]
    for name, each in others.items():
        cells += _gains(str(WORLDS[name]), each)
    told = {f"{name[0].upper()}{name[1:]} ({WORLDS[name]})": each for name, each in others.items()}
    told_all = (*method(main, FAST_PENALTIES if context.fast else PENALTIES), *notes(tally), *other_worlds(told))
    return Findings(tuple(cells), tuple(claims(tally)), (_figure(tally, gammas),), told_all)


def simulate(
    context: Context, name: str, world: Marketplace, gammas: tuple[float, ...], logs: int, *, yardsticks: bool = False
) -> Tally:
    """Draw logs of a world, and train on each in all ways.

    Parameters
    ----------
    context : Context
    name : str
        Of the world, for progress and its own random numbers.
    world : Marketplace
    gammas : tuple of float
        Of the popularity that weights are made from, beside no weights and known P.
    logs : int
    yardsticks : bool
        Whether MF-AUC and other models are trained too.
    """
    penalties = FAST_PENALTIES if context.fast else PENALTIES
    weights = ("", *map(popularity, gammas), KNOWN)
    ways = (*([Way(model="mf-auc")] if yardsticks else []), *(Way(word, per) for per in _PERS for word in weights))
    trials = []
    for number in context.counted(name, range(logs)):
        draw = Draw.of(world, context.rng("lim2015", "weighted", name, number))
        trials.append(run_trial(draw, ways, penalties, context.seed + number, yardsticks=yardsticks))
    return Tally(trials, ways)


def popularity(gamma: float) -> str:
    """The word of the propensity."""
    return "popularity" if gamma == 0 else f"popularity(gamma={gamma:g})"


def _cells(data: str, tally: Tally) -> Iterator[ReproducedCell]:
    """True ADG of every way and choice, what weights add, and where draws go."""
    for way in tally.ways:
        for choice, column in _CHOICES.items():
            if choice != "own" or way.weights:
                yield _mean_cell(str(way), column, data, tally.true(way, choice))
        yield _mean_cell(str(way), "the same, over pairs", data, tally.true(way, "known", "pairs"))
        if way.weights:
            yield from _gain_cells(str(way), data, tally.of_weights(way))
        yield ReproducedCell(str(way), "draws on the head", data, None, tally.head(way))


def _gains(data: str, tally: Tally) -> Iterator[ReproducedCell]:
    """True ADG and what weights add."""
    for way in tally.ways:
        yield _mean_cell(str(way), _CHOICES["known"], data, tally.true(way, "known"))
        if way.weights:
            yield from _gain_cells(str(way), data, tally.of_weights(way))


def _gain_cells(row: str, data: str, gain: Gain) -> Iterator[ReproducedCell]:
    note = "true ADG less that without weights, both chosen by known P, on the same logs"
    yield ReproducedCell(row, "gain of weights", data, None, gain.mean.value, gain.mean.spread, note=note)
    yield ReproducedCell(row, "its s.e.", data, None, gain.mean.error)
    yield ReproducedCell(row, "logs it helps", data, None, float(gain.helped), note=f"of {gain.logs}")


def _estimators(data: str, tally: Tally) -> Iterator[ReproducedCell]:
    """How far an estimate of ADG is from what it aims at, and how well it chooses among the models of a log."""
    names = {NAIVE: "Estimate by aoa"} | {
        word: f"Estimate by snips, {'known P' if word == KNOWN else word}" for word in ASSUMED
    }
    for name, row in names.items():
        yield _mean_cell(row, "bias", data, tally.bias(name))
        yield _mean_cell(row, "RMSE", data, tally.rmse(name))
        yield _mean_cell(row, "pairs in order", data, tally.in_order(name))
        yield _mean_cell(row, "lost by its pick", data, tally.lost(name))


def _mean_cell(row: str, column: str, data: str, values: Floats) -> ReproducedCell:
    mean = Mean.of(values.tolist())
    return ReproducedCell(row, column, data, None, mean.value, mean.spread)


def _figure(tally: Tally, gammas: tuple[float, ...]) -> Figure:
    """True ADG over the strength of the weights, for both ways to draw and both ways to choose."""
    panels = []
    for choice, title in _PANELS.items():
        lines = []
        for per in _PERS:
            ways = [Way(per=per), *(Way(popularity(gamma), per) for gamma in gammas)]
            values = [tally.true(way, choice) for way in ways]
            lines.append(_line(f"{per}s drawn, popularity(gamma)", (-1.0, *gammas), values))
        for per in _PERS:
            known = tally.true(Way(KNOWN, per), choice)
            lines.append(_line(f"{per}s drawn, known P", (-1.0, gammas[-1]), [known, known]))
        panels.append(Panel(f"True ADG, {title}", tuple(lines)))
    return Figure(
        "True ADG of mf-adg by the strength of its weights",
        "gamma; -1 is no weights, 1 is weights in proportion to 1/count",
        tuple(panels),
        note=f"Means over {len(tally.trials)} logs; bands are 1.96 standard errors to both sides. Without weights, "
        "'the weights of the training' are those of the plain mean.",
    )


def _line(name: str, x: tuple[float, ...], values: list[Floats]) -> Series:
    means = [Mean.of(each.tolist()) for each in values]
    return Series.of(name, x, [mean.value for mean in means], [mean.error or np.nan for mean in means])


TABLE = Table("weighted", "Beyond the paper: ADG with inverse propensities, estimated and trained", run)
