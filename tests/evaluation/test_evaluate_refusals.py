"""What evaluate() refuses, each with a hint."""

import numpy as np
import polars as pl
import pytest

from unskew import Interactions, Split, evaluate
from unskew.errors import ConfigError, DataError, PropensityError
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.long_tail import USERS, skewed_split, whole_scores


@pytest.mark.parametrize(
    ("metric", "named"),
    [
        ("dcg@10", "adg@10"),
        ("dcg", "adg@K"),
        ("precision@5", "adg@5"),
        ("ndcg@10", "adg@10"),
        ("map", "adg@K"),
        ("mrr@3", "adg@3"),
    ],
)
def test_snips_of_a_sum_or_list_metric_is_refused_and_the_hint_names_adg(metric: str, named: str) -> None:
    with pytest.raises(ConfigError, match=rf"snips cannot estimate .*{named}"):
        evaluate({"m": whole_scores()}, skewed_split(), metrics=[metric], estimators=["snips"])


def test_ips_of_a_list_metric_and_the_average_over_pairs_of_a_sum_are_refused() -> None:
    for metric, estimator in (("ndcg@5", "ips"), ("dcg@5", "aoa(per=pair)"), ("mrr", "aoa(per=pair)")):
        with pytest.raises(ConfigError, match="cannot estimate"):
            evaluate({"m": whole_scores()}, skewed_split(), metrics=[metric], estimators=[estimator])


def test_ips_needs_an_absolute_propensity() -> None:
    with pytest.raises(
        PropensityError,
        match=r'ips needs absolute propensities.*popularity.*propensity="column", naive-bayes or logistic, or snips',
    ):
        evaluate({"m": whole_scores()}, skewed_split(), metrics=["dcg@5"], estimators=["ips"])


def test_ips_of_a_mean_needs_the_counts_of_relevant_items() -> None:
    split = skewed_split(propensity=True)
    with pytest.raises(ConfigError, match=r"ips of recall@5 needs .*give relevant=\.\.\., or use snips"):
        evaluate({"m": whole_scores()}, split, metrics=["recall@5"], estimators=["ips"], propensity="column")


@pytest.mark.parametrize(
    ("relevant", "says"),
    [
        ({0: 5}, "test users have none, the first is"),
        (dict.fromkeys(range(USERS), 1), "held-out ones; a count covers all relevant items"),
        (dict.fromkeys(range(USERS), 2.5), "row 1 is not a whole number"),
        (dict.fromkeys(range(USERS), -1), "row 1 is not a whole number"),
        (pl.DataFrame({"user": [1], "count": [2]}), "no column 'relevant'"),
        (pl.DataFrame({"user": [1], "relevant": [None]}), "row 1 is not a whole number"),
    ],
)
def test_counts_that_do_not_fit_are_refused(relevant: object, says: str) -> None:
    options = {"metrics": ["recall@5"], "estimators": ["ips"], "propensity": "column", "relevant": relevant}
    with pytest.raises(DataError, match=says):
        evaluate({"m": whole_scores()}, skewed_split(propensity=True), **options)  # type: ignore[arg-type]


def test_no_item_with_a_propensity_is_refused() -> None:
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=4)
    test = Interactions.from_arrays([0], [1], n_users=1, n_items=4)
    with pytest.raises(PropensityError, match="no held-out item has a propensity"):
        evaluate({"m": MatrixScorer(np.zeros((1, 4)))}, Split(train, test), propensity="popularity(smoothing=0)")


def test_a_test_without_the_column_of_the_condition_is_refused() -> None:
    with pytest.raises(DataError, match="has no column 'rating'"):
        evaluate({"m": whole_scores()}, skewed_split(), positive="rating>=3")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metrics": ["recal@10"]}, "did you mean 'recall'"),
        ({"metrics": ["recall"]}, "needs a cut-off"),
        ({"metrics": ["recall@0"]}, "at least 1"),
        ({"metrics": ["auc@3"]}, "has no cut-off"),
        ({"metrics": []}, "nothing to compute"),
        ({"estimators": ["snip"]}, "did you mean 'snips'"),
        ({"estimators": []}, "nothing to compute"),
        ({"propensity": "popular"}, "did you mean 'popularity'"),
        ({"candidates": "unsen"}, "did you mean 'unseen'"),
        ({"ties": "expect"}, "did you mean 'expected'"),
        ({"interval": "boot"}, "did you mean 'bootstrap'"),
        ({"level": 0}, "between 0 and 1"),
        ({"level": 1}, "between 0 and 1"),
        ({"level": 95}, "between 0 and 1, as in 0.95"),
        ({"seed": -1}, "0 or more"),
        ({"block_size": 0}, "at least 1"),
        ({"threads": 0}, "at least 1"),
        ({"unlisted": "no"}, "zero or tied"),
        ({"positive": "good"}, "write one like 'rating>=4'"),
    ],
)
def test_settings_that_mean_nothing_are_refused_with_a_hint(options: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        evaluate({"m": whole_scores()}, skewed_split(), **options)  # type: ignore[arg-type]


def test_models_that_mean_nothing_are_refused() -> None:
    with pytest.raises(DataError, match="no model to judge"):
        evaluate({}, skewed_split())
    with pytest.raises(ConfigError, match="did you mean 'popular'"):
        evaluate({"m": "populr"}, skewed_split())
