"""Means over windows: estimates, comparisons and orders of models from the reports of all windows."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators import Mean, Terms, holm, influence_of, mean_of_replicates
from unskew.evaluation.estimating.order import lower_is_better, ranked
from unskew.evaluation.report import Report
from unskew.evaluation.windows.result import WindowComparison, WindowEstimate, WindowOrder, WindowsReport


def average_windows(reports: Mapping[str, Report]) -> WindowsReport:
    """One report over the reports of several windows, which must have the same models, metrics and estimators."""
    _check_same(reports)
    first = next(iter(reports.values()))
    users = _Users(list(reports.values()))
    estimates: list[WindowEstimate] = []
    comparisons: list[WindowComparison] = []
    orders: list[WindowOrder] = []
    for metric, estimator in dict.fromkeys((row.metric, row.estimator) for row in first.estimates):
        lower = lower_is_better(first.settings, metric)
        terms = users.terms(metric, estimator)
        rows = list(_estimates(list(reports.values()), metric, estimator, users, terms))
        estimates += rows
        orders.append(_order(list(reports.values()), rows, metric, estimator, lower=lower))
        comparisons += _compare(list(reports.values()), metric, estimator, users, terms, lower=lower)
    return WindowsReport(dict(reports), tuple(estimates), tuple(comparisons), tuple(orders))


class _Users:
    """The users of all windows: a user who is in several has one place."""

    def __init__(self, reports: list[Report]) -> None:
        self.reports = reports
        vocabularies = [report.inputs.split.user_vocabulary for report in reports]
        joined = vocabularies[0]
        for vocabulary in vocabularies[1:]:
            joined = joined.union(vocabulary)
        self.places: list[Ints] = [vocabulary.codes_in(joined) for vocabulary in vocabularies]
        self.total = len(joined)

    def terms(self, metric: str, estimator: str) -> list[dict[str, Terms]]:
        """The terms of each model, window by window."""
        return [
            {
                model: terms
                for cell in report.estimated.cells
                if (str(cell.metric), str(cell.estimator)) == (metric, estimator)
                for model, terms in cell.terms.items()
            }
            for report in self.reports
        ]

    def influences(self, by_window: list[Floats | None], terms: list[Terms]) -> list[Floats] | None:
        """The influences of one estimate with one place per user; None if a window has too few users for an error.

        Units that are not users of known codes have places of their own, in each window others.
        """
        extra = [0 if term.who is None else len(term.who) for term in terms]
        beyond = [len(term.numerator) - known for term, known in zip(terms, extra, strict=True)]
        starts = self.total + np.concatenate([[0], np.cumsum(beyond)])
        placed = []
        for window, (influence, term) in enumerate(zip(by_window, terms, strict=True)):
            if influence is None:
                return None
            whole = np.zeros(int(starts[-1]))
            known = extra[window]
            if term.who is not None:
                whole[self.places[window][term.who]] = influence[:known]
            whole[starts[window] : starts[window + 1]] = influence[known:]
            placed.append(whole)
        return placed

    def mean(self, model: str, terms: list[dict[str, Terms]], other: str | None = None) -> Mean:
        """The mean over windows of a model's estimate, or of its difference from another model's."""
        of_model = [each[model] for each in terms]
        values: list[float | None] = [term.value for term in of_model]
        influences = [influence_of(term) for term in of_model]
        if other is not None:
            against = [each[other] for each in terms]
            pairs = list(zip(of_model, against, strict=True))
            values = [None if a.value is None or b.value is None else a.value - b.value for a, b in pairs]
            lacks = any(len(a.numerator) != len(b.numerator) for a, b in pairs)
            gaps = [(influence_of(a), influence_of(b)) for a, b in pairs]
            influences = [None if lacks or a is None or b is None else a - b for a, b in gaps]
        placed = self.influences(influences, of_model)
        if placed is None:  # without errors of users there is only the mean
            known = [value for value in values if value is not None]
            value = float(np.mean(known)) if len(known) == len(values) else None
            return Mean(value)
        return mean_of_replicates(values, placed)


def _estimates(
    reports: list[Report], metric: str, estimator: str, users: _Users, terms: list[dict[str, Terms]]
) -> Iterator[WindowEstimate]:
    rows = [
        {row.model: row for row in report.estimates if (row.metric, row.estimator) == (metric, estimator)}
        for report in reports
    ]
    level = reports[0].settings.level
    for model, row in rows[0].items():
        mean = users.mean(model, terms)
        low, high = mean.bounds(level)
        yield WindowEstimate(
            model=model,
            metric=metric,
            estimator=estimator,
            target=row.target,
            value=mean.value,
            std_error=mean.std_error,
            low=low,
            high=high,
            level=level,
            users_error=mean.users_error,
            windows_error=mean.replicates_error,
            values=tuple(each[model].value for each in rows),
            users=tuple(each[model].users for each in rows),
        )


def _order(
    reports: list[Report], rows: list[WindowEstimate], metric: str, estimator: str, *, lower: bool
) -> WindowOrder:
    sign = 1.0 if lower else -1.0
    defined = [row for row in rows if row.value is not None]
    best_first = sorted(defined, key=lambda row: (sign * (row.value or 0.0), row.model))
    orders = [ranked(report.estimates, metric, estimator, lower=lower) for report in reports]
    return WindowOrder(
        metric,
        estimator,
        tuple(row.model for row in best_first),
        tuple(tuple(row.model for row in order) for order in orders),
    )


def _compare(
    reports: list[Report], metric: str, estimator: str, users: _Users, terms: list[dict[str, Terms]], *, lower: bool
) -> list[WindowComparison]:
    level, sign = reports[0].settings.level, -1.0 if lower else 1.0
    by_window = [
        {(row.a, row.b): row for row in report.comparisons if (row.metric, row.estimator) == (metric, estimator)}
        for report in reports
    ]
    single = holm(
        {(pair, place): row.p_value for place, rows in enumerate(by_window) for pair, row in rows.items()}
    )  # of all pairs in all windows
    compared = []
    for a, b in combinations(terms[0], 2):
        mean = users.mean(a, terms, b)
        low, high = mean.bounds(level)
        gaps = tuple(rows[a, b].difference for rows in by_window)
        signs = [sign * gap for gap in gaps if gap is not None]
        shown = {np.sign(gap) for place, gap in enumerate(gaps) if gap and _below(single[(a, b), place], 1 - level)}
        compared.append(
            WindowComparison(
                metric=metric,
                estimator=estimator,
                a=a,
                b=b,
                difference=mean.value,
                std_error=mean.std_error,
                low=low,
                high=high,
                p_value=mean.p_value,
                p_value_holm=None,
                users_error=mean.users_error,
                windows_error=mean.replicates_error,
                differences=gaps,
                better=sum(gap > 0 for gap in signs),
                turns=any(gap > 0 for gap in signs) and any(gap < 0 for gap in signs),
                turn_shown=len(shown) == 2,
            )
        )
    adjusted = holm({(row.a, row.b): row.p_value for row in compared})
    return [replace(row, p_value_holm=adjusted[row.a, row.b]) for row in compared]


def _below(p: float | None, limit: float) -> bool:
    return p is not None and p < limit


def _check_same(reports: Mapping[str, Report]) -> None:
    """Refuse windows that have other models, metrics or estimators than the first."""
    (name, first), *others = reports.items()
    keys = [(row.model, row.metric, row.estimator) for row in first.estimates]
    for other, report in others:
        given = [(row.model, row.metric, row.estimator) for row in report.estimates]
        if given != keys:
            odd = next(iter({*given} ^ {*keys}), keys[0])
            raise ConfigError(
                f"windows {name} and {other} do not have the same estimates: only one has {' '.join(odd)}; give every "
                "window the same models, and name the estimators"
            )
