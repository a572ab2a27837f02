"""Scorers: what an evaluation needs of a model, scores of all items for some users."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats, Ints, Matrix
from unskew.compiling import is_short
from unskew.errors import DataError
from unskew.ranking.factors.packed_factors import PackedFactors, processor_suits
from unskew.ranking.tensor_counts import is_tensor

FLOAT32_MAX = float(np.finfo(np.float32).max)
_LARGE_PRODUCT = 1 << 23  # multiplications
_ROWS = 1 << 18  # of factors that are checked at a time


@runtime_checkable
class Scorer(Protocol):
    """Any model with a method ``score``.

    ``score(users)`` returns one row per user and one column per item, as an array or as a torch tensor, which may be on
    an accelerator: ranks are then counted there. Rows and columns follow the ids in the optional
    attributes ``user_ids`` and ``item_ids``; without them, row k belongs to the k-th id of the split.
    """

    def score(self, users: Ints, /) -> Matrix:
        """Return scores of shape (len(users), number of items)."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class FactorScorer:
    r"""Factors: a dot product or a negative squared distance, with biases.

    .. math:: s_{ui} = p_u \cdot q_i + b_u + b_i \quad\text{or}\quad s_{ui} = b_u + b_i - \lVert p_u - q_i\rVert^2

    Parameters
    ----------
    user_factors : array (users, d)
    item_factors : array (items, d)
    user_bias, item_bias : array, optional
    similarity : {"dot", "distance"}
    user_ids, item_ids : array, optional
        The ids of the rows; without them row k is the k-th id of the split.
    name : str
    ratings : bool
        Whether scores are predicted ratings, on the scale of the data; rating losses then apply.
    origin : str
        The class of the model that it was made from, for the record; empty if it is its own.
    """

    user_factors: Matrix
    item_factors: Matrix
    user_bias: Matrix | None = None
    item_bias: Matrix | None = None
    similarity: Literal["dot", "distance"] = "dot"
    user_ids: npt.ArrayLike | None = None
    item_ids: npt.ArrayLike | None = None
    name: str = "factors"
    ratings: bool = False
    origin: str = ""

    def __post_init__(self) -> None:
        users, items = np.asarray(self.user_factors), np.asarray(self.item_factors)
        if users.ndim != 2 or items.ndim != 2 or users.shape[1] != items.shape[1]:
            raise DataError(
                f"{self.name}: user_factors {users.shape} and item_factors {items.shape} must be two matrices "
                "with the same number of columns"
            )
        if self.similarity not in {"dot", "distance"}:
            raise DataError(f"{self.name}: similarity {self.similarity!r} must be 'dot' or 'distance'")
        for field in ("user_factors", "item_factors", "user_bias", "item_bias"):
            kind = np.asarray(getattr(self, field)).dtype if getattr(self, field) is not None else np.dtype(float)
            if kind.kind not in "fiub":
                raise DataError(f"{self.name}: {field} has type {kind}; give numbers")
        wide = {users.dtype.type, items.dtype.type} & {np.float64, np.longdouble}
        dtype = np.float64 if wide else np.float32
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large for the type is refused below
            for field, rows in (("user_bias", len(users)), ("item_bias", len(items))):
                bias = getattr(self, field)
                if bias is not None:
                    bias = np.asarray(bias, dtype=dtype)
                    if bias.shape != (rows,):
                        raise DataError(f"{self.name}: {field} has shape {bias.shape}, expected ({rows},)")
                    object.__setattr__(self, field, bias)
            object.__setattr__(self, "user_factors", np.ascontiguousarray(users, dtype=dtype))
            object.__setattr__(self, "item_factors", np.ascontiguousarray(items, dtype=dtype))
        for field in ("user_factors", "item_factors", "user_bias", "item_bias"):
            _check_finite(getattr(self, field), field, self.name)
        self._check_user_bias()
        check_ids(self.user_ids, len(users), "user_ids", self.name)
        check_ids(self.item_ids, len(items), "item_ids", self.name)

    def _check_user_bias(self) -> None:
        """Refuse a constant next to which all scores of a user would be rounded to the same number."""
        if self.user_bias is None or not self.user_bias.size:
            return
        with np.errstate(over="ignore"):
            reach = _longest(self.user_factors) * _longest(self.item_factors)
            reach += 0.0 if self.item_bias is None else float(np.max(np.abs(self.item_bias), initial=0.0))
        largest = float(np.max(np.abs(self.user_bias)))
        if reach and largest * np.finfo(self.user_bias.dtype).eps > reach:
            raise DataError(
                f"{self.name}: user_bias has {largest:.3g}, next to which scores of at most {reach:.3g} are lost in "
                f"{self.user_bias.dtype}; leave it out, because it does not change an order, or check it"
            )

    def __repr__(self) -> str:
        users, items = self.shape
        width = self.user_factors.shape[1]
        return f"FactorScorer({self.name}: {users:,} users, {items:,} items, {width} factors, {self.similarity})"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of users and of items."""
        return len(self.user_factors), len(self.item_factors)

    @cached_property
    def _product(self) -> tuple[Matrix, Matrix]:
        """Factors whose plain product is the score up to a constant per user, which does not affect ranks."""
        columns, rows = [self.item_factors], [self.user_factors]
        bias = self.item_bias
        if self.similarity == "distance":
            # b_i - |p - q|^2 = 2 p.q - |q|^2 + b_i - |p|^2
            rows[0] = 2 * self.user_factors
            norms = np.einsum("ij,ij->i", self.item_factors, self.item_factors)
            bias = -norms if bias is None else bias - norms
        if bias is not None:
            columns.append(bias[:, None])
            rows.append(np.ones((len(self.user_factors), 1), dtype=self.user_factors.dtype))
        if len(rows) == 1:
            return rows[0], columns[0]
        return np.hstack(rows), np.hstack(columns)

    def score(self, users: Ints, /) -> Matrix:
        """Scores of all items, including the constant of each user."""
        with np.errstate(over="ignore", invalid="ignore"):  # who ranks them names the first one that is not finite
            rows, columns = self._product
            scores = rows[users] @ columns.T
            if self.similarity == "distance":
                picked = self.user_factors[users]
                scores -= np.einsum("ij,ij->i", picked, picked)[:, None]
            if self.user_bias is not None:
                scores += self.user_bias[users][:, None]
        return scores

    def align(self, items: Ints, *, plain: bool = False) -> "AlignedFactors | PackedFactors":
        """The factors in the order of the catalogue; -1 is an item that the model does not know.

        With `plain`, scores of 32 bits are computed without a compiler, with the same bits.
        """
        if self.user_factors.dtype == np.float32 and (plain or processor_suits()):
            constants, finite = self._constants
            doubled = self.similarity == "distance"
            return PackedFactors(self.user_factors, self.item_factors, items, constants, doubled, finite, plain)
        rows, _ = self._product
        columns, place, finite = self._distinct
        unknown = np.flatnonzero(items < 0)
        known = np.maximum(items, 0)
        if place is not None:
            place = place[known]
        elif not np.array_equal(items, np.arange(len(columns))):
            columns = columns[known]
        return AlignedFactors(rows, columns, place, unknown, finite=finite)

    @cached_property
    def _constants(self) -> tuple[Matrix, bool]:
        """What is added to the product of each item, empty if nothing is, and whether no score can overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            longest = [_longest(part) for part in (self.user_factors, self.item_factors)]
            constants = np.zeros(0, np.float32) if self.item_bias is None else self.item_bias
            if self.similarity == "distance":
                norms = _squared_norms(self.item_factors)
                constants = (-norms if self.item_bias is None else self.item_bias - norms).astype(np.float32)
            largest = 2 * longest[0] * longest[1] + np.max(np.abs(constants), initial=0.0)
        return constants, bool(largest < FLOAT32_MAX / 4)

    @cached_property
    def _distinct(self) -> tuple[Matrix, Ints | None, bool]:
        """Distinct item columns, the place of each item among them, and whether no product can overflow."""
        rows, columns = self._product
        with np.errstate(over="ignore", invalid="ignore"):
            longest = [np.max(np.einsum("ij,ij->i", part, part), initial=0) for part in (rows, columns)]
            finite = bool(np.sqrt(longest[0] * longest[1]) < FLOAT32_MAX / 4)
        return *_distinct_rows(columns), finite


