"""Reports as plain text: the verdict, tables and warnings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew.display.numbers import factor, interval, number, one_or_both, p, short
from unskew.display.phrases import cut
from unskew.display.text_table import digits, plain_text, print_lines, print_table, table, words
from unskew.estimators import Comparison, Observation
from unskew.evaluation.collecting.sampled_ranks import correction_lines
from unskew.evaluation.estimating.best_models import Answer
from unskew.evaluation.estimating.gamma_band import GammaBand
from unskew.evaluation.estimating.judged_models import SeedEstimate
from unskew.evaluation.estimating.order import is_content, lower_is_better, ranked
from unskew.evaluation.showing.changes_view import KEY, print_changes
from unskew.evaluation.showing.estimate_grid import print_estimates
from unskew.evaluation.showing.slices_view import print_slices
from unskew.evaluation.showing.vocabulary import naive_only, targets_of

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

_KEY = words(*KEY)
WRONG_WEIGHTS = "first if weights are wrong by a factor of"


def as_text(report: "Report", width: int = 110) -> str:
    """The report as plain text: verdict, estimates, comparisons, warnings."""

    def draw(console: Console) -> None:
        print_report(report, console)
        print_warnings(report, console)

    return plain_text(draw, width)


def print_report(report: "Report", console: Console) -> None:
    """Print the verdict, the estimates, and the best against the next."""
    print_verdict(report, console)
    print_estimates(report, console)
    aims = "; ".join(f"{word} {target}" for word, target in targets_of(report.estimates).items())
    print_lines([f"targets: {aims}", *naive_lines(report), *baseline_lines(report)], console)
    if best_against_next(report):
        print_table(_comparisons(report), console)
    if report.judged.several:
        print_table(_seeds(report.judged.of_seeds), console)
    band = report.judged.band
    if band is not None and band.fitted:
        print_table(_over_gammas(band), console)
    content = ", ".join(str(metric) for metric in report.settings.metrics if metric.kind == "content")
    print_lines([f"no value is the better one: {content}"] if content else [], console)
    lower = ", ".join(str(metric) for metric in report.settings.metrics if metric.lower_is_better)
    print_lines([f"lower is better: {lower}"] if lower else [], console)
    print_lines(correction_lines(report.samples.correction or ()), console)
    if report.propensities.gamma is not None:
        print_lines([report.propensities.gamma.describe()], console)
    if report.against is not None:
        console.print()
        print_changes(report.against, console)
    for slices in report.sliced:
        console.print()
        print_slices(slices, console)


def print_warnings(report: "Report", console: Console) -> None:
    """Print the warnings."""
    print_lines((f"warning: {text}" for text in report.warnings), console)


def print_verdict(report: "Report", console: Console) -> None:
    """Print which models may be best, in a sentence or two and one line per metric."""
    verdict = report.verdict
    console.print(Text(" ".join([verdict.sentence, *verdict.summary])))
    if len(report.judged.members) > 1 and any(answer.models > 1 for answer in report.answers):
        naive = {} if report.samples.exposed is None else {"naive": "inside the sample"}  # has another target
        print_table(_answers(report.answers, "Which model may be best", **naive), console)
        other = report.on_common_users
        if other is not None and report.verdict.common is not None:
            users = f"{other.tally.users:,} users whom all models know"
            print_table(_answers(other.answers, f"Which model may be best, on the {users}"), console)
    console.print()


def naive_lines(report: "Report") -> list[str]:
    """Notes on metrics of positives that are not corrected, and on which ones could be."""
    if report.samples.exposed is not None:
        return []
    naive = {answer.metric for answer in report.answers if not answer.corrects}
    return [f"note: {naive_only(metric)}" for metric in report.settings.metrics if str(metric) in naive]


def baseline_lines(report: "Report") -> list[str]:
    """A note on baselines that are left out, and why."""
    left_out = "" if report.baselines is None else report.baselines.left_out
    return [f"note: the baselines are left out, because {left_out}"] if left_out else []


def _answers(answers: Sequence[Answer], title: str, naive: str = "naive, same target") -> Table:
    over, weighted = any(answer.assumed for answer in answers), any(answer.weighted for answer in answers)
    more = [*(["first for gamma"] if over else []), *([WRONG_WEIGHTS] if weighted else [])]
    rows = []
    for answer in (each for each in answers if each.models > 1):
        twin = "-" if answer.naive is None else f"{_names(answer.naive.may_be_best)}, by {answer.naive.estimator}"
        best = "none: a random order" if answer.kind == "chance" else _names(answer.may_be_best)
        spans = [f"{_names(names or ('none',))} {_gammas(low, high)}" for names, low, high in answer.spans]
        cells = [answer.metric, answer.judging.estimator, best, twin]
        rows.append([*cells, *(["; ".join(spans) or "-"] if over else []), *([_flip(answer)] if weighted else [])])
    return table(title, words("metric", "by", "may be best", naive, *more), rows)


def _names(models: Sequence[str]) -> str:
    return ", ".join(cut(models)) or "-"


def _gammas(low: float, high: float) -> str:
    return one_or_both(short(low), short(high))


def _flip(answer: Answer) -> str:
    """The factor by which weights may be wrong before another model is first."""
    if not answer.weighted or len(answer.judging.first) != 1 or answer.kind == "chance":
        return "-"
    if answer.flip_gamma is None:
        return "any: the same"
    return f"{factor(answer.flip_gamma)}: {answer.flips_to}"


def _comparisons(report: "Report") -> Table:
    unit = "row" if isinstance(report.settings.interval, Observation) else "user"
    columns = [*words("metric", "estimator", "models"), *digits("difference", "interval", "p (Holm)")]
    rows = [
        [
            *(row.metric, row.estimator, f"{row.a} - {row.b}", number(row.difference, "+.4f")),
            *(interval(row.low, row.high, "+.4f"), p(row.p_value_holm)),
        ]
        for row in best_against_next(report)
    ]
    return table(f"Best against next, paired by {unit}", columns, rows)


def _seeds(rows: Sequence[SeedEstimate]) -> Table:
    """The table of what each error is: the entries are in the JSON."""
    columns = [*_KEY, *digits("seeds", "deviation", "by users", "by seeds")]
    cells = [
        [
            *(row.metric, row.estimator, row.model, str(len(row.members))),
            *(number(each, none="-") for each in (row.spread, row.users_error, row.seeds_error)),
        ]
        for row in rows
    ]
    return table("Over seeds: deviation, and standard errors by users and by seeds", columns, cells, group=2)


def _over_gammas(band: GammaBand) -> Table:
    """The table of estimates at the ends of the fitted gammas, and at the one used."""
    shown = sorted({band.gammas.index(gamma) for gamma in (band.range.low, band.used, band.range.high)})
    columns = [*_KEY, *digits(*(f"{band.gammas[place]:.2f}" for place in shown))]
    rows = [[*key, *(number(points[place].value) for place in shown)] for key, points in band.by_key.items()]
    return table("Over the gammas found", columns, rows)


def best_against_next(report: "Report") -> list[Comparison]:
    """For each metric and estimator, the comparison of the two best models, the better one first."""
    chosen = []
    for metric, estimator in dict.fromkeys((row.metric, row.estimator) for row in report.judged.estimates):
        rows = ranked(report.judged.estimates, metric, estimator, lower=lower_is_better(report.settings, metric))
        if len(rows) < 2 or is_content(report.settings, metric):
            continue
        best, following = rows[:2]
        pair = {best.model, following.model}
        comparison = next(
            c
            for c in report.judged.comparisons
            if (c.metric, c.estimator) == (metric, estimator) and {c.a, c.b} == pair
        )
        chosen.append(comparison if comparison.a == best.model else comparison.reversed())
    return chosen
