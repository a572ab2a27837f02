"""Evaluation of a randomly exposed test, against loops and by hand (Wang et al. 2024)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split, evaluate
from unskew.data import exposed_from_frame
from unskew.errors import ConfigError, DataError
from unskew.ranking import ListScorer, MatrixScorer

USERS, ITEMS = 5, 12
POOLED = "ure(aggregate=pooled)"


def exposed_split(seed: int, population: str = "all", *, tied: bool = True) -> tuple[Split, np.ndarray]:
    """A world of 5 users and 12 items: train, 3 to 6 exposed items a user, and scores with or without ties."""
    rng = np.random.default_rng(seed)
    train_pairs, rows = [], []
    for user in range(USERS):
        order = rng.permutation(ITEMS)
        seen = order[:3]
        train_pairs += [(user, item) for item in seen]
        pool = order if population == "all" else order[3:]
        drawn = rng.choice(pool, size=int(rng.integers(3, 7)), replace=False)
        rows += [(user, item, int(rng.random() < 0.4)) for item in drawn]
    rows[0] = (*rows[0][:2], 1)
    train = Interactions.from_arrays(*np.array(train_pairs).T, n_users=USERS, n_items=ITEMS)
    users, items, labels = np.array(rows).T
    test = Interactions.from_arrays(users, items, labels, n_users=USERS, n_items=ITEMS)
    scores = (
        rng.integers(0, 5, (USERS, ITEMS)).astype(float)
        if tied
        else rng.permuted(np.tile(np.arange(ITEMS, dtype=float), (USERS, 1)), axis=1)
    )
    return Split(train, test, candidates=population, exposed=True), scores


def candidates_of(split: Split, user: int) -> list[int]:
    seen = set(split.train.items[split.train.users == user].tolist()) if str(split.rule) == "unseen" else set()
    return [item for item in range(ITEMS) if item not in seen]


def hit_chance(scores: np.ndarray, among: list[int], item: int, k: int) -> float:
    """P(the item is in the top k) when the order of ties is drawn."""
    above = sum(scores[other] > scores[item] for other in among)
    level = sum(scores[other] == scores[item] for other in among)
    return float(np.clip((k - above) / level, 0, 1))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), population=st.sampled_from(["all", "unseen"]), k=st.integers(1, 13))
def test_every_form_is_what_a_loop_over_users_gives(seed: int, population: str, k: int) -> None:
    split, scores = exposed_split(seed, population)
    words = ["traditional", "ure", POOLED]
    report = evaluate({"m": MatrixScorer(scores)}, split, metrics=[f"recall@{k}", f"precision@{k}"], estimators=words)
    inside, means, above, below, sums = [], [], 0.0, 0.0, []
    test = split.test
    assert test.values is not None
    for user in range(USERS):
        mine = test.users == user
        drawn, liked = test.items[mine].tolist(), test.items[mine & (test.values == 1)].tolist()
        among = candidates_of(split, user)
        found = sum(hit_chance(scores[user], among, item, k) for item in liked)
        scale = len(among) / len(drawn)
        sums.append(scale * found / k)
        if liked:
            means.append(found / len(liked))
            inside.append(np.mean([hit_chance(scores[user], drawn, item, k) for item in liked]))
            above, below = above + scale * found, below + scale * len(liked)
    assert report.value("m", f"recall@{k}", "ure") == pytest.approx(np.mean(means))
    assert report.value("m", f"recall@{k}", POOLED) == pytest.approx(above / below)
    assert report.value("m", f"recall@{k}", "traditional") == pytest.approx(np.mean(inside))
    assert report.value("m", f"precision@{k}", "ure") == pytest.approx(np.mean(sums))


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
@pytest.mark.parametrize("metric", ["recall@3", "ndcg@3", "map", "auc", "mrr", "hit@2"])
def test_traditional_is_the_metric_among_listed_candidates(ties: str, metric: str) -> None:
    split, scores = exposed_split(7)
    plain = Split(split.train, split.test, candidates="listed")
    model = {"m": MatrixScorer(scores)}
    inside = evaluate(model, split, metrics=[metric], estimators=["traditional"], ties=ties).estimates[0]
    listed = evaluate(model, plain, metrics=[metric], estimators=["aoa"], ties=ties, positive="rating>=1").estimates[0]
    assert (inside.value, inside.std_error, inside.users) == (listed.value, listed.std_error, listed.users)
    assert inside.definition.endswith("; listed")


def test_traditional_of_top_n_lists_is_that_among_listed_candidates() -> None:
    split, scores = exposed_split(3, tied=False)
    lists = ListScorer.from_arrays(np.argsort(-scores, axis=1)[:, :6], n_items=ITEMS)
    model = {"m": lists}
    plain = Split(split.train, split.test, candidates="listed")
    inside = evaluate(model, split, metrics=["recall@3"], estimators=["traditional"]).estimates[0]
    listed = evaluate(model, plain, metrics=["recall@3"], estimators=["aoa"], positive="rating>=1").estimates[0]
    assert inside.value == listed.value


def test_the_literal_form_drops_all_that_are_tied_with_the_next_place() -> None:
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=5)
    test = Interactions.from_arrays([0, 0, 1], [1, 2, 1], [1, 1, 1], n_users=2, n_items=5)
    split = Split(train, test, candidates="all", exposed=True)
    model = {"m": MatrixScorer(np.array([[0, 3, 2, 2, 1], [4, 3, 2, 1, 0.0]]))}
    report = evaluate(model, split, metrics=["recall@2"], estimators=["ure", "ure(literal)"])
    # user 0: item 1 is first; item 2 shares places 2 and 3, so it counts a half, or not at all
    assert report.value("m", "recall@2", "ure") == pytest.approx((0.75 + 1) / 2)
    assert report.value("m", "recall@2", "ure(literal)") == pytest.approx((0.5 + 1) / 2)


def test_a_cutoff_beyond_the_population_finds_everything() -> None:
    split, scores = exposed_split(1)
    report = evaluate(
        {"m": MatrixScorer(scores)}, split, metrics=["recall@50"], estimators=["ure", "ure(literal)", POOLED]
    )
    assert [row.value for row in report.estimates] == [1.0, 1.0, 1.0]
    assert any("cut-off has no effect" in warning for warning in report.warnings)


def test_users_without_a_positive_count_for_sums_alone() -> None:
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=4)
    test = Interactions.from_arrays([0, 0, 1, 1], [1, 2, 1, 2], [1, 0, 0, 0], n_users=2, n_items=4)
    split = Split(train, test, candidates="all", exposed=True)
    report = evaluate(
        {"m": MatrixScorer(np.array([[0, 3, 2, 1.0]] * 2))},
        split,
        metrics=["recall@1", "precision@1"],
        estimators=["ure", POOLED, "ure(aggregate=ipw)"],
    )
    for word in ("ure", POOLED, "ure(aggregate=ipw)"):
        assert report.value("m", "recall@1", word) == 1.0
        assert report.value("m", "precision@1", word) == pytest.approx((4 / 2 * 1 + 0) / 2)
    assert report.estimate("m", "recall@1", "ure").users == 1
    assert report.estimate("m", "recall@1", "ure").dropped_users == 1
    assert report.estimate("m", "precision@1", "ure").users == 2


def test_a_control_of_a_full_sample_changes_nothing() -> None:
    """With all items exposed the number of them in the top K is what it should be."""
    labels = np.array([[1, 0, 1, 0], [0, 1, 0, 0]])
    users, items = np.divmod(np.arange(8), 4)
    train = Interactions.from_arrays([0], [0], n_users=2, n_items=4)
    test = Interactions.from_arrays(users, items, labels.ravel(), n_users=2, n_items=4)
    split = Split(train, test, candidates="all", exposed=True)
    model = {"m": MatrixScorer(np.array([[4, 3, 2, 1], [1, 4, 2, 3.0]]))}
    words = [POOLED, "ure(aggregate=pooled, reduce=control)", "ure(aggregate=pooled, reduce=monotone)"]
    report = evaluate(model, split, metrics=["recall@2", "precision@2", "adg@3", "auc"], estimators=words)
    for metric in ("recall@2", "precision@2", "adg@3", "auc"):
        plain, control, fall = (report.value("m", metric, word) for word in words)
        assert control == pytest.approx(plain)
        if metric == "recall@2":
            assert plain == pytest.approx(2 / 3)
            # the shares of positives by rank, 1, 0, 1/2, 0, fall as 1, 1/4, 1/4, 0
            assert fall == pytest.approx((1 + 0.25) / 1.5)


def test_estimators_of_exposed_data_ask_for_it() -> None:
    split, scores = exposed_split(0)
    plain = Split(split.train, split.test, candidates="all")
    with pytest.raises(ConfigError, match=r"exposed_split\(\.\.\.\) instead of test="):
        evaluate({"m": MatrixScorer(scores)}, plain, metrics=["recall@2"], estimators=["ure"])


@pytest.mark.parametrize(
    ("metric", "word", "ties", "what"),
    [
        ("map@3", "ure", "expected", "depends on positives that were not drawn"),
        ("auc", "ure(literal)", "expected", "its own rule for ties"),
        ("recall@3", "ure(literal)", "random", "leave out ties="),
        ("recall@3", "ure(aggregate=pooled, reduce=control)", "optimistic", "no known sum"),
        ("mae", "ure", "expected", "is of ratings, and exposed.* takes labels"),
    ],
)
def test_what_cannot_be_estimated_is_said(metric: str, word: str, ties: str, what: str) -> None:
    split, scores = exposed_split(0)
    with pytest.raises(ConfigError, match=what):
        evaluate({"m": MatrixScorer(scores)}, split, metrics=[metric], estimators=[word], ties=ties)


def test_an_exposed_test_without_a_positive_is_refused() -> None:
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=3)
    test = Interactions.from_arrays([0, 0], [1, 2], [0, 0], n_users=1, n_items=3)
    with pytest.raises(DataError, match="none of 2 exposed rows is positive"):
        evaluate({"m": MatrixScorer(np.ones((1, 3)))}, Split(train, test, candidates="all", exposed=True))


def test_exposed_rows_in_train_leave_a_sample_of_unseen_items() -> None:
    split, scores = exposed_split(3, "all")
    rows = split.sorted_test
    rest = rows.take(~split.test_in_train)
    assert 0 < len(rest) < len(rows)
    dropped, clean = (
        evaluate(
            {"m": MatrixScorer(scores)},
            Split(split.train, test, candidates="unseen", exposed=True),
            metrics=["recall@3", "precision@3"],
            estimators=["traditional", "ure", POOLED],
        )
        for test in (rows, rest)
    )
    assert [row.value for row in dropped.estimates] == [row.value for row in clean.estimates]
    assert dropped.comparisons == clean.comparisons
    assert dropped.dropped_share == pytest.approx(1 - len(rest) / len(rows))
    gone = len(rows) - len(rest)
    assert any(f"{gone} of {len(rows)} exposed rows are also in train and left" in text for text in dropped.warnings)
    assert not any("also in train" in text for text in clean.warnings)


def test_an_item_that_no_model_knows_is_outside_the_population() -> None:
    train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    test = Interactions.from_arrays(["a", "a"], ["x", "z"], [1, 0])
    with pytest.raises(DataError, match="outside the population, the first is item z"):
        evaluate({"p": "popular"}, Split(train, test, candidates="all", exposed=True))


def test_a_pair_with_two_labels_is_refused_and_one_that_stands_twice_counts_once() -> None:
    import polars as pl

    rows = {"user": ["a", "a", "a"], "item": ["x", "y", "x"]}
    with pytest.raises(DataError, match="user a, item x is positive in one row"):
        exposed_from_frame(pl.DataFrame({**rows, "label": [1, 0, 0]}))
    kept = exposed_from_frame(pl.DataFrame({**rows, "label": [1, 0, 1]}))
    assert (len(kept), kept.duplicates) == (2, 1)


def test_models_learn_from_a_uniform_sample_and_say_when_it_is_the_test() -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    rng = np.random.default_rng(0)
    users, items = np.divmod(rng.permutation(20 * 15), 15)
    labels = (rng.random(300) < 0.4).astype(float)
    log = Interactions.from_arrays(users, items, labels, n_users=20, n_items=15)
    train, test, uniform = log.take(np.arange(150)), log.take(np.arange(150, 250)), log.take(np.arange(250, 300))
    split = Split(train, test, candidates="all", exposed=True)
    words = {
        "debiased": "autodebias(epochs=3)",
        "lightgcn": "ips(backbone=lightgcn, epochs=3)",
        "plain": "bias(epochs=3)",
    }
    report = evaluate(words, split, positive="rating>=1", uniform=uniform)
    assert set(report.models) == set(words)
    assert report.run["data"]["uniform"]["rows"] == 50
    assert not any("uniform" in warning for warning in report.warnings)
    again = evaluate({"plain": "bias(epochs=3)"}, split, positive="rating>=1", uniform=test)
    assert any("models learn from the rows they are judged on" in warning for warning in again.warnings)
    with pytest.raises(ConfigError, match="--uniform"):
        evaluate({"debiased": "autodebias(epochs=3)"}, split, positive="rating>=1")


def test_labels_of_train_say_what_a_model_learns_as_positive() -> None:
    train = Interactions.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], n_users=2, n_items=4)
    test = Interactions.from_arrays([0, 1], [2, 3], [1, 1], n_users=2, n_items=4)
    report = evaluate({"p": "popular"}, Split(train, test, candidates="all", exposed=True), metrics=["recall@1"])
    assert report.settings.positive == "rating>=1"
    assert report.samples.judged.train.item_counts.tolist() == [0, 2, 0, 0]


def test_shares_that_rise_with_rank_are_told_of() -> None:
    """A model upside down: taking the share of positives to fall with rank is wrong for it, and right for the other."""
    rng = np.random.default_rng(2)
    users, items = np.repeat(np.arange(300), 20), np.tile(np.arange(20), 300)
    liked = rng.random(6000) < np.linspace(0.02, 0.6, 20)[items]
    drawn = rng.random(6000) < 0.3
    train = Interactions.from_arrays([0], [0], n_users=300, n_items=20)
    test = Interactions.from_arrays(users[drawn], items[drawn], liked[drawn], n_users=300, n_items=20)
    scores = np.tile(np.arange(20.0), (300, 1))
    report = evaluate(
        {"right": MatrixScorer(scores), "wrong": MatrixScorer(-scores)},
        Split(train, test, candidates="all", exposed=True),
        metrics=["recall@5"],
        estimators=["ure(aggregate=pooled, reduce=monotone)"],
    )
    (told,) = [warning for warning in report.warnings if "does not fall with rank" in warning]
    assert "'wrong'" in told
    assert "'right'" not in told


def test_nothing_is_reduced_by_default_where_ties_leave_no_known_sum() -> None:
    split, scores = exposed_split(4)
    for ties, word in (("expected", "ure(aggregate=pooled, reduce=control)"), ("optimistic", POOLED)):
        report = evaluate({"m": MatrixScorer(scores)}, split, ties=ties)
        assert [str(estimator) for estimator in report.settings.estimators] == ["traditional", word]


def test_ratings_without_a_condition_are_told_of_where_a_model_learns_from_them() -> None:
    train = Interactions.from_arrays([0, 0, 1], [0, 1, 0], [5, 1, 3], n_users=2, n_items=4)
    test = Interactions.from_arrays([0, 1], [2, 3], [1, 1], n_users=2, n_items=4)
    split = Split(train, test, candidates="all", exposed=True)
    told = "learnt from all rows as positives"
    assert any(told in warning for warning in evaluate({"p": "popular"}, split).warnings)
    assert not any(told in warning for warning in evaluate({"p": "popular"}, split, positive="rating>=4").warnings)
    assert not any(told in warning for warning in evaluate({"m": MatrixScorer(np.ones((2, 4)))}, split).warnings)


@pytest.mark.parametrize("unlisted", ["zero", "tied"])
def test_exposed_rows_of_a_user_whom_a_model_does_not_know_are_below_the_list(unlisted: str) -> None:
    """Both users have one positive among three exposed items of five; the model knows the first user only."""
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=6)
    rows = {"users": [0, 0, 0, 1, 1, 1], "items": [1, 2, 3, 1, 2, 3], "values": [1, 0, 0, 1, 0, 0]}
    test = Interactions.from_arrays(**rows, n_users=2, n_items=6)
    best = np.array([[0.0, 9, 5, 4, 3, 2]])
    models = {
        "both": MatrixScorer(np.repeat(best, 2, axis=0), user_ids=[0, 1], item_ids=range(6)),
        "one": MatrixScorer(best, user_ids=[0], item_ids=range(6)),
    }
    split = Split(train, test, candidates="unseen", exposed=True)
    report = evaluate(models, split, metrics=["recall@2"], estimators=["traditional", "ure", POOLED], unlisted=unlisted)
    assert [report.value("both", "recall@2", e) for e in ("traditional", "ure", POOLED)] == [1, 1, 1]
    inside, among_all = (0, 0) if unlisted == "zero" else (2 / 3, 2 / 5)
    assert report.value("one", "recall@2", "traditional") == pytest.approx((1 + inside) / 2)
    for word in ("ure", POOLED):
        assert report.value("one", "recall@2", word) == pytest.approx((1 + among_all) / 2)
