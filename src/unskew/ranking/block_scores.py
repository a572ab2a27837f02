"""Scores of a block of users, in the order of the catalogue."""

import threading
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints, Matrix
from unskew.compiling import is_short
from unskew.errors import DataError, UnskewError, first_of
from unskew.ranking import tensor_counts
from unskew.ranking.catalogue import Binding
from unskew.ranking.factors import PackedFactors
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.scorers import AlignedFactors, FactorScorer, Scorer, kind_of


class _Source(Protocol):
    """Scores of a catalogue."""

    @property
    def owned(self) -> bool:
        """Whether the caller may write to the result of `score`."""
        ...

    def score(self, rows: Ints) -> Any:
        """Scores of these rows of the model, an array or a tensor, valid until the next call of this thread."""
        ...


class BlockScores:
    """The checked scores of one model. Only each thread's buffer is mutable.

    Parameters
    ----------
    scorer : Scorer
    binding : Binding
        Where the model keeps users and items.
    user_ids, catalogue_ids : array
        Ids for messages.
    name : str
        Name of the model.
    plain : bool
        Whether to score without a compiler, for a short run.
    """

    def __init__(
        self,
        scorer: Scorer,
        binding: Binding,
        user_ids: npt.NDArray[Any],
        catalogue_ids: npt.NDArray[Any],
        name: str,
        *,
        plain: bool = False,
    ) -> None:
        self.binding, self.name = binding, name
        self.user_ids, self.catalogue_ids = user_ids, catalogue_ids
        self.unknown = np.flatnonzero(binding.columns < 0)
        self.source: _Source
        if isinstance(scorer, FactorScorer):
            aligned = scorer.align(binding.columns, plain=plain)
            self.source = aligned if isinstance(aligned, PackedFactors) else _Products(aligned)
            self.unchecked = aligned.finite
        else:
            self.source, self.unchecked = _Gathered(scorer, binding, name), isinstance(scorer, ListScorer)

    def of(self, users: Ints, *, writable: bool = False) -> Matrix:
        """Scores of these users, minus infinity for items and users the model does not know.

        Parameters
        ----------
        users : array
            User codes.
        writable : bool
            Whether the caller will write to the result; arrays of the scorer are then copied.

        Raises
        ------
        DataError
            If a score is NaN or infinite; the message names the user and the item.
        """
        scores: Matrix = self.where_they_are(users, writable=writable)
        if not tensor_counts.is_tensor(scores):
            return scores
        array = np.ascontiguousarray(tensor_counts.as_array(scores))
        return array.copy() if writable else array

    def where_they_are(self, users: Ints, *, writable: bool = False) -> Any:
        """The same, but a tensor that ranks can be counted from stays one, on its device."""
        rows = self.binding.rows[users]
        if (rows < 0).any():  # no list is empty because of a score, so all items are tied
            filled = np.full((len(users), len(self.binding.columns)), -np.inf, dtype=np.float64)
            if (rows >= 0).any():
                known_scores = self.where_they_are(users[rows >= 0])
                if tensor_counts.is_tensor(known_scores):
                    return tensor_counts.with_unknown_users(known_scores, rows >= 0)
                filled = filled.astype(known_scores.dtype)
                filled[rows >= 0] = known_scores
            return filled
        scores = self.source.score(rows)
        as_tensor = tensor_counts.is_tensor(scores)
        if not self.unchecked:
            loops: Any = tensor_counts
            if not as_tensor:
                loops = import_module(f"unskew.ranking.{'plain_loops' if is_short(scores.size) else 'kernel'}")
            row, column = loops.first_not_finite(scores)
            if row >= 0:
                user, item = self.user_ids[users[row]], self.catalogue_ids[column]
                raise DataError(
                    f"model {self.name!r} gives user {user}, item {item} the score {float(scores[row, column])}; "
                    "scores must be finite numbers"
                )
        if as_tensor:
            return tensor_counts.put_last(scores, self.unknown) if len(self.unknown) else scores
        if writable and not self.source.owned:
            scores = scores.copy()
        if len(self.unknown):
            scores[:, self.unknown] = -np.inf
        return scores


class _Products:
    """Products of factors, written into one buffer per thread."""

    owned = True

    def __init__(self, factors: AlignedFactors) -> None:
        self.factors = factors
        self.own = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Products, (self.factors,)  # buffers stay where they are

    def score(self, rows: Ints) -> Matrix:
        """The product, in this thread's buffer."""
        buffer = getattr(self.own, "buffer", None)
        if buffer is None or len(buffer) < len(rows):
            buffer = self.own.buffer = np.empty((len(rows), self.factors.n_items), self.factors.columns.dtype)
        scores: Matrix = buffer[: len(rows)]
        self.factors.score_into(rows, scores)
        return scores


class _Gathered:
    """Any scorer, with its columns in the order of the catalogue."""

    def __init__(self, scorer: Scorer, binding: Binding, name: str) -> None:
        self.scorer, self.name = scorer, name
        self.columns = binding.columns
        self.width = binding.width
        self.in_order = bool(np.array_equal(binding.columns, np.arange(binding.width)))

    @property
    def owned(self) -> bool:
        """Whether `score` returns a copy, as it always does if an item is unknown."""
        return not self.in_order

    def score(self, rows: Ints) -> Any:
        """The array of the scorer if its columns are in order, else a copy; a tensor stays on its device."""
        scores: Any = self._asked(rows)
        counted_there = tensor_counts.can_count(scores)
        scores = scores if counted_there else tensor_counts.as_array(scores)
        if tuple(scores.shape) != (len(rows), self.width):
            raise DataError(
                f"model {self.name!r} gave {tuple(scores.shape)} scores for {len(rows)} users and {self.width} items; "
                "it must return one row per user and one column per item"
            )
        if counted_there:
            return tensor_counts.arrange(scores, None if self.in_order else self.columns)
        if scores.dtype not in (np.float32, np.float64):
            if scores.dtype.kind in "cmM":
                raise DataError(f"a scorer gave scores of type {scores.dtype}; it must return numbers")
            scores = scores.astype(np.float64)
        if not self.in_order:
            scores = np.take(scores, np.maximum(self.columns, 0), axis=1)
            scores[:, self.columns < 0] = 0
        return np.ascontiguousarray(scores)

    def _asked(self, rows: Ints) -> Any:
        """What the scorer returns; its own errors are quoted next to the name of the model."""
        try:
            with tensor_counts.without_gradients():
                return self.scorer.score(rows)
        except (UnskewError, MemoryError):
            raise
        except Exception as error:  # whatever a model raises
            lines = str(error).strip().splitlines()
            quoted = f"{type(error).__name__}: {lines[0]:.200}" if lines else type(error).__name__
            users = "a user" if len(rows) == 1 else f"{len(rows)} users"
            raise DataError(
                f"model {self.name!r} ({kind_of(self.scorer)}) failed when it was asked for the scores of {users} "
                f"({quoted}); try it with these row numbers: {first_of(map(str, rows), 3)}"
            ) from error
