"""Matrix factorisation for implicit feedback by alternating least squares."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.data import Interactions
from unskew.models.model import Model, Observed, Progress, check_number, check_whole
from unskew.ranking.scorers import FactorScorer

ROWS_A_TASK = 256
START_SCALE = 0.1  # length of a random first item factor


@dataclass(frozen=True)
class Als(Model, word="als"):
    r"""Weighted matrix factorisation: observed pairs should score 1 and count more, all others 0.

    .. math::

       \min_{p, q} \sum_{u, i} (1 + \alpha x_{ui}) (x_{ui} - p_u \cdot q_i)^2
       + \lambda \Bigl(\sum_u \lVert p_u \rVert^2 + \sum_i \lVert q_i \rVert^2\Bigr)

    Each side is solved exactly (Cholesky, in float64) with the other fixed, so the objective never grows:

    .. math:: p_u = (1 + \alpha) \Bigl(Q^\top Q + \alpha \sum_{i \in X_u} q_i q_i^\top + \lambda I\Bigr)^{-1}
       \sum_{i \in X_u} q_i

    Hu, Koren and Volinsky (2008), eqs. 3 to 5. Here x is binary: the values of a log are not used, because this
    confidence is about how often an item was chosen, and a rating is about how much it was liked.

    Parameters
    ----------
    factors : int
        Dimensions of p and q.
    regularisation : float
        λ above.
    alpha : float
        Extra weight of an observed pair.
    iterations : int
        How often both sides are solved.
    """

    factors: int = 64
    regularisation: float = 0.01
    alpha: float = 1
    iterations: int = 15

    def __post_init__(self) -> None:
        check_whole(self, "factors")
        check_whole(self, "iterations")
        check_number(self, "regularisation")
        check_number(self, "alpha")

    def effort(self, train: Interactions) -> float:
        """Normal equations of each row, and their solution for each user and item."""
        sides = np.count_nonzero(train.user_counts) + np.count_nonzero(train.item_counts)
        return 1e-10 * self.iterations * self.factors**2 * (2 * len(train) + float(sides) * self.factors)

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> FactorScorer:
        """Alternate between users and items; the rows of a side are solved in parallel."""
        observed = Observed.of(train)
        by_user, by_item = observed.matrix, observed.matrix.tocsc()
        n_users, n_items = by_user.shape
        items = rng.standard_normal((n_items, self.factors), dtype=np.float32)
        items *= np.float32(START_SCALE / np.sqrt(self.factors))
        users = np.zeros((n_users, self.factors), dtype=np.float32)
        for done in range(self.iterations):
            self._solve(by_user, items, users)
            self._solve(by_item, users, items)
            progress(done + 1, self.iterations)
        return FactorScorer(users, items, user_ids=observed.user_ids, item_ids=observed.item_ids, name=str(self))

    def _solve(self, rows: Any, fixed: npt.NDArray[np.float32], out: npt.NDArray[np.float32]) -> None:
        """Write the best factors of one side, given those of the other."""
        import numba

        from unskew.models.closed_kernel import solve_rows

        wide = fixed.astype(np.float64)
        gram = wide.T @ wide + self.regularisation * np.eye(self.factors)

        def task(start: int) -> None:
            stop = min(start + ROWS_A_TASK, len(out))
            offsets = rows.indptr[start : stop + 1]
            solve_rows((offsets, rows.indices), fixed, gram, float(self.alpha), out[start:stop])

        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            list(pool.map(task, range(0, len(out), ROWS_A_TASK)))
