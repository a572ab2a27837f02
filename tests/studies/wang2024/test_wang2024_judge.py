"""Ranks, full recall, and numbers of random draws, against the library and plain loops (Wang et al. 2024)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_wang2024 import tiny_log, tiny_split, tiny_world

from unskew import evaluate
from unskew.data import Interactions, Split
from unskew.estimators import Aoa, Rows
from unskew.metrics import Recall
from unskew.ranking import FactorScorer, MatrixScorer, prepare_contest, rank
from unskew.studies import Context
from unskew.studies.wang2024.full_recall import TIES, discounts, full_dcg, full_recall, hits, inner_recalls, places
from unskew.studies.wang2024.judge import (
    DRAWS,
    EXPOSED,
    exposed_sample,
    judge,
    judge_test,
    large_k,
    numbers_of,
)
from unskew.studies.wang2024.models import ALL_ENTRIES, ENTRIES, EPOCHS, Entry
from unskew.studies.wang2024.random_tests import split_test
from unskew.studies.wang2024.worlds import BiasedLog, Parts, chances_of, draw_exposed, labelled_pairs


@pytest.fixture(scope="module")
def log():
    return tiny_log()


@pytest.fixture(scope="module")
def ranks(log):
    rng = np.random.default_rng(1)
    return places(log.world.labels + rng.normal(size=log.held.shape), log.held)


def ranked_by_the_library(scores, held):
    """Ranks of all held pairs by `rank`, whose tied items are in the order of their ids: that of `places`."""
    ids = np.empty(held.shape[1], dtype=np.int64)
    ids[np.random.default_rng(TIES).permutation(held.shape[1])] = np.arange(held.shape[1])
    users, items = np.nonzero(held)
    pairs = Interactions.from_arrays(users, ids[items], n_users=held.shape[0], n_items=held.shape[1])
    split = Split(pairs, pairs, candidates="listed")
    scorer = MatrixScorer(scores[:, np.argsort(ids)])
    ranked = rank(scorer, prepare_contest({"model": scorer}, split), ties="ordinal")
    matrix = np.full(held.shape, -1)
    matrix[ranked.users, np.argsort(ids)[ranked.items]] = ranked.above
    return matrix


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5, 10**6]))
def test_places_are_the_ranks_of_the_library(seed, values):
    """With many ties, few, and none."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(2, 12, size=2))
    held = rng.random(shape) < 0.7
    held[0] = True
    scores = rng.integers(0, values, size=shape).astype(float)
    np.testing.assert_array_equal(places(scores, held), ranked_by_the_library(scores, held))


def test_tied_items_are_in_one_order_that_is_not_that_of_the_items(log):
    ranks = places(np.zeros(log.held.shape), log.held)
    for row, held in zip(ranks, log.held, strict=True):
        assert sorted(row[held]) == list(range(held.sum()))
    order = ranks[:, log.held.all(axis=0)]
    assert (np.argsort(order, axis=1) == np.argsort(order[0])).all()
    assert not np.array_equal(np.sort(ranks[0][log.held[0]]), ranks[0][log.held[0]])


def test_scorers_and_matrices_give_the_same_places(log):
    rng = np.random.default_rng(3)
    users, items = rng.integers(-3, 4, (40, 2)).astype(float), rng.integers(-3, 4, (90, 2)).astype(float)
    np.testing.assert_array_equal(places(FactorScorer(users, items), log.held), places(users @ items.T, log.held))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_full_recall_is_that_of_the_library(seed):
    log = tiny_log(12, 30, seed % 1000)
    rng = np.random.default_rng(seed)
    ranks = places(rng.random(log.held.shape), log.held)
    ks = rng.permutation(np.arange(1, 20))[:4]
    macro, micro = full_recall(ranks, log, ks)
    users, items = np.nonzero(log.relevant)
    above, _ = hits(ranks, log.relevant, ks)
    for place, k in enumerate(ks):
        above_k = ranks[users, items]
        gains = (Recall() @ int(k)).row_gains(above_k, np.zeros_like(above_k), log.population[users])
        rows = Rows(gains, np.unique(users, return_inverse=True)[1])
        assert macro[place] == pytest.approx(Aoa().terms(rows, "mean").value)
        assert micro[place] == pytest.approx(Aoa(per="pair").terms(rows, "mean").value)
        np.testing.assert_array_equal(above[:, place], np.bincount(users, weights=gains, minlength=12))


