import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from unskew.errors import ConfigError
from unskew.metrics import (
    ADG,
    NDCG,
    ListMetric,
    Metric,
    UserLists,
    expected_average_precision,
    expected_move,
    list_metrics,
    ndcg_shrinkage,
    parse_metric,
)
from unskew.metrics.metric import Kind
from unskew.ranking import Ranks
from unskew.testing.worlds.scored_users import ScoredUser, placed_user, ranks_of, user_values

TWO = ranks_of([placed_user([0, 2], 4), placed_user([1, 3, 4], 6)])


@dataclass(frozen=True)
class Best(ListMetric):
    """The best gain of a list."""

    def values(self, lists):
        return 1 / (lists.above[lists.offsets[:-1]] + 1.0)


@dataclass(frozen=True)
class Middle(Best):
    """A value that is said not to depend on the size."""

    @property
    def unbiased_to_missing(self):
        return True


@dataclass(frozen=True)
class Total(Metric):
    """A sum."""

    kind: ClassVar[Kind] = "sum"

    def gain(self, above, candidates):
        return np.ones(np.shape(above))


@dataclass(frozen=True)
class Claims(Total):
    """A sum of which the class says that it is unbiased."""

    unbiased_to_missing = True


def test_the_kind_decides_for_classes_of_ones_own_unless_they_say():
    here = __name__
    assert not parse_metric(f"{here}:Total").unbiased_to_missing
    assert not parse_metric(f"{here}:Total@3").unbiased_to_missing
    assert not parse_metric(f"{here}:Best").unbiased_to_missing
    assert parse_metric(f"{here}:Middle@2").unbiased_to_missing
    assert (Claims() @ 3).unbiased_to_missing


def test_which_metrics_are_unbiased_to_missing_data():
    unbiased = {entry.form for entry in list_metrics() if entry.unbiased_to_missing}
    of_lists = {"coverage@K", "gini@K", "head@K", "novelty@K", "popularity@K"}  # they need no held-out row
    assert unbiased == {"adg[@K]", "atop", "auc", "recall@K", "mae", "mse", "accuracy"} | of_lists
    assert parse_metric("map@1").unbiased_to_missing  # no hit can stand above another: it is recall@1
    assert not parse_metric("map(of=min)@1").unbiased_to_missing
    assert not parse_metric("dcg").unbiased_to_missing  # a sum; the mean of the same gains is adg


def test_a_move_by_hand():
    # first user, ranks 1 and 3 of 4: ndcg of one is 1 or 1/2; second, ranks 2, 4, 5: two kept of three
    move = expected_move("ndcg", TWO, sizes=[1, 2])
    discounts = 1 / np.log2(np.array([2, 3, 4, 5, 6]) + 0.0)
    second = (discounts[1] + discounts[3] + discounts[4]) * 2 / 3 / (1 + discounts[1])
    np.testing.assert_allclose(move.per_user_after, [0.75, second])
    assert move.after == pytest.approx((0.75 + second) / 2)
    assert move.before == pytest.approx(user_values(NDCG(), [placed_user([0, 2], 4), placed_user([1, 3, 4], 6)]).mean())
    assert move.ratio == move.after / move.before
    assert (move.metric, move.users) == ("ndcg", 2)
    np.testing.assert_array_equal(move.positives, [2, 3])
    np.testing.assert_array_equal(move.sizes, [1, 2])


def test_the_first_hit_of_a_part_by_hand():
    # ranks 2, 4, 5; two kept: the first is at 2 in two of three choices, else at 4
    assert expected_move("mrr", TWO, sizes=[2, 2]).per_user_after[1] == pytest.approx((2 / 2 + 1 / 4) / 3)
    # none in the top 3 only when 4 and 5 are kept
    assert expected_move("hit@3", TWO, sizes=[2, 2]).per_user_after[1] == pytest.approx(2 / 3)


