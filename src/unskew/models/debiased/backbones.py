"""Two backbones, whose scores are products of a user's and an item's factors."""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from unskew.arrays import Matrix
from unskew.models.debiased.labelled import Labelled

Pair: TypeAlias = tuple[Tensor, Tensor]
"""One matrix for the users and one for the items."""


class Backbone(ABC):
    r"""Learnt numbers θ, and factors x and z with :math:`\hat y_{ui} = x_u(\theta) \cdot z_i(\theta)`.

    The factors are linear in θ up to a constant, so derivatives need no automatic differentiation: `along` is the
    derivative of `factors` in a direction, and `gradient` its transpose.

    Parameters
    ----------
    users, items : Tensor
        The initial factors; λ penalises these.
    """

    def __init__(self, users: Tensor, items: Tensor) -> None:
        self.users, self.items = users, items
        self.parameters = [users, items]

    @abstractmethod
    def factors(self, parameters: Sequence[Tensor]) -> Pair:
        """The factors x and z of users and items."""

    @abstractmethod
    def along(self, directions: Sequence[Tensor]) -> Pair:
        """The derivative of x and z when the parameters move in these directions."""

    @abstractmethod
    def gradient(self, by_users: Tensor, by_items: Tensor) -> list[Tensor]:
        """The gradient by the parameters, from that by x and z."""

    @abstractmethod
    def arrays(self) -> dict[str, Matrix]:
        """Copies of the current factors and biases, for a scorer."""

    def penalise(self, gradients: Sequence[Tensor], penalty: float, rows: slice) -> None:
        """Add the gradient of the penalty of the block's users, and their share of that of the items."""
        share = (rows.stop - rows.start) / len(self.users)
        gradients[0][rows].add_(self.users[rows], alpha=penalty)
        gradients[1].add_(self.items, alpha=penalty * share)


class Factorisation(Backbone):
    r"""Matrix factorisation, :math:`\hat y_{ui} = u_u \cdot v_i + b_u + b_i`.

    Initial factors are normal with variance 2 over the number of users or items (Kaiming's, by fan-out), biases 0.
    """

    def __init__(self, shape: tuple[int, int], width: int, rng: np.random.Generator) -> None:
        users, items = (normal(rng, (n, width), math.sqrt(2 / n)) for n in shape)
        super().__init__(users, items)
        self.width = width
        self.user_bias, self.item_bias = (torch.zeros(n) for n in shape)
        self.parameters = [users, items, self.user_bias, self.item_bias]

    def factors(self, parameters: Sequence[Tensor]) -> Pair:
        """The factors, with the biases as further columns next to a column of ones."""
        return self._columns(parameters, 1.0)

    def along(self, directions: Sequence[Tensor]) -> Pair:
        """The derivative; that of the ones is 0."""
        return self._columns(directions, 0.0)

    @staticmethod
    def _columns(parts: Sequence[Tensor], constant: float) -> Pair:
        users, items, user_bias, item_bias = parts
        left = torch.full((len(users), 1), constant)
        right = torch.full((len(items), 1), constant)
        return torch.hstack([users, user_bias[:, None], left]), torch.hstack([items, right, item_bias[:, None]])

    def gradient(self, by_users: Tensor, by_items: Tensor) -> list[Tensor]:
        """The gradient of the columns, split into factors and biases."""
        d = self.width
        parts = by_users[:, :d], by_items[:, :d], by_users[:, d], by_items[:, d + 1]
        return [part.contiguous() for part in parts]

    def arrays(self) -> dict[str, Matrix]:
        """Factors and biases."""
        names = "user_factors", "item_factors", "user_bias", "item_bias"
        return {name: part.numpy().copy() for name, part in zip(names, self.parameters, strict=True)}


class LightGcn(Backbone):
    r"""Factors that flow along the positive rows, :math:`E = \frac{1}{L + 1} \sum_{l=0}^{L} \hat A^l E_0`.

    :math:`\hat A = D^{-1/2} A D^{-1/2}` is the adjacency matrix of users and items, each edge divided by the root of
    the degrees of its ends. He et al. (2020). Initial factors are normal with standard deviation 0.1.

    A constant that all scores share is learnt too, and left out at the end, because no ranking depends on it. Labels
    are mostly negative, which the propagation cannot express: the mean over states of even and odd depth cancels what
    has opposite signs in users and items.
    """

    def __init__(self, rows: Labelled, width: int, layers: int, rng: np.random.Generator) -> None:
        users, items = (normal(rng, (n, width), 0.1) for n in rows.shape)
        super().__init__(users, items)
        self.layers, self.constant = layers, torch.zeros(1)
        self.parameters = [users, items, self.constant]
        positive = rows.rows.labels > 0
        ends = rows.rows.users[positive], rows.rows.items[positive]
        degrees = [np.bincount(codes, minlength=n) for codes, n in zip(ends, rows.shape, strict=True)]
        edges = 1 / np.sqrt(degrees[0][ends[0]].astype(float) * degrees[1][ends[1]])
        matrix = sparse.csr_array((edges.astype(np.float32), ends), shape=rows.shape)
        self.to_users, self.to_items = _csr(matrix), _csr(matrix.T.tocsr())

    def factors(self, parameters: Sequence[Tensor]) -> Pair:
        """The mean over all states, and a column for the constant."""
        return self._columns(parameters, 1.0)

    def along(self, directions: Sequence[Tensor]) -> Pair:
        """The derivative: the propagation is linear."""
        return self._columns(directions, 0.0)

    def _columns(self, parts: Sequence[Tensor], one: float) -> Pair:
        users, items = self.flow(parts[0], parts[1])
        left, right = torch.full((len(users), 1), one), parts[2].expand(len(items), 1)
        return torch.hstack([users, left]), torch.hstack([items, right])

    def flow(self, users: Tensor, items: Tensor) -> Pair:
        """The mean over all states."""
        user_states, item_states = [users], [items]
        for _ in range(self.layers):
            users, items = user_states[-1], item_states[-1]
            user_states.append(self.to_users @ items)
            item_states.append(self.to_items @ users)
        return sum_of(user_states).div_(self.layers + 1), sum_of(item_states).div_(self.layers + 1)

    def gradient(self, by_users: Tensor, by_items: Tensor) -> list[Tensor]:
        """The gradient: the matrix of the propagation is symmetric."""
        return [*self.flow(by_users[:, :-1].contiguous(), by_items[:, :-1].contiguous()), by_items[:, -1:].sum(0)]

    def arrays(self) -> dict[str, Matrix]:
        """The propagated factors."""
        users, items = self.flow(self.users, self.items)
        return {"user_factors": users.numpy(), "item_factors": items.numpy()}


def normal(rng: np.random.Generator, shape: tuple[int, int], deviation: float) -> Tensor:
    """Normal numbers with mean 0."""
    return torch.from_numpy((rng.standard_normal(shape) * deviation).astype(np.float32))


def sum_of(parts: Sequence[Tensor]) -> Tensor:
    """The sum, as a new tensor even for one part."""
    total = parts[0].clone()
    for part in parts[1:]:
        total += part
    return total


def _csr(matrix: "sparse.csr_array[np.float32, tuple[int, int]]") -> Tensor:
    matrix.sort_indices()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch warns that its sparse matrices are in beta
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data),
            size=matrix.shape,
        )
