"""What is drawn for a positive, and the step on it."""

import numpy as np
import pytest
from label_worlds import N_USERS, assert_near, leaves, moved, penalty, prepared, scores
from torch_or_skip import torch

from unskew.models import NegS

RATE, LAMBDA = 1e-3, 0.7
BLOCK = slice(2, 6)


@pytest.mark.parametrize("hardest", [1, 2])
def test_with_many_draws_only_the_best_items_are_chosen(hardest):
    # of 2,000 draws from 5 items at least `hardest` are the best one, but for odds below 1e-190
    method, _ = prepared(NegS(hardest=hardest, drawn=2000))
    given = torch.tensor([[0.1, 0.9, -1.0, 0.5, 0.2], [3.0, 1.0, 2.0, -1.0, 0.0]])
    counts = method.choose(given, np.array([0, 0, 0, 1]))
    assert counts.tolist() == [[0, 3 * hardest, 0, 0, 0], [hardest, 0, 0, 0, 0]]


@pytest.mark.parametrize("hardest, drawn", [(1, 1), (1, 3), (2, 5), (5, 5), (4, 6)])
def test_the_chosen_items_are_distributed_as_the_highest_of_uniform_draws(hardest, drawn):
    # the definition, by brute force, against draws in ranks: 40,000 positives each; counts of an item by one positive
    # are at most `hardest`, so its mean has a standard error of at most hardest / 2 / 200. Five of them, for two sides
    # and 4 items in 5 cases: false alarm below 2e-5.
    method, _ = prepared(NegS(hardest=hardest, drawn=drawn))
    given = np.array([0.4, -0.3, 1.2, 0.1], dtype=np.float32)
    n = 40_000
    found = method.choose(torch.from_numpy(given)[None], np.zeros(n, dtype=np.int64)).numpy()[0] / n
    rng = np.random.default_rng(5)
    draws = rng.integers(4, size=(n, drawn))
    highest = np.take_along_axis(draws, np.argsort(-given[draws], axis=1)[:, :hardest], axis=1)
    expected = np.bincount(highest.reshape(-1), minlength=4) / n
    np.testing.assert_allclose(found, expected, atol=5 * np.sqrt(2) * hardest / 2 / np.sqrt(n))
    assert found.sum() == pytest.approx(hardest)


@pytest.mark.parametrize("backbone", ["mf", "lightgcn"])
def test_a_step_descends_on_the_log_loss_of_positives_and_what_was_chosen(backbone, monkeypatch):
    model = NegS(
        backbone=backbone, factors=3, learning_rate=RATE, regularisation=LAMBDA, optimiser="sgd", hardest=2, drawn=5
    )
    method, setting = prepared(model, uniform=False)
    kept = []
    choose = method.choose
    monkeypatch.setattr(method, "choose", lambda *given: kept.append(choose(*given)) or kept[0].clone())
    before = [part.clone() for part in setting.backbone.parameters]
    with torch.no_grad():
        told = method.step(BLOCK)
    parts = leaves(before)
    score = scores(model, parts, setting.labelled)
    labels = setting.labelled.matrix()
    value = torch.zeros((), dtype=torch.double)
    positives = 0
    for u in range(2, 6):
        for i in range(labels.shape[1]):
            if labels[u, i] > 0:
                positives += 1
                value = value - torch.log(torch.sigmoid(score[u, i]))
            value = value - kept[0][u - 2, i] / 2 * torch.log(1 - torch.sigmoid(score[u, i]))
    assert float(kept[0].sum()) == 2 * positives
    assert told[0] == pytest.approx(float(value.detach()), rel=1e-5)
    assert told[1] == positives
    expected = torch.autograd.grad(value + penalty(parts, LAMBDA, BLOCK, N_USERS), parts)
    assert_near(moved(before, setting.backbone.parameters, RATE), expected)
