"""How far long work is: a stage in words, and how much of it is done."""

from collections.abc import Callable
from typing import TypeAlias

Stage: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``."""


def stage(progress: Stage, name: str, doing: str = "training") -> Callable[[int, int], None]:
    """The progress of one model, as a function of done and total."""
    return lambda done, total: progress(f"{doing} {name}", done, total)
