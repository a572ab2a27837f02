"""The charts of a report by name, outside its page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.display.chart import Chart, Charts
from unskew.display.numbers import level
from unskew.display.page import Figure, gallery
from unskew.display.styles import series_styles
from unskew.evaluation.showing import charts
from unskew.evaluation.showing.page import estimate_figure, estimators_in_order, models_by_interest, sweep_figure
from unskew.evaluation.showing.popularity_section import measure_ratings, measure_skew

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

OF_WEIGHT = "bars: the rows; dots: their weight"
OF_POPULARITY = "black: held-out rows; grey dashes: training rows; blue: held-out rows, weighted"


def report_charts(report: "Report") -> Charts:
    """All charts; those of the first metric are also under ``estimates`` and ``sweep`` alone."""
    named = gallery({name: (figure, title, note) for name, figure, title, note in _figures(report)})
    first: dict[str, Chart] = {}
    for kind in ("estimates", "sweep"):
        name = next((name for name in named if name.startswith(f"{kind} ")), None)
        first |= {} if name is None else {kind: named[name]}
    return Charts(first | named)


def first_chart(report: "Report") -> Chart | None:
    """The chart of the first metric's estimates; None if no value is defined."""
    _, figure, title, note = _estimates(report, 0)
    return figure.chart(title, note)


def _figures(report: "Report") -> Iterator[tuple[str, Figure, str, str]]:
    """Yield name, figure, title and note of each chart."""
    for place in range(len(report.settings.metrics)):
        yield _estimates(report, place)
    styles = series_styles(models_by_interest(report))
    for place, sweep in enumerate(report.sweeps):
        note = f"by {sweep.estimator}, from no correction (gamma -1) to a strong one"
        figure = sweep_figure(report, sweep, styles, place)
        yield f"sweep {sweep.metric}", figure, f"{sweep.metric} over gamma", note
    weighs = report.samples.exposed is None or any(e.uses_propensity for e in report.settings.estimators)
    if report.merged is not None or not weighs:  # charts of weights need the rows, and weights
        return
    skew, ratings = measure_skew(report), measure_ratings(report)
    yield "weights", Figure("", charts.weights_chart(skew, "weights")), "Weights of the held-out rows", OF_WEIGHT
    if ratings is not None:
        yield "ratings", Figure("", charts.ratings_chart(ratings, "ratings")), "Rated rows by rating", OF_WEIGHT
    popularity = Figure("", charts.popularity_chart(skew, "popularity"))
    yield "popularity", popularity, "Share of rows that popular items have", OF_POPULARITY
    yield "tenths", Figure("", charts.tenths_chart(skew, "tenths")), "Held-out rows by popularity", OF_WEIGHT


def _estimates(report: "Report", place: int) -> tuple[str, Figure, str, str]:
    rows, twins = report.judged.estimates, report.judged.twins.estimates
    styles = charts.estimator_styles(estimators_in_order(report.settings.estimators, twins))
    figure = estimate_figure(report, [*rows, *twins], styles, place)
    thin = "; thin: over what may be assumed" if any(row.assumed_low is not None for row in rows) else ""
    note = f"with {level(report.settings.level)} intervals{thin}"
    return f"estimates {figure.title}", figure, figure.title, note
