import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from unskew.errors import ConfigError, DataError
from unskew.simulators import Ibp, Lda, UniformLikes, World
from unskew.testing.worlds.true_worlds import count_places, draw_world, make_world
from unskew.trials import Method, Trial, run_trial, split_panel

PRECISION, NDCG = "precision(of=list)@50", "ndcg(discount=lenskit, ideal=all)@50"


def number(trial: Trial, what: str, recommender: str, metric: str, method: str = "aoa") -> float:
    design = trial.design
    place = (
        design.recommenders.index(recommender),
        design.metrics.index(metric),
        design.labels.index(method),
    )
    return float(getattr(trial, what)[place])


@pytest.fixture(scope="module")
def by_hand() -> World:
    # Items 0 to 3 have 3, 2, 1 and 1 training rows, item 4 none.
    # User 0 trained on 0 and likes 1, 3, 4 besides; 1 is held out. Popular lists 1, {2, 3}.
    # User 1 trained on 0, 1 and likes 2 besides, which is held out. Popular lists {2, 3}.
    return make_world(
        {0: [0, 1, 3, 4], 1: [0, 1, 2]},
        {0: [0], 1: [0, 1], 2: [0, 1, 2, 3]},
        {0: {1: 0.5}, 1: {2: 0.8}},
        n_users=3,
        n_items=5,
    )


def test_a_tiny_world_by_hand(by_hand: World) -> None:
    metrics = ("precision(of=list)@2", "recall@1", "mrr@2", "auc")
    trial = run_trial(by_hand, ("oracle", "popular"), metrics=metrics)
    assert (trial.users, trial.dropped) == (2, 0)

    def both(recommender: str, metric: str, method: str = "aoa") -> tuple[float, float]:
        return tuple(number(trial, what, recommender, metric, method) for what in ("truth", "estimate"))  # type: ignore[return-value]

    # popular, user 0: 1 first, then 3 in the second place with chance 1/2: 3/4 of two places; observed 1 alone, 1/2
    # user 1: 2 or 3, one of two is liked and held out: 1/2
    assert both("popular", "precision(of=list)@2") == pytest.approx(((3 / 4 + 1 / 2) / 2, (1 / 2 + 1 / 2) / 2))
    # user 0 likes 3 items, the first of the list is one of them; user 1's is with chance 1/2
    assert both("popular", "recall@1") == pytest.approx(((1 / 3 + 1 / 2) / 2, (1 + 1 / 2) / 2))
    assert both("popular", "recall@1", "snips, true") == pytest.approx(
        ((1 + 1 / 2) / 4, (2 * 1 + 1.25 * 0.5) / (2 + 1.25))
    )
    assert both("popular", "recall@1", "ips, true")[1] == pytest.approx((2 * 1 / 3 + 1.25 * 0.5 / 1) / 2)
    # oracle, user 0: 1 and 3 in either order, item 4 nobody trained on; observed is 1, first or second
    assert both("oracle", "mrr@2") == pytest.approx((1, (3 / 4 + 1) / 2))
    assert both("oracle", "recall@1") == pytest.approx(((1 / 3 + 1) / 2, (1 / 2 + 1) / 2))
    # three candidates: the two liked at 0 and 1 get (1 + 2/3) / 2 each, the cold one 0; user 1: 1
    assert both("oracle", "auc") == pytest.approx(((5 / 6 + 5 / 6 + 0) / 3 / 2 + 1 / 2, (5 / 6 + 1) / 2))
    # popularity: P is sqrt((n + 1) / 4), of item 1 sqrt(3 / 4), of item 2 sqrt(1 / 2); weights scaled to 4 pairs
    first, second = (4 / 3) ** 0.5, 2**0.5
    scale = 4 / (first + second)
    expected = (first * scale * 1 / 3 + second * scale * 0.5) / 2
    assert both("popular", "recall@1", "ips, estimated")[1] == pytest.approx(expected)


def test_differences_are_paired_by_user(by_hand: World) -> None:
    trial = run_trial(by_hand, ("oracle", "popular"), metrics=("recall@1",), methods=(Method(),))
    # oracle minus popular: user 0 has 1/2 - 1, user 1 has 1 - 1/2
    assert trial.difference.item() == pytest.approx(0)
    assert trial.difference_error.item() == pytest.approx(0.5)  # standard deviation sqrt(1/2) over sqrt(2)
    assert trial.true_difference.item() == pytest.approx((1 / 3 + 1) / 2 - (1 / 3 + 1 / 2) / 2)


