"""Estimates over many draws of what is observed, from sums by rating.

This is a faster road of `unskew.estimators`: P depends on the rating alone, so sums by rating are enough for all
estimates. `benchmarks/study_roads.py` prints how much faster it is, and a test compares the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from unskew.arrays import Floats, Ints, offsets_of
from unskew.metrics import MAE, MSE, DCGOfValues, RatingLoss
from unskew.progress import Stage, counted
from unskew.simulators import draw_observed, observation, prediction_matrices
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.stats import Gap
from unskew.studies.framework.study import Size
from unskew.studies.framework.trials import Key, Trials

CUTOFF = 50
DENSITY = Size(0.05)
"""Share of the cells that is observed in the paper's simulations."""
PANELS = {"MSE": "Estimates of MSE", "DCG": f"Estimates of DCG@{CUTOFF}"}
LOSSES: Mapping[str, RatingLoss] = {"MAE": MAE(), "MSE": MSE()}


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of all cells, sorted by rating.

    `cells` counts the cells of each rating; a column of `values` is a metric of a prediction, as in `names`.
    """

    cells: Ints
    names: tuple[tuple[str, str], ...]
    values: Floats

    @classmethod
    def of(cls, ratings: Ints, metrics: tuple[str, ...], rng: np.random.Generator) -> "Losses":
        """Losses of the five predictions."""
        order = np.argsort(ratings, axis=None, kind="stable")
        stars = ratings.astype(float)
        matrices = prediction_matrices(ratings, rng)
        names = tuple((metric, matrix) for metric in metrics for matrix in matrices)
        values = np.empty((ratings.size, len(names)))
        for column, (metric, matrix) in enumerate(names):
            predicted = matrices[matrix]
            loss = _dcg(ratings, predicted, rng) if metric == "DCG" else LOSSES[metric].loss(stars, predicted)
            values[:, column] = loss.ravel()[order]
        return cls(np.bincount(ratings.ravel(), minlength=6)[1:], names, values)

    @property
    def truth(self) -> Floats:
        """The true risk of each column."""
        return np.asarray(self.values.mean(axis=0))

    def columns(self, metric: str) -> Ints:
        """Where a metric's columns are, in the order of the predictions."""
        return np.flatnonzero([name == metric for name, _ in self.names])

    def by_rating(self, power: int = 1) -> Floats:
        """Sum over the cells of each rating of the loss to a power."""
        starts = offsets_of(self.cells)
        parts = (self.values[a:b] for a, b in pairwise(starts))
        return np.array([(part**power).sum(axis=0) for part in parts])

    def draw(self, chance: Floats, trials: int, rng: np.random.Generator, progress: Stage | None = None) -> "Draws":
        """Observe each cell with the chance of its rating, again and again."""
        propensity = np.repeat(chance, self.cells)
        ends = np.cumsum(self.cells)
        counts, sums = np.zeros((trials, 5)), np.zeros((trials, 5, len(self.names)))
        for trial in counted(progress, "trials", range(trials)):
            rows = np.flatnonzero(draw_observed(propensity, rng))
            cuts = np.concatenate([[0], np.searchsorted(rows, ends)])
            counts[trial] = np.diff(cuts)
            for star, (a, b) in enumerate(pairwise(cuts)):
                sums[trial, star] = self.values[rows[a:b]].sum(axis=0)
        return Draws(int(self.cells.sum()), counts, sums)


@dataclass(frozen=True, eq=False)
class Draws:
    r"""What was observed in each trial, summed by rating; every estimate is a function of these sums.

    `size` is users times items; `counts` (trials, 5) and `sums` (trials, 5, columns) are what was observed.
    """

    size: int
    counts: Floats
    sums: Floats

    def naive(self) -> Floats:
        """Mean loss of what was observed, one row per trial."""
        return np.asarray(self.sums.sum(axis=1) / self.counts.sum(axis=1)[:, None])

    def ips(self, chance: Floats) -> Floats:
        r"""Inverse propensity scoring, :math:`\frac{1}{UI} \sum_r S_r / P_r`; P by rating, or by trial and rating."""
        return np.asarray(np.einsum("tr,trc->tc", self._weights(chance), self.sums) / self.size)

    def snips(self, chance: Floats) -> Floats:
        r"""Self-normalised: :math:`\sum_r S_r / P_r \big/ \sum_r n_r / P_r`."""
        weights = self._weights(chance)
        return np.asarray(np.einsum("tr,trc->tc", weights, self.sums) / (weights * self.counts).sum(axis=1)[:, None])

    def naive_bayes(self, sample: Ints, smoothing: float = 1.0) -> Floats:
        r"""P of each rating in each trial, :math:`P(r \mid O) P(O) / P(r)`, at most 1."""
        share = (sample + smoothing) / (sample + smoothing).sum(axis=1, keepdims=True)
        return np.asarray(np.minimum(self.counts / self.size / share, 1.0))

    def _weights(self, chance: Floats) -> Floats:
        """1/P; of a rating that was not observed, whose sums are zero, anything."""
        inverse = 1 / np.where(chance > 0, chance, 1.0)
        return np.broadcast_to(inverse, self.counts.shape)


