"""One plain step of each method against the derivative of its formula, taken by torch from the formula itself."""

import pytest
from label_worlds import N_USERS, assert_near, leaves, loss, moved, penalty, prediction, prepared, scores
from torch_or_skip import torch

from unskew.models import AutoDebias, Bias, Dr, Ips

RATE, LAMBDA = 1e-3, 0.7
BLOCK = slice(2, 6)
SHAPES = pytest.mark.parametrize(
    "backbone, kind", [("mf", "squared"), ("mf", "bce"), ("lightgcn", "squared"), ("lightgcn", "bce")]
)


def made(cls, backbone, kind, **options):
    return cls(
        backbone=backbone, loss=kind, factors=3, learning_rate=RATE, regularisation=LAMBDA, optimiser="sgd", **options
    )


def step(model):
    """Take one; return the method, its setting, the parameters before and the gradient that was followed."""
    method, setting = prepared(model)
    before = [part.clone() for part in setting.backbone.parameters]
    with torch.no_grad():
        told = method.step(BLOCK)
    return method, setting, before, moved(before, setting.backbone.parameters, RATE), told


def labels_of(setting):
    return torch.from_numpy(setting.labelled.matrix().astype(float))


def gradient(value, parts):
    return torch.autograd.grad(value, parts, allow_unused=False)


@SHAPES
def test_bias_descends_on_the_losses_of_the_observed_pairs(backbone, kind):
    model = made(Bias, backbone, kind)
    _, setting, before, found, told = step(model)
    parts, labels = leaves(before), labels_of(setting)
    score = scores(model, parts, setting.labelled)
    value = sum(
        loss(kind, score[u, i], labels[u, i]) for u in range(2, 6) for i in range(labels.shape[1]) if labels[u, i]
    )
    assert_near(found, gradient(value + penalty(parts, LAMBDA, BLOCK, N_USERS), parts))
    errors = (prediction(kind, score).detach() - labels)[BLOCK][labels[BLOCK] != 0]
    assert told[0] == pytest.approx(float((errors**2).sum()), rel=1e-5)
    assert told[1] == len(errors)


@SHAPES
def test_ips_weighs_a_row_by_the_inverse_chance_of_its_label(backbone, kind):
    model = made(Ips, backbone, kind)
    _, setting, before, found, _ = step(model)
    parts, labels = leaves(before), labels_of(setting)
    sample = setting.uniform.labels
    weight = {}
    for label in (-1, 1):
        observed = (labels == label).sum() / (labels != 0).sum()
        chance = observed * (labels != 0).double().mean() / (sample == label).mean()
        weight[label] = 1 / float(chance)
    score = scores(model, parts, setting.labelled)
    value = sum(
        weight[int(labels[u, i])] * loss(kind, score[u, i], labels[u, i])
        for u in range(2, 6)
        for i in range(labels.shape[1])
        if labels[u, i]
    )
    assert weight[-1] != pytest.approx(weight[1])
    assert_near(found, gradient(value + penalty(parts, LAMBDA, BLOCK, N_USERS), parts))


@SHAPES
def test_dr_improves_its_guess_and_then_descends_with_the_targets_held_fixed(backbone, kind):
    model = made(Dr, backbone, kind, imputation_rate=RATE / 2)
    method, setting = prepared(model)
    for part in method.guess.parameters:
        part.copy_(torch.randn(part.shape, generator=torch.Generator().manual_seed(4)))
    before = [part.clone() for part in setting.backbone.parameters]
    guess_before = [part.clone() for part in method.guess.parameters]
    with torch.no_grad():
        method.step(BLOCK)
    labels = labels_of(setting)
    negative, positive = setting.inverse_propensities
    weights = torch.where(labels > 0, positive, torch.where(labels < 0, negative, 0.0))[BLOCK]

    parts, guess_parts = leaves(before), leaves(guess_before)
    mf = Bias(factors=2)
    score = scores(model, parts, setting.labelled)[BLOCK]
    errors = (labels[BLOCK] - prediction(kind, score)).detach()
    first = (weights * (scores(mf, guess_parts, None)[BLOCK] - errors) ** 2).sum()
    expected = gradient(first + penalty(guess_parts, LAMBDA, BLOCK, N_USERS), guess_parts)
    assert_near(moved(guess_before, method.guess.parameters, RATE / 2), expected)

    guess = scores(mf, [part.double() for part in method.guess.parameters], None)[BLOCK]
    target = guess + prediction(kind, score).detach()
    second = loss(kind, score, target).sum()
    second = second + (weights * (loss(kind, score, labels[BLOCK]) - loss(kind, score, target))).sum()
    expected = gradient(second + penalty(parts, LAMBDA, BLOCK, N_USERS), parts)
    assert_near(moved(before, setting.backbone.parameters, RATE), expected)


@SHAPES
def test_autodebias_descends_with_its_new_weights_and_targets(backbone, kind):
    model = made(AutoDebias, backbone, kind, imputation=0.3, frozen=0, observed_rate=0.5, pair_rate=0.5)
    method, setting, before, found, _ = step(model)
    parts, labels = leaves(before), labels_of(setting)
    a, b, c = method.observed, method.pairs, method.imputed[0]
    assert all(float(part.abs().max()) > 0.01 for part in (*a, *b, c))
    score = scores(model, parts, setting.labelled)
    value = torch.zeros((), dtype=torch.double)
    for u in range(2, 6):
        for i in range(labels.shape[1]):
            label = int(labels[u, i])
            if label:
                weight = torch.exp((a[0][u] + a[1][i] + a[2][int(label > 0)]) / 5)
                value = value + weight * loss(kind, score[u, i], labels[u, i])
            weight = torch.exp((b[0][u] + b[1][i] + b[2][int(label != 0)]) / 5)
            value = value + 0.3 * weight * loss(kind, score[u, i], torch.tanh(c[label + 1]).double())
    assert_near(found, gradient(value + penalty(parts, LAMBDA, BLOCK, N_USERS), parts))


def test_a_step_of_bias_worked_by_hand():
    # users 0 and 1, items 0 and 1, one factor of 1 everywhere, biases 0: all scores are 1.
    # User 0 likes item 0 and not item 1: slopes 2 (1 - 1) = 0 and 2 (1 + 1) = 4; user 1 dislikes item 0: 4.
    import numpy as np

    from unskew.data import Interactions
    from unskew.models.debiased.labelled import Labelled
    from unskew.models.debiased.method import Setting
    from unskew.models.debiased.trainer import backbone_of

    model = Bias(factors=1, learning_rate=0.1, regularisation=0, optimiser="sgd")
    train = Interactions.from_arrays([0, 0, 1], [0, 1, 0], [1.0, 0.0, 0.0], n_users=2, n_items=2)
    rows = Labelled.of(train, "bias", both=True)
    backbone = backbone_of(model, rows, np.random.default_rng(0))
    backbone.users.fill_(1)
    backbone.items.fill_(1)
    with torch.no_grad():
        told = model.method(Setting(rows, None, backbone, np.random.default_rng(0))).step(slice(0, 2))
    assert told == (8.0, 3.0)  # 0 + 4 + 4, three rows
    np.testing.assert_allclose(backbone.users.numpy(), [[0.6], [0.6]], rtol=1e-6)
    np.testing.assert_allclose(backbone.items.numpy(), [[0.6], [0.6]], rtol=1e-6)
    np.testing.assert_allclose(backbone.user_bias.numpy(), [-0.4, -0.4], rtol=1e-6)
    np.testing.assert_allclose(backbone.item_bias.numpy(), [-0.4, -0.4], rtol=1e-6)
