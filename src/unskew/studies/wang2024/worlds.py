"""Worlds in which every label is known: the completed MovieLens matrix, an LDA world, and KuaiRec where supplied."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.data.reading import read_content
from unskew.data.sources.text import locate, read_columns
from unskew.simulators import Lda
from unskew.studies.framework.completed_movielens import DATA, completed_world
from unskew.studies.framework.study import Context

MOVIELENS, KUAIREC = DATA, "kuairec"
POSITIVE_STARS, POSITIVE_RATIO = 4, 2.0
"""A rating of so many stars or more is positive; so is a watch ratio above this."""
CORRELATION = -0.5
"""Spearman's, of an item's attribute with its share of positives, where the attribute is made: short is liked."""
LDA = Lda(users=1411, items=3327, topics=20, likes=500.0, alpha=0.1, beta=0.1, graded=True)
ACTIVITY = (1.2, 1.8)
"""Of the beta distribution of the share of their choices that users keep, so that their numbers of likes differ."""
FAST_USERS, FAST_ITEMS = 200, 400


@dataclass(frozen=True, eq=False)
class LabelledWorld:
    """Users and items whose labels are all known, or nearly.

    Parameters
    ----------
    name : str
    labels : array of bool, users by items
        Which pairs are positive.
    known : array of bool, users by items
        Which labels are known: all, but for a few pairs of KuaiRec.
    attribute : array
        Of each item; it stands in the place of a video's length.
    correlation : float
        Spearman's, of the attribute and the items' shares of positives, as measured.
    told : str
        How it was made.
    """

    name: str
    labels: Bools
    known: Bools
    attribute: Floats
    correlation: float
    told: str

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.labels)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return int(self.labels.shape[1])

    @property
    def share(self) -> float:
        """How much of what is known is positive."""
        return float(self.labels[self.known].mean())


def worlds(context: Context) -> list[LabelledWorld]:
    """Those at hand."""
    found = [completed_movielens(context), lda_world(context), kuairec_world(context)]
    return [world for world in found if world is not None]


def completed_movielens(context: Context) -> LabelledWorld | None:
    """The completed ratings of the ratings study, four stars and more positive; None when the data is not at hand."""
    completed = completed_world(context)
    if completed is None:
        return None

    def make() -> LabelledWorld:
        rng = context.rng("wang2024", MOVIELENS)
        labels = _thinned(completed.ratings >= POSITIVE_STARS, context, rng)
        how = f"{completed.origin} Positive: {POSITIVE_STARS} stars and more.{_part(context)}"
        return with_attribute("ml-100k completed", labels, np.ones_like(labels), how, rng)

    return context.once("wang2024 completed", make)


def lda_world(context: Context) -> LabelledWorld:
    """A world of KuaiRec's size by latent Dirichlet allocation.

    The choices of user u are kept with chance :math:`s_u`, a draw from a beta distribution: that is the same model with
    fewer choices, and makes users differ in how much they like.
    """

    def make() -> LabelledWorld:
        rng = context.rng("wang2024", "lda")
        chosen = LDA.like(rng)
        times = np.ones(len(chosen)) if chosen.strength is None else chosen.strength
        kept = rng.binomial(times.astype(np.int64), rng.beta(*ACTIVITY, chosen.n_users)[chosen.row_users])
        labels = np.zeros((chosen.n_users, chosen.n_items), dtype=bool)
        labels[chosen.row_users, chosen.items] = kept > 0
        labels = _thinned(labels, context, rng)
        how = (
            f"The world: {LDA}; of a user's choices a share is kept that is drawn from Beta({ACTIVITY[0]:g}, "
            f"{ACTIVITY[1]:g}). Positive: what was chosen.{_part(context)}"
        )
        return with_attribute("lda", labels, np.ones_like(labels), how, rng)

    return context.once("wang2024 lda", make)


def kuairec_world(context: Context) -> LabelledWorld | None:
    """The small matrix of KuaiRec, watched more than twice positive; None when it is not at hand."""
    source = context.find(KUAIREC)
    if source is None:
        return None

    def make() -> LabelledWorld:
        log = source.read(context.place(KUAIREC))
        labels = np.zeros((log.n_users, log.n_items), dtype=bool)
        known = np.zeros_like(labels)
        known[log.users, log.items] = True
        labels[log.users, log.items] = np.asarray(log.values) > POSITIVE_RATIO
        how = f"The world: the small matrix of KuaiRec. Positive: a watch ratio above {POSITIVE_RATIO:g}."
        seconds = _durations(context)
        if seconds is None:
            how += " Its file has no column video_duration."
            return with_attribute(KUAIREC, labels, known, how, context.rng("wang2024", KUAIREC))
        lengths = np.array([seconds[str(video)] for video in log.item_vocabulary.ids])
        correlation = _spearman(lengths, shares(labels, known))
        how += f" Attribute: the length of the video; its Spearman correlation with relevance is {correlation:+.2f}."
        return LabelledWorld(KUAIREC, labels, known, lengths, correlation, how)

    return context.once("wang2024 kuairec", make)


def with_attribute(name: str, labels: Bools, known: Bools, told: str, rng: np.random.Generator) -> LabelledWorld:
    r"""A world with a made attribute, by a Gaussian copula.

    With :math:`z_i` the normal score of item i's share of positives, the attribute is the exponential of
    :math:`\rho z_i + \sqrt{1 - \rho^2}\, e_i` with standard normal :math:`e_i`; :math:`\rho = 2 \sin(\pi r / 6)` gives
    Spearman's correlation r.

    Parameters
    ----------
    name : str
    labels, known : array of bool, users by items
    told : str
        How the labels were made.
    rng : Generator
    """
    from scipy.special import ndtri

    liked = shares(labels, known)
    order = np.lexsort((rng.random(len(liked)), liked))  # items with the same share in random order
    place = np.empty(len(order))
    place[order] = (np.arange(len(order)) + 0.5) / len(order)
    slope = 2 * np.sin(np.pi * CORRELATION / 6)
    attribute = np.exp(slope * ndtri(place) + np.sqrt(1 - slope**2) * rng.standard_normal(len(order)))
    correlation = _spearman(attribute, liked)
    made = (
        f" Attribute: made by a Gaussian copula for a Spearman correlation of {CORRELATION:g} with the items' shares "
        f"of positives; measured {correlation:+.2f}."
    )
    return LabelledWorld(name, labels, known, attribute, correlation, told + made)


def shares(labels: Bools, known: Bools) -> Floats:
    """The share of positives of each item."""
    return np.asarray((labels & known).sum(axis=0) / np.maximum(known.sum(axis=0), 1))


def _spearman(first: Floats, second: Floats) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(first, second).statistic)


def _thinned(labels: Bools, context: Context, rng: np.random.Generator) -> Bools:
    """All of it, or a random part in the small version."""
    if not context.fast:
        return labels
    users, items = (rng.permutation(n) for n in labels.shape)
    return np.asarray(labels[np.ix_(np.sort(users[:FAST_USERS]), np.sort(items[:FAST_ITEMS]))])


def _part(context: Context) -> str:
    return f" Of it, {FAST_USERS} users and {FAST_ITEMS} items at random." if context.fast else ""


def _durations(context: Context) -> dict[str, float] | None:
    """The length of each video by its id; None when the file does not tell."""
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
