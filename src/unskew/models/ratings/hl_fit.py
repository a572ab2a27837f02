"""The fit of an ordinal factorisation, alone or jointly with one of what is observed, on plain arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints, SeedLike
from unskew.errors import DataError
from unskew.logistic import sigmoid
from unskew.models.ratings.hl_bound import Block, Bound, Pairs, Posterior
from unskew.models.ratings.rating_model import Rated
from unskew.models.svd import leading
from unskew.ranking.scorers import CallableScorer

if TYPE_CHECKING:
    from unskew.data import Interactions

Summary: TypeAlias = Literal["mean", "median"]

MOST_LEVELS = 20
SAMPLE = 300_000
STEPS = 500
CORRECTIONS = 30
TOLERANCE = 1e-6  # relative growth of the bound at which learning stops
START_SIZE, START_VARIANCE = 0.3, 0.1  # of factors
# first steps have a wide prior: a prior that is learnt from the start makes weak factors vanish, which stay so
WARM_STEPS, WARM_PRIOR = 150, 0.5


@dataclass(frozen=True, eq=False)
class HlFit:
    """A fitted ordinal factorisation.

    Parameters
    ----------
    levels : array
        The values of ratings, ascending.
    posterior : Posterior
        Of factors, offsets, thresholds and effects.
    bound : array
        The bound on the log evidence at every step after those with fixed priors; it never falls.
    converged : bool
        Whether the search converged before the largest number of steps.
    summary : {"mean", "median"}
        What `predict` returns.
    """

    levels: Floats
    posterior: Posterior
    bound: Floats
    converged: bool
    summary: Summary = "mean"

    def chances(self, users: Ints, items: Ints, *, observed: bool = False) -> Floats:
        """The chance of each level, pairs by levels; with `observed`, given that the rating was observed."""
        means, variances = _moments(*self._rows(self.posterior.tastes, users, items), _row_products)
        chances = np.diff(self._below(means, variances), axis=1, prepend=0, append=1)
        if observed and self.posterior.habits:
            chances *= self._observed(users, items)
            chances /= chances.sum(axis=1, keepdims=True)
        return np.asarray(chances)

    def predict(self, users: Ints, items: Ints, *, observed: bool = False) -> Floats:
        """Predicted ratings of these pairs."""
        return self._summed(np.cumsum(self.chances(users, items, observed=observed), axis=1)[:, :-1])

    def matrix(self, users: Ints | None = None) -> Floats:
        """Predicted ratings of these users, or of all, for every item."""
        people, items = self.posterior.tastes
        chosen = people if users is None else Block(people.means[users], people.variances[users])
        return self._summed(self._below(*_moments(chosen, items, _all_products)))

    def scorer(self, train: "Interactions", users: Ints, items: Ints, name: str) -> CallableScorer:
        """A scorer of all users of a log. One without a training row has the prior of tastes."""
        people = self.posterior.tastes[0]
        place = np.full(train.n_users, len(people.means))
        place[users] = np.arange(len(users))
        unknown = Block(np.zeros((1, people.means.shape[1])), people.prior[None])
        both = Block(*(np.vstack(parts) for parts in zip(people, unknown, strict=True)))
        known = Posterior((both, self.posterior.tastes[1]), (), self.posterior.thresholds, np.zeros(0))
        wider = HlFit(self.levels, known, self.bound, self.converged, self.summary)
        user_ids, item_ids = train.user_vocabulary.ids, train.item_vocabulary.ids[items]
        return CallableScorer(_Rows(wider, place), user_ids, item_ids, name=name, ratings=True)

    def _rows(self, blocks: tuple[Block, ...], users: Ints, items: Ints) -> tuple[Block, Block]:
        left, right = blocks
        return Block(left.means[users], left.variances[users]), Block(right.means[items], right.variances[items])

    def _below(self, means: Floats, variances: Floats) -> Floats:
        """The chance of a level at or below each but the last, on a new axis."""
        from scipy.special import ndtr

        root = np.sqrt(1 + variances)[..., None]
        return np.asarray(ndtr((self.posterior.thresholds - means[..., None]) / root))

    def _observed(self, users: Ints, items: Ints) -> Floats:
        """The chance that a rating of each level is observed, pairs by levels."""
        left, right = self._rows(self.posterior.habits, users, items)
        n = len(self.levels)
        base, spread = _moments(
            Block(*(part[:, :-n] for part in left)), Block(*(part[:, :-n] for part in right)), _row_products
        )
        logits = base[:, None] + self.posterior.effects + left.means[:, -n:] + right.means[:, -n:]
        variances = spread[:, None] + left.variances[:, -n:] + right.variances[:, -n:]
        return sigmoid(logits / np.sqrt(1 + np.pi * variances / 8))

    def _summed(self, below: Floats) -> Floats:
        if self.summary == "median":
            return np.asarray(self.levels[np.sum(below < 0.5, axis=-1)])
        return np.asarray(self.levels[-1] - below @ np.diff(self.levels))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Predictions by the codes of a log, as a scorer calls them."""

    fit: HlFit
    place: Ints

    def __call__(self, users: Ints) -> Floats:
        return self.fit.matrix(self.place[users])


