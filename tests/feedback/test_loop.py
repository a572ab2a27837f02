"""A recommender's output becomes the next log."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from unskew.data.concentration import gini
from unskew.data.pairs import pair_keys as keys_of
from unskew.errors import ConfigError, DataError
from unskew.feedback import Feedback, loop, simulate_feedback
from unskew.feedback.loop import list_liked
from unskew.simulators import Lda, World
from unskew.trials import METHODS, Method

SMALL = Lda(users=60, items=50, topics=4, likes=20, sizes="pareto(scale=3, shape=1, upper=12)")
RECALL = "recall@10"
QUICK = {"k": 5, "metrics": (RECALL,), "organic": 0.05}


def played(recommender: str, rounds: int = 3, **more) -> tuple[list[World], list[object], Feedback]:
    """The worlds of the rounds and the lists of each."""
    worlds, lists = [], []
    original = loop.play_round

    def watched(likes, log, shown, *rest, **options) -> World:
        lists.append(shown)
        worlds.append(original(likes, log, shown, *rest, **options))
        return worlds[-1]

    with patch.object(loop, "play_round", watched):
        found = simulate_feedback(SMALL, recommender, rounds, **(QUICK | more))
    return worlds, lists, found


@pytest.mark.parametrize("recommender", ["popular", "random", "item-knn", "als(factors=4)", "oracle"])
def test_the_log_grows_by_what_is_consumed_and_loses_nothing(recommender: str) -> None:
    worlds, _, found = played(recommender)
    logs = [set(keys_of(w.train.users, w.train.items, 50).tolist()) for w in worlds]
    tests = [set(keys_of(w.test.users, w.test.items, 50).tolist()) for w in worlds]
    for before, test, after in zip(logs, tests, logs[1:], strict=False):
        assert not before & test
        assert after == before | test
    assert set(keys_of(found.log.users, found.log.items, 50).tolist()) == logs[-1] | tests[-1]
    assert found.rows.tolist() == [*map(len, logs), len(found.log)]
    assert found.rows[-1] == len(set(keys_of(found.log.users, found.log.items, 50).tolist()))


@pytest.mark.parametrize("recommender", ["popular", "random", "oracle"])
def test_a_list_shows_no_item_twice_and_none_of_the_log(recommender: str) -> None:
    worlds, lists, _ = played(recommender)
    for world, shown in zip(worlds, lists, strict=True):
        users = np.repeat(shown.users, 5)
        keys = keys_of(users, shown.items.ravel(), 50)[shown.items.ravel() >= 0]
        assert len(np.unique(keys)) == len(keys)
        assert not np.isin(keys, keys_of(world.train.users, world.train.items, 50)).any()


def test_the_truth_is_what_is_liked_and_not_in_the_log() -> None:
    worlds, _, _ = played("popular")
    for world in worlds:
        assert world.likes is not None
        likes = set(keys_of(world.likes.row_users, world.likes.items, 50).tolist())
        log = set(keys_of(world.train.users, world.train.items, 50).tolist())
        truth = np.repeat(np.arange(60), world.relevant_counts)
        assert set(keys_of(truth, world.items, 50).tolist()) == likes - log


def test_the_oracle_shows_only_what_is_liked_and_known() -> None:
    world = SMALL.draw(3)
    assert world.likes is not None
    shown = list_liked(world.likes, world.train, 4, np.random.default_rng(0))
    liked = keys_of(world.likes.row_users, world.likes.items, 50)
    for user, items in zip(shown.users, shown.items, strict=True):
        own = items[items >= 0]
        candidates = np.isin(np.arange(50) + 50 * user, liked) & (world.train.item_counts > 0)
        candidates[world.train.items[world.train.users == user]] = False
        assert candidates[own].all()
        assert len(set(own.tolist())) == len(own) == min(4, candidates.sum())


def test_the_same_seed_gives_the_same_loop() -> None:
    first, again, other = (simulate_feedback(SMALL, "als(factors=4)", 2, seed=seed, **QUICK) for seed in (1, 1, 2))
    assert np.array_equal(first.log.items, again.log.items)
    assert np.array_equal(first.trials.estimate, again.trials.estimate, equal_nan=True)
    assert not np.array_equal(first.rows, other.rows)


def test_more_rounds_do_not_change_those_before() -> None:
    short, long = (simulate_feedback(SMALL, "popular", rounds, **QUICK) for rounds in (1, 3))
    assert long.rows[:2].tolist() == short.rows.tolist()
    assert long.estimate("popular", RECALL)[0] == short.estimate("popular", RECALL)[0]


def test_the_recommender_is_judged_by_the_scores_that_made_its_lists() -> None:
    """Each random recommender is as good as another in truth; only the one whose lists were shown looks better."""
    found = simulate_feedback(replace(SMALL, users=400), "random", 4, **(QUICK | {"organic": 0.02, "take": 1.0}))
    assert found.error("random", RECALL).min() > 0.1
    assert np.abs(found.error("random", RECALL, "ips, true")).max() < 0.1


def test_ips_with_known_propensities_is_without_bias_in_all_rounds() -> None:
    """Given the log, the error of a round has mean 0, so errors of all rounds add up like independent ones.

    40 loops of 4 rounds, three recommenders and two metrics: |z| < 4 is wrong once in 2,600 times by chance. The naive
    average is far off on the same rounds.
    """
    metrics = (RECALL, "precision@10")
    wanted = (Method(), Method("ips", "true"))
    runs = [
        simulate_feedback(SMALL, "item-knn", 4, k=5, organic=0.1, metrics=metrics, methods=wanted, seed=seed)
        for seed in range(40)
    ]
    for recommender in ("oracle", "popular", "item-knn"):
        for metric in metrics:
            off = np.concatenate([run.error(recommender, metric, "ips, true") for run in runs])
            assert abs(off.sum()) < 4 * np.sqrt((off**2).sum())
    naive = np.concatenate([run.error("item-knn", RECALL) for run in runs])
    assert naive.sum() > 10 * np.sqrt((naive**2).sum())


def test_what_is_disliked_and_consumed_adds_to_ips() -> None:
    """A row that is not relevant is in no truth, and its weight only adds."""
    runs = [simulate_feedback(SMALL, "popular", 2, dislikes=0.5, seed=seed, **QUICK) for seed in range(5)]
    assert np.mean([run.error("popular", RECALL, "ips, true") for run in runs]) > 0.1


def test_the_head_and_the_spread_are_those_of_the_log() -> None:
    found = simulate_feedback(SMALL, "popular", 2, **QUICK)
    likes = SMALL.draw(np.random.default_rng([0, 0])).likes
    assert likes is not None
    assert np.count_nonzero(likes.popularity) == 40
    counts = np.sort(found.log.item_counts)[::-1]
    assert found.head[-1] == pytest.approx(counts[:2].sum() / counts.sum())  # 5 % of 40
    assert found.gini[-1] == pytest.approx(gini(counts[:40].astype(float)))
    assert len(found.gini) == len(found.head) == len(found.rows) == len(found) + 1


def test_rows_without_a_chance_cannot_be_weighted() -> None:
    with pytest.raises(ConfigError, match=r"organic=0: .* ips, true is biased whatever its weights; use organic"):
        simulate_feedback(SMALL, "popular", 1, k=5, organic=0)
    naive = [each for each in METHODS if each.propensity != "true"]
    assert len(simulate_feedback(SMALL, "popular", 1, k=5, organic=0, methods=naive, metrics=(RECALL,))) == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rounds": 0}, "0 rounds: at least 1"),
        ({"k": 0}, "k=0: a list needs at least 1 place"),
        ({"k": 51}, "k=51: the first log has 33 items"),
        ({"recommender": "populer"}, "unknown recommender 'populer'.*popular"),
        ({"take": 2.0}, "take=2"),
        ({"seed": -1}, "seed -1 must be 0 or more"),
        ({"world_model": "lda(users=30)"}, "'lda.users=30.' is not a world of likes; give one, as Lda"),
    ],
)
def test_what_cannot_be_played_is_refused(more: dict[str, object], message: str) -> None:
    asked = {"world_model": SMALL, "recommender": "popular", "rounds": 1, "k": 5} | more
    with pytest.raises(ConfigError, match=message):
        simulate_feedback(**asked)


def test_a_round_in_which_nothing_is_consumed_says_so() -> None:
    naive = (Method(),)
    with pytest.raises(DataError, match=r"round 1 of lda.*nothing was consumed; use a larger take or organic"):
        simulate_feedback(SMALL, "popular", 1, k=5, take=0, organic=0, methods=naive)


def test_what_was_not_judged_is_not_told() -> None:
    found = simulate_feedback(SMALL, "popular", 1, **QUICK)
    with pytest.raises(ConfigError, match="'als' was not judged; there are oracle; popular"):
        found.truth("als", RECALL)
