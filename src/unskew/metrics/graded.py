"""Graded metrics: sums of the ratings of a user's items, weighted by their places."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.metrics.dcg import discount
from unskew.metrics.metric import Kind, Metric, TakesCutoff


@dataclass(frozen=True)
class GradedMetric(Metric):
    r"""A sum over a user's items of the rating times the worth of the place, averaged over users.

    .. math:: \frac{1}{U} \sum_u \sum_i Y_{ui}\, gain(rank_{ui})

    Schnabel et al. (2016), section 3.2, where it is written as the mean over all pairs of
    :math:`\delta_{ui} = I \cdot Y_{ui} \cdot gain(rank_{ui})`. Every candidate has a rating, seen or not; so
    unlike `dcg` over positives it has a denominator, and ``snips`` applies.
    """

    kind: ClassVar[Kind] = "graded"


@dataclass(frozen=True)
class DCGOfValues(GradedMetric, word="dcg", variant="gain=value"):
    r"""DCG whose gain is the rating itself: :math:`Y / \log_2(rank + 1)` summed over the user's items.

    The paper prints the discount :math:`1 / \log(rank)`, which is infinite at rank 1; its numbers use this one.
    """

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"sum of rating/log2(rank + 1) over {_shown(cutoff)}"

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return the discount at a place."""
        return discount(above)


@dataclass(frozen=True)
class PrecisionOfValues(GradedMetric, word="precision", variant="gain=value"):
    """Sum of the ratings in the top K, divided by K.

    Parameters
    ----------
    of : {"cutoff", "list"}
        Divide by K, however short the list, or by the length of the list, at most K.
    """

    takes_cutoff: ClassVar[TakesCutoff] = "required"

    of: Literal["cutoff", "list"] = "cutoff"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        below = f"{cutoff}" if self.of == "cutoff" else f"min({cutoff}, length of the list)"
        return f"sum of ratings in the top {cutoff} / {below}"

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return 1; the cut-off decides, and divides."""
        return np.ones(np.shape(above))

    def divisor(self, cutoff: int, length: Ints) -> Floats | float:
        """Return K or the list's length."""
        return float(cutoff) if self.of == "cutoff" else np.clip(length, 1, cutoff).astype(np.float64)


@dataclass(frozen=True)
class CG(GradedMetric, word="cg"):
    r"""Cumulative gain: the mean rating of what is recommended, :math:`\frac{1}{k_u} \sum_i \hat Y_{ui} Y_{ui}`.

    The top K of a ranking are recommended, or the whole list if it is shorter; :math:`k_u` is their number.
    """

    takes_cutoff: ClassVar[TakesCutoff] = "required"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"mean rating of the top {cutoff}"

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return 1; the cut-off decides, and divides."""
        return np.ones(np.shape(above))

    def divisor(self, cutoff: int, length: Ints) -> Floats | float:
        """Return how many items are recommended."""
        return np.clip(length, 1, cutoff).astype(np.float64)


def _shown(cutoff: int | str | None) -> str:
    return "all candidates" if cutoff is None else f"the top {cutoff}"
