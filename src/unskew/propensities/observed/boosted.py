"""Propensities from covariates, by boosted trees."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.blas import one_thread
from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.logistic import sigmoid
from unskew.propensities.diagnostics import reliability_curve
from unskew.propensities.observed.covariates import MOST_LEVELS, Covariates, hold_sides, read_sides
from unskew.propensities.observed.design import never_observed
from unskew.propensities.observed.logistic import check_sample, draw_pairs
from unskew.propensities.observed.observation import (
    Cells,
    CellSample,
    FittedObservation,
    ObservationModel,
    check_clip,
    conclude,
)
from unskew.propensities.observed.tables import TableLike

__all__ = ["Boosted", "FittedTrees"]

_FOLDS = 5
_AT_ONCE = 200_000
_ENOUGH = 50  # pairs of either outcome that early stopping on a tenth of them needs
_HARDLY_PENALISED = 1e4

HELD_OUT = "all pairs that could have been observed, each held out from the trees that predict it"


@dataclass(frozen=True)
class Boosted(ObservationModel, word="boosted"):
    r"""Gradient boosted trees on covariates of users and items, cross-fitted and calibrated.

    Schnabel et al. (2016) name boosted regression as the next step after logistic regression; it was brought to
    propensities by McCaffrey et al. (2004). The trees are scikit-learn's histogram gradient boosting. Because trees
    overfit the pairs they were fitted to, pairs are split into five folds, and each pair is predicted by trees that
    were not fitted to its fold (Chernozhukov et al. 2018). The resulting scores s become probabilities :math:`\sigma(a
    s + b)` with a and b fitted to all of them (Platt 1999).

    Parameters
    ----------
    users, items : path or frame, optional
        A column ``user`` or ``item`` and one column per covariate; one of the two tables may be left out. Texts are
        categories.
    ids : bool
        Whether the ids are categories too. Trees take at most 255, so of more ids only those with the most rows have
        their own category, and the others share one.
    trees : int
        Largest number of trees; fewer if the likelihood of held-out pairs stops rising.
    leaves : int
        Largest number of leaves per tree.
    rate : float
        Learning rate.
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    sample : int
        Largest number of pairs to fit; of more pairs, the observed ones and a weighted random sample of the others.
    seed : int
        Seed of the sample, the folds and the trees.
    """

    users: TableLike | None = None
    items: TableLike | None = None
    ids: bool = False
    trees: int = 200
    leaves: int = 15
    rate: float = 0.1
    clip: float = 0.0
    sample: int = 1_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        hold_sides(self)
        for name, value, least in (("trees", self.trees, 1), ("leaves", self.leaves, 2)):
            if value < least:
                raise ConfigError(f"{name}={value} must be at least {least}")
        if not 0 < self.rate <= 1:
            raise ConfigError(f"rate={self.rate:g} must be above 0 and at most 1")
        check_sample(self.sample)
        check_clip(self.clip)

    def observe(self, observed: Interactions, *, seen: Interactions | None = None) -> FittedObservation:
        """Fit to all pairs, or to a weighted sample if there are very many."""
        import sklearn.ensemble  # noqa: F401  # so that what it loads is kept to one thread

        with one_thread():
            return self._observe(observed, seen)

    def _observe(self, observed: Interactions, seen: Interactions | None) -> FittedObservation:
        cells = Cells.of(observed, seen)
        users, items, notes = read_sides(self.users, self.items, observed)
        pairs = draw_pairs(cells, self.sample, np.random.default_rng(self.seed))
        columns = _Columns.of(users, items, observed if self.ids else None)
        trees = self._calibrate(FittedTrees(columns, self._fit(columns, pairs), self.seed), pairs)
        curve = reliability_curve(trees(pairs.users, pairs.items, None), pairs.observed, pairs.weight)
        notes += never_observed(users, items, pairs)
        return conclude(trees, cells, clip=self.clip, reliability=curve, reliability_of=HELD_OUT, notes=notes)

    def _fit(self, columns: "_Columns", pairs: CellSample) -> tuple[Any, ...]:
        """Trees for each fold, fitted to the other folds."""
        fold = _fold(pairs.users, pairs.items, self.seed)
        return tuple(self._grow(columns, pairs, fold != held_out) for held_out in range(_FOLDS))

    def _grow(self, columns: "_Columns", pairs: CellSample, kept: Bools) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        if len(np.unique(pairs.observed[kept])) < 2:  # too few pairs to hold any out
            kept = np.ones(len(kept), bool)
        observed = pairs.observed[kept]
        trees = HistGradientBoostingClassifier(
            learning_rate=self.rate,
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            categorical_features=columns.categorical,
            early_stopping=min(observed.sum(), (~observed).sum()) >= _ENOUGH,
            random_state=self.seed,
        )
        rows = columns.rows(pairs.users[kept], pairs.items[kept])
        return trees.fit(rows, observed, sample_weight=pairs.weight[kept])

    def _calibrate(self, trees: "FittedTrees", pairs: CellSample) -> "FittedTrees":
        from sklearn.linear_model import LogisticRegression

        scores = trees.scores(pairs.users, pairs.items)
        # a tiny penalty, which keeps separable scores finite
        platt = LogisticRegression(C=_HARDLY_PENALISED, tol=1e-8, max_iter=1000)
        platt.fit(scores[:, None], pairs.observed, sample_weight=pairs.weight)
        return replace(trees, slope=float(platt.coef_[0, 0]), level=float(platt.intercept_[0]))


@dataclass(frozen=True, eq=False)
class _Columns:
    """The covariates of users and of items."""

    users: Floats
    items: Floats
    categorical: list[bool]

    @classmethod
    def of(cls, users: Covariates, items: Covariates, log: Interactions | None) -> "_Columns":
        """The covariates, with the ids of a log as categories if one is given."""
        tables = [users.table, items.table]
        kinds = [[bool(column.levels) for column in side.columns] for side in (users, items)]
        if log is not None:
            for place, counts in enumerate((log.user_counts, log.item_counts)):
                tables[place] = np.column_stack([tables[place], _categories(counts)])
                kinds[place].append(True)
        return cls(tables[0], tables[1], kinds[0] + kinds[1])

    def rows(self, users: Ints, items: Ints) -> Floats:
        return np.hstack([self.users[users], self.items[items]])


@dataclass(frozen=True, eq=False)
class FittedTrees:
    """Probabilities of boosted trees.

    Parameters
    ----------
    columns : _Columns
        The covariates by code.
    by_fold : tuple
        Fitted scikit-learn classifiers, each for the pairs of a fold that it was not fitted to.
    seed : int
        Seed that assigns pairs to folds.
    slope, level : float
        Slope and constant of the calibration.
    """

    columns: _Columns
    by_fold: tuple[Any, ...]
    seed: int
    slope: float = 1.0
    level: float = 0.0

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """P of each pair."""
        return sigmoid(self.slope * self.scores(users, items) + self.level)

    def scores(self, users: Ints, items: Ints) -> Floats:
        """The log-odds of each pair before calibration."""
        scores = np.empty(len(users))
        fold = _fold(users, items, self.seed)
        for held_out, trees in enumerate(self.by_fold):
            rows = np.flatnonzero(fold == held_out)
            for part in np.split(rows, range(_AT_ONCE, len(rows), _AT_ONCE)):
                if len(part):
                    scores[part] = trees.decision_function(self.columns.rows(users[part], items[part]))
        return scores


def _fold(users: Ints, items: Ints, seed: int) -> Ints:
    """The fold of each pair, pseudo-random and reproducible (the mixer of SplitMix64)."""
    mixed = (users.astype(np.uint64) << np.uint64(32)) + items.astype(np.uint64) + np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed ^ (mixed >> np.uint64(31))) % np.uint64(_FOLDS)).astype(np.int64)


def _categories(counts: Ints) -> Floats:
    """One category per id; beyond the limit of trees, the rare ids share the last one."""
    ranks = np.empty(len(counts))
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(ranks, MOST_LEVELS - 1)
