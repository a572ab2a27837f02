"""The variational posterior of the ordinal factorisations of `hl_fit`, and the bound on their evidence."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unskew.arrays import Floats, Ints, SeedLike
from unskew.data.pairs import pair_keys
from unskew.models.ratings.rating_model import Rated

NODES = 5  # of the Gauss-Hermite rule over the score of a pair
FARTHEST = 30.0  # largest logarithm of a variance or of a gap between thresholds

# the inverse gamma prior of each variance, and the variances of the normal priors of thresholds and effects
SHAPE, SCALE = 1.0, 0.1
THRESHOLD_VARIANCE, EFFECT_VARIANCE = 1.0, 4.0


class Block(NamedTuple):
    """Independent normal posteriors, one row per user or item."""

    means: Floats
    variances: Floats

    @property
    def prior(self) -> Floats:
        """The variance of the prior of each column that suits these posteriors best."""
        squares = np.sum(self.means**2 + self.variances, axis=0)
        return np.asarray((2 * SCALE + squares) / (len(self.means) + 2 * SHAPE + 2))

    def divergence(self, prior: Floats) -> tuple[float, Floats, Floats]:
        """The divergence from priors of these variances, minus their log density, and its slopes."""
        n, squares = len(self.means), 2 * SCALE + np.sum(self.means**2 + self.variances, axis=0)
        value = np.sum((n + 2 * SHAPE + 2) * np.log(prior) + squares / prior - n) - np.sum(np.log(self.variances))
        return 0.5 * float(value), self.means / prior, 0.5 * (1 / prior - 1 / self.variances)


@dataclass(frozen=True, eq=False)
class Posterior:
    """All that is learnt: blocks of tastes (users, items) and of habits, thresholds, and the effect of each level.

    A row of tastes has d factors and an offset; a row of habits also has the effect of each level. Without habits
    ratings are missing at random.
    """

    tastes: tuple[Block, Block]
    habits: tuple[Block, ...]
    thresholds: Floats
    effects: Floats

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Tastes, then habits."""
        return (*self.tastes, *self.habits)

    def packed(self) -> Floats:
        """All in one array without bounds: means, logarithms of variances, first threshold, logarithms of gaps."""
        parts = [part for block in self.blocks for part in (block.means, np.log(block.variances))]
        gaps = (self.thresholds[:1], np.log(np.diff(self.thresholds)))
        return np.concatenate([np.ravel(part) for part in (*parts, *gaps, self.effects)])

    def unpacked(self, point: Floats) -> "Posterior":
        """The posterior of the same shape that an array holds."""
        blocks, at = [], 0
        for block in self.blocks:
            size, shape = block.means.size, block.means.shape
            mean, spread = point[at : at + size].reshape(shape), point[at + size : at + 2 * size].reshape(shape)
            blocks.append(Block(mean, np.exp(np.clip(spread, -FARTHEST, FARTHEST))))
            at += 2 * size
        rest = point[at:]
        n = len(self.thresholds)
        thresholds = (
            np.cumsum(np.concatenate([rest[:1], np.exp(np.clip(rest[1:n], -FARTHEST, FARTHEST))])) if n else rest[:0]
        )
        return Posterior((blocks[0], blocks[1]), tuple(blocks[2:]), thresholds, rest[n:])


class Pairs(NamedTuple):
    """Pairs of the likelihood: the level of the rating, -1 if it is missing, and how many pairs a row represents."""

    users: Ints
    items: Ints
    levels: Ints
    weights: Floats

    @classmethod
    def of(cls, rated: Rated, levels: Ints, sample: int, hidden: Rated | None, rng: SeedLike) -> "Pairs":
        """The rated pairs, and `sample` of the others, or all if these are not more. Hidden pairs are left out."""
        cells = rated.n_users * rated.n_items
        used = pair_keys(rated.users, rated.items, rated.n_items)
        if hidden is not None:
            used = np.union1d(used, pair_keys(hidden.users, hidden.items, rated.n_items))
        free = cells - len(used)
        size = min(sample, free)
        whole = size == free
        ranks = np.arange(free) if whole else np.sort(np.random.default_rng(rng).choice(free, size, replace=False))
        # the r-th free cell: used cells before it move it up
        keys = ranks + np.searchsorted(np.sort(used) - np.arange(len(used)), ranks, side="right")
        places = np.divmod(keys, rated.n_items)
        return cls(
            np.concatenate([rated.users, places[0]]),
            np.concatenate([rated.items, places[1]]),
            np.concatenate([levels, np.full(size, -1)]),
            np.concatenate([np.ones(len(rated)), np.full(size, free / max(size, 1))]),
        )


@dataclass(frozen=True, eq=False)
class Bound:
    """The negative of the bound on the evidence at a point, with its gradient, for a minimiser."""

    pairs: Pairs
    shape: Posterior
    base: Floats
    """The centre of the prior of thresholds."""
    held: float | None = None
    """The prior variance of factors, if it is not learnt."""

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Value and gradient."""
        from unskew.models.ratings.hl_kernel import bound_and_slopes

        state = self.shape.unpacked(point)
        flat = [np.ascontiguousarray(part) for block in state.blocks for part in block]
        slopes = [np.zeros_like(part) for part in flat]
        none = np.zeros((1, 1))  # never read
        threshold_slopes, effect_slopes = np.zeros(len(state.thresholds)), np.zeros(len(state.effects))
        factors = state.tastes[0].means.shape[1] - 1
        value = bound_and_slopes(
            *self.pairs,
            factors,
            state.thresholds,
            state.effects,
            _four(flat[:4]),
            _four(flat[4:] or [none] * 4),
            _four(slopes[:4]),
            _four(slopes[4:] or [none] * 4),
            threshold_slopes,
            effect_slopes,
            *_RULE,
        )
        parts = []
        for k, block in enumerate(state.blocks):
            prior = block.prior
            if self.held is not None:
                prior[:factors] = self.held
            divergence, of_means, of_variances = block.divergence(prior)
            value -= divergence
            parts += [slopes[2 * k] - of_means, (slopes[2 * k + 1] - of_variances) * block.variances]
        away, apart = state.thresholds - self.base, state.effects - state.effects.sum() / max(len(state.effects), 1)
        value -= float(away @ away) / (2 * THRESHOLD_VARIANCE) + float(apart @ apart) / (2 * EFFECT_VARIANCE)
        threshold_slopes -= away / THRESHOLD_VARIANCE
        effect_slopes -= apart / EFFECT_VARIANCE
        # a gap moves all thresholds above it
        above = np.cumsum(threshold_slopes[::-1])[::-1]
        above[1:] *= np.diff(state.thresholds)
        parts += [above, effect_slopes]
        return -value, -np.concatenate([np.ravel(part) for part in parts])


def _four(arrays: list[Floats]) -> tuple[Floats, Floats, Floats, Floats]:
    first, second, third, fourth = arrays
    return first, second, third, fourth


def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, weights / weights.sum()


_RULE = _rule()
