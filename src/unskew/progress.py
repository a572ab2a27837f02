"""Progress of long work: a stage in words, and how much of it is done.

All work reports to one callback, ``progress(stage, done, total)``. If the callback also has a method ``say(stage,
words)``, that method gets a few words about the stage, such as the current loss. The functions below adapt such a
callback. Without a callback they do nothing.
"""

from collections.abc import Callable, Collection, Iterator
from threading import Lock
from typing import TypeAlias, TypeVar

Stage: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``."""
_T = TypeVar("_T")


def stage(progress: Stage | None, name: str, doing: str = "training") -> Callable[[int, int], None] | None:
    """A function ``report(done, total)`` for the progress of one model.

    Examples
    --------
    >>> report = stage(print, "als")
    >>> report(1, 3)
    training als 1 3
    """
    return None if progress is None else lambda done, total: progress(f"{doing} {name}", done, total)


def say(progress: Stage | None, name: str, doing: str = "training") -> Callable[[str], None] | None:
    """A function ``say(words)`` about the progress of one model; None if the callback takes no words."""
    heard = getattr(progress, "say", None)
    return None if heard is None else lambda words: heard(f"{doing} {name}", words)


def counting(progress: Stage | None, stage: str, done: int, total: int) -> Callable[[], None]:
    """A function to call after each piece of work; the stage is reported immediately, unless there is nothing to do.

    Examples
    --------
    >>> advance = counting(print, "drawing", 1, 2)
    drawing 1 2
    >>> advance()
    drawing 2 2
    """
    if progress is None or not total:
        return lambda: None
    so_far = done
    progress(stage, so_far, total)

    def advance() -> None:
        nonlocal so_far
        so_far += 1
        progress(stage, so_far, total)

    return advance


def counted(progress: Stage | None, stage: str, pieces: Collection[_T]) -> Iterator[_T]:
    """Yield each piece of work; the stage is reported before each piece and after the last.

    Examples
    --------
    >>> for name in counted(print, "fitting", ["als"]):
    ...     print(name)
    fitting 0 1
    als
    fitting 1 1
    """
    report = progress or _nobody
    for done, piece in enumerate(pieces):
        report(stage, done, len(pieces))
        yield piece
    report(stage, len(pieces), len(pieces))


def prefixed(progress: Stage | None, prefix: str) -> Stage | None:
    """The same progress with a word before every stage.

    Examples
    --------
    >>> prefixed(print, "table1")("training als", 1, 3)
    table1: training als 1 3
    """
    return None if progress is None else _Prefixed(progress, prefix)


def summed(progress: Stage | None, stage: str, total: int) -> Stage | None:
    """One stage for several that run at the same time: how many of the `total` steps are done in all of them.

    Examples
    --------
    >>> report = summed(print, "both", 10)
    >>> report("training als at 0.1", 2, 5)
    both 2 10
    >>> report("training als at 0.2", 3, 5)
    both 5 10
    """
    return None if progress is None else _Summed(progress, stage, total)


class _Prefixed:
    def __init__(self, progress: Stage, prefix: str) -> None:
        self.progress, self.prefix = progress, prefix

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.progress(f"{self.prefix}: {stage}", done, total)

    def say(self, stage: str, words: str) -> None:
        _pass_on(self.progress, f"{self.prefix}: {stage}", words)


class _Summed:
    def __init__(self, progress: Stage, stage: str, total: int) -> None:
        self.progress, self.stage, self.total = progress, stage, total
        self.done: dict[str, int] = {}
        self.lock = Lock()

    def __call__(self, stage: str, done: int, total: int) -> None:
        with self.lock:
            self.done[stage] = done
            self.progress(self.stage, sum(self.done.values()), self.total)

    def say(self, stage: str, words: str) -> None:
        with self.lock:
            _pass_on(self.progress, self.stage, f"{stage.removeprefix('training ')}: {words}")


def _pass_on(progress: Stage, stage: str, words: str) -> None:
    heard = getattr(progress, "say", None)
    if heard is not None:
        heard(stage, words)


def _nobody(stage: str, done: int, total: int) -> None:
    """Ignore the progress; used if no callback was given."""
