"""Diagnostics of a propensity: whether its inverses add up to the number of pairs, and whether it is calibrated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.arrays import Bools, Floats, Ints

__all__ = ["Diagnostics", "InverseSums", "ReliabilityBin", "diagnose", "reliability_curve", "wilson_interval"]

_Z = 1.959963984540054
_FAR_SHARE, _FAR_DEVIATIONS = 0.1, 3.0
_ADDED = ("observed", "known", "cells", "inverse_sum", "variance")


@dataclass(frozen=True)
class ReliabilityBin:
    """Pairs of about the same predicted propensity, and how many of them were observed.

    Parameters
    ----------
    predicted : float
        The mean predicted propensity.
    observed : float
        The share of these pairs that was observed.
    low, high : float
        Wilson's 95 % interval of that share.
    pairs : float
        How many pairs the bin represents.
    """

    predicted: float
    observed: float
    low: float
    high: float
    pairs: float


@dataclass(frozen=True)
class Diagnostics:
    r"""Diagnostics of a fitted propensity.

    Over the observed rows, :math:`E \sum 1/P` is the number of pairs that could have been observed. If the sum is far
    from it, some propensities are wrong.

    Parameters
    ----------
    observed : int
        Observed rows.
    cells : int
        Pairs that could have been observed.
    inverse_sum : float
        The sum of 1/P over the observed rows.
    inverse_sd : float
        The standard deviation of that sum if P is right, :math:`\sqrt{\sum (1 - P) / P^2}`.
    smallest, largest : float
        Smallest and largest P of the observed rows.
    clipped : int
        How many observed rows had their P clipped, at 1 or at the floor.
    reliability : tuple of ReliabilityBin
        Predicted propensity compared with the observed share; empty if that is unknown.
    reliability_of : str
        A description of the pairs in the bins.
    notes : tuple of str
        Reasons for doubt, one sentence each.
    """

    observed: int
    cells: int
    inverse_sum: float
    inverse_sd: float
    smallest: float
    largest: float
    clipped: int = 0
    reliability: tuple[ReliabilityBin, ...] = ()
    reliability_of: str = ""
    notes: tuple[str, ...] = ()

    @property
    def coverage(self) -> float:
        """The sum of 1/P divided by the number of pairs; near 1 if P is right."""
        return self.inverse_sum / self.cells if self.cells else float("nan")


def diagnose(
    propensity: Floats,
    cells: int,
    *,
    absolute: bool = True,
    clipped: int = 0,
    reliability: tuple[ReliabilityBin, ...] = (),
    reliability_of: str = "",
    notes: tuple[str, ...] = (),
) -> Diagnostics:
    """Diagnose any propensity from its values on the observed rows.

    Parameters
    ----------
    propensity : array
        P of each observed row; NaN for a row that is dropped.
    cells : int
        How many pairs could have been observed.
    absolute : bool
        Whether P is a probability; if it is known only up to scale, the sum of its inverses has no meaning and no note.
    clipped, reliability, reliability_of, notes
        As in `Diagnostics`.
    """
    sums = InverseSums.of(propensity, cells)
    return replace(
        sums.diagnose(absolute=absolute, notes=notes),
        clipped=clipped,
        reliability=reliability,
        reliability_of=reliability_of if reliability else "",
    )


@dataclass(frozen=True)
class InverseSums:
    """What the diagnostics of a propensity need of its rows; those of different rows are merged by `join`."""

    observed: int = 0
    known: int = 0  # observed rows with a propensity
    cells: int = 0
    inverse_sum: float = 0.0
    variance: float = 0.0
    smallest: float = float("inf")
    largest: float = float("-inf")

    @classmethod
    def of(cls, propensity: Floats, cells: int) -> "InverseSums":
        """The sums of some rows."""
        known = propensity[~np.isnan(propensity)]
        return cls(
            observed=len(propensity),
            known=len(known),
            cells=cells,
            inverse_sum=float(np.sum(1 / known)),
            variance=float(np.sum((1 - known) / known**2)),
            smallest=float(known.min(initial=np.inf)),
            largest=float(known.max(initial=-np.inf)),
        )

    @staticmethod
    def join(parts: "Sequence[InverseSums]") -> "InverseSums":
        """The sums of all rows."""
        added: dict[str, Any] = {name: sum(getattr(part, name) for part in parts) for name in _ADDED}
        smallest, largest = min(part.smallest for part in parts), max(part.largest for part in parts)
        return InverseSums(**added, smallest=smallest, largest=largest)

    def diagnose(self, *, absolute: bool, notes: tuple[str, ...] = ()) -> Diagnostics:
        """The diagnostics, with a note if the sum is far from the number of pairs."""
        inverse_sd = float(np.sqrt(self.variance))
        far = abs(self.inverse_sum - self.cells) > max(_FAR_SHARE * self.cells, _FAR_DEVIATIONS * inverse_sd)
        if absolute and far and self.known:
            kind = "smaller" if self.inverse_sum > self.cells else "larger"
            note = (
                f"the sum of 1/P over the {self.known:,} observed rows is {self.inverse_sum:,.0f}, but there are "
                f"{self.cells:,} pairs: many propensities are {kind} than they should be; check the propensity model"
            )
            notes = (*notes, note)
        return Diagnostics(
            observed=self.observed,
            cells=self.cells,
            inverse_sum=self.inverse_sum,
            inverse_sd=inverse_sd,
            smallest=self.smallest if self.known else float("nan"),
            largest=self.largest if self.known else float("nan"),
            notes=notes,
        )


def reliability_curve(
    predicted: Floats, observed: Bools, weight: Floats | None = None, *, bins: int = 10
) -> tuple[ReliabilityBin, ...]:
    """Bins of pairs by predicted propensity, each with the share that was observed.

    Bins have about the same number of pairs; equal predictions are in the same bin.

    Parameters
    ----------
    predicted : array
        P of each pair; pairs where it is NaN are left out.
    observed : array of bool
        Whether the pair was observed.
    weight : array, optional
        How many pairs each pair represents, if they are a sample.
    bins : int
        Largest number of bins.
    """
    weights = np.ones(len(predicted)) if weight is None else weight
    kept = ~np.isnan(predicted) & (weights > 0)
    predicted, observed, weights = predicted[kept], observed[kept], weights[kept]
    if not len(predicted):
        return ()
    place = _bin_of(predicted, weights, bins)
    return tuple(_bin(predicted[rows], observed[rows], weights[rows]) for rows in _groups(place))


def wilson_interval(share: float, pairs: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (Wilson 1927)."""
    if pairs <= 0:
        return 0.0, 1.0
    spread = _Z**2 / pairs
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * float(np.sqrt(share * (1 - share) / pairs + spread / (4 * pairs)))
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def _bin_of(predicted: Floats, weights: Floats, bins: int) -> Ints:
    levels, place = np.unique(predicted, return_inverse=True)
    if len(levels) <= bins:
        return place
    mass = np.bincount(place, weights)
    middle = np.cumsum(mass) - mass / 2  # a level goes where its middle is, so that large levels do not displace others
    by_level: Ints = np.minimum(middle / mass.sum() * bins, bins - 1).astype(np.int64)
    return by_level[place]


def _groups(place: Ints) -> list[Ints]:
    order = np.argsort(place, kind="stable")
    cuts = np.flatnonzero(np.diff(place[order])) + 1
    return list(np.split(order, cuts))


def _bin(predicted: Floats, observed: Bools, weights: Floats) -> ReliabilityBin:
    total = float(weights.sum())
    share = float(weights[observed].sum()) / total
    # a sample is less certain than all pairs: the delta method on K / (K + M), with both estimated
    unknown = sum(_sampling_variance(weights[rows]) for rows in (observed, ~observed))
    size = 1 / (1 / total + share * (1 - share) * unknown)
    low, high = wilson_interval(share, size)
    return ReliabilityBin(float(np.average(predicted, weights=weights)), share, low, high, total)


def _sampling_variance(weights: Floats) -> float:
    """Relative variance of a total that is estimated from a sample, given the sizes of the sample and the whole."""
    return float(1 / len(weights) - 1 / weights.sum()) if len(weights) else 0.0
