"""The trainer of all debiased models: epochs of blocks, validation, early stopping and the best state."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from unskew.arrays import Matrix
from unskew.errors import DivergenceError
from unskew.models.debiased.backbones import Backbone, Factorisation, LightGcn
from unskew.models.debiased.labelled import Labelled, Rows
from unskew.models.debiased.method import Setting
from unskew.models.debiased.model import DebiasedFit, DebiasedModel
from unskew.models.training.run import HUGE
from unskew.models.training.stepwise import Check
from unskew.ranking.scorers import FactorScorer

if TYPE_CHECKING:
    from unskew.models.model import Progress
    from unskew.models.training.stepwise import Say


FEWEST = 5  # steps per epoch, if the size of a block is not given


def run(
    model: DebiasedModel,
    rows: Labelled,
    uniform: Rows | None,
    validation: Rows | None,
    rng: np.random.Generator,
    progress: "Progress",
    say: "Say | None",
) -> DebiasedFit:
    """Train from the first epoch to the last, on one thread and without automatic differentiation.

    Raises
    ------
    DivergenceError
        If the numbers are not finite, or huge.
    """
    with _one_thread(), torch.no_grad():
        backbone = backbone_of(model, rows, rng)
        method = model.method(Setting(rows, uniform, backbone, rng))
        blocks = blocks_of(model, rows.shape)
        watch = Watch(model, backbone, validation)
        for epoch in range(1, model.epochs + 1):
            losses = [method.step(blocks[place]) for place in rng.permutation(len(blocks))]
            method.epoch = epoch
            check = watch.look(epoch, sum(loss for loss, _ in losses) / sum(weight for _, weight in losses))
            if say is not None:
                say(str(check))
            if watch.over:
                break
            progress(epoch, model.epochs)
        progress(model.epochs, model.epochs)
        return watch.result(rows)


class Watch:
    """Checks a run after each epoch, and keeps a copy of its best state."""

    def __init__(self, model: DebiasedModel, backbone: Backbone, validation: Rows | None) -> None:
        self.model, self.backbone, self.validation = model, backbone, validation
        self.checks: list[Check] = []
        self.best: dict[str, Matrix] = {}
        self.best_epoch, self.auc = 0, -math.inf

    def look(self, epoch: int, loss: float) -> Check:
        """Record loss and AUC, and the state if it is the best so far."""
        self._check_size(epoch, loss)
        metrics = {}
        if self.validation is not None:
            auc = (user_auc_of if self.model.judged_per_user else auc_of)(self.backbone, self.validation)
            metrics["auc"] = auc
            if auc > self.auc:
                self.auc, self.best_epoch, self.best = auc, epoch, self.backbone.arrays()
        self.checks.append(Check(epoch, loss, metrics))
        return self.checks[-1]

    @property
    def over(self) -> bool:
        """Whether training stops, because `patience` epochs brought no better AUC."""
        epoch, patience = self.checks[-1].iteration, self.model.patience
        # epochs before the first possible stop do not count
        since = max(self.best_epoch, self.model.patient_until)
        return self.validation is not None and patience > 0 and epoch - since >= patience

    def result(self, rows: Labelled) -> DebiasedFit:
        """The result of the run."""
        epochs = len(self.checks)
        last = self._scorer(self.backbone.arrays(), rows)
        if self.validation is None:
            return DebiasedFit(last, last, epochs, epochs, None, tuple(self.checks))
        best = self._scorer(self.best, rows)
        return DebiasedFit(best, last, self.best_epoch, epochs, self.auc, tuple(self.checks))

    def _scorer(self, arrays: dict[str, Matrix], rows: Labelled) -> FactorScorer:
        return FactorScorer(**arrays, user_ids=rows.user_ids, item_ids=rows.item_ids, name=str(self.model))  # type: ignore[arg-type]

    def _check_size(self, epoch: int, loss: float) -> None:
        largest = max(float(part.abs().max()) for part in self.backbone.parameters)
        if math.isfinite(largest) and math.isfinite(loss) and largest <= HUGE:
            return
        what = f"have grown to {largest:.3g}" if math.isfinite(largest) and largest > HUGE else "are not all finite"
        raise DivergenceError(
            f"{self.model}: training diverged: after epoch {epoch} the factors {what}; try a smaller learning-rate "
            f"than {self.model.learning_rate:g}"
        )


def backbone_of(model: DebiasedModel, rows: Labelled, rng: np.random.Generator) -> Backbone:
    """The backbone of a model, in its initial state."""
    if model.backbone == "mf":
        return Factorisation(rows.shape, model.width, rng)
    return LightGcn(rows, model.width, model.layers, rng)


def blocks_of(model: DebiasedModel, shape: tuple[int, int]) -> list[slice]:
    """The users of each step, in blocks of about the same size."""
    n_users, n_items = shape
    size = model.block or max(1, min(model.cells // n_items, -(-n_users // FEWEST)))
    bounds = np.linspace(0, n_users, -(-n_users // size) + 1).round().astype(int).tolist()
    return [slice(first, last) for first, last in pairwise(bounds)]


def auc_of(backbone: Backbone, rows: Rows) -> float:
    """The share of (positive, negative) pairs of rows in the right order; a tie counts half."""
    scores, positive = _scores(backbone, rows), rows.labels > 0
    negatives = np.sort(scores[~positive])
    below = np.searchsorted(negatives, scores[positive], "left") + np.searchsorted(negatives, scores[positive], "right")
    return float(below.mean() / (2 * len(negatives)))


def user_auc_of(backbone: Backbone, rows: Rows) -> float:
    """The mean over users of the share of their own pairs in the right order; a tie counts half.

    Users without a positive or without a negative row are left out. If that leaves none, it is `auc_of`.
    """
    scores, positive = _scores(backbone, rows), rows.labels > 0
    negatives = np.flatnonzero(~positive)
    negatives = negatives[np.argsort(rows.users[negatives], kind="stable")]
    likes = np.flatnonzero(positive)
    starts, ends = (np.searchsorted(rows.users[negatives], rows.users[likes], side) for side in ("left", "right"))
    counts = ends - starts  # negatives of each positive's user
    if not counts.any():
        return auc_of(backbone, rows)
    pair = np.repeat(np.arange(len(likes)), counts)  # the positive of each pair
    others = negatives[np.arange(len(pair)) - np.repeat(counts.cumsum() - counts - starts, counts)]
    right = np.sign(scores[likes[pair]] - scores[others]) / 2 + 0.5
    users = rows.users[likes[pair]]
    pairs = np.bincount(users)
    return float((np.bincount(users, weights=right)[pairs > 0] / pairs[pairs > 0]).mean())


def _scores(backbone: Backbone, rows: Rows) -> npt.NDArray[np.float32]:
    users, items = backbone.factors(backbone.parameters)
    left, right = users[torch.from_numpy(rows.users)], items[torch.from_numpy(rows.items)]
    scores: npt.NDArray[np.float32] = torch.linalg.vecdot(left, right).numpy()
    return scores


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch to one thread: the order of its sums depends on the number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
