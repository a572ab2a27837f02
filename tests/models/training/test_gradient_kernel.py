"""Every loss against torch's autograd, and steps against its Adam."""

import descents
import numpy as np
import pytest
import torch_losses
from torch_or_skip import torch

from unskew.models import Model
from unskew.models.training import gradient_kernel

WORDS = [
    "bpr(regularisation=0.1, batch=60, factors=5)",
    "bpr(regularisation=0, batch=60, factors=16)",
    "cml(regularisation=0.1, batch=60, factors=5)",
    "cml(margin=0.3, batch=60, factors=5)",
    "cml-rank(batch=60, factors=5)",
    "cml-rank(negatives=3, regularisation=0.01, batch=60, factors=5)",
    "cml-rank(negatives=1, batch=60, factors=5)",
    "pmf(regularisation=0.1, batch=60, factors=5)",
    "pmf(regularisation=0.1, form=openrec, batch=60, factors=5)",
]
# Rows of torch are doubles, ours floats of 24 bits (6e-8). A gradient adds up to some 60 terms of either sign.
OF_SUMS = 1e-5
# Adam divides by the size of the gradient itself: a step is as wrong, in parts of the rate, as its gradient is.
RATE, OF_STEPS = 0.05, 1e-3


def kinds(run):
    return run.rows.users, run.rows.items, run.rows.bias


@pytest.mark.parametrize("scale", [0.01, 0.5])
@pytest.mark.parametrize("word", WORDS)
def test_the_gradient_is_that_of_autograd(word, scale):
    run = descents.descent(Model.from_word(word), scale=scale)
    variables = torch_losses.leaves(run)
    loss = descents.step(run)  # Adam's mean is then a tenth of the gradient
    expected = torch_losses.losses(run, variables)
    assert loss == pytest.approx(expected.mean().item(), rel=OF_SUMS)
    np.testing.assert_allclose(run.batch.losses, expected.detach(), rtol=OF_SUMS, atol=OF_SUMS)
    (expected.sum() + torch_losses.penalty(run, variables)).backward()
    for kind, variable in zip(kinds(run), variables, strict=True):
        slope = variable.grad.numpy()
        assert np.any(slope)
        np.testing.assert_allclose(kind.mean / 0.1, slope, rtol=OF_SUMS, atol=OF_SUMS * np.abs(slope).max())
        np.testing.assert_allclose(kind.square / 0.001, slope**2, rtol=1e-4, atol=OF_SUMS * np.max(slope**2))


def project(run, variables):
    """What was looked up goes back to the unit ball, in double precision."""
    if run.model.distance:
        with torch.no_grad():
            for rows, looked_up in zip(variables[:2], (run.batch.users, run.batch.items), strict=True):
                touched = np.unique(looked_up)
                rows[touched] /= torch.clamp(rows[touched].norm(dim=1, keepdim=True), min=1)


# with a batch of 3, rows without a sample move on by their mean, and are not brought back to the ball
@pytest.mark.parametrize("batch", ["batch=60", "batch=3"])
@pytest.mark.parametrize("scale", [0.01, 0.5])
@pytest.mark.parametrize("word", WORDS)
def test_whole_steps_are_those_of_dense_adam(word, scale, batch):
    model = Model.from_word(word.replace("batch=60", batch).replace(")", f", learning-rate={RATE})"))
    run = descents.descent(model, scale=scale)
    variables = torch_losses.leaves(run)
    adam = torch.optim.Adam(variables, lr=RATE)
    for _ in range(8):
        descents.step(run)
        adam.zero_grad()
        (torch_losses.losses(run, variables).sum() + torch_losses.penalty(run, variables)).backward()
        adam.step()
        project(run, variables)
        for kind, variable in zip(kinds(run), variables, strict=True):
            np.testing.assert_allclose(kind.now, variable.detach(), rtol=0, atol=OF_STEPS * RATE)


