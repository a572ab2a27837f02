"""Losses of predicted ratings, averaged over all pairs of a user and an item."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats
from unskew.metrics.metric import Kind, MetricWord, TakesCutoff


@dataclass(frozen=True)
class RatingLoss(MetricWord):
    r"""A loss between predicted and true rating; its risk is the mean over all pairs.

    .. math:: R(\hat Y) = \frac{1}{U I} \sum_{u, i} \delta_{ui}(Y, \hat Y)

    Schnabel et al. (2016), eq. 1. A new loss is a frozen dataclass with :meth:`loss`.
    """

    kind: ClassVar[Kind] = "loss"
    takes_cutoff: ClassVar[TakesCutoff] = "never"
    lower_is_better: ClassVar[bool] = True
    root: ClassVar[bool] = False
    """Whether the metric is the square root of the mean loss."""

    @property
    def unbiased_to_missing(self) -> bool:
        """Whether a random part of the rows has the same value on average: a mean does, the root of one does not."""
        return not self.root

    @abstractmethod
    def loss(self, values: Floats, predicted: Floats) -> Floats:
        """Return the loss of each row."""


@dataclass(frozen=True)
class MAE(RatingLoss, word="mae"):
    r"""Mean absolute error, :math:`|Y - \hat Y|`."""

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "mean of |rating - prediction|"

    def loss(self, values: Floats, predicted: Floats) -> Floats:
        """Return the absolute error of each row."""
        return np.abs(values - predicted)


@dataclass(frozen=True)
class MSE(RatingLoss, word="mse"):
    r"""Mean squared error, :math:`(Y - \hat Y)^2`."""

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "mean of (rating - prediction)^2"

    def loss(self, values: Floats, predicted: Floats) -> Floats:
        """Return the squared error of each row."""
        return np.square(values - predicted)


@dataclass(frozen=True)
class RMSE(MSE, word="rmse"):
    """Root of the mean squared error over all pairs, not a mean of the roots of users."""

    root: ClassVar[bool] = True

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "root of the mean of (rating - prediction)^2"


@dataclass(frozen=True)
class Accuracy(RatingLoss, word="accuracy"):
    r"""Share of predictions that are right, :math:`1\{Y = \hat Y\}`.

    Parameters
    ----------
    rounded : bool
        Round predictions to the nearest whole number first, halves up; without it a prediction of 3.9 never equals 4.
    """

    lower_is_better: ClassVar[bool] = False

    rounded: bool = False

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"share of {'rounded ' if self.rounded else ''}predictions that equal the rating"

    def loss(self, values: Floats, predicted: Floats) -> Floats:
        """Return 1 where the prediction is right."""
        shown = _half_up(predicted) if self.rounded else predicted
        return np.asarray(values == shown, dtype=np.float64)


def _half_up(numbers: Floats) -> Floats:
    whole = np.floor(numbers)  # numbers + 0.5 would itself be rounded: the largest number below 0.5 would become 1
    return np.asarray(whole + (numbers - whole >= 0.5), dtype=np.float64)
