"""The numbers that Tian and Ekstrand (2020) print or archived; metrics and worlds have the words of this program.

`COUNTS`, `TABLE1` and `TABLE3` are printed. `BEST` and `MEANS` are from the authors' archive, so they are references.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

from unskew.simulators.likeness import STATISTICS

DATA = ("ML1M", "AZM5", "STMV1")
"""MovieLens 1M, Amazon Digital Music 5-core, and the Steam libraries of Australian players."""
WORLDS = ("ibp-unif", "ibp-pop", "lda-unif", "lda-pop")
"""How preferences arise, and how they are observed."""
UNIFORM, POPULAR = ("ibp-unif", "lda-unif"), ("ibp-pop", "lda-pop")
METRICS = ("precision(of=list)@50", "recall@50", "mrr@50", "ndcg(discount=lenskit, ideal=all)@50")
RECOMMENDERS = ("oracle", "popular", "random")
SIDES = ("observed", "truth")
"""A metric on the observed test items, and on all that the users like."""
MEAN_LOSS = "mean loss %"
COUNTS: Mapping[str, tuple[int, int, int]] = {
    "ML1M": (6_040, 3_706, 1_000_209),
    "AZM5": (5_541, 3_568, 64_706),
    "STMV1": (70_912, 10_978, 5_094_082),
}
"""Users, items and rows, by data set."""
Printed: TypeAlias = Mapping[tuple[str, ...], float]


def _keyed(rows: Mapping[tuple[str, ...], Sequence[float]], *levels: Sequence[str]) -> dict[tuple[str, ...], float]:
    """Rows of numbers by their key and the levels of their columns, the last level changing fastest."""
    columns = list(product(*levels))
    return {
        (*row, *column): value for row, values in rows.items() for column, value in zip(columns, values, strict=True)
    }


BEST: Printed = _keyed(
    {
        ("ML1M",): (0.002, 0.458, 0.006, 0.262),
        ("AZM5",): (0.004, 0.419, 0.001, 0.033),
        ("STMV1",): (0.140, 0.373, 0.077, 0.353),
    },
    STATISTICS,
)
"""The smallest divergence when a statistic alone is calibrated, over all worlds: by data set and statistic."""

TABLE1: Printed = _keyed(
    {
        ("ML1M", "ibp-unif"): (0.170, 0.973, 0.227, 0.373, 3059.54),
        ("ML1M", "ibp-pop"): (0.200, 1.793, 0.170, 0.388, 3243.23),
        ("ML1M", "lda-unif"): (0.137, 0.737, 0.082, 0.669, 2058.23),
        ("ML1M", "lda-pop"): (0.050, 2.063, 0.291, 1.084, 1953.54),
        ("AZM5", "ibp-unif"): (0.024, 4.639, 0.020, 0.100, 902.55),
        ("AZM5", "ibp-pop"): (0.016, 4.170, 0.020, 0.144, 857.90),
        ("AZM5", "lda-unif"): (0.015, 1.029, 0.002, 0.114, 191.51),
        ("AZM5", "lda-pop"): (0.035, 0.485, 0.008, 0.045, 381.78),
        ("STMV1", "ibp-unif"): (2.103, 1.299, 1.719, 4.503, 1239.63),
        ("STMV1", "ibp-pop"): (0.366, 2.458, 0.770, 2.486, 556.16),
        ("STMV1", "lda-unif"): (4.883, 2.636, 6.052, 3.100, 3133.12),
        ("STMV1", "lda-pop"): (4.876, 2.431, 6.041, 3.251, 3125.25),
    },
    (*STATISTICS, MEAN_LOSS),
)
"""Kullback-Leibler divergences of the logs of calibrated worlds, means of 20 runs: by data set, world and statistic.

