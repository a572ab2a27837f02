"""Which metrics move with the size of a test set, and which can be compared instead."""

import re
from collections.abc import Iterable

from unskew.data.candidates import Candidates, Listed, Sampled
from unskew.estimators import OVER_ALL_PAIRS, Estimator, Ure
from unskew.metrics import AnyMetric

ROUNDING = 0.01  # relative difference below which numbers of positives per user count as the same
_INSTEAD = {
    "ndcg": "adg",
    "map": "adg",
    "mrr": "adg",
    "dcg": "adg",
    "precision": "recall",
    "hit": "recall",
    "recall": "recall",
    "auc": "auc",
    "rmse": "mse",
}


def sizes_differ(a: float, b: float) -> bool:
    """Whether two numbers of positives per user differ by more than rounding."""
    return abs(a - b) > ROUNDING * max(a, b)


def moving(metrics: Iterable[AnyMetric], *, over_all_pairs: bool = False) -> list[AnyMetric]:
    """The metrics, over positives or over all pairs, that move when fewer of a user's rows are observed."""
    return [m for m in metrics if not m.unbiased_to_missing and (m.kind in OVER_ALL_PAIRS) == over_all_pairs]


def ranks_move(rule: Candidates, metric: AnyMetric) -> bool:
    """Whether an item's rank depends on which others are held out, as positives are candidates only if observed."""
    return isinstance(rule, Sampled | Listed) and metric.kind != "loss"


def moves_with_sample(metric: AnyMetric, estimator: Estimator) -> bool:
    """Whether an estimate has another expectation when more or fewer items are exposed.

    The depth of ``traditional`` depends on the size of the sample. A mean over users with a positive is less biased
    when more items are exposed. The expectation of a pooled mean or a sum does not change.
    """
    if not isinstance(estimator, Ure):
        return True
    return not (metric.kind == "sum" or (metric.kind == "mean" and estimator.aggregate == "pooled"))


def instead_of(metric: AnyMetric) -> str | None:
    """The nearest metric that does not move with the number of observed positives; None if there is none."""
    match = re.match(r"[a-z]+", str(metric))
    word = None if match is None or metric.kind == "graded" else _INSTEAD.get(match[0])
    return word if word is None or metric.cutoff is None else f"{word}@{metric.cutoff}"


def all_instead(metrics: Iterable[AnyMetric]) -> list[str]:
    """The metrics to use instead of these, each once; ``adg`` if none is near."""
    words = [instead_of(metric) for metric in metrics]
    return list(dict.fromkeys(word for word in words if word is not None)) or ["adg"]
