"""Labelled rows of a log, in codes of the users and items that a model knows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.errors import DataError, Option

MOST = 4_000_000_000  # pairs, of one byte each


@dataclass(frozen=True, eq=False)
class Rows:
    """Codes and labels, ordered by user and item.

    Parameters
    ----------
    users, items : array of int
    labels : array of int8
        1 for a positive, -1 for a negative.
    """

    users: Ints
    items: Ints
    labels: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.users)

    @property
    def positives(self) -> int:
        """How many rows are positives."""
        return int((self.labels > 0).sum())


@dataclass(frozen=True, eq=False)
class Labelled:
    """The training rows, with their users and items.

    Parameters
    ----------
    rows : Rows
    user_codes, item_codes : array of int
        Codes in the log of the users and items that a model can know: those with a row, and declared items.
    user_ids, item_ids : array
        Their ids.
    """

    rows: Rows
    user_codes: Ints
    item_codes: Ints
    user_ids: npt.NDArray[Any]
    item_ids: npt.NDArray[Any]

    @classmethod
    def of(cls, train: Interactions, model: str, *, both: bool) -> "Labelled":
        """Read the labels of a log.

        Raises
        ------
        DataError
            If a label is neither 0 nor 1, a label that the model needs is missing, or there are too many pairs.
        """
        users = np.flatnonzero(train.user_counts)
        declared = train.item_vocabulary.declared
        items = np.arange(train.n_items) if declared else np.flatnonzero(train.item_counts)
        if len(users) * len(items) > MOST:
            raise DataError(
                f"{train.name}: {model} uses all of {len(users):,} x {len(items):,} pairs, which are too many; use "
                "a sample of the users"
            )
        rows = _rows(train, users, items)
        if rows.positives == 0:
            raise DataError(f"{train.name}: {model} needs positives, but all labels are 0; check the labels")
        if both and rows.positives == len(rows):
            raise DataError(
                f"{train.name}: {model} learns from positives and negatives, but all rows are positives; give labels "
                "0 and 1, or use negs or autodebias, which need positives only"
            )
        return cls(rows, users, items, train.user_vocabulary.ids[users], train.item_vocabulary.ids[items])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of users and items."""
        return len(self.user_codes), len(self.item_codes)

    def part(self, part: Interactions, model: str) -> Rows:
        """Rows of another part of the split, without unknown users and items; both labels must occur."""
        rows = _rows(part, self.user_codes, self.item_codes)
        if not 0 < rows.positives < len(rows):
            raise DataError(
                f"{part.name}: {model} needs rows of both labels, but for users and items of training there are "
                f"{rows.positives} positives and {len(rows) - rows.positives} negatives; use a larger sample, or "
                "check the labels"
            )
        return rows

    def matrix(self) -> npt.NDArray[np.int8]:
        """Labels of all pairs, users by items; 0 if there is none."""
        cells = np.zeros(self.shape, dtype=np.int8)
        cells[self.rows.users, self.rows.items] = self.rows.labels
        return cells

    def inverse_propensities(self, uniform: Rows) -> tuple[float, float]:
        r"""Weights of a negative and of a positive row, :math:`1 / P(O = 1 \mid y)`.

        .. math:: P(O = 1 \mid y) = \frac{P(y \mid O = 1)\, P(O = 1)}{P(y)}

        with P(y) from the uniform sample (naive Bayes; Schnabel et al. 2016, section 5.1).
        """
        n_users, n_items = self.shape
        observed = self.rows.positives, len(self.rows) - self.rows.positives
        share = uniform.positives / len(uniform)
        positive, negative = (
            chance * n_users * n_items / count if count else 0.0
            for chance, count in zip((share, 1 - share), observed, strict=True)
        )
        return negative, positive


def _rows(part: Interactions, users: Ints, items: Ints) -> Rows:
    """The rows of known users and items, in their codes."""
    labels = _labels(part.values, part)
    places = _places(users, part.n_users)[part.users], _places(items, part.n_items)[part.items]
    known = (places[0] >= 0) & (places[1] >= 0)
    order = np.flatnonzero(known)
    order = order[np.lexsort((places[1][order], places[0][order]))]  # so that the order of the log does not matter
    return Rows(places[0][order], places[1][order], labels[order])


def _places(codes: Ints, n: int) -> Ints:
    places = np.full(max(n, int(codes.max(initial=-1)) + 1), -1, dtype=np.int64)
    places[codes] = np.arange(len(codes))
    return places


def _labels(values: Floats | None, part: Interactions) -> npt.NDArray[np.int8]:
    if values is None:
        return np.ones(len(part), dtype=np.int8)
    bad = (values != 0) & (values != 1)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"{part.name}: label {values[row]:g} in row {row + 1} ({int(bad.sum())} in all); labels are 1 for "
            f"positives and 0 for negatives; for ratings give a condition, as in {Option('positive', 'rating>=4')}"
        )
    return np.where(values == 1, 1, -1).astype(np.int8)
