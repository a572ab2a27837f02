"""Metrics of what is in the lists: worked examples, plain loops, and intervals that hold as often as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.estimators import Terms
from unskew.metrics import Head, MetricWord, TopItems, list_metrics, parse_metric
from unskew.testing import check_metric
from unskew.testing.oracles import content_value

WORDS = [
    "coverage@3",
    "gini@3",
    "novelty@3",
    "popularity@3",
    "head@3",
    "head(share=0.5)@3",
    "head(of=rows, share=0.8)@3",
]


def value(word: str, items: list[list[int]], counts: list[int], n_users: int = 8) -> float:
    """The value of a metric on these lists."""
    lists = TopItems(np.array(items), np.array(counts), n_users)
    return float(np.mean(parse_metric(word).values(lists)))  # type: ignore[union-attr,arg-type]


def test_by_hand() -> None:
    lists, counts = [[0, 1], [0, 2]], [8, 4, 2, 0]
    assert value("coverage@2", lists, counts) == pytest.approx(3 / 4)
    # exposures 0, 1, 1, 2: the absolute differences of all pairs add up to 6, over 4 items and 4 places
    assert value("gini@2", lists, counts) == pytest.approx(6 / 16)
    # self-information 0, 1, 2 and, without training users, 3 as with a single one
    assert value("novelty@2", lists, counts) == pytest.approx(((0 + 1) / 2 + (0 + 2) / 2) / 2)
    assert value("novelty@1", [[3]], counts) == pytest.approx(3)
    assert value("popularity@2", lists, counts) == pytest.approx((6 + 5) / 2)
    assert value("head(share=0.25)@2", lists, counts) == pytest.approx(1 / 2)
    assert value("head(of=rows, share=0.8)@2", lists, counts) == pytest.approx((2 + 1) / 4)


def test_the_extremes_of_gini() -> None:
    assert value("gini@1", [[0], [1], [2], [3]], [1, 1, 1, 1]) == pytest.approx(0)
    assert value("gini@1", [[0], [0], [0], [0]], [1, 1, 1, 1]) == pytest.approx(3 / 4)  # 1 - 1/n is the largest


def test_items_that_tie_for_the_end_of_the_head_share_it() -> None:
    assert Head(share=0.5).membership(np.array([5, 1, 1, 1])).tolist() == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])
    assert Head(share=0.4).membership(np.ones(5, int)).tolist() == pytest.approx([0.4] * 5)
    assert Head(of="rows", share=0.8).membership(np.array([80, 10, 5, 5])).tolist() == [1, 0, 0, 0]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_values_are_those_of_plain_loops(data: st.DataObject) -> None:
    size, users = data.draw(st.integers(4, 9)), data.draw(st.integers(1, 6))
    places = st.lists(st.integers(0, size - 1), min_size=1, max_size=3, unique=True)
    items = [data.draw(places) for _ in range(users)]
    counts = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
    word = data.draw(st.sampled_from(WORDS))
    padded = [each + [-1] * (3 - len(each)) for each in items]
    assert value(word, padded, counts) == pytest.approx(content_value(word, items, counts, 8), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(["coverage@3", "gini@3"]))
def test_the_influence_of_a_user_is_what_the_value_loses_without_it(data: st.DataObject, word: str) -> None:
    size, users = data.draw(st.integers(4, 9)), data.draw(st.integers(2, 6))
    places = st.lists(st.integers(0, size - 1), min_size=1, max_size=3, unique=True)
    items = [data.draw(places) for _ in range(users)]
    padded = np.array([each + [-1] * (3 - len(each)) for each in items])
    got = parse_metric(word).values(TopItems(padded, np.ones(size, int), 5))  # type: ignore[union-attr,arg-type]
    whole = content_value(word, items, [1] * size, 5)
    without = np.array([content_value(word, items[:u] + items[u + 1 :], [1] * size, 5) for u in range(users)])
    assert got == pytest.approx(whole + (users - 1) * (without.mean() - without), abs=1e-9)


def test_a_user_without_a_list_has_no_mean_and_adds_nothing() -> None:
    lists = TopItems(np.array([[0, 1], [-1, -1]]), np.array([3, 1, 1]), 4)
    for word in ("novelty@2", "popularity@2", "head@2"):
        values = parse_metric(word).values(lists)  # type: ignore[union-attr,arg-type]
        assert np.isnan(values).tolist() == [False, True]
    assert value("coverage@2", [[0, 1], [-1, -1]], [3, 1, 1]) == pytest.approx(2 / 3)
    empty = parse_metric("gini@2").values(TopItems(np.full((2, 2), -1), np.ones(3, int), 4))  # type: ignore[union-attr,arg-type]
    assert np.isnan(empty).all()


@pytest.mark.parametrize("word", WORDS)
def test_every_one_keeps_the_contract(word: str) -> None:
    check_metric(word, high=100)
    assert str(parse_metric(word)) == word
    assert parse_metric(word).unbiased_to_missing
    assert not parse_metric(word).lower_is_better


def test_they_are_listed_and_need_a_cut_off() -> None:
    listed = {entry.form: entry for entry in list_metrics() if entry.kind == "content"}
    assert set(listed) == {"coverage@K", "gini@K", "novelty@K", "popularity@K", "head@K"}
    assert listed["head@K"].options == {"of": "items | rows", "share": "0.2"}
    for member in MetricWord.members():
        if member.kind == "content":
            with pytest.raises(ConfigError, match="needs a cut-off"):
                parse_metric(str(member()))


@pytest.mark.parametrize("word", ["head(share=0)@5", "head(share=1.5)@5", "head(of=users)@5"])
def test_a_head_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(ConfigError, match=r"head|of="):
        parse_metric(word)


@pytest.mark.parametrize("word", ["coverage@5", "gini@5", "novelty@5"])
@pytest.mark.parametrize(("users", "items", "exponent"), [(50, 60, 1.0), (30, 300, 0.8)])
def test_the_interval_holds_as_often_as_it_says(word: str, users: int, items: int, exponent: float) -> None:
    """Over 400 samples of users, an interval of 95 % misses the mean of the samples in at most 5 %.

    That rate has a standard error of 1.1 points, so 8.3 % would be 3 of them too many. The jackknife of coverage is
    wide: it misses in 0 to 3 %.
    """
    rng, metric = np.random.default_rng(3), parse_metric(word)
    counts = np.maximum((1000 / np.arange(1, items + 1)).astype(int), 1)
    values, errors = np.empty(400), np.empty(400)
    for draw in range(400):
        appeal = rng.gumbel(size=(users, items)) - exponent * np.log(np.arange(1, items + 1))
        lists = TopItems(np.argpartition(-appeal, 4, axis=1)[:, :5], counts, 2000)
        terms = Terms(metric.values(lists), np.ones(users))  # type: ignore[union-attr,arg-type]
        values[draw], errors[draw] = terms.value, terms.std_error
    misses = np.mean(np.abs(values - values.mean()) > 1.96 * errors)
    assert misses < 0.083
    if word == "novelty@5":
        assert misses > 0.017  # and it is not so wide that it never misses
