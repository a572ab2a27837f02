"""The ranks of all relevant items by user, for list metrics."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, DataError, did_you_mean
from unskew.metrics.exact.positions import mean_gain, positions_used

# The step by which equal places of a user's items are spread, so that they form an order.
_STEPS = {"expected": 0, "optimistic": 1, "pessimistic": -1, "random": 0, "ordinal": 0}


@dataclass(frozen=True, eq=False)
class UserLists:
    """Rows sorted by user and, inside a user, by ``above``; all of a user's positives are present.

    Attributes
    ----------
    offsets : Ints
        Rows ``offsets[u]`` to ``offsets[u + 1]`` belong to user u (int64, users + 1).
    above, tied : Ints
        Candidates with a greater score; other candidates with the same score (int32). Two positives of a user
        are in one tie group exactly when their ``above`` is equal.
    candidates : Ints
        Number of candidates, the same in all rows of a user.
    listed : Ints, optional
        How many candidates the model listed, the same in all rows of a user. A row with ``above >= listed``
        was not listed and gains nothing in a metric with a cut-off.
    """

    offsets: Ints
    above: Ints
    tied: Ints
    candidates: Ints
    listed: Ints | None = None

    @classmethod
    def from_rows(
        cls,
        offsets: Ints,
        above: Ints,
        tied: Ints,
        candidates: Ints,
        listed: Ints | None = None,
        *,
        policy: str = "expected",
    ) -> Self:
        """Sort the rows inside each user.

        Under a policy that resolves ties per item, several positives of a user may share a place. Equal places are then
        spread, so that the list is an order and no value exceeds 1: ``optimistic`` a, a + 1, ... (the positives lead
        their tie group), ``pessimistic`` a, a - 1, ... (they end it).

        Parameters
        ----------
        offsets, above, tied, candidates, listed : Ints
            As the attributes, rows grouped by user but in any order inside.
        policy : str
            How ties were resolved in the ranks.
        """
        from unskew.metrics.exact.tie_kernel import sort_rows

        if policy not in _STEPS:
            raise ConfigError(f"unknown tie policy {policy!r}{did_you_mean(policy, _STEPS)}")
        columns = [_int32(column) for column in (above, tied, candidates)]
        if listed is not None:
            columns.append(_int32(listed))
        offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        rows = {column.size for column in columns}
        if not offsets.size or rows != {int(offsets[-1])} or offsets[0] != 0 or np.any(np.diff(offsets) < 0):
            raise DataError(
                f"offsets end at {offsets[-1:].tolist()} but the columns have {sorted(rows)} rows: "
                "give users + 1 rising offsets from 0 and columns of one length"
            )
        sorted_above, sorted_tied = sort_rows(offsets, columns[0], columns[1], _STEPS[policy])
        return cls(offsets, sorted_above, sorted_tied, columns[2], columns[3] if listed is not None else None)

    @cached_property
    def relevant(self) -> Ints:
        """Number of positives per user."""
        return np.diff(self.offsets)

    @cached_property
    def user_candidates(self) -> Ints:
        """Number of candidates per user, 0 for a user without rows."""
        return self._first(self.candidates)

    def limits(self, cutoff: int | None) -> Ints:
        """Return per user how many places from the top can gain something."""
        if cutoff is None:
            return np.full(self.relevant.size, positions_used(self.above, self.tied), dtype=np.int64)
        if self.listed is None:
            return np.full(self.relevant.size, cutoff, dtype=np.int64)
        return np.minimum(self._first(self.listed), cutoff)

    def gains(self, table: Floats, cutoff: int | None) -> Floats:
        """Return per user the expected sum of ``table[place]`` over the positives, zero past its end."""
        values = mean_gain(table, self.above, self.tied)
        if cutoff is not None and self.listed is not None:
            values[self.above >= self.listed] = 0.0
        return self.sums(values)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of row values per user."""
        totals = np.zeros(self.relevant.size)
        filled = np.flatnonzero(self.relevant)
        if filled.size:
            totals[filled] = np.add.reduceat(values, self.offsets[filled])
        return totals

    def shares(self, sizes: Ints) -> Floats:
        """Return per user the share of the positives that ``sizes`` of them are, NaN without positives."""
        return divide(sizes, self.relevant)

    def _first(self, column: Ints) -> Ints:
        values = np.zeros(self.relevant.size, dtype=np.int64)
        filled = self.relevant > 0
        values[filled] = column[self.offsets[:-1][filled]]
        return values


def check_fewer(metric: str, lists: UserLists, sizes: Ints) -> None:
    """Refuse a number of positives that is larger than that of the user."""
    more = np.flatnonzero((sizes > lists.relevant) & (lists.relevant > 0))
    if more.size:
        raise ConfigError(
            f"{metric} with {sizes[more[0]]} positives cannot be estimated from the {lists.relevant[more[0]]} of user "
            f"{more[0]} (counting from 0); use fewer, or a metric such as ndcg, map or recall"
        )


def divide(numerator: Floats | Ints, denominator: Ints | Floats) -> Floats:
    """Divide, NaN where the denominator is 0 (a user without positives has no value)."""
    result = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result


def _int32(column: Ints) -> Ints:
    return np.ascontiguousarray(column, dtype=np.int32)
