"""Propensities from covariates, by logistic regression."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.blas import one_thread
from unskew.data import Interactions
from unskew.errors import ConfigError, PropensityError
from unskew.logistic import sigmoid
from unskew.propensities.diagnostics import reliability_curve
from unskew.propensities.observed.covariates import hold_sides, read_sides
from unskew.propensities.observed.design import Grouped, PairDesign, group_cells, never_observed
from unskew.propensities.observed.logistic_path import LinearFit, LogisticPath
from unskew.propensities.observed.observation import (
    Cells,
    CellSample,
    FittedObservation,
    ObservationModel,
    check_clip,
    conclude,
)
from unskew.propensities.observed.tables import TableLike

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["FittedLinear", "Logistic"]

_FOLDS = 5
MOST_PRODUCTS = 4e7  # products of covariates in memory, about 2 GB

ALL_PAIRS = "all pairs that could have been observed"


@dataclass(frozen=True)
class Logistic(ObservationModel, word="logistic"):
    r"""Logistic regression on covariates of users and items and all their pairs (Schnabel et al. 2016, section 5.1).

    .. math:: P(O_{ui} = 1) = \sigma\bigl(c + w \cdot (x_u, x_i, x_u \otimes x_i) + \beta_i + \gamma_u\bigr)

    Zeros and ones and texts become indicators, other numbers are standardised. The coefficients have an L2 penalty,
    chosen by cross-validated log-likelihood, and the solver is scikit-learn's. The offsets are optional: if each user
    has few rows, or the same number of rows, they nearly saturate.

    Parameters
    ----------
    users, items : path or frame, optional
        A column ``user`` or ``item`` and one column per covariate; one of the two tables may be left out.
    penalty : float, optional
        The penalty :math:`\lambda / 2 \|w\|^2` added to the sum of log-losses; by default chosen by cross-validation.
    offsets : bool
        Whether each user and each item has an offset.
    offset_penalty : float
        The penalty of the offsets, of the same form.
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    sample : int
        Largest number of pairs to fit; of more pairs, the observed ones and a weighted random sample of the others.
    seed : int
        Seed of the sample and the folds.
    """

    users: TableLike | None = None
    items: TableLike | None = None
    penalty: float | None = None
    offsets: bool = False
    offset_penalty: float = 10.0
    clip: float = 0.0
    sample: int = 1_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        hold_sides(self)
        for name, value in (("penalty", self.penalty), ("offset-penalty", self.offset_penalty)):
            if value is not None and not 0 < value < np.inf:
                raise ConfigError(f"{name}={value:g} must be above 0; for almost no penalty use a small number")
        check_sample(self.sample)
        check_clip(self.clip)

    def observe(self, observed: Interactions, *, seen: Interactions | None = None) -> FittedObservation:
        """Fit to all pairs, or to a weighted sample if there are very many."""
        cells = Cells.of(observed, seen)
        linear, pairs, notes = self.learn(cells)
        curve = reliability_curve(linear(pairs.users, pairs.items, None), pairs.observed, pairs.weight)
        return conclude(linear, cells, clip=self.clip, reliability=curve, reliability_of=ALL_PAIRS, notes=notes)

    def learn(self, cells: Cells) -> tuple["FittedLinear", CellSample, tuple[str, ...]]:
        """The fitted probabilities, the pairs that were fitted, and reasons for doubt."""
        import sklearn.linear_model  # noqa: F401  # so that what it loads is kept to one thread

        with one_thread():
            return self._learn(cells)

    def _learn(self, cells: Cells) -> tuple["FittedLinear", CellSample, tuple[str, ...]]:
        users, items, notes = read_sides(self.users, self.items, cells.log)
        rng = np.random.default_rng(self.seed)
        design = PairDesign.of(users, items)
        most, more = self._affordable(design, cells)
        pairs = draw_pairs(cells, most, rng)
        groups = self._group(design, pairs, cells.log, rng)
        rows = design.rows(groups.users, groups.items)[:, 1:]
        path = LogisticPath(rows, groups)
        if self.offsets:
            extended, count = _with_offsets(rows, groups, cells.log)
            path = LogisticPath(extended, groups, count, self.offset_penalty)
        several = groups.weight.shape[1] > 1
        fit = path.choose() if self.penalty is None and several else path.fit(self.penalty or 1.0)
        linear = FittedLinear.of(design, fit, cells.log if self.offsets else None)
        doubts = never_observed(users, items, pairs) or _doubts(linear, groups)
        slow = () if fit.converged else ("logistic regression did not converge; its propensities are approximate",)
        return linear, pairs, (*notes, *more, *doubts, *slow)

    def _affordable(self, design: PairDesign, cells: Cells) -> tuple[int, tuple[str, ...]]:
        """How many pairs can be fitted in memory, and a note if that is fewer than `sample`."""
        products = design.users.nnz / design.users.shape[0] * design.items.nnz / design.items.shape[0]
        told_apart = np.inf if self.offsets else 2 * design.users.shape[0] * design.items.shape[0]
        if min(self.sample, cells.count, told_apart) * products <= MOST_PRODUCTS:
            return self.sample, ()
        most = max(1000, int(MOST_PRODUCTS // products))
        note = (
            f"a pair has {products:.0f} products of covariates on average, so the fit uses a sample of {most:,} "
            "pairs to save memory; with fewer covariates it can use more"
        )
        return most, (note,)

    def _group(self, design: PairDesign, pairs: CellSample, log: Interactions, rng: np.random.Generator) -> Grouped:
        folds = min(_FOLDS, int(pairs.observed.sum()), int((~pairs.observed).sum()))
        fold = np.zeros(len(pairs.users), np.int64)
        for outcome in (pairs.observed, ~pairs.observed):  # every fold has its share of both outcomes
            fold[outcome] = rng.permutation(int(outcome.sum())) % folds
        if self.offsets:  # no two pairs are the same then
            return group_cells(pairs, np.arange(log.n_users), np.arange(log.n_items), fold, folds)
        return group_cells(pairs, design.user_profile, design.item_profile, fold, folds)


@dataclass(frozen=True, eq=False)
class FittedLinear:
    """Probabilities of a logistic regression.

    Parameters
    ----------
    design : PairDesign
        The covariates.
    fit : LinearFit
        The coefficients.
    user_offsets, item_offsets : array
        By code; zero without offsets.
    """

    design: PairDesign
    fit: LinearFit
    user_offsets: Floats
    item_offsets: Floats

    @classmethod
    def of(cls, design: PairDesign, fit: LinearFit, log: Interactions | None) -> "FittedLinear":
        """The fit, with the offsets of users and items separated from the other coefficients."""
        n_users, n_items = (0, 0) if log is None else (log.n_users, log.n_items)
        if log is None:
            zeros = np.zeros(len(design.user_profile)), np.zeros(len(design.item_profile))
            return cls(design, fit, *zeros)
        offsets = fit.coefficients[-(n_users + n_items) :]
        return cls(design, fit, offsets[:n_users], offsets[n_users:])

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """P of each pair."""
        return sigmoid(self.logits(users, items))

    def logits(self, users: Ints, items: Ints) -> Floats:
        """The linear predictor of each pair."""
        width = self.design.users.shape[1] * self.design.items.shape[1]
        covariates = self.design.logits(self.fit.coefficients[:width], users, items)
        return np.asarray(covariates + self.user_offsets[users] + self.item_offsets[items])


def check_sample(sample: int) -> None:
    """Refuse a sample too small to fit anything."""
    if sample < 100:
        raise ConfigError(f"sample={sample} must be at least 100 pairs")


def draw_pairs(cells: Cells, sample: int, rng: np.random.Generator) -> CellSample:
    """The pairs to fit; some must be observed and some not."""
    if len(cells.keys) == cells.count:
        raise PropensityError(f"{cells.log.name} has every pair, so all propensities are 1; use aoa, which needs none")
    return cells.sample(sample, rng)


def _with_offsets(
    rows: "sparse.csr_array[Any, Any]", groups: Grouped, log: Interactions
) -> tuple["sparse.csr_array[Any, Any]", int]:
    from scipy import sparse

    n = len(groups.users)
    ones, places = np.ones(n), np.arange(n)
    of_users = sparse.csr_array((ones, (places, groups.users)), shape=(n, log.n_users))
    of_items = sparse.csr_array((ones, (places, groups.items)), shape=(n, log.n_items))
    return sparse.csr_array(sparse.hstack([rows, of_users, of_items])), log.n_users + log.n_items


def _doubts(linear: FittedLinear, groups: Grouped) -> tuple[str, ...]:
    logits = linear.logits(groups.users, groups.items)
    if logits[groups.observed].min() <= logits[~groups.observed].max():
        return ()
    note = (
        "the covariates separate observed pairs from all others exactly (separable data), so propensities depend "
        "on the penalty alone; no weighting can replace pairs that are never observed"
    )
    return (note,)
