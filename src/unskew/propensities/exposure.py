"""`Exposure`: the chance that a candidate appears in the held-out part of a log, learnt from features of pairs."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions
from unskew.data.pairs import contains, pair_keys
from unskew.errors import ConfigError, PropensityError
from unskew.logistic import LogisticFit, fit_logistic, fold_of, sigmoid
from unskew.propensities.diagnostics import Diagnostics, diagnose, reliability_curve
from unskew.propensities.observed.covariates import hold_sides
from unskew.propensities.observed.logistic import Logistic
from unskew.propensities.observed.observation import SMALLEST, Cells, CellSample, ObservationModel, check_clip
from unskew.propensities.observed.tables import TableLike

__all__ = ["Exposure", "FittedExposure", "PairFeatures", "Regressed"]

SIDE_PENALTY = 20.0
"""The penalty of the products of side features; scikit-learn's C = 0.05."""


class PairFeatures(Protocol):
    """Numbers that describe a pair of a user and an item, from the training log alone."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature."""
        ...

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Features of these pairs, (pairs, features)."""
        ...

    def block(self, users: Ints, /) -> Floats:
        """Features of these users with every item, (users, items, features)."""
        ...


@dataclass(frozen=True)
class Exposure(ObservationModel, word="exposure"):
    r"""Which candidates appear in the held-out part of the log, by logistic regression on features of the pair.

    .. math::

       P_{sel}(u, i) = \sigma(b_0 + b \cdot f_{ui}), \qquad P = P_{sel}^{power}

    The features are from the training log, all of its rows, positive or not: :math:`\log(1 + n_i)`, the scores of
    `ease` and `item-knn`, and :math:`\log(1 + n_u)`. They are standardised. With side tables the products of user and
    item covariates are one further score, that of `logistic`. A pair is never scored by a regression that it was in:
    the pairs are divided into folds. Power 1 is the chance itself, and a smaller power weights less sharply.

    Parameters
    ----------
    power : float
        Exponent of the chance; 0.75 was the best of 0.5, 0.75 and 1 on simulated logs whose truth is known.
    users, items : path or frame, optional
        Side tables, as for `logistic`.
    regularisation : float
        That of `ease`.
    folds : int
    sample : int
        Largest number of pairs to fit; of more pairs, the observed ones and a weighted random sample of the others.
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    seed : int
        Seed of the folds and the sample.
    """

    power: float = 0.75
    users: TableLike | None = None
    items: TableLike | None = None
    regularisation: float = 100.0
    folds: int = 5
    sample: int = 200_000
    clip: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.users is not None or self.items is not None:
            hold_sides(self)
        if not 0 < self.power <= 2:
            raise ConfigError(f"power={self.power:g} must be above 0 and at most 2; 0.75 is the default, 1 the chance")
        if not 0 < self.regularisation < np.inf:
            raise ConfigError(f"regularisation={self.regularisation:g} must be above 0")
        if self.folds < 2:
            raise ConfigError(f"folds={self.folds} must be at least 2, so that no pair scores itself")
        if self.sample < 100:
            raise ConfigError(f"sample={self.sample} must be at least 100 pairs")
        check_clip(self.clip)

    def observe(self, observed: Interactions, *, seen: Interactions | None = None) -> "FittedExposure":  # type: ignore[override]
        """Fit with the features that need no model: the counts of `seen`, or of the log itself."""
        return self.observe_with(Counts(observed if seen is None else seen), observed, seen=seen)

    def observe_with(
        self, features: PairFeatures, observed: Interactions, *, seen: Interactions | None = None
    ) -> "FittedExposure":
        """Fit with given features; see `regress`."""
        return self.weighted(self.regress(features, observed, seen=seen))

    def weighted(self, regressed: "Regressed") -> "FittedExposure":
        """The chances of a regression to the power of this model, with their diagnostics."""
        return replace(regressed.fitted, power=self.power, clip=self.clip).diagnosed(regressed)

    def regress(
        self, features: PairFeatures, observed: Interactions, *, seen: Interactions | None = None
    ) -> "Regressed":
        """Fit the chance itself, which depends on neither `power` nor `clip`.

        Parameters
        ----------
        features : PairFeatures
        observed : Interactions
            The held-out rows, positive or not.
        seen : Interactions, optional
            Pairs that could not be held out.
        """
        cells = Cells.of(observed, seen)
        if len(cells.keys) == cells.count:
            raise PropensityError(f"{observed.name} has every candidate, so all propensities are 1; use aoa")
        if self.users is not None or self.items is not None:
            side = Logistic(
                users=self.users, items=self.items, penalty=SIDE_PENALTY, sample=self.sample, seed=self.seed
            )
            features = _WithSide(features, side.learn(cells)[0])
        rng = np.random.default_rng([self.seed, 18])
        pairs = cells.sample(self.sample + len(cells.keys), rng)
        columns = features.rows(pairs.users, pairs.items)
        total = float(pairs.weight.sum())
        weight = pairs.weight[:, None]
        mean = (weight * columns).sum(axis=0) / total
        spread = np.sqrt((weight * (columns - mean) ** 2).sum(axis=0) / total)
        scale = np.where(spread > 0, spread, 1.0)
        columns = (columns - mean) / scale
        outcome = pairs.observed.astype(float)
        fold = np.empty(len(outcome), np.int64)
        for kind in (pairs.observed, ~pairs.observed):  # every fold has its share of both
            fold[kind] = fold_of(int(kind.sum()), self.folds, rng)
        if not all(_both(outcome[fold != k]) for k in range(self.folds)):
            raise PropensityError(
                f"{observed.name}: {int(pairs.observed.sum())} held-out rows are too few for {self.folds} folds of "
                "exposure; use popularity"
            )
        fits = tuple(
            fit_logistic(columns[fold != k], outcome[fold != k], weight=pairs.weight[fold != k])
            for k in range(self.folds)
        )
        whole = fit_logistic(columns, outcome, weight=pairs.weight)
        _refuse_separation(whole.logits(columns), pairs.observed, observed.name)
        keys = pair_keys(pairs.users, pairs.items, observed.n_items)
        order = np.argsort(keys, kind="stable")
        fitted = FittedExposure(features, mean, scale, fits, whole, keys[order], fold[order], observed.n_items, 1.0)
        logits = np.empty(len(outcome))
        for k, fit in enumerate(fits):
            logits[fold == k] = fit.logits(columns[fold == k])
        return Regressed(fitted, cells, pairs, logits)


@dataclass(frozen=True, eq=False)
class Regressed:
    """A fitted regression of exposure, with what its diagnostics need.

    Parameters
    ----------
    fitted : FittedExposure
        With power 1, not diagnosed.
    cells : Cells
        All pairs that could have been held out.
    pairs : CellSample
        Those that were fitted.
    logits : array
        Of the fitted pairs, by the regression that did not see each.
    """

    fitted: "FittedExposure"
    cells: Cells
    pairs: CellSample
    logits: Floats


@dataclass(frozen=True, eq=False)
class FittedExposure:
    """A fitted exposure model; it is a probability if its power is 1, and known only up to scale otherwise."""

    features: PairFeatures
    mean: Floats
    scale: Floats
    fits: tuple[LogisticFit, ...]  # one per fold, without its pairs
    whole: LogisticFit  # of all pairs, for pairs that no fit used
    keys: Ints  # of the pairs that were fitted, ascending
    fold: Ints  # of these pairs
    n_items: int
    power: float
    clip: float = 0.0
    floor: float = SMALLEST
    largest: float = 1.0
    diagnostics: Diagnostics | None = None

    @property
    def absolute(self) -> bool:
        """Whether it is a probability."""
        return self.power == 1

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """P of each row, to the power; relative to the largest of a held-out row, unless it is a probability."""
        return np.clip(sigmoid(self.logits(users, items)) ** self.power / self.largest, self.floor, 1.0)

    def logits(self, users: Ints, items: Ints) -> Floats:
        """Log-odds of each pair by the regression that did not see it."""
        columns = (self.features.rows(users, items) - self.mean) / self.scale
        logits = self.whole.logits(columns)
        keys = pair_keys(users, items, self.n_items)
        fitted = contains(self.keys, keys)
        fold = self.fold[np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)]
        for k, fit in enumerate(self.fits):
            rows = fitted & (fold == k)
            logits[rows] = fit.logits(columns[rows])
        return logits

    def block_logits(self, users: Ints) -> Floats:
        """Log-odds of these users with every item, by the regression of all pairs, (users, items)."""
        return self.whole.logits((self.features.block(users) - self.mean) / self.scale)

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficient of each standardised feature, and the intercept."""
        named = zip(self.features.names, self.whole.slopes.tolist(), strict=True)
        return {"intercept": self.whole.intercept, **dict(named)}

    def diagnosed(self, regressed: Regressed) -> "FittedExposure":
        """The same with its scale, its floor and its diagnostics on the observed rows."""
        cells, pairs = regressed.cells, regressed.pairs
        chance = sigmoid(regressed.logits)
        if int(pairs.observed.sum()) == len(cells.keys):  # all held-out rows were fitted
            plain = chance[pairs.observed] ** self.power
        else:
            plain = self(cells.log.users, cells.log.items)
        largest = 1.0 if self.absolute else float(plain.max())
        plain = plain / largest
        floor = max(self.clip * float(plain.max()), SMALLEST)
        diagnostics = diagnose(
            np.clip(plain, floor, 1.0),
            cells.count if self.absolute else 0,
            clipped=int(np.sum(plain < floor)),
            reliability=reliability_curve(chance, pairs.observed, pairs.weight),
            reliability_of="pairs left out of the fit, fold by fold, before the power",
            absolute=self.absolute,
        )
        return replace(self, floor=floor, largest=largest, diagnostics=diagnostics)


