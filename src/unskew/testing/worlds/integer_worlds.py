"""Small worlds with whole scores, so that ties are common, and their ranks as plain rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.data import Interactions, Split
from unskew.ranking import Contest, Ranks

Pair: TypeAlias = tuple[int, int]
Row: TypeAlias = tuple[int, int, int, int, int]
"""User, item, above, tied and number of candidates."""


@dataclass(frozen=True)
class IntegerWorld:
    """Codes 0, 1, ... for users and items, and a score for each of their pairs."""

    n_users: int
    n_items: int
    train: frozenset[Pair]
    validation: frozenset[Pair]
    test: frozenset[Pair]
    scores: tuple[tuple[int, ...], ...]

    @property
    def matrix(self) -> Floats:
        """The scores as a matrix."""
        return np.array(self.scores, dtype=float)

    def split(self, rule: str) -> Split:
        """Return the split under this rule of candidates."""
        held = self._part(self.validation) if self.validation else None
        return Split(self._part(self.train), self._part(self.test), held, candidates=rule)

    def _part(self, pairs: Iterable[Pair]) -> Interactions:
        rows = sorted(pairs)
        users, items = [user for user, _ in rows], [item for _, item in rows]
        return Interactions.from_arrays(users, items, n_users=self.n_users, n_items=self.n_items)


def rows_of(ranks: Ranks) -> list[Row]:
    """Return the ranks row by row."""
    columns = (ranks.users, ranks.items, ranks.above, ranks.tied, ranks.candidates)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def listed_of(contest: Contest) -> list[list[int]]:
    """Return the listed places of each judged user."""
    return [part.tolist() for part in np.split(contest.listed, contest.listed_offsets[1:-1])]
