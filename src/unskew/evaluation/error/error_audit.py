"""The error audit: simulate evaluations on logs like the user's, and say how wrong they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from time import perf_counter

import numpy as np

from unskew.arrays import Floats
from unskew.data import Interactions, Split
from unskew.errors import ConfigError, DataError
from unskew.estimators import Comparison, normal_quantile
from unskew.evaluation.error.corrections import Correction
from unskew.evaluation.error.depths import Plan
from unskew.evaluation.error.error_result import (
    ORACLE,
    OWN_USERS,
    POPULAR,
    POPULATION,
    POWER,
    ErrorAudit,
    PairRow,
    ValueRow,
    labelled,
)
from unskew.evaluation.error.likeness import Likened, liken
from unskew.evaluation.error.own_models import Casting, Observed, Seen
from unskew.evaluation.error.runs import Trials, run_trials
from unskew.evaluation.error.summary import PairSummary, Summary, smallest_detectable, wrong_winner
from unskew.evaluation.settings import Settings
from unskew.evaluation.stages import Stage

FORMS = ("snips", "snips(per=balanced)", "snips(per=user)")
"""What can be computed on a log, besides the naive average."""
CORRECTIONS = (Correction(), *(Correction(form, "estimated") for form in FORMS), Correction("snips", "true"))
HOLDOUT = 0.2
"""Share held out in the world when nothing is on the log."""
ALIKE = 0.05
"""Numbers of users that differ by less are taken for the same."""


def audit_error(
    plan: Plan | None,
    split: Split,
    settings: Settings,
    seen: Seen | None,
    models: bool,
    threads: int | None,
    progress: Stage | None,
) -> tuple[ErrorAudit | None, tuple[str, ...]]:
    """Simulate as planned; None when nothing was, or, with the reason, when the log is too small for it.

    A world that was given, in words or as saved parameters, and cannot be drawn is refused instead.
    """
    if plan is None:
        return None, ()
    try:
        return ErrorRun(plan, split, settings, seen, seen is None and models, threads, progress).run()
    except (DataError, ConfigError) as error:
        if plan.given is not None:
            raise
        return None, (f"nothing was simulated, so how wrong an evaluation can be is not known: {error}",)


@dataclass(frozen=True, eq=False)
class ErrorRun:
    """Makes an error audit.

    Parameters
    ----------
    plan : Plan
    split : Split
        Its test is empty when nothing is held out.
    settings : Settings
    seen : Seen, optional
        The user's models on the held-out rows.
    unjudged : bool
        Whether there are models, but no held-out rows to judge them on.
    threads : int, optional
    progress : callable, optional
    """

    plan: Plan
    split: Split
    settings: Settings
    seen: Seen | None = None
    unjudged: bool = False
    threads: int | None = None
    progress: Stage | None = None

    def run(self) -> tuple[ErrorAudit, tuple[str, ...]]:
        """The audit, and what should be read with care."""
        start, depth = perf_counter(), self.plan.depth
        rows = _joined(self._counted(self.split.train), self._counted(self.split.test))
        share = len(self._counted(self.split.test)) / len(rows)
        holdout = share if share > 0 else HOLDOUT
        likened = liken(rows, holdout, self.plan, seed=self.settings.seed, threads=self.threads, progress=self.progress)
        trials = self._trials(likened, depth.runs)
        scale = self._scale(likened, trials)
        pairs, errors = list(_reference(trials, scale)), _errors(trials, [(ORACLE, POPULAR)], scale)
        values = list(_values(trials, scale, {}))
        casting = None
        if self.seen is not None:
            casting = Casting(self.seen, likened, self.plan, self.settings, CORRECTIONS, self.threads, self.progress)
            own = casting.run()
            values += _values(own, scale, {row.model: row.how for row in casting.rows})
            for observed in self.seen.observed():
                row, spread = _own(own, observed)
                pairs.append(row)
                errors[row.a, row.b, row.metric, row.label] = spread
        found = ErrorAudit(
            likened=likened,
            depth=self.plan.name,
            runs=len(trials),
            model_runs=0 if casting is None else casting.runs,
            level=self.settings.level,
            holdout=holdout,
            values=tuple(values),
            pairs=tuple(pairs),
            models=() if casting is None else tuple(casting.rows),
            missing=self._missing(),
            seconds=perf_counter() - start,
            errors=errors,
        )
        return found, (*likened.notes, *(() if casting is None else casting.notes))

    def _counted(self, rows: Interactions) -> Interactions:
        positive = self.settings.positive
        return rows if positive is None or not len(rows) else rows.where(positive)

    def _trials(self, likened: Likened, runs: int) -> Trials:
        return run_trials(
            likened.world,
            runs,
            (ORACLE, POPULAR),
            metrics=[str(metric) for metric in self.settings.metrics],
            corrections=CORRECTIONS,
            level=self.settings.level,
            panel=True,
            seed=self.settings.seed,
            threads=self.threads,
            progress=self.progress,
        )

    def _scale(self, likened: Likened, trials: Trials) -> float:
        """By how much less errors spread with the users of the log than with those simulated."""
        if self.seen is not None:
            ratio = float(trials.users.mean()) / self.seen.users
        else:
            ratio = likened.users / likened.log_users
        return 1.0 if abs(ratio - 1) < ALIKE else sqrt(ratio)

    def _missing(self) -> str:
        if self.seen is not None and self.seen.pairs:
            return ""
        if self.unjudged:
            return (
                "there are no held-out rows, so no observed difference: give a test (--test) to learn the chance that "
                "the seeming winner of your models is the worse one"
            )
        return (
            "give two models, as --model als --model popular, or --scores of yours with a --test, to learn the chance "
            "that the seeming winner is the worse one"
        )


def _joined(train: Interactions, test: Interactions) -> Interactions:
    """Rows of both, once each."""
    if not len(test):
        return train
    return Interactions(
        np.append(train.users, test.users),
        np.append(train.items, test.items),
        train.user_vocabulary,
        train.item_vocabulary,
        name=train.name,
    ).distinct()


def _scaled(errors: Floats, scale: float, level: float = 1.0) -> Floats:
    """Errors with their spread times one factor and their mean times another."""
    if not len(errors):
        return errors
    mean = float(errors.mean())
    return np.asarray(mean * level + (errors - mean) * scale)


def _split_label(trials: Trials, label: str) -> Correction:
    return trials.design.corrections[trials.design.labels.index(label)]


def _columns(trials: Trials) -> Iterator[tuple[str, str]]:
    for metric in trials.design.metrics:
        for label in trials.design.labels:
            yield metric, label


def _errors(trials: Trials, pairs: Sequence[tuple[str, str]], scale: float) -> dict[tuple[str, str, str, str], Floats]:
    summary, found = Summary(trials), {}
    for a, b in pairs:
        for metric, label in _columns(trials):
            off = summary.errors(a, b, metric, label, population=True)
            correction = _split_label(trials, label)
            found[a, b, metric, labelled(correction.estimator, correction.propensity)] = _scaled(off, scale)
    return found


def _reference(trials: Trials, scale: float) -> Iterator[PairRow]:
    """The oracle against the popular list."""
    summary = Summary(trials)
    for metric, label in _columns(trials):
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


def _own(trials: Trials, observed: Observed) -> tuple[PairRow, Floats]:
    """A pair of the user's models at the observed difference.

    The spread of the error is the standard error on the user's own rows times how much wider errors spread in the
    simulation than standard errors say there. The mean error is that of the simulation in proportion to the level of
    the metric, which may be another in the world than on the log.
    """
    comparison, summary = observed.comparison, Summary(trials)
    correction = next(each for each in trials.design.corrections if each.estimator == comparison.estimator)
    a, b, metric, label = comparison.a, comparison.b, comparison.metric, correction.label
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
        correction,
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
    correction: Correction,
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
        estimator=correction.estimator,
        propensity=correction.propensity,
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
    cells = [summary.cell(name, pair.metric, pair.correction).estimate for name in (pair.a, pair.b)]
    known = [value for value in cells if value is not None]
    return float(np.mean(known)) if known else None


def _values(trials: Trials, scale: float, how: Mapping[str, str]) -> Iterator[ValueRow]:
    """Of the recommenders of a set of trials."""
    summary = Summary(trials)
    for cell in summary.cells:
        correction = _split_label(trials, cell.correction)
        strangers = cell.coverage_population is not None
        yield ValueRow(
            recommender=cell.recommender,
            metric=cell.metric,
            estimator=correction.estimator,
            propensity=correction.propensity,
            runs=cell.runs,
            about=POPULATION if strangers else OWN_USERS,
            truth=cell.truth,
            bias=cell.bias,
            error=None if cell.bias is None or cell.spread is None else hypot(cell.bias, cell.spread * scale),
            coverage=cell.coverage_population if strangers else cell.coverage,
            role=how.get(cell.recommender, "reference"),
        )
