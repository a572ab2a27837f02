"""`SliceReport`: what a slice of random rows says about each estimate without it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from unskew.arrays import Floats, gram
from unskew.estimators import Snips, Terms
from unskew.estimators.imputed import Shrunk, SlicedMetric, hotelling
from unskew.evaluation.collecting.imputed import Imputed
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.slice_draw import DrawTest
from unskew.evaluation.fitting.relevance import Relevance
from unskew.metrics import AnyMetric
from unskew.propensities import Popularity


@dataclass(frozen=True)
class SlicedEstimate:
    """One metric by `blend` with a slice: what it is made of, and what the log and the slice alone say."""

    metric: str
    estimator: str
    level_weights: tuple[float, ...]  # of imputation, of the log's rows if it has any, and of the slice, in the level
    difference_weights: tuple[float, ...]  # the same in the differences between models
    design_effect: float
    slice_alone: tuple[float, ...]  # the one-step estimate of each model
    log_alone: tuple[tuple[float, ...], ...]  # the estimates of each model by imputation, and by the log's rows


@dataclass(frozen=True)
class Refutation:
    """Hotelling's test of an estimate of all models against the slice."""

    metric: str
    method: str  # naive, popularity or exposure
    p_value: float


@dataclass(frozen=True)
class SliceReport:
    """The slice of a run."""

    rows: int
    positives: int
    draw: DrawTest
    models: tuple[str, ...]
    estimates: tuple[SlicedEstimate, ...]
    refutations: tuple[Refutation, ...]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


Compared: TypeAlias = Mapping[tuple[str, str], tuple[AnyMetric, SlicedMetric]]
"""The metrics that are compared with a slice, by the words of metric and estimator."""


def shrink_all(compared: Compared) -> dict[tuple[str, str], Shrunk]:
    """Shrink every metric towards the slice, with one design effect per estimator.

    The effect is the mean over metrics without a cut-off, because few rows of a slice are hits of a short list; over
    all metrics if each has one.
    """
    shrunk = {}
    for words, (_, sliced) in compared.items():
        same = [pair for other, pair in compared.items() if other[1] == words[1]]
        broad = [other for metric, other in same if metric.cutoff is None] or [other for _, other in same]
        shrunk[words] = sliced.shrunk(float(np.mean([other.design_effect for other in broad])))
    return shrunk


def report_slice(sample: Imputed, compared: Compared, shrunk: Mapping[tuple[str, str], Shrunk]) -> SliceReport:
    """Test every method without random rows against the slice."""
    assert sample.drawn is not None
    estimates, refutations = [], []
    tested: set[str] = set()
    for (name, estimator), (metric, sliced) in compared.items():
        estimate = shrunk[name, estimator]
        noise = estimate.noise
        effect = float(np.trace(noise) / max(float(np.trace(sliced.variance)), 1e-300))
        estimates.append(
            SlicedEstimate(
                name,
                estimator,
                tuple(estimate.weights[0].tolist()),
                tuple(estimate.weights[1].tolist()),
                effect,
                tuple(sliced.one_step.tolist()),
                tuple(tuple(source.tolist()) for source in sliced.sources),
            )
        )
        if metric.kind == "mean" and name not in tested:
            tested.add(name)
            for method, chance in _weights(sample, sample.relevance).items():
                value, spread = _weighted(sample, metric, chance)
                p = hotelling(value - sliced.one_step, noise + spread, sliced.positives)
                refutations.append(Refutation(name, method, p))
    drawn = sample.drawn
    return SliceReport(
        len(drawn.rows.label), drawn.positives, drawn.draw, tuple(sample.ranks), tuple(estimates), tuple(refutations)
    )


def _weights(sample: Imputed, relevance: Relevance) -> dict[str, Floats]:
    """Chances of the held-out positives by each method."""
    popularity = Popularity().fit(sample.train, sample.split.test)
    users, items = sample.row_users, sample.items
    chances = {"naive": np.ones(sample.rows), "popularity": popularity(users, items)}
    if relevance.exposure is not None:
        chances["exposure"] = relevance.exposure(users, items)
    return chances


def _weighted(sample: Imputed, metric: AnyMetric, chance: Floats) -> tuple[Floats, Floats]:
    """The weighted means of all models, and their covariance over users."""
    terms = [weighted_terms(sample, metric, model, chance) for model in sample.ranks]
    stacked = np.stack([each.influence for each in terms])
    return np.array([each.value or 0.0 for each in terms]), gram(stacked)


def weighted_terms(sample: Sample, metric: AnyMetric, model: str, chance: Floats) -> Terms:
    """Terms of ``snips`` over the held-out positives, with given chances."""
    rows = Sample.to_rows(sample, metric.kind, Snips(), chance)
    return Snips().terms(rows.with_worth(Sample.gains(sample, model, metric)), metric.kind)
