"""Planning of a randomly exposed test: how many items per user an interval of a given width needs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist

import numpy as np

from unskew.arrays import dot
from unskew.errors import ConfigError, Option
from unskew.estimators.intervals import normal_quantile
from unskew.estimators.rows import Rows

SPREAD = 0.1  # Coat has .15, the completed matrix of MovieLens 100K .09
LIKENESS = 0.05  # recall@5 to recall@100 of three models on Coat: 0 to .09


def recall_variance(recall: float, n: int, positives: int) -> float:
    r"""Variance of a user's recall in a sample with n positives: :math:`\frac{p(1-p)}{n} \frac{N^+ - n}{N^+ - 1}`.

    Parameters
    ----------
    recall : float
        p, over all of the user's positives.
    n : int
        How many of them were exposed.
    positives : int
        N+, how many there are.
    """
    if not 1 <= n <= positives:
        raise ConfigError(f"{n} exposed positives of {positives}; give at least 1 and at most all")
    _check_inside("recall", recall, ends=True)
    return 0.0 if n == positives else recall * (1 - recall) / n * (positives - n) / (positives - 1)


@dataclass(frozen=True)
class ExposurePlan:
    r"""The plan of a test: its users and items, and the expected value of the metric.

    For each of U users l of L items are exposed. For pooled recall let :math:`y_i = g_i - R` for a positive and 0 for
    other items, with g = 1 for a hit, and :math:`Y_u` their sum over the user's population, whose mean is 0. Then

    .. math:: Var(\hat R) \approx \frac{1}{U \bar N^2} \Bigl(\frac{L (L-l)}{l (L-1)}
              \bigl(\bar N R (1-R) - \tfrac{1}{L} E Y^2\bigr) + E Y^2\Bigr)

    with :math:`\bar N = \pi L` positives per user. The first part is due to drawing items without replacement, and is 0
    if all are exposed; the second is due to the users, who are a sample of a population. Shares of positives are
    beta-binomial with mean :math:`\pi` and spread :math:`\delta = 1 / (a + b + 1)`, and so are the hits among them,
    with mean R and likeness :math:`\rho`: :math:`E Y^2 = R(1-R)(\bar N + \rho E N(N-1))`. The result is

    .. math:: Var(\hat R) \approx \frac{R (1-R)}{U l \pi} \bigl(1 + \rho (l-1)(\pi + (1-\pi) \delta)\bigr).

    For precision@K it is the same with :math:`y_i = g_i` for a positive, K instead of :math:`\bar N`, and beta-binomial
    hits M of K places: :math:`\bigl(\frac{L (L-l)}{l (L-1)} (E M - \tfrac{1}{L} E M^2) + Var M\bigr) / (U K^2)`.

    Parameters
    ----------
    users : int
        U, the number of users.
    population : int
        L, how many items each user's are drawn from.
    value : float
        The expected recall or precision, over the whole population.
    share : float, optional
        The share of the population that is positive. Needed for recall.
    cutoff : int, optional
        K of precision@K; without it the plan is for recall, at whatever K gives this value.
    spread : float
        How much the share of positives varies between users: 0 not at all, 1 all or nothing.
    likeness : float
        Correlation of a user's hits: 0 for independent hits, 1 for all or none.
    level : float
        Level of the interval.
    """

    users: int
    population: int
    value: float
    share: float | None = None
    cutoff: int | None = None
    spread: float = SPREAD
    likeness: float = LIKENESS
    level: float = 0.95

    def __post_init__(self) -> None:
        for name, number, least in (("users", self.users, 2), ("population", self.population, 1)):
            if number < least:
                raise ConfigError(f"{name} {number} must be {least} or more")
        _check_inside(self.metric_word.split("@")[0], self.value)
        _check_inside("level", self.level)
        _check_inside("spread", self.spread, ends=True)
        _check_inside("likeness", self.likeness, ends=True)
        if self.share is not None:
            _check_inside("share of positives", self.share)
        elif self.cutoff is None:
            raise ConfigError(
                "recall needs the share of positives in the population; give it with "
                f"{Option('positive_share')}, or {Option('positives')}"
            )
        if self.cutoff is not None and not 1 <= self.cutoff <= self.population:
            raise ConfigError(f"cut-off {self.cutoff} must be between 1 and the population of {self.population}")
        if self.cutoff and self.share and self.value * self.cutoff > self.share * self.population:
            raise ConfigError(
                f"precision {self.value:g} at {self.cutoff} is {self.value * self.cutoff:g} hits per user, but a "
                f"user has only {self.share * self.population:g} positives"
            )

    @classmethod
    def from_pilot(cls, pilot: Rows, *, users: int | None = None) -> "ExposurePlan":
        r"""A plan with the share, recall, spread and likeness of a pilot, a first and smaller exposure.

        Likeness is the :math:`\rho` at which :math:`\sum (m - \hat R n)^2 = R (1-R) \sum (n + \rho\, n(n-1))`.

        Parameters
        ----------
        pilot : Rows
            The exposed rows with their labels, with worth 1 if they are in the top K of the whole population.
        users : int, optional
            Number of users of the planned test; by default that of the pilot.
        """
        if np.shape(pilot.worth) != pilot.labels.shape:
            raise ConfigError(f"{np.size(pilot.worth)} hits for {len(pilot)} rows of the pilot; give one per row")
        if not np.isin(pilot.worth, (0, 1)).all():
            raise ConfigError("the worth of a pilot's rows must be 0 or 1: whether a row is in the top K")
        n, hits = pilot.positives.astype(float), pilot.positive_sums(np.asarray(pilot.worth, dtype=float))
        value = dot(pilot.scale, hits) / max(dot(pilot.scale, n), 1e-300)
        if not 0 < value < 1:
            raise ConfigError(f"recall is {value:g} in the pilot, so its spread is unknown; expose more items")
        of_users = pilot.n_users / max(pilot.n_users - 1, 1)
        surprise = of_users * float(np.sum((hits - value * n) ** 2)) / (value * (1 - value))
        pairs = dot(n, n - 1)
        return cls(
            users or pilot.n_users,
            int(np.rint(pilot.population.mean())),
            value,
            dot(pilot.scale, n) / float(pilot.population.sum()),
            spread=1 / (pilot.prior.a + pilot.prior.b + 1),
            likeness=min(max((surprise - float(n.sum())) / pairs, 0.0), 1.0) if pairs else LIKENESS,
        )

    @property
    def metric_word(self) -> str:
        """The name of the planned metric."""
        return "recall" if self.cutoff is None else f"precision@{self.cutoff}"

    def variances(self, exposed: int) -> tuple[float, float]:
        """The two parts of the variance of the estimate: from drawing the items, and from the users.

        Parameters
        ----------
        exposed : int
            l, from 1 to the population.
        """
        L, squares, square, mean, size = self.population, *self._moments()
        if not 1 <= exposed <= L:
            raise ConfigError(f"{exposed} exposed items must be between 1 and the population of {L}")
        drawing = 0.0 if exposed == L else L * (L - exposed) / (exposed * (L - 1)) * (squares - square / L)
        return drawing / size**2 / self.users, (square - mean**2) / size**2 / self.users

    def std_error(self, exposed: int) -> float:
        """Standard error with this number of exposed items per user."""
        return sqrt(sum(self.variances(exposed)))

    def width(self, exposed: int) -> float:
        """Width of the interval with this number of exposed items per user."""
        return 2 * normal_quantile(self.level) * self.std_error(exposed)

    def gap_error(self, exposed: int, difference: float, correlation: float) -> float:
        """Standard error of the difference of two models, half of it above the value and half below.

        Parameters
        ----------
        exposed : int
        difference : float
        correlation : float
            Correlation of the two estimates on the same exposed items.
        """
        a, b = (replace(self, value=value).std_error(exposed) for value in self._sides(difference))
        return sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0))

    def needed(self, width: float) -> int:
        """The smallest number of exposed items per user for an interval of at most this width."""
        if not width > 0:
            raise ConfigError(f"width {width:g} must be above 0")
        fewest = self._fewest(lambda exposed: self.width(exposed) <= width)
        if fewest is None:
            raise ConfigError(
                f"width {width:g} cannot be reached with {self.users:,} users: all {self.population:,} items of each "
                f"give {self.width(self.population):.2g}; use more users or a wider interval"
            )
        return fewest

    def needed_to_detect(self, difference: float, *, correlation: float = 0.5, power: float = 0.8) -> int:
        """The smallest number of exposed items per user with which a test detects a difference of two models.

        The test of the paired difference is two-sided, at 1 minus the level.

        Parameters
        ----------
        difference : float
            The true difference.
        correlation : float
            Correlation of the two estimates on the same exposed items; 0 is conservative.
        power : float
            Probability of detecting it.
        """
        self._sides(difference)
        _check_inside("power", power)
        if not -1 <= correlation < 1:
            raise ConfigError(f"correlation {correlation:g} must be at least -1 and below 1")
        z = normal_quantile(self.level) + NormalDist().inv_cdf(power)
        fewest = self._fewest(lambda exposed: z * self.gap_error(exposed, difference, correlation) <= difference)
        if fewest is None:
            least = z * self.gap_error(self.population, difference, correlation)
            raise ConfigError(
                f"a difference of {difference:g} cannot be detected with {self.users:,} users: all {self.population:,} "
                f"items of each detect one of {least:.2g}; use more users"
            )
        return fewest

    def _moments(self) -> tuple[float, float, float, float]:
        """Expectations for a user: sum of the squares of y, square of its sum, its sum, and the divisor."""
        value, pair_of = self.value, self.value**2 + self.value * (1 - self.value) * self.likeness
        if self.cutoff is not None:
            hits = value * self.cutoff
            return hits, hits + self.cutoff * (self.cutoff - 1) * pair_of, hits, float(self.cutoff)
        share = self.share or 0.0
        positives = share * self.population
        pairs = positives * (self.population - 1) * (share + (1 - share) * self.spread)
        single = value * (1 - value)
        return positives * single, single * (positives + self.likeness * pairs), 0.0, positives

    def _sides(self, difference: float) -> tuple[float, float]:
        low, high = self.value - difference / 2, self.value + difference / 2
        if not (difference > 0 and low > 0 and high < 1):
            raise ConfigError(
                f"a difference of {difference:g} around {self.value:g} must be above 0, and both models between 0 and 1"
            )
        return low, high

    def _fewest(self, enough: Callable[[int], bool]) -> int | None:
        """The smallest number of exposed items that is enough, by bisection; None if all are not enough."""
        low, high = 1, self.population
        if not enough(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        return low


def interval_width(
    exposed: int,
    *,
    users: int,
    population: int,
    recall: float,
    positives: float | None = None,
    positive_share: float | None = None,
    level: float = 0.95,
    spread: float = SPREAD,
    likeness: float = LIKENESS,
) -> float:
    """Width of the interval of pooled recall with this number of exposed items per user; see :class:`ExposurePlan`.

    Parameters
    ----------
    exposed, users, population : int
        l, U and L.
    recall : float
    positives, positive_share : float, optional
        How many of a user's items are positive, or which share; one of the two.
    level, spread, likeness : float
    """
    share = share_of(positives, positive_share, population)
    return ExposurePlan(users, population, recall, share, None, spread, likeness, level).width(exposed)


def exposures_needed(
    width: float,
    *,
    users: int,
    population: int,
    recall: float,
    positives: float | None = None,
    positive_share: float | None = None,
    level: float = 0.95,
    spread: float = SPREAD,
    likeness: float = LIKENESS,
) -> int:
    """Number of exposed items per user for an interval of pooled recall of this width; see :class:`ExposurePlan`.

    Parameters
    ----------
    width : float
    users, population : int
        U and L.
    recall : float
    positives, positive_share : float, optional
        How many of a user's items are positive, or which share; one of the two.
    level, spread, likeness : float
    """
    share = share_of(positives, positive_share, population)
    return ExposurePlan(users, population, recall, share, None, spread, likeness, level).needed(width)


def share_of(positives: float | None, positive_share: float | None, population: int) -> float | None:
    """The share of positives, given as a share or as a number per user.

    Parameters
    ----------
    positives, positive_share : float, optional
        Not both.
    population : int
    """
    if positives is not None and positive_share is not None:
        raise ConfigError("give the number of positives or their share, not both")
    if positives is None or population < 1:
        return positive_share
    if not 0 < positives < population:
        raise ConfigError(
            f"{positives:g} positives per user: must be above 0 and below the population of {population:,}"
        )
    return positives / population


def _check_inside(name: str, number: float, *, ends: bool = False) -> None:
    if not (0 < number < 1 or (ends and number in {0, 1})):
        raise ConfigError(f"{name} {number:g} must be between 0 and 1")
