"""Propensity-scored precision and NDCG of extreme classification: hits weighted by a function of training counts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.metrics.dcg import discount
from unskew.metrics.metric import AtK, Kind, Metric, MetricWord, TakesCutoff


@dataclass(frozen=True)
class PropensityScored(Metric):
    r"""Weighted hits as a share of the best possible ones, both summed over users (Jain et al. 2016).

    .. math:: \frac{\sum_u \sum_{i \in S_u} g(r_{ui}) / (p_i z_u)}{\sum_u \max \sum_{i \in S_u} g / (p_i z_u)}

    .. math:: \frac{1}{p_i} = 1 + C (n_i + B)^{-A}, \quad C = (\log n - 1)(B + 1)^A

    with :math:`n_i` training users of an item among :math:`n`. The propensities are a fixed function of the counts and
    not of the log, and the target is not a mean over relevant pairs: to correct for the skew, use `snips`.

    Parameters
    ----------
    a, b : float
        A and B; 0.55 and 1.5 unless the literature has others for a data set.
    """

    kind: ClassVar[Kind] = "scored"
    takes_cutoff: ClassVar[TakesCutoff] = "required"

    a: float = 0.55
    b: float = 1.5

    def __post_init__(self) -> None:
        if not self.a > 0 or not self.b > 0:
            raise ConfigError(f"{self.word}(a={self.a:g}, b={self.b:g}): give numbers above 0, as in a=0.55, b=1.5")
        if self.a > 50 or self.b > 1e5:
            raise ConfigError(
                f"{self.word}(a={self.a:g}, b={self.b:g}): at most a=50 and b=100000, as in a=0.55, b=1.5"
            )

    def weights(self, counts: Ints, n_users: int) -> Floats:
        """Return one over the propensity of each item, from its number of training users among all."""
        scale = max(np.log(max(n_users, 1)) - 1, 0.0) * (self.b + 1) ** self.a
        return np.asarray(1 + scale * (counts + self.b) ** -self.a)

    def divisors(self, relevant: Ints, cutoff: int) -> Floats:
        """Return what the sums of each user are divided by, from the number of relevant items."""
        return np.ones(len(relevant))

    def best(self, weights: Floats, offsets: Ints, cutoff: int) -> Floats:
        """Return the largest possible sum of each user, whose weights are ``weights[offsets[u]:offsets[u + 1]]``."""
        sizes = np.diff(offsets)
        user = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((-weights, user))
        place = np.arange(len(weights)) - np.repeat(offsets[:-1], sizes)
        gains = np.where(place < cutoff, self.gain(place, place), 0.0)
        return np.bincount(user, weights=weights[order] * gains, minlength=len(sizes)).astype(np.float64)


@dataclass(frozen=True)
class PSP(PropensityScored, word="psp"):
    """Propensity-scored precision: hits in the top K, weighted by rarity, as a share of the best possible."""

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return (
            f"sum of 1/p over the hits in the top {cutoff} / the largest possible, p of Jain et al. by training count"
        )

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return 1; the cut-off makes it a hit or not."""
        return np.ones(np.shape(above))


@dataclass(frozen=True)
class PSNDCG(PropensityScored, word="psndcg"):
    """Propensity-scored NDCG: discounted hits in the top K, weighted by rarity, as a share of the best possible."""

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return (
            f"sum of 1/(p log2(rank + 1)) over the hits in the top {cutoff}, by user over the DCG of min({cutoff}, "
            "relevant) hits / the largest possible, p of Jain et al. by training count"
        )

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return the discount of the place."""
        return discount(above)

    def divisors(self, relevant: Ints, cutoff: int) -> Floats:
        """Return the DCG of the largest possible number of hits."""
        table = np.append(0.0, np.cumsum(discount(np.arange(cutoff))))
        return np.asarray(table[np.minimum(relevant, cutoff)])


def scored_of(metric: MetricWord) -> PropensityScored | None:
    """Return the propensity-scored metric of one with a cut-off; None for all others."""
    inner = metric.metric if isinstance(metric, AtK) else None
    return inner if isinstance(inner, PropensityScored) else None
