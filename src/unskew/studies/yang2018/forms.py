"""When each form of SNIPS helps: a simulation with the truth at hand.

Three things vary: positives a user in the test, how strongly the log follows popularity, and how wrong the assumed
gamma is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018.forms_trials import FORMS, Assumption, Score, run_trials
from unskew.studies.yang2018.forms_words import Grid, claims, notes
from unskew.studies.yang2018.forms_world import World

METRIC = "recall@100"
POSITIVES = (1.0, 2.0, 5.0, 20.0)
GAMMAS = (0.0, 1.0, 2.0)
OFF = (-1.0, -0.5, 0.0, 0.5, 1.0)
RIGHT = Assumption()
ASSUMPTIONS = (*map(Assumption, OFF), Assumption(smoothing=0.0), Assumption(None))
BASE_POSITIVES, BASE_GAMMA = 2.0, 1.0
MEASURES: Mapping[str, str] = {"bias": "relative bias", "rmse": "relative RMSE", "right": "right model first"}


@dataclass(frozen=True)
class Size:
    """How large the simulation is."""

    users: int
    items: int
    draws: int


FULL, FAST = Size(500, 1000, 100), Size(100, 1000, 20)


def run(context: Context) -> Findings:
    """The whole grid; the cells vary one thing at a time."""
    size = FAST if context.fast else FULL
    grid = simulate(size, context)
    return Findings(
        cells=tuple(_cells(grid)),
        claims=tuple(_judged(grid, context)),
        figures=tuple(_figures(grid)),
        notes=(_world(size), *notes(grid)),
    )


def simulate(size: Size, context: Context) -> Grid:
    """All settings; each gamma has one world, and each number of positives draws of its own."""
    scores: dict[tuple[float, float, Assumption, str], Score] = {}
    worlds = {
        gamma: World.draw(gamma, size.users, size.items, (METRIC,), context.rng("forms", "world", f"{gamma:g}"))
        for gamma in GAMMAS
    }
    for gamma, positives in context.counted("settings", list(product(GAMMAS, POSITIVES))):
        rng = context.rng("forms", f"{gamma:g}", f"{positives:g}")
        found = run_trials(worlds[gamma], positives, ASSUMPTIONS, size.draws, rng)
        scores |= {(gamma, positives, each, form): score for (each, form, _), score in found.items()}
    return Grid(scores, GAMMAS, POSITIVES, ASSUMPTIONS)


def _cells(grid: Grid) -> Iterator[ReproducedCell]:
    rows = [(BASE_GAMMA, positives, RIGHT) for positives in POSITIVES]
    rows += [(gamma, BASE_POSITIVES, RIGHT) for gamma in GAMMAS if gamma != BASE_GAMMA]
    rows += [(BASE_GAMMA, BASE_POSITIVES, each) for each in ASSUMPTIONS if each != RIGHT]
    for gamma, positives, each in rows:
        row = f"{positives:g} a user, gamma {gamma:g}: {each}"
        for form in FORMS:
            if form == "aoa" and each != RIGHT:
                continue  # it assumes nothing
            score = grid.scores[gamma, positives, each, form]
            for name, title in MEASURES.items():
                yield ReproducedCell(row, f"{form}: {title}", "none", None, getattr(score, name))


def _judged(grid: Grid, context: Context) -> Iterator[Claim]:
    for claim in claims(grid):
        few = "the small version has too few draws to judge; seen: "
        yield Claim(claim.claim, None, few + claim.evidence) if context.fast else claim


def _figures(grid: Grid) -> Iterator[Figure]:
    ticks = {
        "positives a user in the test": [(n, (BASE_GAMMA, n, RIGHT)) for n in POSITIVES],
        "true gamma": [(gamma, (gamma, BASE_POSITIVES, RIGHT)) for gamma in GAMMAS],
        "assumed less true gamma": [(off, (BASE_GAMMA, BASE_POSITIVES, Assumption(off))) for off in OFF],
        "assumed less true gamma ": [(off, (BASE_GAMMA, POSITIVES[-1], Assumption(off))) for off in OFF],
    }
    titles = (
        f"gamma {BASE_GAMMA:g}, and known",
        f"{BASE_POSITIVES:g} positives a user, gamma known",
        f"gamma {BASE_GAMMA:g}, {BASE_POSITIVES:g} positives a user",
        f"gamma {BASE_GAMMA:g}, {POSITIVES[-1]:g} positives a user",
    )
    for (label, points), title in zip(ticks.items(), titles, strict=True):
        panels = tuple(
            Panel(MEASURES[name], tuple(_line(grid, form, name, points) for form in FORMS)) for name in MEASURES
        )
        note = "Relative to the truth, mean over three models. Bands: 95 % over draws, for the share of right choices."
        yield Figure(title, label.strip(), panels, log_x=label.startswith("positives"), note=note)


def _line(grid: Grid, form: str, name: str, points: list[tuple[float, tuple[float, float, Assumption]]]) -> Series:
    found = [grid.scores[*key, form] for _, key in points]
    error = [score.right_error if name == "right" else 0.0 for score in found]
    x = [place for place, _ in points]
    return Series.of(form, x, [getattr(score, name) for score in found], error, naive=form == "aoa")


def _world(size: Size) -> str:
    return (
        f"{size.users:,} users like about a fifth of {size.items:,} items; expected training counts span a factor of "
        "20, and items are liked and observed so that P is proportional to count^((gamma + 1) / 2). Scores of three "
        "models are taste, popularity and noise in different parts. All users are alike, so that the mean over users "
        f"and the mean over pairs are nearly the same. {METRIC}; {size.draws} draws of the test in each setting, from "
        "one world for each gamma; propensities from drawn training counts with smoothing 1 unless said otherwise. "
        "Bias and RMSE are relative to the truth, mean over the models."
    )


TABLE = Table("forms", "When each form of the correction helps: a simulation", run)
