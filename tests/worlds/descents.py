"""Small runs of gradient descent."""

import numpy as np

from unskew.data import Interactions
from unskew.models import GradientModel
from unskew.models.model import Observed
from unskew.models.training.batches import Positives
from unskew.models.training.gradient_run import Descent
from unskew.models.training.parameters import Parameters, Rows


def small_log(n_users: int = 12, n_items: int = 9, share: float = 0.4, seed: int = 0) -> Interactions:
    """Random rows, at least one a user."""
    had = np.random.default_rng(seed).random((n_users, n_items)) < share
    had[np.arange(n_users), np.arange(n_users) % n_items] = True
    return Interactions.from_arrays(*np.nonzero(had), n_users=n_users, n_items=n_items)


def descent(model: GradientModel, *, scale: float | None = None, threads: int = 1, seed: int = 7) -> Descent:
    """A run before its first step; with `scale`, from larger numbers than it would start with."""
    observed = Observed.of(small_log())
    run = Descent(model, observed, Positives.of(observed, "log"), seed, threads)
    if scale is not None:
        rng = np.random.default_rng(3)
        shapes = (12, model.factors), (9, model.factors), 9
        run.rows = Parameters(
            *(Rows.starting_at((scale * rng.standard_normal(shape)).astype(np.float32)) for shape in shapes)
        )
    return run


def step(run: Descent) -> float:
    """One step; its mean loss."""
    (loss,) = run._steps(1)
    run.done += 1
    return float(loss)
