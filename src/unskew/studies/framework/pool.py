"""`run_all`: tasks in processes, because Python's lock would make threads wait; `run_missing`: those not yet done."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from unskew.studies.framework.study import Context

_T = TypeVar("_T")


def run_all(tasks: Iterable[Callable[[], _T]], total: int, stage: str, context: Context) -> list[_T]:
    """The results of the tasks, in their order, which does not depend on how many run at a time.

    Tasks are made as they are needed; `total` is their number and `stage` their name in the progress.
    """
    context.report(stage, 0, total)
    results = []
    # a small version is not worth starting processes
    for result in map(_call, tasks) if context.fast else _in_processes(tasks):
        results.append(result)
        context.report(stage, len(results), total)
    return results


def run_missing(
    paths: Sequence[Path | None],
    read: Callable[[Path | None], _T | None],
    task: Callable[[int, int | None], Callable[[], _T]],
    stage: str,
    context: Context,
) -> list[_T]:
    """The results that files have, and those of tasks for the others, in the order of the files.

    `task(place, threads)` makes the task of a place. The processes of a full run have one core each; a single task has
    all cores.
    """
    results = {place: kept for place, path in enumerate(paths) if (kept := read(path)) is not None}
    missing = [place for place in range(len(paths)) if place not in results]
    threads = 1 if len(missing) > 1 and not context.fast else None
    tasks = (task(place, threads) for place in missing)
    results |= zip(missing, run_all(tasks, len(missing), stage, context), strict=True)
    return [results[place] for place in range(len(paths))]


def _in_processes(tasks: Iterable[Callable[[], _T]]) -> Iterator[_T]:
    # joblib, which scikit-learn brings, needs no guard in the program that calls this, unlike multiprocessing
    from joblib import Parallel, cpu_count, delayed  # type: ignore[import-untyped]

    yield from Parallel(n_jobs=cpu_count(), return_as="generator")(delayed(_call)(task) for task in tasks)


def _call(task: Callable[[], _T]) -> _T:
    return task()
