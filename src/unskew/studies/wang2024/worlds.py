"""Worlds in which every label is known, the biased log of each, and random draws of what remains."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.kuairec import POSITIVE_RATIO, SMALL_MATRIX, read_labels, read_popularity, read_ratios
from unskew.data.sources.kuairec_truth import check_complete
from unskew.data.sources.text import find, read_columns
from unskew.errors import ConfigError
from unskew.estimators import chance_of_any
from unskew.simulators import Lda
from unskew.studies.framework.study import Context, Size
from unskew.studies.wang2024.effects import RECORDED, Effects, empirical_bayes

KUAIREC, KUAIREC_TRUTH = NEEDS = ("kuairec", "kuairec-truth")
"""The names under which KuaiRec may be kept: with watch ratios, or as labels."""
LIKE, TWIN = "kuairec-like", "kuairec-like, exposure by label"
POSITIVE_STARS = 4
"""Ratings from this number of stars on are positive."""
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
DECAYS = Size[tuple[float, ...]]((DECAY, 1.0, 0.0625), (DECAY,))
"""The λ of KuaiRec: from nearly no selection to nearly the first items alone."""
BOOST = float(np.log(4))
"""What a positive label adds to the logarithm of a pair's weight in the log, where exposure depends on it."""
SAMPLED, PART, VALIDATED = 80, 0.05, 0.25
"""Items per user in the uniform sample, and its shares for training and for validation. The latter is larger than the
former, because with a twentieth only one user in six has a positive to choose settings by."""


@dataclass(frozen=True, eq=False)
class LabelledWorld:
    """Users and items whose labels are all known, or nearly, and how their log is drawn."""

    name: str
    labels: Bools  # users by items: which pairs are positive
    known: Bools  # users by items: which labels are known; all, but for a few pairs of KuaiRec
    attribute: Floats  # of each item; small values are logged more often, as short videos are in the paper
    correlation: float  # Spearman's, of the attribute and the items' shares of positives, as measured
    origin: str  # where the labels and the attribute come from, in sentences
    decay: float = DECAY  # λ as a share of the items
    boost: float = 0.0  # what a positive label adds to the logarithm of a pair's weight in the log
    differs: str = ""  # of KuaiRec: what differs from the paper's; empty for other worlds

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.labels)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[1])

    def section(self, place: str) -> str:
        """Where the paper says what is judged here: it speaks of KuaiRec; on other data its sentences are ours."""
        return place if self.differs else ""

    @property
    def description(self) -> str:
        """The origin, and how the log is drawn, in sentences."""
        boosted = f" Positive pairs weigh {np.exp(self.boost):.0f} times as much." if self.boost else ""
        return f"{self.name}: {self.origin} λ is {self.decay:g} times the number of items.{boosted}"


def worlds(context: Context) -> list[LabelledWorld]:
    """The available worlds: KuaiRec with each λ, a world like it, its twin, and one of topics."""
    kuairec = kuairec_world(context)
    like = kuairec_like(context, kuairec)
    simulated = [like, replace(like, name=TWIN, boost=BOOST), lda_world(context)]
    return [thinned(world, context) for world in [*(with_decays(kuairec, context) if kuairec else []), *simulated]]


def without_kuairec(context: Context) -> tuple[str, ...]:
    """What to do where the paper's data is absent, for the notes of a table; its sentences are not judged then."""
    if any(context.find(name) is not None for name in NEEDS):
        return ()
    return (f"No sentence of the paper is judged: {context.absence(KUAIREC)}.",)


def with_decays(world: LabelledWorld, context: Context) -> list[LabelledWorld]:
    """The world with each λ; the first keeps the name."""
    first, *others = context.size(DECAYS)
    return [
        replace(world, decay=first),
        *(replace(world, name=f"{world.name}, λ = {decay:g} L", decay=decay) for decay in others),
    ]