def chances(ratings: Ints, alpha: float, density: float = DENSITY.full) -> Floats:
    """P of one to five stars in the paper's observation model; of a rating that no cell has, not a number."""
    propensity = observation(ratings, alpha, density)
    by_stars = np.full(6, np.nan)
    by_stars[ratings.ravel()] = propensity.ravel()
    return by_stars[1:]


def squared_errors(losses: Losses, estimates: Mapping[str, Floats], place: float) -> dict[Key, Floats]:
    """The squared error of each draw, which is the mean over the predictions, by metric, estimator and place."""
    errors = {}
    for metric in PANELS:
        at = losses.columns(metric)
        for name, values in estimates.items():
            errors[metric, name, place] = ((values[:, at] - losses.truth[at]) ** 2).mean(axis=1)
    return errors


def rmse(squared: Floats) -> tuple[float, float]:
    """Root of the mean of squared errors, one per draw, and its standard error over draws."""
    root = float(np.sqrt(squared.mean()))
    error = float(squared.std(ddof=1) / np.sqrt(len(squared)))
    return root, error / (2 * root) if root > 0 else 0.0


def relative_errors(
    trials: Trials, names: Sequence[str], places: Sequence[float]
) -> dict[tuple[str, str], list[float]]:
    """RMSE of estimators relative to Naive's at each place, by metric and estimator."""
    return {
        (metric, name): [rmse(trials[metric, name, x])[0] / rmse(trials[metric, "Naive", x])[0] for x in places]
        for metric in PANELS
        for name in names
    }


def advantages(
    trials: Trials, names: Sequence[str], places: Sequence[float], factor: float = 1.0
) -> dict[tuple[str, str, float], Gap]:
    """Naive's squared error less the estimators', paired by draw, by metric, estimator and place.

    The estimators' squared errors are multiplied by the square of `factor`: a gap above 0 says that their RMSE is
    smaller than Naive's by more than this factor.
    """
    return {
        (metric, name, x): Gap.of(trials[metric, "Naive", x], factor**2 * trials[metric, name, x])
        for metric in PANELS
        for name in names
        for x in places
    }


def rmse_figure(trials: Trials, title: str, x_label: str, note: str) -> Figure:
    """Errors of the estimators over the last dimension of the trials, one panel per metric."""
    x = trials.levels(trials.dims[-1])

    def series(metric: str, name: str) -> Series:
        roots, errors = zip(*(rmse(trials[metric, name, place]) for place in x), strict=True)
        return Series.of(name, x, roots, errors, naive=name == "Naive")

    names = trials.levels("estimator")
    panels = tuple(Panel(label, tuple(series(metric, name) for name in names)) for metric, label in PANELS.items())
    return Figure(title, x_label, panels, log_x=True, log_y=True, note=note)


def _dcg(ratings: Ints, predicted: Floats, rng: np.random.Generator) -> Floats:
    r"""The loss of a cell whose mean over cells is DCG@50: :math:`I \cdot Y / \log_2(rank + 1)`, 0 beyond the cut-off.

    Ties are in a random order, the same in all trials, as in the authors' program; the mean over all orders would
    hardly move the values but make their spread over trials several times smaller.
    """
    order = np.lexsort((rng.random(predicted.shape), -predicted), axis=1)
    above = np.empty_like(order)
    np.put_along_axis(above, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
    gain = (DCGOfValues() @ CUTOFF).gain(above, np.full_like(above, above.shape[1]))
    return np.asarray(gain * ratings * ratings.shape[1])
