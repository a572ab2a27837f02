"""Numbers that Wang et al. (2024) print in tables 3 and 4."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

KUAIREC, YAHOO = "KuaiRec", "Yahoo! R3"
BACKBONES = ("MF", "LightGCN")
METHODS = ("Bias", "IPS", "DR", "AutoDebias", "NegS")


class Full(NamedTuple):
    """A row of KuaiRec, where all labels are known: recall in the sample, over all candidates, and estimated."""

    traditional: float
    full_5: float
    ure_5: float
    ure_500: float
    full_500: float


class Sampled(NamedTuple):
    """A row of Yahoo! R3, where only the sample is labelled."""

    traditional: float
    ure_5: float
    ure_500: float


TABLE4_KUAIREC: Mapping[tuple[str, str], Full] = MappingProxyType(
    {
        ("MF", "Bias"): Full(0.3546, 0.0215, 0.0213, 0.3280, 0.3237),
        ("MF", "IPS"): Full(0.3102, 0.0213, 0.0230, 0.2771, 0.2743),
        ("MF", "DR"): Full(0.5465, 0.0353, 0.0362, 0.5077, 0.5050),
        ("MF", "AutoDebias"): Full(0.5482, 0.0355, 0.0352, 0.5129, 0.5097),
        ("MF", "NegS"): Full(0.5358, 0.0327, 0.0326, 0.5052, 0.5012),
        ("LightGCN", "Bias"): Full(0.4859, 0.0257, 0.0267, 0.4503, 0.4482),
        ("LightGCN", "IPS"): Full(0.4889, 0.0266, 0.0273, 0.4539, 0.4522),
        ("LightGCN", "DR"): Full(0.4849, 0.0262, 0.0267, 0.4500, 0.4457),
        ("LightGCN", "AutoDebias"): Full(0.5181, 0.0317, 0.0323, 0.4571, 0.4558),
        ("LightGCN", "NegS"): Full(0.5288, 0.0237, 0.0245, 0.4954, 0.4944),
    }
)
"""By backbone and method. The header is broken in print; these columns are the order in which estimates follow full."""
TABLE4_YAHOO: Mapping[tuple[str, str], Sampled] = MappingProxyType(
    {
        ("MF", "Bias"): Sampled(0.7085, 0.0131, 0.6777),
        ("MF", "IPS"): Sampled(0.6572, 0.0095, 0.6236),
        ("MF", "DR"): Sampled(0.7195, 0.0075, 0.6879),
        ("MF", "AutoDebias"): Sampled(0.8085, 0.0550, 0.7849),
        ("MF", "NegS"): Sampled(0.8330, 0.0490, 0.8001),
        ("LightGCN", "Bias"): Sampled(0.7883, 0.0491, 0.7680),
        ("LightGCN", "IPS"): Sampled(0.7584, 0.0457, 0.7367),
        ("LightGCN", "DR"): Sampled(0.7576, 0.0455, 0.7373),
        ("LightGCN", "AutoDebias"): Sampled(0.8046, 0.0592, 0.7820),
        ("LightGCN", "NegS"): Sampled(0.8141, 0.0616, 0.7913),
    }
)
TABLE3: Mapping[str, Mapping[tuple[str, str], float]] = MappingProxyType(
    {
        KUAIREC: MappingProxyType({row: numbers.traditional for row, numbers in TABLE4_KUAIREC.items()}),
        YAHOO: MappingProxyType({row: numbers.traditional for row, numbers in TABLE4_YAHOO.items()}),
    }
)
"""Recall@5 in the sample: the same numbers as the first column of each part of table 4."""


def furthest(k: int) -> float:
    """The largest relative distance of the printed URE@K from full recall@K, K being 5 or 500.

    Examples
    --------
    >>> from unskew.studies.wang2024.printed import furthest
    >>> round(furthest(5), 3), round(furthest(500), 3)
    (0.08, 0.013)
    """
    pairs = {
        5: [(row.ure_5, row.full_5) for row in TABLE4_KUAIREC.values()],
        500: [(row.ure_500, row.full_500) for row in TABLE4_KUAIREC.values()],
    }[k]
    return max(abs(ure / full - 1) for ure, full in pairs)
