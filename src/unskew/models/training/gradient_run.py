"""A training run by batches, with threads that synchronise at each step."""

import math
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.models.model import Observed, Progress
from unskew.models.training.batches import Batch, Positives
from unskew.models.training.gradient_model import GradientModel
from unskew.models.training.parameters import Parameters
from unskew.models.training.run import Run

CHUNK = 100  # steps between two checks of the loss
WORSE, MANY = 2.0, 20  # diverged: mean loss over MANY steps exceeds WORSE times the first


class Descent(Run):
    """A training run by batches: its parameters and its samples.

    Parameters
    ----------
    model : GradientModel
    observed : Observed
    positives : Positives
    seed : int
    threads : int
        Number of threads; the results do not depend on it.
    """

    def __init__(self, model: GradientModel, observed: Observed, positives: Positives, seed: int, threads: int) -> None:
        super().__init__(model, observed, seed)
        n_users, n_items = observed.matrix.shape
        self.model, self.positives, self.threads = model, positives, threads
        self.batch = Batch(model.batch, model.fan, n_users, n_items)
        self.rows = Parameters.start(n_users, n_items, model.factors, np.random.default_rng([seed, 2**32]))
        self.recent: list[float] = []
        self.first = math.nan  # the loss of the first step

    def advance(self, progress: Progress) -> None:
        """Take the steps up to the next check."""
        stop = self.next_check
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
        """Take these steps with all threads; return the mean loss of each."""
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
        """Raise an error if a loss or a parameter is not finite; a loss is that of the state before its step."""
        finite = np.isfinite(losses)
        rows = self.rows
        if finite.all() and all(np.isfinite(kind.now).all() for kind in (rows.users, rows.items, rows.bias)):
            return
        step = self.done + (int(np.argmin(finite)) + 1 if not finite.all() else len(losses))
        what = "factors are not all" if finite.all() else "loss is not"
        raise self.diverged(f"at step {step} the {what} finite")

    def _step(self, part: int, picks: Ints, step: int, barrier: threading.Barrier) -> float:
        """One thread's part of a step: its samples, then its rows. Return the mean loss."""
        from unskew.models.training import gradient_kernel as stepping

        model, batch, rows = self.model, self.batch, self.rows
        first, last = _share(batch.size, part, self.threads)
        chosen = picks[first:last]
        fan = batch.fan
        batch.users[first : first + len(chosen)] = self.positives.owners[chosen]
        batch.items[first * fan : (first + len(chosen)) * fan : fan] = self.positives.members[chosen]
        model.draw(self.positives, batch, _key(self.seed, step), first, last)
        batch.owners[first * fan : last * fan] = np.repeat(batch.users[first:last], fan)
        model.slope(rows, batch, first, last)
        barrier.wait()
        if part == 0:
            stepping.group(batch.items, batch.item_starts, batch.item_order)
        if part == self.threads - 1:
            stepping.group(batch.users, batch.user_starts, batch.user_order)
        barrier.wait()
        loss = float(batch.losses.mean(dtype=float))  # before the last barrier, after which it is written again
        self._update(part, step)
        barrier.wait()
        if part == 0:
            rows.swap()
        barrier.wait()
        return loss

    def _update(self, part: int, step: int) -> None:
        from unskew.models.training import gradient_kernel as stepping

        model, batch, rows = self.model, self.batch, self.rows
        rate, scale = stepping.corrections(step, model.learning_rate)
        sides = (
            (rows.users, rows.items.now, batch.items, batch.user_starts, batch.user_order),
            (rows.items, rows.users.now, batch.owners, batch.item_starts, batch.item_order),
        )
        penalty = np.float32(model.regularisation)
        for side, other, partners, starts, order in sides:
            stepping.update_rows(
                side.now, side.mean, side.square, side.then, other, partners, batch.slopes, starts, order, penalty,
                rate, scale, model.distance, *_share(len(side.now), part, self.threads),
            )  # fmt: skip
        bias = rows.bias
        stepping.update_bias(
            bias.now, bias.mean, bias.square, bias.then, batch.slopes, batch.item_starts, batch.item_order, penalty,
            rate, scale, *_share(len(bias.now), part, self.threads),
        )  # fmt: skip

    def mean_loss(self) -> float:
        """The mean loss of a sample since the last check."""
        return math.fsum(self.recent) / len(self.recent)

    def check_size(self, loss: float) -> None:
        """Raise an error if the loss has grown too much, or parameters are huge."""
        if len(self.recent) >= MANY and loss > WORSE * self.first:
            raise self.diverged(f"at step {self.done} the loss is {loss:.3g}, up from {self.first:.3g} at the start")
        super().check_size(loss)

    def values(self) -> dict[str, Matrix]:
        """Copies of the current parameters."""
        rows = self.rows
        return {"users": rows.users.now.copy(), "items": rows.items.now.copy(), "bias": rows.bias.now.copy()}

    def progress(self) -> dict[str, Any]:
        """The progress of the run, with the first loss."""
        return {**super().progress(), "first": self.first}

    def arrays_now(self) -> dict[str, Matrix]:
        """The parameters with Adam's moments."""
        return self.rows.arrays()

    def take_up(self, progress: Mapping[str, Any], arrays: Mapping[str, Matrix]) -> None:
        """Continue from these parameters."""
        self.first = progress.get("first", math.nan)
        self.rows = Parameters.restored(arrays)


def _share(n: int, part: int, parts: int) -> tuple[int, int]:
    return n * part // parts, n * (part + 1) // parts


def _key(seed: int, step: int) -> int:
    """The key of the draws of a step, from a different stream than the passes."""
    return int(np.random.SeedSequence([seed, step, 1]).generate_state(1, np.uint64)[0] >> np.uint64(1))
