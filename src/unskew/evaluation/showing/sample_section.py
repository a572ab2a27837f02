"""The page's section on a randomly exposed sample: its draws, its depth, and the places of its positives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from unskew.arrays import Floats, Ints, dot
from unskew.data.candidates import Unseen
from unskew.display.lines import drawing_order, log_axis, series_lines, share_axis, upright_rules
from unskew.display.names import clean
from unskew.display.numbers import one_or_both, short
from unskew.display.page import Figure
from unskew.display.phrases import MOST_NAMED, listed, quoted
from unskew.display.styles import Style
from unskew.display.svg import round_numbers, to_svg
from unskew.estimators import Rows, Traditional
from unskew.evaluation.collecting.exposed import Exposed, count_hits
from unskew.metrics import AtK, Recall

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

POINTS = 60  # cut-offs of the curve at most
_CURVE_NOTE = (
    "Estimated share of all positives that are among the first K candidates, pooled over users. Solid vertical lines "
    "are the cut-offs of this run, dashed ones the depth they reach inside the sample."
)
HOW_DRAWN = (
    "For each of {users:,} users, {drawn} items were drawn at random out of {population} {among}, and labelled. "
    "{positives:,} of {rows:,} are positive ({share:.1f} %), so an exposed positive represents about {scale} "
    "positives."
)
DEPTH = (
    "Among exposed items alone, the first {places} places reach about as deep as the first {depths} of all "
    "{size:,.0f}: traditional measures that depth, and ure the first {cutoffs}."
)
HITS = (
    "Of {positives:,} exposed positives, the following numbers are in the first {place}: {hits}. The estimates over "
    "all candidates depend on these."
)


@dataclass(frozen=True)
class ExposedPanel:
    """The section on the sample, with its numbers by name."""

    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    figures: tuple[Figure, ...]  # recall by cut-off


def describe_sample(report: "Report", styles: Mapping[str, Style]) -> ExposedPanel | None:
    """Return the section on the sample; None in a run without one."""
    exposed = report.samples.exposed
    if exposed is None:
        return None
    cutoffs = sorted({metric.cutoff for metric in report.settings.metrics if metric.cutoff is not None})
    inside = any(isinstance(estimator, Traditional) for estimator in report.settings.estimators)
    depths = [depth_of(k, exposed.drawn) for k in cutoffs] if inside else []
    steps, curves = recall_curves(exposed)
    curve = recall_chart(steps, report.judged.mean(curves), styles, cutoffs, depths)
    return ExposedPanel(
        sentences=(*_drawn(exposed), *_depth_words(cutoffs, depths, exposed.drawn), *_landed(report, cutoffs)),
        facts=tuple(_facts(exposed)),
        figures=(Figure("Recall by depth", curve, (_CURVE_NOTE,)),),
    )


def depth_of(cutoff: int, drawn: Rows) -> float:
    """The rank among all candidates that a cut-off inside the sample reaches: K L / l (Wang et al. 2024, theorem 1)."""
    return float(min(cutoff * np.median(drawn.scale), np.median(drawn.population)))


def recall_curves(exposed: Exposed) -> tuple[Ints, dict[str, Floats]]:
    """Cut-offs, and for each model the estimated share of all positives above them, pooled over users."""
    drawn, positives = exposed.drawn, exposed.positives
    largest = int(drawn.population.max())
    steps = np.unique(np.rint(np.geomspace(1, largest, POINTS)).astype(np.int64))
    weights = drawn.scale[drawn.user[drawn.labels]]
    curves = {}
    for model, ranks in positives.ranks.items():
        gains = (
            AtK(Recall(), int(k)).row_gains(ranks.above, ranks.spread, ranks.candidates, positives.listed(model))
            for k in steps
        )
        curves[model] = np.array([dot(weights, worth) for worth in gains]) / weights.sum()
    return steps, curves


def _drawn(exposed: Exposed) -> Iterator[str]:
    drawn = exposed.drawn
    among = "not in the user's train" if isinstance(exposed.split.rule, Unseen) else "of the catalogue"
    share, scale = drawn.labels.mean(), float(np.median(drawn.scale))
    yield HOW_DRAWN.format(
        users=drawn.n_users,
        drawn=_range(drawn.counts),
        population=_range(drawn.population),
        among=among,
        positives=drawn.labels.sum(),
        rows=len(drawn.user),
        share=100 * share,
        scale=short(scale),
    )


def _depth_words(cutoffs: Sequence[int], depths: Sequence[float], drawn: Rows) -> Iterator[str]:
    if not depths:
        return
    rows, size = np.median(drawn.counts), np.median(drawn.population)
    first = [f"{k} of {rows:g}" for k in cutoffs]
    deep = [f"{depth:,.0f}" for depth in depths]
    yield DEPTH.format(places=listed(first), depths=listed(deep), size=size, cutoffs=listed(map(str, cutoffs)))


def _landed(report: "Report", cutoffs: Sequence[int]) -> Iterator[str]:
    if not cutoffs:
        return
    ranks = report.samples.judged.ranks
    hits = report.judged.mean({model: np.asarray(count_hits(each, cutoffs[0])) for model, each in ranks.items()})
    order = sorted(hits, key=lambda model: (-hits[model], model))[:MOST_NAMED]
    hit = [f"{hits[model]:,.0f} by {quoted(model)}" for model in order]
    place = "place" if cutoffs[0] == 1 else f"{cutoffs[0]} places"
    yield HITS.format(positives=report.samples.judged.rows, place=place, hits=listed(hit))


def _facts(exposed: Exposed) -> Iterator[tuple[str, str]]:
    drawn = exposed.drawn
    yield "Exposed rows", f"{len(drawn.user):,}"
    yield "Per user", _range(drawn.counts)
    yield "Drawn from", _range(drawn.population)
    yield "Positives", f"{drawn.labels.sum():,}"
    yield "Users without one", f"{int(np.sum(drawn.positives == 0)):,} of {drawn.n_users:,}"
    yield "Population", f"{exposed.split.rule}, {exposed.split.population_by}"


def _range(sizes: Ints) -> str:
    return one_or_both(f"{sizes.min():,}", f"{sizes.max():,}")


def recall_chart(
    steps: Ints,
    curves: Mapping[str, Floats],
    styles: Mapping[str, Style],
    cutoffs: Sequence[int],
    depths: Sequence[float],
) -> str:
    """Share of positives above each rank, one line per model, with solid rules at cut-offs and dashed at depths."""
    keys = drawing_order(curves, styles)
    data = [
        {"series": key, "x": int(k), "y": float(share)}
        for model, key in keys.items()
        for k, share in zip(steps, curves[model], strict=True)
    ]
    ends = [1, max(int(steps[-1]), 2)]
    ticks = [tick for tick in round_numbers(*ends) if tick == int(tick)]
    x = alt.X("x:Q", title="first K of all candidates", **log_axis(*ends, room=1, values=ticks, format=",d"))
    rules = [
        upright_rules(
            [at for at in places if ends[0] <= at <= ends[1]], x, color="var(--soft)", strokeWidth=1.2, strokeDash=dash
        )
        for places, dash in ((cutoffs, [1, 0]), (depths, [4, 3]))
        if places
    ]
    lines = series_lines(keys, styles, x, alt.Y("y:Q", title=None, axis=share_axis()))
    names = ", ".join(clean(model) for model in list(keys)[:8])
    label = f"Estimated share of positives among the first K candidates, by {names}"
    return to_svg(alt.layer(*rules, lines).properties(height=230), "exposed", label, rows=data)