def kuairec_world(context: Context) -> LabelledWorld | None:
    """The small matrix of KuaiRec, watched more than twice positive; None when it is absent."""
    name = next((name for name in NEEDS if context.find(name) is not None), None)
    if name is None:
        return None
    folder = context.place(name)
    whole = find(folder, SMALL_MATRIX) is not None
    log = read_ratios(folder) if whole else read_labels(folder, name)
    labels = np.zeros((log.n_users, log.n_items), dtype=bool)
    known = np.zeros_like(labels)
    known[log.users, log.items] = True
    labels[log.users, log.items] = np.asarray(log.values) > (POSITIVE_RATIO if whole else 0)
    if whole:
        check_complete(known, log, str(folder / SMALL_MATRIX))
    origin = f"The small matrix of KuaiRec. Positive: a watch ratio above {POSITIVE_RATIO:g}."
    unknown = "λ, l, sizes, epochs and the choice of settings, which the paper leaves out"
    lengths = _lengths(context, name, log) if whole else None
    if lengths is not None:
        origin += " Attribute: the length of the video; its Spearman correlation with relevance is {:+.2f}."
        differs = f"what may differ: {unknown}"
        return _measured(LabelledWorld(KUAIREC, labels, known, lengths, 0.0, origin, differs=differs))
    differs = f"not comparable: the log follows {{}} instead of the length of the video; unknown: {unknown}"
    popularity = read_popularity(folder, log.item_vocabulary)
    rng = context.rng("wang2024", KUAIREC)
    if popularity is None:
        world = with_attribute(KUAIREC, labels, known, f"{origin} The length of the videos is not available.", rng)
        return replace(world, differs=differs.format("a simulated attribute"))
    origin += (
        " The length of the videos is not available. Attribute: the video's place by popularity in the platform's own "
        "log outside the matrix, the most popular first; the Spearman correlation of that place with relevance is "
        "{:+.2f}."
    )
    order = np.lexsort((rng.random(len(popularity)), -popularity))  # equally popular videos in random order
    place = np.empty(len(order))
    place[order] = np.arange(1, len(order) + 1)
    world = LabelledWorld(KUAIREC, labels, known, place, 0.0, origin, differs=differs.format("the video's popularity"))
    return _measured(world)


def kuairec_like(context: Context, kuairec: LabelledWorld | None) -> LabelledWorld:
    """Labels by chance, from effects of users and items: those of KuaiRec where it is, else normal ones like them."""
    rng = context.rng("wang2024", LIKE)
    if kuairec is None:
        effects, origin = RECORDED.draw(LDA.users, LDA.items, rng), "normal, with the spreads found on KuaiRec"
    else:
        effects = context.once("wang2024 effects", lambda: empirical_bayes(kuairec.labels, kuairec.known))
        origin = "estimated on KuaiRec by empirical Bayes"
    labels = rng.random((len(effects.users), len(effects.items))) < effects.chances()
    text = f"A world like KuaiRec: {_described(effects)}, {origin}. Positive: by chance."
    return with_attribute(LIKE, labels, np.ones_like(labels), text, rng)


def _described(effects: Effects) -> str:
    users, items = effects.spreads
    return (
        f"the log odds of a positive are {effects.mean:.2f} plus an effect of the user (standard deviation {users:.2f})"
        f" and one of the item ({items:.2f})"
    )


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
    origin = (
        f"{LDA}; each user keeps a share of the choices, drawn from Beta({ACTIVITY[0]:g}, {ACTIVITY[1]:g}). Positive: "
        "what was chosen."
    )
    return with_attribute("lda", labels, np.ones_like(labels), origin, rng)


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
    origin += (
        f" Attribute: made by a Gaussian copula for a Spearman correlation of {CORRELATION:g} with the items' shares "
        "of positives; measured {:+.2f}."
    )
    return _measured(LabelledWorld(name, labels, known, attribute, 0.0, origin))


def _measured(world: LabelledWorld) -> LabelledWorld:
    """The world with its correlation, which the origin leaves a place for."""
    from scipy.stats import spearmanr

    correlation = float(spearmanr(world.attribute, shares(world.labels, world.known)).statistic)
    return replace(world, correlation=correlation, origin=world.origin.format(correlation))


