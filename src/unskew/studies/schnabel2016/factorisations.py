"""Many factorisations of ratings, fitted in processes: the search holds Python's lock, so threads would wait."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.blas import one_thread
from unskew.models.ratings.mf_fit import Loss, Offsets, fit_mf
from unskew.models.ratings.mf_tuning import FOLDS, PATIENCE, MfTuning, tune_mf
from unskew.models.ratings.rating_model import Rated
from unskew.studies.study import Context

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True, eq=False)
class Search:
    """Settings to be chosen by cross-validation.

    Parameters
    ----------
    rated : Rated
    factors, penalties : tuple
        What to try.
    loss, offsets
        As in `tune_mf`.
    folds, patience : int
        As in `tune_mf`.
    seed : int
        Deals the folds.
    """

    rated: Rated
    factors: tuple[int, ...]
    penalties: tuple[float, ...]
    loss: Loss = "mse"
    offsets: Offsets = "regularised"
    folds: int = FOLDS
    patience: int = PATIENCE
    seed: int = 0

    def __call__(self) -> MfTuning:
        """Choose."""
        return tune_mf(
            self.rated,
            self.factors,
            self.penalties,
            loss=self.loss,
            offsets=self.offsets,
            folds=self.folds,
            patience=self.patience,
            rng=self.seed,
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """A fit that is judged on all cells of a full matrix.

    Parameters
    ----------
    rated : Rated
        What was observed of it.
    factors : int
    penalty : float
    truth : array of int8, users by items
        All ratings.
    """

    rated: Rated
    factors: int
    penalty: float
    truth: Ints

    def __call__(self) -> Floats:
        """MSE and MAE over all cells."""
        with one_thread():
            errors = fit_mf(self.rated, self.factors, self.penalty, offsets="free").matrix() - self.truth
        return np.array([np.mean(errors**2), np.mean(np.abs(errors))])


def run_all(tasks: Iterable[Callable[[], _R]], total: int, stage: str, context: Context) -> list[_R]:
    """What the tasks give back, in their order, which does not depend on how many run at a time.

    Parameters
    ----------
    tasks : iterable of callable
        Made as they are needed.
    total : int
        How many there are.
    stage : str
        What to call them when telling how far they are.
    context : Context
        A small version is not worth starting processes for.
    """
    context.report(stage, 0, total)
    results = []
    for result in _in_turn(tasks) if context.fast else _in_processes(tasks):
        results.append(result)
        context.report(stage, len(results), total)
    return results


def _in_turn(tasks: Iterable[Callable[[], _R]]) -> Iterator[_R]:
    for task in tasks:
        yield task()


def _in_processes(tasks: Iterable[Callable[[], _R]]) -> Iterator[_R]:
    # joblib, which scikit-learn brings, needs no guard in the program that calls this, unlike multiprocessing
    from joblib import Parallel, cpu_count, delayed  # type: ignore[import-untyped]

    yield from Parallel(n_jobs=cpu_count(), return_as="generator")(delayed(_call)(task) for task in tasks)


def _call(task: Callable[[], _T]) -> _T:
    return task()
