"""Numbers that Lim et al. (2015) print; models and metrics have the words of this program."""

METRICS = ("atop", "map", "ndcg", "recall@10", "adg")
MODELS = ("mf-auc", "mf-adg")

COUNTS: dict[str, tuple[int, int, int]] = {
    "ml-10m": (9_888, 5_000, 711_084),
    "amazon-games": (17_437, 17_915, 201_154),
    "msd-challenge": (10_000, 10_000, 97_727),
}
"""Users, items and relevant pairs after densification, by data set; msd-challenge is what the paper calls last.FM."""


def _row(*pairs: tuple[float, float]) -> dict[str, tuple[float, float]]:
    return dict(zip(METRICS, pairs, strict=True))


TABLE1 = {
    "ml-10m": {
        "mf-auc": _row((0.8855, 0.0018), (0.0775, 0.0007), (0.3718, 0.0010), (0.0945, 0.0011), (0.1714, 0.0004)),
        "mf-adg": _row((0.8821, 0.0042), (0.0858, 0.0003), (0.3820, 0.0002), (0.1025, 0.0013), (0.1768, 0.0001)),
    },
    "amazon-games": {
        "mf-auc": _row((0.7584, 0.0014), (0.0104, 0.0003), (0.1460, 0.0006), (0.0170, 0.0004), (0.1080, 0.0005)),
        "mf-adg": _row((0.7546, 0.0049), (0.0124, 0.0003), (0.1501, 0.0004), (0.0211, 0.0007), (0.1110, 0.0003)),
    },
    "msd-challenge": {
        "mf-auc": _row((0.7490, 0.0064), (0.0242, 0.0006), (0.1701, 0.0007), (0.0473, 0.0010), (0.1294, 0.0005)),
        "mf-adg": _row((0.7449, 0.0028), (0.0281, 0.0006), (0.1750, 0.0008), (0.0539, 0.0019), (0.1332, 0.0006)),
    },
}
"""Table 1: mean and standard error over four folds, by data set, model and metric."""

TABLE2: dict[str, dict[str, tuple[float, float, float | None]]] = {
    "mf-auc": {
        "atop": (0.8855, 0.8849, -0.06),
        "adg": (0.1714, 0.1709, -0.29),
        "recall@10": (0.0945, 0.0945, 0.0),
        "map": (0.0775, 0.0586, -24.38),
        "ndcg": (0.3718, 0.2957, -20.47),
    },
    "mf-adg": {
        "atop": (0.8821, 0.8817, None),
        "adg": (0.1768, 0.1768, None),
        "recall@10": (0.1025, 0.1030, 0.49),
        "map": (0.0858, 0.0657, -23.43),
        "ndcg": (0.3820, 0.3046, -20.42),
    },
}
"""Table 2, MovieLens: on test, on validation, and the difference in per cent of the first; None where none is printed.

The last of them does not follow from the two before it, which give -20.26.
"""
