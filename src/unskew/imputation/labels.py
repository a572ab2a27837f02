"""`Labels`: the chance of relevance from the labels of a log, by rates of the item and of the user."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints, Matrix
from unskew.errors import ConfigError
from unskew.imputation.imputation import Imputation, LabelledRows
from unskew.logistic import LARGEST_LOG_ODDS, LogisticFit, fit_logistic, log_odds, sigmoid

_LARGEST = 300.0  # of a part of the log-odds


@dataclass(frozen=True)
class Labels(Imputation, word="labels"):
    r"""Logistic regression on the rates of the item and of the user, and on how often the item occurs.

    .. math::

       \operatorname{logit} q_{ui} = b_0 + b_1 \operatorname{logit} r_i + b_2 \operatorname{logit} r_u
       + b_3 \log(1 + n_i), \qquad r = \frac{n^+ + k \bar r}{n + k}

    A row that is fitted is not counted in its own rates. Nothing personal is used, on purpose: an imputation that
    resembles the models it judges rewards them for it.

    Parameters
    ----------
    prior : float
        k above, the number of rows that the overall rate is worth.
    """

    prior: float = 5.0
    positional = ("prior",)

    def __post_init__(self) -> None:
        if not 0 < self.prior < np.inf:
            raise ConfigError(f"prior={self.prior:g} must be above 0; it is a number of rows, 5 by default")

    def fit(self, log: LabelledRows) -> "FittedLabels":
        """Fit to all rows of a log."""
        log.require_both()
        overall = float(log.label.mean())
        item = _Rates.of(log.items, log.label, log.n_items, self.prior, overall)
        user = _Rates.of(log.users, log.label, log.n_users, self.prior, overall)
        count = np.log1p(item.count)
        columns = np.column_stack(
            [item.without(log.items, log.label), user.without(log.users, log.label), count[log.items]]
        )
        fit = fit_logistic(columns, log.label)
        by_item = fit.slopes[0] * item.logits + fit.slopes[2] * count
        unknown = float(fit.slopes[0] * log_odds(np.array([overall]))[0])
        return FittedLabels(fit.intercept + fit.slopes[1] * user.logits, by_item, unknown, fit)


@dataclass(frozen=True, eq=False)
class FittedLabels:
    """Chances whose log-odds are a part of the user plus a part of the item."""

    by_user: Floats
    by_item: Floats
    unknown: float  # the part of an item that the log does not have
    fit: LogisticFit

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of each pair."""
        return sigmoid(self.logits(users, items))

    def block(self, users: Ints, items: Ints, /) -> Matrix:
        """Chance of these users with these items, in 32 bits."""
        from unskew.imputation.logistic_kernel import sigmoid_of_sums

        # one exponential per user and per item; the product of the largest is finite
        of_users, of_items = (
            np.exp(-np.clip(part, -_LARGEST, _LARGEST)) for part in (self.by_user[users], self._of_items(items))
        )
        return sigmoid_of_sums(of_users, of_items)

    def logits(self, users: Ints, items: Ints) -> Floats:
        """Log-odds of each pair."""
        return np.asarray(self.by_user[users] + self._of_items(items))

    def block_logits(self, users: Ints, items: Ints, /) -> Floats:
        """Log-odds of these users with these items."""
        return np.clip(self.by_user[users][:, None] + self._of_items(items), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)

    def _of_items(self, items: Ints) -> Floats:
        return np.where(items >= 0, self.by_item[items], self.unknown)


@dataclass(frozen=True, eq=False)
class _Rates:
    """Smoothed rates of positives, of items or of users."""

    count: Floats
    positives: Floats
    prior: float
    overall: float

    @classmethod
    def of(cls, codes: Ints, label: Floats, size: int, prior: float, overall: float) -> "_Rates":
        count = np.bincount(codes, minlength=size).astype(float)
        positives = np.bincount(codes, weights=label, minlength=size).astype(float)
        return cls(count, positives, prior, overall)

    @property
    def logits(self) -> Floats:
        """Log-odds of each rate."""
        return log_odds((self.positives + self.prior * self.overall) / (self.count + self.prior))

    def without(self, codes: Ints, label: Floats) -> Floats:
        """For each row, the log-odds of its rate without the row."""
        positives = self.positives[codes] - label + self.prior * self.overall
        return log_odds(positives / (self.count[codes] - 1 + self.prior))
