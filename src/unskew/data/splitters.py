"""Ways to hold a part of a log out, each seeded and recorded."""

from dataclasses import replace

import numpy as np

from unskew.arrays import Bools, Floats, Ints, SeedLike
from unskew.data.interactions import Interactions
from unskew.data.split import Split
from unskew.errors import ConfigError, DataError


def split_fractions(log: Interactions, fractions: tuple[float, ...] = (70, 15, 15), *, rng: SeedLike = 0) -> Split:
    """Give each row to train, (validation) and test at random, in these proportions.

    Parameters
    ----------
    log : Interactions
    fractions : tuple of float
        Two parts (train, test) or three (train, validation, test), on any scale.
    rng : int or Generator
    """
    if len(fractions) not in {2, 3} or min(fractions) <= 0:
        raise ConfigError(f"fractions {fractions}: give two or three positive parts, as in 70/15/15")
    shares = np.array(fractions, dtype=float) / sum(fractions)
    bounds = np.round(np.cumsum(shares)[:-1] * len(log)).astype(int)
    parts = np.split(np.random.default_rng(rng).permutation(len(log)), bounds)
    named = "/".join(f"{part:g}" for part in fractions)
    assignment = np.empty(len(log), dtype=np.int8)
    for k, rows in enumerate(parts):
        assignment[rows] = k
    test = assignment == len(parts) - 1
    held = None if len(parts) == 2 else assignment == 1
    return _make(log, test, held, f"fractions({named}){_seed(rng)}", train_share=shares[0], test_share=shares[-1])


def split_per_user(log: Interactions, share: float = 0.2, *, rng: SeedLike = 0) -> Split:
    """Hold out a share of each user's rows at random, rounded to the nearest whole number."""
    _check_share(share)
    place, counts = _random_places(log, np.random.default_rng(rng))
    held = np.floor(share * counts + 0.5)
    return _make(log, place < held, None, f"per-user({share:g}){_seed(rng)}", train_share=1 - share, test_share=share)


def split_leave_one_out(log: Interactions, *, rng: SeedLike = 0) -> Split:
    """Hold out each user's last row by time, or a random one when there are no times; single rows stay in train."""
    if log.times is None:
        place, counts = _random_places(log, np.random.default_rng(rng))
        return _make(log, (place == 0) & (counts > 1), None, f"leave-one-out(random){_seed(rng)}")
    order = np.lexsort((log.times, log.users))
    users = log.users[order]
    last = np.append(users[1:] != users[:-1], True)
    test = np.zeros(len(log), dtype=bool)
    test[order[last]] = True
    return _make(log, test & (log.user_counts[log.users] > 1), None, "leave-one-out(latest)")


def split_temporal(log: Interactions, share: float = 0.2) -> Split:
    """Hold out what came last: all rows after the moment that leaves this share behind it."""
    _check_share(share)
    if log.times is None:
        raise DataError(f"{log.name} has no column 'timestamp', which a temporal split needs")
    if not len(log):
        raise DataError(f"{log.name} has no row to split")
    kept = int(np.ceil(np.round((1 - share) * len(log), 6)))  # 0.42 x 100 must not become 43
    moment = np.sort(log.times)[max(kept - 1, 0)]
    if not (log.times > moment).any():
        raise DataError(f"{log.name}: no row is later than the last {share:g} of the log begins; are all times equal?")
    return _make(log, log.times > moment, None, f"temporal({share:g})")


def test_propensity(observation: Floats, train_share: float, test_share: float) -> Floats:
    r"""Turn P(observed) into P(in the test | candidate) for a random holdout.

    A row is a candidate unless it was observed and went to train, so the answer is
    :math:`h P / (1 - t P)` with h the test share and t the train share; without validation t = 1 - h.
    """
    # rounding could lift the answer for P = 1 a last bit above 1
    return np.minimum(test_share * observation / (1 - train_share * observation), 1.0)


test_propensity.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name


def _make(
    log: Interactions,
    test: Bools,
    validation: Bools | None,
    made: str,
    *,
    train_share: float | None = None,
    test_share: float | None = None,
) -> Split:
    train = ~test if validation is None else ~(test | validation)
    if not test.any() or not train.any():
        empty = "test" if not test.any() else "train"
        raise DataError(f"{log.name}: {len(log)} rows leave nothing for {empty} under {made}")
    held_out = log.take(test)
    if held_out.propensity is not None:
        rewritten = None
        if train_share is not None and test_share is not None:
            rewritten = test_propensity(held_out.propensity, train_share, test_share)
        held_out = replace(held_out, propensity=rewritten)
    return Split(
        train=log.take(train),
        test=held_out,
        validation=None if validation is None or not validation.any() else log.take(validation),
        made=made,
    )


def _random_places(log: Interactions, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Each row's place in a random order of its user's rows, and the user's number of rows."""
    order = np.lexsort((rng.random(len(log)), log.users))
    starts = np.concatenate([[0], np.cumsum(log.user_counts)])
    place = np.empty(len(log), dtype=np.int64)
    place[order] = np.arange(len(log)) - starts[log.users[order]]
    return place, log.user_counts[log.users]


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise ConfigError(f"share {share:g} must lie between 0 and 1, as in 0.2")


def _seed(rng: SeedLike) -> str:
    return f", seed {rng}" if isinstance(rng, int) else ""
