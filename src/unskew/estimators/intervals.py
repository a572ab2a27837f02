"""Intervals and p-values; the user is the unit, a random draw from a population."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist
from typing import ClassVar, Literal, TypeVar

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms, influence_of, standard_error
from unskew.estimators.moments import columns_of
from unskew.notation import Named
from unskew.ranking.engines import Engine, Threads

Key = TypeVar("Key")
Bounds = tuple[float | None, float | None]
_CHUNK = 2**22  # users drawn at a time
_DRAWS = 50  # draws that share a generator; it belongs to the numbers


def normal_quantile(level: float) -> float:
    """The z of a two-sided interval: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + level) / 2)


@dataclass(frozen=True)
class Gap:
    """The difference of two estimates, with its interval and p-value; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None
    p_value: float | None


class Interval(Named, family="interval"):
    """A kind of interval."""

    draws: ClassVar[bool] = False
    """Whether it draws users, so that it is faster for many estimates together."""

    def std_error(self, terms: Terms) -> float | None:
        """Standard error of an estimate, as reported with its value."""
        return terms.std_error

    def influence(self, terms: Terms) -> Floats | None:
        """What each unit of the interval adds to the error; the sum of squares is the variance. None if unknown."""
        return influence_of(terms)

    def gap_error(self, a: Terms, b: Terms) -> float | None:
        """Standard error of the difference of two estimates, for its p-value."""
        return difference(a, b)[1]

    def gap_errors(self, terms: Sequence[Terms], pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """`gap_error` of many pairs, given by their places in `terms`."""
        return gap_errors(terms, pairs)

    def p_value(self, a: Terms, b: Terms) -> float | None:
        """Two-sided p-value of the difference of two estimates."""
        gap = value_gap(a, b)
        return None if gap is None else self.p_of(gap, self.gap_error(a, b), len(a.numerator))

    def p_of(self, gap: float | None, error: float | None, users: int) -> float | None:
        """Two-sided p-value of a difference with this standard error, over this number of users."""
        return p_value(gap, error)

    def compare(
        self,
        terms: Sequence[Terms],
        pairs: Sequence[tuple[int, int]],
        level: float,
        rng: np.random.Generator,
        engine: Engine | None = None,
    ) -> tuple[list[Bounds], list[Gap]]:
        """Low and high of each estimate, and each difference; parameters as those of `bounds`.

        The error of a pair is computed once, and no array of a pair is kept.
        """
        errors = self.gap_errors(terms, pairs)
        bounds, ends = self.bounds(terms, pairs, level, rng, engine, errors)
        return bounds, [
            Gap(gap := value_gap(terms[a], terms[b]), low, high, self.p_of(gap, error, len(terms[a].numerator)))
            for (a, b), (low, high), error in zip(pairs, ends, errors, strict=True)
        ]

    @abstractmethod
    def bounds(
        self,
        terms: Sequence[Terms],
        pairs: Sequence[tuple[int, int]],
        level: float,
        rng: np.random.Generator,
        engine: Engine | None = None,
        errors: Sequence[float | None] | None = None,
    ) -> tuple[list[Bounds], list[Bounds]]:
        """Low and high of each estimate, and of each difference first minus second; None if undefined.

        Parameters
        ----------
        terms : sequence of Terms
            Terms of the same users.
        pairs : sequence of (int, int)
            Places in `terms` to compare.
        level : float
        rng : Generator
        engine : Engine, optional
            Where draws are made; the numbers do not depend on it.
        errors : sequence of float or None, optional
            `gap_errors` of the pairs, if they are known.
        """

    def gaps(
        self, terms: Sequence[Terms], pairs: Sequence[tuple[int, int]], errors: Sequence[float | None] | None
    ) -> list[tuple[float | None, float | None]]:
        """The difference of each pair and its standard error, which is computed where `errors` are not given."""
        known = self.gap_errors(terms, pairs) if errors is None else errors
        return [(value_gap(terms[a], terms[b]), error) for (a, b), error in zip(pairs, known, strict=True)]


@dataclass(frozen=True)
class Delta(Interval, word="delta"):
    """Value plus and minus z standard errors of the linearised ratio."""

    def bounds(
        self,
        terms: Sequence[Terms],
        pairs: Sequence[tuple[int, int]],
        level: float,
        rng: np.random.Generator,
        engine: Engine | None = None,
        errors: Sequence[float | None] | None = None,
    ) -> tuple[list[Bounds], list[Bounds]]:
        """Low and high of each estimate and difference."""
        gaps, z = self.gaps(terms, pairs, errors), normal_quantile(level)
        return [around(term.value, term.std_error, z) for term in terms], [around(*gap, z) for gap in gaps]


@dataclass(frozen=True)
class Observation(Interval, word="observation"):
    r"""Value plus and minus z standard errors of the observation, with users and items fixed.

    Each pair is observed independently with chance P, and nothing else is random. The variance is then

    .. math::

       \frac{1}{(UI)^2}\sum_{obs} \frac{\delta^2 (1-P)}{P^2} \text{ for ips}, \qquad
       \frac{\sum_{obs} (\delta-\hat R)^2 (1-P)/P^2}{(\sum_{obs} 1/P)^2} \text{ for snips}

    (Horvitz and Thompson 1952). It is about these users and items only, and for metrics over all pairs: rating losses
    and graded sums. For `aoa` the factor 1-P is left out, because `aoa` does not know P. The forms ``per=user`` and
    ``per=item`` divide by the rows of each user or item: with few rows intervals are too short, and with one row there
    is none.

    For the pooled form of `ure` and for its sums, the random part is which items were drawn for each user, without
    replacement. The factor is then 1 - l/L, and more than one item per user is needed.
    """

    def bounds(
        self,
        terms: Sequence[Terms],
        pairs: Sequence[tuple[int, int]],
        level: float,
        rng: np.random.Generator,
        engine: Engine | None = None,
        errors: Sequence[float | None] | None = None,
    ) -> tuple[list[Bounds], list[Bounds]]:
        """Low and high of each estimate and difference."""
        gaps, z = self.gaps(terms, pairs, errors), normal_quantile(level)
        return [around(term.value, self.std_error(term), z) for term in terms], [around(*gap, z) for gap in gaps]

    def std_error(self, terms: Terms) -> float | None:
        """Standard error of an estimate."""
        return None if terms.lone else _norm(terms.row_errors)

    def influence(self, terms: Terms) -> Floats | None:
        """What each row adds to the error; None if it is understated, or if there is no row."""
        return None if self.std_error(terms) is None else terms.row_errors

    def gap_error(self, a: Terms, b: Terms) -> float | None:
        """Standard error of a difference."""
        return None if a.lone or b.lone else _norm(a.row_errors, b.row_errors)

    def gap_errors(self, terms: Sequence[Terms], pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """`gap_error` of many pairs."""
        return [self.gap_error(terms[a], terms[b]) for a, b in pairs]


@dataclass(frozen=True)
class Bootstrap(Interval, word="bootstrap"):
    """Quantiles of the value over users drawn with replacement.

    All estimates share the draws, so differences are paired. For ``per=item`` the users' parts of the linearised value
    are drawn, because the sums of items are not drawn again.

    Parameters
    ----------
    n : int
        How many draws.
    weights : {"multinomial", "poisson"}
        How often a user is drawn. ``multinomial`` draws as many users as there are. ``poisson`` draws each user
        independently, once on average, by a hash of the user's id, so that draws of different parts of the data can be
        added up (Chamandy, Muralidharan, Najmi and Naidu 2012).
    """

    n: int = 2000
    weights: Literal["multinomial", "poisson"] = "multinomial"
    positional = ("n",)
    draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.n < 10:
            raise ConfigError(f"bootstrap({self.n}): at least 10 draws are needed; 2000 are usual")
        if self.weights not in {"multinomial", "poisson"}:
            raise ConfigError(f"bootstrap(weights={self.weights}): choose multinomial or poisson")

    @property
    def merges(self) -> bool:
        """Whether draws of different users can be added up."""
        return self.weights == "poisson"

    def bounds(
        self,
        terms: Sequence[Terms],
        pairs: Sequence[tuple[int, int]],
        level: float,
        rng: np.random.Generator,
        engine: Engine | None = None,
        errors: Sequence[float | None] | None = None,
    ) -> tuple[list[Bounds], list[Bounds]]:
        """Low and high of each estimate and difference."""
        if not terms or len(terms[0].numerator) < 2:
            return [(None, None)] * len(terms), [(None, None)] * len(pairs)
        if terms[0].units != "users":  # directions of a covariance cannot be drawn again
            return Delta().bounds(terms, pairs, level, rng, errors=errors)
        sums = self.sums(terms, rng, engine)
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = np.asarray(sums[:, 0::2] / sums[:, 1::2])
            rooted = [term.root for term in terms]
            drawn[:, rooted] = np.sqrt(drawn[:, rooted])
        return (
            [quantiles(values, level) for values in drawn.T],
            [quantiles(drawn[:, a] - drawn[:, b], level) for a, b in pairs],
        )

    def sums(self, terms: Sequence[Terms], rng: np.random.Generator, engine: Engine | None = None) -> Floats:
        """Sums of the numerator and denominator of each estimate in each draw, shape (draws, 2 estimates)."""
        seed = int(rng.integers(2**63))
        task = _Draws(columns_of(terms), terms[0].keys if self.merges else None, seed)
        chunks = [(first, min(_DRAWS, self.n - first)) for first in range(0, self.n, _DRAWS)]
        return np.concatenate(list((engine or Threads(1)).map(task.sums, chunks)))


class _Draws:
    """Sums of columns over drawn users, some draws at a time."""

    def __init__(self, columns: Floats, keys: Ints | None, seed: int) -> None:
        self.columns, self.keys, self.seed = columns, keys, seed

    def sums(self, chunk: tuple[int, int]) -> Floats:
        """The sums of some draws, given the number of the first and how many; they depend on nothing else."""
        from unskew.estimators.sums_kernel import poisson_sums, resampled_sums

        first, draws = chunk
        if self.keys is not None:
            return np.asarray(poisson_sums(self.keys, self.columns, self.seed, first, draws))
        users, rng = len(self.columns), np.random.default_rng([self.seed, first])
        sums = np.empty((draws, self.columns.shape[1]))
        step = max(1, _CHUNK // users)
        for start in range(0, draws, step):
            size = min(step, draws - start), users
            sums[start : start + size[0]] = resampled_sums(rng.integers(0, users, size=size), self.columns)
        return sums


def _norm(errors: Floats | None, other: Floats | None = None) -> float | None:
    """Root of the sum of squares of row errors, or of the differences of two."""
    if errors is None:
        raise ConfigError("the interval 'observation' is for metrics over all pairs, such as mae; use delta")
    if not len(errors):
        return None
    return float(np.sqrt(np.sum((errors if other is None else errors - other) ** 2)))


def difference(a: Terms, b: Terms) -> tuple[float | None, float | None]:
    """Value of a minus that of b, and its standard error over the same users."""
    if a.value is None or b.value is None:
        return None, None
    return a.value - b.value, standard_error(a.influence - b.influence)


def value_gap(a: Terms, b: Terms) -> float | None:
    """Value of a minus that of b; None if one of them is undefined."""
    return None if a.value is None or b.value is None else a.value - b.value


def gap_errors(terms: Sequence[Terms], pairs: Sequence[tuple[int, int]]) -> list[float | None]:
    """The standard error of each difference, as by `difference` and to the last bit, in one array for all pairs."""
    errors: list[float | None] = []
    room = np.empty(0)
    for a, b in pairs:
        first, second, m = terms[a], terms[b], len(terms[a].numerator)
        if first.value is None or second.value is None or m < 2:
            errors.append(None)
            continue
        room = room if len(room) == m else np.empty(m)
        np.subtract(first.influence, second.influence, out=room)
        np.square(room, out=room)
        errors.append(float(np.sqrt(m / (m - 1) * np.sum(room))))
    return errors


def p_value(gap: float | None, error: float | None) -> float | None:
    """Two-sided p-value of a normal difference; 0 or 1 if there is no spread."""
    if gap is None or error is None:
        return None
    if error == 0:
        return 1.0 if gap == 0 else 0.0
    return erfc(abs(gap) / error / sqrt(2))


def student_p(p: float, effective: float) -> float:
    r"""The p-value of a difference by Student's t, with one degree of freedom less than effective users.

    The standard error of few users, or of many if few have most of the weight, is itself uncertain: at 5 effective
    users a normal test at 5 % fails in some 20 % of cases, this one in about 5 %. If all users agree to the last bit,
    so that there is no error, it is that of a sign test, :math:`2^{1-n}`.

    Parameters
    ----------
    p : float
        The two-sided p-value of a normal distribution.
    effective : float
        Effective number of users.
    """
    from scipy.special import stdtr

    if p <= 0:
        return float(min(1.0, 2.0 ** (1 - effective)))
    return float(min(1.0, 2 * stdtr(max(effective - 1, 1.0), NormalDist().inv_cdf(max(p / 2, 1e-300)))))


def holm(p_values: Mapping[Key, float | None]) -> dict[Key, float | None]:
    """Holm's step-down correction (1979): the chance of any false claim stays below the level."""
    adjusted: dict[Key, float | None] = dict.fromkeys(p_values)
    known = sorted((p, position) for position, p in enumerate(p_values.values()) if p is not None)
    keys = list(p_values)
    largest = 0.0
    for place, (p, position) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - place) * p))
        adjusted[keys[position]] = largest
    return adjusted


def around(value: float | None, error: float | None, factor: float) -> Bounds:
    """Value minus and plus this many standard errors; None if either is not known."""
    if value is None or error is None:
        return None, None
    return value - factor * error, value + factor * error


def quantiles(values: Floats, level: float) -> Bounds:
    """The interval of values over draws; None if half of them are not defined."""
    finite = values[np.isfinite(values)]
    if len(finite) < len(values) / 2:
        return None, None
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
