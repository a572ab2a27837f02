"""Estimates by group: against runs on the rows of a group, shrinkage by hand, turns, groupings and refusals."""

import numpy as np
import polars as pl
import pytest
import sliced_runs

from unskew import Interactions, Split, evaluate
from unskew.errors import ConfigError, DataError
from unskew.evaluation.slicing import GroupEstimate, group_by_frame, group_by_popularity, group_by_time
from unskew.evaluation.slicing.slices import shrink
from unskew.ranking import MatrixScorer

USERS, ITEMS = 90, 30


@pytest.fixture(scope="module")
def split() -> Split:
    rng = np.random.default_rng(5)
    chance = np.arange(1, ITEMS + 1.0) ** -0.5
    drawn = np.array([rng.choice(ITEMS, 7, replace=False, p=chance / chance.sum()) for _ in range(USERS)])
    parts = [
        Interactions.from_arrays(
            np.repeat(np.arange(USERS), part.shape[1]),
            part.ravel(),
            times=np.arange(part.size) * 86400.0,
            n_users=USERS,
            n_items=ITEMS,
        )
        for part in (drawn[:, :4], drawn[:, 4:])
    ]
    return Split(*parts)


@pytest.fixture(scope="module")
def models(split):
    rng = np.random.default_rng(6)
    base = rng.normal(size=(USERS, ITEMS))
    first, second = base.copy(), base.copy()
    early, late = split.test.users < 30, split.test.users >= 30
    # the first is good for users from 30 on, the second for the others
    first[split.test.users[late], split.test.items[late]] += 3
    second[split.test.users[early], split.test.items[early]] += 3
    return {"first": MatrixScorer(first), "second": MatrixScorer(second)}


@pytest.fixture(scope="module")
def report(split, models):
    return evaluate(models, split, metrics=["recall@5"], estimators=["aoa", "snips"])


def by_users(split):
    labels = ["early" if user < 30 else "late" for user in range(USERS)]
    return pl.DataFrame({"user": range(USERS), "kind": labels})


def test_groups_of_users_are_runs_on_these_users_with_the_same_weights(report, split, models):
    slices = report.by(by_users(split))
    assert slices.groups == ("early", "late")
    frame = report.per_user()
    for row in slices.estimates:
        users = pl.col("user") < 30 if row.group == "early" else pl.col("user") >= 30
        words = (pl.col("model") == row.model) & (pl.col("metric") == row.metric)
        part = frame.filter(users & words & (pl.col("estimator") == row.estimator))
        assert row.users == len(part)
        assert row.value == pytest.approx((part["value"] * part["weight"]).sum() / part["weight"].sum())
        assert row.low < row.value < row.high


def test_groups_of_items_take_the_rows_of_the_group(report, split):
    slices = report.by("popularity")
    strata = group_by_popularity(split).groups
    assert list(strata) == ["head", "middle", "tail"]
    assert sum(member.astype(int) for member in strata.values()).tolist() == [1] * ITEMS
    inside = strata["tail"][split.test.items]
    part = Split(split.train, split.test.take(inside))
    scorers = {name: fitted.ranker for name, fitted in report.contenders.models.items()}
    again = evaluate(scorers, part, metrics=["recall@5"], estimators=["aoa"])
    (row,) = (
        each
        for each in slices.estimates
        if (each.group, each.model, each.estimator) == ("tail", "first", "aoa") and each.metric == "recall@5"
    )
    same = again.estimate("first", "recall@5", "aoa")
    assert (row.value, row.low, row.high, row.users) == pytest.approx((same.value, same.low, same.high, same.users))


def test_what_is_not_a_mean_over_rows_is_left_out_by_items_and_not_by_users(split, models):
    report = evaluate(models, split, metrics=["ndcg@5"], estimators=["aoa"])
    slices = report.by("popularity")
    assert slices.left_out == ("ndcg@5 by aoa: it is not a mean over rows, so it cannot be made by items",)
    assert not slices.estimates
    assert "not by group: ndcg@5 by aoa" in str(slices)
    assert len(report.by(by_users(split)).estimates) == 4


def test_the_groups_in_which_the_order_turns_are_named(report, split):
    slices = report.by(by_users(split))
    whole = next(c for c in report.comparisons if (c.metric, c.estimator) == ("recall@5", "snips"))
    assert whole.difference > 0  # more users are late
    turned = [(row.group, row.metric) for row in slices.turned if row.estimator == "snips"]
    assert turned == [("early", "recall@5")]
    assert "the order turns: in kind early, second is above first on recall@5" in str(slices)
    holm = [row.p_value_holm for row in slices.comparisons if row.metric == "recall@5" and row.estimator == "snips"]
    plain = [row.p_value for row in slices.comparisons if row.metric == "recall@5" and row.estimator == "snips"]
    assert max(holm) <= 1
    assert min(holm) == pytest.approx(2 * min(plain), abs=1e-12)


def estimate(group, value, error):
    return GroupEstimate(group, "m", "recall@5", "snips", 10, value, error, None, None)


