"""A report as an experiment tracker keeps it: numbers, settings, the verdict, the JSON and the page."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from unskew.integrations.tracker_names import check_prefix, flat, tracker_name
from unskew.integrations.trackers import Tracked

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

NUMBERS = ("value", "low", "high", "std_error")
_LONG = ("judged", "ranks", "predictions", "propensity_diagnostics")  # in the JSON; too long for a list of settings


def track(report: "Report", prefix: str = "") -> Callable[[], Tracked]:
    """A function that returns what a tracker gets; a wrong prefix is refused at once."""
    check_prefix(prefix)
    return partial(_tracked, report, prefix)


def _tracked(report: "Report", prefix: str) -> Tracked:
    """Numbers that are defined, all settings, and files `report.json` and `report.html`."""
    metrics = {
        f"{prefix}{tracker_name(row.model, row.metric, row.estimator, number)}": float(getattr(row, number))
        for row in (*report.estimates, *report.judged.of_seeds)
        for number in NUMBERS
        if getattr(row, number) is not None
    }
    run: dict[str, Any] = {key: value for key, value in report.run.items() if key not in _LONG}
    verdict = report.verdict
    return Tracked(
        metrics=metrics,
        parameters={f"{prefix}{name}": text for name, text in flat({"unskew": run}).items()},
        notes={
            f"{prefix}unskew.verdict": " ".join([verdict.sentence, *verdict.summary]),
            f"{prefix}unskew.warnings": str(len(report.warnings)),
        },
        files={"report.json": report.to_json(), "report.html": report.to_html()},
    )