@dataclass(frozen=True, eq=False)
class Counts:
    """The two features that need no model: how often the item occurs in a log, and how active the user is."""

    log: Interactions
    names: tuple[str, ...] = ("item count", "user activity")

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Features of these pairs."""
        return np.column_stack([np.log1p(self.log.item_counts[items]), np.log1p(self.log.user_counts[users])])

    def block(self, users: Ints, /) -> Floats:
        """Features of these users with every item."""
        shape = len(users), self.log.n_items
        items = np.broadcast_to(np.log1p(self.log.item_counts), shape)
        active = np.broadcast_to(np.log1p(self.log.user_counts[users])[:, None], shape)
        return np.stack([items, active], axis=2)


@dataclass(frozen=True, eq=False)
class _WithSide:
    """Features and the score of the side tables."""

    features: PairFeatures
    side: "_Linear"

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.features.names, "side tables")

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        return np.column_stack([self.features.rows(users, items), self.side.logits(users, items)])

    def block(self, users: Ints, /) -> Floats:
        inner = self.features.block(users)
        items = np.tile(np.arange(inner.shape[1]), len(users))
        scores = self.side.logits(np.repeat(users, inner.shape[1]), items)
        return np.concatenate([inner, scores.reshape(*inner.shape[:2], 1)], axis=2)


class _Linear(Protocol):
    def logits(self, users: Ints, items: Ints) -> Floats:
        """The linear predictor of each pair."""
        ...


def _both(outcome: Floats) -> bool:
    return bool(outcome.any() and not outcome.all())


def _refuse_separation(logits: Floats, observed: Bools, name: str) -> None:
    if float(logits[observed].min()) > float(logits[~observed].max()):
        raise PropensityError(
            f"{name}: the exposure model separates what was observed from what was not without error, so its weights "
            "mean nothing; are the held-out rows chosen by a rule, for instance one item per user? use popularity"
        )
