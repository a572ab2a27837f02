"""Wang et al. 2024, theorems 1 to 3 and what follows from them, by sums over everything that could have been drawn."""

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_users import Labelled, every_sample

from unskew.arrays import Floats
from unskew.estimators import Ure
from unskew.metrics import Metric, parse_metric

NINE = (1, 0, 1, 0, 0, 1, 0, 1, 0)  # labels by rank; recall@1 is 1/4, recall@3 and recall@5 are 1/2


def recall_gains(length: int, k: int) -> list[float]:
    return [float(rank < k) for rank in range(length)]


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize(("k", "recall"), [(1, 1 / 4), (3, 1 / 2), (5, 1 / 2)])
def test_recall_from_a_sample_with_a_positive_is_unbiased_whatever_its_size(size: int, k: int, recall: float) -> None:
    """Theorem 3."""
    world, picks = every_sample(NINE, recall_gains(9, k), size)
    assert world.means(picks, Ure()).value == pytest.approx(recall, rel=1e-12)


@pytest.mark.parametrize(("size", "none"), [(2, (5, 18)), (3, (5, 42)), (5, (1, 126))])
def test_the_chance_of_a_sample_without_a_positive(size: int, none: tuple[int, int]) -> None:
    world, picks = every_sample(NINE, recall_gains(9, 1), size)
    rows = world.rows(picks)
    without = int((rows.positives == 0).sum())
    assert Fraction(without, rows.n_users) == Fraction(*none)
    assert Ure().terms(rows, "mean").n_users == rows.n_users - without


def test_counting_a_sample_without_a_positive_as_0_is_biased() -> None:
    """The theorem holds given n >= 1 alone: with zeros the mean is recall times P(n >= 1), 1/4 of 13/18."""
    world, picks = every_sample(NINE, recall_gains(9, 1), 2)
    terms = world.means(picks, Ure())
    assert terms.numerator.sum() / len(picks) == pytest.approx(13 / 72, rel=1e-12)


def in_sample(labels: Sequence[int], picked: Sequence[int], k: int) -> Fraction | None:
    """Recall@k among the picked ranks alone; None without a positive."""
    order = sorted(picked)
    positives = sum(labels[rank] for rank in order)
    return Fraction(sum(labels[rank] for rank in order[:k]), positives) if positives else None


def mean_in_sample(labels: Sequence[int], size: int, k: int) -> Fraction:
    found = [in_sample(labels, picked, k) for picked in itertools.combinations(range(len(labels)), size)]
    there = [value for value in found if value is not None]
    return sum(there, Fraction(0)) / len(there)


def test_recall_in_the_sample_is_that_of_a_larger_list_on_average_over_rankings() -> None:
    """Theorem 1: six items, two liked, three drawn; K-bar = 1 stands for K = 1 * 6 / 3 = 2."""
    inside, full, given_any = Fraction(0), Fraction(0), 0
    rankings = set(itertools.permutations((1, 1, 0, 0, 0, 0)))
    for labels in rankings:
        full += Fraction(sum(labels[:2]), 2)
        for picked in itertools.combinations(range(6), 3):
            value = in_sample(labels, picked, 1)
            if value is not None:
                inside, given_any = inside + value, given_any + 1
    assert inside / given_any == full / len(rankings) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("inner", "mean", "outer", "recall"), [(1, 0.7121, 2, Fraction(2, 3)), (2, 0.9697, 4, Fraction(1))]
)
def test_for_a_given_ranking_the_two_differ(inner: int, mean: float, outer: int, recall: Fraction) -> None:
    """A perfect ranker of ten items, three liked, five drawn: K-bar stands for 2 K-bar, and is not the same."""
    perfect = (1, 1, 1, 0, 0, 0, 0, 0, 0, 0)
    assert Fraction(sum(perfect[:outer]), 3) == recall
    assert float(mean_in_sample(perfect, 5, inner)) == pytest.approx(mean, abs=5e-5)
    assert abs(mean_in_sample(perfect, 5, inner) - recall) > Fraction(1, 40)
    world, picks = every_sample(perfect, recall_gains(10, outer), 5)
    assert world.means(picks, Ure()).value == pytest.approx(float(recall), rel=1e-12)


@st.composite
def ranked_users(draw: st.DrawFn) -> tuple[list[int], list[float], int]:
    """Labels by rank with a positive, any function of rank, and a sample size."""
    length = draw(st.integers(2, 8))
    labels = draw(st.lists(st.integers(0, 1), min_size=length, max_size=length).filter(any))
    gains = draw(st.lists(st.floats(-10, 10), min_size=length, max_size=length))
    return labels, gains, draw(st.integers(1, length))


def gains_of(word: str, length: int) -> list[float]:
    metric = parse_metric(word)
    assert isinstance(metric, Metric)
    above = np.arange(length)
    return metric.row_gains(above, np.zeros_like(above), np.full(length, length)).tolist()


