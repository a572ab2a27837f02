"""The page's section on propensities: whether they add up, and whether they match the observed shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from unskew.display.lines import log_axis, one_line
from unskew.display.numbers import interval, percent, short
from unskew.display.page import Figure
from unskew.display.svg import chart_of, to_svg
from unskew.propensities import Diagnostics, ReliabilityBin

WIDE_RANGE = 20  # largest over smallest share from which the reliability chart has logarithmic axes


@dataclass(frozen=True)
class PropensityPanel:
    """The section on propensities: what the numbers mean, and the numbers by name."""

    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]  # the reliability curve, where there is one


def describe_propensities(diagnostics: Diagnostics, *, absolute: bool) -> PropensityPanel:
    """Return the section for some diagnostics; propensities that are not absolute are known only up to scale."""
    curve = reliability_chart(diagnostics.reliability, "reliability")
    notes = tuple(_reliability_notes(diagnostics)) if diagnostics.reliability else ()
    return PropensityPanel(
        sentences=tuple(_sentences(diagnostics, absolute=absolute)),
        facts=tuple(_facts(diagnostics, absolute=absolute)),
        figures=() if curve is None else (Figure("Observed share by propensity", curve, notes),),
    )


def _sentences(diagnostics: Diagnostics, *, absolute: bool) -> Iterator[str]:
    if not absolute:
        yield (
            "The propensities are known only up to scale: only their ratios matter, and whether they add up cannot be "
            "checked."
        )
        return
    if not diagnostics.cells:
        yield (
            "If the propensities are right, the weights 1/P of the observed rows add up to the number of relevant "
            "pairs, apart from chance. That number is not known, so this cannot be checked."
        )
        return
    sure = 2 * diagnostics.inverse_sd / diagnostics.cells
    yield (
        f"If the propensities are right, the weights 1/P of the observed rows add up to the number of all pairs, give "
        f"or take {percent(sure)} by chance. They add up to {percent(diagnostics.coverage)} of it."
    )
    yield _mismatch(diagnostics.coverage, sure)


def _mismatch(coverage: float, sure: float) -> str:
    if abs(coverage - 1) <= max(sure, 0.05):
        return "So the level of the propensities is about right; the sum does not show whether each one is."
    if coverage < 1:
        return (
            "So the propensities are too large on average, or some pairs could hardly be observed and no row "
            "represents them: ips is too small by the same factor, and snips describes only the pairs that the rows "
            "represent."
        )
    return (
        "So the propensities are too small on average: ips is too large by the same factor. snips divides by the sum "
        "and is wrong only if the error differs from pair to pair."
    )


def _facts(diagnostics: Diagnostics, *, absolute: bool) -> Iterator[tuple[str, str]]:
    yield "Observed rows", f"{diagnostics.observed:,}"
    if diagnostics.cells:
        yield "All pairs", f"{diagnostics.cells:,}"
        yield "Sum of 1/P", f"{diagnostics.inverse_sum:,.0f}"
    if np.isfinite(diagnostics.smallest):
        scale = "" if absolute else ", relative"
        yield f"Propensities{scale}", interval(diagnostics.smallest, diagnostics.largest, ".3g")
        yield f"Weights{scale}", f"{short(1 / diagnostics.largest)} to {short(1 / diagnostics.smallest)}"
    yield "Clipped", f"{diagnostics.clipped:,}"


def _reliability_notes(diagnostics: Diagnostics) -> Iterator[str]:
    yield (
        f"Each point represents pairs of about the same propensity, out of {diagnostics.reliability_of or 'all'}, "
        "with the 95 % interval of the share of them that was observed. On the dashed line the share is as predicted."
    )
    if _is_wide(diagnostics.reliability) and any(part.observed == 0 for part in diagnostics.reliability):
        yield "For a hollow point, none of the pairs was observed."


def reliability_chart(bins: Sequence[ReliabilityBin], prefix: str) -> str | None:
    """Predicted propensity against the share observed, with the diagonal; None without bins."""
    if not bins:
        return None
    wide = _is_wide(bins)
    low, high = _ends(bins, wide=wide)
    data = [
        {
            "x": max(part.predicted, low),
            "y": max(part.observed, low),
            "low": max(part.low, low),
            "high": min(part.high, high),
            "fill": "var(--paper)" if wide and part.observed == 0 else "var(--c1)",
        }
        for part in bins
    ]
    linear = {"scale": alt.Scale(nice=False, domain=[low, high]), "axis": alt.Axis(format=".2~p", tickCount=5)}
    look = log_axis(low, high, room=1, format=".2~p") if wide else linear
    x = alt.X("x:Q", title="predicted propensity", **look)
    y = alt.Y("y:Q", title=None, **look)
    base = chart_of(data)
    layers = [
        one_line([(low, low), (high, high)], x, y, color="var(--naive)", strokeDash=[5, 4], strokeWidth=1.5),
        base.mark_rule(color="var(--c1)", strokeWidth=2).encode(x=x, y=alt.Y("low:Q", title=None), y2="high:Q"),
        base.mark_point(stroke="var(--c1)", strokeWidth=1.8, size=42, opacity=1).encode(
            x=x, y=y, fill=alt.Fill("fill:N", scale=None, legend=None)
        ),
    ]
    label = f"Share of pairs observed against the predicted propensity, in {len(bins)} groups of pairs"
    return to_svg(alt.layer(*layers).properties(height=230), prefix, label)


def _is_wide(bins: Sequence[ReliabilityBin]) -> bool:
    predicted = [part.predicted for part in bins]
    return min(predicted) > 0 and max(predicted) > WIDE_RANGE * min(predicted)


def _ends(bins: Sequence[ReliabilityBin], *, wide: bool) -> tuple[float, float]:
    """Where both axes begin and end."""
    high = min(1.0, 1.05 * max(max(part.predicted, part.high) for part in bins))
    if not wide:
        return 0.0, high
    shown = [x for part in bins for x in (part.predicted, part.observed) if x > 0]
    return 0.7 * min(shown), high
