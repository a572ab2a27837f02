"""Expected values of list metrics against all sets of relevant items, and against a simulation."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.arrays import Floats
from unskew.metrics import ListMetric, UserLists, parse_metric
from unskew.ranking import ListScorer, MatrixScorer, Scorer, everyone, prepare_contest, sum_candidates
from unskew.ranking.all_candidates.list_expectation import count_relevant
from unskew.testing.worlds.scored_users import ranking_words

FORMS = [word for word in ranking_words((1, 2, 3, 20)) if parse_metric(word).kind == "list" and "@" in word]


def one_user(n_items: int) -> Split:
    """A user who has seen item 0 of n + 1."""
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=n_items + 1)
    return Split(train, Interactions.from_arrays([0], [1], n_users=1, n_items=n_items + 1))


def expected(scorer: Scorer, chances: Floats, words: list[str], *, full: bool = False) -> dict[str, float]:
    split = one_user(len(chances))
    contest = everyone(prepare_contest({"model": scorer}, split), split)
    metrics = [parse_metric(word) for word in words] + ([parse_metric("adg")] if full else [])
    given_chances = np.append(0.9, chances)[None]
    sums = sum_candidates(scorer, contest, lambda _: given_chances.copy(), metrics)
    return {word: float(sums.values[word][0]) for word in words}


def value(word: str, scores: Floats, relevant: tuple[int, ...], listed: int | None = None) -> float:
    """The value of a metric if these items are relevant."""
    metric = parse_metric(word)
    assert isinstance(metric, ListMetric)
    above = np.array([np.sum(scores > scores[item]) for item in relevant])
    tied = np.array([np.sum(scores == scores[item]) - 1 for item in relevant])
    counts = np.full(len(relevant), len(scores))
    lengths = None if listed is None else np.full(len(relevant), listed)
    lists = UserLists.from_rows(np.array([0, len(relevant)]), above, tied, counts, lengths)
    return float(metric.values(lists)[0])


def enumerated(word: str, scores: Floats, chances: Floats, listed: int | None = None) -> float:
    """The mean over all sets of relevant items; the empty set adds nothing."""
    total = 0.0
    for flags in itertools.product([False, True], repeat=len(chances)):
        weight = np.prod(np.where(flags, chances, 1 - chances))
        if any(flags) and weight:
            total += weight * value(word, scores, tuple(np.flatnonzero(flags).tolist()), listed)
    return total


def chances_of(n: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).random(n)
    return np.where(drawn < 0.1, 0, np.where(drawn > 0.95, 1, drawn))


@settings(max_examples=12)
@given(n=st.integers(1, 7), seed=st.integers(0, 999), full=st.booleans())
def test_values_without_ties_are_those_of_all_sets_of_relevant_items(n: int, seed: int, full: bool) -> None:
    scores = np.random.default_rng(seed).permutation(n).astype(float)
    chances = chances_of(n, seed + 1)
    values = expected(MatrixScorer(np.append(0.0, scores)[None]), chances, FORMS, full=full)
    for word in FORMS:
        np.testing.assert_allclose(values[word], enumerated(word, scores, chances), atol=1e-13, err_msg=word)


def test_values_of_ten_items_are_those_of_all_sets_of_relevant_items() -> None:
    scores, chances = np.random.default_rng(0).permutation(10).astype(float), chances_of(10, 4)
    words = ["ndcg@5", "ndcg(ideal=all)@5", "map@5", "map(of=min)@5", "mrr@5", "hit@5", "recall(of=min)@5"]
    values = expected(MatrixScorer(np.append(0.0, scores)[None]), chances, words)
    for word in words:
        np.testing.assert_allclose(values[word], enumerated(word, scores, chances), atol=1e-13)


@settings(max_examples=12)
@given(n=st.integers(2, 7), length=st.integers(0, 7), seed=st.integers(0, 999))
def test_items_outside_a_list_gain_nothing(n: int, length: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(n)[:length]
    scorer = ListScorer.from_arrays(np.append(order + 1, [0, -1])[None], n_items=n + 1)
    scores = np.full(n, -1.0)
    scores[order] = np.arange(len(order), 0, -1)
    chances = np.full(n, 0.3)
    chances[order] = chances_of(len(order), seed)
    values = expected(scorer, chances, FORMS)
    for word in FORMS:
        slow = enumerated(word, scores, chances, listed=len(order))
        np.testing.assert_allclose(values[word], slow, atol=1e-13, err_msg=word)


@settings(max_examples=12)
@given(n=st.integers(2, 7), seed=st.integers(0, 999))
def test_ties_of_equal_chances_are_exact(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, n).astype(float)
    chances = rng.random(3)[scores.astype(int)]
    values = expected(MatrixScorer(np.append(0.0, scores)[None]), chances, FORMS)
    for word in FORMS:
        np.testing.assert_allclose(values[word], enumerated(word, scores, chances), atol=1e-13, err_msg=word)


@pytest.mark.parametrize(("highest", "error"), [(1.0, 0.2), (0.1, 0.004)])
def test_ties_of_unequal_chances_are_off_by_what_the_module_states(highest: float, error: float) -> None:
    largest = 0.0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        scores, chances = rng.integers(0, 3, 7).astype(float), rng.random(7) * highest
        values = expected(MatrixScorer(np.append(0.0, scores)[None]), chances, FORMS)
        largest = max(largest, *(abs(values[word] - enumerated(word, scores, chances)) for word in FORMS))
    assert error / 10 < largest < error


@pytest.mark.parametrize("full", [False, True])
def test_values_in_a_larger_world_agree_with_a_simulation(full: bool) -> None:
    """400 items, 4,000 draws: 12 means, each within 4.5 standard errors; error rate 1e-4."""
    rng = np.random.default_rng(5)
    n, draws = 400, 4000
    scores = rng.standard_normal(n)
    chances = rng.beta(0.05, 5, n)
    forms = ("ndcg", "ndcg(ideal=all)", "map", "map(of=min)", "mrr", "hit")
    words = [f"{form}@{k}" for k in (10, 200) for form in forms]
    values = expected(MatrixScorer(np.append(0.0, scores)[None]), chances, words, full=full)
    drawn = rng.random((draws, n)) < chances
    above = np.argsort(np.argsort(-scores))
    counts = drawn.sum(axis=1)
    offsets = np.append(0, np.cumsum(counts))
    rows = np.broadcast_to(above, drawn.shape)[drawn]
    lists = UserLists.from_rows(offsets, rows, np.zeros_like(rows), np.full_like(rows, n))
    for word in words:
        metric = parse_metric(word)
        assert isinstance(metric, ListMetric)
        simulated = np.nan_to_num(metric.values(lists))
        error = simulated.std() / np.sqrt(draws)
        assert abs(simulated.mean() - values[word]) <= 4.5 * error + 1e-12, word


@pytest.mark.parametrize("most", [0, 1, 3, 50, 300])
@pytest.mark.parametrize("scale", [1e-6, 0.02, 1.0])
def test_the_number_of_relevant_items_has_the_distribution_of_a_sum(most: int, scale: float) -> None:
    chances = chances_of(300, 0) * scale
    slow = np.ones(1)
    for chance in chances:
        slow = np.convolve(slow, [1 - chance, chance])
    slow = np.append(slow[:most], slow[most:].sum())
    probabilities, low, high = count_relevant(chances, most)
    fast = np.zeros(most + 1)
    fast[low:high] = probabilities[low:high]
    np.testing.assert_allclose(fast, slow, atol=1e-15)
