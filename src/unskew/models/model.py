"""What every built-in model shares: its word, its checks, and the part of the log it learns from."""

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from unskew.arrays import Ints, SeedLike
from unskew.blas import one_thread
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError, Option
from unskew.notation import Named
from unskew.ranking.scorers import Scorer

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Observed:
    """The binary training matrix of the users and items a model can know.

    Parameters
    ----------
    matrix : sparse (users, items)
        Ones, float32, with sorted columns in each row. Every user has at least one; an item may have none
        when the catalogue was declared.
    user_ids, item_ids : array
        Ids of its rows and columns, in the order of the log's codes.
    all_user_ids : array
        Ids of all users of the vocabulary, for models that can score anybody.
    """

    matrix: "sparse.csr_array[Any, Any]"
    user_ids: npt.NDArray[Any]
    item_ids: npt.NDArray[Any]
    all_user_ids: npt.NDArray[Any]

    @classmethod
    def of(cls, train: Interactions) -> "Observed":
        """Leave out users without a training row, and items without one unless the catalogue was declared.

        The vocabulary of a split's train also names what only its test holds, which a model must not know.
        """
        users = np.flatnonzero(train.user_counts)
        declared = train.item_vocabulary.declared
        items = np.arange(train.n_items) if declared else np.flatnonzero(train.item_counts)
        places = np.searchsorted(users, train.users), np.searchsorted(items, train.items)
        ones = np.ones(len(train), dtype=np.float32)
        matrix = sparse.csr_array((ones, places), shape=(len(users), len(items)))
        matrix.sum_duplicates()
        matrix.data[:] = 1  # a pair that is in the log twice was added up
        matrix.sort_indices()  # so that the order of the log's rows does not matter
        return cls(
            matrix,
            train.user_vocabulary.ids[users],
            train.item_vocabulary.ids[items],
            train.user_vocabulary.ids,
        )

    @property
    def item_counts(self) -> Ints:
        """How many users each item has."""
        return np.bincount(self.matrix.indices, minlength=self.matrix.shape[1])


class Model(Named, family="model"):
    """Settings of a model; `fit` learns from a log and gives a new scorer.

    A model is a frozen dataclass whose fields are its options, and defines `learn`. What it gives back
    depends only on the log, its options and the generator; not on the order of rows or the number of threads.
    """

    def fit(self, train: Interactions, *, rng: SeedLike = 0, progress: Progress | None = None) -> Scorer:
        """Learn from the rows of a log; but for models of ratings, a row counts as a positive whatever its value.

        Parameters
        ----------
        train : Interactions
        rng : int or Generator
            Where all randomness comes from.
        progress : callable, optional
            Called as ``progress(done, total)`` while it works, at the end with both equal.

        Returns
        -------
        Scorer
            Over the items that occur in `train`, or all when the catalogue was declared. Users without a
            training row are unknown to it, but for `popular`, `random` and models of ratings, which score anybody.

        Raises
        ------
        DataError
            When there is no row.
        ConfigError
            When an option does not suit this log.
        """
        check_rows(self, train)
        generator = np.random.default_rng(rng)
        with one_thread():
            return self.learn(train, generator, progress or silent)

    @abstractmethod
    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> Scorer:
        """Learn from a log that has rows, with single-threaded BLAS."""


def check_rows(model: Model, train: Interactions) -> None:
    """Refuse a log without a row."""
    if not len(train):
        raise DataError(f"{train.name}: {model} has no row to learn from; check the file and {Option('positive')}")


def check_whole(model: Model, option: str, least: int = 1) -> None:
    """Refuse an option that is no whole number or too small."""
    value = getattr(model, option)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ConfigError(f"{_written(model, option)}: expected a whole number of at least {least}")


def check_number(model: Model, option: str, *, zero: bool = False) -> None:
    """Refuse an option that is not a finite number above 0 (or 0 where that means something)."""
    value = getattr(model, option)
    number = float(value) if isinstance(value, numbers.Real) else math.nan
    if not (math.isfinite(number) and (number > 0 or (zero and number == 0))):
        bound = "of at least 0" if zero else "above 0"
        raise ConfigError(f"{_written(model, option)}: expected a finite number {bound}")


def check_least(model: Model, option: str, least: float) -> None:
    """Refuse an option that is not a finite number of at least this."""
    value = getattr(model, option)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not least <= float(value) < math.inf:
        raise ConfigError(f"{_written(model, option)}: expected a finite number of at least {least:g}")


def _written(model: Model, option: str) -> str:
    return f"{model.word}({option.replace('_', '-')}={getattr(model, option)})"


def silent(done: int, total: int) -> None:
    """Progress nobody asked for."""