def slopes(kernel, bias, *options, fan=2):
    """Slopes and loss of one sample of items 0, 1, ... whose vectors, and the user's, are 0: scores are biases."""
    zeros = np.zeros((fan, 3), np.float32)
    slope, loss = np.full(fan, 9, np.float32), np.full(1, 9, np.float32)
    users, items = np.zeros(1, np.int32), np.arange(fan, dtype=np.int32)
    kernel(zeros, zeros, np.array(bias, np.float32), users, items, slope, loss, 0, 1, *options)
    return slope.tolist(), float(loss[0])


@pytest.mark.parametrize(
    "gap, slope, loss",
    [
        (0, 0.5, np.log(2)),
        (-30, 1, 30),
        (np.nextafter(np.float32(-30), np.float32(-31)), 0, 30),  # held there, so nothing pulls
        (-1e30, 0, 30),
        (30, np.exp(-30), np.exp(-30)),
        (1e30, 0, 0),
    ],
)
def test_the_difference_of_bpr_is_held_above_minus_thirty(gap, slope, loss):
    # sigma(30) is 1 - 9e-14, which is 1 in float32
    given = slopes(gradient_kernel.slope_pairwise, [gap, 0])
    assert given == ([pytest.approx(-slope, rel=1e-6), pytest.approx(slope, rel=1e-6)], pytest.approx(loss, rel=1e-6))


@pytest.mark.parametrize(
    "kernel, options", [(gradient_kernel.slope_pairwise, ()), (gradient_kernel.slope_hinge, (1.0, True))]
)
@pytest.mark.parametrize("bias", [[np.inf, 0], [-np.inf, 0], [0, np.inf], [0, -np.inf], [np.nan, 0], [0, np.nan]])
def test_a_score_that_is_not_finite_is_not_lost(kernel, options, bias):
    assert np.isnan(slopes(kernel, bias, *options)[1])


@pytest.mark.parametrize("bias", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("sigmoid", [False, True])
def test_nor_is_it_in_the_squared_error(bias, sigmoid):
    assert np.isnan(slopes(gradient_kernel.slope_squared, [bias], 1, 0.25, sigmoid, fan=1)[1])


def test_a_hinge_exactly_at_its_boundary_does_not_pull():
    assert slopes(gradient_kernel.slope_hinge, [1, 0], 1.0, False) == ([0, 0], 0)
    # a hair inside it does, with the whole slope
    inside = np.nextafter(np.float32(1), np.float32(0))
    slope, loss = slopes(gradient_kernel.slope_hinge, [inside, 0], 1.0, False)
    assert slope == [-1, 1]
    assert 0 < loss < 1e-6


def test_only_the_worst_negative_pulls_weighted_by_how_many_are_too_near():
    # margins to items 1 to 4: 1 - 0.5 + (0, 0.25, -0.5, -2) = 0.5, 0.75, 0, -1.5; two of four impostors, of 5 items:
    # floor(5 * 2 / 4) = 2, so the weight is ln 3
    slope, loss = slopes(gradient_kernel.slope_hinge, [0.5, 0, 0.25, -0.5, -2], 1.0, True, fan=5)
    assert slope == pytest.approx([-np.log(3), 0, np.log(3), 0, 0], rel=1e-6)
    assert loss == pytest.approx(np.log(3) * 0.75, rel=1e-6)
    # without an impostor the weight is ln 1
    assert slopes(gradient_kernel.slope_hinge, [3, 0, 0], 1.0, True, fan=3) == ([0, 0, 0], 0)


def test_places_are_grouped_by_row_in_their_order():
    rows = np.array([3, 0, 3, 1, 3, 0], np.int32)
    starts, order = np.full(6, 7, np.int32), np.zeros(6, np.int32)
    gradient_kernel.group(rows, starts, order)
    assert starts.tolist() == [0, 2, 3, 3, 6, 6]
    assert order.tolist() == [1, 5, 3, 0, 2, 4]
