"""Forms of estimates that are compared: the words that `evaluate` is given, and what the rows are called."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

METRICS = ("recall@5", "recall@10", "recall@20", "recall@50", "adg", "auc")
MODELS: Mapping[str, str] = MappingProxyType(
    {
        "popular": "popular",
        "random": "random",
        "ease 30": "ease(regularisation=30)",
        "ease 100": "ease(regularisation=100)",
        "ease 500": "ease(regularisation=500)",
        "knn 20": "item-knn(neighbours=20)",
        "knn 100": "item-knn(neighbours=100)",
        "svd 2": "svd(rank=2)",
        "svd 8": "svd(rank=8)",
        "svd 32": "svd(rank=32)",
        "als 8": "als(factors=8, regularisation=5, alpha=10)",
        "als 32": "als(factors=32, regularisation=5, alpha=10)",
    }
)
"""Models of different quality, trained on the positives of train."""
NAIVE = "aoa(per=pair)"
LABELLED, POSITIVE = "labelled", "positives"
"""What is given of a log: rows with labels, or the positive rows alone."""
EXPOSURE = "exposure(power=0.75)"
POSITIVE_EXPOSURE = "exposure(power=0.5)"


@dataclass(frozen=True, order=True)
class Form:
    """One way to estimate.

    Parameters
    ----------
    given : str
        ``labelled`` or ``positives``.
    share : float
        Share of all pairs that the random slice has; 0 without one.
    name : str
        The estimator, and its propensity where that is not clear.
    draw : int
        Which of several slices of that share.
    """

    given: str
    share: float
    name: str
    draw: int = 0

    @property
    def any_draw(self) -> "Form":
        """The same way to estimate, whichever slice was drawn."""
        return replace(self, draw=0)

    def __str__(self) -> str:
        """The row of a table."""
        shown = self.name if self.given == LABELLED else f"positives: {self.name}"
        return f"{shown}, {100 * self.share:g} % slice" if self.share else shown


@dataclass(frozen=True)
class Run:
    """One evaluation: its propensity, None for that of the estimator, and its estimators by the names of their rows."""

    propensity: str | None
    names: Mapping[str, str]


TRAINED = Run("popularity(gamma=auto)", {"snips": "snips, gamma=auto"})
"""Fits gamma by models that it trains, which takes half of the time on small logs."""
PLAIN: Mapping[str, tuple[Run, ...]] = MappingProxyType(
    {
        LABELLED: (
            Run(
                EXPOSURE,
                {
                    NAIVE: "naive",
                    "snips": "snips, exposure",
                    "dm": "dm",
                    "dr": "dr",
                    "blend(rows=0)": "blend, plain mean",
                    "blend": "blend",
                },
            ),
            Run("popularity", {"snips": "snips, popularity"}),
            TRAINED,
        ),
        POSITIVE: (
            Run(POSITIVE_EXPOSURE, {NAIVE: "naive", "snips": "snips, exposure"}),
            Run("popularity", {"snips": "snips, popularity"}),
        ),
    }
)
"""Evaluations without a slice."""
AUTO = Run(None, {"auto": "auto"})
"""The default of `evaluate`, which checks itself and may be the naive average; with a slice it is in `SLICED`."""
SLICED: Mapping[str, Run] = MappingProxyType(
    {
        LABELLED: Run(EXPOSURE, {"dm": "dm", "blend": "blend"}),
        POSITIVE: Run(POSITIVE_EXPOSURE, {"dm(q=slice)": "dm(q=slice)", "blend(q=slice)": "blend(q=slice)"}),
    }
)
"""Evaluations with a slice next to the log."""
ALONE = Run("popularity", {"ure(aggregate=pooled)": "ure", "ure(aggregate=pooled, reduce=control)": "ure, control"})
"""The evaluation of the slice without the log."""
CHANCE = Run("column", {"snips": "snips, true chance"})
"""Weights by the true chance of observation, where that is known."""
WITH_FEATURES: Mapping[bool, Run] = MappingProxyType(
    {
        False: Run("features", {"snips": "snips, exposure by features", "blend": "blend by features"}),
        True: Run("features", {"blend": "blend by features"}),
    }
)
"""Evaluations whose exposure model has features of users and items too, without and with a slice."""
