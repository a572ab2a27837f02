"""Numbers that Yang et al. (2018) print; and what ours should be where they print none.

Printed are `TABLE1`, `FIG2`, `TABLE2` and `TABLE3`. The others are references: from the program that the authors
published, or computed from the lists of Table 1. All are keyed by row and column as our cells are. Data sets bear the
names of the sources here. U-CML is ``cml`` here, A-CML ``cml-rank``, and what the paper calls DCG is ``adg``.
"""

from collections.abc import Mapping, Sequence

from unskew.studies.framework.cells import Printed

MODELS: Mapping[str, str] = {"bpr": "BPR", "cml": "U-CML", "cml-rank": "A-CML", "pmf": "PMF"}
"""The paper's name of each model."""
METRICS: Mapping[str, str] = {"auc": "AUC", "recall@5": "Recall@5", "adg": "DCG", "adg@5": "DCG@5"}
"""The paper's name of each metric of Figure 4."""


def _block(columns: Sequence[str], rows: Mapping[str, Sequence[float]]) -> Printed:
    return {(row, column): value for row, values in rows.items() for column, value in zip(columns, values, strict=True)}


def _lists(column: str, *values: float) -> Printed:
    return {(name, column): value for name, value in zip(("Z1", "Z2", "Z3"), values, strict=True)}


TABLE1: Printed = {
    **_lists("DCG true", 0.463, 0.463, 0.494),
    **_lists("DCG AOA", 0.585, 0.340, 0.390),
}
"""Table 1, to three digits: the true reward of the lists, and what AOA says of them."""

TABLE1_REFERENCES: Printed = {
    **_lists("DCG IPS", 0.483073, 0.393389, 0.426421),
    **_lists("DCG SNIPS", 0.483073, 0.393389, 0.426421),
    **_lists("DCG default snips", 0.483073, 0.393389, 0.426421),
    **_lists("E[DCG AOA]", 0.559878, 0.365342, 0.414188),
    **_lists("E[DCG IPS]", 0.462610, 0.462610, 0.494183),
    **_lists("E[DCG SNIPS]", 0.499204, 0.426017, 0.464088),
    **_lists("E[DCG default snips]", 0.499204, 0.426017, 0.464088),
    **_lists("AUC true", 0.458333, 0.458333, 0.625),
    **_lists("AUC AOA", 0.625, 0.291667, 0.541667),
    **_lists("Recall@5 true", 0.5, 0.5, 0.625),
    **_lists("Recall@5 AOA", 0.75, 0.25, 0.5),
    **_lists("DCG@5 true", 0.320201, 0.320201, 0.368557),
    **_lists("DCG@5 AOA", 0.515402, 0.125, 0.221713),
    ("all lists", "P(something is observed)"): 0.998764,
}
"""Other numbers of the same lists, computed independently of this program, to six digits. The paper prints none."""

FIG2: Mapping[str, Printed] = {
    data: _block(["count"], {"users": [users], "items": [items], "interactions": [rows]})
    for data, users, items, rows in (
        ("citeulike-a", 5_551, 16_980, 204_986),
        ("tradesy", 19_243, 165_906, 394_421),
        ("amazon-book", 99_473, 450_166, 996_938),
    )
}
"""Counts of each data set."""

TRAINED: Mapping[str, Printed] = {
    data: {("items in training", "count"): count}
    for data, count in {"citeulike-a": 16_874, "tradesy": 135_053, "amazon-book": 355_397}.items()
}
"""Items in the training part, as the published program counts them; the paper does not print it."""

TABLE2: Mapping[str, Printed] = {
    data: _block(["gamma"], {row: [gamma] for row, gamma in zip((*MODELS.values(), "mean"), gammas, strict=True)})
    for data, gammas in {
        "citeulike-a": (1.67, 1.64, 1.55, 1.89, 1.69),
        "tradesy": (2.96, 2.40, 2.25, 3.07, 2.67),
        "amazon-book": (1.85, 2.11, 1.70, 1.80, 1.87),
    }.items()
}
"""Gamma by model, and the mean over models."""

FIT_ERRORS = (0.001, 0.02)
"""Between these are the average squared errors of the fits of gamma."""

FIG4_GAMMAS: Mapping[str, tuple[float, float, float]] = {
    "citeulike-a": (1.55, 1.69, 1.89),
    "tradesy": (2.25, 2.69, 3.07),
    "amazon-book": (1.70, 1.87, 2.11),
}
"""The gammas of Figure 4: least, mean, most. For Tradesy the program has 2.69 where Table 2 has 2.67."""

