"""Metrics that move with the size of a test set, what to use instead, and the warning on validation rows."""

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.evaluation.checking.data import SIZES_DIFFER
from unskew.evaluation.estimating.size_effects import all_instead, instead_of, moving, sizes_differ
from unskew.metrics import list_metrics, parse_metric
from unskew.ranking import MatrixScorer


def words() -> list[str]:
    return [entry.form.replace("[@K]", "").replace("@K", "@10") for entry in list_metrics()]


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("ndcg@10", "adg@10"),
        ("ndcg(discount=lenskit, ideal=all)@50", "adg@50"),
        ("map", "adg"),
        ("mrr@5", "adg@5"),
        ("dcg", "adg"),
        ("precision(of=list)@3", "recall@3"),
        ("hit@3", "recall@3"),
        ("recall(of=min)@3", "recall@3"),
        ("auc(of=negatives)", "auc"),
        ("rmse", "mse"),
        ("cg@5", None),
        ("dcg(gain=value)@5", None),
    ],
)
def test_the_nearest_metric_that_does_not_move(word: str, other: str | None) -> None:
    assert instead_of(parse_metric(word)) == other


@pytest.mark.parametrize("word", words())
def test_what_is_named_instead_is_unbiased_itself(word: str) -> None:
    metric = parse_metric(word)
    other = instead_of(metric)
    if not metric.unbiased_to_missing and metric.kind in {"sum", "list"}:
        assert other is not None
    if other is not None:
        assert parse_metric(other).unbiased_to_missing


def test_means_do_not_move_and_losses_are_kept_apart() -> None:
    metrics = [parse_metric(word) for word in ("adg", "ndcg", "rmse", "mae")]
    assert [str(metric) for metric in moving(metrics)] == ["ndcg"]
    assert [str(metric) for metric in moving(metrics, over_all_pairs=True)] == ["rmse"]
    assert all_instead(moving(metrics)) == ["adg"]
    assert all_instead([]) == ["adg"]


def test_rounding_is_no_difference() -> None:
    assert not sizes_differ(10.0, 10.09)
    assert sizes_differ(10.0, 10.2)


def run(metrics: list[str], validation: int | None, *, values: bool = False, positive: str | None = None) -> Report:
    users = np.arange(40)

    def part(first: int, size: int) -> Interactions:
        items = np.tile(np.arange(first, first + size), len(users))
        ratings = np.where(items % 2, 5, 1) if values else None
        return Interactions.from_arrays(np.repeat(users, size), items, n_users=40, n_items=20, values=ratings)

    held = None if validation is None else part(4, validation)
    scores = MatrixScorer(np.random.default_rng(0).permuted(np.tile(np.arange(20.0), (40, 1)), axis=1))
    split = Split(part(0, 4), part(10, 4), held)
    return evaluate({"m": scores}, split, metrics=metrics, estimators=["aoa"], positive=positive)


def sized(report: Report) -> list[str]:
    return [text for text in report.warnings if text.startswith("validation has")]


def test_validation_of_another_size_is_warned_of_once_for_all_metrics_that_move() -> None:
    (text,) = sized(run(["ndcg@5", "map", "adg"], 2))
    assert text == SIZES_DIFFER.format(validation=2, test=4, metrics="ndcg@5 and map move", instead="adg@5 and adg")


def test_nothing_is_said_where_nothing_moves_or_nobody_compares() -> None:
    assert sized(run(["ndcg@5", "map"], None)) == []
    assert sized(run(["adg", "recall@5"], 2)) == []
    assert sized(run(["ndcg@5"], 4)) == []


def test_only_positives_of_the_validation_rows_count() -> None:
    assert sized(run(["ndcg@5"], 4, values=True, positive="rating>=4")) == []
    (text,) = sized(run(["ndcg@5"], 2, values=True, positive="rating>=4"))
    assert text.startswith("validation has 1.00 positives per user and the test 2.00: ndcg@5 moves")
