"""Table worlds: seven simulated worlds, in which what is observed depends on items, users and relevance."""

from functools import partial

import numpy as np

from unskew.simulators import SELECTION_WORLDS, SelectionWorld
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.truth.findings import Case, compute
from unskew.studies.truth.logs import Log
from unskew.studies.truth.targets import claims

SEEDS = Size(10, 1, trials=True)
GRID: Size[tuple[int, int]] = Size((700, 600), (220, 200))
SHARES: Size[tuple[float, ...]] = Size((0.01, 0.03), (0.01,))
DRAWS = Size(4, 1)
"""Slices of each share per log."""
SELECTIVE = tuple(name for name in SELECTION_WORLDS if name != "mar")
LIMITS = {0.0: 0.15, 0.01: 0.10}
"""Largest mean errors over the worlds with selection, by the share of the slice."""


def run(context: Context) -> Findings:
    """The table."""
    users, items = context.size(GRID)
    cases = [
        world_case(name, users, items, context.size(SHARES), (context.seed, seed), context.size(DRAWS))
        for name in SELECTION_WORLDS
        for seed in range(context.size(SEEDS))
    ]
    targets = partial(claims, limits=LIMITS, over=SELECTIVE)
    return compute(context, cases, targets, describe(users, items))


def world_case(
    name: str, users: int, items: int, shares: tuple[float, ...], seed: tuple[int, ...], draws: int = 1
) -> Case:
    """A draw of a world."""
    return Case(name, partial(draw, name, users, items, seed), (users, items), shares, seed, draws)


def draw(name: str, users: int, items: int, seed: tuple[int, ...]) -> Log:
    """The log of a world."""
    return Log.drawn(SelectionWorld.preset(name, users=users, items=items).draw(np.random.default_rng(seed)))


def describe(users: int, items: int) -> str:
    """What the worlds are."""
    return (
        f"Worlds of {users:,} users and {items:,} items, 6 % of the pairs observed. pop: popular items are observed; "
        "popq: these are also better; personal: users see what fits their tastes; self: users choose what they like; "
        "mixed: all of these; adverse: worse items and pairs are observed; mar: all pairs have the same chance. "
        "'snips, true chance' has the chances by which the logs were drawn, which nobody knows outside a simulation."
    )


TABLE = Table("worlds", "Estimates next to the truth in seven simulated worlds", run)