def test_full_dcg_is_that_of_loops(log, ranks):
    dcg, ideal = full_dcg(ranks, log, 5)
    for user in range(40):
        positives = [i for i in range(90) if log.relevant[user, i]]
        gains = [1 / np.log2(ranks[user, i] + 2) for i in positives if ranks[user, i] < 5]
        best = [1 / np.log2(r + 2) for r in range(min(5, len(positives)))]
        assert (dcg[user], ideal[user]) == pytest.approx((sum(gains), sum(best)))


def test_discounts_end_at_the_cut_off():
    assert discounts(np.array([0, 2, 3]), 3).tolist() == [1.0, 0.5, 0.0]


def drawn_sample(log, ranks, drawn):
    users = np.repeat(np.arange(len(drawn)), drawn.shape[1])
    split = Split(log.parts.train, labelled_pairs(log.world, users, drawn.ravel()), candidates="all")
    return exposed_sample(split, ranks, log.population)


def test_numbers_of_a_sample_by_hand():
    # user 0: ranks 7 (positive), 2, 9; user 1: ranks 4 (positive), 1 (positive), 0; user 2 has no positive
    world = replace(tiny_world(3, 10), labels=np.zeros((3, 10), dtype=bool))
    world.labels[[0, 1, 1], [7, 4, 1]] = True
    nothing = labelled_pairs(world, np.array([0]), np.array([0]))
    log = BiasedLog(world, Parts(nothing, nothing, nothing), np.ones((3, 10), dtype=bool))
    ranks = np.tile(np.arange(10, dtype=np.int32), (3, 1))
    sample = drawn_sample(log, ranks, np.array([[7, 2, 9], [4, 1, 0], [3, 5, 6]]))
    numbers = {name: terms.value for name, terms in numbers_of(sample, (5,)).items()}
    assert numbers == {"traditional@5": 1.0, "URE@5": (0 + 1) / 2, "pooled URE@5": pytest.approx(2 / 3)}


def test_numbers_of_a_sample_are_those_of_evaluate():
    world, rng = tiny_world(), np.random.default_rng(6)
    everything = np.ones(world.labels.shape, dtype=bool)
    drawn = draw_exposed(everything, 12, rng)
    test = labelled_pairs(world, np.repeat(np.arange(40), 12), drawn.ravel())
    train = labelled_pairs(world, *np.nonzero(rng.random(everything.shape) < 0.3))
    split = Split(train, test, candidates="all", exposed=True)
    scores = world.labels + rng.normal(size=everything.shape)
    sample = exposed_sample(split, places(scores, everything), everything.sum(axis=1))
    words = {"traditional@5": "traditional", "URE@5": "ure", "pooled URE@5": "ure(aggregate=pooled)"}
    report = evaluate({"model": MatrixScorer(scores)}, split, metrics=["recall@5"], estimators=list(words.values()))
    by_word = {each.estimator: each for each in report.estimates}
    for name, terms in numbers_of(sample, (5,)).items():
        assert terms.value == pytest.approx(by_word[words[name]].value)
        assert terms.std_error == pytest.approx(by_word[words[name]].std_error)


