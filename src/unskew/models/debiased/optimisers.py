"""Adam and plain gradient descent, used instead of those of torch, which load its compiler."""

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

MEMORY = 0.9, 0.999
SMALL = 1e-8


class Optimiser(Protocol):
    """Updates parameters in place."""

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the parameters, given their gradients."""
        ...


class Plain:
    """Gradient descent."""

    def __init__(self, parameters: Sequence[Tensor], rate: float) -> None:
        self.parameters, self.rate = parameters, rate

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the parameters."""
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.sub_(gradient, alpha=self.rate)


class Adam:
    """Steps divided by the recent size of the gradients. Kingma and Ba (2015).

    Parameters
    ----------
    parameters : sequence of Tensor
    rate : float
    decay : float
        Weight decay: this times a parameter is added to its gradient.
    """

    def __init__(self, parameters: Sequence[Tensor], rate: float, decay: float = 0.0) -> None:
        self.parameters, self.rate, self.decay = parameters, rate, decay
        self.means = [torch.zeros_like(each) for each in parameters]
        self.squares = [torch.zeros_like(each) for each in parameters]
        self.steps = 0

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the parameters; the gradients are not changed."""
        self.steps += 1
        first, second = MEMORY
        size = self.rate / (1 - first**self.steps)
        root = math.sqrt(1 - second**self.steps)
        for parameter, given, mean, square in zip(self.parameters, gradients, self.means, self.squares, strict=True):
            gradient = torch.add(given, parameter, alpha=self.decay) if self.decay else given
            mean.mul_(first).add_(gradient, alpha=1 - first)
            square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
            parameter.addcdiv_(mean, square.sqrt().div_(root).add_(SMALL), value=-size)


def optimiser_of(word: str, parameters: Sequence[Tensor], rate: float) -> Optimiser:
    """The optimiser called ``adam`` or ``sgd``."""
    return Plain(parameters, rate) if word == "sgd" else Adam(parameters, rate)
