"""The default engine: threads of this process."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from threading import Condition, Thread
from typing import Any, Generic, Protocol, TypeVar

from unskew.blas import later_libraries_limited
from unskew.errors import ConfigError

Block = TypeVar("Block")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a function over blocks and yields the results in the order of the blocks."""

    def map(self, task: Callable[[Block], Result], blocks: Sequence[Block], /) -> Iterable[Result]:
        """Apply the task to each block."""
        ...


@dataclass(frozen=True)
class Threads:
    """A pool of threads, each with single-threaded BLAS, so that they do not compete for cores.

    Parameters
    ----------
    n : int, optional
        Number of threads; by default the number of cores that this process may use.
    """

    n: int | None = None

    def __post_init__(self) -> None:
        if self.n is not None and self.n < 1:
            raise ConfigError(f"{self.n} threads: must be at least 1")

    def map(self, task: Callable[[Block], Result], blocks: Sequence[Block], /) -> Iterator[Result]:
        """Apply the task to each block, results in order; the calling thread works too."""
        workers = min(self.n or usable_cores(), len(blocks))
        shared = _Shared(task, blocks)
        with single_threaded_blas(), later_libraries_limited():
            helpers = [Thread(target=shared.work, daemon=True) for _ in range(workers - 1)]
            for helper in helpers:
                helper.start()
            try:
                yield from shared.work_and_give()
            finally:
                shared.stopped = True  # an interrupt must not wait for the whole queue
                for helper in helpers:
                    helper.join()


class _Shared(Generic[Block, Result]):
    """The blocks to process, in order, and their results."""

    def __init__(self, task: Callable[[Block], Result], blocks: Sequence[Block]) -> None:
        self.task, self.blocks = task, blocks
        self.places = count()  # its next() is atomic, so no two threads get the same place
        self.done: dict[int, Result] = {}
        self.error: BaseException | None = None
        self.stopped = False
        self.news = Condition()

    def step(self) -> bool:
        """Process the next block; return False if there is none."""
        place = next(self.places)
        if place >= len(self.blocks) or self.stopped:
            return False
        result = self.task(self.blocks[place])
        with self.news:
            self.done[place] = result
            self.news.notify_all()
        return True

    def work(self) -> None:
        """Process blocks until none is left; an error is kept for the calling thread."""
        try:
            while self.step():
                pass
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is raised again where it belongs
            with self.news:
                self.error, self.stopped = error, True
                self.news.notify_all()

    def work_and_give(self) -> Iterator[Result]:
        """Process blocks, and yield the results in order as soon as they are available."""
        given, more = 0, True
        while given < len(self.blocks):
            more = more and self.step()
            with self.news:
                while not more and given not in self.done and self.error is None:
                    self.news.wait()
            if self.error is not None:
                raise self.error
            while given in self.done:
                yield self.done.pop(given)
                given += 1


def usable_cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread within the context, in all libraries that are loaded by now."""
    limit: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:  # noqa: ARG001  # any new module may have brought a library
    # finding the loaded libraries takes milliseconds, so it is done once for the same modules
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
