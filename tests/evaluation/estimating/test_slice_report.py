"""Shrinking all metrics towards a slice: one design effect per estimator, of metrics without a cut-off."""

import numpy as np
import pytest

from unskew.estimators.imputed import SlicedMetric
from unskew.evaluation.estimating.slice_report import shrink_all
from unskew.metrics import AnyMetric, parse_metric


def metric_of(word: str, effect: float, positives: int = 50) -> tuple[AnyMetric, SlicedMetric]:
    """A metric of two models whose variance over users is `effect` times that of independent rows."""
    direct, variance = np.array([0.2, 0.3]), 1e-4 * np.eye(2)
    sliced = SlicedMetric(
        np.stack([direct, direct]),
        direct + 0.02,
        variance,
        effect * variance,
        np.multiply.outer(1e-2 * np.eye(2), variance),
        1e-2 * np.stack([variance, variance]),
        positives,
    )
    return parse_metric(word), sliced


def noise(words: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """The variance of the slice's own estimate of each metric, in that of independent rows."""
    shrunk = shrink_all({key: metric_of(key[0], effect) for key, effect in words.items()})
    return {key: float(each.noise[0, 0]) / 1e-4 for key, each in shrunk.items()}


def test_the_design_effect_is_the_mean_over_metrics_without_a_cut_off() -> None:
    effects = noise({("recall@5", "blend"): 9.0, ("adg", "blend"): 2.0, ("auc", "blend"): 3.0})
    assert effects == pytest.approx(dict.fromkeys(effects, 2.5))


def test_it_is_the_mean_over_all_metrics_if_each_has_a_cut_off() -> None:
    effects = noise({("recall@5", "blend"): 2.0, ("adg@5", "blend"): 4.0})
    assert effects == pytest.approx(dict.fromkeys(effects, 3.0))


def test_each_estimator_has_its_own() -> None:
    effects = noise({("adg", "blend"): 2.0, ("adg", "blend(q=slice)"): 5.0})
    assert effects == pytest.approx({("adg", "blend"): 2.0, ("adg", "blend(q=slice)"): 5.0})


def test_it_is_at_least_1() -> None:
    assert noise({("adg", "blend"): 0.3}) == pytest.approx({("adg", "blend"): 1.0})
