"""The numbers that Schnabel et al. 2016 print, keyed by row and column as our cells are."""

from collections.abc import Mapping

CELLS = 943 * 1682
"""Users times items of the world of the simulations."""
MATRICES = ("REC_ONES", "REC_FOURS", "ROTATE", "SKEWED", "COARSENED")
TRIALS = 50
"""Draws of what is observed behind each mean and standard deviation of Table 1."""


def _rows(column: str, *values: float) -> dict[tuple[str, str], float]:
    return {(matrix, column): value for matrix, value in zip(MATRICES, values, strict=True)}


TABLE1: Mapping[tuple[str, str], float] = {
    **_rows("MAE true", 0.102, 0.026, 2.579, 1.306, 1.320),
    **_rows("MAE IPS", 0.102, 0.026, 2.581, 1.304, 1.314),
    **_rows("MAE IPS, sd", 0.007, 0.000, 0.031, 0.012, 0.015),
    **_rows("MAE SNIPS", 0.102, 0.026, 2.579, 1.304, 1.318),
    **_rows("MAE SNIPS, sd", 0.007, 0.000, 0.012, 0.009, 0.005),
    **_rows("MAE Naive", 0.011, 0.173, 1.168, 0.912, 0.387),
    **_rows("MAE Naive, sd", 0.001, 0.001, 0.003, 0.002, 0.002),
    **_rows("DCG@50 true", 30.76, 52.00, 12.90, 24.59, 46.45),
    **_rows("DCG@50 IPS", 30.64, 51.98, 13.00, 24.55, 46.45),
    **_rows("DCG@50 IPS, sd", 0.75, 0.41, 0.85, 0.92, 0.53),
    **_rows("DCG@50 SNIPS", 30.66, 52.08, 12.99, 24.58, 46.44),
    **_rows("DCG@50 SNIPS, sd", 0.74, 0.58, 0.83, 0.93, 0.70),
    **_rows("DCG@50 Naive", 153.07, 313.48, 1.38, 54.87, 293.27),
    **_rows("DCG@50 Naive, sd", 2.13, 2.36, 0.09, 1.03, 1.99),
}
"""MAE and DCG@50 at alpha = .25."""

TABLE2: Mapping[tuple[str, str, str], float] = {
    (data, row, metric): value
    for data, rows in {
        "coat": {
            "MF-IPS": (0.860, 1.093),
            "MF-Naive": (0.920, 1.202),
            "HL-MNAR": (0.884, 1.214),
            "HL-MAR": (0.892, 1.220),
        },
        "yahoo-r3": {
            "MF-IPS": (0.810, 0.989),
            "MF-Naive": (1.154, 1.891),
            "HL-MNAR": (1.177, 2.175),
            "HL-MAR": (1.179, 2.166),
            "CPT-v": (0.770, 1.115),
        },
    }.items()
    for row, values in rows.items()
    for metric, value in zip(("MAE", "MSE"), values, strict=True)
}
"""MAE and MSE on ratings of random items, by data set."""
