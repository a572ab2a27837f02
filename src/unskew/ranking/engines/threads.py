"""Threads of this process; the default engine."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from unskew.errors import ConfigError

Block = TypeVar("Block")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a function over blocks and gives the results back in the order of the blocks."""

    def map(self, task: Callable[[Block], Result], blocks: Sequence[Block], /) -> Iterable[Result]:
        """Apply the task to each block."""
        ...


@dataclass(frozen=True)
class Threads:
    """A pool of threads, each with single-threaded BLAS, so that the cores are not fought over.

    Parameters
    ----------
    n : int, optional
        How many; as many as this process may use cores when not given.
    """

    n: int | None = None

    def __post_init__(self) -> None:
        if self.n is not None and self.n < 1:
            raise ConfigError(f"{self.n} threads: at least 1 is needed")

    def map(self, task: Callable[[Block], Result], blocks: Sequence[Block], /) -> Iterator[Result]:
        """Apply the task to each block, results in order."""
        workers = min(self.n or usable_cores(), len(blocks))
        with single_threaded_blas():
            if workers <= 1:
                yield from map(task, blocks)
                return
            pool = ThreadPoolExecutor(workers)
            try:
                yield from pool.map(task, blocks)
            finally:
                pool.shutdown(cancel_futures=True)  # an interrupt must not wait for the whole queue


def usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread while inside."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> Any:
    # finding the loaded libraries takes milliseconds, so it is done once
    import scipy.linalg  # noqa: F401  # scipy brings its own BLAS, which must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