@pytest.mark.parametrize("seed", range(8))
def test_values_are_means_over_all_orders_of_ties(seed: int) -> None:
    world = draw_world(seed, n_users=8, n_items=6)
    trial = run_trial(world, ("popular",), metrics=("precision(of=list)@3", "recall@3", "mrr@3"))
    places = count_places(world, "popular")
    test = set(zip(world.test.users.tolist(), world.test.items.tolist(), strict=True))
    users = {user for user, _ in places if places[user, _].listed}
    wanted: dict[str, list[list[float]]] = {"truth": [], "estimate": []}
    for user in sorted(users):
        truth = set(world.items[world.offsets[user] : world.offsets[user + 1]].tolist())
        held = {item for own, item in test if own == user}
        for what, relevant in (("truth", truth), ("estimate", held)):
            wanted[what].append(_means(world, user, relevant))
    for what, values in wanted.items():
        assert getattr(trial, what)[0, :, 0] == pytest.approx(np.mean(values, axis=0))


def _means(world: World, user: int, relevant: set[int]) -> list[float]:
    """Precision, recall and reciprocal rank in the top 3, over all orders of the popular items."""
    counts = world.train.item_counts
    mine = set(world.train.items[world.train.users == user].tolist())
    candidates = [item for item in range(world.n_items) if counts[item] and item not in mine]
    values = []
    for order in itertools.permutations(candidates):
        if any(counts[a] < counts[b] for a, b in itertools.pairwise(order)):
            continue
        hits = [item in relevant for item in order[:3]]
        first = 1 / (hits.index(True) + 1) if any(hits) else 0.0
        values.append([sum(hits) / len(hits), sum(hits) / len(relevant), first])
    return [float(value) for value in np.mean(values, axis=0)]


@pytest.mark.parametrize("ties", ["expected", "ordinal"])
def test_in_truth_all_places_of_the_oracle_are_hits(ties: str) -> None:
    # Tian and Ekstrand 2020, section 3.3: the oracle never recommends what is not liked
    for model in (Ibp(users=100, alpha=20), Lda(users=100, items=150, likes=30, graded=True)):
        trial = run_trial(model.draw(1), ("oracle", "oracle(graded)"), metrics=(PRECISION, "mrr@50"), ties=ties)  # type: ignore[arg-type]
        assert trial.truth[:, :, 0] == pytest.approx(1, abs=1e-12)


def test_a_user_with_an_empty_list_is_dropped_for_all() -> None:
    # user 1 likes item 3 alone, which nobody trained on
    world = make_world(
        {0: [0, 1], 1: [0, 3]},
        {0: [0], 1: [0], 2: [1, 2]},
        {0: {1: 0.5}, 1: {3: 0.5}},
        n_users=3,
        n_items=4,
    )
    methods = (Method(), Method("snips", "true"))
    both = run_trial(world, ("oracle", "popular"), metrics=("recall@1",), methods=methods)
    alone = run_trial(world, ("popular",), metrics=("recall@1",), methods=methods)
    assert (both.users, both.dropped, alone.users, alone.dropped) == (1, 1, 2, 0)
    assert both.truth[1, 0] == pytest.approx(0.5)  # 1 and 2 tie
    assert alone.truth[0, 0] == pytest.approx(0.25)
    nobody = replace(world, test=world.test.take(world.test.users == 1))
    with pytest.raises(ConfigError, match="nothing to list"):
        run_trial(nobody, ("oracle",))


def test_precision_shrinks_by_the_observed_share_and_recall_does_not() -> None:
    # Under uniform observation the test is a random part of truth, of a given size for each user: with the ranks given,
    # E[hits observed] = hits in truth x share, and E[recall] is the recall (Lim et al. 2015, theorem 1). |z| < 4 of
    # 200 worlds: an error rate of 6e-5 for each of the six numbers.
    model = UniformLikes(users=40, items=60, likes=20, observe="uniform", sizes="pareto(scale=8, shape=1, upper=15)")
    errors = []
    methods = (Method(), Method("ips", "true"))
    for seed in range(200):
        trial = run_trial(model.draw(seed), metrics=(PRECISION, "recall@50"), methods=methods)
        # ips with the true chance undoes the shrinking of precision, and changes nothing for recall on average
        off = trial.estimate - trial.truth
        errors.append([*off[:, 1, 0], *off[:, 0, 1]])
        assert np.all(trial.estimate[:2, 0, 0] < trial.truth[:2, 0, 0])
    scores = np.mean(errors, axis=0) / (np.std(errors, axis=0, ddof=1) / math.sqrt(len(errors)))
    assert np.all(np.abs(scores) < 4), scores


