"""Observed pairs of a user and an item whose losses stand for those of all pairs."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.errors import DataError
from unskew.estimators.estimate import Terms


@dataclass(frozen=True, eq=False)
class Rows:
    r"""Observed pairs, each with its loss, and how many pairs there are.

    The quantity of interest is :math:`\sum \delta / \sum s` over all pairs, observed or not. For a rating loss s is 1,
    which makes it the mean over pairs; for a sum over a user's items s is 1 over the number of the user's pairs, which
    makes it the mean over users.

    Parameters
    ----------
    loss : array
        :math:`\delta` of each row.
    propensity : array
        P(the pair is observed), in (0, 1].
    user, item : array of int
        0 to m-1: the user and the item of each row; every user has a row.
    size : array
        s of each row.
    total : array
        Sum of s over all of a user's pairs: first the m users with rows, then those without.
    """

    loss: Floats
    propensity: Floats
    user: Ints
    item: Ints
    size: Floats
    total: Floats

    @classmethod
    def of_matrix(cls, loss: Floats, propensity: Floats, observed: Bools) -> "Rows":
        """Rows of a users by items matrix of losses, of which the observed cells are known.

        Parameters
        ----------
        loss, propensity : array (users, items)
            The propensity may be anything that broadcasts to the shape of the loss.
        observed : array of bool (users, items)
        """
        loss, observed = np.asarray(loss, dtype=float), np.asarray(observed, dtype=bool)
        if loss.ndim != 2 or loss.shape != observed.shape:
            raise DataError(f"loss {loss.shape} and observed {observed.shape} must be two matrices of one shape")
        users, items = np.nonzero(observed)
        chance = np.broadcast_to(np.asarray(propensity, dtype=float), loss.shape)
        return cls(
            loss=loss[observed],
            propensity=chance[observed],
            user=np.unique(users, return_inverse=True)[1],
            item=np.unique(items, return_inverse=True)[1],
            size=np.ones(len(users)),
            total=np.full(loss.shape[0], float(loss.shape[1])),
        )


def normalised(rows: Rows, weight: Floats, per: str, spread: Floats) -> Terms:
    r"""A weighted mean of the losses in one of four forms, with w the weight of a row.

    ========== =================================================================
    per        value
    ========== =================================================================
    pair       :math:`\sum w \delta / \sum w s` over all rows
    balanced   :math:`\sum_u \overline{w \delta}_u / \sum_u \overline{w s}_u`
    user       mean over users of :math:`\sum w \delta / \sum w s` of the user
    item       mean over items of :math:`\sum w \delta / \sum w s` of the item
    ========== =================================================================

    Parameters
    ----------
    rows : Rows
    weight : array
    per : {"pair", "balanced", "user", "item"}
    spread : array
        Square root of how much the observation of each row varies, 1 - P; for the variance when only that is chance.
        That variance is unknown with a user or item of one row, when it is normalised by itself.
    """
    gains, sizes = weight * rows.loss, weight * rows.size
    if per == "item":
        return _per_item(rows, gains, sizes, spread)
    if per == "balanced":
        share = 1 / np.bincount(rows.user)[rows.user]
        gains, sizes = gains * share, sizes * share
    numerator, denominator = _by(rows.user, gains), _by(rows.user, sizes)
    if per == "user":
        value = numerator / denominator
        row_errors = (gains - value[rows.user] * sizes) / denominator[rows.user] / max(len(value), 1)
        return Terms(value, np.ones_like(value), row_errors * spread, lone=_has_lone(rows.user))
    total = float(sizes.sum())
    value_of_all = float(gains.sum()) / total if total > 0 else 0.0
    errors = (gains - value_of_all * sizes) / (total or 1.0) * spread
    return Terms(numerator, denominator, errors, lone=len(rows.loss) == 1)


def _per_item(rows: Rows, gains: Floats, sizes: Floats, spread: Floats) -> Terms:
    """The mean of the items' ratios, with what each user adds to its error."""
    below = _by(rows.item, sizes)
    value = _by(rows.item, gains) / below
    row_errors = (gains - value[rows.item] * sizes) / below[rows.item] / max(len(value), 1)
    # a mean over users of these numbers has the same value and, to first order, the same error
    users = int(rows.user.max(initial=-1)) + 1
    by_user = (float(value.mean()) if len(value) else 0.0) + users * _by(rows.user, row_errors)
    return Terms(by_user, np.ones_like(by_user), row_errors * spread, lone=_has_lone(rows.item))


def _has_lone(group: Ints) -> bool:
    """Whether a group has one row: its distance from its own mean is 0, which says nothing of its error."""
    return len(group) > 0 and int(np.bincount(group).min()) == 1


def _by(group: Ints, values: Floats) -> Floats:
    return np.asarray(np.bincount(group, weights=values), dtype=float)
