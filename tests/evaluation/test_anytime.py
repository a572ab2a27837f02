"""Evaluations that stop early: the numbers of those users alone, the rules, the record, and refusals."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError
from unskew.ranking import MatrixScorer, Ranks, Scorer, prepare_contest, rank

USERS, ITEMS = 1500, 40
OPTIONS: dict[str, Any] = {
    "metrics": ["recall@5", "auc"],
    "estimators": ["aoa(per=pair)", "aoa", "snips"],
    "propensity": "popularity",
}


def world() -> tuple[dict[str, Scorer], Split]:
    """A model that knows the tastes, one that knows half of them, and noise."""
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(USERS, ITEMS)) + rng.normal(size=ITEMS)
    train = rng.random(taste.shape) < 0.1
    test = ~train & (taste + rng.normal(size=taste.shape) > 2.5)
    rows = (np.nonzero(mask) for mask in (train, test))
    split = Split(*(Interactions.from_arrays(*pairs, n_users=USERS, n_items=ITEMS) for pairs in rows))
    noise = rng.normal(size=taste.shape)
    scores = {"good": taste, "half": taste + 2 * noise, "noise": noise}
    return {name: MatrixScorer(matrix) for name, matrix in scores.items()}, split


def until(rule: str, on: str | None = None, **changes: Any) -> Report:
    models, split = world()
    return evaluate(models, split, until=rule, on=on, **{**OPTIONS, **changes})


def test_clearly_different_models_are_decided_early_and_the_verdict_says_so() -> None:
    report = until("decided", "auc:snips")
    stop = report.stop
    assert stop is not None
    assert stop.met
    assert stop.users == 200
    assert stop.of == len(np.unique(world()[1].test.users))
    assert report.run["until"] == {
        "rule": "decided",
        "on": "auc:snips",
        "users": 200,
        "of": stop.of,
        "looks": 1,
        "met": True,
    }
    assert report.run["interval"].startswith("anytime(")
    assert f"after 200 of {stop.of:,} test users" in " ".join(report.verdict.summary)
    assert {row.users for row in report.estimates} == {200}
    assert all(row.dropped_users == 0 for row in report.estimates)
    assert not [text for text in report.warnings if "left out" in text]


def test_the_numbers_are_those_of_an_evaluation_of_these_users() -> None:
    models, split = world()
    report = until("width<0.08", "recall@5:snips")
    stop = report.stop
    assert stop is not None
    assert stop.met
    assert stop.looks > 1
    users = report.samples.judged.users
    part = Split(split.train, split.test.take(np.isin(split.test.users, users)))
    whole = evaluate(models, part, interval=report.run["interval"], **OPTIONS)
    for ours, theirs in zip(report.estimates, whole.estimates, strict=True):
        assert ours == theirs
    for ours, theirs in zip(report.comparisons, whole.comparisons, strict=True):
        assert ours == theirs
    assert report.run["data"] == whole.run["data"]
    widths = [row.high - row.low for row in report.estimates if (row.metric, row.estimator) == ("recall@5", "snips")]
    assert max(widths) < 0.08


def test_a_rule_that_is_never_met_ranks_all_users() -> None:
    models, split = world()
    report = until("width<0.0001")
    assert report.stop is not None
    assert not report.stop.met
    assert report.stop.users == report.stop.of
    plain = evaluate(models, split, **OPTIONS)
    assert [row.value for row in report.estimates] == [row.value for row in plain.estimates]
    assert "All " in " ".join(report.verdict.summary)
    assert report.run["ranks"] == plain.run["ranks"]


def test_models_that_are_the_same_are_never_decided() -> None:
    models, split = world()
    report = evaluate({"a": models["half"], "b": models["half"]}, split, until="decided", **OPTIONS)
    assert report.stop is not None
    assert not report.stop.met


def test_lists_stop_early_too() -> None:
    models, split = world()
    report = evaluate(models, split, metrics=["ndcg@5"], estimators=["aoa"], until="decided")
    assert report.stop is not None
    assert report.stop.on == "ndcg@5:aoa"
    assert report.stop.users < report.stop.of


def test_another_seed_takes_other_users_and_threads_do_not_matter() -> None:
    first, again = (until("decided", seed=1, threads=threads) for threads in (1, 2))
    assert first.to_json() == again.to_json()
    assert set(first.samples.judged.users) != set(until("decided", seed=2).samples.judged.users)


@pytest.mark.parametrize(
    ("rule", "changes", "said"),
    [
        ("desided", {}, "expected decided, or width<0.005.*decided"),
        ("width<0", {}, "expected decided"),
        ("width<one", {}, "expected decided"),
        ("decided", {"on": "recall@10:snips"}, "does not compute it.*it has"),
        ("decided", {"on": "recall@5"}, "does not compute it"),
        ("decided", {"interval": "bootstrap(100)"}, "intervals of its own"),
        ("decided", {"users": "served"}, "same users"),
        ("decided", {"candidates": "sampled(5)"}, "sampled candidates"),
        ("decided", {"estimators": ["dm"], "positive": "rating>=1"}, "sums over the candidates of all users"),
    ],
)
def test_what_cannot_stop_early_is_refused(rule: str, changes: dict[str, Any], said: str) -> None:
    models, split = world()
    if "positive" in changes:
        rng = np.random.default_rng(1)
        parts = [
            replace(part, values=rng.integers(0, 2, len(part)).astype(float)) for part in (split.train, split.test)
        ]
        split = Split(*parts)
    with pytest.raises(ConfigError, match=said):
        evaluate(models, split, until=rule, **{**OPTIONS, **changes})


def test_saved_ranks_and_a_lone_on_are_refused() -> None:
    models, split = world()
    contest = prepare_contest({"good": models["good"]}, split)
    ranks: Ranks = rank(models["good"], contest, name="good")
    with pytest.raises(ConfigError, match="'good' gives no scores"):
        evaluate({"good": ranks}, split, until="decided", **OPTIONS)
    with pytest.raises(ConfigError, match="needs until"):
        evaluate(models, split, on="recall@5:snips", **OPTIONS)
    with pytest.raises(ConfigError, match="counts of relevant items"):
        evaluate(models, split, until="decided", relevant={0: 3}, **OPTIONS)


def test_a_single_model_cannot_be_decided_on() -> None:
    models, split = world()
    name, model = next(iter(models.items()))
    with pytest.raises(ConfigError, match=r"compares models, and there is only one; use until=.width<0.01"):
        evaluate({name: model}, split, metrics=["recall@5"], estimators=["aoa"], until="decided")