def shares(labels: Bools, known: Bools) -> Floats:
    """The share of positives of each item."""
    return np.asarray((labels & known).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def thinned(world: LabelledWorld, context: Context) -> LabelledWorld:
    """The world, or a random part of it in the small version: the same part for all worlds of one shape."""
    n_users, n_items = context.size(USERS), context.size(ITEMS)
    if n_users is None or n_items is None or (n_users >= world.n_users and n_items >= world.n_items):
        return world
    rng = context.rng("wang2024", "part", *world.labels.shape)
    asked = zip(world.labels.shape, (n_users, n_items), strict=True)
    users, items = (np.sort(rng.permutation(size)[:kept]) for size, kept in asked)
    return replace(
        world,
        labels=np.asarray(world.labels[np.ix_(users, items)]),
        known=np.asarray(world.known[np.ix_(users, items)]),
        attribute=world.attribute[items],
        origin=f"{world.origin} Of it, {len(users)} users and {len(items)} items at random.",
    )


def _lengths(context: Context, name: str, log: Interactions) -> Floats | None:
    """The length of each video; None when the file has no such column."""
    import polars as pl

    path = find(context.place(name), SMALL_MATRIX)
    assert path is not None
    content = read_content(path)
    header = content[: content.find(b"\n")].decode(errors="replace").strip().split(",")
    if "video_duration" not in header:
        return None
    columns = {"video_id": pl.Int64, "video_duration": pl.Float64}
    frame = read_columns(content, path, columns, separator=",", header=True)
    means = frame.group_by("video_id").agg(pl.col("video_duration").mean())
    seconds = {str(video): float(mean) for video, mean in means.iter_rows()}
    return np.array([seconds[str(video)] for video in log.item_vocabulary.ids])


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
    world: LabelledWorld,
    rng: np.random.Generator,
    *,
    sampled: int = SAMPLED,
    part: float = PART,
    validated: float = VALIDATED,
) -> BiasedLog:
    r"""Draw the log of a world, and a uniform sample of `sampled` items per user: shares to learn and to choose by.

    Of the pairs of a user, a share goes into the log by weighted sampling without replacement (Gumbel top-k), with
    :math:`p_k \propto e^{-k / \lambda}` for the item with the k-th smallest attribute, and more for positive pairs if
    the world says so. (The paper prints :math:`e^{k/\lambda}` for the k-th shortest video, which would favour the long
    ones, and says the opposite.)
    """
    place = np.empty(world.n_items)
    place[np.argsort(world.attribute, kind="stable")] = np.arange(1, world.n_items + 1)
    weights = -place / (world.decay * world.n_items) + world.boost * world.labels
    sizes = np.rint(TRAINED * world.known.sum(axis=1)).astype(np.int64)
    logged = gumbel_top(weights, sizes, world.known, rng)
    held = world.known & ~logged
    drawn = draw_exposed(held, min(sampled, int(held.sum(axis=1).min())), rng)
    rows = rng.permutation(drawn.size)
    to_learn, to_choose = round(part * drawn.size), round(validated * drawn.size)
    if not 0 < min(to_learn, to_choose) <= to_learn + to_choose <= drawn.size:
        raise ConfigError(
            f"{world.name}: parts of {to_learn} and {to_choose} of a uniform sample of {drawn.size} rows cannot be made"
        )
    users, items = np.repeat(np.arange(len(drawn)), drawn.shape[1]), drawn.ravel()
    uniform, validation = (
        labelled_pairs(world, users[chosen], items[chosen])
        for chosen in (rows[:to_learn], rows[to_learn : to_learn + to_choose])
    )
    for each in (uniform, validation):
        held[each.users, each.items] = False
    return BiasedLog(world, Parts(labelled_pairs(world, *np.nonzero(logged)), uniform, validation), held)


def gumbel_top(weights: Floats, sizes: Ints, allowed: Bools, rng: np.random.Generator) -> Bools:
    """Draw `sizes` of the allowed items of each row without replacement: the largest log weights plus Gumbel noise."""
    keys = np.where(allowed, weights + rng.gumbel(size=allowed.shape), -np.inf)
    order = np.argsort(-keys, axis=1, kind="stable")  # the same on every processor
    picked = np.zeros_like(allowed)
    np.put_along_axis(picked, order, np.arange(allowed.shape[1]) < sizes[:, None], axis=1)
    return picked & allowed


def labelled_pairs(world: LabelledWorld, users: Ints, items: Ints) -> Interactions:
    """Pairs of a world, with their labels as values."""
    labels = world.labels[users, items].astype(np.float64)
    return Interactions.from_arrays(users, items, labels, n_users=world.n_users, n_items=world.n_items, name=world.name)


def draw_exposed(held: Bools, size: int, rng: np.random.Generator) -> Ints:
    """D_rand: `size` items of each user in ascending order, drawn uniformly without replacement from those held."""
    fewest = int(held.sum(axis=1).min())
    if not 0 < size <= fewest:
        raise ConfigError(f"cannot draw {size} items of each user, because one has {fewest}; draw fewer")
    keys = rng.random(held.shape)  # 64 bits, because with 32 ties decide which items are drawn
    keys[~held] = 2.0
    # sorted, because the order that `argpartition` leaves depends on the processor
    return np.sort(np.argpartition(keys, size - 1, axis=1)[:, :size], axis=1)


def chances_of(log: BiasedLog, size: int) -> Floats:
    """P(n >= 1) of each user in samples of this size, from the true number of positives; 0 for those without."""
    relevant, population = log.relevant.sum(axis=1), log.population
    chances = np.zeros(len(relevant))
    for among in np.unique(population):
        these = (population == among) & (relevant > 0)
        chances[these] = chance_of_any(relevant[these], size, int(among))
    return chances