def test_a_share_keeps_so_many_on_average_but_at_least_one_and_no_more_than_there_are():
    ranks = ranks_of([placed_user(range(p), 60) for p in (1, 3, 50)])
    wanted = {
        0.5: [1, 1.5, 25],
        0.29: [1, 1, 14.5],
        0.001: [1, 1, 1],
        1: [1, 3, 50],
        1.1: [1.1, 3.3, 55],
        2: [2, 6, 60],
    }
    for share, sizes in wanted.items():
        np.testing.assert_allclose(expected_move("adg", ranks, share=share).sizes, sizes, rtol=1e-15)


def test_a_share_between_two_sizes_is_their_weighted_mean():
    # 0.6 * 2 = 1.2 and 0.6 * 3 = 1.8: the larger size with chance 0.2 and 0.8
    for word in ("ndcg", "map", "mrr", "hit@2", "auc(of=negatives)", "recall(of=min)@2"):
        low, high = (expected_move(word, TWO, sizes=sizes).per_user_after for sizes in ([1, 1], [2, 2]))
        mixed = expected_move(word, TWO, share=0.6).per_user_after
        np.testing.assert_allclose(mixed, low * [0.8, 0.2] + high * [0.2, 0.8], rtol=1e-13)


@pytest.mark.parametrize("share", [0.5, 0.29, 1 / 3, 0.7])
@pytest.mark.parametrize("word", ["dcg", "precision@5"])
def test_a_sum_moves_by_exactly_the_share_where_so_much_is_one_or_more(word, share):
    ranks = ranks_of([placed_user(range(p), 60) for p in range(4, 40)])
    assert expected_move(word, ranks, share=share).ratio == pytest.approx(share, rel=1e-8)


def test_a_move_prints_its_means_and_not_its_arrays():
    move = expected_move("ndcg", TWO, sizes=[1, 2])
    assert (
        str(move) == repr(move) == f"Move(ndcg: {move.before:.4f} to {move.after:.4f}, ratio {move.ratio:.4f}, 2 users)"
    )


def test_what_stays_moves_not_by_the_last_bit():
    for word in ("ndcg@3", "map", "mrr", "hit@2", "auc(of=negatives)", "dcg", "recall(of=min)@2"):
        move = expected_move(word, TWO, share=1.0)
        np.testing.assert_array_equal(move.per_user_after, move.per_user_before)
        assert move.ratio == 1


def test_a_cutoff_beyond_the_catalogue_is_no_cutoff():
    for word in ("ndcg", "map", "mrr", "dcg"):
        far, without = (expected_move(form, TWO, share=0.5) for form in (f"{word}@1000", word))
        np.testing.assert_array_equal(far.per_user_after, without.per_user_after)
    np.testing.assert_array_equal(expected_move("hit@1000", TWO, share=0.5).per_user_after, 1)


def test_graded_sums_are_of_the_rows_values():
    ranks = replace(TWO, values=np.array([5.0, 3, 4, 2, 1]))
    move = expected_move("dcg(gain=value)", ranks, sizes=[1, 3])
    assert move.per_user_before[0] == pytest.approx(5 + 3 / 2)
    assert move.per_user_after[0] == pytest.approx((5 + 3 / 2) / 2)


def test_more_positives_than_one_say_nothing_of_pairs_so_such_users_are_left_out():
    ranks = ranks_of([placed_user([0], 9), placed_user([0, 2], 9)])
    move = expected_move("map", ranks, share=2.0)
    assert np.isnan(move.per_user_after[0])
    assert move.users == 1
    assert move.before == move.per_user_before[1]
    with pytest.raises(ConfigError, match="cannot be computed for other sizes of any user"):
        expected_move("map", ranks_of([placed_user([0], 9)]), share=2.0)


def test_a_ratio_to_nothing_is_none():
    assert math.isnan(expected_move("recall@1", ranks_of([placed_user([3], 9)]), share=1).ratio)


