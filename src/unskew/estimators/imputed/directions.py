"""Directions of a covariance over models: those that explain most of it, and Hotelling's test in them."""

from itertools import pairwise

import numpy as np

from unskew.arrays import Floats

EXPLAINED = 0.99
"""Share of the variance over models that the leading directions explain, in which the two estimates are compared."""


def leading(covariance: Floats) -> Floats:
    """The leading directions of a covariance, (models, directions), scaled such that noise has a variance of 1."""
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    total = float(values.sum())
    if total <= 0:
        return np.empty((len(covariance), 0))
    kept = int(np.searchsorted(np.cumsum(values) / total, EXPLAINED)) + 1
    kept = min(kept, int(np.sum(values > 1e-12 * values[0])))
    return np.asarray(_canonical(values, vectors)[:, :kept] / np.sqrt(values[:kept]))


SAME = 1e-9
"""Eigenvalues that differ by less than this share of the largest one are equal but for rounding."""


def _canonical(values: Floats, vectors: Floats) -> Floats:
    """The same eigenvectors, where equal eigenvalues leave them open those nearest to single models.

    Any basis of the vectors of an eigenvalue is right, and which one comes out depends on the processor. Here the first
    vector is the axis with the longest projection into their space, the first of equals; the next one is that of what
    is then left of the space, and so on.
    """
    chosen = vectors.copy()
    starts = np.append(np.flatnonzero(np.diff(values, prepend=np.inf) < -SAME * values[0]), len(values))
    for start, end in pairwise(starts.tolist()):
        space = vectors[:, start:end]
        left = space @ space.T  # the projections of all axes
        for place in range(start, end) if end - start > 1 else ():
            sizes = np.sum(left**2, axis=0)
            axis = int(np.argmax(sizes > (1 - SAME) * sizes.max()))
            chosen[:, place] = left[:, axis] / np.sqrt(sizes[axis])
            left = left - np.outer(chosen[:, place], chosen[:, place] @ left)
    return chosen


def mahalanobis(gap: Floats, covariance: Floats) -> tuple[float, int]:
    """The squared distance of a gap in the leading directions of a covariance, and how many directions these are."""
    scaled = gap @ leading(covariance)
    return float(scaled @ scaled), len(scaled)


def hotelling(gap: Floats, covariance: Floats, positives: int) -> float:
    r"""The p-value of Hotelling's test that a gap over models is noise.

    :math:`T^2 = g^\top V^{-1} g` in the k leading directions of V; :math:`T^2 (n - k) / (k (n - 1))` has the F
    distribution of k and n - k degrees of freedom, with n the number of positives.
    """
    from scipy.stats import chi2, f

    distance, k = mahalanobis(gap, covariance)
    if k == 0:
        return 1.0
    if positives <= k:
        return float(chi2.sf(distance, k))
    return float(f.sf(distance * (positives - k) / (k * (positives - 1)), k, positives - k))


def root_of(covariance: Floats) -> Floats:
    """A square root of a covariance: the scalar products of its rows are the covariances."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
