"""The HTML page of a report: one file without scripts, fonts or requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from unskew.display.numbers import interval, level, minus, signed
from unskew.display.page import Figure, MetricTable, render_page
from unskew.display.phrases import chain, quoted, sentence
from unskew.display.small_plot import WIDTH, plot_scale
from unskew.display.styles import COLOURS, GREY, Style, series_styles
from unskew.estimators import OVER_ALL_PAIRS, Comparison, Estimate, Estimator
from unskew.evaluation.collecting.sampled_ranks import correction_lines
from unskew.evaluation.estimating.baselines import DESCRIBED, marked, marked_estimates
from unskew.evaluation.estimating.best_models import judging_estimator, standing_of
from unskew.evaluation.estimating.gamma_sweep import OrderChange, Sweep
from unskew.evaluation.estimating.order import is_content, lower_is_better, ranked
from unskew.evaluation.estimating.propensity_sum import diagnosed_propensity
from unskew.evaluation.showing import charts
from unskew.evaluation.showing.imputation_section import describe_methods, describe_slice
from unskew.evaluation.showing.popularity_section import RatingSkew, Skew, measure_ratings, measure_skew
from unskew.evaluation.showing.propensity_section import describe_propensities
from unskew.evaluation.showing.sample_section import describe_sample
from unskew.evaluation.showing.seeds_section import describe_seeds
from unskew.evaluation.showing.slices_view import slice_figures
from unskew.evaluation.showing.vocabulary import targets_of
from unskew.propensities import Popularity

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

MANY_PAIRS = 10  # beyond this, only the pairs with the first model are shown at once
FEW_MODELS = 6  # up to which every change of their order is described


@dataclass(frozen=True)
class Pair:
    """A row of the table of comparisons, the better model first."""

    row: Comparison
    beyond: bool
    places: tuple[float, ...]  # of low, difference and high in the small plot; empty without an interval


@dataclass(frozen=True)
class PairGroup:
    """Comparisons of one metric by one estimator: `shown` at first, and all of them (`hidden`) if they are many."""

    metric: str
    estimator: str
    shown: tuple[Pair, ...]
    hidden: tuple[Pair, ...]
    zero: float


def render(report: "Report", *, introduction: str = "") -> str:
    """Return the page; the same report gives the same bytes.

    Everything that comes from the data is escaped; only the introduction is HTML.
    """
    context = {**_context(report), "introduction": introduction}
    return render_page("report.html.j2", "unskew.evaluation.showing", context)


def _context(report: "Report") -> dict[str, Any]:
    judged_models = report.judged
    twins, band = judged_models.twins.estimates, judged_models.band
    rows = [*judged_models.estimates, *twins]
    estimators = estimators_in_order(report.settings.estimators, twins)
    styles = charts.estimator_styles(estimators)
    skew, ratings = measure_skew(report), measure_ratings(report)
    styles_of_models = series_styles(models_by_interest(report))
    popularity = _shows_popularity(report)
    diagnostics, judged = report.diagnostics, report.samples.judged.kind
    absolute = diagnostics is not None and diagnosed_propensity(report.settings, report.propensities, judged).absolute
    sample = describe_sample(report, styles_of_models)
    weighted = sample is None or any(e.uses_propensity for e in report.settings.estimators)
    weighted = weighted and report.merged is None  # charts of weights need the rows
    return {
        "report": report,
        "verdict": report.verdict,
        "level": level(report.settings.level),
        "estimator_styles": list(styles.values()),
        "targets": targets_of(rows),
        "assumed": _assumed(report),
        "methods": describe_methods(report),
        "slice": describe_slice(report),
        "content": {str(metric) for metric in report.settings.metrics if metric.kind == "content"},
        "lower": {str(metric) for metric in report.settings.metrics if metric.lower_is_better},
        "estimate_figures": [estimate_figure(report, rows, styles, k) for k in range(len(report.settings.metrics))],
        "clipped": any(row.clipped_share > 0 for row in rows),
        "tables": list(_tables(report, rows, [str(e) for e in estimators])),
        "added": {(row.metric, row.estimator) for row in twins},
        "baselines": report.baselines,
        "correction": list(correction_lines(report.samples.correction or ())),
        "pair_groups": list(_pair_groups(report, rows)),
        "change_groups": []
        if report.against is None
        else [list(group) for _, group in groupby(report.against.rows, key=lambda row: row.metric)],
        "slice_figures": [slice_figures(slices) for slices in report.sliced],
        "slice_styles": list(series_styles(list(judged_models.members)).values()),
        "slice_columns": ["group", "model", "estimate", "users", "value", "interval", "shrunken"],
        "band_columns": [] if band is None else ["metric", "estimator", "model", *_gamma_columns(band.gammas)],
        "forest": WIDTH,
        "seeds": describe_seeds(report),
        "sweep_figures": [sweep_figure(report, sweep, styles_of_models, k) for k, sweep in enumerate(report.sweeps)],
        "model_styles": [style for style in styles_of_models.values() if style.colour != GREY],
        "lower_places": 1 < len(styles_of_models) <= COLOURS,
        "grey_models": sum(style.colour == GREY for style in styles_of_models.values()),
        "panel": None if diagnostics is None else describe_propensities(diagnostics, absolute=absolute),
        "sample": sample,
        "weighted": weighted,
        "weighted_style": charts.WEIGHTED,
        "naive": {str(e) for e in estimators if not e.corrects},
        "skew": skew,
        "popularity": popularity,
        "skew_figures": list(_skew_figures(skew, ratings, popularity=popularity)),
        "run": report.run,
    }


def _assumed(report: "Report") -> str:
    """What the range of an estimate is over: gammas, methods, or whichever of them it rests on."""
    band, methods = report.band, report.estimated.methods
    gammas = "" if band is None else minus(f"gamma {interval(band.range.low, band.range.high, '.3g')}")
    return " or ".join(filter(None, (gammas, "" if methods is None else "methods")))


def _gamma_columns(gammas: Sequence[float]) -> list[str]:
    return [minus(f"gamma {gamma:.2f}") for gamma in gammas]


def estimators_in_order(asked: Sequence[Estimator], twins: Sequence[Estimate]) -> list[Estimator]:
    """The estimators asked for and those of `twins`, naive averages first."""
    added = [Estimator.from_word(word) for word in dict.fromkeys(row.estimator for row in twins)]
    by_word = {str(e): e for e in (*asked, *added)}
    return sorted(by_word.values(), key=lambda e: e.corrects)


def models_by_interest(report: "Report") -> list[str]:
    """The models in the order of colours: those ever first in a sweep, then by the order of the last estimator."""
    ever_first = [sweep.order(k)[0] for sweep in report.sweeps for k in range(len(sweep.gammas))]
    swept = {model for sweep in report.sweeps for model in sweep.values}
    if report.samples.exposed is not None:  # the chart of the sample has all of them
        ranked_entries = report.samples.judged.ranks
        swept |= {model for model, names in report.judged.members.items() if names[0] in ranked_entries}
    rows = report.judged.estimates
    row = next((row for row in reversed(rows) if row.model in swept), rows[-1])
    lower = lower_is_better(report.settings, row.metric)
    ordered = [estimate.model for estimate in ranked(rows, row.metric, row.estimator, lower=lower)]
    wanted = dict.fromkeys([*ever_first, *ordered, *report.judged.members])
    return [model for model in wanted if model in swept]


def _shows_popularity(report: "Report") -> bool:
    """Whether popularity matters: for rankings of positives, and for propensities made from it."""
    ranks = any(metric.kind not in OVER_ALL_PAIRS for metric in report.settings.metrics)
    return ranks or isinstance(report.settings.propensity, Popularity)


def _judging_word(report: "Report", metric: str) -> str:
    """The corrected estimator of a metric, or the naive one if there is no other."""
    asked = [e for m, e in report.settings.pairs if str(m) == metric]
    return str(judging_estimator(asked) or asked[0])


def _best_first(report: "Report", rows: Sequence[Estimate], metric: str, estimator: str) -> list[str]:
    """The models that a metric judges, best first, undefined values last."""
    described = is_content(report.settings, metric)  # such models stay in the order they were named in
    order = [] if described else ranked(rows, metric, estimator, lower=lower_is_better(report.settings, metric))
    judged = {row.model for row in rows if row.metric == metric}
    return [m for m in dict.fromkeys([*(row.model for row in order), *report.judged.members]) if m in judged]


def estimate_figure(report: "Report", rows: Sequence[Estimate], styles: dict[str, Style], place: int) -> Figure:
    """The chart of the estimates of the metric at this place of the settings."""
    metric = str(report.settings.metrics[place])
    below = _baselines_of(report, metric)
    shown = [*(row for row in rows if row.metric == metric), *below]
    models = _best_first(report, rows, metric, _judging_word(report, metric))
    models += dict.fromkeys(row.model for row in below)
    svg = charts.estimates_chart(shown, models, styles, f"estimates-{place}")
    return Figure(metric, svg, () if svg else ("No value is defined.",))


def _tables(report: "Report", rows: Sequence[Estimate], words: list[str]) -> Iterator[MetricTable]:
    names = list(map(marked, DESCRIBED))
    for metric in map(str, report.settings.metrics):
        models = _best_first(report, rows, metric, _judging_word(report, metric))
        ordered = sorted(
            (row for row in rows if row.metric == metric),
            key=lambda row: (models.index(row.model), words.index(row.estimator)),
        )
        definitions = " · ".join(dict.fromkeys(row.definition for row in ordered))
        below = sorted(
            _baselines_of(report, metric), key=lambda row: (names.index(row.model), words.index(row.estimator))
        )
        yield MetricTable(metric, definitions, (*ordered, *below))


def _baselines_of(report: "Report", metric: str) -> list[Estimate]:
    """The estimates of the baselines by a metric, with marked names."""
    return [row for row in marked_estimates(report.baselines) if row.metric == metric]


def _pair_groups(report: "Report", rows: Sequence[Estimate]) -> Iterator[PairGroup]:
    for judged_by, form in report.settings.pairs:
        metric, estimator = str(judged_by), str(form)
        standing = standing_of(report, judged_by, form)
        compared = list(standing.compared)
        if not compared or judged_by.kind == "content":
            continue
        place = {model: k for k, model in enumerate(_best_first(report, rows, metric, estimator))}
        compared.sort(key=lambda c: (place[c.a], place[c.b]))
        scale = plot_scale([0.0, *(x for c in compared for x in (c.low, c.high, c.difference))])
        ends = [[x for x in (c.low, c.difference, c.high) if x is not None] for c in compared]
        places = [tuple(map(scale, each)) if len(each) == 3 else () for each in ends]
        pairs = [Pair(c, standing.is_beyond_chance(c), place_of) for c, place_of in zip(compared, places, strict=True)]
        few = len(pairs) <= MANY_PAIRS
        judging = estimator == _judging_word(report, metric)
        shown = [pair for pair in pairs if few or (judging and 0 in (place[pair.row.a], place[pair.row.b]))]
        yield PairGroup(metric, estimator, tuple(shown), () if few else tuple(pairs), scale(0.0))


def sweep_figure(report: "Report", sweep: Sweep, styles: dict[str, Style], place: int) -> Figure:
    """The chart of a sweep, with notes on where the order of the models changes."""
    model = report.settings.propensity
    gamma = model.known_gamma if isinstance(model, Popularity) else None
    svg = charts.sweep_chart(sweep, styles, gamma, f"sweep-{place}")
    notes = () if len(sweep.values) < 2 or svg is None else tuple(map(sentence, _order_words(sweep)))
    return Figure(sweep.metric, svg, notes)


def _order_words(sweep: Sweep) -> Iterator[str]:
    """Yield where the order changes; with many models, only where the first model changes."""
    changes = sweep.changes
    if not changes:
        yield "the order of the models never changes"
    elif len(sweep.values) <= FEW_MODELS:
        yield from map(describe_change, changes)
    else:
        new_first = [change for change in changes if change.before[0] != change.after[0]]
        yield from map(describe_new_first, new_first)
        if len(new_first) < len(changes):
            more = "more " if new_first else ""
            yield f"in {len(changes) - len(new_first)} {more}steps of the sweep only lower places change"


def describe_change(change: OrderChange) -> str:
    """A clause on which model passes which between two gammas."""
    place = {model: k for k, model in enumerate(change.before)}
    swaps = [
        (later, earlier)
        for k, later in enumerate(change.after)
        for earlier in change.after[k + 1 :]
        if place[later] > place[earlier]
    ]
    if len(swaps) == 1:
        return f"{_where(change)} {quoted(swaps[0][0])} passes {quoted(swaps[0][1])}"
    return f"{_where(change)} the order becomes {chain(change.after)}"


def describe_new_first(change: OrderChange) -> str:
    """A clause on which model takes first place from which between two gammas."""
    return f"{_where(change)} {quoted(change.after[0])} takes first place from {quoted(change.before[0])}"


def _where(change: OrderChange) -> str:
    return f"between gamma {signed(change.low)} and {signed(change.high)}"


def _skew_figures(skew: Skew, ratings: RatingSkew | None, *, popularity: bool) -> Iterator[Figure]:
    weights = charts.weights_chart(skew, "weights")
    notes = () if weights else ("All held-out rows weigh the same.",)
    yield Figure("Weights of the held-out rows", weights, notes)
    if ratings is not None:
        yield Figure("Rated rows by rating", charts.ratings_chart(ratings, "ratings"))
    if popularity:
        yield Figure("Share of rows that popular items have", charts.popularity_chart(skew, "popularity"))
        yield Figure("Held-out rows by popularity", charts.tenths_chart(skew, "tenths"))
