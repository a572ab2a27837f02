"""The numbers that Wang et al. 2024 print, keyed by row and column as our cells are."""

from collections.abc import Iterator, Mapping

KUAIREC, YAHOO = "KuaiRec", "Yahoo! R3"
"""The paper's data sets."""
BACKBONES = ("MF", "LightGCN")
METHODS = ("Bias", "IPS", "DR", "AutoDebias", "NegS")
TRADITIONAL = "traditional@5"
"""Recall@5 inside the sample."""
ROWS = tuple(f"{backbone} {method}" for backbone in BACKBONES for method in METHODS)
"""The ten rows of table 4."""


def _columns(**columns: tuple[float, ...]) -> Iterator[tuple[tuple[str, str], float]]:
    """The numbers by row and column, row by row; a column such as ``URE@5`` is the keyword ``URE_5``."""
    for place, row in enumerate(ROWS):
        for name, values in columns.items():
            yield (row, name.replace("_", "@")), values[place]


TABLE4: Mapping[str, Mapping[tuple[str, str], float]] = {
    KUAIREC: dict(
        _columns(
            traditional_5=(0.3546, 0.3102, 0.5465, 0.5482, 0.5358, 0.4859, 0.4889, 0.4849, 0.5181, 0.5288),
            full_5=(0.0215, 0.0213, 0.0353, 0.0355, 0.0327, 0.0257, 0.0266, 0.0262, 0.0317, 0.0237),
            URE_5=(0.0213, 0.0230, 0.0362, 0.0352, 0.0326, 0.0267, 0.0273, 0.0267, 0.0323, 0.0245),
            URE_500=(0.3280, 0.2771, 0.5077, 0.5129, 0.5052, 0.4503, 0.4539, 0.4500, 0.4571, 0.4954),
            full_500=(0.3237, 0.2743, 0.5050, 0.5097, 0.5012, 0.4482, 0.4522, 0.4457, 0.4558, 0.4944),
        )
    ),
    YAHOO: dict(
        _columns(
            traditional_5=(0.7085, 0.6572, 0.7195, 0.8085, 0.8330, 0.7883, 0.7584, 0.7576, 0.8046, 0.8141),
            URE_5=(0.0131, 0.0095, 0.0075, 0.0550, 0.0490, 0.0491, 0.0457, 0.0455, 0.0592, 0.0616),
            URE_500=(0.6777, 0.6236, 0.6879, 0.7849, 0.8001, 0.7680, 0.7367, 0.7373, 0.7820, 0.7913),
        )
    ),
}
"""By the paper's data set. The header is broken in print; these columns are in the order in which estimates follow
full recall. Only the sample of Yahoo! R3 is labelled, so full recall is not known there."""
TABLE3: Mapping[str, Mapping[tuple[str, str], float]] = {
    data: {
        (method, backbone): numbers[f"{backbone} {method}", TRADITIONAL] for backbone in BACKBONES for method in METHODS
    }
    for data, numbers in TABLE4.items()
}
"""Recall@5 inside the sample, by method and backbone: the same numbers as the first column of each part of table 4."""


def furthest(k: int) -> float:
    """The largest relative distance of the printed URE@K from full recall@K on KuaiRec, with K of 5 or 500."""
    numbers = TABLE4[KUAIREC]
    return max(abs(numbers[row, f"URE@{k}"] / numbers[row, f"full@{k}"] - 1) for row in ROWS)


def largest_drop(k: int) -> float:
    """How far the worst method is below Bias on its backbone, as a share, by the printed URE@K of both data sets."""
    drops = [
        1 - numbers[f"{backbone} {method}", f"URE@{k}"] / numbers[f"{backbone} Bias", f"URE@{k}"]
        for numbers in TABLE4.values()
        for backbone in BACKBONES
        for method in METHODS
    ]
    return max(drops)
