"""How far long work is: a stage in words, and how much of it is done."""

from collections.abc import Callable
from typing import TypeAlias

Stage: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``."""


def stage(progress: Stage, name: str, doing: str = "training") -> Callable[[int, int], None]:
    """The progress of one model, as a function of done and total."""
    return lambda done, total: progress(f"{doing} {name}", done, total)


def counting(progress: Stage | None, stage: str, done: int, total: int) -> Callable[[], None]:
    """A function to call after each piece of work; the stage is told of at once, unless there is nothing to do.

    Examples
    --------
    >>> tell = counting(lambda stage, done, total: print(stage, done, total), "drawing", 1, 2)
    drawing 1 2
    >>> tell()
    drawing 2 2
    """
    if progress is None or not total:
        return lambda: None
    so_far = done
    progress(stage, so_far, total)

    def tell() -> None:
        nonlocal so_far
        so_far += 1
        progress(stage, so_far, total)

    return tell


def say(progress: Stage | None, label: str) -> Callable[[str], None] | None:
    """Words beside the bar, where whoever shows it has room for them."""
    told = getattr(progress, "say", None)
    return None if told is None else lambda words: told(f"training {label}", words)
