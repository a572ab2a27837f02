"""Numbers that Tian and Ekstrand (2020) print or archived; metrics and worlds have the words of this program."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

from unskew.simulators.likeness import STATISTICS

DATA = ("ML1M", "AZM5", "STMV1")
"""MovieLens 1M, Amazon Digital Music 5-core, and the Steam libraries of Australian players."""
WORLDS = ("ibp-unif", "ibp-pop", "lda-unif", "lda-pop")
"""How preferences come about, and how they are observed."""
METRICS = ("precision(of=list)@50", "recall@50", "mrr@50", "ndcg(discount=lenskit, ideal=all)@50")
RECOMMENDERS = ("oracle", "popular", "random")

COUNTS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "ML1M": (6_040, 3_706, 1_000_209),
        "AZM5": (5_541, 3_568, 64_706),
        "STMV1": (70_912, 10_978, 5_094_082),
    }
)
"""Users, items and rows, by data set."""


@dataclass(frozen=True)
class Fit:
    """How close the logs of a calibrated world are to the data, in the mean of 20 runs.

    Parameters
    ----------
    divergences : mapping of str to float
        The Kullback-Leibler divergence by statistic.
    mean_loss : float
        The mean over statistics of `loss`, as printed.
    """

    divergences: Mapping[str, float]
    mean_loss: float


class Pair(NamedTuple):
    """A metric on the observed test items, and on all that the users like."""

    observed: float
    truth: float

    @property
    def error(self) -> float:
        """Observed minus truth."""
        return self.observed - self.truth


Means: TypeAlias = Mapping[str, Mapping[str, Pair]]
_T = TypeVar("_T")
_Row: TypeAlias = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]


def loss(divergence: float, best: float) -> float:
    """By how many per cent a divergence is above the smallest that the calibration of it alone reached."""
    return 100 * (divergence / best - 1)


def losses(data: str, world: str) -> dict[str, float]:
    """The percentages of table 1, by statistic.

    The paper worked them out from divergences rounded to three digits, so they follow to the last digit. What they
    say does not: the smallest one, 0.002, may be off by a quarter.
    """
    found = TABLE1[data][world].divergences
    return {statistic: loss(found[statistic], BEST[data][statistic]) for statistic in STATISTICS}


def best_world(data: str) -> str:
    """The world with the smallest mean loss in table 1."""
    return min(WORLDS, key=lambda world: TABLE1[data][world].mean_loss)


def _frozen(table: Mapping[str, Mapping[str, _T]]) -> Mapping[str, Mapping[str, _T]]:
    return MappingProxyType({data: MappingProxyType(dict(by_world)) for data, by_world in table.items()})


def _by_statistic(*values: float) -> Mapping[str, float]:
    return MappingProxyType(dict(zip(STATISTICS, values, strict=True)))


def _by_metric(*values: int) -> Mapping[str, int]:
    return MappingProxyType(dict(zip(METRICS, values, strict=True)))


def _by_recommender(*rows: _Row) -> Means:
    return MappingProxyType(
        {
            recommender: MappingProxyType({metric: Pair(*pair) for metric, pair in zip(METRICS, row, strict=True)})
            for recommender, row in zip(RECOMMENDERS, rows, strict=True)
        }
    )


BEST: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "ML1M": _by_statistic(0.002, 0.458, 0.006, 0.262),
        "AZM5": _by_statistic(0.004, 0.419, 0.001, 0.033),
        "STMV1": _by_statistic(0.140, 0.373, 0.077, 0.353),
    }
)
"""The smallest divergence of each statistic when it alone is calibrated: one for all worlds, by data set."""

TABLE1: Mapping[str, Mapping[str, Fit]] = _frozen(
    {
        "ML1M": {
            "ibp-unif": Fit(_by_statistic(0.170, 0.973, 0.227, 0.373), 3059.54),
            "ibp-pop": Fit(_by_statistic(0.200, 1.793, 0.170, 0.388), 3243.23),
            "lda-unif": Fit(_by_statistic(0.137, 0.737, 0.082, 0.669), 2058.23),
            "lda-pop": Fit(_by_statistic(0.050, 2.063, 0.291, 1.084), 1953.54),
        },
        "AZM5": {
            "ibp-unif": Fit(_by_statistic(0.024, 4.639, 0.020, 0.100), 902.55),
            "ibp-pop": Fit(_by_statistic(0.016, 4.170, 0.020, 0.144), 857.90),
            "lda-unif": Fit(_by_statistic(0.015, 1.029, 0.002, 0.114), 191.51),
            "lda-pop": Fit(_by_statistic(0.035, 0.485, 0.008, 0.045), 381.78),
        },
        "STMV1": {
            "ibp-unif": Fit(_by_statistic(2.103, 1.299, 1.719, 4.503), 1239.63),
            "ibp-pop": Fit(_by_statistic(0.366, 2.458, 0.770, 2.486), 556.16),
            "lda-unif": Fit(_by_statistic(4.883, 2.636, 6.052, 3.100), 3133.12),
            "lda-pop": Fit(_by_statistic(4.876, 2.431, 6.041, 3.251), 3125.25),
        },
    }
)
"""Table 1, by data set and world."""

_ALL = _by_metric(100, 100, 100, 100)
TABLE3: Mapping[str, Mapping[str, Mapping[str, int]]] = _frozen(
    {
        "ML1M": {
            "ibp-unif": _by_metric(87, 58, 47, 65),
            "ibp-pop": _by_metric(0, 0, 0, 0),
            "lda-unif": _ALL,
            "lda-pop": _by_metric(100, 100, 89, 100),
        },
        "AZM5": {"ibp-unif": _ALL, "ibp-pop": _by_metric(100, 100, 99, 100), "lda-unif": _ALL, "lda-pop": _ALL},
        "STMV1": {
            "ibp-unif": _by_metric(100, 100, 86, 100),
            "ibp-pop": _by_metric(100, 5, 0, 85),
            "lda-unif": _ALL,
            "lda-pop": _ALL,
        },
    }
)
"""Table 3: in how many of 100 runs the oracle was observed to be at least as good as popular, by metric."""

MEANS: Mapping[str, Mapping[str, Means]] = _frozen(
    {
        "ML1M": {
            "ibp-unif": _by_recommender(
                ((0.0605, 1.0000), (0.0311, 0.0310), (0.1301, 1.0000), (0.0310, 0.0742)),
                ((0.0600, 0.9954), (0.0309, 0.0309), (0.1298, 0.9987), (0.0309, 0.0739)),
                ((0.0103, 0.2442), (0.0071, 0.0071), (0.0369, 0.4527), (0.0064, 0.0173)),
            ),
            "ibp-pop": _by_recommender(
                ((0.1979, 1.0000), (0.0984, 0.0858), (0.2129, 1.0000), (0.1032, 0.1631)),
                ((0.2129, 0.9950), (0.1111, 0.0850), (0.2955, 0.9990), (0.1186, 0.1620)),
                ((0.0117, 0.1403), (0.0094, 0.0093), (0.0425, 0.3143), (0.0083, 0.0191)),
            ),
            "lda-unif": _by_recommender(
                ((0.2851, 1.0000), (0.1267, 0.1268), (0.3605, 1.0000), (0.1507, 0.5618)),
                ((0.1661, 0.7889), (0.0850, 0.0850), (0.3324, 0.9633), (0.1010, 0.2679)),
                ((0.0240, 0.1797), (0.0161, 0.0161), (0.0777, 0.3639), (0.0158, 0.0214)),
            ),
            "lda-pop": _by_recommender(
                ((0.0943, 1.0000), (0.3032, 0.2134), (0.2164, 1.0000), (0.1780, 0.7878)),
                ((0.0758, 0.8780), (0.2776, 0.1776), (0.2112, 0.9841), (0.1596, 0.5110)),
                ((0.0124, 0.2537), (0.0498, 0.0495), (0.0462, 0.4625), (0.0263, 0.0474)),
            ),
        },
        "AZM5": {
            "ibp-unif": _by_recommender(
                ((0.0165, 1.0000), (0.3256, 0.3258), (0.0564, 1.0000), (0.0983, 0.4651)),
                ((0.0038, 0.2734), (0.0881, 0.0883), (0.0242, 0.7354), (0.0309, 0.1495)),
                ((0.0001, 0.0049), (0.0016, 0.0016), (0.0003, 0.0211), (0.0005, 0.0023)),
            ),
            "ibp-pop": _by_recommender(
                ((0.0125, 1.0000), (0.2269, 0.1169), (0.0352, 1.0000), (0.0665, 0.2167)),
                ((0.0035, 0.0997), (0.0784, 0.0116), (0.0232, 0.3219), (0.0282, 0.0233)),
                ((0.0001, 0.0159), (0.0031, 0.0019), (0.0007, 0.0617), (0.0009, 0.0034)),
            ),
            "lda-unif": _by_recommender(
                ((0.0755, 1.0000), (0.9660, 0.9659), (0.1779, 1.0000), (0.3210, 0.9895)),
                ((0.0040, 0.0801), (0.0922, 0.0920), (0.0215, 0.2735), (0.0300, 0.0921)),
                ((0.0009, 0.0181), (0.0209, 0.0207), (0.0040, 0.0687), (0.0062, 0.0136)),
            ),
            "lda-pop": _by_recommender(
                ((0.0182, 1.0000), (0.3482, 0.3166), (0.0652, 1.0000), (0.1095, 0.8176)),
                ((0.0031, 0.1188), (0.0750, 0.0354), (0.0171, 0.3263), (0.0245, 0.0461)),
                ((0.0007, 0.0494), (0.0150, 0.0149), (0.0030, 0.1544), (0.0045, 0.0136)),
            ),
        },
        "STMV1": {
            "ibp-unif": _by_recommender(
                ((0.2282, 1.0000), (0.2601, 0.2601), (0.2828, 1.0000), (0.2160, 0.3710)),
                ((0.1653, 0.9238), (0.2154, 0.2153), (0.2817, 0.9984), (0.1785, 0.3315)),
                ((0.0113, 0.1253), (0.0231, 0.0231), (0.0405, 0.2889), (0.0142, 0.0371)),
            ),
            "ibp-pop": _by_recommender(
                ((0.2038, 1.0000), (0.2347, 0.2000), (0.2185, 1.0000), (0.1813, 0.3072)),
                ((0.1503, 0.8833), (0.2438, 0.1547), (0.2937, 0.9963), (0.1775, 0.2607)),
                ((0.0074, 0.1020), (0.0150, 0.0150), (0.0279, 0.2528), (0.0090, 0.0256)),
            ),
            "lda-unif": _by_recommender(
                ((0.3624, 1.0000), (0.3519, 0.3519), (0.4112, 1.0000), (0.3256, 0.7335)),
                ((0.1076, 0.5270), (0.1345, 0.1345), (0.2834, 0.8255), (0.1177, 0.3139)),
                ((0.0075, 0.0535), (0.0118, 0.0118), (0.0294, 0.1567), (0.0083, 0.0124)),
            ),
            "lda-pop": _by_recommender(
                ((0.2880, 1.0000), (0.3634, 0.3124), (0.3551, 1.0000), (0.2953, 0.8290)),
                ((0.0454, 0.2861), (0.1158, 0.0620), (0.1697, 0.5821), (0.0734, 0.0892)),
                ((0.0056, 0.0546), (0.0114, 0.0114), (0.0224, 0.1608), (0.0071, 0.0102)),
            ),
        },
    }
)
"""Means over 100 runs in the authors' archive, by data set, world, recommender and metric; figure 2 shows the errors.

For LDA the archived NDCG on the truth weighs items by how often they were drawn, the observed one does not.
"""
