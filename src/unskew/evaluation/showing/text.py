"""Reports as text tables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.display.phrases import factor, signed_move
from unskew.display.text_table import plain_text, print_words
from unskew.estimators import Comparison, Observation
from unskew.evaluation.collecting.sampled_ranks import correction_lines
from unskew.evaluation.comparing.changes import Changes
from unskew.evaluation.estimating.best_models import Answer
from unskew.evaluation.estimating.gamma_band import GammaBand
from unskew.evaluation.estimating.order import lower_is_better, ranked
from unskew.evaluation.showing.assumptions import naive_only, targets_of

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def as_text(report: "Report", width: int = 110) -> str:
    """The report as plain text: verdict, estimates, comparisons, warnings."""

    def draw(console: Console) -> None:
        print_report(report, console)
        print_warnings(report, console)

    return plain_text(draw, width)


def print_report(report: "Report", console: Console) -> None:
    """Print the verdict, the estimates, and the best against the next."""
    print_verdict(report, console)
    print_words(_estimates(report), console)
    aims = "; ".join(f"{word} {target}" for word, target in targets_of(report.estimates).items())
    for line in (f"targets: {aims}", *naive_lines(report)):
        console.print(Text(line), soft_wrap=True)
    if report.comparisons:
        print_words(_comparisons(report), console)
    if report.band is not None and report.band.fitted:
        print_words(_over_gammas(report.band), console)
    lower = [str(metric) for metric in report.settings.metrics if metric.lower_is_better]
    if lower:
        console.print(Text(f"lower is better: {', '.join(lower)}"), soft_wrap=True)
    for line in correction_lines(report.samples.correction or ()):
        console.print(Text(line), soft_wrap=True)
    if report.propensities.gamma is not None:
        console.print(Text(report.propensities.gamma.describe()), soft_wrap=True)
    if report.against is not None:
        console.print()
        print_changes(report.against, console)


def print_changes(changes: Changes, console: Console) -> None:
    """Print what moved since an earlier run, and what to know before reading anything into it."""
    print_words(_changes(changes), console)
    if changes.file is not None:
        console.print(Text(f"earlier run: {changes.file}"), soft_wrap=True)
    for name, test in (("before", changes.before), ("now", changes.after)):
        console.print(Text(f"test {name}: {test.describe()}"), soft_wrap=True)
    for text in changes.notes:
        console.print(Text(f"note: {text}"), soft_wrap=True)


def print_warnings(report: "Report", console: Console) -> None:
    """Print what should be read with care."""
    for text in report.warnings:
        console.print(Text(f"warning: {text}"), soft_wrap=True)


def print_verdict(report: "Report", console: Console) -> None:
    """Print which models may be best, in a sentence or two and one line per metric."""
    verdict = report.verdict
    console.print(Text(" ".join([verdict.sentence, *verdict.summary])))
    if len(report.models) > 1 and any(answer.models > 1 for answer in report.answers):
        naive = {} if report.samples.exposed is None else {"naive": "inside the sample"}  # which is another target
        print_words(_answers(report.answers, "Which model may be best", **naive), console)
        other = report.on_common_users
        if other is not None and report.verdict.common is not None:
            users = f"{len(other.samples.judged.users):,} users whom all models know"
            print_words(_answers(other.answers, f"Which model may be best, on the {users}"), console)
    console.print()


def naive_lines(report: "Report") -> list[str]:
    """Metrics of positives that are not corrected, and which ones could be."""
    if report.samples.exposed is not None:
        return []
    naive = {answer.metric for answer in report.answers if not answer.corrects}
    return [f"note: {naive_only(metric)}" for metric in report.settings.metrics if str(metric) in naive]


def _answers(answers: Sequence[Answer], title: str, naive: str = "naive, same target") -> Table:
    table = Table(title=title, title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in ("metric", "by", "may be best", naive):
        table.add_column(column, overflow="fold")
    over, weighted = any(answer.assumed for answer in answers), any(answer.weighted for answer in answers)
    if over:
        table.add_column("first for gamma", overflow="fold")
    if weighted:
        table.add_column("weights off by", overflow="fold")
    for answer in (each for each in answers if each.models > 1):
        twin = "-" if answer.naive is None else f"{_names(answer.naive.may_be_best)}, by {answer.naive.estimator}"
        best = "none: a random order" if answer.kind == "chance" else _names(answer.may_be_best)
        cells = [answer.metric, answer.judging.estimator, best, twin]
        if over:
            spans = [f"{_names(names or ('none',))} {_gammas(low, high)}" for names, low, high in answer.spans]
            cells.append("; ".join(spans) if spans else "-")
        if weighted:
            cells.append(_flip(answer))
        table.add_row(*map(Text, cells))
    return table


def _names(models: Sequence[str], most: int = 4) -> str:
    shown = models if len(models) <= most else [*models[: most - 1], f"{len(models) - most + 1} more"]
    return ", ".join(shown) if shown else "-"


def _gammas(low: float, high: float) -> str:
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _flip(answer: Answer) -> str:
    """The factor by which weights may be wrong before another model is first."""
    if not answer.weighted or len(answer.judging.first) != 1 or answer.kind == "chance":
        return "-"
    if answer.flip_gamma is None:
        return "any factor: the same"
    return f"{factor(answer.flip_gamma)}: {answer.flips_to}"


def _estimates(report: "Report") -> Table:
    level = f"{report.settings.level:.0%}" if report.settings.level * 100 % 1 == 0 else f"{report.settings.level:g}"
    assumed = None if report.band is None else report.band.range
    table = Table(title="Estimates", title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in ("metric", "estimator", "model"):
        table.add_column(column, overflow="fold")
    over = [] if assumed is None else [f"gamma {_gammas(assumed.low, assumed.high)}"]
    for column in ("value", f"{level} interval", *over, "users", "ESS"):
        table.add_column(column, justify="right", no_wrap=True)
    last: tuple[str, str] | None = None
    for row in report.estimates:
        key = (row.metric, row.estimator)
        if last is not None and key != last:
            table.add_section()
        last = key
        size = "-" if row.effective_sample_size is None else f"{row.effective_sample_size:,.0f}"
        table.add_row(
            Text(row.metric),
            Text(row.estimator),
            Text(row.model),
            _number(row.value),
            _interval(row.low, row.high),
            *([] if assumed is None else [_interval(row.assumed_low, row.assumed_high, "")]),
            f"{row.users:,}",
            size,
        )
    return table


def _comparisons(report: "Report") -> Table:
    unit = "row" if isinstance(report.settings.interval, Observation) else "user"
    title = f"Best against next, paired by {unit}"
    table = Table(title=title, title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in ("metric", "estimator", "models"):
        table.add_column(column, overflow="fold")
    for column in ("difference", "interval", "p (Holm)"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in best_against_next(report):
        interval = "undefined" if row.low is None or row.high is None else f"{row.low:+.4f} to {row.high:+.4f}"
        p = "-" if row.p_value_holm is None else _p(row.p_value_holm)
        gap = "undefined" if row.difference is None else f"{row.difference:+.4f}"
        table.add_row(Text(row.metric), Text(row.estimator), Text(f"{row.a} - {row.b}"), gap, interval, p)
    return table


def _over_gammas(band: GammaBand) -> Table:
    """Estimates at the ends of the gammas that were found, and at the one used."""
    shown = sorted({band.gammas.index(gamma) for gamma in (band.range.low, band.used, band.range.high)})
    table = Table(title="Over the gammas found", title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in ("metric", "estimator", "model"):
        table.add_column(column, overflow="fold")
    for place in shown:
        table.add_column(f"{band.gammas[place]:.2f}", justify="right", no_wrap=True)
    for key, points in band.by_key.items():
        table.add_row(*map(Text, key), *(_number(points[place].value) for place in shown))
    return table


def _changes(changes: Changes) -> Table:
    table = Table(title="Against the earlier run", title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in ("metric", "estimator", "model"):
        table.add_column(column, overflow="fold")
    interval = f"{100 * changes.level:.4g}% interval"
    for column in ("before", "now", "difference", "by size", "rest", interval, "p"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in changes.rows:
        span = "-" if row.low is None or row.high is None else f"{row.low:+.4f} to {row.high:+.4f}"
        moves = ("-" if move is None else signed_move(move) for move in (row.difference, row.expected, row.rest))
        p = "-" if row.p_value is None else _p(row.p_value)
        words = Text(row.metric), Text(row.estimator), Text(row.model)
        table.add_row(*words, _number(row.before), _number(row.after), *moves, span, p)
    return table


def best_against_next(report: "Report") -> list[Comparison]:
    """For each metric and estimator, the comparison of the two best models, the better one first."""
    chosen = []
    for metric, estimator in dict.fromkeys((row.metric, row.estimator) for row in report.estimates):
        rows = ranked(report.estimates, metric, estimator, lower=lower_is_better(report.settings, metric))
        if len(rows) < 2:
            continue
        best, following = rows[:2]
        pair = {best.model, following.model}
        found = next(
            c for c in report.comparisons if (c.metric, c.estimator) == (metric, estimator) and {c.a, c.b} == pair
        )
        chosen.append(found if found.a == best.model else found.reversed())
    return chosen


def _interval(low: float | None, high: float | None, undefined: str = "undefined") -> str:
    return undefined if low is None or high is None else f"{low:.4f} to {high:.4f}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _p(value: float) -> str:
    return "<0.0001" if value < 1e-4 else f"{value:.4f}"
