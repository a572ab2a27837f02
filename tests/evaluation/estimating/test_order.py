"""Of errors the smaller one is the better."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from unskew import evaluate
from unskew.estimators import Comparison
from unskew.evaluation.estimating.best_models import Standing
from unskew.evaluation.estimating.order import first_of, lower_is_better, oriented, ranked
from unskew.metrics import Metric, parse_metric
from unskew.testing.worlds import skewed_split, whole_scores
from unskew.testing.worlds.known_errors import judge_ratings

GAP = Comparison("mae", "aoa", "a", "b", 0.2, 0.1, 0.3, 0.01, 0.02)


@pytest.mark.parametrize("word", ["mae", "mse", "rmse"])
def test_errors_are_better_when_lower(word):
    assert parse_metric(word).lower_is_better


@pytest.mark.parametrize("word", ["accuracy", "recall@10", "cg@5", "dcg(gain=value)@10", "ndcg@10", "auc"])
def test_gains_are_better_when_higher(word):
    assert not parse_metric(word).lower_is_better


@dataclass(frozen=True)
class MeanRank(Metric):
    """Mean number of candidates above a relevant item."""

    lower_is_better: ClassVar[bool] = True

    def gain(self, above, candidates):
        return above.astype(float)


def test_a_cut_off_keeps_the_direction():
    metrics = [MeanRank() @ 5, "recall@5"]
    report = evaluate({"m": whole_scores()}, skewed_split(), metrics=metrics, estimators=["aoa"])
    assert lower_is_better(report.settings, str(MeanRank() @ 5))
    assert not lower_is_better(report.settings, "recall@5")


def test_a_run_knows_the_direction_of_its_metrics():
    settings = judge_ratings(metrics=["mae", "accuracy"], estimators=["aoa"]).settings
    assert lower_is_better(settings, "mae")
    assert not lower_is_better(settings, "accuracy")


def test_the_smaller_error_is_ranked_first():
    rows = judge_ratings().estimates
    assert [row.model for row in ranked(rows, "mae", "snips", lower=True)] == ["near", "far"]
    assert [row.model for row in ranked(rows, "mae", "snips")] == ["far", "near"]
    assert first_of(ranked(rows, "mae", "snips", lower=True)) == ("near",)


def test_the_better_model_comes_first_with_its_sign():
    assert oriented(GAP) is GAP
    turned = oriented(GAP, lower=True)
    assert (turned.a, turned.b, turned.difference, turned.low, turned.high) == ("b", "a", -0.2, -0.3, -0.1)
    assert oriented(turned, lower=True) is turned
    assert oriented(turned) == GAP


def test_no_lead_without_a_second_model():
    order = ranked(judge_ratings().estimates, "mae", "snips", lower=True)
    assert Standing("snips", tuple(order[:1]), (GAP,), 0.05, 30.0).lead is None
    assert Standing("snips", tuple(order), (), 0.05, 30.0).lead is None
