"""Table large: one world of 5,000 users and 5,000 items."""

from functools import partial

from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.truth.findings import compute
from unskew.studies.truth.targets import claims
from unskew.studies.truth.worlds import describe, world_case

WORLD = "mixed"
GRID: Size[tuple[int, int]] = Size((5000, 5000), (500, 400))
SHARES: Size[tuple[float, ...]] = Size((0.01,))
LIMITS = {0.0: 0.15, 0.01: 0.10}


def run(context: Context) -> Findings:
    """The table, of one draw."""
    users, items = context.size(GRID)
    case = world_case(WORLD, users, items, context.size(SHARES), (context.seed, 0))
    targets = partial(claims, limits=LIMITS)
    return compute(context, [case], targets, describe(users, items))


TABLE = Table("large", "Estimates next to the truth in a large simulated world", run)
