"""The hyper-gradient of AutoDebias, and when its weights begin to learn."""

import pytest
from label_worlds import N_USERS, leaves, loss, penalty, prepared, scores
from torch_or_skip import torch

from unskew.models import AutoDebias

LAMBDA, AHEAD = 0.7, 0.02
BLOCK = slice(1, 6)


def model(backbone, kind, **options):
    return AutoDebias(
        backbone=backbone, loss=kind, factors=3, regularisation=LAMBDA, imputation=0.3, look_ahead=AHEAD, **options
    )


def disturb(method):
    """Weights and targets that are not those of the start."""
    generator = torch.Generator().manual_seed(8)
    for part in (*method.observed, *method.pairs, *method.imputed):
        part.copy_(torch.randn(part.shape, generator=generator))


def double_backward(settings, method, setting):
    """Differentiate the uniform sample's loss after the look-ahead step, through that step."""
    parts = leaves(setting.backbone.parameters)
    a, b, c = leaves(method.observed), leaves(method.pairs), leaves(method.imputed)
    labels = torch.from_numpy(setting.labelled.matrix().astype(float))
    seen, places = labels != 0, labels.long() + 1
    w1 = torch.exp((a[0][:, None] + a[1] + a[2][(labels > 0).long()]) / 5)
    w2 = torch.exp((b[0][:, None] + b[1] + b[2][seen.long()]) / 5)
    score = scores(settings, parts, setting.labelled)
    cells = torch.where(seen, w1 * loss(settings.loss, score, labels), 0.0)
    cells = cells + 0.3 * w2 * loss(settings.loss, score, torch.tanh(c[0][places]))
    value = cells[BLOCK].sum() + penalty(parts, LAMBDA, BLOCK, N_USERS)
    slopes = torch.autograd.grad(value, parts, create_graph=True)
    ahead = [part - AHEAD * slope for part, slope in zip(parts, slopes, strict=True)]
    rows = setting.uniform
    found = scores(settings, ahead, setting.labelled)[torch.from_numpy(rows.users), torch.from_numpy(rows.items)]
    outer = loss(settings.loss, found, torch.from_numpy(rows.labels).double()).sum()
    return torch.autograd.grad(outer, [*a, *b, *c])


@pytest.mark.parametrize("backbone", ["mf", "lightgcn"])
@pytest.mark.parametrize("kind", ["squared", "bce"])
def test_the_hypergradient_is_that_of_a_double_backward(backbone, kind):
    settings = model(backbone, kind)
    method, setting = prepared(settings)
    disturb(method)
    expected = double_backward(settings, method, setting)
    with torch.no_grad():
        factors = setting.backbone.factors(setting.backbone.parameters)
        found = [part for group in method.hypergradient(BLOCK, factors) for part in group]
    assert len(found) == len(expected) == 7
    largest = max(float(each.abs().max()) for each in expected)
    assert largest > 0.01
    for one, other in zip(found, expected, strict=True):
        assert float(other.abs().max()) > 0
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5 * largest)


def test_weights_are_frozen_at_first_and_imputed_labels_are_not():
    method, _ = prepared(model("mf", "squared", frozen=2))
    with torch.no_grad():
        method.step(BLOCK)
        method.epoch = 1
        method.step(BLOCK)
        assert not any(part.any() for part in (*method.observed, *method.pairs))
        assert method.imputed[0].all()
        method.epoch = 2
        method.step(BLOCK)
        assert all(part.any() for part in (*method.observed, *method.pairs))


def test_a_plain_optimiser_looks_ahead_by_its_own_rate():
    method, _ = prepared(model("mf", "squared", optimiser="sgd", learning_rate=0.003))
    assert method.ahead == 0.003
    method, _ = prepared(model("mf", "squared", learning_rate=0.003))
    assert method.ahead == AHEAD
