"""Predicted ratings of held-out rows, which rating losses use as other metrics use ranks."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Split, pairs
from unskew.data.frames import eager, to_numbers
from unskew.data.vocabulary import canonical, vocabulary_of
from unskew.errors import DataError
from unskew.ranking.contest import Contest
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.scorers import FactorScorer, Scorer
from unskew.ranking.tensor_counts import as_array

BLOCK = 256  # users scored at a time


@dataclass(frozen=True, eq=False)
class Predictions:
    """One row per held-out pair, sorted by user and item: its rating and the predicted rating.

    Parameters
    ----------
    users, items : array of int32
        Codes in the split's vocabularies.
    values : array of float64
        Ratings; NaN if unknown.
    predicted : array of float64
        Predicted ratings; NaN if the model has none.
    """

    users: Ints
    items: Ints
    values: Floats
    predicted: Floats

    def __post_init__(self) -> None:
        lengths = {len(column) for column in (self.users, self.items, self.values, self.predicted)}
        if len(lengths) > 1:
            raise DataError(f"predictions: columns of different lengths ({', '.join(map(str, sorted(lengths)))})")
        infinite = np.isinf(self.predicted)
        if infinite.any():
            raise DataError(f"predictions: row {int(np.argmax(infinite)) + 1} is infinite; predict finite numbers")

    def __len__(self) -> int:
        return len(self.users)

    @classmethod
    def from_frame(cls, frame: Any, split: Split, *, prediction: str = "prediction") -> "Predictions":
        """Predictions for the test rows of a split, from a frame with columns ``user``, ``item``, ``prediction``.

        Rows that are not in the test are ignored; test rows without a prediction get NaN.
        """
        given = eager(frame, ("user", "item", prediction), "predictions")
        table = ListScorer.from_table(
            canonical(given["user"], "users of the predictions"),
            canonical(given["item"], "items of the predictions"),
            to_numbers(given[prediction], f"column {prediction!r} of the predictions", times=False),
            name="predictions",
            ratings=True,
        )
        test = split.sorted_test
        values = np.full(len(test), np.nan) if test.values is None else test.values
        return cls(test.users, test.items, values, look_up(table, split, test.users, test.items))

    def check(self, split: Split, name: str) -> None:
        """Refuse codes outside the split and repeated rows; `name` is the name of the model."""
        for axis, codes, ids in (
            ("user", self.users, split.user_vocabulary),
            ("item", self.items, split.item_vocabulary),
        ):
            outside = (codes < 0) | (codes >= len(ids))
            if outside.any():
                raise DataError(
                    f"predictions of {name!r}: {axis} code {codes[int(np.argmax(outside))]} is outside 0 to "
                    f"{len(ids) - 1}; make them with Predictions.from_frame"
                )
        keys = pairs.row_keys(self, len(split.item_vocabulary))
        if len(np.unique(keys)) < len(keys):
            raise DataError(f"predictions of {name!r}: a (user, item) pair occurs twice; keep one row of each")

    @property
    def missing(self) -> int:
        """How many rows have no prediction."""
        return int(np.sum(np.isnan(self.predicted)))

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the predictions."""
        digest = hashlib.sha256()
        for column, kind in ((self.users, "<i4"), (self.items, "<i4"), (self.predicted, "<f8")):
            digest.update(column.astype(kind).tobytes())
        return digest.hexdigest()

    def of(self, users: Ints, items: Ints) -> Floats:
        """Predictions for these rows; NaN if there is none."""
        width = int(max(self.items.max(initial=0), items.max(initial=0))) + 1
        keys = pairs.row_keys(self, width)
        order = np.argsort(keys, kind="stable")
        return pairs.look_up(keys[order], self.predicted[order], pairs.pair_keys(users, items, width))