def fit_hl(
    rated: Rated,
    factors: int,
    *,
    selective: bool,
    summary: Summary = "mean",
    sample: int = SAMPLE,
    iterations: int = STEPS,
    hidden: Rated | None = None,
    rng: SeedLike = 0,
) -> HlFit:
    r"""Fit an ordinal factorisation by variational inference.

    A rating is the level between whose thresholds a noisy score falls. Scores and, if `selective`, the log-odds that
    a rating of level l is observed are factorised:

    .. math:: P(r_{ui} \le l) = \Phi(b_l - v_u \cdot w_i - s_u - t_i), \qquad
       P(x_{ui} = 1 \mid r_{ui} = l) = \sigma(e_u \cdot f_i + p_u + q_i + \mu_l + \lambda_{ul} + \psi_{il})

    All but the thresholds b and the effects μ have normal priors of mean 0. Each column of each has a variance
    with an inverse gamma prior, which is maximised over. The posterior is approximated by independent normal
    distributions, which maximise a bound on the evidence:

    .. math:: \sum_{x_{ui} = 1} E\bigl[\log P(r_{ui}) + \log \sigma(\eta_{ui r_{ui}})\bigr]
       + \sum_{x_{ui} = 0} E\Bigl[\log \sum_l P(r_{ui} = l)\, e^{E \log(1 - \sigma(\eta_{uil}))}\Bigr] - KL

    Expectations over scores are by a Gauss-Hermite rule, with the score taken as normal with its mean and variance.
    Those of log σ are bounded by Jaakkola's and Jordan's quadratic. L-BFGS climbs from singular vectors, with all
    variables at the same time; in its first steps the priors of factors are wide and fixed. Hernández-Lobato, Houlsby
    and Ghahramani (2014) have the same two factorisations, with expectation propagation for ratings, noise that
    differs between users and items, and thresholds of each item.

    Parameters
    ----------
    rated : Rated
        Its weights are not used.
    factors : int
        Of both factorisations.
    selective : bool
        Whether what is observed depends on ratings (HL-MNAR); else only observed ratings count (HL-MAR).
    summary : {"mean", "median"}
        What is predicted: the mean or the median of a pair's rating.
    sample : int
        Largest number of missing pairs; of more, a random sample is weighted up.
    iterations : int
        Largest number of steps, after those with fixed priors.
    hidden : Rated, optional
        Pairs about which nothing is assumed, neither observed nor missing, as in cross-validation.
    rng : int or Generator
        Generator of the sample of missing pairs.

    Raises
    ------
    DataError
        If there are too many different ratings to be levels.
    """
    from scipy.optimize import minimize

    levels, place = np.unique(rated.values, return_inverse=True)
    if len(levels) > MOST_LEVELS:
        raise DataError(
            f"ratings: there are {len(levels)} different ones, each with a threshold to learn; round them to at most "
            f"{MOST_LEVELS} levels"
        )
    pairs = Pairs.of(rated, place, sample if selective else 0, hidden, rng)
    start = _start(rated, place, len(levels), factors, selective)
    limits: dict[str, Any] = {"maxcor": CORRECTIONS, "ftol": TOLERANCE, "gtol": 1e-4, "maxfun": 10 * iterations}
    search = partial(minimize, jac=True, method="L-BFGS-B")
    warm = search(
        Bound(pairs, start, start.thresholds, WARM_PRIOR),
        start.packed(),
        options=limits | {"maxiter": min(WARM_STEPS, iterations)},
    )
    trace: list[float] = []
    done = search(
        Bound(pairs, start, start.thresholds),
        warm.x,
        callback=lambda intermediate_result: trace.append(-float(intermediate_result.fun)),
        options=limits | {"maxiter": iterations},
    )
    trace.append(-float(done.fun))
    return HlFit(levels, start.unpacked(done.x), np.array(trace), bool(done.status == 0), summary)


