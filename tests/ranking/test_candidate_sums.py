"""Sums over all candidates against ranks of every candidate: rules, ties, unknown users and items, lists, threads."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, DataError
from unskew.metrics import Metric, parse_metric
from unskew.ranking import (
    Contest,
    FactorScorer,
    ListScorer,
    MatrixScorer,
    Ranks,
    Scorer,
    Threads,
    everyone,
    prepare_contest,
    rank,
    sum_candidates,
    sum_models,
)
from unskew.testing.strategies import integer_worlds
from unskew.testing.worlds.integer_worlds import IntegerWorld
from unskew.testing.worlds.scored_users import ranking_words

RULES = ["unseen", "all", "trained"]
TIES = ["expected", "optimistic", "pessimistic"]
WORDS = [word for word in ranking_words((1, 2, 3, 10)) if parse_metric(word).kind in {"mean", "sum"}]
CUT = [word for word in WORDS if "@" in word]


def with_all_rows(contest: Contest) -> Contest:
    """The contest in which every candidate is held out."""
    excluded = np.split(contest.listed, contest.listed_offsets[1:-1])
    rows = [np.setdiff1d(np.arange(contest.catalogue_size), out).astype(np.int32) for out in excluded]
    columns = np.concatenate(rows)
    offsets = np.append(0, np.cumsum([len(row) for row in rows]))
    return replace(contest, offsets=offsets, items=columns, columns=columns)


def ranked(scorer: Scorer, contest: Contest, **options: object) -> Ranks:
    """The ranks of every candidate."""
    return rank(scorer, with_all_rows(contest), **options)  # type: ignore[arg-type]


def slow_sums(ranks: Ranks, contest: Contest, metric: Metric, chances: Floats) -> Floats:
    """Sum of chance times gain per user, by a loop over ranks of all candidates."""
    gains = metric.row_gains(ranks.above, ranks.spread, ranks.candidates, ranks.in_list())
    row = np.searchsorted(contest.users, ranks.users)
    return np.bincount(row, weights=gains * chances[row, ranks.items], minlength=len(contest.users))


def chances_of(contest: Contest, seed: int, dtype: type = np.float64) -> Floats:
    """Chances of all users of a contest, some of them 0 or 1."""
    rng = np.random.default_rng(seed)
    drawn = rng.random((len(contest.users), contest.catalogue_size))
    return np.where(drawn < 0.2, 0, np.where(drawn > 0.9, 1, drawn)).astype(dtype)


def given_users(contest: Contest, chances: Floats) -> Callable[[Ints], Floats]:
    return lambda users: chances[np.searchsorted(contest.users, users)].copy()


def assert_sums(scorer: Scorer, split: Split, words: list[str], dtype: type = np.float64, **options: object) -> None:
    contest = everyone(prepare_contest({"model": scorer}, split), split)
    chances = chances_of(contest, 3, dtype)
    metrics = [parse_metric(word) for word in words]
    sums = sum_candidates(scorer, contest, given_users(contest, chances), metrics, **options)  # type: ignore[arg-type]
    options.pop("block_size", None)
    ranks = ranked(scorer, contest, **options)
    for metric in metrics:
        slow = slow_sums(ranks, contest, metric, chances.astype(float))
        np.testing.assert_allclose(sums.gains[str(metric)], slow, rtol=1e-11, atol=1e-13, err_msg=str(metric))
    ones = np.bincount(
        np.searchsorted(contest.users, ranks.users),
        weights=chances.astype(float)[np.searchsorted(contest.users, ranks.users), ranks.items],
        minlength=len(contest.users),
    )
    np.testing.assert_allclose(sums.mass, ones, rtol=1e-12)
    assert sums.users.tolist() == contest.users.tolist()


def judged(world: IntegerWorld, rule: str, scorer: Scorer) -> bool:
    try:
        prepare_contest({"model": scorer}, world.split(rule))
    except DataError:
        return False
    return True


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40)
@given(world=integer_worlds(max_items=12), ties=st.sampled_from(TIES), size=st.integers(1, 6))
def test_sums_agree_with_ranks_of_every_candidate(world: IntegerWorld, rule: str, ties: str, size: int) -> None:
    scorer = MatrixScorer(world.matrix)
    if judged(world, rule, scorer):
        assert_sums(scorer, world.split(rule), WORDS, ties=ties, block_size=size)
        assert_sums(scorer, world.split(rule), CUT, ties=ties)


@settings(max_examples=40)
@given(
    world=integer_worlds(max_items=12),
    rule=st.sampled_from(RULES),
    ties=st.sampled_from(TIES),
    unlisted=st.sampled_from(["zero", "tied"]),
    data=st.data(),
)
def test_lists_and_unknown_users_agree_with_ranks(
    world: IntegerWorld, rule: str, ties: str, unlisted: str, data: st.DataObject
) -> None:
    """A table of scores of some users and items only, with an item that the split does not have."""
    pairs = st.tuples(st.integers(0, world.n_users - 1), st.integers(0, world.n_items))
    listed = sorted(data.draw(st.sets(pairs, min_size=1, max_size=20)))
    scores = [data.draw(st.integers(0, 3)) for _ in listed]
    scorer = ListScorer.from_table([user for user, _ in listed], [item for _, item in listed], scores)
    if judged(world, rule, scorer):
        assert_sums(scorer, world.split(rule), WORDS, ties=ties, unlisted=unlisted)
        assert_sums(scorer, world.split(rule), CUT, ties=ties, unlisted=unlisted)


@settings(max_examples=40)
@given(world=integer_worlds(max_items=12), rule=st.sampled_from(RULES), data=st.data())
def test_users_and_items_that_a_model_does_not_know_agree_with_ranks(
    world: IntegerWorld, rule: str, data: st.DataObject
) -> None:
    users = sorted(data.draw(st.sets(st.integers(0, world.n_users - 1), min_size=1)))
    items = sorted(data.draw(st.sets(st.integers(0, world.n_items - 1), min_size=1)))
    part = world.matrix[np.ix_(users, items)].astype(np.float32)
    half = FactorScorer(np.eye(len(users), dtype=np.float32), part.T.copy(), user_ids=users, item_ids=items)
    models = {"half": half, "whole": MatrixScorer(world.matrix)}
    try:
        contest = everyone(prepare_contest(models, world.split(rule)), world.split(rule))
    except DataError:
        return
    chances = chances_of(contest, 1, np.float32)
    for words in (WORDS, CUT):
        metrics = [parse_metric(word) for word in words]
        for name, scorer in models.items():
            sums = sum_candidates(scorer, contest, given_users(contest, chances), metrics, name=name)
            ranks = ranked(scorer, contest, name=name)
            for metric in metrics:
                slow = slow_sums(ranks, contest, metric, chances.astype(float))
                np.testing.assert_allclose(sums.gains[str(metric)], slow, rtol=1e-11, atol=1e-13)


def real_world(n_users: int = 40, n_items: int = 3000) -> Split:
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, n_users, 4000), rng.integers(0, n_items, 4000)
    train = Interactions.from_arrays(users[:3000], items[:3000], n_users=n_users, n_items=n_items)
    test = Interactions.from_arrays(users[3000:], items[3000:], n_users=n_users, n_items=n_items)
    return Split(train, test)


def scores_of(kind: str, dtype: type) -> Floats:
    rng = np.random.default_rng(1)
    scores = rng.standard_normal((40, 3000))
    if kind == "heavy":
        scores = np.exp(12 * scores)
    elif kind == "counts":
        scores = np.floor(np.exp(2 * scores))
    elif kind == "outlier":
        scores[:, 7] = 1e30
    elif kind == "huge":
        scores = np.sign(scores) * np.finfo(dtype).max * rng.random(scores.shape)
    elif kind == "tiny":
        scores = scores * np.finfo(dtype).tiny
    return scores.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "heavy", "counts", "outlier", "huge", "tiny"])
def test_scores_of_any_shape_are_sorted_exactly(kind: str, dtype: type) -> None:
    split = real_world()
    assert_sums(MatrixScorer(scores_of(kind, dtype)), split, WORDS, dtype)
    assert_sums(MatrixScorer(scores_of(kind, dtype)), split, CUT, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "words", [["adg", "auc", "recall@10"], ["adg", "auc", "recall@10", "ndcg@10"], ["recall@10", "map@5"]]
)
def test_threads_do_not_matter_bit_for_bit(words: list[str], dtype: type) -> None:
    split, rng = real_world(), np.random.default_rng(2)
    scorer = FactorScorer(rng.normal(size=(40, 7)).astype("f4"), rng.normal(size=(3000, 7)).astype("f4"))
    contest = everyone(prepare_contest({"model": scorer}, split), split)
    chances = given_users(contest, (chances_of(contest, 0) / 50).astype(dtype))
    metrics = [parse_metric(word) for word in words]
    one, two = (sum_candidates(scorer, contest, chances, metrics, engine=Threads(n), block_size=8) for n in (1, 2))
    assert one.mass.tobytes() == two.mass.tobytes()
    assert one.any_relevant.tobytes() == two.any_relevant.tobytes()
    for word in words:
        first, second = ({**sums.gains, **sums.values}[word] for sums in (one, two))
        assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("words", [("adg", "ndcg@10", "recall@10", "auc"), ("ndcg@10", "recall@10"), ("recall@10",)])
def test_several_models_and_chances_together_are_each_as_if_alone(words: tuple[str, ...]) -> None:
    split, rng = real_world(), np.random.default_rng(5)
    scorers: dict[str, Scorer] = {
        "factors": FactorScorer(rng.normal(size=(40, 7)).astype("f4"), rng.normal(size=(3000, 7)).astype("f4")),
        "tied": MatrixScorer(rng.integers(0, 9, (40, 3000)).astype(float)),
    }
    contest = everyone(prepare_contest(scorers, split), split)
    chances = [given_users(contest, chances_of(contest, seed) / 50) for seed in (1, 2)]
    metrics = [parse_metric(word) for word in words]
    joint = sum_models(scorers, contest, lambda users: [each(users) for each in chances], metrics, block_size=8)
    for name, scorer in scorers.items():
        for k, sums in enumerate(joint[name]):
            alone = sum_candidates(scorer, contest, chances[k], metrics, name=name, block_size=8)
            assert sums.mass.tobytes() == alone.mass.tobytes()
            assert sums.any_relevant.tobytes() == alone.any_relevant.tobytes()
            for form in ("gains", "values"):
                ours, theirs = getattr(sums, form), getattr(alone, form)
                assert set(ours) == set(theirs)
                assert all(ours[word].tobytes() == theirs[word].tobytes() for word in ours)


def test_everyone_has_all_users_of_train_or_test_and_their_candidates() -> None:
    train = Interactions.from_arrays([0, 0, 4], [0, 2, 1], n_users=6, n_items=4)
    test = Interactions.from_arrays([3], [1], n_users=6, n_items=4)
    for rule, candidates in (("unseen", [2, 4, 3]), ("all", [4, 4, 4]), ("trained", [1, 3, 2])):
        split = Split(train, test, candidates=rule)
        contest = everyone(prepare_contest({"model": MatrixScorer(np.zeros((6, 4)))}, split), split)
        assert contest.users.tolist() == [0, 3, 4]
        assert contest.candidates.tolist() == candidates
        assert len(contest) == 0


def test_everyone_has_the_users_of_the_slice_whom_a_model_knows() -> None:
    """User 5 is in the slice alone; user 2 nowhere; user 7 is in the slice, but no model has scores for it."""
    train = Interactions.from_arrays([0, 0, 4], [0, 2, 1], n_users=8, n_items=4)
    test = Interactions.from_arrays([3], [1], n_users=8, n_items=4)
    drawn = Interactions.from_arrays([0, 5, 7], [3, 1, 1], [1.0, 0.0, 1.0], n_users=8, n_items=4)
    for rule, candidates in (("unseen", [2, 4, 3, 4]), ("all", [4, 4, 4, 4])):
        split = Split(train, test, candidates=rule, slice=drawn)
        scorer = MatrixScorer(np.zeros((7, 4)), user_ids=range(7), item_ids=range(4))
        contest = everyone(prepare_contest({"model": scorer}, split), split)
        assert contest.users.tolist() == [0, 3, 4, 5]
        assert contest.candidates.tolist() == candidates


@pytest.mark.parametrize("rule", ["listed", "sampled(3)"])
def test_rules_that_leave_out_candidates_are_refused(rule: str) -> None:
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=4)
    test = Interactions.from_arrays([0], [1], n_users=1, n_items=4)
    split = Split(train, test, candidates=rule)
    scorer = MatrixScorer(np.zeros((1, 4)))
    contest = prepare_contest({"model": scorer}, split)
    with pytest.raises(ConfigError, match='need all of them; use candidates="unseen"'):
        everyone(contest, split)
    with pytest.raises(ConfigError, match='need all of them; use candidates="unseen"'):
        sum_candidates(scorer, contest, lambda users: np.zeros((len(users), 4)), [parse_metric("adg")])


def small() -> tuple[Scorer, Contest]:
    train = Interactions.from_arrays([0], [0], n_users=1, n_items=4)
    split = Split(train, Interactions.from_arrays([0], [1], n_users=1, n_items=4))
    scorer = MatrixScorer(np.arange(4.0)[None])
    return scorer, everyone(prepare_contest({"model": scorer}, split), split)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("ndcg", "needs a cut-off of at most 200, as in ndcg@10"),
        ("map(of=min)@201", r"needs a cut-off of at most 200, as in map\(of=min\)@10"),
        ("auc(of=negatives)", "has no sum over all candidates"),
        ("mse", "has no sum over all candidates"),
        ("cg@3", "without their ratings"),
    ],
)
def test_metrics_without_a_sum_are_refused(word: str, message: str) -> None:
    scorer, contest = small()
    with pytest.raises(ConfigError, match=message):
        sum_candidates(scorer, contest, lambda users: np.zeros((len(users), 4)), [parse_metric(word)])


@pytest.mark.parametrize(
    ("ties", "word", "message"),
    [
        ("random", "adg", "no such order"),
        ("ordinal", "adg", "no such order"),
        ("optimist", "adg", "did you mean 'optimistic'"),
        ("optimistic", "ndcg@3", 'ndcg@3 over all candidates needs ties="expected"'),
    ],
)
def test_tie_policies_without_a_sum_are_refused(ties: str, word: str, message: str) -> None:
    scorer, contest = small()
    with pytest.raises(ConfigError, match=message):
        sum_candidates(
            scorer,
            contest,
            lambda users: np.zeros((len(users), 4)),
            [parse_metric(word)],
            ties=ties,  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_chances_outside_the_unit_interval_are_refused(bad: float) -> None:
    scorer, contest = small()
    with pytest.raises(DataError, match=r"2 chances of user 0 are not in \[0, 1\]"):
        sum_candidates(scorer, contest, lambda _: np.array([[0.5, bad, 0.0, bad]]), [parse_metric("adg")])


def test_chances_of_another_shape_are_refused() -> None:
    scorer, contest = small()
    with pytest.raises(DataError, match=r"shape \(1, 3\) for 1 users and 4 items"):
        sum_candidates(scorer, contest, lambda _: np.zeros((1, 3)), [parse_metric("adg")])


def test_the_chance_of_any_relevant_item_keeps_its_digits_when_small() -> None:
    scorer, contest = small()
    for chance in (1e-9, 0.1, 1.0):
        sums = sum_candidates(scorer, contest, lambda _, q=chance: np.full((1, 4), q), [parse_metric("adg")])
        expected = -np.expm1(3 * np.log1p(-chance)) if chance < 1 else 1.0
        np.testing.assert_allclose(sums.any_relevant, expected, rtol=1e-14)


def test_the_chance_of_any_relevant_item_is_one_when_many_are_expected() -> None:
    split, rng = real_world(), np.random.default_rng(3)
    scorer = MatrixScorer(rng.standard_normal((40, 3000)))
    contest = everyone(prepare_contest({"model": scorer}, split), split)
    for largest in (0.01, 0.02, 0.03, 0.04):  # masses of about 15 to 60, so that both roads are taken
        chances = rng.random((len(contest.users), contest.catalogue_size)) * largest
        sums = sum_candidates(scorer, contest, given_users(contest, chances), [parse_metric("adg")])
        kept = chances.copy()
        for u in range(len(contest.users)):
            kept[u, contest.listed[contest.listed_offsets[u] : contest.listed_offsets[u + 1]]] = 0
        np.testing.assert_allclose(sums.any_relevant, 1 - np.prod(1 - kept, axis=1), rtol=1e-14)


def test_progress_is_reported_by_block() -> None:
    split, calls = real_world(), []
    scorer = MatrixScorer(scores_of("normal", np.float32))
    contest = everyone(prepare_contest({"model": scorer}, split), split)
    chances = given_users(contest, chances_of(contest, 0))
    sum_candidates(
        scorer, contest, chances, [parse_metric("adg")], block_size=16, progress=lambda *done: calls.append(done)
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]
