"""Rows of an error audit, made from the trials in one world: errors of values and of differences."""

from collections.abc import Iterator, Mapping
from itertools import product
from math import hypot

import numpy as np

from unskew.arrays import Floats
from unskew.audit.error.own_models import Observed
from unskew.audit.error.result import (
    ORACLE,
    OWN_USERS,
    POPULAR,
    POPULATION,
    POWER,
    PairRow,
    ValueRow,
    labelled,
)
from unskew.estimators import Comparison, normal_quantile
from unskew.trials.methods import Method
from unskew.trials.runs import Trials
from unskew.trials.summary import PairSummary, Summary, smallest_detectable, wrong_winner


def _scaled(errors: Floats, scale: float, level: float = 1.0) -> Floats:
    """Errors with their spread times one factor and their mean times another."""
    if not len(errors):
        return errors
    mean = float(errors.mean())
    return np.asarray(mean * level + (errors - mean) * scale)


def _split_label(trials: Trials, label: str) -> Method:
    return trials.design.methods[trials.design.labels.index(label)]


def reference_errors(trials: Trials, scale: float) -> dict[tuple[str, str, str, str], Floats]:
    """Error of the difference in each run, oracle minus popular list, by (a, b, metric, label)."""
    summary, errors = Summary(trials), {}
    for metric, label in product(trials.design.metrics, trials.design.labels):
        off = summary.errors(ORACLE, POPULAR, metric, label, population=True)
        method = _split_label(trials, label)
        errors[ORACLE, POPULAR, metric, labelled(method.estimator, method.propensity)] = _scaled(off, scale)
    return errors


def reference_rows(trials: Trials, scale: float) -> Iterator[PairRow]:
    """Yield rows of the oracle against the popular list; errors spread `scale` times as much as in the trials."""
    summary = Summary(trials)
    for metric, label in product(trials.design.metrics, trials.design.labels):
        pair = summary.pair(ORACLE, POPULAR, metric, label)
        errors = _scaled(summary.errors(ORACLE, POPULAR, metric, label, population=True), scale)
        truth = _true_gaps(trials, metric, label)
        seen = truth + _scaled(summary.errors(ORACLE, POPULAR, metric, label), scale)
        yield _pair_row(
            pair,
            _split_label(trials, label),
            errors,
            about=POPULATION,
            level=_level(summary, pair),
            trials=trials,
            coverage=pair.coverage_population,
            wrong=float(np.mean(np.where(truth > 0, seen < 0, seen > 0))),
            observed=None,
        )


def _true_gaps(trials: Trials, metric: str, label: str) -> Floats:
    p, sign = trials.design.pair(ORACLE, POPULAR)
    m, c = trials.design.metrics.index(metric), trials.design.labels.index(label)
    return np.asarray(sign * trials.true_difference[:, p, m, c])


def own_row(trials: Trials, observed: Observed) -> tuple[PairRow, Floats]:
    """A pair of the user's models at the observed difference, with its errors.

    The spread of the error is the standard error on the user's own rows, times the ratio of the spread of errors to the
    standard error in the simulation. The mean error is that of the simulation, in proportion to the level of the
    metric, which may differ between the world and the log.
    """
    comparison, summary = observed.comparison, Summary(trials)
    method = next(each for each in trials.design.methods if each.estimator == comparison.estimator)
    a, b, metric, label = comparison.a, comparison.b, comparison.metric, method.label
    pair = summary.pair(a, b, metric, label)
    errors, about = summary.errors(a, b, metric, label, population=True), POPULATION
    coverage = pair.coverage_population
    if not len(errors):
        errors, about, coverage = summary.errors(a, b, metric, label), OWN_USERS, pair.coverage
    simulated = _level(summary, pair)
    ratio = observed.level / simulated if simulated else 1.0
    claimed = _claimed(comparison, trials.design.level)
    spread = claimed / pair.std_error if claimed and pair.std_error else ratio
    errors = _scaled(errors, spread, ratio)
    gap = comparison.difference
    row = _pair_row(
        pair,
        method,
        errors,
        about=about,
        level=observed.level,
        trials=trials,
        coverage=coverage,
        wrong=None if gap is None or not len(errors) else wrong_winner(errors, gap).normal,
        observed=gap,
    )
    return row, errors


def _claimed(comparison: Comparison, level: float) -> float | None:
    """Standard error of the difference on the user's rows."""
    if comparison.low is None or comparison.high is None:
        return None
    return (comparison.high - comparison.low) / (2 * normal_quantile(level))


def _pair_row(
    pair: PairSummary,
    method: Method,
    errors: Floats,
    *,
    about: str,
    level: float | None,
    trials: Trials,
    coverage: float | None,
    wrong: float | None,
    observed: float | None,
) -> PairRow:
    several = len(errors) > 1
    return PairRow(
        a=pair.a,
        b=pair.b,
        metric=pair.metric,
        estimator=method.estimator,
        propensity=method.propensity,
        runs=pair.runs,
        about=about,
        reference=observed is None and pair.a == ORACLE,
        level=level,
        true_gap=pair.true_gap,
        observed=observed,
        bias=float(errors.mean()) if len(errors) else None,
        error=hypot(float(errors.mean()), float(errors.std(ddof=1))) if several else None,
        coverage=coverage,
        wrong_winner=wrong,
        smallest=smallest_detectable(errors, level=trials.design.level, power=POWER) if several else None,
    )


def _level(summary: Summary, pair: PairSummary) -> float | None:
    cells = [summary.cell(name, pair.metric, pair.method).estimate for name in (pair.a, pair.b)]
    known = [value for value in cells if value is not None]
    return float(np.mean(known)) if known else None


def value_rows(trials: Trials, scale: float, how: Mapping[str, str]) -> Iterator[ValueRow]:
    """Yield the rows of all recommenders of the trials; `how` maps a model of the user to how it took part."""
    summary = Summary(trials)
    for cell in summary.cells:
        method = _split_label(trials, cell.method)
        strangers = cell.coverage_population is not None
        yield ValueRow(
            recommender=cell.recommender,
            metric=cell.metric,
            estimator=method.estimator,
            propensity=method.propensity,
            runs=cell.runs,
            about=POPULATION if strangers else OWN_USERS,
            truth=cell.truth,
            bias=cell.bias,
            error=None if cell.bias is None or cell.spread is None else hypot(cell.bias, cell.spread * scale),
            coverage=cell.coverage_population if strangers else cell.coverage,
            role=how.get(cell.recommender, "reference"),
        )