def check_lemma(labels: list[int], gains: list[float], size: int) -> None:
    """The mean over sampled positives has the mean over all positives as its own, for every number n >= 1 of them."""
    truth = float(np.dot(labels, gains)) / sum(labels)
    world, picks = every_sample(labels, gains, size)
    terms, numbers = world.means(picks, Ure()), world.rows(picks).positives
    assert terms.value == pytest.approx(truth, rel=1e-9, abs=1e-9)
    for n in set(numbers.tolist()) - {0}:
        assert terms.numerator[numbers == n].mean() == pytest.approx(truth, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(ranked_users())
def test_the_mean_of_any_function_of_rank_is_unbiased_given_the_number_of_positives(
    user: tuple[list[int], list[float], int],
) -> None:
    check_lemma(*user)


@pytest.mark.parametrize("word", ["adg", "adg@4", "atop", "auc", "auc(literal)", "recall@4"])
@settings(max_examples=15, deadline=None)
@given(user=ranked_users())
def test_so_are_the_metrics_that_are_means(word: str, user: tuple[list[int], list[float], int]) -> None:
    labels, _, size = user
    check_lemma(labels, gains_of(word, len(labels)), size)


@settings(max_examples=60, deadline=None)
@given(ranked_users(), st.integers(1, 8))
def test_the_variance_of_recall_given_n_is_that_of_a_finite_population(
    user: tuple[list[int], list[float], int], k: int
) -> None:
    """Var(m / n | n) = p (1 - p) / n * (N+ - n) / (N+ - 1)."""
    labels, _, size = user
    total = sum(labels)
    p = sum(labels[:k]) / total
    world, picks = every_sample(labels, recall_gains(len(labels), k), size)
    values, numbers = world.means(picks, Ure()).numerator, world.rows(picks).positives
    for n in set(numbers.tolist()) - {0}:
        correction = (total - n) / (total - 1) if total > 1 else 0.0
        assert values[numbers == n].var() == pytest.approx(p * (1 - p) / n * correction, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(ranked_users(), st.booleans())
def test_sums_are_unbiased_with_samples_that_hold_no_positive(
    user: tuple[list[int], list[float], int], likes_nothing: bool
) -> None:
    """Horvitz-Thompson; a user who likes nothing at all has 0."""
    labels, gains, size = user
    labels = [0] * len(labels) if likes_nothing else labels
    world, picks = every_sample(labels, gains, size)
    assert world.sums(picks, Ure()).value == pytest.approx(float(np.dot(labels, gains)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("word", ["precision@1", "precision@3", "dcg@3", "dcg"])
def test_precision_and_dcg_of_users_with_other_samples_and_populations_are_unbiased(word: str) -> None:
    """Three users, of whom one likes nothing, with 2 of 5, 1 of 4 and 3 of 4 items exposed: 160 samples."""
    labels = [(0, 1, 1, 0, 0), (0, 0, 0, 0), (1, 0, 0, 1)]
    world = Labelled(labels, [gains_of(word, len(row)) for row in labels])
    values = [world.sums(picks, Ure()).value for picks in world.draws((2, 1, 3))]
    assert len(values) == comb(5, 2) * 4 * 4
    assert np.mean(values) == pytest.approx(world.totals.mean(), rel=1e-12)


def test_what_falls_into_a_part_of_the_population_is_a_random_sample_of_that_part() -> None:
    """So exposed rows that are in train may be left out, and the rest judged among unseen items: 4 of 7, part of 5."""
    part = {0, 2, 3, 5, 6}
    kept = Counter(tuple(sorted(part.intersection(picked))) for picked in itertools.combinations(range(7), 4))
    for size in (2, 3, 4):
        times = [kept[subset] for subset in itertools.combinations(sorted(part), size)]
        assert min(times) > 0
        assert len(set(times)) == 1


def surprise(x: Floats | float) -> Floats:
    """-ln of the sigmoid, at any x."""
    return np.logaddexp(0.0, -np.asarray(x, dtype=float))


WIDE = st.one_of(st.floats(-50, 50), st.floats(-1e150, 1e150), st.sampled_from([0.0, -0.0, 1e-300, 745.0, -745.0]))


@settings(max_examples=500, deadline=None)
@given(WIDE, WIDE)
def test_the_cross_entropy_of_a_pair_is_above_its_pairwise_loss(a: float, b: float) -> None:
    """Theorem 2: -ln s(a) - ln(1 - s(b)) >= -ln s(a - b), for (1 + e^-a)(1 + e^b) >= 1 + e^(b - a)."""
    pair = float(surprise(a - b))
    assert float(surprise(a) + surprise(-b)) >= pair * (1 - 1e-12)


def test_the_bound_is_near_where_both_scores_are_wrong_and_far_where_they_are_equal_and_high() -> None:
    assert float(surprise(-40.0) + surprise(-40.0)) == pytest.approx(float(surprise(-80.0)), rel=1e-12)
    assert float(surprise(40.0) + surprise(-40.0)) > 50 * float(surprise(0.0))
