"""The order of models by a metric: larger values first, or smaller ones if the metric is an error."""

from collections.abc import Iterable, Sequence

from unskew.estimators import Comparison, Estimate
from unskew.evaluation.settings.settings import Settings


def lower_is_better(settings: Settings, metric: str) -> bool:
    """Whether the smaller value of a metric is the better one."""
    return any(str(m) == metric and m.lower_is_better for m in settings.metrics)


def is_content(settings: Settings, metric: str) -> bool:
    """Whether a metric describes the lists, so that no value is the better one."""
    return any(str(m) == metric and m.kind == "content" for m in settings.metrics)


def ranked(rows: Iterable[Estimate], metric: str, estimator: str, *, lower: bool = False) -> list[Estimate]:
    """A metric's defined estimates from best to worst; equal ones by name. `lower`: the smaller value is better."""
    defined = [row for row in rows if (row.metric, row.estimator) == (metric, estimator) and row.value is not None]
    sign = 1.0 if lower else -1.0
    return sorted(defined, key=lambda row: (sign * (row.value or 0.0), row.model))


def first_of(order: Sequence[Estimate]) -> tuple[str, ...]:
    """The models at the top; more than one when they are level."""
    return tuple(row.model for row in order if row.value == order[0].value)


def oriented(row: Comparison, *, lower: bool = False) -> Comparison:
    """The same comparison with the better model first; its difference is negative where `lower` is better."""
    if row.difference is None or row.difference == 0 or (row.difference < 0) == lower:
        return row
    return row.reversed()
