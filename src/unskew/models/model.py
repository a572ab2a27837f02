"""The base of all built-in models, its checks of options, and the part of the log that models learn from."""

import math
import numbers
import re
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from unskew.arrays import Ints, SeedLike
from unskew.blas import one_thread
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError, Option
from unskew.notation import Named
from unskew.ranking.scorers import Scorer

if TYPE_CHECKING:
    from scipy import sparse

Progress: TypeAlias = Callable[[int, int], None]
_FILE = re.compile(
    r".+\.(csv|tsv|txt|dat|parquet|json|jsonl|ndjson|npz|npy|feather|arrow|xlsx|pkl|run|trec)(\.gz)?(:\w+=.*)?",
    re.IGNORECASE,
)


def is_file_name(word: str) -> bool:
    """Whether what should be the word of a model ends like a file.

    Examples
    --------
    >>> is_file_name("lists.csv"), is_file_name("als(factors=8)"), is_file_name("my.run:Model")
    (True, False, False)
    """
    return _FILE.fullmatch(word) is not None


@dataclass(frozen=True, eq=False)
class Observed:
    """The binary training matrix of the users and items that a model knows.

    Parameters
    ----------
    matrix : sparse (users, items)
        Ones, float32, with sorted columns in each row. Every user has at least one; an item may have none if the
        catalogue was declared.
    user_ids, item_ids : array
        Ids of its rows and columns, in the order of the log's codes.
    all_user_ids : array
        Ids of all users of the vocabulary, for models that can score any user.
    """

    matrix: "sparse.csr_array[Any, Any]"
    user_ids: npt.NDArray[Any]
    item_ids: npt.NDArray[Any]
    all_user_ids: npt.NDArray[Any]

    @classmethod
    def of(cls, train: Interactions) -> "Observed":
        """The matrix without users who have no training row, and without such items unless the catalogue was declared.

        The vocabulary of a split's train also has ids that only its test uses, which a model must not know.
        """
        from scipy import sparse  # takes a tenth of a second, and not every run trains a model

        users = np.flatnonzero(train.user_counts)
        declared = train.item_vocabulary.declared
        items = np.arange(train.n_items) if declared else np.flatnonzero(train.item_counts)
        places = np.searchsorted(users, train.users), np.searchsorted(items, train.items)
        ones = np.ones(len(train), dtype=np.float32)
        matrix = sparse.csr_array((ones, places), shape=(len(users), len(items)))
        matrix.sum_duplicates()
        matrix.data[:] = 1  # a repeated pair was added up
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
    """Settings of a model; `fit` learns from a log and returns a new scorer.

    A model is a frozen dataclass whose fields are its options, and defines `learn`. Its scores depend only on the log,
    the options and the generator, not on the order of rows or the number of threads.
    """

    def fit(self, train: Interactions, *, rng: SeedLike = 0, progress: Progress | None = None) -> Scorer:
        """Learn from the rows of a log. Each row is a positive whatever its value, except for models of ratings.

        Parameters
        ----------
        train : Interactions
        rng : int or Generator
            Source of all random numbers.
        progress : callable, optional
            Called as ``progress(done, total)``, at the end with equal numbers.

        Returns
        -------
        Scorer
            A scorer of the items that occur in `train`, or of all items if the catalogue was declared. It does not know
            users without a training row, except for `popular`, `random` and models of ratings, which score any user.

        Raises
        ------
        DataError
            If there are no rows.
        ConfigError
            If an option does not suit this log.
        """
        check_rows(self, train)
        generator = np.random.default_rng(rng)
        with one_thread():
            return self.learn(train, generator, progress or silent)

    def effort(self, train: Interactions) -> float:
        """About how many billions of steps a training takes; an audit decides by it how often it trains a model.

        It depends on the options and the log alone, so that the decision is the same on every machine.
        """
        return 1e-5 * len(train)

    @abstractmethod
    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> Scorer:
        """Learn from a log that has rows, with single-threaded BLAS."""


def check_rows(model: Model, train: Interactions) -> None:
    """Refuse a log without rows."""
    if not len(train):
        raise DataError(f"{train.name}: has no rows for {model}; check the file and {Option('positive')}")


def check_whole(model: Model, option: str, least: int = 1) -> None:
    """Refuse an option that is not a whole number, or too small."""
    value = getattr(model, option)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ConfigError(f"{_written(model, option)}: expected a whole number of at least {least}")


def check_number(model: Model, option: str, *, zero: bool = False) -> None:
    """Refuse an option that is not a finite number above 0 (or 0, if that is allowed)."""
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
    """Ignore the progress."""
