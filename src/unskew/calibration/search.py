"""`Search`: one objective of one world; `runner` carries out several searches in parallel."""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from shutil import which
from typing import Any, TypeAlias

from unskew.calibration.attempt import LARGEST_LIKES, STARTS, Task, Trial, value_of
from unskew.calibration.search_space import Space
from unskew.calibration.suggest import Method
from unskew.errors import DataError
from unskew.ranking import Engine, Threads
from unskew.simulators.likeness import Statistics

ROUND = 10
"""Trials of a search that an engine carries out at once."""
Keep: TypeAlias = Callable[[Trial], None]
Runner: TypeAlias = Callable[["Sequence[Search]", Keep], None]


@dataclass(eq=False)
class Search:
    """One objective of one world."""

    space: Space
    objective: str  # ``starts``, a statistic or ``joint``
    length: int  # number of its own evaluations
    seed: int
    method: Method
    known: Sequence[Trial] = ()  # trials that are known before it begins
    best: Mapping[str, float] = field(default_factory=dict)  # of each statistic, for the joint objective
    largest: float = LARGEST_LIKES  # draw no world with more likes
    trials: list[Trial] = field(default_factory=list)  # its own trials; at first those of a record

    @property
    def done(self) -> bool:
        """Whether there is nothing left to try."""
        return len(self.trials) >= self.length

    def next(self) -> Task:
        """The task of the next trial."""
        trials = [] if self.objective == STARTS else [*self.known, *self.trials]
        tried = [(each.parameters, value_of(each, self.objective, self.best)) for each in trials]
        return Task(self.space, self.objective, len(self.trials), tried, self.seed, self.method, self.largest)

    def add(self, trial: Trial) -> None:
        """Add the result of a task."""
        self.trials.append(trial)


@contextmanager
def runner(real: Statistics, side_by_side: int, engine: Engine | None = None) -> Iterator[Runner]:
    """Yield a function that carries out several searches in parallel; the results do not depend on their number.

    Fitting a Gaussian process holds Python's lock, so parallel searches are processes, not threads; or they run where
    another `engine` maps them.
    """
    if engine is not None and not isinstance(engine, Threads):
        yield lambda searches, keep: _in_rounds(searches, keep, real, engine)
        return
    if side_by_side <= 1:
        yield lambda searches, keep: _in_turn(searches, keep, real)
        return
    # joblib's processes need no guard in the program that calls this, unlike those of multiprocessing
    from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

    pool = ProcessPoolExecutor(max_workers=side_by_side)
    try:
        with warnings.catch_warnings():
            # a process that uses much memory is replaced by a new one, which is fine
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
            yield lambda searches, keep: _in_processes(searches, keep, real, pool, side_by_side)
    except BrokenProcessPool as error:
        raise DataError(
            "a process of the calibration was killed, perhaps because memory ran out; use fewer threads, and continue "
            "from the record if a folder was named"
        ) from error
    finally:
        # they hold no results, and a normal shutdown takes seconds
        pool.shutdown(wait=True, kill_workers=_can_kill())


def _can_kill() -> bool:
    """Whether joblib finds what it kills processes with; otherwise its thread fails and the program never ends."""
    return os.name == "nt" or find_spec("psutil") is not None or which("pgrep") is not None


def _in_turn(searches: Sequence[Search], keep: Keep, real: Statistics) -> None:
    for search in searches:
        while not search.done:
            trial = search.next().run(real)
            search.add(trial)
            keep(trial)


def _in_rounds(searches: Sequence[Search], keep: Keep, real: Statistics, engine: Engine) -> None:
    """Map searches, a few trials of each at a time, so that a record is never far behind."""

    def advance(search: Search) -> list[Trial]:
        started = len(search.trials)
        while not search.done and len(search.trials) < started + ROUND:
            search.add(search.next().run(real))
        return search.trials[started:]

    while ahead := [search for search in searches if not search.done]:
        copies = [replace(search, trials=list(search.trials)) for search in ahead]
        for search, trials in zip(ahead, engine.map(advance, copies), strict=True):
            for trial in trials:
                search.add(trial)
                keep(trial)


def _in_processes(searches: Sequence[Search], keep: Keep, real: Statistics, pool: Any, side_by_side: int) -> None:
    waiting = deque(search for search in searches if not search.done)
    running: dict[Future[Trial], Search] = {}
    while waiting or running:
        while waiting and len(running) < side_by_side:
            search = waiting.popleft()
            running[pool.submit(_run, search.next(), real)] = search
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            search, trial = running.pop(future), future.result()
            search.add(trial)
            keep(trial)
            if not search.done:
                waiting.append(search)  # at the end of the queue, so that all searches end at about the same time


def _run(task: Task, real: Statistics) -> Trial:
    return task.run(real)
