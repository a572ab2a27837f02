"""Functions that split a log, each seeded and recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from unskew.arrays import Bools, Floats, Ints, SeedLike, offsets_of
from unskew.data.interactions import Interactions
from unskew.data.split import Split
from unskew.errors import ConfigError, DataError, Option

_ROUNDED = 0.001  # share of the whole by which parts may miss it, as 33.3/33.3/33.3 do
_FINEST = 10**6  # shares are rounded to fractions of at most this denominator, so that 0.1 and 1/3 are exact


def split_fractions(log: Interactions, fractions: tuple[float, ...] = (70, 15, 15), *, rng: SeedLike = 0) -> Split:
    """Split the rows at random into train, (validation) and test, in these proportions.

    Parameters
    ----------
    log : Interactions
    fractions : tuple of float
        Two parts (train, test) or three (train, validation, test), which sum to 100 or to 1.
    rng : int or Generator
    """
    if len(fractions) not in {2, 3} or min(fractions) <= 0:
        raise ConfigError(f"fractions {fractions}: give two or three positive parts, as in 70/15/15")
    check_whole(fractions, "fractions")
    shares = np.array(fractions, dtype=float) / sum(fractions)
    bounds = np.round(np.cumsum(shares)[:-1] * len(log)).astype(int)
    parts = np.split(np.random.default_rng(rng).permutation(len(log)), bounds)
    named = "/".join(f"{part:g}" for part in fractions)
    assignment = np.empty(len(log), dtype=np.int8)
    for k, rows in enumerate(parts):
        assignment[rows] = k
    test = assignment == len(parts) - 1
    held = None if len(parts) == 2 else assignment == 1
    origin = f"fractions({named}){_seed(rng)}"
    between = shares[1] if len(parts) == 3 else 0.0
    return _make(log, test, held, origin, _Shares(shares[0], between, shares[-1]))


def check_whole(parts: Sequence[float], what: str) -> None:
    """Refuse parts that sum to neither 100 nor 1, because one of them is probably a slip."""
    total = sum(parts)
    if any(abs(total - whole) <= _ROUNDED * whole * (1 + 1e-9) for whole in (1, 100)):
        return
    meant = ["/".join(f"{100 * part / total:.4g}" for part in parts) + " for these proportions"]
    if len(parts) == 2 and 1 < parts[0] < 100:
        meant.insert(0, f"{parts[0]:g}/{100 - parts[0]:g}")
    given = "/".join(f"{part:g}" for part in parts)
    raise ConfigError(f"{what} {given} sum to {total:g}, not to 100 or 1; write {', or '.join(meant)}")


def split_per_user(
    log: Interactions,
    share: float = 0.2,
    *,
    validation: float = 0.0,
    least: int | None = None,
    rng: SeedLike = 0,
) -> Split:
    r"""Hold out a share of each user's rows at random.

    With `share` alone, the share of the user's n rows is rounded to the nearest whole number. With `validation` or
    `least` the numbers of rows come from largest-remainder rounding, done in fractions: a part with share s first gets
    :math:`\lfloor s n \rfloor` rows, and the rows left go one each to the parts with the largest remainders
    :math:`s n - \lfloor s n \rfloor`. Equal remainders go to the part with the largest share first, then to train
    before validation before test; the paper [lim2015] does not mention ties. The parts do not depend on the order of
    the rows.

    A propensity column of the held-out parts is rewritten with the actual shares of the user's rows, because rounding
    moves them far from the requested ones when a user has few rows.

    Parameters
    ----------
    log : Interactions
    share : float
        Share of each user's rows for the test.
    validation : float
        Share of each user's rows for validation.
    least : int, optional
        A user with at least this many rows has a row in the test, even when the quota is below one; the rows of other
        users are all in train. The setting of Lim et al. (2015) is ``validation=0.1, share=0.2``, and ``least=5`` is
        our reading of it.
    rng : int or Generator
    """
    _check_share(share)
    if validation == 0 and least is None:
        place, counts = _random_places(log, np.random.default_rng(rng))
        origin = f"per-user({share:g}){_seed(rng)}"
        return _make(log, place < np.floor(share * counts + 0.5), None, origin, _Shares(1 - share, 0.0, share))
    shares = _exact_shares(share, validation, least)
    sizes, row_of_user = np.unique(log.user_counts, return_inverse=True)
    table = np.array([_largest_remainder(int(n), shares, least) for n in sizes], dtype=np.int64)
    train, held, test = table[row_of_user[log.users]].T
    place, counts = _random_places(log, np.random.default_rng(rng), by_item=True)
    in_test = place < test
    in_validation = ~in_test & (place < test + held) if validation else None
    got = _Shares(train / counts, held / counts, test / counts)
    return _make(log, in_test, in_validation, f"per-user({_named(shares, least)}){_seed(rng)}", got)


def count_train_only(split: Split) -> int:
    """How many users have rows in train and in no other part."""
    held = split.test.user_counts + (0 if split.validation is None else split.validation.user_counts)
    return int(np.count_nonzero((split.train.user_counts > 0) & (held == 0)))


def split_leave_one_out(log: Interactions, *, rng: SeedLike = 0) -> Split:
    """Hold out each user's last row by time, or a random one if there are no times; single rows stay in train."""
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
    """Hold out the last share of the log: all rows after the moment where that share begins."""
    _check_share(share)
    if log.times is None:
        raise DataError(
            f"{log.name} has no column 'timestamp', which a temporal split needs; name it with "
            f"{Option('timestamp_col')}"
        )
    if not len(log):
        raise DataError(f"{log.name} has no rows to split")
    kept = int(np.ceil(np.round((1 - share) * len(log), 6)))  # 0.42 x 100 must not become 43
    moment = np.sort(log.times)[max(kept - 1, 0)]
    if not (log.times > moment).any():
        raise DataError(f"{log.name}: no row is later than the start of the last {share:g}; are all times equal?")
    return _make(log, log.times > moment, None, f"temporal({share:g})")


