"""The page's sections on methods without random rows, and on the slice of random rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unskew.display.numbers import p, percent
from unskew.evaluation.estimating.slice_report import SliceReport

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


@dataclass(frozen=True)
class MethodsPanel:
    """A table of the mean metrics by method."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[float | None, ...]], ...]  # metric, model, values by method


@dataclass(frozen=True)
class SlicePanel:
    """What the slice is, what it says alone, and which methods it refutes."""

    facts: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, str, float, float, float | None], ...]  # metric, model, log alone, slice alone, with
    refutations: tuple[tuple[str, str, float], ...]  # metric, method, p


def describe_methods(report: "Report") -> MethodsPanel | None:
    """Return the table of methods; None if no estimate rests on exposure or imputation."""
    band = report.estimated.methods
    if band is None:
        return None
    rows = []
    for metric, by_method in band.by_metric.items():
        for k, point in enumerate(next(iter(by_method.values()))):
            rows.append((metric, point.model, tuple(by_method[method][k].value for method in band.methods)))
    return MethodsPanel(("metric", "model", *band.methods), tuple(rows))


def describe_slice(report: "Report") -> SlicePanel | None:
    """Return the section on the slice; None without one."""
    sliced = report.estimated.slice_report
    if sliced is None:
        return None
    values = {(row.metric, row.estimator, row.model): row.value for row in report.estimates}
    rows = tuple(
        (each.metric, model, each.without[k], each.slice_alone[k], values.get((each.metric, each.estimator, model)))
        for each in sliced.estimates
        for k, model in enumerate(sliced.models)
    )
    refuted = tuple((row.metric, row.method, row.p_value) for row in sliced.refutations)
    return SlicePanel(tuple(_facts(sliced)), rows, refuted)


def _facts(sliced: SliceReport) -> list[tuple[str, str]]:
    weights = list(zip(*(each.weights for each in sliced.estimates), strict=True))
    effects = [each.design_effect for each in sliced.estimates]
    return [
        ("Random rows", f"{sliced.rows:,}"),
        ("Positives", f"{sliced.positives:,}"),
        ("Weight of the slice", _range(weights[-1])),
        ("Weight of imputation", _range(weights[0])),
        *(("Weight of the log's rows", _range(each)) for each in weights[1:-1]),
        ("Design effect", f"{max(effects):.2f}"),
        ("p, all items equally likely", p(sliced.draw.p_items)),
        ("p, popularity as drawn at random", p(sliced.draw.p_popularity)),
    ]


def _range(weights: Sequence[float]) -> str:
    """The smallest and the largest over metrics; one number if they are the same."""
    return " to ".join(dict.fromkeys((percent(min(weights)), percent(max(weights)))))
