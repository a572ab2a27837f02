"""Reports as text tables."""

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.estimators import Comparison, Estimate, Observation
from unskew.evaluation.changes import Changes
from unskew.evaluation.corrected import correction_lines
from unskew.evaluation.ordering import lower_is_better, ranked
from unskew.evaluation.rendering import fits, plain_text, print_words
from unskew.evaluation.sensitivity import Sensitivity
from unskew.evaluation.sweep import Sweep
from unskew.evaluation.wording import signed_move
from unskew.propensities import Popularity

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def as_text(report: "Report", width: int = 110) -> str:
    """The report as plain text: estimates, comparisons, warnings."""

    def draw(console: Console) -> None:
        print_left_out(report, console)
        print_report(report, console)
        print_warnings(report, console)

    return plain_text(draw, width)


def print_report(report: "Report", console: Console) -> None:
    """Print estimates, the best against the next, and how the order depends on gamma."""
    table = _estimates(report)
    print_words(table if fits(table, console) else _estimates(report, once=True), console)
    if report.comparisons:
        print_words(_comparisons(report), console)
    if report.sensitivity is not None:
        print_words(_sensitivity(report.sensitivity), console)
    lower = [str(metric) for metric in report.settings.metrics if metric.lower_is_better]
    if lower:
        console.print(Text(f"lower is better: {', '.join(lower)}"), soft_wrap=True)
    for line in correction_lines(report.correction or ()):
        console.print(Text(line), soft_wrap=True)
    if report.gamma is not None:
        console.print(Text(report.gamma.describe()), soft_wrap=True)
    for line in order_lines(report):
        console.print(Text(line), soft_wrap=True)
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


def print_left_out(report: "Report", console: Console) -> None:
    """Print, before any number, that many test rows are not judged; nothing when few are."""
    if report.left_out is not None:
        console.print(Text(f"warning: {report.left_out}"), soft_wrap=True)


def print_warnings(report: "Report", console: Console) -> None:
    """Print what should be read with care, without what `print_left_out` says."""
    for text in report.warnings:
        if text != report.left_out:
            console.print(Text(f"warning: {text}"), soft_wrap=True)


def order_lines(report: "Report") -> list[str]:
    """One line a metric on how the order of the models, or the value of one, depends on the assumed bias."""
    lines = []
    under = "" if isinstance(report.settings.propensity, Popularity) else " under popularity(gamma)"
    for sweep in report.sweeps:
        other = f" by {sweep.estimator}{under}"
        start = f"{sweep.metric}{other}: order {_order(sweep, 0)}"
        if len(sweep.values) == 1:
            (values,) = sweep.values.values()
            lines.append(
                f"{sweep.metric}{other}: {values[0]:.4f} at gamma -1 (no correction), {values[-1]:.4f} at gamma 3"
            )
        elif not sweep.changes:
            lines.append(f"{start} for every gamma from -1 to 3")
        else:
            places = [sweep.gammas.index(change.high) for change in sweep.changes]
            steps = ", ".join(f"{_order(sweep, place)} from gamma {sweep.gammas[place]:g}" for place in places)
            lines.append(f"{start} at gamma -1, {steps}")
    return lines


def _order(sweep: Sweep, place: int) -> str:
    """Models from best to worst, = between equal ones."""
    names = sweep.order(place)
    text = names[0]
    for better, worse in pairwise(names):
        equal = sweep.values[better][place] == sweep.values[worse][place]
        text += f" {'=' if equal else '>'} {worse}"
    return text


def _estimates(report: "Report", *, once: bool = False) -> Table:
    """All estimates; with `once`, the target of those that share one is said once, which leaves room for the rest."""
    level = f"{report.settings.level:.0%}" if report.settings.level * 100 % 1 == 0 else f"{report.settings.level:g}"
    table = Table(title="Estimates", title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in ("metric", "estimator", "model"):
        table.add_column(column, overflow="fold")
    for column in ("value", f"{level} interval", "users", "ESS"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("target", overflow="fold")
    last: tuple[str, str] | None = None
    for row in report.estimates:
        key = (row.metric, row.estimator)
        if last is not None and key != last:
            table.add_section()
        told, last = once and key == last, key
        size = "-" if row.effective_sample_size is None else f"{row.effective_sample_size:,.0f}"
        table.add_row(
            Text(row.metric),
            Text(row.estimator),
            Text(row.model),
            _number(row.value),
            _interval(row),
            f"{row.users:,}",
            size,
            Text("" if told else row.target),
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


def _sensitivity(sensitivity: Sensitivity) -> Table:
    table = Table(title="Sensitivity to gamma", title_justify="left", pad_edge=False, box=SIMPLE_HEAD)
    for column in ("metric", "estimator", "model"):
        table.add_column(column, overflow="fold")
    for gamma in sensitivity.choice.band:
        table.add_column(f"{gamma:.2f}", justify="right", no_wrap=True)
    for row in sensitivity.rows:
        table.add_row(Text(row.metric), Text(row.estimator), Text(row.model), *map(_number, row.values))
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


def _interval(row: Estimate) -> str:
    if row.low is None or row.high is None:
        return "undefined"
    return f"{row.low:.4f} to {row.high:.4f}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _p(value: float) -> str:
    return "<0.0001" if value < 1e-4 else f"{value:.4f}"
