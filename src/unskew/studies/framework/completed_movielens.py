"""MovieLens 100K completed to a full matrix of ratings, the world of the paper's simulations."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from unskew.arrays import Floats, Ints, offsets_of
from unskew.data import Interactions
from unskew.errors import DataError
from unskew.metrics import Accuracy
from unskew.simulators import relabel
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table

DATA = "ml-100k"
FACTORS: Size[tuple[int, ...]] = Size((5, 10, 20, 40))
PENALTIES: Size[tuple[float, ...]] = Size((0.5, 1.0, 2.0, 5.0, 10.0, 20.0))
CHOSEN = (5, 1.0)  # factors and penalty that `search` finds with seed 0
SWEEPS = 12


@dataclass(frozen=True, eq=False)
class World:
    """A full matrix of one to five stars, users by items, what it was made from, and how, in a sentence."""

    ratings: Ints
    data: str
    origin: str


def completed_world(context: Context) -> World | None:
    """The completed matrix with the marginals of the paper, made once per run; None when the data is not available."""
    source = context.find(DATA)
    if source is None:
        return None
    return context.once("schnabel2016 world", lambda: _make(context, source.read(context.place(DATA))))


def completed_table(name: str, title: str, compute: Callable[[World | None, Context], Findings]) -> Table:
    """A table that is computed from the completed world, or from None without the data."""
    return Table(name, title, lambda context: compute(completed_world(context), context), needs=(DATA,))


def complete(log: Interactions, factors: int, penalty: float, rng: np.random.Generator) -> Floats:
    r"""Predicted ratings of all pairs by plain matrix factorisation, without offsets or propensities.

    .. math::

       \min \sum_{(u, i)\ \text{observed}} (y_{ui} - v_u \cdot w_i)^2
       + \lambda (\lVert V \rVert^2 + \lVert W \rVert^2)

    Alternating least squares. Without offsets it must be: with them some users have fewer than fifty ratings of one
    star, and the DCG@50 of ROTATE is not the 12.90 that the paper prints for any matrix where all have fifty.
    """
    values = _values(log)
    by_user = _grouped(log.users, log.n_users, log.items, values)
    by_item = _grouped(log.items, log.n_items, log.users, values)
    # all predictions begin near the mean rating
    items = rng.normal(np.sqrt(values.mean() / factors), 0.1, (log.n_items, factors))
    users = np.empty((log.n_users, factors))
    for _ in range(SWEEPS):
        users = _solve(by_user, items, penalty)
        items = _solve(by_item, users, penalty)
    return np.asarray(users @ items.T)


def search(log: Interactions, context: Context) -> tuple[int, float]:
    """Factors and penalty with the most right ratings, rounded, on a random tenth of the rows."""
    held_out = np.zeros(len(log), dtype=bool)
    held_out[context.rng("completion").permutation(len(log))[: len(log) // 10]] = True
    train, test = log.take(~held_out), log.take(held_out)
    right: dict[tuple[int, float], float] = {}
    grid = list(product(context.size(FACTORS), context.size(PENALTIES)))
    for factors, penalty in context.counted("choosing the completion", grid):
        predicted = complete(train, factors, penalty, context.rng("start"))[test.users, test.items]
        right[factors, penalty] = float(Accuracy(rounded=True).loss(_values(test), predicted).mean())
    return max(right, key=lambda pair: right[pair])


def _make(context: Context, log: Interactions) -> World:
    factors, penalty = search(log, context) if context.tune else CHOSEN
    context.report("completing the ratings", 0, 1)
    ratings = relabel(complete(log, factors, penalty, context.rng("start")))
    context.report("completing the ratings", 1, 1)
    origin = (
        f"The world: {DATA} ({log.n_users} users, {log.n_items} items), completed by matrix factorisation without "
        f"offsets ({factors} factors, penalty {penalty:g}: the most right ratings on a random tenth), its cells "
        "relabelled by quantiles to the shares of one to five stars in the random sample of Yahoo! R3."
    )
    return World(ratings, DATA, origin)


def _grouped(groups: Ints, n: int, others: Ints, values: Floats) -> list[tuple[Ints, Floats]]:
    """The other side's codes and ratings, group by group."""
    order = np.argsort(groups, kind="stable")
    ends = offsets_of(np.bincount(groups, minlength=n))[1:-1]
    return list(zip(np.split(others[order], ends), np.split(values[order], ends), strict=True))


def _solve(groups: list[tuple[Ints, Floats]], fixed: Floats, penalty: float) -> Floats:
    """Ridge regression of each group's ratings on the factors of the other side."""
    ridge = penalty * np.eye(fixed.shape[1])
    seen = [(fixed[others], values) for others, values in groups]
    return np.array([np.linalg.solve(rows.T @ rows + ridge, rows.T @ values) for rows, values in seen])


def _values(log: Interactions) -> Floats:
    if log.values is None:
        raise DataError(f"{log.name} has no ratings; get the data set again")
    return log.values