@dataclass(frozen=True, eq=False)
class AlignedFactors:
    """Factors in the order of a catalogue, ready for the block product."""

    rows: Matrix
    columns: Matrix
    place: Ints | None  # the column of each item, if items share columns
    unknown: Ints
    finite: bool  # no product can overflow, so scores need no check

    @property
    def n_items(self) -> int:
        """How many items are scored."""
        return len(self.columns) if self.place is None else len(self.place)

    @cached_property
    def _transposed(self) -> Matrix:
        return np.ascontiguousarray(self.columns.T)

    def _columns_for(self, n_rows: int) -> Matrix:
        """The columns in the layout that suits a product with this many rows.

        A contiguous transpose saves a tenth of the time of a large product. The layout changed no bit of large products
        with the library that was tried, which no library promises. It did change small ones and those of one row, which
        have other loops.
        """
        return self._transposed if n_rows > 1 and n_rows * self.columns.size >= _LARGE_PRODUCT else self.columns.T

    def score_into(self, users: Ints, out: Matrix) -> None:
        """Write the scores of these rows.

        Items of equal factors are multiplied once: in a matrix product the last bit may depend on the place of a
        column, and then they would not tie.
        """
        quiet = nullcontext() if self.finite else np.errstate(over="ignore", invalid="ignore")
        with quiet:  # scores that may overflow are checked afterwards, and the error names the item
            if self.place is None:
                np.matmul(self.rows[users], self._columns_for(len(users)), out=out)
            else:
                np.take(self.rows[users] @ self._columns_for(len(users)), self.place, axis=1, out=out)


