"""A cluster whose nodes multiply matrices with different kernels is recorded and warned of."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from unskew import Interactions, Report, Split, evaluate
from unskew.ranking import MatrixScorer


class Nodes:
    """An engine of this process, with the kernels of some nodes."""

    def __init__(self, *kernels: str) -> None:
        self.kernels = set(kernels)

    def map(self, task: Callable[[Any], Any], blocks: Sequence[Any], /) -> Iterable[Any]:
        return [task(block) for block in blocks]


def report(*kernels: str) -> Report:
    train = Interactions.from_arrays([0, 1], [0, 1], n_users=2, n_items=4)
    test = Interactions.from_arrays([0, 1], [2, 3], n_users=2, n_items=4)
    scorer = MatrixScorer(np.arange(8.0).reshape(2, 4))
    return evaluate({"mine": scorer}, Split(train, test), estimators=["aoa"], engine=Nodes(*kernels))


def test_different_kernels_are_recorded_and_warned_of() -> None:
    mixed = report("openblas SkylakeX", "openblas Haswell")
    assert mixed.run["matrix_products"] == ["openblas Haswell", "openblas SkylakeX"]
    found = [text for text in mixed.warnings if "different kernels" in text]
    assert len(found) == 1
    assert "openblas Haswell; openblas SkylakeX" in found[0]


def test_one_kernel_is_neither() -> None:
    for kernels in ((), ("openblas Haswell",)):
        same = report(*kernels)
        assert "matrix_products" not in same.run
        assert not [text for text in same.warnings if "kernels" in text]
