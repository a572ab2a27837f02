"""Ranks, full recall, random draws and recall inside them, against plain loops (Wang et al. 2024)."""

import numpy as np
import pytest
from made_wang2024 import tiny_log

from unskew.errors import ConfigError
from unskew.estimators import Estimator
from unskew.ranking.scorers import FactorScorer
from unskew.studies.wang2024.correlations import inner_recalls
from unskew.studies.wang2024.draws import draw_exposed, drawn_rows, recall_inside, with_recall
from unskew.studies.wang2024.rankings import discounts, full_dcg, full_recall, hits, places
from unskew.studies.wang2024.strata import FORMS, Draw, Strata


@pytest.fixture(scope="module")
def log():
    return tiny_log()


@pytest.fixture(scope="module")
def ranks(log):
    rng = np.random.default_rng(1)
    return places(log.world.labels + rng.normal(size=log.held.shape), log.held)


def test_places_count_the_better_held_items(log):
    scores = np.random.default_rng(2).permuted(np.arange(log.held.size)).reshape(log.held.shape).astype(float)
    found = places(scores, log.held)
    for user in range(len(scores)):
        for item in range(scores.shape[1]):
            better = sum(
                scores[user, other] > scores[user, item] for other in range(scores.shape[1]) if log.held[user, other]
            )
            assert found[user, item] == (better if log.held[user, item] else -1)


def test_ties_stand_in_one_order_that_is_not_that_of_the_items(log):
    found = places(np.zeros(log.held.shape), log.held)
    for row, held in zip(found, log.held, strict=True):
        assert sorted(row[held]) == list(range(held.sum()))
    order = found[:, log.held.all(axis=0)]
    assert (np.argsort(order, axis=1) == np.argsort(order[0])).all()
    assert not np.array_equal(np.sort(found[0][log.held[0]]), found[0][log.held[0]])


def test_scorers_and_matrices_give_the_same_places(log):
    rng = np.random.default_rng(3)
    users, items = rng.integers(-3, 4, (40, 2)).astype(float), rng.integers(-3, 4, (90, 2)).astype(float)
    np.testing.assert_array_equal(places(FactorScorer(users, items), log.held), places(users @ items.T, log.held))


def test_full_recall_is_that_of_loops(log, ranks):
    ks = (5, 1, 20)
    macro, micro = full_recall(ranks, log, ks)
    found, relevant = hits(ranks, log, ks)
    for place, k in enumerate(ks):
        own, total = [], 0
        for user in range(40):
            positives = [i for i in range(90) if log.held[user, i] and log.world.labels[user, i]]
            good = sum(ranks[user, i] < k for i in positives)
            assert found[user, place] == good
            assert relevant[user] == len(positives)
            total += good
            own += [good / len(positives)] if positives else []
        assert macro[place] == pytest.approx(np.mean(own))
        assert micro[place] == pytest.approx(total / log.relevant.sum())


def test_full_dcg_is_that_of_loops(log, ranks):
    found, ideal = full_dcg(ranks, log, 5)
    for user in range(40):
        positives = [i for i in range(90) if log.relevant[user, i]]
        gains = [1 / np.log2(ranks[user, i] + 2) for i in positives if ranks[user, i] < 5]
        best = [1 / np.log2(r + 2) for r in range(min(5, len(positives)))]
        assert (found[user], ideal[user]) == pytest.approx((sum(gains), sum(best)))


def test_discounts_end_at_the_cut_off():
    assert discounts(np.array([0, 2, 3]), 3).tolist() == [1.0, 0.5, 0.0]


def test_draws_are_distinct_held_and_uniform(log):
    rng = np.random.default_rng(4)
    times = np.zeros(log.held.shape)
    for _ in range(400):
        drawn = draw_exposed(log.held, 6, rng)
        assert np.take_along_axis(log.held, drawn, axis=1).all()
        assert all(len(set(row)) == 6 for row in drawn.tolist())
        np.put_along_axis(times, drawn, np.take_along_axis(times, drawn, axis=1) + 1, axis=1)
    expected = 400 * 6 / log.population
    z = (times - expected[:, None]) / np.sqrt(expected * (1 - 6 / log.population))[:, None]
    assert np.abs(z[log.held]).max() < 5.5  # about 2,000 cells: P < 2e-4 by the normal, for this seed it is fixed


def test_more_than_there_is_cannot_be_drawn(log):
    with pytest.raises(ConfigError, match="draw fewer"):
        draw_exposed(log.held, 91, np.random.default_rng(0))


@pytest.mark.parametrize("k", [1, 3, 12, 50])
def test_recall_inside_the_sample_is_that_of_loops(log, ranks, k):
    drawn = draw_exposed(log.held, 12, np.random.default_rng(k))
    own = []
    for user, row in enumerate(drawn.tolist()):
        positives = [i for i in row if log.world.labels[user, i]]
        best = sorted(row, key=lambda i, user=user: ranks[user, i])[:k]
        own += [sum(i in best for i in positives) / len(positives)] if positives else []
    above = np.take_along_axis(ranks, drawn, axis=1).ravel()
    assert recall_inside(drawn_rows(log, drawn), above, k).value == pytest.approx(np.mean(own))


def test_several_cut_offs_at_once_are_those_one_by_one(log, ranks):
    drawn = draw_exposed(log.held, 12, np.random.default_rng(0))
    several = inner_recalls(ranks, drawn, log, (1, 3, 12, 13))
    rows, above = drawn_rows(log, drawn), np.take_along_axis(ranks, drawn, axis=1).ravel()
    assert several[:3] == pytest.approx([recall_inside(rows, above, k).value for k in (1, 3, 12)])
    assert np.isnan(several[3])


def test_what_is_drawn_comes_with_labels_and_gains(log, ranks):
    drawn = draw_exposed(log.held, 3, np.random.default_rng(0))
    rows = with_recall(drawn_rows(log, drawn), np.take_along_axis(ranks, drawn, axis=1).ravel(), 4)
    assert rows.places is not None
    for row, (user, item) in enumerate(zip(rows.user, drawn.ravel(), strict=True)):
        assert rows.labels[row] == log.world.labels[user, item]
        assert rows.places.above[row] == ranks[user, item]
        assert rows.worth[row] == (ranks[user, item] < 4)
    np.testing.assert_array_equal(rows.population, log.population)
    np.testing.assert_array_equal(rows.places.up_to(np.array([2, 4, 1000])), np.tile([2.0, 4.0, 4.0], (40, 1)))


@pytest.mark.parametrize("size", [4, 15])
def test_all_forms_at_once_are_those_of_the_estimators(log, ranks, size):
    """Populations differ here between users, and so do the weights of rows."""
    ks = (1, 2, 5, 7, 20, 40)
    strata = Strata.of(log, {"mine": ranks, "other": places(-log.world.labels.astype(float), log.held)}, ks)
    for seed in range(5):
        drawn = draw_exposed(log.held, size, np.random.default_rng(seed))
        draw = Draw.of(strata, drawn)
        found, _ = draw.values("mine")
        assert tuple(found) == FORMS
        for form in FORMS:
            estimator = Estimator.from_word(form)
            above = np.take_along_axis(ranks, drawn, axis=1).ravel()
            slow = [estimator.terms(with_recall(draw.rows, above, k), "mean").value for k in ks]
            np.testing.assert_allclose(found[form], slow, rtol=1e-12, atol=1e-14)