def test_graded_truth_gains_by_strength_and_the_observed_value_by_one() -> None:
    # user 0's candidates 1, 2 are liked at 1 and 3, item 3 at 2 but nobody trained on it
    world = make_world(
        {0: [0, 1, 2, 3]},
        {0: [0], 1: [1, 2]},
        {0: {1: 0.5}},
        n_users=2,
        n_items=4,
        strength={(0, 1): 1.0, (0, 2): 3.0, (0, 3): 2.0},
    )
    word = "ndcg(discount=lenskit, ideal=all)@2"
    graded = run_trial(world, ("oracle(graded)", "oracle"), metrics=(word,), graded_truth=True)
    binary = run_trial(world, ("oracle(graded)", "oracle"), metrics=(word,))
    ideal = 3 + 2 + 1 / math.log2(3)
    assert graded.truth[:, 0, 0] == pytest.approx((3 + 1) / ideal)
    assert binary.truth[:, 0, 0] == pytest.approx(2 / (2 + 1 / math.log2(3)))
    assert graded.estimate == pytest.approx(binary.estimate, nan_ok=True)
    best = run_trial(
        world, ("oracle(graded)", "oracle"), metrics=("ndcg(discount=lenskit, ideal=cut)@1",), graded_truth=True
    )
    assert best.truth[:, 0, 0] == pytest.approx([1, (3 + 1) / 2 / 3])


def test_snips_has_the_mean_over_pairs_as_its_target(by_hand: World) -> None:
    methods = (Method(), Method("aoa(per=pair)"), Method("snips", "true"))
    trial = run_trial(by_hand, ("oracle",), metrics=("recall@1", "mrr@2", "dcg@2"), methods=methods)
    # user 0: each of two in one place, the cold one never, of three; user 1: one of one
    assert trial.truth[0, 0] == pytest.approx([(1 / 3 + 1) / 2, 2 / 4, 2 / 4])
    assert np.isnan(trial.estimate[0, 1:]).tolist() == [[False, True, True]] * 2


def test_a_panel_shows_the_population_but_not_to_models() -> None:
    own, panel = split_panel(Ibp(users=120, alpha=15).draw(2), 60)
    trial = run_trial(own, ("popular", "item-knn"), metrics=("recall@50",), methods=(Method(),), panel=panel)
    other = run_trial(own, ("popular",), metrics=("recall@50",), methods=(Method(),))
    assert trial.truth[0] == pytest.approx(other.truth[0])
    assert np.isnan(other.population).all()
    assert other.panel_users == 0
    strangers = panel.judged(own.train.item_counts)
    assert 0 < trial.panel_users <= len(strangers.users)
    assert np.isfinite(trial.population[0]).all()
    assert np.isnan(trial.population[1]).all()
    assert trial.population[0] != pytest.approx(trial.truth[0], abs=1e-9)


def test_a_user_without_a_value_is_left_out_of_a_list_metric_for_all() -> None:
    # the candidates of user 1 are all held out, so no negative is left to compare them with
    world = make_world(
        {0: [0, 1, 3, 4], 1: [0, 1, 2]},
        {0: [0], 1: [0, 1], 2: [0, 1, 2, 3]},
        {0: {1: 0.5}, 1: {2: 0.8, 3: 0.8}},
        n_users=3,
        n_items=5,
    )
    trial = run_trial(world, ("popular", "random"), metrics=("auc(of=negatives)",), methods=(Method(),))
    assert trial.estimate[:, 0, 0] == pytest.approx([1, 0.5])  # of user 0 alone
    assert np.isnan(trial.std_error).all()


def test_what_a_trial_cannot_do_is_refused_in_words(by_hand: World) -> None:
    with pytest.raises(ConfigError, match="mae is of ratings"):
        run_trial(by_hand, metrics=("mae",))
    with pytest.raises(ConfigError, match="level=1"):
        run_trial(by_hand, level=1)
    with pytest.raises(ConfigError, match="ties=luck"):
        run_trial(by_hand, ties="luck")  # type: ignore[arg-type]
    bare = replace(by_hand, test=replace(by_hand.test, propensity=None))
    with pytest.raises(DataError, match="its test has no propensities"):
        run_trial(bare)


def test_a_user_who_trained_on_every_item_is_dropped_without_a_warning() -> None:
    # user 1 has no candidate left and likes a cold item; warnings are errors here
    world = make_world({0: [0, 1], 1: [0, 1, 2]}, {0: [0], 1: [0, 1]}, {0: {1: 0.5}, 1: {2: 0.5}}, n_users=2, n_items=3)
    trial = run_trial(world, ["popular"], metrics=["auc", "recall@2"])
    assert (trial.users, trial.dropped) == (1, 1)
    assert number(trial, "estimate", "popular", "auc") == 1.0
