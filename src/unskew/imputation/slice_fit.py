"""`fit_to_slice`: chances of relevance that are learnt from, or recalibrated by, labelled rows drawn at random."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data.pairs import contains, pair_keys
from unskew.errors import ConfigError
from unskew.imputation.imputation import FittedImputation, Imputation, LabelledRows
from unskew.logistic import LogisticFit, fit_logistic, fold_of, log_odds, sigmoid

FOLDS = 5


class PairColumns(Protocol):
    """Numbers that describe pairs, by codes."""

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Columns of each pair, (pairs, columns)."""
        ...

    def block(self, users: Ints, items: Ints, /) -> Floats:
        """Columns of these users with these items, (users, items, columns)."""
        ...


@dataclass(frozen=True)
class FromSlice(Imputation, word="slice"):
    """Logistic regression on the random rows alone, for logs that have positives only.

    Its columns are the log of the item's count, the log-odds of exposure and the log of the user's activity.
    """

    def fit(self, log: LabelledRows) -> FittedImputation:
        """Not possible without columns; `fit_to_slice` is used instead."""
        raise ConfigError("q=slice is learnt from random rows; call fit_to_slice")


@dataclass(frozen=True, eq=False)
class SliceFit:
    """Chances of relevance; a row of the slice has the chance by the regression that did not see it.

    Parameters
    ----------
    base : FittedImputation or None
        Its log-odds are the offset; None for no offset.
    columns : PairColumns
    center, scale : array
        Of the columns over the slice.
    whole : LogisticFit
        Of all rows of the slice.
    fits : tuple of LogisticFit
        One per fold, without its rows.
    keys, fold : array
        Keys of the slice's pairs, ascending, and their folds.
    n_items : int
    """

    base: FittedImputation | None
    columns: PairColumns
    center: Floats
    scale: Floats
    whole: LogisticFit
    fits: tuple[LogisticFit, ...]
    keys: Ints
    fold: Ints
    n_items: int

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of each pair, by the regression that did not see it."""
        columns = (self.columns.rows(users, items) - self.center) / self.scale
        logits = self.whole.logits(columns)
        keys = pair_keys(users, items, self.n_items)
        drawn = contains(self.keys, keys)
        fold = self.fold[np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)]
        for k, fit in enumerate(self.fits):
            chosen = drawn & (fold == k)
            logits[chosen] = fit.logits(columns[chosen])
        if self.base is not None:
            logits = logits + log_odds(self.base.rows(users, items))
        return sigmoid(logits)

    @property
    def shifted(self) -> tuple["SliceFit", ...]:
        """The same chances with the coefficients one standard error away, in each direction of their covariance.

        The differences of an estimate under these, squared and summed, are its variance from the fit.
        """
        values, vectors = np.linalg.eigh(self.whole.covariance)
        moves = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return tuple(
            replace(
                self,
                whole=replace(
                    self.whole, intercept=self.whole.intercept + float(move[0]), slopes=self.whole.slopes + move[1:]
                ),
            )
            for move in moves
        )

    def block(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of these users with these items, by the regression of all rows."""
        return self._chances(users, items, [self.whole])[0]

    def block_logits(self, users: Ints, items: Ints, /) -> Floats:
        """Log-odds of these users with these items."""
        return log_odds(self.block(users, items))

    def shifted_blocks(self, users: Ints, items: Ints, /) -> tuple[Floats, ...]:
        """`block`, followed by that of each of `shifted`; what they share is computed once."""
        return self._chances(users, items, [fit.whole for fit in (self, *self.shifted)])

    def _chances(self, users: Ints, items: Ints, fits: Sequence[LogisticFit]) -> tuple[Floats, ...]:
        columns = (self.columns.block(users, items) - self.center) / self.scale
        offset = 0.0 if self.base is None else self.base.block_logits(users, items)
        return tuple(sigmoid(fit.logits(columns) + offset) for fit in fits)


def fit_to_slice(
    columns: PairColumns,
    rows: LabelledRows,
    *,
    base: FittedImputation | None = None,
    penalty: float = 1.0,
    seed: int = 0,
) -> SliceFit:
    r"""Fit the labels of random rows.

    .. math:: \operatorname{logit} q = \operatorname{logit} q_0 + b_0 + b \cdot x

    With :math:`q_0` the penalty draws the chances towards it, so a small slice changes little. The rows are divided
    into five folds, and a row's own chance is from the other four. Rows of one label alone have half a row of each
    label added at their mean: without it the intercept would be infinite.

    Parameters
    ----------
    columns : PairColumns
        x above, standardised over the slice.
    rows : LabelledRows
        The slice.
    base : FittedImputation, optional
        q0 above.
    penalty : float
        Ridge penalty of b.
    seed : int
        Seed of the folds.
    """
    x = columns.rows(rows.users, rows.items)
    center, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    x = (x - center) / scale
    offset = None if base is None else log_odds(base.rows(rows.users, rows.items))
    rng = np.random.default_rng([seed, 19])
    fold = np.empty(len(x), np.int64)
    for kind in (rows.label > 0, rows.label <= 0):
        fold[kind] = fold_of(int(kind.sum()), FOLDS, rng)
    others = [fold != k for k in range(FOLDS)]
    fits = tuple(_fit(x[kept], rows.label[kept], None if offset is None else offset[kept], penalty) for kept in others)
    whole = _fit(x, rows.label, offset, penalty)
    keys = pair_keys(rows.users, rows.items, rows.n_items)
    order = np.argsort(keys, kind="stable")
    return SliceFit(base, columns, center, scale, whole, fits, keys[order], fold[order], rows.n_items)


def _fit(columns: Floats, label: Floats, offset: Floats | None, penalty: float) -> LogisticFit:
    """The regression of some rows; finite for one label, and for no rows, too."""
    if 0 < float(label.sum()) < len(label):
        return fit_logistic(columns, label, offset=offset, penalty=penalty)
    added = np.zeros((2, columns.shape[1]))  # the columns are standardised over the slice
    known = np.zeros(len(label)) if offset is None else offset
    centre = float(known.mean()) if len(known) else 0.0
    return fit_logistic(
        np.vstack([columns, added]),
        np.append(label, [0.0, 1.0]),
        weight=np.append(np.ones(len(label)), [0.5, 0.5]),
        offset=np.append(known, [centre, centre]),
        penalty=penalty,
    )