def test_list_metrics_of_ones_own_need_a_method_unless_unbiased():
    with pytest.raises(ConfigError, match=r"give Best a method expected_values\(lists, sizes\)"):
        expected_move(Best(), TWO, share=0.5)
    assert expected_move(Middle(), TWO, share=0.5).ratio == 1
    assert expected_move(Total(), TWO, sizes=[1, 1]).after == 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "either share"),
        ({"share": 0.5, "sizes": [1, 1]}, "either share"),
        ({"share": 0.0}, "above 0"),
        ({"share": -1.0}, "above 0"),
        ({"share": math.nan}, "above 0"),
        ({"share": math.inf}, "above 0"),
        ({"share": "0.5"}, "share='0.5' must be a number above 0"),
        ({"share": [0.5, 0.5]}, "must be a number"),
        ({"share": True}, "must be a number"),
        ({"sizes": ["a", "b"]}, "whole numbers"),
        ({"sizes": [1, 0]}, "at least 1"),
        ({"sizes": [1.0, 2.0]}, "whole numbers"),
        ({"sizes": [True, True]}, "whole numbers"),
        ({"sizes": [1]}, r"shape \(1,\) for 2 users"),
        ({"sizes": [5, 1]}, "5 positives, but user 0 "),
    ],
)
def test_sizes_that_cannot_be_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        expected_move("adg", TWO, **options)


def test_ranks_that_would_change_are_refused():
    for rule in ("sampled(100)", "sampled(100, correction=unbiased)", "listed"):
        with pytest.raises(ConfigError, match="rank with candidates=unseen"):
            expected_move("adg", replace(TWO, candidate_rule=rule), share=0.5)
    tied = ranks_of([ScoredUser((1, 1, 0), (True, True, False))])
    for ties in ("optimistic", "pessimistic"):
        with pytest.raises(ConfigError, match="rank with ties=expected"):
            expected_move("ndcg", replace(tied, ties=ties), share=0.5)
        assert expected_move("adg", replace(tied, ties=ties), share=0.5).ratio == 1
        # no two of these stand together, so the policy changes nothing
        got, want = (expected_move("ndcg", replace(TWO, ties=policy), share=0.5).after for policy in (ties, "expected"))
        assert got == want


def test_ranks_without_rows_and_losses_are_refused():
    none = np.zeros(0, dtype=np.int32)
    with pytest.raises(ConfigError, match="no row"):
        expected_move("adg", Ranks(none, none, none, none, none), share=0.5)
    for wrong in (None, [1, 2], "ranks"):
        with pytest.raises(ConfigError, match=f"expected Ranks, not {type(wrong).__name__}"):
            expected_move("adg", wrong, share=0.5)
    with pytest.raises(ConfigError, match="of predicted ratings"):
        expected_move("rmse", TWO, share=0.5)
    with pytest.raises(ConfigError, match="did you mean 'ndcg'"):
        expected_move("ndgc", TWO, share=0.5)


def test_a_user_without_positives_has_no_value():
    none = np.zeros(0, dtype=np.int32)
    lists = UserLists.from_rows(np.array([0, 0, 0]), none, none, none)
    for word in ("ndcg", "map", "map(of=min)@2", "mrr", "hit@2", "auc(of=negatives)", "recall(of=min)@2"):
        assert np.isnan(parse_metric(word).expected_values(lists, np.array([1, 2]))).all()


def one_tie(p: int, n: int) -> Ranks:
    """One user with p positives among n candidates, all of one score."""
    return Ranks(*(np.full(p, number) for number in (0, 0, 0, n - 1, n)))


@pytest.mark.parametrize("word", ["mrr", "mrr@7", "hit@7"])
def test_of_one_large_tie_group_a_part_is_as_good_as_a_user_with_so_few(word):
    part = expected_move(word, one_tie(4000, 9000), sizes=[2000]).after
    assert part == pytest.approx(expected_move(word, one_tie(2000, 9000), share=1).before, rel=1e-13)


def test_many_positives_without_ties_keep_all_digits():
    p, s, above = 400, 150, np.arange(0, 2000, 5)
    rows = Ranks(np.zeros(p, int), np.arange(p), above, np.zeros(p, int), np.full(p, 2000))
    chances = [math.comb(p - j, s - 1) / math.comb(p, s) for j in range(1, p + 1)]
    want = math.fsum(chance / (place + 1) for chance, place in zip(chances, above, strict=True))
    assert expected_move("mrr", rows, sizes=[s]).after == pytest.approx(want, rel=1e-13)
    hits = 1 - math.comb(p - 4, s) / math.comb(p, s)
    assert expected_move("hit@20", rows, sizes=[s]).after == pytest.approx(hits, rel=1e-13)


