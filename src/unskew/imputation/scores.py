"""`Scores`: chances of relevance from a table of the user's own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unskew.arrays import Floats, Ints
from unskew.data.pairs import contains, pair_keys
from unskew.data.reading import read_table
from unskew.data.vocabulary import Vocabulary, canonical
from unskew.errors import DataError
from unskew.imputation.imputation import Imputation, LabelledRows
from unskew.logistic import log_odds


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
        score = frame["score"].cast(pl.Float64, strict=False)
        text = score.is_null() & frame["score"].is_not_null()
        if text.any():
            row = int(text.arg_max() or 0)
            raise DataError(
                f"{self.file}: score {frame['score'][row]!r} in row {row + 1} is not a number; expected a chance"
            )
        return TableOfChances.of(user, item, score.to_numpy(), len(users), len(items), self.file)


@dataclass(frozen=True, eq=False)
class TableOfChances:
    """Chances of listed pairs, 0 for all others."""

    keys: Ints  # ascending
    chance: Floats
    n_items: int
    name: str = "the table"

    @classmethod
    def of(cls, users: Ints, items: Ints, chance: Any, n_users: int, n_items: int, name: str) -> "TableOfChances":
        """The table; chances outside [0, 1], and chances that are all the same, are refused."""
        wrong = ~((chance >= 0) & (chance <= 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{name}: score {chance[row]:g} in row {row + 1} is outside [0, 1]; the scores are chances of relevance"
            )
        rows = np.flatnonzero((users >= 0) & (items >= 0))
        keys, first, copies = np.unique(
            pair_keys(users[rows], items[rows], n_items), return_index=True, return_inverse=True
        )
        kept = chance[rows][first]
        other = chance[rows] != kept[copies]
        if other.any():
            row = int(rows[int(np.argmax(other))])
            raise DataError(f"{name}: the pair in row {row + 1} has another score in an earlier row; keep one")
        if not len(kept):
            raise DataError(f"{name}: has no pair of this log's users and items; are the ids the same?")
        table = cls(keys, kept, n_items, name)
        table.refuse_constant(kept, n_users * n_items)
        return table

    def refuse_constant(self, chance: Floats, pairs: int) -> None:
        """Refuse chances that are all the same and are those of all pairs."""
        if len(chance) and len(chance) == pairs and float(chance.max()) == float(chance.min()):
            raise DataError(
                f"{self.name}: every chance is {chance[0]:g}, which says nothing about the pairs; use labels"
            )

    def of_candidates(self, users: Ints, excluded: Ints) -> Floats:
        """Chances of the listed pairs of these users, without those with excluded keys."""
        kept = np.isin(self.keys // self.n_items, users) & ~np.isin(self.keys, excluded)
        return np.asarray(self.chance[kept])

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of each pair."""
        keys = pair_keys(users, items, self.n_items)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(contains(self.keys, keys) & (items >= 0), self.chance[place], 0.0)

    def block(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of these users with these items."""
        flat = self.rows(np.repeat(users, len(items)).astype(np.int64), np.tile(items, len(users)).astype(np.int64))
        return flat.reshape(len(users), len(items))

    def block_logits(self, users: Ints, items: Ints, /) -> Floats:
        """Log-odds of these users with these items."""
        return log_odds(self.block(users, items))