def look_up(table: ListScorer, split: Split, users: Ints, items: Ints) -> Floats:
    """The predictions of a table for these rows, by code; NaN if there is none."""
    rows = _places(table, split, "user")
    columns = _places(table, split, "item")
    row, column = rows[users], columns[items]
    known = (row >= 0) & (column >= 0)
    owner = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
    keys = pairs.pair_keys(owner, table.columns, table.n_items)
    order = np.argsort(keys, kind="stable")
    wanted = pairs.pair_keys(row, column, table.n_items)
    predicted = pairs.look_up(keys[order], np.asarray(table.scores, dtype=float)[order], wanted)
    return np.where(known, predicted, np.nan)


def predict(scorer: Scorer, contest: Contest, *, name: str = "model") -> Floats:
    """The scores of a contest's rows as ratings; NaN if the model does not know the user or the item.

    Raises
    ------
    DataError
        If a score is not finite.
    """
    binding = contest.bindings[name]
    user, column = binding.rows[contest.row_users], binding.columns[contest.columns]
    predicted = np.full(len(contest), np.nan)
    known = (column >= 0) & (user >= 0)
    if isinstance(scorer, FactorScorer):
        predicted[known] = _factor_scores(scorer, user[known], column[known])
    else:
        predicted[known] = _picked_scores(scorer, user[known], column[known])
    wrong = known & ~np.isfinite(predicted)
    if wrong.any():
        row = int(np.argmax(wrong))
        item = contest.catalogue_ids[contest.columns[row]]
        raise DataError(
            f"model {name!r}: prediction {predicted[row]} for user {contest.user_ids[contest.row_users[row]]}, item "
            f"{item}; predictions must be finite"
        )
    return predicted


def _factor_scores(scorer: FactorScorer, users: Ints, items: Ints) -> Floats:
    left = np.asarray(scorer.user_factors, dtype=float)
    right = np.asarray(scorer.item_factors, dtype=float)
    scores = np.empty(len(users))
    for start in range(0, len(users), 2**16):  # limits the memory, whatever the number of rows
        part = slice(start, start + 2**16)
        p, q = left[users[part]], right[items[part]]
        if scorer.similarity == "dot":
            scores[part] = np.einsum("ij,ij->i", p, q)
        else:
            scores[part] = -np.einsum("ij,ij->i", p - q, p - q)
    for bias, codes in ((scorer.user_bias, users), (scorer.item_bias, items)):
        if bias is not None:
            scores += bias[codes]
    return scores


def _picked_scores(scorer: Scorer, users: Ints, columns: Ints) -> Floats:
    scores = np.empty(len(users))
    distinct, row = np.unique(users, return_inverse=True)
    order = np.argsort(row, kind="stable")
    ends = np.searchsorted(row[order], np.arange(0, len(distinct) + BLOCK, BLOCK))
    for block, (start, end) in enumerate(pairwise(ends)):
        block_scores = as_array(scorer.score(distinct[block * BLOCK : (block + 1) * BLOCK]))
        picked = order[start:end]
        scores[picked] = block_scores[row[picked] - block * BLOCK, columns[picked]]
    return scores


def _places(table: ListScorer, split: Split, axis: Literal["user", "item"]) -> Ints:
    """The row or column of a table for each id of the split; -1 if it has none."""
    ids = table.user_ids if axis == "user" else table.item_ids
    vocabulary = split.user_vocabulary if axis == "user" else split.item_vocabulary
    if ids is None:  # the k-th id of the split, as for any model
        codes, n = split.rows_of(axis), table.shape[axis == "item"]
        if n != len(codes):
            raise DataError(
                f"{table.name} has {n} {axis} rows but train and test have {len(codes)} distinct {axis}s; "
                f"give {axis}_ids to identify them"
            )
        places = np.full(len(vocabulary), -1, dtype=np.int64)
        places[codes] = np.arange(len(codes))
        return places
    table_vocabulary, codes = vocabulary_of(ids, f"{axis}_ids of {table.name}")
    place = np.empty(len(codes), dtype=np.int64)
    place[codes] = np.arange(len(codes))
    codes_in_table = vocabulary.codes_in(table_vocabulary)
    return np.where(codes_in_table >= 0, place[codes_in_table], -1)
