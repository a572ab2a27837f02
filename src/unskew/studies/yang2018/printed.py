"""Numbers that Yang et al. (2018) print, and those behind their Figure 4 from the program they published.

Data sets bear the names of the sources here, models and metrics the words of this program: ``cml`` is the paper's
U-CML, ``cml-rank`` its A-CML, and ``adg`` what it calls DCG.
"""

MODELS = ("bpr", "cml", "cml-rank", "pmf")
METRICS = ("auc", "recall@5", "adg", "adg@5")

COUNTS: dict[str, tuple[int, int, int]] = {
    "citeulike-a": (5_551, 16_980, 204_986),
    "tradesy": (19_243, 165_906, 394_421),
    "amazon-book": (99_473, 450_166, 996_938),
}
"""Users, items and interactions, by data set."""

TRAINED_ITEMS: dict[str, int] = {"citeulike-a": 16_874, "tradesy": 135_053, "amazon-book": 355_397}
"""Items that the training part has, as the published program counts them."""

GAMMAS: dict[str, dict[str, float]] = {
    "citeulike-a": {"bpr": 1.67, "cml": 1.64, "cml-rank": 1.55, "pmf": 1.89},
    "tradesy": {"bpr": 2.96, "cml": 2.40, "cml-rank": 2.25, "pmf": 3.07},
    "amazon-book": {"bpr": 1.85, "cml": 2.11, "cml-rank": 1.70, "pmf": 1.80},
}
"""Table 2: gamma by data set and model; the paper puts the error of the fits between 0.001 and 0.02."""

MEAN_GAMMAS: dict[str, float] = {"citeulike-a": 1.69, "tradesy": 2.67, "amazon-book": 1.87}
"""Table 2: the mean over models."""

FIG4_GAMMAS: dict[str, tuple[float, float, float]] = {
    "citeulike-a": (1.55, 1.69, 1.89),
    "tradesy": (2.25, 2.69, 3.07),
    "amazon-book": (1.70, 1.87, 2.11),
}
"""The gammas of Figure 4: least, mean, most. For Tradesy the program has 2.69 where Table 2 has 2.67."""

