"""The naive average next to each corrected estimate."""

import pytest

from unskew.estimators import Estimator
from unskew.evaluation.estimating.naive_twin import naive_twin
from unskew.testing.worlds.head_and_tail import judge_models


@pytest.mark.parametrize(
    ("word", "naive"),
    [("snips", "aoa(per=pair)"), ("snips(clip=0.1)", "aoa(per=pair)"), ("snips(per=user)", "aoa"), ("ips", "aoa")],
)
def test_the_counterpart_has_the_same_target(word, naive):
    assert str(naive_twin(Estimator.from_word(word))) == naive


def test_what_was_not_asked_for_is_computed():
    report = judge_models("head", "tail", metrics=["recall@10", "auc"], estimators=["aoa", "snips"])
    beside = report.twins
    assert {(row.metric, row.estimator) for row in beside.estimates} == {
        ("recall@10", "aoa(per=pair)"),
        ("auc", "aoa(per=pair)"),
    }
    asked = judge_models("head", "tail", metrics=["recall@10", "auc"], estimators=["aoa(per=pair)"])
    assert (beside.estimates, beside.comparisons) == (asked.estimates, asked.comparisons)


def test_what_was_asked_for_is_not_repeated():
    for words in (["aoa(per=pair)", "snips"], ["aoa"]):
        twins = judge_models("head", estimators=words).twins
        assert (twins.estimates, twins.comparisons) == ((), ())
