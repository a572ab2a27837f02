"""The base classes of methods, which take the training steps, and the sums over the pairs of a block."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unskew.models.debiased.backbones import Backbone, Pair
from unskew.models.debiased.labelled import Labelled, Rows
from unskew.models.debiased.model import DebiasedModel
from unskew.models.debiased.optimisers import optimiser_of
from unskew.models.debiased.pointwise import PointwiseModel

TILE = 200_000  # pairs processed at a time: a few matrices of that size fit into the processor's cache


@dataclass(frozen=True, eq=False)
class Setting:
    """The data, backbone and generator of a method.

    Parameters
    ----------
    labelled : Labelled
        The log.
    uniform : Rows, optional
        The uniform sample.
    backbone : Backbone
        The backbone in its initial state.
    rng : Generator
        Source of all random numbers.
    """

    labelled: Labelled
    uniform: Rows | None
    backbone: Backbone
    rng: np.random.Generator

    @property
    def sample(self) -> Rows:
        """The uniform sample; an error if there is none."""
        assert self.uniform is not None
        return self.uniform

    @property
    def inverse_propensities(self) -> tuple[float, float]:
        """The inverse propensities of negatives and positives."""
        return self.labelled.inverse_propensities(self.sample)


class Method(ABC):
    """Takes a step on all items of a block of users."""

    def __init__(self, model: DebiasedModel, setting: Setting) -> None:
        self.backbone, self.penalty = setting.backbone, model.regularisation
        self.optimiser = optimiser_of(model.optimiser, self.backbone.parameters, model.learning_rate)
        self.epoch = 0
        """How many epochs are done; the trainer sets it."""

    @abstractmethod
    def step(self, block: slice) -> tuple[float, float]:
        """Update all parameters; return the sum of losses over the block and the sum of their weights."""

    def descend(self, block: slice, by_users: Tensor, by_items: Tensor) -> None:
        """Update the parameters of the backbone, given the gradient by the factors."""
        gradients = self.backbone.gradient(by_users, by_items)
        self.backbone.penalise(gradients, self.penalty, block)
        self.optimiser.step(gradients)


class Pointwise(Method):
    r"""Methods whose loss of a pair has the slope :math:`\kappa\, (A\, p(\hat y) - C)`.

    With weights w and targets t of a pair, A = Σ w and C = Σ w t. The squared loss has p(ŷ) = ŷ and κ = 2, the log loss
    p(ŷ) = tanh(ŷ/2) and κ = 1/2.
    """

    def __init__(self, model: PointwiseModel, setting: Setting) -> None:
        super().__init__(model, setting)
        self.labels = torch.from_numpy(setting.labelled.matrix())
        self.logistic = model.loss == "bce"
        self.slope = 0.5 if self.logistic else 2.0
        rows = max(1, min(TILE // self.labels.shape[1], self.labels.shape[0]))
        self._buffers = [torch.empty(rows, self.labels.shape[1]) for _ in range(2)]

    def tiles(self, block: slice, factors: Pair) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Tiles of a few users: their numbers, their labels (0 if none) and the predictions p of all items.

        Both matrices are overwritten by the next tile.
        """
        users, items = factors
        height = len(self._buffers[0])
        for start in range(block.start, block.stop, height):
            rows = slice(start, min(start + height, block.stop))
            labels, predicted = (buffer[: rows.stop - start] for buffer in self._buffers)
            labels.copy_(self.labels[rows])
            torch.mm(users[rows], items.T, out=predicted)
            yield rows, labels, self.link(predicted)

    def link(self, scores: Tensor) -> Tensor:
        """The prediction p(ŷ), in place."""
        return scores.mul_(0.5).tanh_() if self.logistic else scores


class Slopes:
    """Sums over the pairs of a block: the gradient by the factors x and z."""

    def __init__(self, factors: Pair) -> None:
        self.users, self.items = factors
        self.by_users = torch.zeros_like(self.users)
        # wide, because products with a long and a short side are faster this way
        self._by_items = torch.zeros(self.items.shape[1], self.items.shape[0])

    def add(self, rows: slice, slopes: Tensor) -> None:
        """Add the slopes of all items of some users."""
        torch.mm(slopes, self.items, out=self.by_users[rows])
        self._by_items.addmm_(self.users[rows].T, slopes)

    def result(self, scale: float) -> Pair:
        """The gradient, times a number."""
        return self.by_users.mul_(scale), (self._by_items.T * scale).contiguous()
