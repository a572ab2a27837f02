"""What holds for every registered metric, under every option and a few cut-offs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.metrics import expected_move, parse_metric
from unskew.testing import check_metric
from unskew.testing.oracles import LOSSES, METRICS, tie_orders
from unskew.testing.strategies import scored_users
from unskew.testing.worlds.scored_users import ScoredUser, all_forms, all_words, ranking_words, ranks_of, user_values

WORDS = ranking_words()
every_ranking = pytest.mark.parametrize("word", WORDS)
every_metric = pytest.mark.parametrize("word", all_words())
many = settings(max_examples=25)
few = settings(max_examples=10)  # each goes through all parts


def oracle_values(word: str, user: ScoredUser, *, top_n: bool = False) -> list[float]:
    form, _, k = word.partition("@")
    listed = user.listed if top_n else len(user.scores)
    cutoff = int(k) if k else None
    return [METRICS[form](ranking, cutoff, listed) for ranking in tie_orders(user.scores, user.relevant)]


@every_metric
def test_every_metric_keeps_the_contract(word):
    """Means over a user's items and lists are shares; sums and losses have no bound."""
    is_share = parse_metric(word).kind in {"mean", "list"} or word.startswith(("precision", "cg", "accuracy"))
    check_metric(word, high=1 if is_share else math.inf)


def test_every_form_has_an_oracle():
    assert len(all_forms()) == len(set(all_forms()))
    assert set(all_forms()) == set(METRICS) | set(LOSSES)


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
