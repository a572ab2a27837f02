"""The page's sections on methods without random rows, and on the slice of random rows."""

from collections.abc import Iterator, Sequence
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
    rows: tuple[tuple[str, str, float | None, float | None, float, float | None], ...]
    """Metric, model, imputation, rows of the log, the slice alone, and all of them."""
    refutations: tuple[tuple[str, str, float], ...]  # metric, method, p


def describe_methods(report: "Report") -> MethodsPanel | None:
    """Return the table of methods; None if no estimate rests on exposure or imputation."""
    band = report.judged.methods
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
        (
            each.metric,
            model,
            each.log_alone[0][k],
            each.log_alone[1][k] if len(each.log_alone) > 1 else None,
            each.slice_alone[k],
            values.get((each.metric, each.estimator, model)),
        )
        for each in sliced.estimates
        for k, model in enumerate(sliced.models)
    )
    refuted = tuple((row.metric, row.method, row.p_value) for row in sliced.refutations)
    return SlicePanel(tuple(_facts(sliced)), rows, refuted)


def _facts(sliced: SliceReport) -> list[tuple[str, str]]:
    effects = [each.design_effect for each in sliced.estimates]
    return [
        ("Random rows", f"{sliced.rows:,}"),
        ("Positives", f"{sliced.positives:,}"),
        *_weights("level", [each.level_weights for each in sliced.estimates]),
        *_weights("differences", [each.difference_weights for each in sliced.estimates]),
        ("Design effect", f"{max(effects):.2f}"),
        ("p, all items equally likely", p(sliced.draw.p_items)),
        ("p, popularity as drawn at random", p(sliced.draw.p_popularity)),
    ]


def _weights(part: str, weights: Sequence[tuple[float, ...]]) -> Iterator[tuple[str, str]]:
    """The weights of slice, imputation and rows of the log; the smallest and the largest over metrics."""
    columns = list(zip(*weights, strict=True))
    names = {"slice": columns[-1], "imputation": columns[0], "the log's rows": columns[1] if columns[2:] else ()}
    for name, column in names.items():
        if column:
            span = " to ".join(dict.fromkeys((percent(min(column)), percent(max(column)))))
            yield f"Weight in the {part}, {name}", span
