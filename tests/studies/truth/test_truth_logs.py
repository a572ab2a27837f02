"""Logs of known relevance: their parts, random slices, and how they are drawn from complete labels."""

import numpy as np
import pytest

from unskew.data.pairs import row_keys
from unskew.simulators import SelectionWorld
from unskew.studies.truth.logs import HELD_OUT, Log, Selection, low_rank


@pytest.fixture
def log():
    return Log.drawn(SelectionWorld.preset("mixed", users=60, items=50, density=0.2).draw(3))


def keys(rows):
    return set(row_keys(rows, rows.n_items).tolist())


def test_train_and_test_are_the_observed_rows(log):
    parts = log.parts(np.random.default_rng(1))
    assert not (parts.trained & parts.held).any()
    assert np.array_equal(parts.trained | parts.held, log.observed)
    assert keys(parts.train) | keys(parts.test) == set(np.flatnonzero(log.observed).tolist())
    assert parts.held.sum() / log.observed.sum() == pytest.approx(HELD_OUT, abs=0.05)


def test_positives_alone_are_split_as_the_whole_log_is(log):
    whole, positives = (log.parts(np.random.default_rng(1), positives=only) for only in (False, True))
    assert np.array_equal(positives.trained, whole.trained & log.relevant)
    assert np.array_equal(positives.held, whole.held & log.relevant)


def test_the_truth_is_all_relevant_pairs_outside_train(log):
    parts = log.parts(np.random.default_rng(1))
    assert keys(parts.truth()) == set(np.flatnonzero(log.relevant & ~parts.trained).tolist())


def test_of_a_sample_the_truth_is_what_the_slice_leaves(log):
    rng = np.random.default_rng(2)
    sampled = Log(log.observed, log.liked, log.relevant, known=rng.random(log.observed.shape) < 0.3)
    drawn = sampled.sample(0.1, rng)
    parts = sampled.parts(rng)
    assert drawn.sum() == 300
    assert not (drawn & ~sampled.known).any()
    assert not keys(parts.truth(drawn)) & set(np.flatnonzero(drawn).tolist())
    assert keys(parts.truth(drawn)) < keys(parts.truth())


def test_a_slice_is_not_larger_than_what_is_known(log):
    known = np.zeros_like(log.observed)
    known[0] = True
    assert Log(log.observed, log.liked, log.relevant, known).sample(0.5, np.random.default_rng(1)).sum() == 50


def test_labels_of_a_slice_are_the_true_ones(log):
    parts, drawn = log.parts(np.random.default_rng(1)), log.sample(0.2, np.random.default_rng(1))
    rows = parts.slice_of(drawn)
    assert np.array_equal(np.asarray(rows.values) > 0, log.relevant[rows.users, rows.items])


def test_the_true_chance_is_that_of_being_held_out_if_not_in_train():
    chance = np.full((400, 500), 0.5)
    rng = np.random.default_rng(5)
    observed = rng.random(chance.shape) < chance
    parts = Log(observed, observed, observed, chance=chance).parts(rng)
    stated = np.asarray(parts.test_with_chance.propensity)
    assert np.allclose(stated, 1 / 6)
    assert parts.held.sum() / (~parts.trained).sum() == pytest.approx(1 / 6, abs=0.005)


@pytest.mark.parametrize("selection", [Selection(1.5), Selection(0.7, affinity=1.0), Selection(0.7, relevance=1.5)])
def test_a_drawn_log_has_its_density_and_prefers_relevant_pairs(selection):
    relevant = SelectionWorld(users=300, items=200).draw(1).relevant
    log = selection.draw(relevant, 0.1, np.random.default_rng(4))
    assert log.observed.mean() == pytest.approx(0.1, abs=0.01)
    assert relevant[log.observed].mean() > relevant.mean() + 0.02
    assert np.array_equal(log.liked, log.observed & relevant)


def test_the_fit_of_low_rank_is_that_of_the_singular_values():
    relevant = np.random.default_rng(6).random((40, 30)) < 0.3
    centred = relevant - relevant.mean(axis=0) - relevant.mean(axis=1, keepdims=True) + relevant.mean()
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(low_rank(relevant, 4), (left[:, :4] * values[:4]) @ right[:4])
