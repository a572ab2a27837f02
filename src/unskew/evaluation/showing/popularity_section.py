"""Curves for the page: the popularity of the held-out rows, their ratings, and their weights."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Floats
from unskew.display.numbers import short
from unskew.estimators import Weighted
from unskew.evaluation.collecting.sample import Sample

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

BINS = 24
MANY_RATINGS, RATING_BINS = 12, 8  # with more different ratings, they are shown in RATING_BINS ranges
POINTS = 100
EQUAL = 1 + 1e-9  # largest over smallest weight up to which all rows weigh the same


@dataclass(frozen=True, eq=False)
class Skew:
    """Weights of the held-out rows, and cumulative shares over items from the most to the least popular."""

    edges: Floats  # of the weight bins, as multiples of the mean weight; empty when all rows weigh the same
    rows: Floats  # share of rows in each bin
    weight: Floats  # share of all weight in each bin
    train: Floats  # share of the training rows that the most popular items have, at 0, 1, ... 100 % of the items
    held_out: Floats  # the same of the held-out rows
    weighted: Floats  # and of their weight
    items: int
    unweighted: int  # held-out rows without a weight

    @property
    def varies(self) -> bool:
        """Whether rows weigh differently."""
        return len(self.edges) > 0

    @property
    def has_weights(self) -> bool:
        """Whether any held-out row has a weight."""
        return len(self.weighted) > 0

    @staticmethod
    def tenths(curve: Floats) -> Floats:
        """The share of each tenth of the items, from the most popular on."""
        return np.diff(curve[:: POINTS // 10])


def measure_skew(report: "Report") -> Skew:
    """Measure popularity and weights of a run's held-out rows."""
    sample = report.samples.judged
    catalogue = np.union1d(sample.split.catalogue, sample.items)
    counts = sample.train.item_counts[catalogue].astype(float)
    place = np.searchsorted(catalogue, sample.items)
    weights = _row_weights(report, sample)
    has = ~np.isnan(weights)
    weighted: Floats = np.bincount(place[has], weights=weights[has], minlength=len(catalogue)).astype(float)
    held_out = np.bincount(place, minlength=len(catalogue)).astype(float)
    return Skew(
        *_histogram(weights[has]),
        train=cumulative_share(counts, counts),
        held_out=cumulative_share(counts, held_out),
        weighted=cumulative_share(counts, weighted),
        items=len(catalogue),
        unweighted=int(np.sum(~has)),
    )


def cumulative_share(counts: Floats, mass: Floats) -> Floats:
    """Share of the mass that the items with the largest counts have, at 0, 1, ... 100 % of the items.

    Items with equal counts share their mass evenly, so the curve does not depend on how they are numbered. Empty
    when there is no mass.
    """
    total = mass.sum()
    if not total > 0:
        return np.empty(0)
    order = np.argsort(-counts, kind="stable")
    ordered = counts[order]
    ends = np.append(0, np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) + 1)
    reached = np.append(0.0, np.cumsum(mass[order]))[ends] / total
    return np.asarray(np.interp(np.linspace(0, 1, POINTS + 1), ends / len(counts), reached))


@dataclass(frozen=True, eq=False)
class RatingSkew:
    """The distribution of the rated rows over ratings."""

    labels: tuple[str, ...]  # ratings, or ranges of them where there are many, ascending
    observed: Floats  # share of the rows
    weighted: Floats  # share of the weight; empty when all rows weigh the same


def measure_ratings(report: "Report") -> RatingSkew | None:
    """Measure how weights change the spread of the ratings; None in a run without metrics over all pairs."""
    rated = report.samples.ratings
    if rated is None or rated.values is None or not rated.rows:
        return None
    levels, place = np.unique(rated.values, return_inverse=True)
    labels = tuple(f"{level:g}" for level in levels)
    if len(levels) > MANY_RATINGS:
        edges = np.linspace(levels[0], levels[-1], RATING_BINS + 1)
        place = np.searchsorted(edges[1:-1], rated.values, side="right")
        labels = tuple(f"{short(low)} to {short(high)}" for low, high in pairwise(edges))
    weights = _row_weights(report, rated)
    has = ~np.isnan(weights)
    varies = has.any() and weights[has].max() > EQUAL * weights[has].min()
    weighted = np.bincount(place[has], weights[has], len(labels)) / weights[has].sum() if varies else np.empty(0)
    return RatingSkew(labels, np.bincount(place, minlength=len(labels)) / rated.rows, weighted)


def _row_weights(report: "Report", sample: Sample) -> Floats:
    """Inverse propensity of each row, clipped as the run's estimator does; NaN where there is none."""
    propensity = np.array(
        report.propensities.of(sample.kind)(sample.row_users, sample.items, sample.values), dtype=float
    )
    propensity[~(propensity > 0)] = np.nan
    form = next((e for e in report.settings.estimators if isinstance(e, Weighted)), None)
    has = ~np.isnan(propensity)
    if form is not None:
        propensity[has] = 1 / form.inverse(propensity[has])
    return np.asarray(1 / propensity)


def _histogram(weights: Floats) -> tuple[Floats, Floats, Floats]:
    if not len(weights) or weights.max() <= EQUAL * weights.min():
        return np.empty(0), np.empty(0), np.empty(0)
    relative = weights / weights.mean()
    edges = np.geomspace(relative.min(), relative.max(), BINS + 1)
    edges[0], edges[-1] = relative.min(), relative.max()  # geomspace may miss the ends by a rounding
    rows, _ = np.histogram(relative, edges)
    weight, _ = np.histogram(relative, edges, weights=relative)
    return edges, rows / rows.sum(), weight / weight.sum()
