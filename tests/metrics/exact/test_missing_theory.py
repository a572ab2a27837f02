"""The theorems of Lim et al. (2015) on missing feedback, by going through every part of a user's relevant items."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from unskew import Interactions, Split, evaluate
from unskew.metrics import ATOP, expected_average_precision, expected_move, ndcg_shrinkage, parse_metric
from unskew.models import Svd
from unskew.testing.oracles import tie_orders
from unskew.testing.strategies import scored_users
from unskew.testing.worlds.scored_users import ScoredUser, placed_user, ranking_words, ranks_of, user_values

FIVE_OF_EIGHT = placed_user([0, 2, 3, 5, 7], 8)
UNBIASED = [word for word in ranking_words() if parse_metric(word).unbiased_to_missing]


def over_parts(word: str, user: ScoredUser, size: int) -> float:
    """Return the mean over all parts of this size."""
    return float(user_values(parse_metric(word), user.parts(size)).mean())


def value(word: str, user: ScoredUser) -> float:
    return float(user_values(parse_metric(word), [user])[0])


def test_the_numbers_of_five_relevant_items_among_eight():
    assert value("adg", FIVE_OF_EIGHT) == pytest.approx(0.5204697244, abs=5e-11)
    assert value("ndcg", FIVE_OF_EIGHT) == pytest.approx(0.8826130928, abs=5e-11)
    sizes = np.arange(1, 6)
    adg, ndcg = ([over_parts(word, FIVE_OF_EIGHT, int(size)) for size in sizes] for word in ("adg", "ndcg"))
    np.testing.assert_allclose(adg, 0.5204697244, rtol=0, atol=5e-11)
    np.testing.assert_allclose(ndcg, [0.5204697, 0.6382491, 0.7327361, 0.8127240, 0.8826131], rtol=0, atol=5e-8)
    shrinkage = ndcg_shrinkage(sizes, 5)
    np.testing.assert_allclose(shrinkage, [0.5896918, 0.7231358, 0.8301895, 0.9208157, 1], rtol=0, atol=5e-8)
    np.testing.assert_allclose(np.array(ndcg) / value("ndcg", FIVE_OF_EIGHT), shrinkage, rtol=1e-13)


@pytest.mark.parametrize("word", UNBIASED)
def test_theorem_1_a_mean_has_the_same_expectation_at_every_size(word):
    whole = value(word, FIVE_OF_EIGHT)
    for size in range(1, 6):
        assert over_parts(word, FIVE_OF_EIGHT, size) == pytest.approx(whole, rel=1e-13)


@pytest.mark.parametrize("word", UNBIASED)
@pytest.mark.parametrize("observed", [0.1, 0.5, 0.9])
def test_theorem_1_holds_for_a_mixture_of_sizes_such_as_each_item_observed_by_a_coin(word, observed):
    total = weight = 0.0
    for size in range(1, 6):  # a user with nothing observed has no value
        chance = observed**size * (1 - observed) ** (5 - size)
        total += chance * user_values(parse_metric(word), FIVE_OF_EIGHT.parts(size)).sum()
        weight += chance * math.comb(5, size)
    assert total / weight == pytest.approx(value(word, FIVE_OF_EIGHT), rel=1e-13)


@settings(max_examples=30)
@given(user=scored_users(max_items=9), data=st.data())
@pytest.mark.parametrize("word", ["ndcg", "ndcg@3", "ndcg(ideal=all)@3", "ndcg(discount=lenskit)@4"])
def test_theorem_2_ndcg_shrinks_by_a_factor_of_the_two_sizes_alone(word, user, data):
    metric, p = parse_metric(word), sum(user.relevant)
    size = data.draw(st.integers(1, p))
    factor = ndcg_shrinkage(size, p, k=metric.k, discount=metric.discount, ideal=metric.ideal)
    assert over_parts(word, user, size) == pytest.approx(float(factor) * value(word, user), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("k", [None, 1, 2, 10, 300])
@pytest.mark.parametrize("ideal", ["cut", "all"])
@pytest.mark.parametrize("discount", ["standard", "lenskit"])
def test_ndcg_always_falls_short_since_k_by_ideal_gain_strictly_rises(k, ideal, discount):
    sizes = np.arange(1, 1001)
    rising = ndcg_shrinkage(sizes, 1, k=k, ideal=ideal, discount=discount)  # s / IDCG(s), as IDCG(1) = 1
    steps = np.diff(rising)
    flat = discount == "lenskit" and not (k == 1 and ideal == "cut")  # places 1 and 2 count in full there
    assert np.all(steps[1:] > 0)
    assert (steps[0] == 0) == flat
    falls = ndcg_shrinkage(sizes[:-1], 1000, k=k, ideal=ideal, discount=discount)
    assert np.all(falls < 1)


@settings(max_examples=50)
@given(user=scored_users(max_items=9), data=st.data())
def test_average_precision_of_a_part_by_the_formula_with_the_positives_above(user, data):
    order = placed_user([place for place, relevant in enumerate(user.relevant) if relevant], len(user.scores))
    above, _ = order.ranks()
    size = data.draw(st.integers(1, len(above)))
    got = expected_average_precision(above, size)
    assert got == pytest.approx(over_parts("map", order, size), rel=1e-13)
    assert got == pytest.approx(expected_move("map", ranks_of([order]), sizes=[size]).after, rel=1e-13)


def test_average_precision_of_a_part_by_hand():
    # relevant at ranks 1 and 3: alone they have 1 and 1/3, together (1 + 2/3) / 2
    assert expected_average_precision([2, 0], 1) == pytest.approx(2 / 3)
    assert expected_average_precision([2, 0], 2) == pytest.approx(5 / 6)
    # ranks 1, 3 and 4, pairs: (1 + 2/3)/2, (1 + 2/4)/2 and (1/3 + 2/4)/2, their mean is 2/3
    assert expected_average_precision([0, 2, 3], 2) == pytest.approx(2 / 3)


@settings(max_examples=50)  # scikit-learn takes a millisecond each
@given(user=scored_users(max_items=12, max_score=20).filter(lambda user: not all(user.relevant)))
def test_atop_and_the_auc_of_pairs_differ_by_the_other_positives_only(user):
    # Lim et al. 2015, section 3: (n - 1) ATOP = (n - p) AUC + (p - 1) / 2; scikit-learn counts tied pairs half
    n, p = len(user.scores), sum(user.relevant)
    atop = float(user_values(ATOP(), [user])[0])
    auc = roc_auc_score(user.relevant, user.scores)
    assert ((n - 1) * atop - (p - 1) / 2) / (n - p) == pytest.approx(auc, rel=1e-12, abs=1e-15)
    assert auc - atop == pytest.approx((p - 1) * (atop - 0.5) / (n - p), abs=1e-12)


@settings(max_examples=20)
@given(user=scored_users(max_items=6).filter(lambda user: not all(user.relevant)))
def test_under_ties_the_auc_of_pairs_is_the_mean_over_the_orders_of_each_tie(user):
    orders = list(tie_orders(user.scores, user.relevant))
    mean = np.mean([roc_auc_score(order, range(len(order), 0, -1)) for order in orders])
    assert mean == pytest.approx(roc_auc_score(user.relevant, user.scores), rel=1e-12, abs=1e-15)
    assert mean == pytest.approx(value("auc(of=negatives)", user), rel=1e-12, abs=1e-15)


def halves(user: ScoredUser, validation: int, test: int) -> list[tuple[ScoredUser, ScoredUser]]:
    """Every choice of two disjoint parts of these sizes."""
    pairs = []
    for first in user.parts(validation):
        rest = ScoredUser(user.scores, tuple(r and not f for r, f in zip(user.relevant, first.relevant, strict=True)))
        pairs += [(first, second) for second in rest.parts(test)]
    return pairs


@pytest.mark.parametrize("validation, test", [(1, 2), (1, 4), (2, 3)])
def test_corollary_disjoint_validation_and_test_of_different_size_agree_for_means_only(validation, test):
    firsts, seconds = map(list, zip(*halves(FIVE_OF_EIGHT, validation, test), strict=True))
    for word in UNBIASED:
        metric = parse_metric(word)
        one, other = user_values(metric, firsts).mean(), user_values(metric, seconds).mean()
        assert one == pytest.approx(other, rel=1e-13)
    ndcg, average = (
        user_values(parse_metric(word), firsts).mean() / user_values(parse_metric(word), seconds).mean()
        for word in ("ndcg", "map")
    )
    assert ndcg == pytest.approx(float(ndcg_shrinkage(validation, test)), rel=1e-13)
    above, _ = FIVE_OF_EIGHT.ranks()
    told = expected_average_precision(above, validation) / expected_average_precision(above, test)
    assert average == pytest.approx(told, rel=1e-13)
    assert max(ndcg, average) < 0.95


@pytest.mark.parametrize("word", ["adg", "recall@3", "atop"])
def test_the_guarantee_fails_on_items_that_the_scorer_was_trained_on(word):
    metric, trained, held_out = parse_metric(word), [], []
    for train, rest in halves(FIVE_OF_EIGHT, 2, 3):
        memory = tuple(s + 100 * seen for s, seen in zip(train.scores, train.relevant, strict=True))
        trained.append(ScoredUser(memory, train.relevant))
        held_out.append(ScoredUser(memory, rest.relevant))
    on_train, on_rest = user_values(metric, trained), user_values(metric, held_out)
    assert on_train.min() > on_rest.max()  # in every one of the ten splits, not on average only
    best = value(word, placed_user([0, 1], 8))
    np.testing.assert_allclose(on_train, best)


def test_a_model_that_fits_its_training_items_exactly_says_nothing_of_the_others_by_them():
    rng = np.random.default_rng(0)
    rows = [(user, item) for user in range(30) for item in rng.choice(60, 10, replace=False)]
    logs = []
    for part in (0, 1):  # relevant items are drawn at random, and every second one is trained on
        users, items = zip(*rows[part::2], strict=True)
        logs.append(Interactions.from_frame(pl.DataFrame({"user": users, "item": items})))
    model = Svd(rank=30).fit(logs[0], rng=0)
    on_train, on_rest = (
        evaluate(
            {"svd": model}, Split(logs[0], test, candidates="all"), metrics=["adg", "recall@5"], estimators=["aoa"]
        )
        for test in logs
    )
    trained, rest = ([estimate.value for estimate in report.estimates] for report in (on_train, on_rest))
    assert trained[1] == 1  # all five lead the list
    assert trained[0] == pytest.approx(np.mean(1 / np.log2(np.arange(2, 7))))
    assert rest[1] == 0
    assert rest[0] < trained[0] / 2
