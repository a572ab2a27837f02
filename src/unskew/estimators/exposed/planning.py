"""What random exposure costs: how many items a user for an interval of a given width."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist

import numpy as np

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
        raise ConfigError(f"{n} exposed positives of {positives}; there must be one at least, and no more than all")
    _check_inside("recall", recall, ends=True)
    return 0.0 if n == positives else recall * (1 - recall) / n * (positives - n) / (positives - 1)


@dataclass(frozen=True)
class ExposurePlan:
    r"""A test to be: its users and items, and what is expected of the metric.

    Of each of U users l of L items are exposed. For pooled recall let :math:`y_i = g_i - R` of a positive and 0 of
    other items, with g = 1 for a hit, and :math:`Y_u` their sum over the user's population, whose mean is 0. Then

    .. math:: Var(\hat R) \approx \frac{1}{U \bar N^2} \Bigl(\frac{L (L-l)}{l (L-1)}
              \bigl(\bar N R (1-R) - \tfrac{1}{L} E Y^2\bigr) + E Y^2\Bigr)

    with :math:`\bar N = \pi L` positives a user. The first part is that of drawing items without replacement, 0 when
    all are exposed; the second is that of the users, who stand for the population they come from. Shares of positives
    are beta-binomial with mean :math:`\pi` and spread :math:`\delta = 1 / (a + b + 1)`, and so are the hits among
    them, with mean R and likeness :math:`\rho`: :math:`E Y^2 = R(1-R)(\bar N + \rho E N(N-1))`. It comes to

    .. math:: Var(\hat R) \approx \frac{R (1-R)}{U l \pi} \bigl(1 + \rho (l-1)(\pi + (1-\pi) \delta)\bigr).

    For precision@K the same with :math:`y_i = g_i` of a positive, K in the place of :math:`\bar N`, and hits M of
    K places beta-binomial: :math:`\bigl(\frac{L (L-l)}{l (L-1)} (E M - \tfrac{1}{L} E M^2) + Var M\bigr) / (U K^2)`.

    Parameters
    ----------
    users : int
        U.
    population : int
        L, how many items each user's are drawn from.
    value : float
        The recall or precision that is expected, over the whole population.
    share : float, optional
        The share of the population that is positive. Needed for recall.
    cutoff : int, optional
        K of precision@K; without it the plan is for recall, at whatever K gives this value.
    spread : float
        How much users' shares of positives differ: 0 not at all, 1 all or nothing.
    likeness : float
        How alike a user's positives fare: 0 each is a hit or not by itself, 1 all or none of them.
    level : float
        Of the interval.
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
                f"precision {self.value:g} at {self.cutoff} is {self.value * self.cutoff:g} hits a user, more than the "
                f"{self.share * self.population:g} positives there are"
            )

    @classmethod
    def from_pilot(cls, pilot: Rows, *, users: int | None = None) -> "ExposurePlan":
        r"""What a first, smaller exposure tells of share, recall, spread and likeness.

        Likeness is the :math:`\rho` at which :math:`\sum (m - \hat R n)^2 = R (1-R) \sum (n + \rho\, n(n-1))`.

        Parameters
        ----------
        pilot : Rows
            The exposed rows with their labels, worth 1 where they are among the first K of the whole population.
        users : int, optional
            Of the test to be; as many as in the pilot.
        """
        if np.shape(pilot.worth) != pilot.labels.shape:
            raise ConfigError(f"{np.size(pilot.worth)} hits for {len(pilot)} rows of the pilot; give one a row")
        if not np.isin(pilot.worth, (0, 1)).all():
            raise ConfigError("hits of a pilot must be 0 or 1: whether a row is in the top K")
        n, found = pilot.positives.astype(float), pilot.positive_sums(np.asarray(pilot.worth, dtype=float))
        value = float(pilot.scale @ found / max(float(pilot.scale @ n), 1e-300))
        if not 0 < value < 1:
            raise ConfigError(f"recall is {value:g} in the pilot, which tells nothing of its spread; expose more items")
        of_users = pilot.n_users / max(pilot.n_users - 1, 1)
        surprise = of_users * float(np.sum((found - value * n) ** 2)) / (value * (1 - value))
        pairs = float(n @ (n - 1))
        return cls(
            users or pilot.n_users,
            int(np.rint(pilot.population.mean())),
            value,
            float(pilot.scale @ n / pilot.population.sum()),
            spread=1 / (pilot.prior.a + pilot.prior.b + 1),
            likeness=min(max((surprise - float(n.sum())) / pairs, 0.0), 1.0) if pairs else LIKENESS,
        )

    @property
    def metric_word(self) -> str:
        """What it is a plan for."""
        return "recall" if self.cutoff is None else f"precision@{self.cutoff}"

    def variances(self, exposed: int) -> tuple[float, float]:
        """Variance of the estimate: of drawing so many items a user, and of the users.

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
        """Standard error with so many exposed items a user."""
        return sqrt(sum(self.variances(exposed)))

    def width(self, exposed: int) -> float:
        """Width of the interval with so many exposed items a user."""
        return 2 * normal_quantile(self.level) * self.std_error(exposed)

    def gap_error(self, exposed: int, difference: float, correlation: float) -> float:
        """Standard error of the difference of two models, half of it above the value and half below.

        Parameters
        ----------
        exposed : int
        difference : float
        correlation : float
            Of the two estimates on the same exposed items.
        """
        a, b = (replace(self, value=value).std_error(exposed) for value in self._sides(difference))
        return sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0))

    def needed(self, width: float) -> int:
        """The fewest exposed items a user for an interval of at most this width."""
        if not width > 0:
            raise ConfigError(f"width {width:g} must be above 0")
        found = self._fewest(lambda exposed: self.width(exposed) <= width)
        if found is None:
            raise ConfigError(
                f"width {width:g} cannot be reached with {self.users:,} users: all {self.population:,} items of each "
                f"give {self.width(self.population):.2g}; take more users or a wider interval"
            )
        return found

    def needed_to_detect(self, difference: float, *, correlation: float = 0.5, power: float = 0.8) -> int:
        """The fewest exposed items a user for a test to find a difference of two models.

        The test is two-sided, at 1 less the level, of the paired difference.

        Parameters
        ----------
        difference : float
            The true one.
        correlation : float
            Of the two estimates on the same exposed items; 0 is the careful choice.
        power : float
            How often it is to be found.
        """
        self._sides(difference)
        _check_inside("power", power)
        if not -1 <= correlation < 1:
            raise ConfigError(f"correlation {correlation:g} must be at least -1 and below 1")
        z = normal_quantile(self.level) + NormalDist().inv_cdf(power)
        found = self._fewest(lambda exposed: z * self.gap_error(exposed, difference, correlation) <= difference)
        if found is None:
            least = z * self.gap_error(self.population, difference, correlation)
            raise ConfigError(
                f"a difference of {difference:g} cannot be told with {self.users:,} users: all {self.population:,} "
                f"items of each tell one of {least:.2g}; take more users"
            )
        return found

    def _moments(self) -> tuple[float, float, float, float]:
        """Sum of the squares of y, square of its sum, its sum, and what it is divided by, all expected of a user."""
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
        """The smallest number of exposed items that is enough, by halving; None if all are not."""
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
    """Width of the interval of pooled recall with so many exposed items a user; see :class:`ExposurePlan`.

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
    """Exposed items a user for an interval of pooled recall of at most this width; see :class:`ExposurePlan`.

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
    """The share of positives, given as such or as a number a user.

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
        raise ConfigError(f"{positives:g} positives a user must be above 0 and below the population of {population:,}")
    return positives / population


def _check_inside(name: str, number: float, *, ends: bool = False) -> None:
    if not (0 < number < 1 or (ends and number in {0, 1})):
        raise ConfigError(f"{name} {number:g} must be between 0 and 1")
