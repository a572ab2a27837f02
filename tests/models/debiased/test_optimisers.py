"""Our Adam and plain descent against torch's."""

import pytest
from torch_or_skip import torch

from unskew.models.debiased.optimisers import Adam, Plain


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_adam_takes_the_steps_of_torch(decay):
    generator = torch.Generator().manual_seed(0)
    ours = [torch.randn(5, 3, generator=generator), torch.randn(4, generator=generator)]
    theirs = [part.clone() for part in ours]
    expected = torch.optim.Adam(theirs, lr=0.05, weight_decay=decay)
    adam = Adam(ours, 0.05, decay)
    for _ in range(20):
        gradients = [torch.randn(part.shape, generator=generator) for part in ours]
        kept = [gradient.clone() for gradient in gradients]
        for part, gradient in zip(theirs, gradients, strict=True):
            part.grad = gradient.clone()
        expected.step()
        adam.step(gradients)
        torch.testing.assert_close(gradients, kept, rtol=0, atol=0)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_plain_descent_subtracts_the_gradient():
    parts = [torch.tensor([1.0, 2.0])]
    Plain(parts, 0.5).step([torch.tensor([2.0, -4.0])])
    assert parts[0].tolist() == [0.0, 4.0]
