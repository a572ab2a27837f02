"""Factors of the two backbones, and their derivatives."""

import numpy as np
import pytest
from label_worlds import flowed, log
from torch_or_skip import torch

from unskew.models import Bias
from unskew.models.debiased.backbones import Factorisation, LightGcn
from unskew.models.debiased.labelled import Labelled
from unskew.models.debiased.trainer import backbone_of

BOTH = pytest.mark.parametrize("word", ["mf", "lightgcn"])


def made(word, layers=3):
    rows = Labelled.of(log(), "model", both=True)
    return backbone_of(Bias(backbone=word, factors=4, layers=layers), rows, np.random.default_rng(1)), rows


def like(parts, seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(part.shape, generator=generator) for part in parts]


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_lightgcn_is_the_mean_of_powers_of_the_dense_normalised_adjacency(layers):
    backbone, rows = made("lightgcn", layers)
    users, items = backbone.flow(backbone.users, backbone.items)
    expected = flowed(backbone.users.double(), backbone.items.double(), rows, layers)
    torch.testing.assert_close(users.double(), expected[0], rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(items.double(), expected[1], rtol=1e-5, atol=1e-7)


def test_a_user_without_positives_keeps_a_share_of_its_first_factors():
    backbone, rows = made("lightgcn")
    alone = np.flatnonzero((rows.matrix() > 0).sum(1) == 0)
    assert len(alone)
    users, _ = backbone.flow(backbone.users, backbone.items)
    torch.testing.assert_close(users[alone], backbone.users[alone] / 4)


@BOTH
def test_scores_are_products_of_the_factors(word):
    backbone, _ = made(word)
    for part, values in zip(backbone.parameters, like(backbone.parameters, 0), strict=True):
        part.copy_(values)
    users, items = backbone.factors(backbone.parameters)
    arrays = backbone.arrays()
    expected = arrays["user_factors"] @ arrays["item_factors"].T
    if word == "mf":
        expected = expected + arrays["user_bias"][:, None] + arrays["item_bias"]
    else:
        expected = expected + float(backbone.constant)
    np.testing.assert_allclose((users @ items.T).numpy(), expected, rtol=1e-5, atol=1e-6)


@BOTH
def test_along_is_the_derivative_of_the_factors(word):
    backbone, _ = made(word)
    here, direction = like(backbone.parameters, 0), like(backbone.parameters, 1)
    there = [now + step for now, step in zip(here, direction, strict=True)]
    for old, new, change in zip(
        backbone.factors(here), backbone.factors(there), backbone.along(direction), strict=True
    ):
        torch.testing.assert_close(new - old, change, rtol=1e-5, atol=1e-5)


@BOTH
def test_the_gradient_is_the_transpose_of_along(word):
    backbone, _ = made(word)
    direction = like(backbone.parameters, 1)
    moved = backbone.along(direction)
    slopes = like(moved, 2)
    back = backbone.gradient(*slopes)
    left = sum(float((a * b).sum()) for a, b in zip(moved, slopes, strict=True))
    right = sum(float((a * b).sum()) for a, b in zip(direction, back, strict=True))
    assert left == pytest.approx(right, rel=1e-5)


@BOTH
def test_arrays_are_copies(word):
    backbone, _ = made(word)
    before = backbone.arrays()
    kept = {name: array.copy() for name, array in before.items()}
    for part in backbone.parameters:
        part.add_(1)
    for name, array in before.items():
        np.testing.assert_array_equal(array, kept[name])


def test_first_factors_have_the_stated_spread_and_biases_are_zero():
    rng = np.random.default_rng(0)
    factors = Factorisation((2000, 500), 10, rng)
    # 20,000 and 5,000 normal numbers: five standard errors are 2.5 % and 5 %
    assert float(factors.users.std()) == pytest.approx(np.sqrt(2 / 2000), rel=0.025)
    assert float(factors.items.std()) == pytest.approx(np.sqrt(2 / 500), rel=0.05)
    assert not factors.user_bias.any()
    assert not factors.item_bias.any()
    rows = Labelled.of(log(n_users=300, n_items=50), "model", both=True)
    flow = LightGcn(rows, 64, 3, rng)
    assert float(flow.users.std()) == pytest.approx(0.1, rel=0.03)


def test_the_penalty_of_all_blocks_is_that_of_the_whole():
    backbone, _ = made("mf")
    parts = []
    for block in (slice(0, 3), slice(3, 7)):
        gradients = [torch.zeros_like(part) for part in backbone.parameters]
        backbone.penalise(gradients, 0.5, block)
        parts.append(gradients)
    torch.testing.assert_close(parts[0][0] + parts[1][0], 0.5 * backbone.users)
    torch.testing.assert_close(parts[0][1] + parts[1][1], 0.5 * backbone.items)
    assert not parts[0][2].any()
    assert not parts[1][3].any()
