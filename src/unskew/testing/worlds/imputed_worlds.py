"""Small worlds of all candidates with chances of relevance, and the imputing estimates of them by loops."""

from dataclasses import dataclass, replace

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.estimators import Rows


@dataclass(frozen=True, eq=False)
class ImputedWorld:
    """Matrices of users by items; every pair is a candidate.

    Parameters
    ----------
    gain : array
        c of each pair.
    imputed : array
        q, the chance that the pair is relevant.
    chance : array
        The propensity of the pair: the chance, to any power, that it is in the log.
    relevant : array of bool
        The truth.
    observed : array of bool
        Which pairs are in the log.
    """

    gain: Floats
    imputed: Floats
    chance: Floats
    relevant: Bools
    observed: Bools

    def rows(self, kind: str, *, positives: bool) -> Rows:
        """One row per user, as estimators over all candidates use them.

        `positives` is whether the log is that of its positives, as `blend` uses it, or all of it, as `dr` does.
        """
        users, items = np.nonzero(self.observed & self.relevant if positives else self.observed)
        logged = Rows(self.gain[users, items], users, self.chance[users, items])
        if not positives:
            logged = replace(logged, positive=self.relevant[users, items], imputed=self.imputed[users, items])
        mass = self.imputed.sum(axis=1)
        return Rows(
            worth=(self.imputed * self.gain).sum(axis=1),
            user=np.arange(len(mass)),
            size=mass if kind == "mean" else None,
            total=np.full(len(mass), float(self.gain.shape[1])),
            mass=mass,
            logged=logged,
        )

    def with_gain(self, gain: Floats) -> "ImputedWorld":
        """The same world under another model."""
        return replace(self, gain=gain)


def random_imputed_world(rng: np.random.Generator, users: int = 5, items: int = 6) -> ImputedWorld:
    """Return a world with at least one positive row in the log."""
    shape = users, items
    relevant, observed = rng.random(shape) < 0.4, rng.random(shape) < 0.5
    relevant[0, 0] = observed[0, 0] = True
    return ImputedWorld(
        rng.random(shape), rng.uniform(0.02, 0.4, shape), rng.uniform(0.05, 1, shape), relevant, observed
    )


def dm_by_loops(world: ImputedWorld, kind: str = "mean") -> float:
    """Return sum q c over sum q, or over the number of users."""
    above = below = 0.0
    for q, c in zip(world.imputed.ravel().tolist(), world.gain.ravel().tolist(), strict=True):
        above += q * c
        below += q
    return above / (below if kind == "mean" else len(world.gain))


def snips_by_loops(world: ImputedWorld, kind: str = "mean") -> float:
    """Return the weighted mean over the observed positives; for a sum, times the expected number of relevant items."""
    above = below = 0.0
    for place in np.argwhere(world.observed & world.relevant).tolist():
        user, item = place
        above += world.gain[user, item] / world.chance[user, item]
        below += 1 / world.chance[user, item]
    return above / below * (1.0 if kind == "mean" else float(world.imputed.sum()) / len(world.gain))


def dr_by_loops(world: ImputedWorld, kind: str = "mean", cap: float = 10.0) -> float:
    """Return the direct method plus the weighted errors of observed rows."""
    places = np.argwhere(world.observed).tolist()
    weights = [1 / world.chance[user, item] for user, item in places]
    ordered, middle = sorted(weights), len(weights) // 2
    median = ordered[middle] if len(weights) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    weights = [min(weight, cap * median) for weight in weights]
    scale = world.gain.size / sum(weights)
    above, below = float(np.sum(world.imputed * world.gain)), float(np.sum(world.imputed))
    for weight, (user, item) in zip(weights, places, strict=True):
        error = scale * weight * (world.relevant[user, item] - world.imputed[user, item])
        above += error * world.gain[user, item]
        below += error
    return above / (below if kind == "mean" else len(world.gain))
