"""A training run: how far it is, what was seen of it, and its best states."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from unskew.arrays import Floats, Matrix
from unskew.errors import DataError, DivergenceError
from unskew.models.model import Observed, Progress
from unskew.models.training.stepwise import Check, Judge, StepwiseModel, Trained
from unskew.ranking.scorers import FactorScorer

HUGE = 1e4  # a factor of this size has left the path: beside it the steps that are left change nothing
_DURATION = ("iterations", "patience", "tune")
_PARTS = ("users", "items", "bias")


class Run(ABC):
    """Training from the first step to the last; who takes the steps is left to each kind."""

    def __init__(self, model: StepwiseModel, observed: Observed, seed: int) -> None:
        self.settings, self.observed, self.seed = model, observed, seed
        self.weights: Floats | None = None
        """How much each row of the log counts; None when all count the same."""
        self.done = 0
        self.checks: list[Check] = []
        self.best: dict[str, tuple[int, dict[str, Matrix]]] = {}

    @property
    def identity(self) -> str:
        """The model without what only decides how long it trains and how it was chosen."""
        plain = {each.name: each.default for each in fields(self.settings) if each.name in _DURATION}
        return str(replace(self.settings, **plain))  # type: ignore[arg-type]

    @property
    def over(self) -> bool:
        """Whether all steps are done, or none of the last checks was better by any metric."""
        if self.done >= self.settings.iterations:
            return True
        patience = self.settings.patience
        since = self.done - max((at for at, _ in self.best.values()), default=self.done)
        return bool(patience and self.best and since >= patience * self.settings.every)

    @property
    def next_check(self) -> int:
        """The step up to which the run goes on before it is looked at."""
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
        """Copies of the present ``users``, ``items`` and ``bias``."""

    @abstractmethod
    def arrays_now(self) -> dict[str, Matrix]:
        """All that the next step depends on, by name."""

    @abstractmethod
    def take_up(self, told: Mapping[str, Any], arrays: Mapping[str, Matrix]) -> None:
        """The inverse of `arrays_now` and `told`, for what is not of this class."""

    def check(self, judge: Judge | None) -> Check:
        """Note the loss, and keep the state where it is the best so far by some metric.

        Raises
        ------
        DivergenceError
            When the numbers have left the path.
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
        """Refuse to go on with numbers that are none, or finite but huge."""
        largest = max(float(np.abs(part).max(initial=0)) for part in self.values().values())
        if not (math.isfinite(largest) and math.isfinite(loss)):
            raise self.diverged(f"at step {self.done} the factors are not all finite")
        if largest > HUGE:
            raise self.diverged(f"at step {self.done} the factors have grown to {largest:.3g}")

    def diverged(self, what: str) -> DivergenceError:
        """The error to raise, with what was seen."""
        return DivergenceError(
            f"{self.settings}: training diverged: {what}; try a smaller learning-rate than "
            f"{self.settings.learning_rate:g}"
        )

    def scorer(self, values: Mapping[str, Matrix] | None = None) -> FactorScorer:
        """The present state, or another, as something that ranks."""
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

    def told(self) -> dict[str, Any]:
        """How far the run is, as plain data."""
        checks = [[each.iteration, each.loss, dict(each.metrics)] for each in self.checks]
        best = {name: at for name, (at, _) in self.best.items()}
        return {"done": self.done, "checks": checks, "best": best}

    def arrays(self) -> dict[str, Matrix]:
        """All numbers of the run; states that are best by several metrics are there once."""
        states = dict(self.best.values())
        kept = {f"best_{at}_{name}": array for at, values in states.items() for name, array in values.items()}
        return {**self.arrays_now(), **kept}

    def restore(self, told: dict[str, Any], arrays: dict[str, Matrix], path: Path) -> None:
        """Go back to where a checkpoint was written."""
        if told["done"] > self.settings.iterations:
            raise DataError(
                f"{path}: this checkpoint is already at step {told['done']}, and {self.settings.iterations} were asked "
                "for; ask for as many iterations, or name another file"
            )
        self.done = told["done"]
        self.checks = [Check(iteration, loss, metrics) for iteration, loss, metrics in told["checks"]]
        self.take_up(told, arrays)
        self.best = {
            name: (at, {part: arrays[f"best_{at}_{part}"] for part in _PARTS}) for name, at in told["best"].items()
        }

    def result(self) -> Trained:
        """What the run has come to."""
        best = {name: (at, self.scorer(values)) for name, (at, values) in self.best.items()}
        return Trained(self.scorer(), best, tuple(self.checks))
