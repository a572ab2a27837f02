"""Scores that are torch tensors: ranks are counted on their device, and only the counts come back.

Torch is not required. A tensor is recognised by its class, and torch is loaded by then.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from unskew.arrays import Bools, Ints, Matrix, spans

if TYPE_CHECKING:
    import torch

Tensor: TypeAlias = "torch.Tensor"
CHUNK = 1 << 24
"""Scores that are compared at once, so that memory does not grow with the number of held-out items."""


def is_tensor(scores: object) -> bool:
    """Whether this is a torch tensor, or of a class made from it."""
    return any(kind.__module__.partition(".")[0] == "torch" for kind in type(scores).__mro__)


@contextmanager
def without_gradients() -> Iterator[None]:
    """Let torch record nothing for gradients; without torch there is nothing to do."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "no_grad"):
        yield
        return
    with torch.no_grad():
        yield


def as_array(scores: Any) -> Matrix:
    """Scores as an array of this process: a tensor is copied from its device, and short floats are widened."""
    if not is_tensor(scores):
        return np.asarray(scores)
    host = scores.detach().cpu()
    short = host.is_floating_point() and host.element_size() < 4  # NumPy has no bfloat16
    array: Matrix = (host.float() if short else host).numpy()
    return array


def can_count(scores: object) -> bool:
    """Whether ranks can be counted from these scores on their device: they are a tensor of floating-point numbers."""
    return is_tensor(scores) and scores.is_floating_point()  # type: ignore[attr-defined]


def arrange(scores: Tensor, columns: Ints | None) -> Tensor:
    """The scores in the order of the catalogue, 0 for items that the model does not know.

    `columns` has the column of each item, -1 for unknown ones; None if the columns are in order.
    """
    scores = scores.detach()
    if columns is None:
        return scores
    ordered = scores.index_select(1, _on(scores, np.maximum(columns, 0)))
    ordered[:, _on(scores, np.flatnonzero(columns < 0))] = 0
    return ordered


def first_not_finite(scores: Tensor) -> tuple[int, int]:
    """Row and column of the first NaN or infinity, or (-1, -1)."""
    finite = scores.isfinite()
    if bool(finite.all()):
        return -1, -1
    place = int((~finite).flatten().int().argmax())
    return place // scores.shape[1], place % scores.shape[1]


def put_last(scores: Tensor, columns: Ints) -> Tensor:
    """Write minus infinity into these columns of scores that `arrange` has copied, and return the scores."""
    scores[:, _on(scores, columns)] = -np.inf
    return scores


def with_unknown_users(scores: Tensor, known: Bools) -> Tensor:
    """One row per user: those of the known users, and minus infinity for the others."""
    filled = scores.new_full((len(known), scores.shape[1]), -np.inf)
    filled[_on(scores, np.flatnonzero(known))] = scores
    return filled


def count_ranks(
    scores: Tensor, offsets: Ints, items: Ints, listed_offsets: Ints, listed: Ints, *, among: bool
) -> tuple[Ints, Ints]:
    """Count, per held-out item, the candidates above it and the others tied with it; see `kernel.count_ranks`.

    `listed` are the columns that are excluded, or with `among` the candidates.
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    columns = items[offsets[0] : offsets[-1]]
    size = max(CHUNK // max(scores.shape[1], 1), 1)
    counts: list[Ints] = [np.empty((2, 0), np.int32)]
    for first in range(0, len(owner), size):
        users, held = owner[first : first + size], columns[first : first + size]
        lengths = listed_offsets[users + 1] - listed_offsets[users]
        pairs = np.repeat(np.arange(len(users)), lengths)
        others = listed[spans(listed_offsets[users], lengths)]
        counts.append(_count_chunk(scores, users, held, pairs, others, among=among))
    above, tied = np.concatenate(counts, axis=1)
    return above, tied


def _count_chunk(scores: Tensor, users: Ints, held: Ints, pairs: Ints, others: Ints, *, among: bool) -> Ints:
    """Candidates above, and others tied; `others` are listed columns, and `pairs` the held-out rows they belong to."""
    row = _on(scores, users)
    score = scores[row, _on(scores, held)]
    pair = _on(scores, pairs)
    listed, threshold = scores[row[pair], _on(scores, others)], score[pair]
    counted = row.new_zeros((2, len(users)))
    counted[0].index_add_(0, pair, (listed > threshold).to(counted.dtype))
    counted[1].index_add_(0, pair, (listed >= threshold).to(counted.dtype))
    if not among:
        whole = scores.index_select(0, row)
        counted[0] = (whole > score[:, None]).sum(dim=1) - counted[0]
        counted[1] = (whole >= score[:, None]).sum(dim=1) - counted[1]
    counted[1] -= counted[0] + 1  # level counts the item itself
    return np.asarray(counted.cpu().numpy(), dtype=np.int32)


def _on(scores: Tensor, numbers: Ints) -> Tensor:
    """Whole numbers on the device of the scores."""
    torch: Any = sys.modules["torch"]
    there: Tensor = torch.as_tensor(np.ascontiguousarray(numbers, dtype=np.int64), device=scores.device)
    return there