def test_propensity(observation: Floats, train_share: float | Floats, test_share: float | Floats) -> Floats:
    r"""Turn P(observed) into P(in the test | candidate) for a random holdout.

    A row is a candidate unless it was observed and is in train, so the result is
    :math:`h P / (1 - t P)` with h the test share and t the train share; without validation t = 1 - h. For validation
    rows h is the share of validation.
    """
    # rounding could make the result for P = 1 slightly larger than 1
    return np.minimum(test_share * observation / (1 - train_share * observation), 1.0)


test_propensity.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name


@dataclass(frozen=True, eq=False)
class _Shares:
    """The shares of the parts: one number each, or one per row."""

    train: float | Floats
    validation: float | Floats
    test: float | Floats


def _held_out(log: Interactions, part: Bools, held: float | Floats, train: float | Floats) -> Interactions:
    """The rows of a part, with the propensity of being in it."""
    rows = log.take(part)
    if rows.propensity is None:
        return rows
    held, train = (each if isinstance(each, float) else each[part] for each in (held, train))
    return replace(rows, propensity=test_propensity(rows.propensity, train, held))


def _make(
    log: Interactions, test: Bools, validation: Bools | None, origin: str, shares: _Shares | None = None
) -> Split:
    train = ~test if validation is None else ~(test | validation)
    if not test.any() or not train.any():
        empty = "test" if not test.any() else "train"
        raise DataError(f"{log.name}: {len(log)} rows leave none for {empty} under {origin}; hold out another share")
    if shares is None:  # not at random, so the propensity is unknown
        return Split(train=log.take(train), test=replace(log.take(test), propensity=None), origin=origin)
    held = None
    if validation is not None and validation.any():
        held = _held_out(log, validation, shares.validation, shares.train)
    return Split(
        train=log.take(train), test=_held_out(log, test, shares.test, shares.train), validation=held, origin=origin
    )


def _random_places(log: Interactions, rng: np.random.Generator, *, by_item: bool = False) -> tuple[Ints, Ints]:
    """Each row's place in a random order of its user's rows, and the user's number of rows.

    Random numbers are drawn in the order of the rows, or with `by_item` in the order of user and item.
    """
    drawn = rng.random(len(log))
    if by_item:
        ordered = np.empty(len(log))
        ordered[np.lexsort((log.items, log.users))] = drawn
        drawn = ordered
    order = np.lexsort((drawn, log.users))
    starts = offsets_of(log.user_counts)
    place = np.empty(len(log), dtype=np.int64)
    place[order] = np.arange(len(log)) - starts[log.users[order]]
    return place, log.user_counts[log.users]


def _exact_shares(share: float, validation: float, least: int | None) -> tuple[Fraction, Fraction, Fraction]:
    """The shares of train, validation and test as exact fractions: 0.1 is a tenth, 1/3 a third."""
    if not 0 <= validation < 1:
        raise ConfigError(f"validation {validation:g} must be between 0 and 1, as in 0.1")
    if least is not None and least < 1:
        raise ConfigError(f"least {least} must be 1 or more, as in 5")
    # a share finer than that would become 0
    test, held = (Fraction(part).limit_denominator(_FINEST) or Fraction(part) for part in (share, validation))
    if test + held >= 1:
        raise ConfigError(f"validation {validation:g} and share {share:g} leave no row for train; make them smaller")
    return 1 - held - test, held, test


def _largest_remainder(n: int, shares: tuple[Fraction, Fraction, Fraction], least: int | None) -> list[int]:
    """Whole numbers of rows for train, validation and test that add up to n, each within 1 of its quota."""
    if least is not None and n < least:
        return [n, 0, 0]
    quotas = [part * n for part in shares]
    counts = [int(quota) for quota in quotas]
    first = least is not None and counts[2] == 0

    def rank(part: int) -> tuple[bool, Fraction, Fraction, int]:
        return (first and part == 2, quotas[part] - counts[part], shares[part], -part)

    for part in sorted(range(3), key=rank, reverse=True)[: n - sum(counts)]:
        counts[part] += 1
    return counts


def _named(shares: tuple[Fraction, Fraction, Fraction], least: int | None) -> str:
    parts = "/".join(f"{float(part):g}" for part in shares if part)
    return parts if least is None else f"{parts}, least={least}"


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise ConfigError(f"share {share:g} must be between 0 and 1, as in 0.2")


def _seed(rng: SeedLike) -> str:
    return f", seed {rng}" if isinstance(rng, int) else ""