def _start(rated: Rated, place: Ints, n_levels: int, factors: int, selective: bool) -> Posterior:
    """Thresholds of the observed shares, and factors by singular vectors of ratings and of what is observed."""
    from scipy import sparse
    from scipy.special import ndtri

    counts = np.bincount(place, minlength=n_levels) + 0.5
    thresholds = ndtri(np.cumsum(counts)[:-1] / counts.sum())
    edges = np.concatenate([[-np.inf], thresholds, [np.inf]])
    density = np.exp(-0.5 * edges**2) / np.sqrt(2 * np.pi)
    scores = (-np.diff(density) / (counts / counts.sum()))[place]  # the mean score of each level
    shape = (rated.n_users, rated.n_items)

    def matrix(values: Floats) -> Any:
        return sparse.csr_array((values, rated.items, rated.starts), shape=shape)

    tastes = _blocks(*_directions(matrix(scores), factors), 1)
    if not selective:
        return Posterior(tastes, (), thresholds, np.zeros(0))
    # of the observed pairs over their expected number: without the first, which is constant
    active, popular = (
        np.bincount(codes, minlength=n) for codes, n in zip((rated.users, rated.items), shape, strict=True)
    )
    scale = np.sqrt(active[rated.users] * popular[rated.items])
    left, right = (side[:, 1:] for side in _directions(matrix(1 / scale), factors + 1))
    habits = _blocks(
        left / np.sqrt(np.maximum(active, 1))[:, None], right / np.sqrt(np.maximum(popular, 1))[:, None], 1 + n_levels
    )
    rate = (len(rated) + 1) / (shape[0] * shape[1] + 2)
    return Posterior(tastes, habits, thresholds, np.full(n_levels, np.log(rate / (1 - rate))))


def _directions(matrix: Any, count: int) -> tuple[Floats, Floats]:
    """Left and right singular vectors; those beyond the rank are 0."""
    left, right = (np.zeros((n, count)) for n in matrix.shape)
    rank = min(count, *matrix.shape)
    if matrix.data.any():
        first, values, second = leading(matrix, rank, np.random.default_rng(0))
        real = values > 1e-9 * values[0]
        # a singular vector is known up to its sign
        signs = np.where(second[np.arange(rank), np.argmax(np.abs(second), axis=1)] < 0, -1.0, 1.0) * real
        left[:, :rank], right[:, :rank] = first * signs, second.T * signs
    return left, right


def _blocks(left: Floats, right: Floats, more: int) -> tuple[Block, Block]:
    """Posteriors around directions of factors that have a typical size, with other columns around 0."""

    def block(side: Floats) -> Block:
        size = np.sqrt(np.mean(side**2, axis=0))
        means = np.hstack([side * (START_SIZE / np.where(size > 0, size, np.inf)), np.zeros((len(side), more))])
        return Block(means, np.full(means.shape, START_VARIANCE))

    return block(left), block(right)


def _moments(left: Block, right: Block, product: Callable[[Floats, Floats], Floats]) -> tuple[Floats, Floats]:
    """Mean and variance of products of factors plus both offsets, which are the last columns."""

    def widened(block: Block, last: int) -> Block:
        one = np.ones((len(block.means), 1))
        columns = [
            (block.means[:, :-1], block.variances[:, :-1]),
            (block.means[:, -1:], block.variances[:, -1:]),
            (one, 0 * one),
        ]
        order = (0, 1, 2) if last else (0, 2, 1)
        return Block(*(np.hstack([columns[k][part] for k in order]) for part in range(2)))

    a, b = widened(left, 1), widened(right, 0)
    means = product(a.means, b.means)
    return means, product(a.means**2, b.variances) + product(a.variances, b.means**2 + b.variances)


def _row_products(left: Floats, right: Floats) -> Floats:
    return np.asarray(np.einsum("kd,kd->k", left, right))


def _all_products(left: Floats, right: Floats) -> Floats:
    return np.asarray(left @ right.T)