FIG4: Mapping[str, Printed] = {
    data: _block(("AOA", *map("UB {:g}".format, FIG4_GAMMAS[data])), rows)
    for data, rows in {
        "citeulike-a": {
            "AUC BPR": (0.9429, 0.9213, 0.9204, 0.9192),
            "AUC U-CML": (0.9366, 0.9108, 0.9098, 0.9084),
            "AUC A-CML": (0.9295, 0.8981, 0.8968, 0.8951),
            "AUC PMF": (0.9351, 0.9109, 0.9100, 0.9087),
            "Recall@5 BPR": (0.5494, 0.4461, 0.4425, 0.4376),
            "Recall@5 U-CML": (0.5476, 0.4464, 0.4430, 0.4385),
            "Recall@5 A-CML": (0.5593, 0.4599, 0.4565, 0.4521),
            "Recall@5 PMF": (0.5144, 0.4042, 0.4005, 0.3955),
            "DCG BPR": (0.4876, 0.4198, 0.4175, 0.4145),
            "DCG U-CML": (0.4866, 0.4199, 0.4178, 0.4150),
            "DCG A-CML": (0.4930, 0.4286, 0.4265, 0.4238),
            "DCG PMF": (0.4693, 0.3988, 0.3965, 0.3936),
            "DCG@5 BPR": (0.3716, 0.2817, 0.2787, 0.2747),
            "DCG@5 U-CML": (0.3732, 0.2863, 0.2836, 0.2799),
            "DCG@5 A-CML": (0.3822, 0.2995, 0.2969, 0.2934),
            "DCG@5 PMF": (0.3469, 0.2534, 0.2504, 0.2465),
        },
        "tradesy": {
            "AUC BPR": (0.8231, 0.7945, 0.7926, 0.7912),
            "AUC U-CML": (0.7749, 0.7393, 0.7370, 0.7354),
            "AUC A-CML": (0.7281, 0.6812, 0.6780, 0.6756),
            "AUC PMF": (0.8315, 0.7975, 0.7952, 0.7935),
            "Recall@5 BPR": (0.4169, 0.3347, 0.3297, 0.3261),
            "Recall@5 U-CML": (0.3463, 0.2816, 0.2778, 0.2751),
            "Recall@5 A-CML": (0.2785, 0.2207, 0.2173, 0.2148),
            "Recall@5 PMF": (0.3430, 0.2653, 0.2607, 0.2574),
            "DCG BPR": (0.4289, 0.3754, 0.3722, 0.3699),
            "DCG U-CML": (0.3821, 0.3391, 0.3367, 0.3349),
            "DCG A-CML": (0.3402, 0.3008, 0.2985, 0.2968),
            "DCG PMF": (0.3858, 0.3349, 0.3319, 0.3298),
            "DCG@5 BPR": (0.3001, 0.2332, 0.2293, 0.2264),
            "DCG@5 U-CML": (0.2510, 0.1985, 0.1956, 0.1934),
            "DCG@5 A-CML": (0.2022, 0.1565, 0.1539, 0.1520),
            "DCG@5 PMF": (0.2480, 0.1854, 0.1818, 0.1793),
        },
        "amazon-book": {
            "AUC BPR": (0.7910, 0.7643, 0.7636, 0.7627),
            "AUC U-CML": (0.7784, 0.7470, 0.7462, 0.7452),
            "AUC A-CML": (0.7551, 0.7168, 0.7157, 0.7144),
            "AUC PMF": (0.7938, 0.7698, 0.7692, 0.7684),
            "Recall@5 BPR": (0.4488, 0.3791, 0.3775, 0.3753),
            "Recall@5 U-CML": (0.4153, 0.3475, 0.3460, 0.3441),
            "Recall@5 A-CML": (0.3639, 0.3003, 0.2988, 0.2970),
            "Recall@5 PMF": (0.3703, 0.3116, 0.3102, 0.3085),
            "DCG BPR": (0.4581, 0.4113, 0.4102, 0.4089),
            "DCG U-CML": (0.4272, 0.3793, 0.3783, 0.3771),
            "DCG A-CML": (0.4042, 0.3602, 0.3592, 0.3580),
            "DCG PMF": (0.4129, 0.3721, 0.3712, 0.3701),
            "DCG@5 BPR": (0.3408, 0.2813, 0.2800, 0.2783),
            "DCG@5 U-CML": (0.3126, 0.2531, 0.2519, 0.2504),
            "DCG@5 A-CML": (0.2786, 0.2252, 0.2240, 0.2226),
            "DCG@5 PMF": (0.2864, 0.2356, 0.2345, 0.2331),
        },
    }.items()
}
"""Behind Figure 4, from the published program: AOA, then SNIPS per user at the three gammas of `FIG4_GAMMAS`.

The figure itself has bars and no number.
"""

TABLE3_GAMMAS: tuple[float, ...] = (1.5, 2.0, 2.5, 3.0)

_TABLE3_COLUMNS = ("AOA", *map("UB({:g})".format, TABLE3_GAMMAS))
TABLE3: Printed = {
    **_block(
        [f"AUC, lists: {name}" for name in _TABLE3_COLUMNS],
        {
            "cml": (0.151, 0.102, 0.099, 0.096, 0.094),
            "cml-rank": (0.152, 0.103, 0.099, 0.097, 0.094),
            "bpr": (0.147, 0.109, 0.106, 0.104, 0.103),
            "pmf": (0.148, 0.103, 0.100, 0.097, 0.095),
        },
    ),
    **_block(
        [f"Recall, lists: {name}" for name in _TABLE3_COLUMNS],
        {
            "cml": (0.401, 0.270, 0.260, 0.253, 0.248),
            "cml-rank": (0.399, 0.274, 0.264, 0.258, 0.253),
            "bpr": (0.380, 0.275, 0.268, 0.262, 0.258),
            "pmf": (0.386, 0.267, 0.259, 0.252, 0.248),
        },
    ),
}
"""Table 3, Yahoo! R3: distance to the random test of AOA and of SNIPS per user at `TABLE3_GAMMAS`.

AUC is that of lists of 300 against lists of 10, recall that of recall@30 on 300 against recall@1 on 10.
"""

YAHOO_USERS = 2_296
"""Test users of Table 3."""
