"""Pairs as rows of a linear model, with equal pairs grouped."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.data.pairs import pair_keys
from unskew.propensities.observed.covariates import Covariates
from unskew.propensities.observed.observation import CellSample

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Grouped", "PairDesign", "group_cells", "never_observed", "row_products"]


@dataclass(frozen=True, eq=False)
class PairDesign:
    """The covariates of users, those of items, and all products of the two, by profile.

    Parameters
    ----------
    users, items : sparse array
        A constant and the covariates, one row per profile.
    user_profile, item_profile : array of int
        The profile of each code.
    """

    users: "sparse.csr_array[Any, Any]"
    items: "sparse.csr_array[Any, Any]"
    user_profile: Ints
    item_profile: Ints

    @classmethod
    def of(cls, users: Covariates, items: Covariates) -> "PairDesign":
        """The design of these covariates; ids with equal covariates share a profile."""
        (first_user, user_profile), (first_item, item_profile) = users.profiles, items.profiles
        return cls(users.design()[first_user], items.design()[first_item], user_profile, item_profile)

    def rows(self, users: Ints, items: Ints) -> "sparse.csr_array[Any, Any]":
        """The row of each pair of codes; its first column is the constant."""
        return row_products(self.users[self.user_profile[users]], self.items[self.item_profile[items]])

    def logits(self, coefficients: Floats, users: Ints, items: Ints) -> Floats:
        """The linear predictor of each pair, computed as a bilinear form, without the rows."""
        shape = (self.users.shape[1], self.items.shape[1])
        left = np.asarray(self.users @ coefficients.reshape(shape))
        right = self.items.toarray()
        profiles = self.user_profile[users].astype(np.int64), self.item_profile[items]
        if left.shape[0] * right.shape[0] <= max(len(users), 1_000_000):
            return np.asarray((left @ right.T)[profiles])
        return np.asarray(np.einsum("ij,ij->i", left[profiles[0]], right[profiles[1]]))


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups of pairs that are the same to a model.

    Parameters
    ----------
    users, items : array of int
        Codes of one pair of each group.
    observed : array of bool
        Whether the pairs of the group were observed.
    weight : array, groups by folds
        How many pairs of each fold the group has.
    """

    users: Ints
    items: Ints
    observed: Bools
    weight: Floats


def group_cells(sample: CellSample, user_group: Ints, item_group: Ints, fold: Ints, folds: int) -> Grouped:
    """Group the pairs with the same user group, item group and outcome."""
    width = int(item_group.max()) + 1
    keys = pair_keys(user_group[sample.users], item_group[sample.items], width) * 2 + sample.observed
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    weight: Floats = np.bincount(group * folds + fold, sample.weight, minlength=len(first) * folds).astype(np.float64)
    return Grouped(sample.users[first], sample.items[first], sample.observed[first], weight.reshape(len(first), folds))


def never_observed(users: Covariates, items: Covariates, pairs: CellSample) -> tuple[str, ...]:
    """A note if no pair, or every pair, with some value of a covariate was observed: the data are separable."""
    values = 0
    for side, codes in ((users, pairs.users), (items, pairs.items)):
        columns = side.design()[:, 1:]  # without the constant
        indicators = np.flatnonzero([set(np.unique(columns[:, [k]].data)) <= {1.0} for k in range(columns.shape[1])])
        chosen = columns[:, indicators]
        count = np.bincount(codes, pairs.weight, minlength=chosen.shape[0])
        seen = np.bincount(codes, pairs.weight * pairs.observed, minlength=chosen.shape[0])
        possible, observed = chosen.T @ count, chosen.T @ seen
        values += int(np.sum((possible > 0) & ((observed == 0) | (observed == possible))))
    if not values:
        return ()
    which = "one value of a covariate determines" if values == 1 else f"{values} values of covariates determine"
    note = (
        f"{which} whether a pair is observed (separable data): such propensities depend on the penalty alone, "
        "and no weighting can replace pairs that are never observed"
    )
    return (note,)


def row_products(
    left: "sparse.csr_array[Any, Any]", right: "sparse.csr_array[Any, Any]"
) -> "sparse.csr_array[Any, Any]":
    """All products of an entry of the left with one of the right, row by row (the transposed Khatri-Rao product)."""
    from scipy import sparse

    n_left, n_right = np.diff(left.indptr).astype(np.int64), np.diff(right.indptr).astype(np.int64)
    ends = offsets_of(n_left * n_right)
    row = np.repeat(np.arange(left.shape[0]), n_left * n_right)
    within = np.arange(ends[-1]) - ends[row]
    in_left = left.indptr[row] + within // n_right[row]
    in_right = right.indptr[row] + within % n_right[row]
    columns = left.indices[in_left].astype(np.int64) * right.shape[1] + right.indices[in_right]
    data = left.data[in_left] * right.data[in_right]
    return sparse.csr_array((data, columns, ends), shape=(left.shape[0], left.shape[1] * right.shape[1]))
