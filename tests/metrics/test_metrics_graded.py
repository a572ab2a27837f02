"""Rankings judged by the ratings of what they show."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.metrics import CG, DCGOfValues, GradedMetric, Metric, PrecisionOfValues, parse_metric

WORDS = (
    "cg@1", "cg@2", "cg@10", "dcg(gain=value)", "dcg(gain=value)@1", "dcg(gain=value)@3", "precision(gain=value)@2",
    "precision(gain=value)@10", "precision(gain=value, of=list)@2", "precision(gain=value, of=list)@10",
)  # fmt: skip
few = settings(max_examples=25)
every_word = pytest.mark.parametrize("word", WORDS)

Rated = list[tuple[int, float]]
rated_items = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([1.0, 2.0, 2.5, 4.0, 5.0])), min_size=1, max_size=6)


def value_of(word: str, items: Rated, *, top_n: bool = False) -> float:
    """The metric of one user whose every item is rated; a score of 0 means that the model did not list the item."""
    metric = parse_metric(word)
    assert isinstance(metric, Metric)
    scores = np.array([score for score, _ in items])
    ratings = np.array([rating for _, rating in items])
    above = np.array([int(np.sum(scores > score)) for score in scores])
    tied = np.array([int(np.sum(scores == score)) - 1 for score in scores])
    listed = np.full(len(items), int(np.sum(scores > 0))) if top_n else None
    return float(metric.row_gains(above, tied, np.full(len(items), len(items)), listed) @ ratings)


def by_definition(word: str, ranking: Sequence[float], listed: int) -> float:
    """Place by place; `ranking` holds the ratings, best place first."""
    form, _, at = word.partition("@")
    k = int(at) if at else None
    shown = list(ranking) if k is None else list(ranking)[: min(k, listed)]
    if form.startswith("dcg"):
        return sum(rating / math.log2(place + 2) for place, rating in enumerate(shown))
    assert k is not None
    return sum(shown) / (k if form == "precision(gain=value)" else max(min(k, listed), 1))


def orders(items: Rated) -> Iterator[list[float]]:
    """The ratings in every order that the scores allow."""
    groups = [
        list(itertools.permutations([rating for own, rating in items if own == score]))
        for score in sorted({score for score, _ in items}, reverse=True)
    ]
    for choice in itertools.product(*groups):
        yield [rating for group in choice for rating in group]


def test_three_ratings_by_hand():
    """Shown 4, 1, 5 in this order: 4 + 1 / log2(3) + 5 / 2."""
    items = [(9, 4.0), (7, 1.0), (5, 5.0)]
    assert value_of("dcg(gain=value)", items) == pytest.approx(4 + 1 / math.log2(3) + 2.5)
    assert value_of("dcg(gain=value)@2", items) == pytest.approx(4 + 1 / math.log2(3))
    assert value_of("cg@2", items) == 2.5
    assert value_of("precision(gain=value)@2", items) == 2.5
    assert value_of("cg@5", items) == pytest.approx(10 / 3)
    assert value_of("precision(gain=value)@5", items) == 2
    assert value_of("precision(gain=value, of=list)@5", items) == pytest.approx(10 / 3)


def test_a_tie_shares_the_places():
    """4 and 2 share the places 1 and 2, so 3 a place."""
    items = [(5, 4.0), (5, 2.0), (1, 5.0)]
    assert value_of("cg@1", items) == 3
    assert value_of("dcg(gain=value)@2", items) == pytest.approx(3 * (1 + 1 / math.log2(3)))


def test_a_list_shorter_than_the_cutoff_divides_by_its_own_length():
    items = [(2, 4.0), (1, 2.0), (0, 5.0), (0, 5.0)]
    assert value_of("cg@3", items, top_n=True) == 3
    assert value_of("precision(gain=value)@3", items, top_n=True) == 2
    assert value_of("precision(gain=value, of=list)@3", items, top_n=True) == 3
    assert value_of("dcg(gain=value)@3", items, top_n=True) == pytest.approx(4 + 2 / math.log2(3))


def test_who_lists_nothing_gains_nothing():
    for word in WORDS:
        if "@" in word:
            assert value_of(word, [(0, 4.0), (0, 2.0)], top_n=True) == 0


def test_the_sum_of_discounts_of_fifty_places_is_that_of_the_rotated_ratings_of_schnabel():
    """One star at each of the first 50 places: 12.8977 with log2(rank + 1); printed as 12.90 in their table 1."""
    items = [(100 - place, 1.0) for place in range(80)]
    assert value_of("dcg(gain=value)@50", items) == pytest.approx(12.8977, abs=5e-5)


@every_word
@few
@given(items=rated_items)
def test_the_value_is_the_mean_over_all_orders_of_ties(word, items):
    want = np.mean([by_definition(word, ranking, len(items)) for ranking in orders(items)])
    assert value_of(word, items) == pytest.approx(want, rel=1e-12)


@every_word
@few
@given(items=rated_items)
def test_of_a_short_list_only_what_it_holds_gains_under_a_cutoff(word, items):
    listed = sum(score > 0 for score, _ in items)
    want = np.mean([by_definition(word, ranking, listed) for ranking in orders(items)])
    assert value_of(word, items, top_n=True) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("k", [None, 1, 3, 10])
@few
@given(items=rated_items.filter(lambda items: len(items) > 1))
def test_dcg_of_values_is_scikit_learns_with_ties_and_without(k, items):
    from sklearn.metrics import dcg_score, ndcg_score

    word = "dcg(gain=value)" if k is None else f"dcg(gain=value)@{k}"
    scores, ratings = [score for score, _ in items], [rating for _, rating in items]
    assert value_of(word, items) == pytest.approx(dcg_score([ratings], [scores], k=k), rel=1e-12)
    best = [(place, rating) for place, rating in enumerate(sorted(ratings))]
    share = value_of(word, items) / value_of(word, best)
    assert share == pytest.approx(ndcg_score([ratings], [scores], k=k), rel=1e-12)


@every_word
@few
@given(items=rated_items, factor=st.sampled_from([0.5, 2.0, 10.0]))
def test_the_value_scales_with_the_ratings(word, items, factor):
    scaled = [(score, factor * rating) for score, rating in items]
    assert value_of(word, scaled) == pytest.approx(factor * value_of(word, items), rel=1e-12)


@few
@given(items=rated_items, k=st.integers(1, 8))
def test_cg_lies_between_the_ratings_and_is_the_mean_of_all_at_full_length(items, k):
    ratings = [rating for _, rating in items]
    assert min(ratings) - 1e-12 <= value_of(f"cg@{k}", items) <= max(ratings) + 1e-12
    assert value_of(f"cg@{len(items)}", items) == pytest.approx(np.mean(ratings), rel=1e-12)


@few
@given(items=rated_items, k=st.integers(1, 8))
def test_cg_is_precision_of_values_over_the_length_of_the_list(items, k):
    assert value_of(f"cg@{k}", items) == value_of(f"precision(gain=value, of=list)@{k}", items)
    short = min(k, len(items)) / k
    assert value_of(f"precision(gain=value)@{k}", items) == pytest.approx(value_of(f"cg@{k}", items) * short, rel=1e-12)


@every_word
@few
@given(ratings=st.permutations([1.0, 2.0, 3.0, 4.0, 5.0]), place=st.integers(0, 3))
def test_exchanging_two_neighbours_so_that_the_better_stands_above_never_costs_anything(word, ratings, place):
    items = [(10 - rank, rating) for rank, rating in enumerate(ratings)]
    above, below = sorted(ratings[place : place + 2], reverse=True)
    improved = [*ratings[:place], above, below, *ratings[place + 2 :]]
    better = [(10 - rank, rating) for rank, rating in enumerate(improved)]
    assert value_of(word, better) >= value_of(word, items) - 1e-12


@pytest.mark.parametrize("word", WORDS)
def test_words_come_back(word):
    assert str(parse_metric(word)) == word
    assert parse_metric(str(parse_metric(word))) == parse_metric(word)


def test_metrics_made_in_python_print_as_words():
    assert str(DCGOfValues() @ 50) == "dcg(gain=value)@50"
    assert str(PrecisionOfValues(of="list") @ 3) == "precision(gain=value, of=list)@3"
    assert str(CG() @ 4) == "cg@4"
    assert parse_metric("precision(of=list, gain=value)@3") == PrecisionOfValues(of="list") @ 3
    assert (CG() @ 4).kind == "graded"
    assert isinstance(DCGOfValues(), GradedMetric)


@pytest.mark.parametrize(
    "word, message",
    [
        ("cg", "cg needs a cut-off, as in cg@10"),
        ("precision(gain=value)", r"precision\(gain=value\) needs a cut-off"),
        ("cg@0", "at least 1"),
        ("precision(gain=value, of=lists)@3", "did you mean 'list'"),
        ("cg(gain=value)@3", "no option 'gain'"),
        ("dcg(gain=stars)@3", "gain=value"),
    ],
)
def test_words_that_mean_nothing_are_refused(word, message):
    with pytest.raises(ConfigError, match=message):
        parse_metric(word)


def test_a_cutoff_is_given_once():
    with pytest.raises(ConfigError, match="already has a cut-off"):
        (CG() @ 4) @ 3


def test_definitions_say_what_is_divided_by():
    assert parse_metric("cg@7").definition == "mean rating of the top 7"
    assert parse_metric("dcg(gain=value)").definition == "sum of rating/log2(rank + 1) over all candidates"
    assert parse_metric("dcg(gain=value)@7").definition == "sum of rating/log2(rank + 1) over the top 7"
    assert parse_metric("precision(gain=value)@7").definition == "sum of ratings in the top 7 / 7"
    assert parse_metric("precision(gain=value, of=list)@7").definition.endswith("/ min(7, length of the list)")
