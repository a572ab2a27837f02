"""`Scores`: chances of relevance from a table of the user's own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data.pairs import contains, pair_keys
from unskew.data.reading import read_table
from unskew.data.vocabulary import Vocabulary, canonical
from unskew.errors import DataError
from unskew.imputation.imputation import Imputation, LabelledRows


@dataclass(frozen=True)
class Scores(Imputation, word="scores"):
    """Chances from a file with columns user, item and score; a pair that it lacks has the chance 0.

    Parameters
    ----------
    file : str
        CSV, TSV or Parquet.
    """

    file: str = ""
    positional = ("file",)

    def fit(self, log: LabelledRows) -> "TableOfChances":
        """Not possible without the ids of the split; `read` is used instead."""
        raise DataError("scores(FILE) is read, not fitted; call read(users, items)")

    def read(self, users: Vocabulary, items: Vocabulary) -> "TableOfChances":
        """Read the file; pairs of other users and items are left out."""
        frame = read_table(Path(self.file))
        lacking = [column for column in ("user", "item", "score") if column not in frame.columns]
        if lacking:
            raise DataError(f"{self.file}: has no column {lacking[0]!r}; a table of chances has user, item and score")
        user = users.encode(canonical(frame["user"], f"users of {self.file}"))
        item = items.encode(canonical(frame["item"], f"items of {self.file}"))
        score = np.asarray(frame["score"].to_numpy(), dtype=float)
        return TableOfChances.of(user, item, score, len(users), len(items), self.file)


@dataclass(frozen=True, eq=False)
class TableOfChances:
    """Chances of listed pairs, 0 for all others."""

    keys: Ints  # ascending
    chance: Floats
    n_items: int

    @classmethod
    def of(cls, users: Ints, items: Ints, chance: Any, n_users: int, n_items: int, name: str) -> "TableOfChances":
        """The table; chances outside [0, 1], and chances that are all the same, are refused."""
        wrong = ~((chance >= 0) & (chance <= 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{name}: score {chance[row]:g} in row {row + 1} is outside [0, 1]; the scores are chances of relevance"
            )
        known = (users >= 0) & (items >= 0)
        keys, first = np.unique(pair_keys(users[known], items[known], n_items), return_index=True)
        kept = chance[known][first]
        if not len(kept):
            raise DataError(f"{name}: has no pair of this log's users and items; are the ids the same?")
        if float(kept.max()) == float(kept.min()) and len(keys) == n_users * n_items:
            raise DataError(f"{name}: every chance is {kept[0]:g}, which says nothing about the pairs; use labels")
        return cls(keys, kept, n_items)

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of each pair."""
        keys = pair_keys(users, items, self.n_items)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(contains(self.keys, keys) & (items >= 0), self.chance[place], 0.0)

    def block(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of these users with these items."""
        flat = self.rows(np.repeat(users, len(items)).astype(np.int64), np.tile(items, len(users)).astype(np.int64))
        return flat.reshape(len(users), len(items))
