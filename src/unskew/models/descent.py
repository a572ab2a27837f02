"""The loop of gradient descent: threads that draw, step and meet again."""

import math
import threading
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.errors import DataError
from unskew.models.batches import Batch, Positives
from unskew.models.model import Observed, Progress
from unskew.models.parameters import Parameters
from unskew.models.training import Check, GradientModel, Judge, Trained
from unskew.ranking.scorers import FactorScorer

CHUNK = 100  # steps between two looks at the loss
WORSE, MANY = 2.0, 20  # a mean loss over so many steps of more than so many times the first one has left the path
HUGE = 1e4  # and so has a factor of this size, beside which the steps that are left change nothing
_DURATION = ("iterations", "patience", "tune")


class Descent:
    """A training run: its numbers, its batches, and what has been seen of it.

    Parameters
    ----------
    model : GradientModel
    observed : Observed
    positives : Positives
    seed : int
    threads : int
        The numbers do not depend on it.
    """

    def __init__(self, model: GradientModel, observed: Observed, positives: Positives, seed: int, threads: int) -> None:
        n_users, n_items = observed.matrix.shape
        self.model, self.observed, self.positives = model, observed, positives
        self.seed, self.threads = seed, threads
        self.batch = Batch(model.batch, model.fan, n_users, n_items)
        self.rows = Parameters.start(n_users, n_items, model.factors, np.random.default_rng([seed, 2**32]))
        self.done = 0
        self.checks: list[Check] = []
        self.best: dict[str, tuple[int, dict[str, Matrix]]] = {}
        self.recent: list[float] = []
        self.first = math.nan  # the loss of the first step, when nothing was learnt yet

    @property
    def identity(self) -> str:
        """The model without what only decides how long it trains and how it was chosen."""
        plain = {each.name: each.default for each in fields(self.model) if each.name in _DURATION}
        return str(replace(self.model, **plain))  # type: ignore[arg-type]

    @property
    def over(self) -> bool:
        """Whether all steps are done, or none of the last checks was better by any metric."""
        if self.done >= self.model.iterations:
            return True
        patience = self.model.patience
        since = self.done - max((at for at, _ in self.best.values()), default=self.done)
        return bool(patience and self.best and since >= patience * self.model.every)

    def advance(self, progress: Progress) -> None:
        """Take the steps up to the next check."""
        stop = min((self.done // self.model.every + 1) * self.model.every, self.model.iterations)
        self.recent = []
        while self.done < stop:
            count = min(CHUNK, stop - self.done)
            losses = self._steps(count).tolist()
            if not self.done:
                self.first = losses[0]
            self.recent += losses
            self.done += count
            progress(self.done, self.model.iterations)

    def _steps(self, count: int) -> Matrix:
        """Take so many steps, with all threads; the mean loss of each."""
        picks = self.positives.picks(self.seed, self.done, count, self.model.positives)
        losses = np.full(count, np.nan)
        barrier = threading.Barrier(self.threads)
        failures: list[BaseException] = []

        def work(part: int) -> None:
            try:
                for step in range(count):
                    losses[step] = self._step(part, picks[step], self.done + step + 1, barrier)
            except BaseException as error:  # noqa: BLE001  # whatever it is, it is raised again by the calling thread
                failures.append(error)
                barrier.abort()

        others = [threading.Thread(target=work, args=(part,)) for part in range(1, self.threads)]
        for thread in others:
            thread.start()
        work(0)
        for thread in others:
            thread.join()
        if failures:
            raise next((e for e in failures if not isinstance(e, threading.BrokenBarrierError)), failures[0])
        self._check_finite(losses)
        return losses

    def _check_finite(self, losses: Matrix) -> None:
        """Refuse to go on with numbers that are none; a loss is that of the state before its step."""
        finite = np.isfinite(losses)
        rows = self.rows
        if finite.all() and all(np.isfinite(kind.now).all() for kind in (rows.users, rows.items, rows.bias)):
            return
        step = self.done + (int(np.argmin(finite)) + 1 if not finite.all() else len(losses))
        what = "factors are not all" if finite.all() else "loss is not"
        raise DataError(
            f"{self.model}: training diverged: at step {step} the {what} finite; try a smaller learning-rate than "
            f"{self.model.learning_rate:g}"
        )

    def _step(self, part: int, picks: Ints, step: int, barrier: threading.Barrier) -> float:
        """One thread's part of a step: its samples, then its rows; the mean loss."""
        from unskew.models import stepping

        model, batch, rows = self.model, self.batch, self.rows
        first, last = _share(batch.size, part, self.threads)
        own = picks[first:last]
        fan = batch.fan
        batch.users[first : first + len(own)] = self.positives.owners[own]
        batch.items[first * fan : (first + len(own)) * fan : fan] = self.positives.members[own]
        model.draw(self.positives, batch, _key(self.seed, step), first, last)
        batch.owners[first * fan : last * fan] = np.repeat(batch.users[first:last], fan)
        model.slope(rows, batch, first, last)
        barrier.wait()
        if part == 0:
            stepping.group(batch.items, batch.item_starts, batch.item_order)
        if part == self.threads - 1:
            stepping.group(batch.users, batch.user_starts, batch.user_order)
        barrier.wait()
        loss = float(batch.losses.mean(dtype=float))  # before the last meeting, after which it is written again
        self._update(part, step)
        barrier.wait()
        if part == 0:
            rows.swap()
        barrier.wait()
        return loss

    def _update(self, part: int, step: int) -> None:
        from unskew.models import stepping

        model, batch, rows = self.model, self.batch, self.rows
        rate, scale = stepping.corrections(step, model.learning_rate)
        sides = (
            (rows.users, rows.items.now, batch.items, batch.user_starts, batch.user_order),
            (rows.items, rows.users.now, batch.owners, batch.item_starts, batch.item_order),
        )
        penalty = np.float32(model.regularisation)
        for own, other, partners, starts, order in sides:
            stepping.update_rows(
                own.now, own.mean, own.square, own.then, other, partners, batch.slopes, starts, order, penalty, rate,
                scale, model.distance, *_share(len(own.now), part, self.threads),
            )  # fmt: skip
        bias = rows.bias
        stepping.update_bias(
            bias.now, bias.mean, bias.square, bias.then, batch.slopes, batch.item_starts, batch.item_order, penalty,
            rate, scale, *_share(len(bias.now), part, self.threads),
        )  # fmt: skip

    def check(self, judge: Judge | None) -> Check:
        """Note the loss, and keep the state where it is the best so far by some metric.

        Raises
        ------
        DataError
            When the loss is larger than it was before anything was learnt, or a factor is huge.
        """
        loss = math.fsum(self.recent) / len(self.recent)
        self._check_size(loss)
        metrics = {} if judge is None else {name: float(value) for name, value in judge(self.scorer()).items()}
        seen = Check(self.done, loss, metrics)
        for name, value in metrics.items():
            before = max((each.metrics[name] for each in self.checks), default=-math.inf)
            if value > before or name not in self.best:
                self.best[name] = (self.done, self._values())
        self.checks.append(seen)
        return seen

    def _check_size(self, loss: float) -> None:
        """Refuse to go on with numbers that are finite but have left the path."""
        rows = self.rows
        largest = max(float(np.abs(kind.now).max()) for kind in (rows.users, rows.items, rows.bias))
        what = ""
        if len(self.recent) >= MANY and loss > WORSE * self.first:
            what = f"loss is {loss:.3g}, and it began at {self.first:.3g}"
        elif largest > HUGE:
            what = f"factors have grown to {largest:.3g}"
        if what:
            raise DataError(
                f"{self.model}: training diverged: at step {self.done} the {what}; try a smaller learning-rate than "
                f"{self.model.learning_rate:g}"
            )

    def _values(self) -> dict[str, Matrix]:
        rows = self.rows
        return {"users": rows.users.now.copy(), "items": rows.items.now.copy(), "bias": rows.bias.now.copy()}

    def scorer(self, values: Mapping[str, Matrix] | None = None) -> FactorScorer:
        """The present state, or another, as something that ranks."""
        values = values or self._values()
        return FactorScorer(
            values["users"],
            values["items"],
            item_bias=values["bias"],
            similarity="distance" if self.model.distance else "dot",
            user_ids=self.observed.user_ids,
            item_ids=self.observed.item_ids,
            name=str(self.model),
        )

    def told(self) -> dict[str, Any]:
        """How far the run is, as plain data."""
        checks = [[each.iteration, each.loss, dict(each.metrics)] for each in self.checks]
        best = {name: at for name, (at, _) in self.best.items()}
        return {"done": self.done, "first": self.first, "checks": checks, "best": best}

    def arrays(self) -> dict[str, Matrix]:
        """All numbers of the run; states that are best by several metrics are there once."""
        states = dict(self.best.values())
        kept = {f"best_{at}_{name}": array for at, values in states.items() for name, array in values.items()}
        return {**self.rows.arrays(), **kept}

    def restore(self, told: dict[str, Any], arrays: dict[str, Matrix], path: Path) -> None:
        """Go back to where a checkpoint was written."""
        if told["done"] > self.model.iterations:
            raise DataError(
                f"{path}: this checkpoint is already at step {told['done']}, and {self.model.iterations} were asked "
                "for; ask for as many iterations, or name another file"
            )
        self.done, self.first = told["done"], told.get("first", math.nan)
        self.checks = [Check(iteration, loss, metrics) for iteration, loss, metrics in told["checks"]]
        self.rows = Parameters.restored(arrays)
        self.best = {
            name: (at, {part: arrays[f"best_{at}_{part}"] for part in ("users", "items", "bias")})
            for name, at in told["best"].items()
        }

    def result(self) -> Trained:
        """What the run has come to."""
        best = {name: (at, self.scorer(values)) for name, (at, values) in self.best.items()}
        return Trained(self.scorer(), best, tuple(self.checks))


def _share(n: int, part: int, parts: int) -> tuple[int, int]:
    return n * part // parts, n * (part + 1) // parts


def _key(seed: int, step: int) -> int:
    """A number of its own for the draws of each step, from another stream than the passes."""
    return int(np.random.SeedSequence([seed, step, 1]).generate_state(1, np.uint64)[0] >> np.uint64(1))
