"""Matrices of scores, users by items: arrays, and sparse matrices whose stored entries are the lists."""

from typing import Any

import numpy as np

from unskew.integrations.family import Family, Given
from unskew.ranking import ListScorer, MatrixScorer


def read_array(given: Given) -> MatrixScorer:
    """An array or memory map of scores."""
    matrix: Any = given.model
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise given.refuse(
            f"has shape {matrix.shape} and type {matrix.dtype}; give a matrix of numbers, users by items"
        )
    if matrix.dtype.kind in "iu" and given.item_ids is None and matrix.shape[1] != len(given.ids_of("item")):
        raise given.refuse(
            f"has {matrix.shape[1]} columns of whole numbers, but train and test have {len(given.ids_of('item'))} "
            "items; if they are lists of items, give unskew.ranking.ListScorer.from_arrays(lists)"
        )
    return MatrixScorer(matrix, **given.labels)


def read_sparse(given: Given) -> ListScorer:
    """The stored entries as lists; an item without one was not recommended."""
    matrix: Any = given.model.tocsr(copy=True)
    if matrix.ndim != 2 or not matrix.nnz:
        raise given.refuse("has no stored score; give users by items, with an entry for each recommended item")
    matrix.sum_duplicates()
    finite = np.isfinite(matrix.data)
    if not finite.all():
        place = int(np.argmin(finite))
        row = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
        raise given.refuse(
            f"has the score {matrix.data[place]} in row {row}, column {matrix.indices[place]}; scores must be finite"
        )
    offsets, columns = np.asarray(matrix.indptr, np.int64), np.asarray(matrix.indices, np.int32)
    return ListScorer(offsets, columns, matrix.data, matrix.shape[1], **given.labels)


ARRAY = Family(
    "an array of scores",
    "a NumPy array or memory map, users by items",
    (),
    read_array,
    ("numpy",),
    lambda model: isinstance(model, np.ndarray),
)
SPARSE = Family(
    "a sparse matrix of scores",
    "a SciPy matrix, users by items; what is stored is recommended",
    ("tocsr", "nnz", "shape"),
    read_sparse,
    ("scipy",),
)
