"""A log that leans to short items, a small uniform sample, and what remains: the population of every random draw."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.draws import draw_exposed
from unskew.studies.wang2024.worlds import LabelledWorld, worlds

TRAINED = 0.41364
"""The share of a user's known pairs that are logged: 1,934,404 of 4,676,570 in the paper's KuaiRec."""
DECAY = 0.25
"""λ as a share of the items; the paper does not give it."""
SAMPLED, PART = 80, 0.05
"""The uniform sample has so many items a user; a twentieth of it is for training, a twentieth for validation."""


@dataclass(frozen=True, eq=False)
class BiasedLog:
    """What the models learn from, and what they are judged on. All parts have the codes of the world.

    Parameters
    ----------
    world : LabelledWorld
    train : Interactions
        The biased draw; values are labels, 1 or 0.
    uniform, validation : Interactions
        Small parts of a uniform sample of what the draw left, with labels.
    held : array of bool, users by items
        Known pairs that are in none of these: D_full, and the population of every random draw.
    """

    world: LabelledWorld
    train: Interactions
    uniform: Interactions
    validation: Interactions
    held: Bools

    @property
    def population(self) -> Ints:
        """L of each user."""
        return np.asarray(self.held.sum(axis=1))

    @property
    def relevant(self) -> Bools:
        """The held pairs that are positive."""
        return np.asarray(self.held & self.world.labels)


def logs(context: Context) -> list[BiasedLog]:
    """The log of each world at hand, drawn once a run."""
    return [
        context.once(
            f"wang2024 log {world.name}",
            lambda world=world: draw_log(world, context.rng("wang2024", "log", world.name)),  # type: ignore[misc]
        )
        for world in worlds(context)
    ]


def draw_log(
    world: LabelledWorld,
    rng: np.random.Generator,
    *,
    trained: float = TRAINED,
    decay: float = DECAY,
    sampled: int = SAMPLED,
    part: float = PART,
) -> BiasedLog:
    r"""Draw the log of a world.

    Of the pairs of a user, `trained` go into the log by weighted sampling without replacement (Gumbel top-k), with
    :math:`p_k \propto e^{-k / \lambda}` for the item with the k-th smallest attribute. (The paper prints
    :math:`e^{k/\lambda}` for the k-th shortest video, which would favour the long ones, and says the opposite.)

    Parameters
    ----------
    world : LabelledWorld
    rng : Generator
    trained : float
        The share of a user's known pairs that are logged.
    decay : float
        λ as a share of the number of items.
    sampled : int
        Items a user in the uniform sample.
    part : float
        The share of the sample for training on it, and once more that for validation.
    """
    logged = _logged(world, trained, decay * world.n_items, rng)
    rest = world.known & ~logged
    drawn = draw_exposed(rest, min(sampled, int(rest.sum(axis=1).min())), rng)
    rows = rng.permutation(drawn.size)
    size = round(part * drawn.size)
    if not 0 < 2 * size <= drawn.size:
        raise ConfigError(f"{world.name}: parts of {size} of a uniform sample of {drawn.size} rows cannot be made")
    users, items = np.repeat(np.arange(len(drawn)), drawn.shape[1]), drawn.ravel()
    parts = [_interactions(world, users[mine], items[mine]) for mine in (rows[:size], rows[size : 2 * size])]
    held = rest.copy()
    for mine in parts:
        held[mine.users, mine.items] = False
    return BiasedLog(world, _interactions(world, *np.nonzero(logged)), parts[0], parts[1], held)


def gumbel_top(weights: Floats, sizes: Ints, allowed: Bools, rng: np.random.Generator) -> Bools:
    """Weighted sampling without replacement for each row: the largest of log weight plus Gumbel noise.

    Parameters
    ----------
    weights : array (items,)
        Logarithms.
    sizes : array of int
        How many of each row.
    allowed : array of bool, rows by items
    rng : Generator
    """
    keys = np.where(allowed, weights + rng.gumbel(size=allowed.shape), -np.inf)
    order = np.argsort(-keys, axis=1)
    picked = np.zeros_like(allowed)
    np.put_along_axis(picked, order, np.arange(allowed.shape[1]) < sizes[:, None], axis=1)
    return picked & allowed


def _logged(world: LabelledWorld, trained: float, scale: float, rng: np.random.Generator) -> Bools:
    place = np.empty(world.n_items)
    place[np.argsort(world.attribute, kind="stable")] = np.arange(1, world.n_items + 1)
    sizes = np.rint(trained * world.known.sum(axis=1)).astype(np.int64)
    return gumbel_top(-place / scale, sizes, world.known, rng)


def _interactions(world: LabelledWorld, users: Ints, items: Ints) -> Interactions:
    labels = world.labels[users, items].astype(np.float64)
    return Interactions.from_arrays(users, items, labels, n_users=world.n_users, n_items=world.n_items, name=world.name)
