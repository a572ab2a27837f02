"""What holds for every registered metric, under every option and a few cut-offs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranked_lists import (
    ScoredUser,
    all_forms,
    all_words,
    placed_user,
    ranking_words,
    ranks_of,
    rows_of,
    scored_users,
    user_values,
)

from oracles import LOSS_ORACLES, ORACLES, tie_orders
from unskew.errors import ConfigError
from unskew.metrics import ListMetric, Metric, RatingLoss, UserLists, expected_move, parse_metric

WORDS = ranking_words()
every_ranking = pytest.mark.parametrize("word", WORDS)
every_metric = pytest.mark.parametrize("word", all_words())
many = settings(max_examples=25)
few = settings(max_examples=10)  # each goes through all parts


def oracle_values(word: str, user: ScoredUser, *, top_n: bool = False) -> list[float]:
    form, _, k = word.partition("@")
    listed = user.listed if top_n else len(user.scores)
    cutoff = int(k) if k else None
    return [ORACLES[form](ranking, cutoff, listed) for ranking in tie_orders(user.scores, user.relevant)]


def test_every_form_has_an_oracle():
    assert len(all_forms()) == len(set(all_forms()))
    assert set(all_forms()) == set(ORACLES) | set(LOSS_ORACLES)


@every_ranking
@many
@given(users=st.lists(scored_users(), min_size=1, max_size=4))
def test_the_value_under_ties_is_the_mean_over_all_orders(word, users):
    means = [np.mean(oracle_values(word, user)) for user in users]
    np.testing.assert_allclose(user_values(parse_metric(word), users), means, rtol=1e-12, atol=1e-14)


@every_ranking
@many
@given(user=scored_users())
def test_what_is_not_listed_gains_nothing_with_a_cutoff_and_stands_tied_below_without(word, user):
    mean = np.mean(oracle_values(word, user, top_n=True))
    got = user_values(parse_metric(word), [user], top_n=True)
    np.testing.assert_allclose(got, [mean], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("word", [w for w in WORDS if parse_metric(w).kind == "list"])
@many
@given(user=scored_users())
def test_optimistic_and_pessimistic_list_values_are_the_best_and_the_worst_order(word, user):
    possible = oracle_values(word, user)
    metric = parse_metric(word)
    best = user_values(metric, [user], policy="optimistic")
    worst = user_values(metric, [user], policy="pessimistic")
    np.testing.assert_allclose(best, [max(possible)], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(worst, [min(possible)], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("word", [w for w in WORDS if parse_metric(w).kind != "list"])
@many
@given(user=scored_users())
def test_the_expected_gain_of_a_row_is_the_mean_gain_over_its_places(word, user):
    metric = parse_metric(word)
    assert isinstance(metric, Metric)
    _, above, tied, candidates, _ = rows_of([user])
    want = [
        np.mean(metric.gain(np.arange(a, a + t + 1), np.full(t + 1, n)))
        for a, t, n in zip(above, tied, candidates, strict=True)
    ]
    np.testing.assert_allclose(metric.expected(above, tied, candidates), want, rtol=1e-12)


@every_ranking
@many
@given(user=scored_users())
def test_values_are_at_least_zero_and_means_and_lists_at_most_one(word, user):
    metric = parse_metric(word)
    for policy in ("expected", "optimistic", "pessimistic"):
        value = float(user_values(metric, [user], policy=policy)[0])
        if math.isnan(value):
            assert word == "auc(of=negatives)"
            assert all(user.relevant)
        else:
            summed = metric.kind in {"sum", "graded"}
            top = math.inf if word.startswith("dcg") or (policy != "expected" and summed) else 1
            assert -1e-12 <= value <= top + 1e-12


@every_ranking
@many
@given(ranks=st.sets(st.integers(1, 12), min_size=1), data=st.data())
def test_moving_an_item_up_never_costs_anything(word, ranks, data):
    free = [rank for rank in range(2, 13) if rank in ranks and rank - 1 not in ranks]
    if not free:
        return
    mover = data.draw(st.sampled_from(free))
    before = tuple(12 - place for place in range(12)), tuple(rank in ranks for rank in range(1, 13))
    moved = (ranks - {mover}) | {mover - 1}
    after = before[0], tuple(rank in moved for rank in range(1, 13))
    values = user_values(parse_metric(word), [ScoredUser(*before), ScoredUser(*after)])
    assert values[1] >= values[0] - 1e-12


@every_metric
def test_printing_a_metric_gives_its_word_back(word):
    assert str(parse_metric(word)) == word
    assert parse_metric(str(parse_metric(word))) == parse_metric(word)
    assert hash(parse_metric(word)) == hash(parse_metric(word))


@every_metric
def test_every_definition_is_one_line(word):
    definition = parse_metric(word).definition
    assert definition
    assert "\n" not in definition
    assert "None" not in definition


@every_metric
def test_nothing_in_gives_nothing_out(word):
    metric = parse_metric(word)
    none = np.zeros(0, dtype=np.int32)
    if isinstance(metric, RatingLoss):
        assert metric.loss(np.zeros(0), np.zeros(0)).shape == (0,)
    elif isinstance(metric, ListMetric):
        assert metric.values(UserLists.from_rows(np.zeros(1, int), none, none, none)).shape == (0,)
        assert np.isnan(metric.values(UserLists.from_rows(np.zeros(3, int), none, none, none))).all()
    else:
        assert metric.row_gains(none, none, none, none).shape == (0,)


@pytest.mark.parametrize("word", [w for w in WORDS if parse_metric(w).kind == "list"])
def test_a_user_without_positives_has_no_value_and_disturbs_nobody(word):
    metric = parse_metric(word)
    columns = [np.array([0, 4, 1]), np.array([0, 2, 1]), np.array([9, 9, 9]), np.array([5, 5, 5])]
    with_gap = metric.values(UserLists.from_rows(np.array([0, 0, 2, 2, 3, 3]), *columns))
    without = metric.values(UserLists.from_rows(np.array([0, 2, 3]), *columns))
    assert np.isnan(with_gap[[0, 2, 4]]).all()
    np.testing.assert_array_equal(with_gap[[1, 3]], without)


@every_ranking
@few
@given(users=st.lists(scored_users(), min_size=1, max_size=3), top_n=st.booleans(), data=st.data())
def test_the_expected_move_is_the_mean_over_all_parts_of_a_size(word, users, top_n, data):
    users = [
        ScoredUser((*user.scores, 0), (*user.relevant, False)) for user in users
    ]  # with a negative all have an AUC
    sizes = [data.draw(st.integers(1, sum(user.relevant)), label="size") for user in users]
    metric = parse_metric(word)
    move = expected_move(metric, ranks_of(users, top_n=top_n), sizes=sizes)
    want = [user_values(metric, user.parts(size), top_n=top_n).mean() for user, size in zip(users, sizes, strict=True)]
    np.testing.assert_allclose(move.per_user_before, user_values(metric, users, top_n=top_n), rtol=1e-12)
    np.testing.assert_allclose(move.per_user_after, want, rtol=1e-12, atol=1e-14)
    if metric.unbiased_to_missing:
        np.testing.assert_array_equal(move.per_user_after, move.per_user_before)


@every_ranking
@few
@given(user=scored_users(), data=st.data())
def test_the_value_of_the_whole_told_from_a_part_is_right_on_average(word, user, data):
    user = ScoredUser((*user.scores, 0), (*user.relevant, False))
    metric, p = parse_metric(word), sum(user.relevant)
    size = data.draw(st.integers(min(2, p), p), label="size")  # one positive says nothing of pairs
    parts = ranks_of(user.parts(size))
    if size < p and word.partition("@")[0] in {"mrr", "hit"}:
        with pytest.raises(ConfigError, match="use fewer"):
            expected_move(metric, parts, sizes=np.full(math.comb(p, size), p))
        return
    told = expected_move(metric, parts, sizes=np.full(math.comb(p, size), p))
    np.testing.assert_allclose(told.after, user_values(metric, [user])[0], rtol=1e-12, atol=1e-14)


@every_ranking
def test_a_ranking_metric_moves_with_the_size_unless_it_says_that_it_does_not(word):
    every_second = placed_user(range(0, 30, 2), 30)
    metric = parse_metric(word)
    (whole,) = user_values(metric, [every_second])
    part = user_values(metric, every_second.parts(2)).mean()
    assert metric.unbiased_to_missing == (part == pytest.approx(whole, rel=1e-12))


@pytest.mark.parametrize("word", [w for w in all_words() if parse_metric(w).kind == "loss"])
def test_a_loss_moves_with_the_number_of_rows_unless_it_says_that_it_does_not(word):
    metric = parse_metric(word)
    assert isinstance(metric, RatingLoss)
    losses = metric.loss(np.array([1.0, 2.0, 5.0, 4.0, 3.0]), np.array([1.0, 4.0, 4.4, 1.5, 3.0]))
    for size in range(1, 5):
        means = np.array([np.mean(part) for part in itertools.combinations(losses, size)])
        whole, part = (
            (np.sqrt if metric.root else np.asarray)(losses.mean()),
            (np.sqrt(means) if metric.root else means),
        )
        assert metric.unbiased_to_missing == (part.mean() == pytest.approx(float(whole), rel=1e-12))


CHANCE = {
    "auc": lambda n, p: 1 / 2 + 1 / (2 * n),
    "auc(literal)": lambda n, p: 1 / 2 - 1 / (2 * n),
    "auc(of=negatives)": lambda n, p: 1 / 2,
    "atop": lambda n, p: 1 / 2,
    "adg": lambda n, p: sum(1 / math.log2(r + 1) for r in range(1, n + 1)) / n,
    "recall@10": lambda n, p: 10 / n,
    "precision@10": lambda n, p: p / n,
    "precision(of=list)@10": lambda n, p: p / n,
    "hit@10": lambda n, p: 1 - math.comb(n - 10, p) / math.comb(n, p),
    "mrr": lambda n, p: sum(math.comb(n - t, p - 1) / math.comb(n, p) / t for t in range(1, n - p + 2)),
    "cg@10": lambda n, p: p / n,
    "precision(gain=value)@10": lambda n, p: p / n,
    "dcg(gain=value)": lambda n, p: p * sum(1 / math.log2(r + 1) for r in range(1, n + 1)) / n,
    "map": lambda n, p: sum((1 + (t - 1) * (p - 1) / (n - 1)) / t for t in range(1, n + 1)) / n,
}


@pytest.mark.parametrize("word", CHANCE)
@pytest.mark.parametrize("n, p", [(50, 1), (50, 7), (400, 3), (1000, 40)])
def test_a_constant_scorer_gets_chance_level(word, n, p):
    user = ScoredUser((1,) * n, (True,) * p + (False,) * (n - p))
    assert user_values(parse_metric(word), [user])[0] == pytest.approx(CHANCE[word](n, p), rel=1e-11)
