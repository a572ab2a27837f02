"""The base of models that learn in steps, so that validation can choose among their states."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

import numpy as np

from unskew.arrays import SeedLike
from unskew.blas import one_thread
from unskew.data import Interactions
from unskew.data.writing import check_writable
from unskew.models.model import Model, Observed, Progress, check_number, check_rows, check_whole, silent
from unskew.models.training import checkpoints
from unskew.ranking.scorers import FactorScorer

if TYPE_CHECKING:
    from unskew.models.training.run import Run

Judge: TypeAlias = Callable[[FactorScorer], Mapping[str, float]]
"""Computes metrics on validation rows, where larger is better; the evaluation passes it."""
Say: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Check:
    """A check of a run: the step, the mean loss of a sample since the last check, and validation metrics."""

    iteration: int
    loss: float
    metrics: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"loss {self.loss:.4f}" + "".join(f", {name} {value:.4f}" for name, value in self.metrics.items())


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """The result of a training run.

    Parameters
    ----------
    last : FactorScorer
        The model at the end.
    best : mapping
        For each metric of the judge, the best state by it, and its step.
    checks : tuple of Check
    """

    last: FactorScorer
    best: Mapping[str, tuple[int, FactorScorer]]
    checks: tuple[Check, ...]

    def __repr__(self) -> str:
        best = ", ".join(f"{name} at {at}" for name, (at, _) in self.best.items())
        return f"Trained({self.iterations} steps, {self.checks[-1]}{f'; best {best}' if best else ''})"

    @property
    def iterations(self) -> int:
        """Number of steps taken; fewer than requested if it stopped early."""
        return self.checks[-1].iteration

    def chosen(self, metric: str) -> FactorScorer:
        """The best state by a metric; the last one without validation."""
        return self.best[metric][1] if metric in self.best else self.last


@dataclass(frozen=True)
class StepwiseModel(Model):
    """Factors that are learnt in steps.

    The same log, options and seed give the same factors on any number of threads.

    Parameters
    ----------
    factors : int
    regularisation : float
    iterations : int
        Largest number of steps.
    learning_rate : float
    every : int
        Steps between two checks, which compute the validation metric and write the checkpoint.
    patience : int
        Checks without a better validation metric after which training stops; 0 for never.
    tune : bool
        Choose among `settings_to_try` by the validation metric, in an evaluation.
    """

    factors: int = 50
    regularisation: float = 0.01
    iterations: int = 20_000
    learning_rate: float = 0.001
    every: int = 1000
    patience: int = 5
    tune: bool = False

    one_core: ClassVar[bool] = False
    """Whether a run uses one thread, so that several settings should be tried at the same time."""

    def __post_init__(self) -> None:
        for option in ("factors", "iterations", "every"):
            check_whole(self, option)
        check_whole(self, "patience", 0)
        check_number(self, "learning_rate")
        check_number(self, "regularisation", zero=True)

    @abstractmethod
    def settings_to_try(self) -> tuple[Self, ...]:
        """The settings that `tune` tries."""

    @abstractmethod
    def start(self, observed: Observed, train: Interactions, seed: int, threads: int) -> "Run":
        """A run before its first step."""

    def effort(self, train: Interactions) -> float:
        """Its steps, each over all factors of a pair or a triple of rows."""
        return 1e-8 * self.iterations * self.factors

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> FactorScorer:
        """Train to the last step."""
        return self.train(train, rng=rng, progress=progress).last

    def train(
        self,
        train: Interactions,
        *,
        rng: SeedLike = 0,
        judge: Judge | None = None,
        metrics: tuple[str, ...] = (),
        judged_on: str = "",
        checkpoint: Path | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        say: Say | None = None,
    ) -> Trained:
        """Train with optional validation, early stopping and checkpoints.

        Parameters
        ----------
        train : Interactions
        rng : int or Generator
        judge : callable, optional
            Returns the validation metrics of a state; the best state by each is kept.
        metrics : tuple of str
            The names of those metrics.
        judged_on : str
            Fingerprint of the rows that the judge uses: a checkpoint with other rows is refused.
        checkpoint : Path, optional
            Written at each check. If it exists, the run resumes from it, with the same result.
        threads : int, optional
            Number of threads; by default all that numba uses.
        progress : callable, optional
            Called as ``progress(done, total)``.
        say : callable, optional
            Called with the loss and validation metrics in words.

        Raises
        ------
        DataError
            If there are no rows, the numbers are not finite, or the checkpoint is of another run.
        """
        import numba

        check_rows(self, train)
        if checkpoint is not None:
            check_writable(checkpoint)
        observed = Observed.of(train)
        seed = int(np.random.default_rng(rng).integers(2**62))
        with one_thread():
            run = self.start(observed, train, seed, threads or numba.get_num_threads())
            data = checkpoints.fingerprint(observed, run.weights)
            identity = checkpoints.Identity(run.identity, seed, data, metrics, judged_on)
            if checkpoint is not None and checkpoint.exists():
                run.restore(*checkpoints.load(checkpoint, identity), checkpoint)
            while not run.over:
                run.advance(progress or silent)
                check = run.check(judge)
                if checkpoint is not None:
                    checkpoints.save(checkpoint, identity, run.progress(), run.arrays())
                if say is not None:
                    say(str(check))
            if progress is not None:
                progress(self.iterations, self.iterations)
        return run.result()
