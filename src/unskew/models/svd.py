"""Truncated singular value decomposition of the binary matrix (PureSVD)."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.models.model import Model, Observed, Progress, check_whole
from unskew.ranking.scorers import FactorScorer

NEGLIGIBLE = 1e-7  # relative to the largest singular value; directions below are rounding noise of the Gram matrix


@dataclass(frozen=True)
class Svd(Model, word="svd"):
    r"""PureSVD: the best approximation of the binary matrix of a given rank.

    .. math:: X \approx U \Sigma V^\top, \qquad s_{ui} = (U \Sigma^{1/2})_u \cdot (V \Sigma^{1/2})_i

    Unobserved entries count as zeros. Cremonesi, Koren and Turrin (2010), section 3.3.

    Parameters
    ----------
    rank : int
        How many singular values are kept; at most the smaller side of the matrix.
    """

    rank: int = 50

    def __post_init__(self) -> None:
        check_whole(self, "rank")

    def effort(self, train: Interactions) -> float:
        """Products of the matrix, some for each factor."""
        return 1e-8 * self.rank * len(train)

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> FactorScorer:
        """Decompose the matrix, in float64."""
        observed = Observed.of(train)
        occurring = observed.item_counts > 0
        users, items = observed.matrix.shape[0], int(occurring.sum())
        most = min(users, items)
        if self.rank > most:
            raise ConfigError(
                f"{self}: {users} users and {items} items in training allow a rank of at most {most}; "
                f"write svd(rank={most}) or less"
            )
        left, values, right = leading(observed.matrix.astype(np.float64), self.rank, rng)
        values = np.where(values > NEGLIGIBLE * values.max(), values, 0)
        right[:, ~occurring] = 0
        # a singular vector is known up to its sign; the largest entry is made positive
        top = np.argmax(np.abs(right), axis=1)
        signs = np.where(right[np.arange(self.rank), top] < 0, -1, 1)
        scale = np.sqrt(values)
        progress(1, 1)
        return FactorScorer(
            (left * (signs * scale)).astype(np.float32),
            (right.T * (signs * scale)).astype(np.float32),
            user_ids=observed.user_ids,
            item_ids=observed.item_ids,
            name=str(self),
        )


def leading(matrix: Any, rank: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Leading singular triplets, largest first: U, the values, V transposed.

    This is scipy's ``svds`` with one difference: the generator is passed to ARPACK, which restarts from a random vector
    if the matrix has a lower rank than requested; ``svds`` does not seed these restarts.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    if matrix.shape[0] < matrix.shape[1]:
        left, values, right = leading(matrix.T.tocsr(), rank, rng)
        return right.T, values, left.T
    side = matrix.shape[1]
    if rank == side:  # ARPACK cannot compute all of them
        left, values, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
        return left, values, right
    gram = LinearOperator((side, side), matvec=lambda x: matrix.T @ (matrix @ x), dtype=np.float64)
    # ARPACK before scipy 1.17 has no generator and uses a fixed seed for restarts
    seeded: dict[str, Any] = {"rng": rng} if "rng" in inspect.signature(eigsh).parameters else {}
    _, vectors = eigsh(gram, k=rank, v0=rng.standard_normal(side), **seeded)
    vectors, _ = np.linalg.qr(vectors)
    left, values, rotation = np.linalg.svd(matrix @ vectors, full_matrices=False)
    return left, values, rotation @ vectors.T
