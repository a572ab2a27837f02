"""Moments of gains over all candidates against sums over ranks of every candidate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_candidate_sums import TIES, WORDS, chances_of, given_users, ranked, real_world, scores_of

from unskew.arrays import Floats
from unskew.errors import ConfigError, DataError
from unskew.metrics import Metric, parse_metric
from unskew.ranking import (
    Contest,
    ListScorer,
    MatrixScorer,
    Scorer,
    Threads,
    candidate_moments,
    everyone,
    prepare_contest,
)
from unskew.testing.strategies import integer_worlds
from unskew.testing.worlds.integer_worlds import IntegerWorld


def dense_gains(scorer: Scorer, name: str, contest: Contest, metric: Metric, ties: str) -> Floats:
    """The gain of every candidate, one after another."""
    ranks = ranked(scorer, contest, name=name, ties=ties)
    return metric.row_gains(ranks.above, ranks.spread, ranks.candidates, ranks.in_list())


def assert_moments(models: dict[str, Scorer], contest: Contest, words: list[str], ties: str) -> None:
    spread = chances_of(contest, 2)
    metrics = [parse_metric(word) for word in words]
    moments = candidate_moments(
        models,
        contest,
        given_users(contest, spread),
        metrics,
        ties=ties,
        block_size=3,  # type: ignore[arg-type]
    )
    ranks = ranked(next(iter(models.values())), contest, name=next(iter(models)))
    weights = spread[np.searchsorted(contest.users, ranks.users), ranks.items]
    for metric in metrics:
        assert isinstance(metric, Metric)
        gains = np.stack([dense_gains(scorer, name, contest, metric, ties) for name, scorer in models.items()])
        got = moments[str(metric)]
        np.testing.assert_allclose(got.total, weights.sum(), rtol=1e-12)
        np.testing.assert_allclose(got.first, gains @ weights, rtol=1e-11, atol=1e-13, err_msg=str(metric))
        np.testing.assert_allclose(got.second, (gains * weights) @ gains.T, rtol=1e-11, atol=1e-13)


@settings(max_examples=40)
@given(
    world=integer_worlds(max_items=12),
    rule=st.sampled_from(["unseen", "all", "trained"]),
    ties=st.sampled_from(TIES),
    data=st.data(),
)
def test_moments_agree_with_gains_of_every_candidate(
    world: IntegerWorld, rule: str, ties: str, data: st.DataObject
) -> None:
    """Three models: scores of all pairs, other scores, and lists of some users."""
    pairs = st.tuples(st.integers(0, world.n_users - 1), st.integers(0, world.n_items - 1))
    listed = sorted(data.draw(st.sets(pairs, min_size=1, max_size=20)))
    lists = ListScorer.from_table([user for user, _ in listed], [item for _, item in listed], np.ones(len(listed)))
    models = {
        "a": MatrixScorer(world.matrix),
        "b": MatrixScorer((world.matrix[:, ::-1] * 2).astype(np.float32)),
        "lists": lists,
    }
    try:
        contest = everyone(prepare_contest(models, world.split(rule)), world.split(rule))
    except DataError:
        return
    assert_moments(models, contest, WORDS, ties)


def test_moments_of_many_items_are_the_same_on_one_and_two_threads() -> None:
    split = real_world()
    models = {kind: MatrixScorer(scores_of(kind, np.float32)) for kind in ("normal", "counts")}
    contest = everyone(prepare_contest(models, split), split)
    words = ["adg", "auc", "recall@10", "precision(of=list)@20"]
    assert_moments(models, contest, words, "expected")
    spread, metrics = given_users(contest, chances_of(contest, 0)), [parse_metric(word) for word in words]
    one, two = (candidate_moments(models, contest, spread, metrics, engine=Threads(n), block_size=8) for n in (1, 2))
    for word in words:
        assert one[word].second.tobytes() == two[word].second.tobytes()
        assert one[word].first.tobytes() == two[word].first.tobytes()
        assert one[word].total == two[word].total


def test_list_metrics_have_no_moments() -> None:
    split = real_world()
    models = {"normal": MatrixScorer(scores_of("normal", np.float32))}
    contest = everyone(prepare_contest(models, split), split)
    with pytest.raises(ConfigError, match="ndcg@10 has no moments over candidates"):
        candidate_moments(models, contest, lambda users: np.zeros((len(users), 3000)), [parse_metric("ndcg@10")])
