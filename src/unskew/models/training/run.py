"""The base of training runs: progress, checks and best states."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from unskew.arrays import Floats, Matrix
from unskew.data.formats.json_file import Each, Least, conform
from unskew.errors import DataError, DivergenceError
from unskew.models.model import Observed, Progress
from unskew.models.training.stepwise import Check, Judge, StepwiseModel, Trained
from unskew.ranking.scorers import FactorScorer

HUGE = 1e4  # diverged: compared with a factor of this size the remaining steps change nothing
_DURATION = ("iterations", "patience", "tune")
_PARTS = ("users", "items", "bias")
_PROGRESS = {"done": Least(0), "checks": [[(float, Each(float))]], "best": Each(Least(0))}
"""The schema of the progress in a checkpoint, without what only some runs have."""
_CHECKS = ([int, float, dict], [int, int, dict])


class Run(ABC):
    """Training from the first step to the last; a subclass defines the steps."""

    def __init__(self, model: StepwiseModel, observed: Observed, seed: int) -> None:
        self.settings, self.observed, self.seed = model, observed, seed
        self.weights: Floats | None = None
        """The weight of each row of the log; None if all are equal."""
        self.done = 0
        self.checks: list[Check] = []
        self.best: dict[str, tuple[int, dict[str, Matrix]]] = {}

    @property
    def identity(self) -> str:
        """The model without the options on how long it trains and how it was chosen."""
        plain = {each.name: each.default for each in fields(self.settings) if each.name in _DURATION}
        return str(replace(self.settings, **plain))  # type: ignore[arg-type]

    @property
    def over(self) -> bool:
        """Whether training stops: all steps are done, or none of the last checks was better by any metric."""
        if self.done >= self.settings.iterations:
            return True
        patience = self.settings.patience
        since = self.done - max((at for at, _ in self.best.values()), default=self.done)
        return bool(patience and self.best and since >= patience * self.settings.every)

    @property
    def next_check(self) -> int:
        """The step of the next check."""
        every = self.settings.every
        return min((self.done // every + 1) * every, self.settings.iterations)

    @abstractmethod
    def advance(self, progress: Progress) -> None:
        """Take the steps up to the next check."""

    @abstractmethod
    def mean_loss(self) -> float:
        """The mean loss of a sample since the last check."""

    @abstractmethod
    def values(self) -> dict[str, Matrix]:
        """Copies of the current ``users``, ``items`` and ``bias``."""

    @abstractmethod
    def arrays_now(self) -> dict[str, Matrix]:
        """Everything that the next step depends on, by name."""

    @abstractmethod
    def take_up(self, progress: Mapping[str, Any], arrays: Mapping[str, Matrix]) -> None:
        """Continue from the result of `arrays_now` and `progress`; the base class restores the rest."""

    def check(self, judge: Judge | None) -> Check:
        """Record the loss, and keep the state if it is the best so far by some metric.

        Raises
        ------
        DivergenceError
            If training has diverged.
        """
        loss = self.mean_loss()
        self.check_size(loss)
        metrics = {} if judge is None else {name: float(value) for name, value in judge(self.scorer()).items()}
        seen = Check(self.done, loss, metrics)
        for name, value in metrics.items():
            before = max((each.metrics[name] for each in self.checks), default=-math.inf)
            if value > before or name not in self.best:
                self.best[name] = (self.done, self.values())
        self.checks.append(seen)
        return seen

    def check_size(self, loss: float) -> None:
        """Raise an error if parameters are not finite, or huge."""
        largest = max(float(np.abs(part).max(initial=0)) for part in self.values().values())
        if not (math.isfinite(largest) and math.isfinite(loss)):
            raise self.diverged(f"at step {self.done} the factors are not all finite")
        if largest > HUGE:
            raise self.diverged(f"at step {self.done} the factors have grown to {largest:.3g}")

    def diverged(self, what: str) -> DivergenceError:
        """The error to raise, with a description of what happened."""
        return DivergenceError(
            f"{self.settings}: training diverged: {what}; try a smaller learning-rate than "
            f"{self.settings.learning_rate:g}"
        )

    def scorer(self, values: Mapping[str, Matrix] | None = None) -> FactorScorer:
        """A scorer of the current state, or of another."""
        values = values or self.values()
        return FactorScorer(
            values["users"],
            values["items"],
            item_bias=values["bias"],
            similarity="distance" if getattr(self.settings, "distance", False) else "dot",
            user_ids=self.observed.user_ids,
            item_ids=self.observed.item_ids,
            name=str(self.settings),
        )

    def progress(self) -> dict[str, Any]:
        """The progress of the run, as plain data."""
        checks = [[each.iteration, each.loss, dict(each.metrics)] for each in self.checks]
        best = {name: at for name, (at, _) in self.best.items()}
        return {"done": self.done, "checks": checks, "best": best}

    def arrays(self) -> dict[str, Matrix]:
        """All arrays of the run; a state that is best by several metrics is included once."""
        states = dict(self.best.values())
        kept = {f"best_{at}_{name}": array for at, values in states.items() for name, array in values.items()}
        return {**self.arrays_now(), **kept}

    def restore(self, progress: dict[str, Any], arrays: dict[str, Matrix], path: Path) -> None:
        """Continue from a checkpoint; one that does not fit this run is refused, because compiled loops trust it."""
        self._check(progress, arrays, str(path))
        if progress["done"] > self.settings.iterations:
            raise DataError(
                f"{path}: this checkpoint is already at step {progress['done']}, but only {self.settings.iterations} "
                "were requested; request more iterations, or name another file"
            )
        self.done = progress["done"]
        self.checks = [Check(iteration, loss, metrics) for iteration, loss, metrics in progress["checks"]]
        self.take_up(progress, arrays)
        self.best = {
            name: (at, {part: arrays[f"best_{at}_{part}"] for part in _PARTS}) for name, at in progress["best"].items()
        }

    def _check(self, progress: Mapping[str, Any], arrays: Mapping[str, Matrix], path: str) -> None:
        hint = "remove it, or name another file"
        kept: dict[str, Any] = {key: progress.get(key) for key in ("done", "checks", "best")}
        conform(kept, _PROGRESS, f"{path}: not a checkpoint of this run", hint)
        expected = {**self.arrays_now()}
        for at in kept["best"].values():
            expected |= {f"best_{at}_{part}": array for part, array in self.values().items()}
        for name, array in expected.items():
            given = arrays.get(name)
            if given is None or (given.dtype, given.shape) != (array.dtype, array.shape):
                shown = "missing" if given is None else f"{given.dtype} {given.shape}, not {array.dtype} {array.shape}"
                raise DataError(f"{path}: not a checkpoint of this run (array {name!r:.60} is {shown}); {hint}")
        first = progress.get("first", 0.0)
        of_types = (isinstance(check, list) and [*map(type, check)] in _CHECKS for check in kept["checks"])
        if not all(of_types) or not isinstance(first, int | float):
            raise DataError(f"{path}: not a checkpoint of this run (a check is a step, a loss and metrics); {hint}")

    def result(self) -> Trained:
        """The result of the run."""
        best = {name: (at, self.scorer(values)) for name, (at, values) in self.best.items()}
        return Trained(self.scorer(), best, tuple(self.checks))
