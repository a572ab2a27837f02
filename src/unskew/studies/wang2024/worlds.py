"""Worlds in which every label is known, the biased log of each, and random draws of what remains."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.text import locate, read_columns
from unskew.errors import ConfigError
from unskew.estimators import chance_of_any
from unskew.simulators import Lda
from unskew.studies.framework.completed_movielens import DATA, completed_world
from unskew.studies.framework.study import Context, Size

MOVIELENS, KUAIREC = DATA, "kuairec"
POSITIVE_STARS, POSITIVE_RATIO = 4, 2.0
"""Ratings from this number of stars on are positive, and watch ratios above this number."""
CORRELATION = -0.5
"""Spearman's, of an item's attribute with its share of positives, where the attribute is simulated: short is liked."""
LDA = Lda(users=1411, items=3327, topics=20, likes=500.0, alpha=0.1, beta=0.1, graded=True)
ACTIVITY = (1.2, 1.8)
"""Of the beta distribution of the share of their choices that users keep, so that their numbers of likes differ."""
USERS, ITEMS = Size[int | None](None, 200), Size[int | None](None, 400)
"""How many users and items of a world are taken, at random; None for all."""
TRAINED = 0.41364
"""The share of a user's known pairs that are logged: 1,934,404 of 4,676,570 in the paper's KuaiRec."""
DECAY = 0.25
"""λ as a share of the items; the paper does not give it."""
SAMPLED, PART = 80, 0.05
"""Items per user in the uniform sample; a twentieth of it is for training, a twentieth for validation."""


@dataclass(frozen=True, eq=False)
class LabelledWorld:
    """Users and items whose labels are all known, or nearly."""

    name: str
    labels: Bools  # users by items: which pairs are positive
    known: Bools  # users by items: which labels are known; all, but for a few pairs of KuaiRec
    attribute: Floats  # of each item; it replaces the length of a video
    correlation: float  # Spearman's, of the attribute and the items' shares of positives, as measured
    origin: str  # where the labels come from, in sentences

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.labels)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[1])


def worlds(context: Context) -> list[LabelledWorld]:
    """The available worlds."""
    each = (completed_movielens(context), lda_world(context), kuairec_world(context))
    return [world for world in each if world is not None]


def completed_movielens(context: Context) -> LabelledWorld | None:
    """The completed ratings of the ratings study, four stars and more positive; None when the data is absent."""
    completed = completed_world(context)
    if completed is None:
        return None
    rng = context.rng("wang2024", MOVIELENS)
    labels, part = _thinned(completed.ratings >= POSITIVE_STARS, context, rng)
    origin = f"{completed.origin} Positive: {POSITIVE_STARS} stars and more.{part}"
    return with_attribute("ml-100k completed", labels, np.ones_like(labels), origin, rng)


def lda_world(context: Context) -> LabelledWorld:
    """A world of KuaiRec's size by latent Dirichlet allocation.

    The choices of user u are kept with chance :math:`s_u`, a draw from a beta distribution: that is the same model with
    fewer choices, and lets users differ in how much they like.
    """
    rng = context.rng("wang2024", "lda")
    chosen = LDA.like(rng)
    times = np.ones(len(chosen)) if chosen.strength is None else chosen.strength
    kept = rng.binomial(times.astype(np.int64), rng.beta(*ACTIVITY, chosen.n_users)[chosen.row_users])
    labels = np.zeros((chosen.n_users, chosen.n_items), dtype=bool)
    labels[chosen.row_users, chosen.items] = kept > 0
    labels, part = _thinned(labels, context, rng)
    origin = (
        f"The world: {LDA}; each user keeps a share of the choices, drawn from Beta({ACTIVITY[0]:g}, "
        f"{ACTIVITY[1]:g}). Positive: what was chosen.{part}"
    )
    return with_attribute("lda", labels, np.ones_like(labels), origin, rng)


def kuairec_world(context: Context) -> LabelledWorld | None:
    """The small matrix of KuaiRec, watched more than twice positive; None when it is absent."""
    source = context.find(KUAIREC)
    if source is None:
        return None
    log = source.read(context.place(KUAIREC))
    labels = np.zeros((log.n_users, log.n_items), dtype=bool)
    known = np.zeros_like(labels)
    known[log.users, log.items] = True
    labels[log.users, log.items] = np.asarray(log.values) > POSITIVE_RATIO
    origin = f"The world: the small matrix of KuaiRec. Positive: a watch ratio above {POSITIVE_RATIO:g}."
    seconds = _durations(context)
    if seconds is None:
        origin += " Its file has no column video_duration."
        return with_attribute(KUAIREC, labels, known, origin, context.rng("wang2024", KUAIREC))
    lengths = np.array([seconds[str(video)] for video in log.item_vocabulary.ids])
    correlation = _spearman(lengths, shares(labels, known))
    origin += f" Attribute: the length of the video; its Spearman correlation with relevance is {correlation:+.2f}."
    return LabelledWorld(KUAIREC, labels, known, lengths, correlation, origin)


def with_attribute(name: str, labels: Bools, known: Bools, origin: str, rng: np.random.Generator) -> LabelledWorld:
    r"""A world with a simulated attribute, by a Gaussian copula.

    With :math:`z_i` the normal score of item i's share of positives, the attribute is the exponential of
    :math:`\rho z_i + \sqrt{1 - \rho^2}\, e_i` with standard normal :math:`e_i`; :math:`\rho = 2 \sin(\pi r / 6)` gives
    Spearman's correlation r.
    """
    from scipy.special import ndtri

    liked = shares(labels, known)
    order = np.lexsort((rng.random(len(liked)), liked))  # items with the same share in random order
    place = np.empty(len(order))
    place[order] = (np.arange(len(order)) + 0.5) / len(order)
    slope = 2 * np.sin(np.pi * CORRELATION / 6)
    attribute = np.exp(slope * ndtri(place) + np.sqrt(1 - slope**2) * rng.standard_normal(len(order)))
    correlation = _spearman(attribute, liked)
    origin += (
        f" Attribute: made by a Gaussian copula for a Spearman correlation of {CORRELATION:g} with the items' shares "
        f"of positives; measured {correlation:+.2f}."
    )
    return LabelledWorld(name, labels, known, attribute, correlation, origin)


def shares(labels: Bools, known: Bools) -> Floats:
    """The share of positives of each item."""
    return np.asarray((labels & known).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _spearman(first: Floats, second: Floats) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(first, second).statistic)


def _thinned(labels: Bools, context: Context, rng: np.random.Generator) -> tuple[Bools, str]:
    """The labels of all users and items, or of a random part of them in the small version; and a note about that."""
    n_users, n_items = context.size(USERS), context.size(ITEMS)
    if n_users is None:
        return labels, ""
    users, items = (rng.permutation(n) for n in labels.shape)
    part = labels[np.ix_(np.sort(users[:n_users]), np.sort(items[:n_items]))]
    return np.asarray(part), f" Of it, {n_users} users and {n_items} items at random."


def _durations(context: Context) -> dict[str, float] | None:
    """The length of each video by its id; None when the file has no such column."""
    import polars as pl

    path = locate(context.place(KUAIREC), "small_matrix.csv", KUAIREC)
    content = read_content(path)
    header = content[: content.find(b"\n")].decode(errors="replace").strip().split(",")
    if "video_duration" not in header:
        return None
    columns = {"video_id": pl.Int64, "video_duration": pl.Float64}
    frame = read_columns(content, path, columns, separator=",", header=True)
    means = frame.group_by("video_id").agg(pl.col("video_duration").mean()).sort("video_id")
    return {str(video): float(seconds) for video, seconds in means.iter_rows()}


@dataclass(frozen=True, eq=False)
class Parts:
    """What a model learns from; the values of all rows are labels, 1 or 0."""

    train: Interactions  # selectively observed pairs
    uniform: Interactions  # a few pairs drawn uniformly, to learn from
    validation: Interactions  # a few pairs drawn uniformly, to stop and to choose by


@dataclass(frozen=True, eq=False)
class BiasedLog:
    """What the models learn from, and the pairs that they rank. All parts have the codes of the world."""

    world: LabelledWorld
    parts: Parts  # the biased draw, and small parts of a uniform sample of what the draw left
    held: Bools  # users by items: known pairs in none of these: D_full, the population of every random draw

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.world.name

    @cached_property
    def population(self) -> Ints:
        """L of each user."""
        return np.asarray(self.held.sum(axis=1))

    @cached_property
    def relevant(self) -> Bools:
        """The held pairs that are positive."""
        return np.asarray(self.held & self.world.labels)


def logs(context: Context) -> list[BiasedLog]:
    """The log of each available world, drawn once per run."""
    return context.once(
        "wang2024 logs",
        lambda: [draw_log(world, context.rng("wang2024", "log", world.name)) for world in worlds(context)],
    )


def draw_log(
    world: LabelledWorld, rng: np.random.Generator, *, sampled: int = SAMPLED, part: float = PART
) -> BiasedLog:
    r"""Draw the log of a world, and a uniform sample of `sampled` items per user, with two parts of a share `part`.

    Of the pairs of a user, a share goes into the log by weighted sampling without replacement (Gumbel top-k), with
    :math:`p_k \propto e^{-k / \lambda}` for the item with the k-th smallest attribute. (The paper prints
    :math:`e^{k/\lambda}` for the k-th shortest video, which would favour the long ones, and says the opposite.)
    """
    place = np.empty(world.n_items)
    place[np.argsort(world.attribute, kind="stable")] = np.arange(1, world.n_items + 1)
    sizes = np.rint(TRAINED * world.known.sum(axis=1)).astype(np.int64)
    logged = gumbel_top(-place / (DECAY * world.n_items), sizes, world.known, rng)
    held = world.known & ~logged
    drawn = draw_exposed(held, min(sampled, int(held.sum(axis=1).min())), rng)
    rows = rng.permutation(drawn.size)
    size = round(part * drawn.size)
    if not 0 < 2 * size <= drawn.size:
        raise ConfigError(f"{world.name}: parts of {size} of a uniform sample of {drawn.size} rows cannot be made")
    users, items = np.repeat(np.arange(len(drawn)), drawn.shape[1]), drawn.ravel()
    uniform, validation = (
        labelled_pairs(world, users[chosen], items[chosen]) for chosen in (rows[:size], rows[size : 2 * size])
    )
    for each in (uniform, validation):
        held[each.users, each.items] = False
    return BiasedLog(world, Parts(labelled_pairs(world, *np.nonzero(logged)), uniform, validation), held)


def gumbel_top(weights: Floats, sizes: Ints, allowed: Bools, rng: np.random.Generator) -> Bools:
    """Draw `sizes` of the allowed items of each row without replacement: the largest log weights plus Gumbel noise."""
    keys = np.where(allowed, weights + rng.gumbel(size=allowed.shape), -np.inf)
    order = np.argsort(-keys, axis=1)
    picked = np.zeros_like(allowed)
    np.put_along_axis(picked, order, np.arange(allowed.shape[1]) < sizes[:, None], axis=1)
    return picked & allowed


def labelled_pairs(world: LabelledWorld, users: Ints, items: Ints) -> Interactions:
    """Pairs of a world, with their labels as values."""
    labels = world.labels[users, items].astype(np.float64)
    return Interactions.from_arrays(users, items, labels, n_users=world.n_users, n_items=world.n_items, name=world.name)


def draw_exposed(held: Bools, size: int, rng: np.random.Generator) -> Ints:
    """D_rand: `size` items of each user, drawn uniformly and without replacement from those that are held."""
    fewest = int(held.sum(axis=1).min())
    if not 0 < size <= fewest:
        raise ConfigError(f"cannot draw {size} items of each user, because one has {fewest}; draw fewer")
    keys = rng.random(held.shape, dtype=np.float32)
    keys[~held] = 2.0
    return np.argpartition(keys, size - 1, axis=1)[:, :size]


def chances_of(log: BiasedLog, size: int) -> Floats:
    """P(n >= 1) of each user in samples of this size, from the true number of positives; 0 for those without."""
    relevant, population = log.relevant.sum(axis=1), log.population
    chances = np.zeros(len(relevant))
    for among in np.unique(population):
        these = (population == among) & (relevant > 0)
        chances[these] = chance_of_any(relevant[these], size, int(among))
    return chances
