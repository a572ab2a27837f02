"""Tasks in processes: what holds Python's lock would make threads wait."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from unskew.studies.framework.study import Context

_T = TypeVar("_T")


def run_all(tasks: Iterable[Callable[[], _T]], total: int, stage: str, context: Context) -> list[_T]:
    """The results of the tasks, in their order, which does not depend on how many run at a time.

    Parameters
    ----------
    tasks : iterable of callable
        Made as they are needed.
    total : int
        Their number.
    stage : str
        Their name in the progress.
    context : Context
        A small version is not worth starting processes.
    """
    context.report(stage, 0, total)
    results = []
    for result in _in_turn(tasks) if context.fast else _in_processes(tasks):
        results.append(result)
        context.report(stage, len(results), total)
    return results


def _in_turn(tasks: Iterable[Callable[[], _T]]) -> Iterator[_T]:
    for task in tasks:
        yield task()


def _in_processes(tasks: Iterable[Callable[[], _T]]) -> Iterator[_T]:
    # joblib, which scikit-learn brings, needs no guard in the program that calls this, unlike multiprocessing
    from joblib import Parallel, cpu_count, delayed  # type: ignore[import-untyped]

    yield from Parallel(n_jobs=cpu_count(), return_as="generator")(delayed(_call)(task) for task in tasks)


def _call(task: Callable[[], _T]) -> _T:
    return task()
