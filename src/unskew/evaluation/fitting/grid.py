"""`try_all`: train several settings of a model, one after another or in parallel."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import TypeAlias

from unskew.errors import DivergenceError
from unskew.models import StepwiseModel, Trained
from unskew.progress import Stage, summed
from unskew.ranking.engines.threads import Threads

Learn: TypeAlias = Callable[[StepwiseModel, str, Stage | None], Trained]


def try_all(
    grid: Sequence[StepwiseModel], learn: Learn, side_by_side: int, name: str, progress: Stage | None
) -> Iterator[tuple[StepwiseModel, Trained]]:
    """Yield each setting with its trained model, in the order of the grid; skip those that diverge, unless all do.

    `learn` is called with the model, a suffix for its name, and progress: one bar per setting, or one for all settings
    that are trained in parallel.
    """
    names = labels(grid)
    heard = progress
    if side_by_side > 1:
        heard = summed(progress, f"training {name}, {len(grid)} settings", sum(each.iterations for each in grid))

    def task(place: int) -> Trained | DivergenceError:
        try:
            return learn(grid[place], names[place], heard)
        except DivergenceError as error:
            return error

    failed = None
    left = 0
    for place, result in enumerate(Threads(side_by_side).map(task, range(len(grid)))):
        if isinstance(result, DivergenceError):
            failed = result
        else:
            left += 1
            yield grid[place], result
    if failed is not None and not left:
        raise failed


def labels(grid: Sequence[StepwiseModel]) -> list[str]:
    """A suffix that distinguishes each setting of the grid, as in `` at 0.05, 0.01``; "" for a single one."""
    if len(grid) == 1:
        return [""]
    names = [each.name for each in fields(grid[0])]
    varied = [name for name in names if len({getattr(each, name, None) for each in grid}) > 1] or ["regularisation"]
    settings = [", ".join(_short(getattr(each, name, None)) for name in varied) for each in grid]
    return [f" at {words}" for words in settings]


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
