"""What estimators of randomly exposed data cannot do, in words."""

from unskew.errors import Option
from unskew.estimators import Estimator, ExposedEstimator, Ure
from unskew.metrics import NDCG, AnyMetric, Recall

TIES_OF_REDUCTION = ("expected", "random", "ordinal")
"""Tie policies under which the gains of all places have a known sum."""


def exposed_mismatch(metric: AnyMetric, estimator: Estimator, ties: str, *, exposed: bool) -> str | None:
    """Why an estimator of exposed data cannot estimate a metric here; None where it can, or is of another kind.

    Parameters
    ----------
    metric : Metric or ListMetric
    estimator : Estimator
    ties : str
        The tie policy of the run.
    exposed : bool
        Whether the test is of items drawn at random.
    """
    if exposed and metric.kind in {"loss", "graded"}:
        return (
            f"{metric} is over ratings, and exposed rows have labels; use "
            f"{Option('test')} for it, or a metric such as recall@10"
        )
    if not isinstance(estimator, ExposedEstimator):
        return None
    if not exposed:
        return (
            f"{estimator} needs items that were drawn at random and labelled; give them with "
            f"{Option('exposed')} in the place of {Option('test')}, or use snips"
        )
    return _ure_mismatch(metric, estimator, ties) if isinstance(estimator, Ure) else None


def _ure_mismatch(metric: AnyMetric, estimator: Ure, ties: str) -> str | None:
    if metric.kind == "list" and not isinstance(metric, NDCG):
        return (
            f"{estimator} cannot estimate {metric}: it depends on positives that were not drawn; use recall, "
            "precision, dcg or ndcg, or traditional for it"
        )
    if estimator.literal and (ties != "expected" or not isinstance(getattr(metric, "metric", None), Recall)):
        return f"{estimator} is recall@K with a rule for ties of its own; leave out {Option('ties')}, and use recall@K"
    if estimator.reduce != "none" and ties not in TIES_OF_REDUCTION:
        return f"{estimator}: under ties={ties} the gains of all places have no known sum; use ties=expected"
    return None
