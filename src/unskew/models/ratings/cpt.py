"""A mixture of multinomials for ratings whose chance of being observed depends on their value (CPT-v)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.arrays import Floats, SeedLike
from unskew.errors import DataError
from unskew.models.model import Progress, check_number, check_whole
from unskew.models.ratings.rating_model import Rated, RatingFactors, RatingModel

MOST_VALUES = 50
TOLERANCE = 1e-9  # relative growth of the log posterior at which learning stops
START_SPREAD = 20.0  # similarity of the initial classes: the count of a Dirichlet draw around the observed shares


@dataclass(frozen=True)
class CptV(RatingModel, word="cpt-v"):
    r"""Mixture of multinomials that learns how a rating's value changes its chance of being observed.

    A user belongs to a class z; the rating of item i is r with probability β, and is observed with probability μ:

    .. math:: P(\text{data of } u) = \sum_z \theta_z \prod_{i \in O_u} \mu_{r_{ui}} \beta_{r_{ui} i z}
       \prod_{i \notin O_u} \sum_r (1 - \mu_r) \beta_{r i z}

    EM maximises the posterior. The prediction is the mean rating of a pair, whether it is observed or not:

    .. math:: \hat y_{ui} = \sum_z P(z \mid \text{data of } u) \sum_r r\,\beta_{r i z}

    CPT-v of Marlin, Zemel, Roweis and Slaney (2007) and Marlin and Zemel (2009). It needs no propensities.

    Parameters
    ----------
    classes : int
        Number of classes of users.
    smoothing : float
        Counts added to each cell: the priors. Those of β are distributed like the observed ratings, so that without
        evidence ratings are missing at random.
    iterations : int
        Largest number of steps of EM; it stops earlier when it converges.
    """

    classes: int = 3
    smoothing: float = 1
    iterations: int = 1000

    def __post_init__(self) -> None:
        check_whole(self, "classes")
        check_number(self, "smoothing")
        check_whole(self, "iterations")

    def learn_ratings(self, rated: Rated, rng: np.random.Generator, progress: Progress) -> RatingFactors:
        """Fit by EM; weights are not used."""
        levels = len(np.unique(rated.values))
        if levels > MOST_VALUES:
            raise DataError(
                f"{self}: there are {levels} different ratings, each with a probability to learn; "
                f"round them to at most {MOST_VALUES}"
            )
        fit = fit_cpt(rated, self.classes, smoothing=self.smoothing, iterations=self.iterations, rng=rng)
        progress(1, 1)
        return fit.factors


@dataclass(frozen=True, eq=False)
class CptFit:
    """The fitted parameters of CPT-v.

    Parameters
    ----------
    levels : array (values,)
        The values of ratings, ascending.
    observed : array (values,)
        μ: the chance that a rating of this value is observed.
    shares : array (classes,)
        θ: the share of users in each class.
    ratings : array (values, items, classes)
        β: the chance of each value.
    memberships : array (users, classes)
        The chance of each class given the user's data.
    log_posterior : array
        Log-likelihood plus log prior at every step of EM, which never falls.
    """

    levels: Floats
    observed: Floats
    shares: Floats
    ratings: Floats
    memberships: Floats
    log_posterior: Floats

    @property
    def factors(self) -> RatingFactors:
        """Mean ratings as factors: memberships times the mean rating of each class."""
        means = np.einsum("r,rik->ik", self.levels, self.ratings)
        users, items = len(self.memberships), len(means)
        return RatingFactors(self.memberships, means, np.zeros(users), np.zeros(items), 0.0, self.shares)


def fit_cpt(
    rated: Rated, classes: int = 3, *, smoothing: float = 1, iterations: int = 1000, rng: SeedLike = 0
) -> CptFit:
    """Learn a `CptV` by EM on plain arrays.

    Parameters
    ----------
    rated : Rated
        Its weights are not used.
    classes, smoothing, iterations
        As in `CptV`.
    rng : int or Generator
        Generator of the starting point.
    """
    data = _Data.of(rated, smoothing)
    state = data.start(classes, np.random.default_rng(rng))
    trace: list[float] = []
    for _ in range(iterations):
        memberships, value = data.expect(state)
        trace.append(value)
        if len(trace) > 1 and value - trace[-2] < TOLERANCE * abs(value):
            break
        state = data.maximise(state, memberships)
    memberships, value = data.expect(state)
    trace.append(value)
    return CptFit(data.levels, state.mu, state.theta, state.beta, memberships, np.array(trace))


@dataclass(frozen=True, eq=False)
class _State:
    theta: Floats  # (classes,)
    beta: Floats  # (values, items, classes)
    mu: Floats  # (values,)

    @property
    def unseen(self) -> Floats:
        """The chance that a pair is not observed, items by classes."""
        return np.asarray(np.tensordot(1 - self.mu, self.beta, axes=1))


@dataclass(frozen=True, eq=False)
class _Data:
    """The ratings as one binary matrix per value, and the two steps of EM."""

    levels: Floats
    each: tuple[Any, ...]  # users by items, which pairs were rated with this value
    any_: Any  # users by items, which pairs were rated
    smoothing: float

    @classmethod
    def of(cls, rated: Rated, smoothing: float) -> "_Data":
        from scipy import sparse

        levels, place = np.unique(rated.values, return_inverse=True)
        shape = (rated.n_users, rated.n_items)

        def matrix(rows: Any) -> Any:
            ones = np.ones(len(rated.users[rows]))
            return sparse.csr_array((ones, (rated.users[rows], rated.items[rows])), shape=shape)

        each = tuple(matrix(place == k) for k in range(len(levels)))
        return cls(levels, each, matrix(slice(None)), smoothing)

    @property
    def counts(self) -> Floats:
        """How many ratings of each value were observed."""
        return np.array([float(matrix.nnz) for matrix in self.each])

    @property
    def prior(self) -> Floats:
        """Counts added to each value: the number of values times the smoothing, in the observed shares."""
        shares = (self.counts + 1) / (self.counts + 1).sum()
        return np.asarray(self.smoothing * len(shares) * shares)[:, None, None]

    def start(self, classes: int, rng: np.random.Generator) -> _State:
        """The starting point: classes drawn around the observed shares, with equal chances of being observed."""
        users, items = self.any_.shape
        counts = self.counts
        around = START_SPREAD * self.prior / self.prior.sum()
        drawn = rng.standard_gamma(around, (len(counts), items, classes)) + 1e-3
        mu = np.full(len(counts), (counts.sum() + 1) / (users * items + 2))
        return _State(np.full(classes, 1 / classes), drawn / drawn.sum(axis=0), mu)

    def expect(self, state: _State) -> tuple[Floats, float]:
        """Class memberships of the users, and the log posterior."""
        unseen = np.log(state.unseen)
        scores = np.log(state.theta) + unseen.sum(axis=0) - self.any_ @ unseen
        for matrix, mu, beta in zip(self.each, state.mu, state.beta, strict=True):
            scores += matrix @ (np.log(mu) + np.log(beta))
        top = scores.max(axis=1, keepdims=True)
        parts = np.exp(scores - top)
        sums = parts.sum(axis=1, keepdims=True)
        flat = sum(float(np.sum(np.log(part))) for part in (state.theta, state.mu, 1 - state.mu))
        prior = self.smoothing * flat + float(np.sum(self.prior * np.log(state.beta)))
        return parts / sums, float(np.sum(np.log(sums) + top)) + prior

    def maximise(self, state: _State, memberships: Floats) -> _State:
        """The parameters as shares of expected counts, including those of unobserved pairs."""
        theta = memberships.sum(axis=0)
        missing = theta - self.any_.T @ memberships  # (items, classes)
        # how many unobserved pairs have each value
        hidden = (1 - state.mu)[:, None, None] * state.beta * (missing / state.unseen)
        beta = hidden + np.stack([matrix.T @ memberships for matrix in self.each]) + self.prior
        seen = self.counts + self.smoothing
        mu = seen / (seen + hidden.sum(axis=(1, 2)) + self.smoothing)
        theta += self.smoothing
        return _State(theta / theta.sum(), beta / beta.sum(axis=0), mu)
