"""The scorer of top-N lists and sparse tables of scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints, Matrix, offsets_of, spans
from unskew.data.frames import eager
from unskew.data.vocabulary import canonical, factorise
from unskew.errors import DataError
from unskew.ranking.scorers import check_ids


@dataclass(frozen=True, eq=False)
class ListScorer:
    """Scores of the listed items only; other items were not recommended.

    Make one with `from_arrays` or `from_table`.

    Parameters
    ----------
    offsets : array (users + 1,)
        The list of user row r is ``columns[offsets[r]:offsets[r + 1]]``.
    columns : array
        Item columns.
    scores : array
        Scores of the columns; larger is better.
    n_items : int
        How many item columns there are.
    user_ids, item_ids : array, optional
    name : str
    ratings : bool
        Whether scores are predicted ratings.
    """

    offsets: Ints
    columns: Ints
    scores: Matrix
    n_items: int
    user_ids: npt.ArrayLike | None = None
    item_ids: npt.ArrayLike | None = None
    name: str = "lists"
    ratings: bool = False

    def __post_init__(self) -> None:
        if np.asarray(self.scores).dtype not in (np.float32, np.float64):  # others have no infinity
            object.__setattr__(self, "scores", np.asarray(self.scores, dtype=np.float64))
        check_ids(self.user_ids, len(self.offsets) - 1, "user_ids", self.name)
        check_ids(self.item_ids, self.n_items, "item_ids", self.name)

    @classmethod
    def from_arrays(
        cls,
        items: Ints,
        scores: Matrix | None = None,
        *,
        n_items: int | None = None,
        user_ids: npt.ArrayLike | None = None,
        item_ids: npt.ArrayLike | None = None,
        name: str = "lists",
    ) -> "ListScorer":
        """Lists of equal length, best first; -1 fills a shorter one.

        Parameters
        ----------
        items : array of int (users, N)
            Item columns, -1 for none; a repeated item counts at its first place.
        scores : array (users, N), optional
            Without scores, the order in the list is the ranking.
        n_items : int, optional
            Number of items; by default the length of `item_ids`, else the largest column plus one.
        user_ids, item_ids : array, optional
        name : str
        """
        items = np.asarray(items)
        if items.ndim != 2 or items.dtype.kind not in "iu":
            raise DataError(f"{name}: lists must be a matrix of integers, users by places, not {items.shape}")
        items = items.astype(np.int64, copy=False)
        if n_items is None:
            n_items = int(items.max(initial=-1)) + 1 if item_ids is None else len(np.asarray(item_ids))
        if items.max(initial=-1) >= n_items:
            raise DataError(f"{name}: item {items.max()} is in a list, but there are only {n_items} items")
        if scores is None:
            place = np.arange(items.shape[1], 0, -1, dtype=np.float32)
            scores = np.broadcast_to(place, items.shape)
        elif np.shape(scores) != items.shape:
            raise DataError(f"{name}: scores {np.shape(scores)} and lists {items.shape} must have the same shape")
        real = items >= 0
        offsets = offsets_of(real.sum(axis=1))
        columns, kept = (items, np.asarray(scores)) if real.all() else (items[real], np.asarray(scores)[real])
        columns = np.ascontiguousarray(columns.reshape(-1), dtype=np.int32)
        kept = np.ascontiguousarray(kept.reshape(-1))
        if not np.isfinite(kept).all():
            raise DataError(f"{name}: row {int(np.argmin(np.isfinite(kept)))} of the scores is not a finite number")
        return cls(offsets, columns, kept, n_items, user_ids, item_ids, name)

    @classmethod
    def from_table(
        cls, users: Any, items: Any, scores: npt.ArrayLike, *, name: str = "scores", ratings: bool = False
    ) -> "ListScorer":
        """A scorer of a table of ``user, item, score`` rows with ids, dense or not, in any order."""
        user_codes, user_vocabulary = factorise(canonical(users, f"users of {name}"))
        item_codes, item_vocabulary = factorise(canonical(items, f"items of {name}"))
        what = "prediction" if ratings else "score"
        values = np.asarray(scores, dtype=np.float64)
        bad = ~np.isfinite(values)
        if bad.any():
            row = int(np.argmax(bad))
            user, item = user_vocabulary.ids[user_codes[row]], item_vocabulary.ids[item_codes[row]]
            raise DataError(
                f"{name}: row {row + 1} (user {user}, item {item}) has {what} {values[row]}; {what}s must be finite"
            )
        order = np.lexsort((item_codes, user_codes))
        user_codes, item_codes = user_codes[order], item_codes[order]
        repeated = (user_codes[1:] == user_codes[:-1]) & (item_codes[1:] == item_codes[:-1])
        if repeated.any():
            row = int(np.argmax(repeated))
            user, item = user_vocabulary.ids[user_codes[row]], item_vocabulary.ids[item_codes[row]]
            raise DataError(f"{name}: user {user}, item {item} has more than one {what}; keep one")
        counts = np.bincount(user_codes, minlength=len(user_vocabulary))
        offsets = offsets_of(counts)
        return cls(
            offsets,
            item_codes.astype(np.int32),
            values[order],
            len(item_vocabulary),
            user_vocabulary.ids,
            item_vocabulary.ids,
            name,
            ratings=ratings,
        )

    @classmethod
    def from_frame(cls, frame: Any, *, name: str = "scores") -> "ListScorer":
        """As `from_table`, from a frame with columns ``user``, ``item`` and ``score``."""
        table = eager(frame, ("user", "item", "score"), name)
        return cls.from_table(table["user"], table["item"], table["score"].to_numpy(), name=name)

    @property
    def predicts_only(self) -> bool:
        """Whether it is a table of predicted ratings, which ranks only if it has all candidates."""
        return self.ratings

    @property
    def shape(self) -> tuple[int, int]:
        """Number of users and of items."""
        return len(self.offsets) - 1, self.n_items

    def lists_of(self, rows: Ints) -> tuple[Ints, Ints, Matrix]:
        """Offsets, columns and scores of these user rows."""
        if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
            offsets = self.offsets[rows[0] : rows[0] + len(rows) + 1]
            span = slice(offsets[0], offsets[-1])
            return offsets - offsets[0], self.columns[span], self.scores[span]
        counts = self.offsets[rows + 1] - self.offsets[rows]
        flat = spans(self.offsets[rows], counts)
        return offsets_of(counts), self.columns[flat], self.scores[flat]

    def score(self, users: Ints, /) -> Matrix:
        """Dense scores, minus infinity where nothing is listed."""
        offsets, columns, scores = self.lists_of(np.asarray(users))
        dense = np.full((len(users), self.n_items), -np.inf, dtype=self.scores.dtype)
        rows = np.repeat(np.arange(len(users)), np.diff(offsets))
        dense[rows[::-1], columns[::-1]] = scores[::-1]  # backwards, so that the first place of an item counts
        return dense
