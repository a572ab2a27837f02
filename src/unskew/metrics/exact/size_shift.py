"""The expected change of a metric when another share of each user's positives is observed.

A user has p positives and s of them are observed, with every choice of s equally likely. The scores do not change, and
an unobserved positive stays a candidate, so the ranks do not change either (Lim et al. 2015, section 3). Then the mean
of a metric over the choices has a closed form for every metric here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.errors import ConfigError
from unskew.metrics.content import ContentMetric
from unskew.metrics.dcg import NDCG
from unskew.metrics.exact.user_lists import UserLists
from unskew.metrics.losses import RatingLoss
from unskew.metrics.metric import ListMetric, Metric, MetricWord
from unskew.metrics.registry import parse_metric

if TYPE_CHECKING:
    from unskew.ranking import Ranks

# Rules under which a missing positive is not a candidate either, so that the ranks change.
_MOVING_RULES = ("sampled", "listed")


@dataclass(frozen=True, eq=False)
class Move:
    """A metric before and after a change of the number of observed positives per user.

    Parameters
    ----------
    metric : str
        The metric's word.
    positives : Ints
        How many positives each user of the ranks has; users by code.
    sizes : Floats
        How many of them are kept, on average.
    per_user_before, per_user_after : Floats
        The metric on all of them, and its expectation on those kept. NaN if undefined: `auc(of=negatives)` without a
        negative, or `map` for more positives of a user with one.
    """

    metric: str
    positives: Ints
    sizes: Floats
    per_user_before: Floats
    per_user_after: Floats

    def __repr__(self) -> str:
        users = f"{self.users:,} user{'' if self.users == 1 else 's'}"
        return f"Move({self.metric}: {self.before:.4f} to {self.after:.4f}, ratio {self.ratio:.4f}, {users})"

    @cached_property
    def counted(self) -> Bools:
        """Whether each user has a value before and after; the means are over these users."""
        return ~np.isnan(self.per_user_before) & ~np.isnan(self.per_user_after)

    @property
    def users(self) -> int:
        """How many users the means are over."""
        return int(self.counted.sum())

    @cached_property
    def before(self) -> float:
        """Mean over users before the change."""
        return float(self.per_user_before[self.counted].mean())

    @cached_property
    def after(self) -> float:
        """Mean over users expected after the change."""
        return float(self.per_user_after[self.counted].mean())

    @property
    def ratio(self) -> float:
        """The mean after divided by the mean before; NaN if that is 0."""
        return self.after / self.before if self.before else math.nan


@dataclass(frozen=True, eq=False)
class SizeMix:
    """The distribution of the number of positives that each user keeps.

    Parameters
    ----------
    sizes : Ints
        The possible numbers, one row per alternative and one column per user.
    weights : Floats
        The chance of each number, in the same shape; every column sums to 1. Numbers with weight 0 are ignored.
    """

    sizes: Ints
    weights: Floats

    @classmethod
    def sure(cls, sizes: Ints) -> Self:
        """A distribution with one number per user."""
        return cls(sizes[None, :], np.ones((1, sizes.size)))

    @classmethod
    def between(cls, means: Floats) -> Self:
        """The whole numbers below and above each mean, weighted so that the mean is kept."""
        low = np.floor(means)
        chance = means - low
        sizes = np.stack([low, low + 1]).astype(np.int64)
        return cls(sizes, np.stack([1 - chance, chance]))

    @property
    def means(self) -> Floats:
        """The mean number of each user."""
        return np.asarray(np.where(self.weights > 0, self.weights * self.sizes, 0.0).sum(axis=0))


def expected_move(
    metric: str | MetricWord,
    ranks: "Ranks",
    *,
    share: float | None = None,
    sizes: Ints | Sequence[int] | None = None,
) -> Move:
    r"""Return the expected mean of a metric over users when each user keeps s of p positives.

    It is exact, also with ties: with the metric value V(S) of a set S of positives, it is for each user

    .. math:: \binom{p}{s}^{-1} \sum_{|S| = s} V(S).

    A mean over positives does not change (Lim et al. 2015, theorem 1), NDCG changes by `ndcg_shrinkage` (theorem 2), a
    sum by s/p, and every other metric as its `expected_values` says. With s > p it is an unbiased estimate of the value
    on a larger set, from which the p positives were drawn; `mrr` and `hit` have no such estimate.

    Parameters
    ----------
    metric : str or metric
        A metric of ranks, not a loss of predicted ratings.
    ranks : Ranks
        Ranks among candidates that do not depend on the test rows (``unseen``, ``all`` or ``trained``).
    share : float, optional
        Share of each user's positives to keep: s = share * p, at least 1 and at most the number of candidates.
        Otherwise s is rounded down or up at random, so that it is share * p on average. A sum then changes by exactly
        the share, if share * p is at least 1.
    sizes : array of int, optional
        Instead of `share`: s for each user that has rows, by code.

    Returns
    -------
    Move
        The means over users `before` and `after`, their `ratio`, and the values of each user.

    Raises
    ------
    ConfigError
        For an impossible share or sizes, or a metric or ranks without an exact form.
    """
    _check_ranks(ranks)
    _, starts, positives = np.unique(ranks.users, return_index=True, return_counts=True)
    return mixed_move(metric, ranks, _sizes(share, sizes, positives, ranks.candidates[starts]))


def mixed_move(metric: str | MetricWord, ranks: "Ranks", mix: SizeMix) -> Move:
    """Return the same as `expected_move` for random sizes: the mean over the sizes of each user."""
    metric = parse_metric(metric)
    if isinstance(metric, ContentMetric) or metric.kind == "scored":
        raise ConfigError(f"{metric} is not known for other sizes; use a mean such as adg")
    if isinstance(metric, RatingLoss):
        raise ConfigError(f"{metric} is a metric of predicted ratings; choose one of ranks, such as adg")
    _check_ranks(ranks)
    _, starts, positives = np.unique(ranks.users, return_index=True, return_counts=True)
    _check_candidates(mix, ranks.candidates[starts])
    offsets = np.append(starts, len(ranks)).astype(np.int64)
    before, after = _values(metric, ranks, offsets, mix)
    move = Move(f"{metric}", positives, mix.means, before, after)
    if not move.users:
        raise ConfigError(f"{metric} cannot be computed for other sizes of any user; use a mean such as adg")
    return move


def _check_ranks(ranks: "Ranks") -> None:
    """Refuse anything but ranks, and ranks that would change."""
    from unskew.ranking import Ranks

    if not isinstance(ranks, Ranks):
        raise ConfigError(f"expected Ranks, not {type(ranks).__name__}; compute them with unskew.ranking.rank")
    if not len(ranks):
        raise ConfigError("the ranks have no rows; give ranks of held-out items")
    if ranks.candidate_rule.partition("(")[0] in _MOVING_RULES:
        raise ConfigError(
            f"ranks among candidates={ranks.candidate_rule} change when a positive is missing, which has no exact "
            "form; rank with candidates=unseen"
        )


def ndcg_shrinkage(
    observed: int | Ints,
    complete: int | Ints,
    *,
    k: int | None = None,
    discount: Literal["standard", "lenskit"] = "standard",
    ideal: Literal["cut", "all"] = "cut",
) -> Floats:
    r"""Return the ratio of the expected NDCG of s observed positives to the NDCG of all p.

    .. math:: \frac{E[NDCG_s]}{NDCG_p} = \frac{s \, IDCG(p)}{p \, IDCG(s)}

    Lim et al. (2015), theorem 2. Because s / IDCG(s) rises with s, it is below 1 whenever s < p, except for p = 2 with
    ``discount=lenskit``, where two places gain in full. With a cut-off the ideal list ends there, and beyond it NDCG
    grows with s like a sum.

    Parameters
    ----------
    observed, complete : int or array
        s and p, at least 1.
    k : int, optional
        The cut-off.
    discount, ideal : str
        As in `NDCG`.

    Returns
    -------
    Floats
        The factor for each s and p.
    """
    metric = NDCG(discount=discount, ideal=ideal)
    parse_metric(f"{metric}")  # refuses an unknown option with the message of the metric
    metric = metric if k is None else metric @ k
    s, p = (_whole(numbers, name) for numbers, name in ((observed, "observed"), (complete, "complete")))
    try:
        s, p = np.broadcast_arrays(s, p)
    except ValueError:
        raise ConfigError(
            f"observed of shape {s.shape} and complete of shape {p.shape} do not match; give one p for each s"
        ) from None
    return np.asarray((s / p) * (metric.ideal_gains(p) / metric.ideal_gains(s)))


def expected_average_precision(above: Ints | Sequence[int], observed: int) -> float:
    r"""Return the average precision expected of s of one user's p positives.

    .. math:: E[AP_s] = \frac{1}{p} \sum_i \frac{1 + \frac{s - 1}{p - 1} \cdot (\text{positives above } i)}{r_i + 1}

    with :math:`r_i` the number of candidates above positive i: given that i is kept, each of the others is kept with
    chance (s - 1) / (p - 1).

    With s > p it is the average precision of a larger set, estimated without bias from the p that are known. Such an
    estimate is right on average over the choices of the p, but a single one may be above 1: ``[0, 1]`` with s = 5 gives
    1.75. Read means over many users, not one.

    Parameters
    ----------
    above : array of int
        How many candidates are above each positive, all different. For ties see `expected_move`.
    observed : int
        s; it may exceed p if p is at least 2.
    """
    places = np.sort(np.atleast_1d(np.asarray(above)))
    if not places.size or places.ndim != 1 or places.dtype.kind not in "iu" or places[0] < 0:
        raise ConfigError("above must be whole numbers of at least 0, one for each positive")
    if np.any(np.diff(places) == 0):
        raise ConfigError("two positives have the same place; for ties use expected_move")
    if np.ndim(observed):
        raise ConfigError("observed must be one number; for many users see expected_move")
    size, p = int(_whole(observed, "observed")), places.size
    if size > 1 and p == 1:
        raise ConfigError(f"average precision of {size} positives cannot be estimated from one; give two or more")
    pairs = (size - 1) / (p - 1) if p > 1 else 0.0
    return float(np.mean((1 + pairs * np.arange(p)) / (places + 1)))


def _values(metric: Metric | ListMetric, ranks: "Ranks", offsets: Ints, mix: SizeMix) -> tuple[Floats, Floats]:
    """Values per user now, and the expected values with these numbers of positives."""
    positives = np.diff(offsets)
    if isinstance(metric, ListMetric):
        lists = _lists(metric, ranks, offsets)
        before = metric.values(lists)
        return before, _mean_value(before, positives, mix, lambda sizes: metric.expected_values(lists, sizes))
    gains = metric.row_gains(ranks.above, ranks.spread, ranks.candidates, ranks.listed)
    if metric.kind == "graded" and ranks.values is not None:
        gains = gains * ranks.values
    sums = np.add.reduceat(gains, offsets[:-1])
    if metric.kind == "mean":
        return sums / positives, sums / positives
    return sums, _mean_value(sums, positives, mix, lambda sizes: sums * (sizes / positives))


def _mean_value(before: Floats, positives: Ints, mix: SizeMix, value: Callable[[Ints], Floats]) -> Floats:
    """The mean over the sizes of each user. Unchanged values are kept: computed again they would round differently."""
    total = np.zeros(positives.size)
    for sizes, weights in zip(mix.sizes, mix.weights, strict=True):
        kept = np.where(weights > 0, sizes, positives)  # a size without weight is not passed to the metric
        values = np.where(kept == positives, before, value(kept))
        total += np.where(weights > 0, weights * values, 0.0)
    return total


def _lists(metric: ListMetric, ranks: "Ranks", offsets: Ints) -> UserLists:
    if ranks.ties in {"optimistic", "pessimistic"}:
        places = ranks.users * np.int64(ranks.above.max() + 1) + ranks.above
        if np.unique(places).size < len(ranks):
            raise ConfigError(
                f"{metric} under ties={ranks.ties}, with positives of a user tied: their places change when one is "
                "missing; rank with ties=expected"
            )
    return UserLists.from_rows(offsets, ranks.above, ranks.spread, ranks.candidates, ranks.listed, policy=ranks.ties)


def _sizes(share: float | None, sizes: Ints | Sequence[int] | None, positives: Ints, candidates: Ints) -> SizeMix:
    if (share is None) == (sizes is None):
        raise ConfigError("give either share=0.5 or sizes=[...] with one number per user")
    if share is not None:
        number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
        if not (number and math.isfinite(share) and share > 0):
            raise ConfigError(f"share={share!r} must be a number above 0, such as 0.5")
        # 0.29 * 100 is 28.999999999999996, but whole
        return SizeMix.between(np.clip(np.round(share * positives, 9), 1, candidates))
    kept = _whole(np.asarray(sizes), "sizes")
    if kept.shape != positives.shape:
        raise ConfigError(f"sizes of shape {kept.shape} for {positives.size} users with rows; give one number per user")
    return SizeMix.sure(kept)


def _check_candidates(mix: SizeMix, candidates: Ints) -> None:
    largest = np.where(mix.weights > 0, mix.sizes, 0).max(axis=0)
    if np.any(largest > candidates):
        user = int(np.argmax(largest > candidates))
        raise ConfigError(
            f"sizes: {largest[user]} positives, but user {user} (counting from 0) has {candidates[user]} candidates"
        )


def _whole(numbers: int | Ints, name: str) -> Ints:
    given = np.asarray(numbers)
    if given.dtype.kind not in "iu" or np.any(given < 1):
        raise ConfigError(f"{name} must be whole numbers of at least 1; a user without positives has no value")
    return given.astype(np.int64)