@pytest.mark.parametrize("k", [1, 3, 12, 13])
def test_recall_inside_the_sample_is_that_of_loops_and_of_the_library(log, ranks, k):
    drawn = draw_exposed(log.held, 12, np.random.default_rng(k))
    recalls = []
    for user, row in enumerate(drawn.tolist()):
        positives = [i for i in row if log.world.labels[user, i]]
        best = sorted(row, key=lambda i, user=user: ranks[user, i])[:k]
        recalls += [sum(i in best for i in positives) / len(positives)] if positives else []
    inside = drawn_sample(log, ranks, drawn).inside
    rows = inside.to_rows("mean", Aoa()).with_worth(inside.gains("model", Recall() @ k))
    (shortcut,) = inner_recalls(ranks, drawn, log, (k,))
    assert Aoa().terms(rows, "mean").value == pytest.approx(np.mean(recalls))
    assert np.isnan(shortcut) if k > 12 else shortcut == pytest.approx(np.mean(recalls))


def test_the_larger_k_suits_the_population():
    assert large_k(np.array([968, 985])) == 500
    assert large_k(np.array([294, 300])) == 50


@pytest.fixture(scope="module")
def run():
    pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    return Context(fast=True, sizes={EPOCHS: 1, DRAWS: 3})


@pytest.fixture(scope="module")
def world(run):
    return judge(run, tiny_log(60, 120))


def test_full_recall_and_expected_values_are_those_of_the_ranks(world):
    entry, log = Entry("MF", "IPS"), world.log
    ranks = places(world.choices[entry].fit.scorer, log.held)
    macro, micro = full_recall(ranks, log, [5, 50])
    assert [world.full(entry, 5), world.full(entry, 50)] == pytest.approx(list(macro))
    assert [world.users(entry, k).mean() for k in (5, 50)] == pytest.approx(list(macro))
    assert [world.full(entry, k, "full micro") for k in (5, 50)] == pytest.approx(list(micro))
    chances, relevant = chances_of(log, EXPOSED), log.relevant
    shares = [(relevant[user] & (ranks[user] < 5)).sum() / relevant[user].sum() for user in np.flatnonzero(chances > 0)]
    assert world.expected(entry, 5) == pytest.approx(np.average(shares, weights=chances[chances > 0]))


def test_full_recall_is_known_at_about_forty_k_and_both_of_the_table(world):
    assert world.both_ks == (5, 50)
    assert {1, 5, 50, world.log.population.max() // 2} <= set(world.ks.tolist())
    assert (np.diff(world.ks) > 0).all()


def test_every_entry_has_all_numbers_and_a_chosen_negs_those_of_its_variant(world):
    assert world.numbers.levels("model") == ALL_ENTRIES
    columns = {f"{name}@{k}" for name in ("full", "URE", "full micro", "pooled URE") for k in (5, 50)}
    assert set(world.numbers.levels("number")) == {"traditional@5", *columns}
    assert all(
        len(values) == (1 if column.startswith("full") else 3) for (_, column), values in world.numbers.groups.items()
    )
    for backbone in ("MF", "LightGCN"):
        chosen = world.choices[Entry(backbone, "NegS")]
        same = [entry for entry in ALL_ENTRIES[10:] if world.choices[entry].settings == chosen.settings]
        assert world.full(Entry(backbone, "NegS"), 5) == world.full(same[0], 5)


def test_a_random_test_is_judged_on_its_exposed_rows(run):
    test = split_test("coat", tiny_split(), np.random.default_rng(1))
    judged = judge_test(run, test)
    assert judged.large == 50
    assert len(judged.sample) == len(test.exposed)
    assert {entry for entry, _ in judged.terms} == set(ALL_ENTRIES)
    entry = ENTRIES[0]
    ranks = places(judged.choices[entry].fit.scorer, test.held)
    recalls = []
    for user in np.unique(test.exposed.users):
        of_user = test.exposed.users == user
        liked = test.exposed.items[of_user & (test.exposed.values == 1)]
        recalls += [(ranks[user, liked] < 5).mean()] if len(liked) else []
    assert judged.terms[entry, "URE@5"].value == pytest.approx(np.mean(recalls))
