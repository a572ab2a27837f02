"""The registry of warnings, and the warnings about silent mistakes."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.data import split_fractions, split_temporal
from unskew.errors import ConfigError, DataError, Option
from unskew.evaluation.checking import AUDIT_CHECKS, CHECKS, data, find_warnings, models, time_leak, warn, weights
from unskew.metrics import parse_metric
from unskew.ranking import ListScorer, MatrixScorer
from unskew.testing.worlds.exposed_worlds import judge_exposed
from unskew.testing.worlds.head_and_tail import NAIVE_AND_SNIPS
from unskew.testing.worlds.known_errors import judge_mixed, judge_ratings
from unskew.testing.worlds.long_tail import ITEMS, USERS, real_factors, skewed_rows, skewed_split, whole_scores


def said(text: str, report: Report) -> bool:
    return any(text in warning for warning in report.warnings)


def test_every_check_has_a_name_and_says_what_why_and_what_to_do() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    for check in CHECKS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", check.name)
        for part in (check.what, check.why, check.do):
            assert part.endswith("."), check.name
            assert part[0].isupper() or part[0] == "`", check.name
        assert check.look.__doc__
    assert CHECKS[0].name == "rows-left-out"
    assert set(AUDIT_CHECKS) <= set(CHECKS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: evaluate({"m": whole_scores(top=1)}, skewed_split(), estimators=["aoa", "snips(per=user)"]),
        lambda: evaluate({"m": real_factors(), "n": "bpr(iterations=2)"}, with_validation()),
        lambda: judge_exposed(metrics=("recall@1", "ndcg@10"), share=0.1),
        judge_ratings,
        judge_mixed,
    ],
)
def test_every_warning_comes_from_a_registered_check(make: Any) -> None:
    report = make()
    found = list(find_warnings(report))
    assert found
    assert report.warnings == tuple(text for _, text in found) == warn(report)
    assert [CHECKS.index(check) for check, _ in found] == sorted(CHECKS.index(check) for check, _ in found)
    assert all("\n" not in text for text in report.warnings)


def with_validation() -> Split:
    rng = np.random.default_rng(3)
    split = skewed_split()
    return Split(split.train, split.test, skewed_rows(100, rng))


# what is left out


def cold_split(cold: int, warm: int) -> Split:
    train = Interactions.from_arrays(np.arange(warm) % 7, np.arange(warm) % 5)
    users = [*(np.arange(warm) % 7), *range(100, 100 + cold)]
    items = [*((np.arange(warm) + 1) % 5), *[0] * cold]
    return Split(train, Interactions.from_arrays(users, items))


def test_much_that_is_left_out_comes_first() -> None:
    split = cold_split(cold=10, warm=20)
    report = evaluate({"als": "als(factors=2)"}, split, metrics=["recall@2"])
    assert report.dropped_share == pytest.approx(1 - report.samples.judged.rows / len(split.test))
    assert report.dropped_share > 0.2
    assert "not judged (10 of users known to no model" in report.warnings[0]
    assert report.to_dict()["warnings"][0] == report.warnings[0]
    assert report.verdict.left_out == f"{report.warnings[0]}."
    assert " ".join(str(report).split()).startswith(report.verdict.left_out)
    assert report._repr_html_().startswith(f"<p><strong>{report.verdict.left_out}")
    assert report.to_dict()["verdict"]["sentence"].startswith(report.verdict.left_out)
    assert f"<h1>{report.verdict.left_out}" in report.to_html().replace(' class="lengthy"', "")


def test_little_that_is_left_out_is_no_first_word() -> None:
    report = evaluate({"m": real_factors()}, skewed_split(candidates="all"))
    assert (report.dropped_share, report.verdict.left_out) == (0, "")


def test_the_share_left_out_is_of_the_positives() -> None:
    split = skewed_split(values=True)
    report = evaluate({"m": real_factors()}, split, positive="rating>=4", candidates="unseen")
    positives = split.sorted_test.holds("rating>=4")
    assert report.dropped_share == pytest.approx(np.mean(split.test_in_train[positives]))


# propensities of the test


def test_a_column_of_propensities_is_used_and_said() -> None:
    split = skewed_split(propensity=True)
    found = evaluate({"m": real_factors()}, split, metrics=["auc"])
    named = evaluate({"m": real_factors()}, split, metrics=["auc"], propensity="column")
    assert found.estimates == named.estimates
    assert found.run["propensity"] == "column"
    assert weights.COLUMN_USED.format(popularity='propensity="popularity"') in found.warnings
    assert not said("column propensity", named)


def test_another_propensity_may_be_named_and_naive_averages_need_none() -> None:
    split = skewed_split(propensity=True)
    other = evaluate({"m": real_factors()}, split, metrics=["auc"], propensity="popularity")
    without = Split(split.train, replace(split.test, propensity=None))
    alone = evaluate({"m": real_factors()}, without, metrics=["auc"], estimators=NAIVE_AND_SNIPS)
    assert other.estimates == alone.estimates
    naive = evaluate({"m": real_factors()}, split, metrics=["auc"], estimators=["aoa"])
    assert naive.run["propensity"] == "popularity"
    assert not said("column propensity", naive)


# ratings, times, lists


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1, 2, 3, 4, 5], {"rows": "1 row", "lowest": 1, "count": "counts", "condition": 'positive="rating>=4"'}),
        ([0, 1, 1, 0, 1], {"rows": "2 rows", "lowest": 0, "count": "count", "condition": 'positive="rating>=1"'}),
        ([0.5, 5, 4, 4, 2], {"rows": "1 row", "lowest": 0.5, "count": "counts", "condition": 'positive="rating>=4"'}),
        ([3, 4, 5, 4, 4], {"rows": "1 row", "lowest": 3, "count": "counts", "condition": 'positive="rating>=4"'}),
        ([1, 1, 1, 1, 1], None),
        ([4, 5, 4, 5, 5], None),  # ratings of four and more, chosen before
    ],
)
def test_ratings_without_a_condition_all_count_as_liked(values: list[float], says: dict[str, Any] | None) -> None:
    train = Interactions.from_arrays([0, 1], [0, 1], n_users=2, n_items=7)
    test = Interactions.from_arrays([0] * 5, range(1, 6), values, n_users=2, n_items=7)
    model = {"m": MatrixScorer(np.arange(14.0).reshape(2, 7))}
    report = evaluate(model, Split(train, test), metrics=["auc"], estimators=NAIVE_AND_SNIPS)
    assert said("no condition says which", report) == (says is not None)
    assert says is None or data.ALL_COUNT_AS_LIKED.format(**says) in report.warnings
    assert not said("no condition", evaluate(model, Split(train, test), metrics=["auc"], positive="rating>=1"))


def test_items_that_the_log_does_not_have_are_counted_and_one_is_named() -> None:
    train, test = (
        Interactions.from_frame(pl.DataFrame({"user": ["ann", "bob"], "item": items}))
        for items in (["tea", "jam"], ["jam", "egg"])
    )
    lists = {"ann": ["jam", "Egg", "Pie"], "bob": ["egg", "tea"]}
    report = evaluate({"lists": lists, "popular": "popular"}, Split(train, test), metrics=["recall@2"])
    texts = [text for text in report.warnings if "in neither train nor test" in text]
    assert texts == [models.ITEMS_FOREIGN.format(model="lists", foreign=2, known=5, example="Egg")]
    right = evaluate({"lists": {"ann": ["jam", "egg"], "bob": ["egg"]}}, Split(train, test), metrics=["recall@2"])
    assert not said("in neither train nor test", right)
    trained = replace(Split(train, test), candidates="trained")
    assert not said("in neither train nor test", evaluate({"lists": lists}, trained, metrics=["recall@1"]))


def test_the_headline_says_when_lists_hold_items_that_the_log_does_not_have() -> None:
    train, test = (
        Interactions.from_frame(pl.DataFrame({"user": ["ann", "bob"], "item": items}))
        for items in (["tea", "jam"], ["jam", "egg"])
    )
    lists = {"ann": ["jam", "Egg", "Pie"], "bob": ["egg", "Pie", "Tea"], "eve": ["Pie", "Tea", "Egg"]}
    models = {"lists": lists, "popular": "popular"}
    report = evaluate(models, Split(train, test), metrics=["recall@2"])
    share = "67 % of the places in the lists of “lists” hold items of neither train nor test"  # eve is not judged
    assert report.verdict.sentence.startswith(f"{share}, which are always misses")
    assert report.verdict.sentence.endswith(report.verdict.answer)
    checks = {each.name: each for each in report.gate("lists", "popular").checks}
    assert checks["items: lists"].outcome == "fail"
    assert "67 %" in checks["items: lists"].text
    right = evaluate({**models, "lists": {"ann": ["jam"], "bob": ["egg"]}}, Split(train, test), metrics=["recall@2"])
    assert right.verdict.sentence == right.verdict.answer
    assert "items: lists" not in {each.name for each in right.gate("lists", "popular").checks}


@pytest.mark.parametrize("unlisted", ["zero", "tied"])
def test_items_that_a_list_lacks_are_not_said_to_be_ranked(unlisted: str) -> None:
    train, test = (Interactions.from_arrays([0, 1], items, n_users=2, n_items=4) for items in ([0, 1], [1, 2]))
    report = evaluate(
        {"lists": {0: [1], 1: [2]}, "popular": "popular"}, Split(train, test), metrics=["recall@1"], unlisted=unlisted
    )
    effect = models.BELOW_LIST if unlisted == "tied" else models.NO_GAIN
    expected = models.ITEMS_NEVER_LISTED.format(models="model 'lists' has", unknown=2, items=4, effect=effect)
    assert expected in report.warnings
    assert not said("no score for", report)


def test_ids_that_look_like_row_numbers_are_named() -> None:
    rng = np.random.default_rng(0)
    train, test = (
        Interactions.from_frame(pl.DataFrame({"user": range(1, 41), "item": rng.integers(1, 21, 40)})) for _ in range(2)
    )
    rows = {user: rng.permutation(20)[:5].tolist() for user in range(40)}
    ids = {user + 1: [item + 1 for item in items] for user, items in rows.items()}
    split = Split(train, test, candidates="all")
    report = evaluate({"rows": rows, "ids": ids}, split, metrics=["recall@5"], estimators=["aoa"])
    first = int(report.inputs.split.item_vocabulary.ids[0])
    assert [text for text in report.warnings if "row numbers" in text] == [
        models.ROW_NUMBERS.format(axis="user", model="rows", first=1),
        models.ROW_NUMBERS.format(axis="item", model="rows", first=first),
    ]


def test_counts_of_plays_are_not_ratings() -> None:
    test = Interactions.from_arrays(np.zeros(30, int), range(1, 31), np.arange(30.0) ** 2, n_users=2, n_items=40)
    train = Interactions.from_arrays([0, 1], [0, 1], n_users=2, n_items=40)
    report = evaluate({"m": MatrixScorer(np.arange(80.0).reshape(2, 40))}, Split(train, test), metrics=["auc"])
    assert not said("no condition", report)


def test_test_rows_older_than_the_users_training_rows_are_counted() -> None:
    rng = np.random.default_rng(0)
    log = Interactions.from_arrays(rng.integers(0, 20, 400), rng.integers(0, 40, 400), times=rng.permutation(400))
    random, by_time = split_fractions(log, (80, 20), rng=0), split_temporal(log, 0.2)
    last = np.full(20, -np.inf)
    np.maximum.at(last, random.train.users, random.train.times)
    share = np.mean(random.test.times < last[random.test.users])
    report = evaluate({"p": "popular"}, random, metrics=["auc"], estimators=["aoa"])
    assert time_leak.TEST_OLDER.format(share=share, temporal=Option("temporal", command="split")) in report.warnings
    assert not said("are older than", evaluate({"p": "popular"}, by_time, metrics=["auc"], estimators=["aoa"]))


def test_seen_items_in_lists_are_counted() -> None:
    train = Interactions.from_arrays([0, 0, 1], [0, 1, 0], n_users=2, n_items=6)
    test = Interactions.from_arrays([0, 1], [2, 3], n_users=2, n_items=6)
    lists = ListScorer.from_arrays(np.array([[0, 1, 2], [3, 4, 5]]), n_items=6)
    report = evaluate({"m": lists}, Split(train, test), metrics=["recall@3"])
    assert models.ITEMS_SKIPPED.format(model="m", skipped=2, listed=6) in report.warnings
    clean = ListScorer.from_arrays(np.array([[5, 4, 2], [3, 4, 5]]), n_items=6)
    assert not said("were skipped", evaluate({"m": clean}, Split(train, test), metrics=["recall@3"]))


def test_a_table_of_all_scores_is_not_a_list_with_seen_items() -> None:
    train = Interactions.from_arrays([0, 0, 1], [0, 1, 0], n_users=2, n_items=6)
    test = Interactions.from_arrays([0, 1], [2, 3], n_users=2, n_items=6)
    table = ListScorer.from_arrays(np.tile(np.arange(6), (2, 1)), n_items=6)
    assert not said("were skipped", evaluate({"m": table}, Split(train, test), metrics=["recall@3"]))


# frames as models, and words in any spelling


def top_lists(kind: str) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    rows = [(user, item, place) for user in range(USERS) for place, item in enumerate(rng.permutation(ITEMS)[:9])]
    users, items, places = zip(*rows, strict=True)
    column = {"score": [-float(place) for place in places], "rank": [place + 1 for place in places]}[kind]
    return pl.DataFrame({"user": users, "item": [int(item) for item in items], kind: column})


@pytest.mark.parametrize("kind", ["score", "rank"])
def test_a_frame_is_read_as_top_n_lists(kind: str, tmp_path: Any) -> None:
    from unskew.ranking import read_scores

    frame = top_lists(kind)
    frame.write_csv(tmp_path / "lists.csv")
    by_kind: dict[str, Any] = {
        "file": read_scores(tmp_path / "lists.csv"),
        "polars": frame,
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
        "score": ListScorer.from_frame(top_lists("score")),
    }
    report = evaluate(by_kind, skewed_split(), metrics=["recall@5", "auc"])
    values = [{row.value for row in report.estimates if row.model == name} for name in by_kind]
    assert all(each == values[0] for each in values)


def test_a_frame_of_predictions_is_judged_by_its_losses() -> None:
    test = Interactions.from_arrays([0, 1], [2, 3], [4, 2], n_users=2, n_items=6)
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=6)
    frame = pd.DataFrame({"user": [0, 1], "item": [2, 3], "prediction": [3.0, 4.0]})
    report = evaluate({"m": frame}, Split(train, test))
    assert report.value("m", "mae", "aoa") == pytest.approx(1.5)


def test_a_frame_without_the_columns_is_refused_by_name() -> None:
    with pytest.raises(DataError, match="model 'm': no column 'score'"):
        evaluate({"m": pd.DataFrame({"user": [0], "item": [1], "value": [2.0]})}, skewed_split())
    with pytest.raises(DataError, match="model 'm': no column 'user'"):
        evaluate({"m": pd.DataFrame(np.ones((2, 2)), columns=["a", "b"])}, skewed_split())


def test_a_value_is_found_by_any_spelling() -> None:
    metrics = ["recall@5", "map(of=all)@5"]
    report = evaluate({"m": real_factors()}, skewed_split(), metrics=metrics[:1], estimators=["aoa", "snips"])
    listed = evaluate({"m": real_factors()}, skewed_split(), metrics=metrics, estimators=["aoa"])
    assert listed.value("m", "map(of=all)@5", "aoa") == listed.value("m", "map@5", " aoa ")
    value = report.value("m", "recall@5", "snips")
    for word in ("snips(per=pair)", "snips( per = pair )", "snips"):
        assert report.value("m", "recall@5", word) == value
    assert report.value("m", parse_metric("recall@5"), report.settings.estimators[1]) == value
    with pytest.raises(ConfigError, match="no estimate 'm recall@6 snips'"):
        report.value("m", "recall@6", "snips")
    with pytest.raises(ConfigError, match="no estimate 'm recall@5 spins'"):
        report.value("m", "recall@5", "spins")


def test_the_split_shows_the_users_and_items_of_each_part() -> None:
    split = Split(Interactions.from_arrays([0, 1, 2], [0, 1, 2]), Interactions.from_arrays([7], [0]))
    assert repr(split) == (
        "Split(train=Interactions(3 rows, 3 users, 3 items), test=Interactions(1 rows, 1 users, 1 items), "
        "candidates=unseen)"
    )


def test_notes_of_a_split_are_warnings_too() -> None:
    split = replace(skewed_split(), notes=("items.csv: lacks some",))
    assert "items.csv: lacks some" in evaluate({"m": real_factors()}, split).warnings
