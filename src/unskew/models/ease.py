"""EASE: a linear item-item model with a closed form."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Matrix
from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.models.model import Model, Observed, Progress, check_number, check_whole
from unskew.ranking.scorers import ItemItemScorer

BYTES_AN_ENTRY = 12  # the Gram matrix in float64, inverted in place, and the weights in float32


@dataclass(frozen=True)
class Ease(Model, word="ease"):
    r"""Embarrassingly shallow autoencoder: ridge regression of each item on all others.

    .. math::

       \min_B \lVert X - X B \rVert_F^2 + \lambda \lVert B \rVert_F^2 \ \text{ with } B_{ii} = 0, \qquad
       B_{ij} = -P_{ij} / P_{jj}, \quad P = (X^\top X + \lambda I)^{-1}, \qquad s_u = X_u B

    Steck (2019), eq. 8. The weights are dense, so memory grows with the square of the catalogue.

    Parameters
    ----------
    regularisation : float
        λ above.
    max_items : int
        A larger catalogue is refused; 20,000 items take about 4.8 GB.
    """

    regularisation: float = 500
    max_items: int = 20_000

    def __post_init__(self) -> None:
        check_number(self, "regularisation")
        check_whole(self, "max_items")

    def effort(self, train: Interactions) -> float:
        """The inverse of a matrix of items."""
        return 1e-10 * float(np.count_nonzero(train.item_counts)) ** 3

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> ItemItemScorer:
        """Compute the weights by inverting the Gram matrix."""
        observed = Observed.of(train)
        n = observed.matrix.shape[1]
        if n > self.max_items:
            raise ConfigError(
                f"{self}: {n:,} items need about {n * n * BYTES_AN_ENTRY / 1e9:.1f} GB; "
                f"use item-knn or als, or, if you have the memory, ease(max-items={n})"
            )
        weights = self._weights(_gram(observed))
        progress(1, 1)
        return ItemItemScorer(
            observed.matrix, weights, user_ids=observed.user_ids, item_ids=observed.item_ids, name=str(self)
        )

    def _weights(self, gram: Floats) -> Matrix:
        """B, computed from X'X, which is overwritten."""
        from scipy.linalg.lapack import dpotrf, dpotri

        gram[np.diag_indices_from(gram)] += self.regularisation
        # symmetric, so the transpose is the same matrix in the column order that LAPACK overwrites in place
        factor, failed = dpotrf(gram.T, lower=1, overwrite_a=1)
        if not failed:
            inverse, failed = dpotri(factor, lower=1, overwrite_c=1)
        if failed:
            raise ConfigError(f"{self}: X'X + λI cannot be inverted; choose a larger regularisation")
        diagonal = inverse.diagonal()
        n = len(gram)
        weights = np.zeros((n, n), dtype=np.float32)
        for j in range(1, n):  # only the lower triangle was written
            row = inverse[j, :j]
            weights[j, :j] = -row / diagonal[:j]
            weights[:j, j] = -row / diagonal[j]
        return weights


def _gram(observed: Observed) -> Floats:
    """The number of users that each two items share, as a dense matrix."""
    from unskew.models.closed_kernel import count_shared

    by_user = observed.matrix
    by_item = by_user.tocsc()
    gram = np.zeros((by_user.shape[1], by_user.shape[1]))
    count_shared((by_item.indptr, by_item.indices), (by_user.indptr, by_user.indices), gram)
    return gram