def test_a_part_across_two_large_tie_groups_neither_underflows_nor_loses_digits():
    # 2000 of 4000 positives kept, half of them tied above the others: C(4000, 2000) is beyond a float
    above = np.repeat([0, 3000], 2000)
    rows = Ranks(np.zeros(4000, int), np.arange(4000), above, np.full(4000, 2999), np.full(4000, 6000))
    first = expected_move("mrr", rows, sizes=[2000]).after
    size = np.arange(2001)
    log = [
        2 * (math.lgamma(2001) - math.lgamma(j + 1) - math.lgamma(2001 - j))
        - (math.lgamma(4001) - 2 * math.lgamma(2001))
        for j in size
    ]
    likely = np.flatnonzero(np.exp(log) > 1e-12)
    values = [np.exp(log[j]) * expected_move("mrr", one_tie(2000, 3000), sizes=[j]).after for j in likely]
    assert first == pytest.approx(sum(values), rel=1e-9)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, [1, 0], "3"])
def test_shrinkage_and_average_precision_need_whole_numbers_from_1(wrong):
    for arguments in ((wrong, 5), (1, wrong)):
        with pytest.raises(ConfigError, match="at least 1"):
            ndcg_shrinkage(*arguments)
    if not isinstance(wrong, list):
        with pytest.raises(ConfigError, match="at least 1"):
            expected_average_precision([0, 1, 2], wrong)


def test_shrinkage_checks_its_options_as_the_metric_does():
    with pytest.raises(ConfigError, match="choose from standard, lenskit"):
        ndcg_shrinkage(1, 2, discount="log")
    with pytest.raises(ConfigError, match="at least 1"):
        ndcg_shrinkage(1, 2, k=0)


def test_shrinkage_takes_arrays_and_goes_both_ways():
    table = ndcg_shrinkage(np.array([[1], [2]]), np.array([1, 2, 4]))
    assert table.shape == (2, 3)
    np.testing.assert_allclose(table[:, 1], [1 / 2 * (1 + 1 / np.log2(3)), 1])
    np.testing.assert_allclose(ndcg_shrinkage(7, 3) * ndcg_shrinkage(3, 7), 1)
    with pytest.raises(ConfigError, match=r"shape \(2,\) and complete of shape \(3,\) do not match"):
        ndcg_shrinkage([1, 2], [5, 5, 5])
    assert ndcg_shrinkage(2, 4, k=1) == 0.5  # only the first place counts, so it is a sum
    assert ndcg_shrinkage(2, 4, k=100) == ndcg_shrinkage(2, 4)


@pytest.mark.parametrize(
    "above, observed, message",
    [
        ([], 1, "one for each positive"),
        ([-1, 2], 1, "at least 0"),
        ([0.5], 1, "whole numbers"),
        ([[0, 1]], 1, "one for each positive"),
        ([2, 2], 1, "for ties use expected_move"),
        ([4], 2, "give two or more"),
        ([4, 5], [1, 2], "one number"),
    ],
)
def test_average_precision_of_what_cannot_be_is_refused(above, observed, message):
    with pytest.raises(ConfigError, match=message):
        expected_average_precision(above, observed)


def test_average_precision_of_more_may_be_above_one_and_is_right_on_average():
    assert expected_average_precision([0, 1], 5) == 1.75
    places = [0, 1, 3, 4, 8]
    pairs = [expected_average_precision([a, b], 5) for i, a in enumerate(places) for b in places[i + 1 :]]
    assert np.mean(pairs) == pytest.approx(expected_average_precision(places, 5), rel=1e-14)


def test_average_precision_of_one_is_the_mean_reciprocal_rank_of_the_positives():
    assert expected_average_precision([4], 1) == pytest.approx(1 / 5)
    assert expected_average_precision([0, 1, 3], 1) == pytest.approx((1 + 1 / 2 + 1 / 4) / 3)


def test_a_metric_itself_can_be_given_instead_of_its_word():
    assert expected_move(ADG() @ 3, TWO, share=0.5).metric == "adg@3"
