"""`blend` with a slice of random rows in an evaluation: a dense oracle, errors, the record and the verdict."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from dense_slices import Dense
from selected_logs import ITEMS, USERS, SelectedLog
from sliced_runs import ROWS, WORDS, log, report, run, values

from unskew import Report, Split, evaluate
from unskew.evaluation.collecting.candidate_summer import least_spread
from unskew.evaluation.collecting.imputed import Imputed
from unskew.evaluation.showing.vocabulary import rows_needed
from unskew.ranking import MatrixScorer


@cache
def of_positives() -> Report:
    split = log().split(positives=True, slice_rows=ROWS)
    return run(split, positive=None, metrics=[*WORDS, "dcg@5"], estimators=["blend(q=slice)"])


def check(of: Report, dense: Dense, metric: str, estimator: str) -> None:
    """The values, errors and record of a report are those of the dense matrices."""
    broad = [dense.metric(word) for word in ("adg", "auc")]
    sliced = dense.metric(metric)
    want = sliced.shrunk(float(np.mean([each.design_effect for each in broad])))
    np.testing.assert_allclose(values(of, metric, estimator), want.value, rtol=1e-6)
    found = {e.model: e.std_error for e in of.estimates if (e.metric, e.estimator) == (metric, estimator)}
    np.testing.assert_allclose([found[model] for model in log().models], np.sqrt(np.diag(want.covariance)), rtol=1e-4)
    (row,) = [row for row in of.to_dict()["slice"]["estimates"] if row["metric"] == metric]
    np.testing.assert_allclose(row["slice_alone"], sliced.one_step, rtol=1e-9)
    np.testing.assert_allclose([row["level_weights"], row["difference_weights"]], want.weights, atol=1e-6)
    np.testing.assert_allclose(row["log_alone"], sliced.sources, rtol=1e-9)
    assert row["design_effect"] >= 1


@pytest.mark.parametrize("metric", [*WORDS, "dcg@5"])
def test_the_estimates_are_those_of_dense_matrices(metric: str) -> None:
    check(report(), Dense(report(), log()), metric, "blend")


def test_the_record_has_the_slice() -> None:
    dense, record = Dense(report(), log()), report().to_dict()["slice"]
    assert (record["rows"], record["positives"]) == (ROWS, int(dense.label.sum()))
    assert list(record["models"]) == list(log().models)
    assert {row["metric"] for row in record["estimates"]} == {*WORDS, "dcg@5"}
    for row in record["estimates"]:
        for weights in (row["level_weights"], row["difference_weights"]):
            assert len(weights) == 3
            assert sum(weights) == pytest.approx(1)
            assert 0 < weights[-1] < 1


@pytest.mark.parametrize("metric", [*WORDS, "dcg@5"])
def test_positives_alone_have_chances_from_the_slice_and_weighted_rows_too(metric: str) -> None:
    of = of_positives()
    assert not of.propensities.relevance.labelled
    check(of, Dense(of, log(), "slice"), metric, "blend(q=slice)")


def test_blend_of_positives_alone_uses_the_slice_for_its_chances_too() -> None:
    split = log().split(positives=True, slice_rows=ROWS)
    plain, named = (run(split, positive=None, estimators=[word]) for word in ("blend", "blend(q=slice)"))
    np.testing.assert_allclose(values(plain, "adg"), values(named, "adg", "blend(q=slice)"))


def test_dm_is_recalibrated_by_the_slice_but_not_shrunk() -> None:
    with_slice = run(log().split(slice_rows=ROWS), estimators=["dm"])
    dense = Dense(with_slice, log())
    for place, model in enumerate(log().models):
        want = np.sum(dense.q * log().gains("adg", model)) / dense.q.sum()
        assert values(with_slice, "adg", "dm")[place] == pytest.approx(want, rel=1e-9)
    without = run(log().split(), estimators=["dm"])
    assert not np.allclose(values(without, "adg", "dm"), values(with_slice, "adg", "dm"), rtol=1e-6)


def test_the_errors_of_differences_are_those_of_the_joint_covariance() -> None:
    """A difference of two models has a smaller error than independent ones would."""
    rows = {e.model: e for e in report().estimates if e.metric == "auc"}
    for pair in (c for c in report().comparisons if c.metric == "auc"):
        assert pair.low is not None
        assert pair.high is not None
        assert pair.difference == pytest.approx(rows[pair.a].value - rows[pair.b].value)  # type: ignore[operator]
        apart = np.hypot(rows[pair.a].std_error, rows[pair.b].std_error)  # type: ignore[arg-type]
        assert (pair.high - pair.low) / (2 * 1.96) < 1.2 * apart


def test_the_effective_sample_is_the_positives_of_the_slice() -> None:
    positives = report().to_dict()["slice"]["positives"]
    for row in report().estimates:
        if row.metric != "ndcg@5":
            assert row.effective_sample_size == positives
        assert row.users == USERS


def test_lists_are_not_shrunk() -> None:
    assert "ndcg@5" not in {row["metric"] for row in report().to_dict()["slice"]["estimates"]}
    lists = run(log().split(slice_rows=ROWS), metrics=["ndcg@5"], estimators=["dm", "blend"])
    np.testing.assert_allclose(values(lists, "ndcg@5"), values(lists, "ndcg@5", "dm"))


def test_a_bootstrap_next_to_a_slice_draws_users_but_not_directions() -> None:
    """The directions of a joint covariance are not users, so their intervals are by their standard errors."""
    models = {"taste": log().models["taste"]}
    options = {"metrics": ["adg", "ndcg@5"], "estimators": ["blend"], "positive": "rating>=1"}
    for some in (models, log().models):
        drawn, delta = (
            evaluate(some, log().split(slice_rows=ROWS), interval=interval, **options)  # type: ignore[arg-type]
            for interval in ("bootstrap(200)", "delta")
        )
        for row, other in zip(drawn.estimates, delta.estimates, strict=True):
            assert (row.low, row.high) == (other.low, other.high)  # lists have the error of a joint fit too
        assert all(pair.low is not None for pair in drawn.comparisons)


def test_directions_as_many_as_users_are_not_drawn_with_them() -> None:
    rng = np.random.default_rng(0)
    models = {f"m{k}": MatrixScorer(rng.random((USERS, ITEMS))) for k in range(USERS // 2)}  # two directions per model
    options = {"metrics": ["adg"], "estimators": ["dr", "blend"], "positive": "rating>=1"}
    drawn, delta = (
        evaluate(models, log().split(slice_rows=ROWS), interval=interval, **options)  # type: ignore[arg-type]
        for interval in ("bootstrap(50)", "delta")
    )
    for row, other in zip(drawn.estimates, delta.estimates, strict=True):
        assert ((row.low, row.high) == (other.low, other.high)) is (row.estimator == "blend")


def test_truth_is_inside_the_intervals() -> None:
    """Of 5 logs, 3 metrics and 3 models at least 36 of 45 hold the truth; they are correlated, so a loose bound."""
    inside = 0
    for seed in range(5):
        world = SelectedLog.of("mixed", seed)
        drawn = evaluate(
            world.models,
            world.split(slice_rows=300, seed=seed),
            metrics=[*WORDS],
            estimators=["blend"],
            positive="rating>=1",
        )
        for row in drawn.estimates:
            assert row.low is not None
            assert row.high is not None
            inside += row.low <= world.truth(row.metric, row.model) <= row.high
    assert inside >= 36


def test_a_user_of_the_slice_who_is_not_in_the_log_is_judged() -> None:
    """User 7 has no row in the log; with rows in the slice all 60 users count, and without them 59."""
    drawn = log().drawn
    observed = drawn.observed.copy()
    observed[7] = False
    world = SelectedLog(replace(drawn, observed=observed), log().in_train & observed)
    with_user = world.random_slice(ROWS)
    assert (with_user.users == 7).any()
    judged = run(replace(world.split(), slice=with_user), metrics=[*WORDS, "dcg@5"])
    assert [text for text in judged.warnings if text.startswith("the slice has 1 user (")]
    assert not [text for text in report().warnings if "new users" in text]
    assert {row.users for row in judged.estimates} == {USERS}
    dense = Dense(judged, world)
    for metric in (*WORDS, "dcg@5"):
        check(judged, dense, metric, "blend")
    without_user = with_user.take(with_user.users != 7)
    assert {row.users for row in run(replace(world.split(), slice=without_user)).estimates} == {USERS - 1}


@pytest.mark.parametrize("positives", [False, True])
def test_imputation_alone_has_the_error_of_chances_that_are_fitted_to_the_slice(
    monkeypatch: pytest.MonkeyPatch, *, positives: bool
) -> None:
    words = ["dm(q=slice)", "blend(q=slice)"] if positives else ["dm", "blend"]
    options = {"metrics": ["adg", "ndcg@5"], "estimators": words, "positive": None if positives else "rating>=1"}
    split = log().split(positives=positives, slice_rows=ROWS)
    wide = run(split, **options)
    monkeypatch.setattr(Imputed, "fitted", lambda *_: False)
    narrow = run(split, **options)
    alone = 0
    for row, other in zip(wide.estimates, narrow.estimates, strict=True):
        assert row.value == pytest.approx(other.value, rel=1e-12)
        assert row.std_error is not None
        assert other.std_error is not None
        assert row.low is not None
        assert row.high is not None
        if row.metric == "adg" and row.estimator == words[1]:
            assert row.std_error == other.std_error  # shrunk, with that error in its covariance
            continue
        alone += 1
        assert row.std_error > 1.02 * other.std_error
        assert row.high - row.low == pytest.approx(2 * 1.959963984540054 * row.std_error)
    assert alone == 9


def test_the_error_of_dm_with_a_slice_is_that_of_users_and_of_the_fit() -> None:
    dm = run(log().split(slice_rows=ROWS), metrics=["adg"], estimators=["dm"])
    dense = Dense(dm, log())
    shifted = [np.where(dense.candidates, each, 0.0) for each in dense.shifted_blocks()]
    for row in dm.estimates:
        gains = log().gains("adg", row.model)
        value = np.sum(dense.q * gains) / dense.q.sum()
        of_users = ((dense.q * (gains - value)).sum(axis=1) / dense.q.sum()) ** 2
        of_fit = [(np.sum(q * gains) / q.sum() - value) ** 2 for q in shifted]
        assert row.std_error == pytest.approx(np.sqrt(of_users.sum() + sum(of_fit)), rel=1e-8)


def test_a_method_that_the_slice_refutes_is_named() -> None:
    """Observation by relevance itself: the naive average is far off, and many random rows show it."""
    world = SelectedLog.of("popq", 3)
    many = evaluate(
        world.models,
        world.split(slice_rows=900),
        metrics=["auc", "adg"],
        estimators=["blend"],
        positive="rating>=1",
    )
    rows = {(row["metric"], row["method"]): row["p_value"] for row in many.to_dict()["slice"]["refutations"]}
    assert {method for _, method in rows} == {"naive", "popularity", "exposure"}
    assert rows["auc", "naive"] < 0.005
    (text,) = [text for text in many.warnings if text.startswith("the naive average is refuted by your slice")]
    assert "trust the estimates with the slice" in text


def test_one_model_alone_and_models_that_are_the_same_have_estimates() -> None:
    scores = log().scores["taste"]
    for models in ({"a": scores}, {"a": scores, "b": scores}, {"a": scores, "b": -scores}):
        drawn = evaluate(
            {name: MatrixScorer(each) for name, each in models.items()},
            log().split(slice_rows=ROWS),
            metrics=["auc"],
            estimators=["blend"],
            positive="rating>=1",
        )
        assert all(row.value is not None and row.std_error for row in drawn.estimates)


def test_the_split_in_the_record_names_the_slice() -> None:
    data = report().to_dict()["run"]["data"]
    assert data["slice"]["rows"] == ROWS


def test_the_report_says_what_it_assumes_and_what_would_decide() -> None:
    text = str(report())
    positives = report().to_dict()["slice"]["positives"]
    assert [d for d in report().verdict.doubts if f"{ROWS} rows of the slice ({positives} positive)" in d]
    assert "blend" in text
    needed = [answer.needed for answer in report().answers if answer.kind == "open"]
    assert all(number is None or number >= ROWS for number in needed)


def test_a_user_without_a_candidate_is_not_in_the_way() -> None:
    world = log()
    had = world.in_train.copy()
    had[5] = True
    sliced = world.drawn.random_slice(ROWS, 0, outside=had)
    split = Split(world.rows(had, "train"), world.rows(world.in_test & ~had, "test"), slice=sliced)
    drawn = run(split, estimators=["blend", "dm", "dr"])
    assert all(row.value is not None for row in drawn.estimates)


def test_a_list_has_a_best_model_only_if_the_naive_average_has_the_same() -> None:
    """Imputation alone puts the list in order, so another first model by the naive average leaves it open."""
    lists = run(log().split(slice_rows=ROWS), metrics=["ndcg@5", "adg"], estimators=["aoa", "blend"])
    answers = {answer.metric: answer for answer in lists.answers}
    answer = answers["ndcg@5"]
    assert answer.naive is not None
    assert dict(answer.by_method) == {"imputation": answer.judging.first, "the naive average": answer.naive.first}
    assert set(answer.leaders) == {*answer.judging.first, *answer.naive.first}
    same = set(answer.judging.first) & set(answer.naive.first)
    assert answer.robust is bool(same)
    if not same:
        assert answer.kind != "best"
    assert not answers["adg"].by_method  # the slice checks it


def test_the_rows_that_would_separate_models_have_two_digits_and_are_not_more_than_the_candidates() -> None:
    assert "about 290,000 random rows would separate {a} from {b}" in rows_needed(294_968, 300_000)
    assert "about 95 random rows" in rows_needed(95, 100)
    assert "about 7 random rows" in rows_needed(7, 100)
    assert "not even all 54,321 candidates would separate {a} from {b}" in rows_needed(294_968, 54_321)


def test_chances_without_doubt_leave_intervals_with_a_width(tmp_path: Path) -> None:
    """The chances are the truth, so that no row of the slice is a surprise."""
    users, items = np.indices((USERS, ITEMS)).reshape(2, -1)
    path = tmp_path / "chances.csv"
    columns = {"user": users, "item": items, "score": log().drawn.relevant.ravel().astype(float)}
    pl.DataFrame(columns).write_csv(path)
    sure = run(log().split(slice_rows=ROWS), estimators=[f"blend(q=scores({path}))"], metrics=["adg"])
    for row in sure.estimates:
        if row.estimator.startswith("blend"):
            assert row.std_error is not None
            assert 1e-4 < row.std_error < 0.1
    label = np.array([1.0, 0.0, 0.0, 0.0])
    assert least_spread(label) == pytest.approx(1.5 / 5 / 4)
    assert least_spread(0 * label) == pytest.approx(0.5 / 5 / 4)


def test_the_order_of_the_rows_of_a_slice_does_not_matter() -> None:
    split = log().split(slice_rows=ROWS)
    assert split.slice is not None
    mixed = replace(split, slice=split.slice.take(np.random.default_rng(3).permutation(len(split.slice))))
    first, second = (json.dumps(run(each, estimators=["blend"]).to_dict()["estimates"]) for each in (split, mixed))
    assert first == second
