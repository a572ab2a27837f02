"""Random rows as estimators see them: observed positives, rows over all pairs, exposed rows, and candidates."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.estimators import Places, Rows

TOP = 9
"""The largest population of a user of `exposed_rows`."""


def observed_rows(counts: Sequence[int], seed: int) -> Rows:
    """Return random positives of users with these numbers of rows; each user has two relevant items more."""
    rng = np.random.default_rng(seed)
    n = sum(counts)
    user = np.repeat(np.arange(len(counts)), counts)
    return Rows(rng.uniform(0, 1, n), user, rng.uniform(0.01, 1, n), np.arange(n), total=np.array(counts) + 2.0)


def pair_rows(pairs: Sequence[tuple[int, int]], n_users: int, seed: int, *, unequal: bool) -> Rows:
    """Return random rows over all pairs, for rating losses and graded metrics.

    Parameters
    ----------
    pairs : sequence of (user, item)
        The observed pairs.
    n_users : int
        All users; some may have no row.
    seed : int
    unequal : bool
        Whether s differs between users.
    """
    rng = np.random.default_rng(seed)
    users, user = np.unique([u for u, _ in pairs], return_inverse=True)
    item = np.unique([i for _, i in pairs], return_inverse=True)[1]
    numbers = rng.integers(6, 60, len(users)) if unequal else np.full(len(users), 6)
    rest = np.full(n_users - len(users), 6.0)
    return Rows(
        worth=rng.uniform(0, 4, len(pairs)),
        propensity=rng.uniform(0.05, 1, len(pairs)),
        user=user,
        item=item,
        size=1 / numbers[user] if unequal else None,
        total=np.ones(n_users) if unequal else np.concatenate([numbers, rest]).astype(float),
    )


def exposed_rows(sizes: Sequence[int], seed: int) -> Rows:
    """Return random exposed rows of users with populations of these sizes, at most 9.

    At least one row is positive, and the gain of a rank is one over it.
    """
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(size, rng.integers(1, size + 1), replace=False) for size in sizes]
    user = np.repeat(np.arange(len(sizes)), [len(ranks) for ranks in drawn])
    positive = rng.random(len(user)) < 0.5
    positive[rng.integers(len(user))] = True
    rows = Rows(np.zeros(len(user)), user, total=np.array(sizes, dtype=float), positive=positive)
    return at_ranks(rows, np.concatenate(drawn), 1 / np.arange(1, TOP + 1))


def candidate_rows(users: int, seed: int, *, mean: bool) -> Rows:
    """Return a row per user with sums over the user's six candidates, and random positives of the log.

    With `mean` the sums are weighted by the chances of relevance; the positives of the log have their chances too.
    """
    rng = np.random.default_rng(seed)
    chance, gain = rng.uniform(0.05, 0.5, (2, users, 6))
    logged, item = np.nonzero(rng.random((users, 6)) < 0.5)
    logged, item = np.append(logged, 0), np.append(item, 0)
    return Rows(
        worth=(chance * gain).sum(axis=1),
        user=np.arange(users),
        size=chance.sum(axis=1) if mean else None,
        total=np.full(users, 6.0),
        mass=chance.sum(axis=1),
        logged=Rows(
            gain[logged, item],
            logged,
            rng.uniform(0.05, 1, len(logged)),
            positive=np.ones(len(logged), dtype=bool),
            imputed=chance[logged, item],
        ),
    )


def at_ranks(rows: Rows, ranks: Ints, gains: Floats) -> Rows:
    """Return the exposed rows with these ranks from 0, and these gains of the ranks."""
    sums = np.append(0.0, np.cumsum(gains))
    places = Places(
        ranks.astype(float),
        lambda numbers: sums[np.minimum(numbers[None], rows.population[:, None])],
        ideal=lambda numbers: sums[np.minimum(numbers, len(gains))],
    )
    return rows.with_worth(gains[ranks], places)


def reordered(rows: Rows, order: Ints) -> Rows:
    """Return the same rows in another order; those that have no places."""
    columns = {name: getattr(rows, name) for name in ("worth", "user", "propensity", "item", "size", "positive")}
    return replace(rows, **{name: column[order] for name, column in columns.items() if column is not None})


def ranks_of(rows: Rows) -> Ints:
    """Return the ranks from 0 of exposed rows."""
    assert rows.places is not None
    return rows.places.above.astype(np.int64)