FIG4: dict[str, dict[str, dict[str, tuple[float, float, float, float]]]] = {
    "citeulike-a": {
        "auc": {
            "bpr": (0.9429, 0.9213, 0.9204, 0.9192),
            "pmf": (0.9351, 0.9109, 0.9100, 0.9087),
            "cml": (0.9366, 0.9108, 0.9098, 0.9084),
            "cml-rank": (0.9295, 0.8981, 0.8968, 0.8951),
        },
        "recall@5": {
            "bpr": (0.5494, 0.4461, 0.4425, 0.4376),
            "pmf": (0.5144, 0.4042, 0.4005, 0.3955),
            "cml": (0.5476, 0.4464, 0.4430, 0.4385),
            "cml-rank": (0.5593, 0.4599, 0.4565, 0.4521),
        },
        "adg": {
            "bpr": (0.4876, 0.4198, 0.4175, 0.4145),
            "pmf": (0.4693, 0.3988, 0.3965, 0.3936),
            "cml": (0.4866, 0.4199, 0.4178, 0.4150),
            "cml-rank": (0.4930, 0.4286, 0.4265, 0.4238),
        },
        "adg@5": {
            "bpr": (0.3716, 0.2817, 0.2787, 0.2747),
            "pmf": (0.3469, 0.2534, 0.2504, 0.2465),
            "cml": (0.3732, 0.2863, 0.2836, 0.2799),
            "cml-rank": (0.3822, 0.2995, 0.2969, 0.2934),
        },
    },
    "tradesy": {
        "auc": {
            "bpr": (0.8231, 0.7945, 0.7926, 0.7912),
            "pmf": (0.8315, 0.7975, 0.7952, 0.7935),
            "cml": (0.7749, 0.7393, 0.7370, 0.7354),
            "cml-rank": (0.7281, 0.6812, 0.6780, 0.6756),
        },
        "recall@5": {
            "bpr": (0.4169, 0.3347, 0.3297, 0.3261),
            "pmf": (0.3430, 0.2653, 0.2607, 0.2574),
            "cml": (0.3463, 0.2816, 0.2778, 0.2751),
            "cml-rank": (0.2785, 0.2207, 0.2173, 0.2148),
        },
        "adg": {
            "bpr": (0.4289, 0.3754, 0.3722, 0.3699),
            "pmf": (0.3858, 0.3349, 0.3319, 0.3298),
            "cml": (0.3821, 0.3391, 0.3367, 0.3349),
            "cml-rank": (0.3402, 0.3008, 0.2985, 0.2968),
        },
        "adg@5": {
            "bpr": (0.3001, 0.2332, 0.2293, 0.2264),
            "pmf": (0.2480, 0.1854, 0.1818, 0.1793),
            "cml": (0.2510, 0.1985, 0.1956, 0.1934),
            "cml-rank": (0.2022, 0.1565, 0.1539, 0.1520),
        },
    },
    "amazon-book": {
        "auc": {
            "bpr": (0.7910, 0.7643, 0.7636, 0.7627),
            "pmf": (0.7938, 0.7698, 0.7692, 0.7684),
            "cml": (0.7784, 0.7470, 0.7462, 0.7452),
            "cml-rank": (0.7551, 0.7168, 0.7157, 0.7144),
        },
        "recall@5": {
            "bpr": (0.4488, 0.3791, 0.3775, 0.3753),
            "pmf": (0.3703, 0.3116, 0.3102, 0.3085),
            "cml": (0.4153, 0.3475, 0.3460, 0.3441),
            "cml-rank": (0.3639, 0.3003, 0.2988, 0.2970),
        },
        "adg": {
            "bpr": (0.4581, 0.4113, 0.4102, 0.4089),
            "pmf": (0.4129, 0.3721, 0.3712, 0.3701),
            "cml": (0.4272, 0.3793, 0.3783, 0.3771),
            "cml-rank": (0.4042, 0.3602, 0.3592, 0.3580),
        },
        "adg@5": {
            "bpr": (0.3408, 0.2813, 0.2800, 0.2783),
            "pmf": (0.2864, 0.2356, 0.2345, 0.2331),
            "cml": (0.3126, 0.2531, 0.2519, 0.2504),
            "cml-rank": (0.2786, 0.2252, 0.2240, 0.2226),
        },
    },
}
"""Figure 4, by data set, metric and model: AOA, then SNIPS a user at the three gammas of `FIG4_GAMMAS`."""

TABLE3_GAMMAS: tuple[float, ...] = (1.5, 2.0, 2.5, 3.0)

TABLE3: dict[str, dict[str, tuple[float, float, float, float, float]]] = {
    "cml": {"auc": (0.151, 0.102, 0.099, 0.096, 0.094), "recall": (0.401, 0.270, 0.260, 0.253, 0.248)},
    "cml-rank": {"auc": (0.152, 0.103, 0.099, 0.097, 0.094), "recall": (0.399, 0.274, 0.264, 0.258, 0.253)},
    "bpr": {"auc": (0.147, 0.109, 0.106, 0.104, 0.103), "recall": (0.380, 0.275, 0.268, 0.262, 0.258)},
    "pmf": {"auc": (0.148, 0.103, 0.100, 0.097, 0.095), "recall": (0.386, 0.267, 0.259, 0.252, 0.248)},
}
"""Table 3, Yahoo! R3: distance to the random test of AOA and of SNIPS a user at `TABLE3_GAMMAS`, by model and metric.

AUC is that of lists of 300 against lists of 10, recall that of recall@30 on 300 against recall@1 on 10.
"""

YAHOO_USERS = 2_296
"""Test users of Table 3."""