def test_shrinkage_by_hand():
    # equal errors of .1 and values 0, .4: Q = 8, so the variance between groups is (8 - 1) / 100
    rows = shrink([estimate("a", 0.0, 0.1), estimate("b", 0.4, 0.1)], 0.95)
    pull = 0.01 / (0.01 + 0.07)
    assert [row.shrunk for row in rows] == pytest.approx([0.2 * pull, 0.4 - 0.2 * pull])
    error = np.sqrt((1 - pull) * 0.01 + pull**2 * 0.08 / 2)
    assert rows[0].shrunk_high - rows[0].shrunk == pytest.approx(1.959964 * error, rel=1e-6)
    # groups that differ by less than chance are all drawn to their mean
    rows = shrink([estimate("a", 0.0, 0.1), estimate("b", 0.1, 0.2)], 0.95)
    assert [row.shrunk for row in rows] == pytest.approx([0.02, 0.02])


def test_one_group_or_no_error_is_not_shrunken():
    assert shrink([estimate("a", 0.1, 0.1)], 0.95)[0].shrunk is None
    assert shrink([estimate("a", 0.1, 0.1), estimate("b", None, None)], 0.95)[1].shrunk is None


def test_a_value_without_error_stays_and_does_not_draw_others():
    exact = shrink([estimate("a", 0.1, 1.139e-17), estimate("b", 0.4, 0.1), estimate("c", 0.0, 0.1)], 0.95)
    assert [(row.shrunk, row.shrunk_low, row.shrunk_high) for row in exact[:1]] == [(0.1, 0.1, 0.1)]
    alone = shrink([estimate("b", 0.4, 0.1), estimate("c", 0.0, 0.1)], 0.95)
    assert [row.shrunk for row in exact[1:]] == [row.shrunk for row in alone]


def test_test_rows_are_grouped_by_time(split, report):
    grouping = group_by_time(split, "month")
    assert next(iter(grouping.groups)) == "1970-01"
    assert sum(member.sum() for member in grouping.groups.values()) == len(split.test)
    slices = report.by("test:month")
    assert slices.level == "row"
    assert sum(row.users for row in slices.estimates if row.model == "first" and row.estimator == "snips") >= USERS


def test_an_item_may_be_in_several_groups(split):
    frame = pl.DataFrame({"item": [0, 1, 2], "genre": ["a|b", "b", None]})
    groups = group_by_frame(split, frame, "genre").groups
    assert {name: np.flatnonzero(member).tolist() for name, member in groups.items()} == {"a": [0], "b": [0, 1]}


def test_results_can_be_kept_and_drawn(report, split, tmp_path):
    slices = report.by(by_users(split), "kind")
    assert slices.to_polars().shape[0] == len(slices.estimates)
    assert '"by": "kind"' in slices.to_json()
    assert set(slices.charts) == {"recall@5 aoa", "recall@5 snips"}
    slices.charts["recall@5 snips"].save(tmp_path / "by.svg")
    assert (tmp_path / "by.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("given", "column", "error", "says"),
    [
        ("popularty", None, ConfigError, "did you mean 'popularity'"),
        ("test:weak", None, ConfigError, "did you mean 'week'"),
        (pl.DataFrame({"user": [1], "item": [2], "x": ["a"]}), "x", DataError, "and not both"),
        (pl.DataFrame({"name": [1]}), None, DataError, "needs a column user or a column item"),
        (pl.DataFrame({"user": [1], "gender": ["f"], "age": [3]}), "gendr", DataError, "did you mean 'gender'"),
        (pl.DataFrame({"user": [1], "gender": ["f"], "age": [3]}), None, DataError, "to group by"),
        (pl.DataFrame({"user": [777], "gender": ["f"]}), None, DataError, "do its ids match"),
        (pl.DataFrame({"user": range(60), "id": range(60)}), None, DataError, "at most 50 can be groups"),
    ],
)
def test_what_cannot_be_grouped_is_refused(report, given, column, error, says):
    with pytest.raises(error, match=says):
        report.by(given, column)


def test_a_test_without_times_cannot_be_grouped_by_week():
    log = Interactions.from_arrays([0, 1], [0, 1], n_users=2, n_items=3)
    with pytest.raises(DataError, match="the test has no times"):
        group_by_time(Split(log, Interactions.from_arrays([0, 1], [1, 2], n_users=2, n_items=3)))


@pytest.mark.parametrize("level", ["user", "item"])
def test_means_that_are_imputed_are_weighted_by_group(level: str) -> None:
    split = sliced_runs.log().split(slice_rows=200)
    ids = getattr(split, f"{level}_vocabulary").ids
    kinds = pl.DataFrame({level: ids, "kind": ["ab"[k % 2] for k in range(len(ids))]})
    imputed = sliced_runs.run(split, metrics=["recall@5", "ndcg@5"])
    found = imputed.by(kinds)
    assert {(row.metric, row.estimator) for row in found.estimates} == {("recall@5", "snips")}
    assert {(row.metric, row.estimator) for row in found.comparisons} == {("recall@5", "snips")}
    assert [text.partition(":")[0] for text in found.left_out] == ["recall@5 by blend", "ndcg@5 by blend"]
    assert [text.endswith("snips is there instead") for text in found.left_out] == [True, False]
    propensity = str(imputed.settings.propensity)
    named = sliced_runs.run(split, metrics=["recall@5"], estimators=["blend", "snips"], propensity=propensity)
    again = named.by(kinds)
    assert [row.value for row in again.estimates] == [row.value for row in found.estimates]
    assert [row.turns for row in again.comparisons] == [row.turns for row in found.comparisons]
    assert {row.estimator for row in again.estimates} == {"snips"}  # once, as asked for