The mean loss is by how many per cent they exceed `BEST`, the mean over the statistics.
"""

TABLE3: Printed = _keyed(
    {
        ("ML1M", "ibp-unif"): (87, 58, 47, 65),
        ("ML1M", "ibp-pop"): (0, 0, 0, 0),
        ("ML1M", "lda-unif"): (100, 100, 100, 100),
        ("ML1M", "lda-pop"): (100, 100, 89, 100),
        ("AZM5", "ibp-unif"): (100, 100, 100, 100),
        ("AZM5", "ibp-pop"): (100, 100, 99, 100),
        ("AZM5", "lda-unif"): (100, 100, 100, 100),
        ("AZM5", "lda-pop"): (100, 100, 100, 100),
        ("STMV1", "ibp-unif"): (100, 100, 86, 100),
        ("STMV1", "ibp-pop"): (100, 5, 0, 85),
        ("STMV1", "lda-unif"): (100, 100, 100, 100),
        ("STMV1", "lda-pop"): (100, 100, 100, 100),
    },
    METRICS,
)
"""In how many of 100 runs the oracle was observed to be at least as good as popular: by data set, world and metric."""

MEANS: Printed = _keyed(
    {
        ("ML1M", "ibp-unif", "oracle"): (0.0605, 1.0000, 0.0311, 0.0310, 0.1301, 1.0000, 0.0310, 0.0742),
        ("ML1M", "ibp-unif", "popular"): (0.0600, 0.9954, 0.0309, 0.0309, 0.1298, 0.9987, 0.0309, 0.0739),
        ("ML1M", "ibp-unif", "random"): (0.0103, 0.2442, 0.0071, 0.0071, 0.0369, 0.4527, 0.0064, 0.0173),
        ("ML1M", "ibp-pop", "oracle"): (0.1979, 1.0000, 0.0984, 0.0858, 0.2129, 1.0000, 0.1032, 0.1631),
        ("ML1M", "ibp-pop", "popular"): (0.2129, 0.9950, 0.1111, 0.0850, 0.2955, 0.9990, 0.1186, 0.1620),
        ("ML1M", "ibp-pop", "random"): (0.0117, 0.1403, 0.0094, 0.0093, 0.0425, 0.3143, 0.0083, 0.0191),
        ("ML1M", "lda-unif", "oracle"): (0.2851, 1.0000, 0.1267, 0.1268, 0.3605, 1.0000, 0.1507, 0.5618),
        ("ML1M", "lda-unif", "popular"): (0.1661, 0.7889, 0.0850, 0.0850, 0.3324, 0.9633, 0.1010, 0.2679),
        ("ML1M", "lda-unif", "random"): (0.0240, 0.1797, 0.0161, 0.0161, 0.0777, 0.3639, 0.0158, 0.0214),
        ("ML1M", "lda-pop", "oracle"): (0.0943, 1.0000, 0.3032, 0.2134, 0.2164, 1.0000, 0.1780, 0.7878),
        ("ML1M", "lda-pop", "popular"): (0.0758, 0.8780, 0.2776, 0.1776, 0.2112, 0.9841, 0.1596, 0.5110),
        ("ML1M", "lda-pop", "random"): (0.0124, 0.2537, 0.0498, 0.0495, 0.0462, 0.4625, 0.0263, 0.0474),
        ("AZM5", "ibp-unif", "oracle"): (0.0165, 1.0000, 0.3256, 0.3258, 0.0564, 1.0000, 0.0983, 0.4651),
        ("AZM5", "ibp-unif", "popular"): (0.0038, 0.2734, 0.0881, 0.0883, 0.0242, 0.7354, 0.0309, 0.1495),
        ("AZM5", "ibp-unif", "random"): (0.0001, 0.0049, 0.0016, 0.0016, 0.0003, 0.0211, 0.0005, 0.0023),
        ("AZM5", "ibp-pop", "oracle"): (0.0125, 1.0000, 0.2269, 0.1169, 0.0352, 1.0000, 0.0665, 0.2167),
        ("AZM5", "ibp-pop", "popular"): (0.0035, 0.0997, 0.0784, 0.0116, 0.0232, 0.3219, 0.0282, 0.0233),
        ("AZM5", "ibp-pop", "random"): (0.0001, 0.0159, 0.0031, 0.0019, 0.0007, 0.0617, 0.0009, 0.0034),
        ("AZM5", "lda-unif", "oracle"): (0.0755, 1.0000, 0.9660, 0.9659, 0.1779, 1.0000, 0.3210, 0.9895),
        ("AZM5", "lda-unif", "popular"): (0.0040, 0.0801, 0.0922, 0.0920, 0.0215, 0.2735, 0.0300, 0.0921),
        ("AZM5", "lda-unif", "random"): (0.0009, 0.0181, 0.0209, 0.0207, 0.0040, 0.0687, 0.0062, 0.0136),
        ("AZM5", "lda-pop", "oracle"): (0.0182, 1.0000, 0.3482, 0.3166, 0.0652, 1.0000, 0.1095, 0.8176),
        ("AZM5", "lda-pop", "popular"): (0.0031, 0.1188, 0.0750, 0.0354, 0.0171, 0.3263, 0.0245, 0.0461),
        ("AZM5", "lda-pop", "random"): (0.0007, 0.0494, 0.0150, 0.0149, 0.0030, 0.1544, 0.0045, 0.0136),
        ("STMV1", "ibp-unif", "oracle"): (0.2282, 1.0000, 0.2601, 0.2601, 0.2828, 1.0000, 0.2160, 0.3710),
        ("STMV1", "ibp-unif", "popular"): (0.1653, 0.9238, 0.2154, 0.2153, 0.2817, 0.9984, 0.1785, 0.3315),
        ("STMV1", "ibp-unif", "random"): (0.0113, 0.1253, 0.0231, 0.0231, 0.0405, 0.2889, 0.0142, 0.0371),
        ("STMV1", "ibp-pop", "oracle"): (0.2038, 1.0000, 0.2347, 0.2000, 0.2185, 1.0000, 0.1813, 0.3072),
        ("STMV1", "ibp-pop", "popular"): (0.1503, 0.8833, 0.2438, 0.1547, 0.2937, 0.9963, 0.1775, 0.2607),
        ("STMV1", "ibp-pop", "random"): (0.0074, 0.1020, 0.0150, 0.0150, 0.0279, 0.2528, 0.0090, 0.0256),
        ("STMV1", "lda-unif", "oracle"): (0.3624, 1.0000, 0.3519, 0.3519, 0.4112, 1.0000, 0.3256, 0.7335),
        ("STMV1", "lda-unif", "popular"): (0.1076, 0.5270, 0.1345, 0.1345, 0.2834, 0.8255, 0.1177, 0.3139),
        ("STMV1", "lda-unif", "random"): (0.0075, 0.0535, 0.0118, 0.0118, 0.0294, 0.1567, 0.0083, 0.0124),
        ("STMV1", "lda-pop", "oracle"): (0.2880, 1.0000, 0.3634, 0.3124, 0.3551, 1.0000, 0.2953, 0.8290),
        ("STMV1", "lda-pop", "popular"): (0.0454, 0.2861, 0.1158, 0.0620, 0.1697, 0.5821, 0.0734, 0.0892),
        ("STMV1", "lda-pop", "random"): (0.0056, 0.0546, 0.0114, 0.0114, 0.0224, 0.1608, 0.0071, 0.0102),
    },
    METRICS,
    SIDES,
)
"""Means over 100 runs in the authors' archive, by data set, world, recommender, metric and side, behind figure 2.

For LDA the archived NDCG on the truth weighs items by how often they were drawn, the observed one does not.
"""
