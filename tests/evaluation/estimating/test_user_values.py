"""The values of users: their weighted mean is the estimate."""

import numpy as np
import polars as pl
import pytest

from unskew import ConfigError, Interactions, Split, evaluate
from unskew.ranking import MatrixScorer

RNG = np.random.default_rng(3)
USERS, ITEMS = 12, 15


def world(*, rated: bool = False) -> tuple[Split, dict[str, MatrixScorer]]:
    """Users u1 to u12; the last two have no held-out row."""
    users, items = [f"u{k + 1}" for k in range(USERS)], [f"i{k}" for k in range(ITEMS)]
    train, test = [], []
    for user in range(USERS):
        chosen = RNG.permutation(ITEMS)
        train += [(users[user], items[k], float(RNG.integers(1, 6))) for k in chosen[:5]]
        test += [(users[user], items[k], float(RNG.integers(1, 6))) for k in chosen[5 : 5 + user % 4 + 1]] * (user < 10)
    columns = ["user", "item", "rating"] if rated else ["user", "item"]
    frames = [pl.DataFrame([row[: len(columns)] for row in part], columns, orient="row") for part in (train, test)]
    frames[1] = frames[1].with_columns(propensity=pl.Series(RNG.uniform(0.2, 1, frames[1].height)))
    parts = [Interactions.from_frame(frame) for frame in frames]
    scores = {name: RNG.normal(3, 1, (USERS, ITEMS)).astype(np.float32) for name in ("a", "b")}
    models = {name: MatrixScorer(each, user_ids=users, item_ids=items, ratings=rated) for name, each in scores.items()}
    return Split(*parts), models


def means(frame: pl.DataFrame) -> dict[tuple[str, str, str], float]:
    value, weight = pl.col("value"), pl.col("weight")
    grouped = frame.group_by("model", "metric", "estimator").agg((value * weight).sum() / weight.sum())
    return {tuple(row[:3]): row[3] for row in grouped.rows()}


FORMS = ["aoa", "aoa(per=pair)", "snips", "snips(per=balanced)", "snips(per=user)", "snips(clip=0.5)"]


def test_the_weighted_mean_is_the_estimate_in_every_form():
    split, models = world()
    report = evaluate(models, split, metrics=["recall@3", "auc"], estimators=FORMS)
    found = means(report.per_user())
    assert len(found) == 2 * 2 * len(FORMS)
    for row in report.estimates:
        assert found[row.model, row.metric, row.estimator] == pytest.approx(row.value, abs=1e-12)


def test_lists_and_sums_have_values_of_users_too():
    split, models = world()
    report = evaluate(models, split, metrics=["ndcg@3", "precision@3", "map"], estimators=["aoa"])
    found = means(report.per_user())
    assert all(found[row.model, row.metric, row.estimator] == pytest.approx(row.value) for row in report.estimates)
    assert set(report.per_user()["weight"]) == {1.0}


def test_losses_have_values_of_users_and_a_root_is_that_of_their_mean():
    split, models = world(rated=True)
    report = evaluate(models, split, metrics=["mae", "rmse"], estimators=["aoa", "aoa(per=user)", "snips"])
    found = means(report.per_user())
    for row in report.estimates:
        expected = row.value if row.metric == "mae" else row.value**2
        assert found[row.model, row.metric, row.estimator] == pytest.approx(expected)


def test_a_frame_by_hand():
    """Ann has two rows, at ranks 1 and 3 of three; Bob has one, at rank 2. Under aoa(per=pair) rows weigh the same."""
    train = Interactions.from_frame(pl.DataFrame({"user": ["ann", "bob"], "item": ["w", "w"]}))
    test = Interactions.from_frame(pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["x", "z", "y"]}))
    scores = np.array([[0, 3, 2, 1], [0, 3, 2, 1]], dtype=float)
    model = MatrixScorer(scores, user_ids=["ann", "bob"], item_ids=["w", "x", "y", "z"])
    report = evaluate({"m": model}, Split(train, test), metrics=["recall@1"], estimators=["aoa", "aoa(per=pair)"])
    rows = report.per_user().rows()
    assert rows == [
        ("ann", "m", "recall@1", "aoa", 0.5, 1.0),
        ("bob", "m", "recall@1", "aoa", 0.0, 1.0),
        ("ann", "m", "recall@1", "aoa(per=pair)", 0.5, 2.0),
        ("bob", "m", "recall@1", "aoa(per=pair)", 0.0, 1.0),
    ]
    assert report.per_user(estimator="aoa").height == 2


def test_ips_counts_users_without_a_row_as_zero():
    split, models = world()
    report = evaluate(models, split, metrics=["precision@3"], estimators=["ips"], propensity="column")
    frame = report.per_user().filter(pl.col("model") == "a")
    assert sorted(frame["user"].to_list()) == sorted(f"u{k + 1}" for k in range(USERS))
    silent = frame.filter(pl.col("user").is_in(["u11", "u12"]))
    assert silent["value"].to_list() == [0.0, 0.0]
    assert means(frame)["a", "precision@3", "ips"] == pytest.approx(report.value("a", "precision@3", "ips"))


def test_what_has_no_values_of_users_is_refused_with_a_way_out():
    split, models = world(rated=True)
    report = evaluate(models, split, metrics=["mae"], estimators=["aoa", "snips(per=item)"])
    with pytest.raises(ConfigError, match=r"mean over items; name another, as in estimator='aoa'"):
        report.per_user()
    assert set(report.per_user(estimator="aoa")["estimator"]) == {"aoa"}


def test_imputation_is_refused():
    split, models = world(rated=True)
    report = evaluate(models, split, metrics=["recall@3"], estimators=["aoa", "dm"], positive="rating>=4")
    with pytest.raises(ConfigError, match=r"recall@3 by dm has no value of each user: it imputes"):
        report.per_user()


def test_an_estimate_that_is_not_there_is_refused():
    split, models = world()
    report = evaluate(models, split, metrics=["recall@3"], estimators=["aoa"])
    with pytest.raises(ConfigError, match=r"no estimate 'recall@5'; did you mean 'recall@3'"):
        report.per_user("recall@5")


def test_users_whom_a_model_does_not_know_are_not_in_its_frame():
    split, models = world()
    few = MatrixScorer(models["b"].matrix[:6], user_ids=[f"u{k + 1}" for k in range(6)], item_ids=models["b"].item_ids)
    both = {"a": models["a"], "few": few}
    report = evaluate(both, split, metrics=["recall@3"], estimators=["aoa"], users="served")
    found = report.per_user()
    assert found.filter(pl.col("model") == "few")["user"].to_list() == [f"u{k + 1}" for k in range(6)]
    assert means(found)["few", "recall@3", "aoa"] == pytest.approx(report.value("few", "recall@3", "aoa"))
