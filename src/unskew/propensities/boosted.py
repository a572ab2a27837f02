"""Propensities from covariates, by boosted trees."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.propensities.covariates import MOST_LEVELS, Covariates, hold_sides, read_sides
from unskew.propensities.diagnostics import reliability_curve
from unskew.propensities.logistic import ALL_PAIRS, check_sample, draw_pairs
from unskew.propensities.observation import (
    Cells,
    CellSample,
    FittedObservation,
    ObservationModel,
    check_clip,
    conclude,
)
from unskew.propensities.tables import TableLike

__all__ = ["Boosted", "FittedTrees"]

_FOLDS = 5
_AT_ONCE = 200_000


@dataclass(frozen=True)
class Boosted(ObservationModel, word="boosted"):
    r"""Gradient boosted trees on covariates of users and items, calibrated (after McCaffrey et al. 2004).

    Schnabel et al. (2016) name boosted regression as the next step after logistic regression. The trees are
    scikit-learn's histogram gradient boosting. Their scores s become probabilities :math:`\sigma(a s + b)` with a and b
    fitted to held-out pairs (Platt 1999).

    Parameters
    ----------
    users, items : path or frame, optional
        A column ``user`` or ``item`` and one a covariate; one of the two may be left out. Texts are categories.
    ids : bool
        Whether the ids themselves are categories too. Trees take at most 255, so of more ids those with most rows are
        told apart and the others go together.
    trees : int
        At most so many; fewer when held-out pairs stop getting likelier.
    leaves : int
        At most so many a tree.
    rate : float
        How much of each tree is added.
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    sample : int
        Of more pairs than these, the observed and a random sample of the others are fitted, with weights.
    seed : int
        Of the sample, of the folds and of the trees.
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
        users, items = hold_sides(self.users, self.items, self.word)
        object.__setattr__(self, "users", users)
        object.__setattr__(self, "items", items)
        for name, value, least in (("trees", self.trees, 1), ("leaves", self.leaves, 2)):
            if value < least:
                raise ConfigError(f"{name}={value} must be at least {least}")
        if not 0 < self.rate <= 1:
            raise ConfigError(f"rate={self.rate:g} must be above 0 and at most 1")
        check_sample(self.sample)
        check_clip(self.clip)

    def observe(self, observed: Interactions, *, seen: Interactions | None = None) -> FittedObservation:
        """Fit to all pairs, or to a weighted sample of very many."""
        cells = Cells.of(observed, seen)
        users, items, notes = read_sides(self.users, self.items, observed)
        pairs = draw_pairs(cells, self.sample, np.random.default_rng(self.seed))
        columns = _Columns.of(users, items, observed if self.ids else None)
        trees = FittedTrees(columns, self._fit(columns, pairs))
        curve = reliability_curve(trees(pairs.users, pairs.items, None), pairs.observed, pairs.weight)
        return conclude(trees, cells, clip=self.clip, reliability=curve, reliability_of=ALL_PAIRS, notes=notes)

    def _fit(self, columns: "_Columns", pairs: CellSample) -> Any:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.model_selection import StratifiedKFold

        fewest = int(min(pairs.observed.sum(), (~pairs.observed).sum()))
        trees = HistGradientBoostingClassifier(
            learning_rate=self.rate,
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            categorical_features=columns.categorical,
            early_stopping=fewest >= 10 * _FOLDS,  # else there is too little to hold out once more
            random_state=self.seed,
        )
        rows = columns.rows(pairs.users, pairs.items)
        if fewest < _FOLDS:
            return trees.fit(rows, pairs.observed, sample_weight=pairs.weight)
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=self.seed)
        calibrated = CalibratedClassifierCV(trees, method="sigmoid", cv=folds, ensemble=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of scores so far apart that the logistic overflows
            return calibrated.fit(rows, pairs.observed, sample_weight=pairs.weight)


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of users and of items side by side."""

    users: Floats
    items: Floats
    categorical: list[bool]

    @classmethod
    def of(cls, users: Covariates, items: Covariates, log: Interactions | None) -> "_Columns":
        """With the ids of a log as categories where one is given."""
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
    """Probabilities of a fitted classifier.

    Parameters
    ----------
    columns : _Columns
        The covariates by code.
    classifier : object
        A fitted scikit-learn classifier.
    """

    columns: _Columns
    classifier: Any

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """P of each pair."""
        parts = [
            self.classifier.predict_proba(
                self.columns.rows(users[start : start + _AT_ONCE], items[start : start + _AT_ONCE])
            )[:, 1]
            for start in range(0, len(users), _AT_ONCE)
        ]
        return np.concatenate([np.zeros(0), *parts])


def _categories(counts: Ints) -> Floats:
    """A category an id; beyond what trees can take, the rare ids share the last."""
    ranks = np.empty(len(counts))
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(ranks, MOST_LEVELS - 1)
