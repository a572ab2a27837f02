"""PyTorch modules and any callable: users to scores of all items, or pairs of users and items to scores."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from unskew.arrays import Ints
from unskew.errors import DataError
from unskew.integrations.family import Family, Given, required_arguments
from unskew.ranking import CallableScorer, MatrixScorer
from unskew.ranking.tensor_counts import is_tensor


def read_callable(given: Given) -> CallableScorer:
    """Scores of a function of row numbers; one of two arguments is called with all pairs of users and items.

    A module gets tensors on its own device, and is put into evaluation mode.
    """
    module = is_module(given.model)
    function: Any = given.model
    n_arguments = required_arguments(function.forward if module else function)
    if n_arguments not in {1, 2}:
        raise given.refuse(
            f"needs {n_arguments} arguments; give a function of user rows, or of user rows and item columns"
        )
    if module:
        function.eval()
        function = OnDevice(function)
    if n_arguments == 2:
        function = AllPairs(function, len(given.ids_of("item")), given.name)
    return CallableScorer(function, **given.labels)


@dataclass(frozen=True, eq=False)
class OnDevice:
    """A module that takes arrays."""

    module: Any

    def __call__(self, *numbers: Ints) -> Any:
        """Call it with tensors on its device."""
        torch: Any = import_module("torch")
        first = next(iter(self.module.parameters()), None)
        device = None if first is None else first.device
        return self.module(*(torch.as_tensor(each, dtype=torch.long, device=device) for each in numbers))


@dataclass(frozen=True, eq=False)
class AllPairs:
    """A function of pairs, called with every pair of these users and all items."""

    function: Callable[[Ints, Ints], Any]
    n_items: int
    name: str

    def __call__(self, rows: Ints) -> Any:
        """Scores of all items, one row per user."""
        users = np.repeat(np.asarray(rows, dtype=np.int64), self.n_items)
        scores = self.function(users, np.tile(np.arange(self.n_items), len(rows)))
        scores = scores if is_tensor(scores) else np.asarray(scores)
        if np.prod(scores.shape, dtype=np.int64) != len(users):
            raise DataError(
                f"model {self.name!r} gave {tuple(scores.shape)} scores for {len(users)} pairs of user and item; a "
                "function of two arguments must return one score per pair"
            )
        return scores.reshape(len(rows), self.n_items)


def read_tensor(given: Given) -> MatrixScorer:
    """A tensor of scores, users by items; ranks are counted on its device."""
    return MatrixScorer(given.model.detach(), **given.labels)


def is_module(model: Any) -> bool:
    """Whether this is a torch module."""
    return any(kind.__module__.startswith("torch.nn") and kind.__name__ == "Module" for kind in type(model).__mro__)


def _is_scores(model: Any) -> bool:
    return is_tensor(model) and not is_module(model)


TENSOR = Family("a tensor of scores", "a PyTorch tensor, users by items", (), read_tensor, recognises=_is_scores)
CALLABLE = Family(
    "a PyTorch module or any function",
    "a module or function of user rows that returns scores of all items, or of user rows and item columns",
    (),
    read_callable,
    ("torch",),
    callable,
)
