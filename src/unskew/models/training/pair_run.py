"""A training run of single pairs."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.arrays import Floats, Matrix
from unskew.models.model import Observed, Progress
from unskew.models.training.batches import Positives
from unskew.models.training.pair_model import PairwiseModel
from unskew.models.training.run import Run

CHUNK = 50_000  # steps between two reports of progress


class PairwiseRun(Run):
    """A training run of single pairs: its parameters and its steps.

    Parameters
    ----------
    model : PairwiseModel
    observed : Observed
    positives : Positives
    weights : Floats, optional
        Weight of each member of the training matrix.
    seed : int
    """

    def __init__(
        self, model: PairwiseModel, observed: Observed, positives: Positives, weights: Floats | None, seed: int
    ) -> None:
        super().__init__(model, observed, seed)
        self.positives, self.weights = positives, weights
        n_users, n_items = observed.matrix.shape
        rng = np.random.default_rng([seed, 2**32])
        self.users, self.items = (
            (rng.standard_normal((n, model.factors)) * model.init).astype(np.float32) for n in (n_users, n_items)
        )
        self.bias = np.zeros(n_items, dtype=np.float32)
        self.pairs = model.per == "pair"
        # a user with every item has no negatives
        some = np.flatnonzero(np.diff(positives.offsets) < n_items).astype(np.int32)
        self.drawn = positives.rows if self.pairs else some
        self.costs = model.costs(n_items).astype(np.float32)
        self.outside = model.outside_only
        self.cumulative = np.empty(0)
        if weights is not None:
            self.cumulative = _running(weights[self.drawn]) if self.pairs else _running_shares(weights, positives)
        self.key = int(rng.integers(2**62))
        self.loss = math.nan
        self.violations, self.draws = 0, 0

    def advance(self, progress: Progress) -> None:
        """Take the steps up to the next check."""
        from unskew.models.training.pair_kernel import take_steps

        start, stop, loss = self.done, self.next_check, 0.0
        rate, penalty = np.float32(self.settings.learning_rate), np.float32(self.settings.regularisation)
        while self.done < stop:
            count = min(CHUNK, stop - self.done)
            part, violations, draws = take_steps(
                self.users, self.items, self.bias, self.drawn, self.positives.offsets, self.positives.members,
                self.positives.owners, self.cumulative, self.pairs, self.key, self.done, count, rate, penalty,
                self.costs, self.outside,
            )  # fmt: skip
            loss += part
            self.violations += violations
            self.draws += draws
            self.done += count
            progress(self.done, self.settings.iterations)
        self.loss = loss / (stop - start)

    def mean_loss(self) -> float:
        """The mean over steps; a skipped step counts as 0."""
        return self.loss

    def values(self) -> dict[str, Matrix]:
        """Copies of the current parameters."""
        return {name: array.copy() for name, array in self.arrays_now().items()}

    def arrays_now(self) -> dict[str, Matrix]:
        """The parameters; there are no moments."""
        return {"users": self.users, "items": self.items, "bias": self.bias}

    def take_up(self, progress: Mapping[str, Any], arrays: Mapping[str, Matrix]) -> None:
        """Continue from these parameters."""
        self.users, self.items, self.bias = (
            np.ascontiguousarray(arrays[name], dtype=np.float32) for name in ("users", "items", "bias")
        )


def _running(weights: Floats) -> Floats:
    """Running sums of all weights, ending at 1."""
    return np.asarray(np.cumsum(weights / weights.sum()))


def _running_shares(weights: Floats, positives: Positives) -> Floats:
    """Running sums of each user's weights, ending at 1."""
    starts = positives.offsets[:-1]
    totals = np.add.reduceat(weights, starts)
    shares = np.cumsum(weights / totals[positives.owners])
    before = np.concatenate([[0.0], shares])[starts]
    return np.asarray(shares - before[positives.owners])