@dataclass(frozen=True, eq=False)
class MatrixScorer:
    """A users by items matrix of scores, in memory or a memory map.

    Parameters
    ----------
    matrix : array (users, items)
    user_ids, item_ids : array, optional
    name : str
    ratings : bool
        Whether scores are predicted ratings.
    origin : str
        The class of the model that it was made from.
    """

    matrix: Matrix
    user_ids: npt.ArrayLike | None = None
    item_ids: npt.ArrayLike | None = None
    name: str = "matrix"
    ratings: bool = False
    origin: str = ""

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2:
            raise DataError(f"{self.name}: shape {self.matrix.shape}, expected users by items")
        check_ids(self.user_ids, self.matrix.shape[0], "user_ids", self.name)
        check_ids(self.item_ids, self.matrix.shape[1], "item_ids", self.name)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of users and of items."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def score(self, users: Ints, /) -> Matrix:
        """Rows of the matrix; of a tensor, on its device."""
        rows = self.matrix[users]
        return rows if is_tensor(rows) else np.asarray(rows)


@dataclass(frozen=True, eq=False)
class ItemItemScorer:
    """A sparse item-item model: the score is the user's history times the weights.

    Parameters
    ----------
    history : sparse (users, items)
        The training items of each user.
    weights : sparse or dense (items, items)
    user_ids, item_ids : array, optional
    name : str
    origin : str
        The class of the model that it was made from.
    """

    history: Any
    weights: Any
    user_ids: npt.ArrayLike | None = None
    item_ids: npt.ArrayLike | None = None
    name: str = "item-item"
    origin: str = ""

    def __post_init__(self) -> None:
        users, items = self.history.shape
        if self.weights.shape != (items, items):
            raise DataError(f"{self.name}: weights {self.weights.shape}, expected ({items}, {items}) as in history")
        check_ids(self.user_ids, users, "user_ids", self.name)
        check_ids(self.item_ids, items, "item_ids", self.name)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of users and of items."""
        users, items = self.history.shape
        return users, items

    def score(self, users: Ints, /) -> Matrix:
        """History of these users times the weights."""
        product = self.history[users] @ self.weights
        dense: Matrix = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
        return dense


@dataclass(frozen=True, eq=False)
class CallableScorer:
    """A function from row numbers of users to scores of all items.

    Parameters
    ----------
    function : callable
        ``function(users) -> (len(users), items)``; it may be called from several threads.
    user_ids, item_ids : array, optional
    name : str
    ratings : bool
        Whether scores are predicted ratings.
    origin : str
        The class of the model that it was made from.
    """

    function: Callable[[Ints], Matrix]
    user_ids: npt.ArrayLike | None = None
    item_ids: npt.ArrayLike | None = None
    name: str = "callable"
    ratings: bool = False
    origin: str = ""

    def score(self, users: Ints, /) -> Matrix:
        """Call the function."""
        scores = self.function(users)
        return scores if is_tensor(scores) else np.asarray(scores)


def kind_of(scorer: object) -> str:
    """The class of the model that a scorer was made from, else its own."""
    return getattr(scorer, "origin", "") or type(scorer).__name__


def check_ids(ids: npt.ArrayLike | None, n: int, field: str, name: str) -> None:
    """Refuse ids whose number differs from that of the rows."""
    if ids is not None and len(np.asarray(ids)) != n:
        raise DataError(f"{name}: {len(np.asarray(ids))} {field} for {n} rows; give one id per row")


def _squared_norms(matrix: Matrix) -> Floats:
    """The squared length of each row, added up factor by factor, so that equal rows have equal ones."""
    total = np.zeros(len(matrix))
    for factor in matrix.T:
        total += factor.astype(np.float64) ** 2
    return total


def _longest(matrix: Matrix) -> float:
    """The length of the longest row."""
    largest = np.max(np.einsum("ij,ij->i", matrix, matrix), initial=0)
    return float(np.sqrt(np.float64(largest)))


def _distinct_rows(matrix: Matrix) -> tuple[Matrix, Ints | None]:
    """The distinct rows and the place of each row among them; the matrix itself and None if no row is repeated."""
    loops: Any = import_module(f"unskew.ranking.{'plain_loops' if is_short(matrix.size) else 'kernel'}")
    # rows with different hashes differ, so the hashes are usually enough; + 0.0 because -0.0 equals 0.0
    if len(np.unique(loops.hash_rows(np.ascontiguousarray(matrix + 0.0).view(np.uint32)))) == len(matrix):
        return matrix, None
    distinct, place = np.unique(matrix + 0.0, axis=0, return_inverse=True)
    if len(distinct) == len(matrix):
        return matrix, None
    return np.ascontiguousarray(distinct), place.reshape(-1)


def _check_finite(array: Matrix | None, field: str, name: str) -> None:
    for start in range(0, 0 if array is None else len(array), _ROWS):  # in pieces, because it may be a memory map
        assert array is not None
        part = array[start : start + _ROWS]
        if not np.isfinite(part).all():
            place = np.argwhere(~np.isfinite(part))[0]
            value: Floats = part[tuple(place)]
            raise DataError(f"{name}: {field} has {value} in row {start + place[0]}; factors must be finite numbers")
