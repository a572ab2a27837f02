"""Hypothesis strategies for small worlds: score matrices with ties, users, ranks, splits, rows with propensities."""

from unskew.arrays import Floats
from unskew.estimators import Rows
from unskew.ranking import Ranks
from unskew.testing.worlds import estimator_rows
from unskew.testing.worlds.integer_worlds import IntegerWorld
from unskew.testing.worlds.scored_users import ScoredUser, ranks_of

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays
except ImportError as error:
    raise ImportError(
        "unskew.testing.strategies needs hypothesis, which is not installed; pip install 'unskew[testing]'"
    ) from error

__all__ = ["exposed_rows", "integer_worlds", "observed_rows", "pair_rows", "ranks", "score_matrices", "scored_users"]

_SEEDS = st.integers(0, 2**32 - 1)


def score_matrices(max_users: int = 5, max_items: int = 8, max_score: int = 3) -> st.SearchStrategy[Floats]:
    """Return matrices of whole scores, users by items, in which ties are common."""
    shapes = st.tuples(st.integers(1, max_users), st.integers(1, max_items))
    scores = st.integers(-max_score, max_score).map(float)
    return shapes.flatmap(lambda shape: arrays.arrays(float, shape, elements=scores))


@st.composite
def scored_users(draw: st.DrawFn, max_items: int = 7, max_score: int = 3) -> ScoredUser:
    """Return a user with few candidates, many ties and at least one relevant item."""
    scores = draw(st.lists(st.integers(0, max_score), min_size=1, max_size=max_items))
    flags = draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)).filter(any))
    return ScoredUser(tuple(scores), tuple(flags))


def ranks(max_users: int = 4, max_items: int = 7, max_score: int = 3) -> st.SearchStrategy[Ranks]:
    """Return the ranks of the relevant items of some `scored_users`."""
    users = st.lists(scored_users(max_items, max_score), min_size=1, max_size=max_users)
    return users.map(ranks_of)


@st.composite
def integer_worlds(draw: st.DrawFn, max_users: int = 5, max_items: int = 8, max_score: int = 3) -> IntegerWorld:
    """Return a split of few users and items, with whole scores for all pairs and at least one test row."""
    n_users, n_items = draw(st.integers(1, max_users)), draw(st.integers(2, max_items))
    pairs = st.frozensets(st.tuples(st.integers(0, n_users - 1), st.integers(0, n_items - 1)), max_size=20)
    row = st.tuples(*[st.integers(-max_score, max_score)] * n_items)
    return IntegerWorld(
        n_users,
        n_items,
        draw(pairs),
        draw(pairs),
        draw(pairs.filter(bool)),
        tuple(draw(row) for _ in range(n_users)),
    )


@st.composite
def observed_rows(draw: st.DrawFn) -> Rows:
    """Return positives of up to six users, with propensities and numbers of relevant items."""
    return estimator_rows.observed_rows(draw(st.lists(st.integers(1, 5), min_size=1, max_size=6)), draw(_SEEDS))


@st.composite
def exposed_rows(draw: st.DrawFn) -> Rows:
    """Return exposed rows of up to six users, at least one of them positive, with gains that fall with rank."""
    sizes = draw(st.lists(st.integers(1, estimator_rows.TOP), min_size=1, max_size=6))
    return estimator_rows.exposed_rows(sizes, draw(_SEEDS))


@st.composite
def pair_rows(draw: st.DrawFn, *, unequal: bool | None = None) -> Rows:
    """Return rows over all pairs of up to 6 users and 6 items, some users without a row.

    Parameters
    ----------
    unequal : bool, optional
        Whether s differs between users; drawn if not given.
    """
    n_users, n_items = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = st.tuples(st.integers(0, n_users - 1), st.integers(0, n_items - 1))
    pairs = draw(st.sets(cells, min_size=1, max_size=n_users * n_items))
    differ = draw(st.booleans()) if unequal is None else unequal
    return estimator_rows.pair_rows(sorted(pairs), n_users, draw(_SEEDS), unequal=differ)
