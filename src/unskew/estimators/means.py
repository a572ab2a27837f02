"""Weighted means of rows in four forms."""

from dataclasses import replace

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import is_short
from unskew.estimators.estimate import Terms
from unskew.estimators.rows import Rows


def weighted_mean(rows: Rows, weight: Floats | None, per: str, spread: Floats | None = None) -> Terms:
    r"""Terms of a weighted mean of the worth of rows, with w the weight of a row and s its size (1 for most metrics).

    ========== =================================================================
    per        value
    ========== =================================================================
    pair       :math:`\sum w c / \sum w s` over all rows
    balanced   :math:`\sum_u \overline{w c}_u / \sum_u \overline{w s}_u`
    user       mean over users of :math:`\sum w c / \sum w s` of the user
    item       mean over items of :math:`\sum w c / \sum w s` of the item
    ========== =================================================================

    Parameters
    ----------
    rows : Rows
    weight : array or None
        None if all rows have the same weight.
    per : {"pair", "balanced", "user", "item"}
    spread : array, optional
        Square root of 1 - P of each row, for the variance if only the observation is random; None without that
        variance. It is unknown if a user or item that is normalised by itself has only one row.
    """
    if spread is None and weight is None and rows.size is None and per != "item":  # nothing to multiply by
        numerator, denominator = sum_by(rows.user, rows.worth, rows.n_users), rows.counts.astype(float)
        return Terms(numerator, denominator) if per == "pair" else _mean_of_ratios(numerator, denominator)
    weight = np.ones(len(rows)) if weight is None else weight
    gains, sizes = weight * rows.worth, weight if rows.size is None else weight * rows.size
    if per == "item":
        return _mean_of_items(rows, gains, sizes, spread)
    sum_or_mean = mean_by if per == "balanced" else sum_by
    numerator, denominator = (sum_or_mean(rows.user, each, rows.n_users) for each in (gains, sizes))
    if per == "user":
        terms = _mean_of_ratios(numerator, denominator)
        if spread is None:
            return terms
        value = terms.numerator
        errors = (gains - value[rows.user] * sizes) / denominator[rows.user] / max(len(value), 1)
        return replace(terms, rows=errors * spread, lone=_has_lone(rows.user))
    terms = Terms(numerator, denominator)
    if spread is None:
        return terms
    if per == "balanced":
        share = 1 / rows.counts[rows.user]
        gains, sizes = gains * share, sizes * share
    total = float(sizes.sum())
    value_of_all = float(gains.sum()) / total if total > 0 else 0.0
    errors = (gains - value_of_all * sizes) / (total or 1.0)
    return replace(terms, rows=errors * spread, lone=len(rows) == 1)


def weights_of_mean(rows: Rows, weight: Floats, per: str) -> Floats:
    """Weight of each row in the weighted mean, up to scale."""
    if per == "balanced":
        return np.asarray(weight / rows.counts[rows.user])
    if per == "user":
        return np.asarray(weight / sum_by(rows.user, weight)[rows.user])
    if per == "item":
        item = _items(rows)
        return np.asarray(weight / np.bincount(item, weights=weight)[item])
    return weight


def sum_by(user: Ints, values: Floats, users: int | None = None) -> Floats:
    """Sum of values for each user; `users` is their number if the last ones may have no row."""
    n = int(user.max(initial=-1)) + 1 if users is None else users
    if is_short(len(user)) and (user[1:] >= user[:-1]).all():  # else the order of the sum would differ
        return np.bincount(user, weights=values, minlength=n).astype(np.float64, copy=False)
    from unskew.estimators.sums_kernel import group_sum

    sums: Floats = group_sum(user, values, n)
    return sums


def mean_by(user: Ints, values: Floats, users: int | None = None) -> Floats:
    """Mean of values for each user, as `sum_by`."""
    from unskew.estimators.sums_kernel import group_mean

    n = int(user.max(initial=-1)) + 1 if users is None else users
    means: Floats = group_mean(user, values, n)
    return means


def _mean_of_ratios(numerator: Floats, denominator: Floats) -> Terms:
    ratio = numerator / denominator
    return Terms(ratio, np.ones_like(ratio))


def _mean_of_items(rows: Rows, gains: Floats, sizes: Floats, spread: Floats | None) -> Terms:
    """Terms of the mean of the ratios of items, with what each user adds to its error."""
    item = _items(rows)
    below = np.bincount(item, weights=sizes)
    value = np.bincount(item, weights=gains) / below
    errors = (gains - value[item] * sizes) / below[item] / max(len(value), 1)
    # a mean over users of these numbers has the same value and, to first order, the same error
    by_user = (float(value.mean()) if len(value) else 0.0) + rows.n_users * rows.sums(errors)
    return Terms(by_user, np.ones_like(by_user), None if spread is None else errors * spread, lone=_has_lone(item))


def _items(rows: Rows) -> Ints:
    assert rows.item is not None  # a sample of positives has no items, and a mean over items is refused for it
    return rows.item


def _has_lone(group: Ints) -> bool:
    """Whether a group has only one row, whose distance from the mean of the group is 0 and so no error."""
    return len(group) > 0 and int(np.bincount(group).min()) == 1


def kish(weights: Floats) -> float:
    """Effective sample size (Kish 1965): the square of the sum over the sum of squares."""
    return float(weights.sum() ** 2 / np.square(weights).sum())
