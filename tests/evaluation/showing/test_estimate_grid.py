"""The table of estimates: models by estimators, at every width."""

import re

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.evaluation.showing.estimate_grid import Grid, best_values
from unskew.evaluation.showing.text import as_text
from unskew.ranking import MatrixScorer

ESTIMATORS = ["aoa", "aoa(per=pair)", "snips", "snips(per=balanced)", "snips(clip=0.5, per=user)"]


@pytest.fixture(scope="module")
def report() -> Report:
    rng = np.random.default_rng(1)
    train = Interactions.from_arrays(rng.integers(0, 30, 200), rng.integers(0, 20, 200), n_users=30, n_items=20)
    test = Interactions.from_arrays(rng.integers(0, 30, 90), rng.integers(0, 20, 90), n_users=30, n_items=20)
    names = ["als(factors=16, steps=10)", "item-knn", "a model with a rather long name of eleven words in all"]
    models = {name: MatrixScorer(rng.normal(size=(30, 20))) for name in names}
    return evaluate(models, Split(train, test), metrics=["recall@3", "auc"], estimators=ESTIMATORS)


def numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d\.\d{4}", text))


@pytest.mark.parametrize("width", [80, 90, 100, 120, 150, 200])
def test_every_number_is_there_and_no_line_is_too_wide(report, width):
    text = as_text(report, width)
    table = text[text.index("Estimates") : text.index("targets:")]
    assert max(len(line.rstrip()) for line in table.splitlines()) <= width
    for row in report.estimates:
        for value in (row.value, row.low, row.high, *filter(None, (row.assumed_low, row.assumed_high))):
            assert f"{value:.4f}" in table
    printed = " ".join(table.split())
    for word in ("als(factors=16,", "item-knn", "eleven", "snips", "(per=balanced)", "recall@3"):
        assert word in printed
    assert "…" not in table


def test_the_same_numbers_are_printed_at_every_width(report):
    assert numbers(as_text(report, 80)) == numbers(as_text(report, 320))


def test_the_best_value_of_each_column_is_marked(report):
    for width in (80, 320):
        text = as_text(report, width)
        table = text[text.index("Estimates") : text.index("targets:")]
        marked = re.findall(r"(\d\.\d{4}) \*", table)
        best = [
            max(row.value for row in report.estimates if (row.metric, row.estimator) == (metric, estimator))
            for metric in ("recall@3", "auc")
            for estimator in ESTIMATORS
        ]
        assert sorted(marked) == sorted(f"{value:.4f}" for value in best)


def test_a_wide_screen_has_a_line_per_model(report):
    text = as_text(report, 320)
    lines = [line for line in text.splitlines() if "item-knn" in line and re.search(r"\d\.\d{4}", line)]
    table = text[text.index("Estimates") : text.index("targets:")]
    assert sum(line in table for line in lines) == 2
    assert table.count("95% interval") == len(ESTIMATORS)


def split_of(test: list[tuple[int, int]]) -> Split:
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 1], n_users=3, n_items=5)
    return Split(train, Interactions.from_arrays(*zip(*test, strict=True), n_users=3, n_items=5))


def test_equal_models_are_all_marked_and_one_model_alone_is_not():
    split = split_of([(0, 1), (1, 2), (2, 3)])
    both = evaluate({"a": "popular", "b": "popular"}, split, metrics=["auc"], estimators=["aoa"])
    assert set(best_values(both)) == {("auc", "aoa", "a"), ("auc", "aoa", "b")}
    one = evaluate({"a": "popular"}, split, metrics=["auc"], estimators=["aoa"])
    assert not Grid.of(one).best
    assert "best value" not in str(one)


def test_an_estimate_that_a_metric_does_not_have_is_an_empty_cell():
    split = split_of([(0, 1), (1, 2), (2, 3)])
    mixed = evaluate({"a": "popular", "b": "random"}, split, metrics=["auc", "ndcg@2"])
    grid = Grid.of(mixed)
    absent = [(m, e) for m in grid.metrics for e in grid.estimators if (m, e, "a") not in grid.rows]
    assert absent
    assert all(grid.value((*pair, "a")).plain == "" for pair in absent)
    assert all(f"{row.value:.4f}" in str(mixed) for row in mixed.estimates)


def test_users_of_single_models_are_shown_where_they_differ():
    split = split_of([(0, 1), (1, 2), (2, 3)])
    few = MatrixScorer(np.eye(2, 5), user_ids=[0, 1], item_ids=list(range(5)))
    served = evaluate({"a": "popular", "few": few}, split, metrics=["auc"], estimators=["aoa"], users="served")
    text = as_text(served, 200)
    assert re.search(r"users \(ESS\) +3 \(3\)", text)
    assert re.search(r"users \(ESS\) +2 \(2\)", text)
