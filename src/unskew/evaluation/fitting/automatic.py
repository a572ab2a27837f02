"""`choose_automatic`: the estimator that ``auto`` is on a given log, and the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from unskew.data.candidates import All, Trained, Unseen
from unskew.data.concentration import spread_of_rates
from unskew.display.phrases import listed
from unskew.errors import Option, PropensityError
from unskew.estimators import OVER_ALL_PAIRS, Aoa, Auto, Blend, Estimator, Snips
from unskew.evaluation.fitting.relevance import POSITIVE_ONLY, fit_exposure, has_negatives, labelled_rows
from unskew.evaluation.fitting.selection import Evaluate
from unskew.evaluation.fitting.self_check import self_check, shape_of
from unskew.evaluation.run import Run
from unskew.evaluation.settings.admissible import no_sum
from unskew.metrics import AnyMetric
from unskew.propensities import Exposure, FittedExposure
from unskew.ranking import Ranks
from unskew.ranking.all_candidates.candidate_sums import POLICIES

RELEVANCE_ALONE = 0.31
"""Squared variation of the rates of positives over items in the world ``mar``, in which nothing is selected."""
ONE_SIDED = 2.33
"""Standard errors by which the variation must be larger, for a level of 1 %."""
LEAST_ROWS = 50
"""Held-out rows below which exposure is not learnt: ten per coefficient."""

WITH_SLICE = "auto is {estimator}, because there are random rows to check it with"
WITH_LABELS = "auto is {estimator}, because the log has rows that are not positive, from which relevance is learnt"
WITH_POSITIVES = (
    "auto is snips with propensity {propensity}, because all rows of the log count as positive; {labels}, or a slice "
    "of random rows, would allow a better estimate"
)
WITHOUT_SUMS = (
    "auto is snips with propensity {propensity}, because sums over all candidates, which a better estimate needs, are "
    "not possible with {why}"
)
WITH_PROPENSITY = "auto is snips, because a propensity was given"
WITH_WEIGHTS = (
    "auto is snips, because the test rows have weights, and those of other candidates, which a better estimate needs, "
    "are not known"
)
OVER_PAIRS = "auto is snips, because the run has metrics over all pairs"
UNSELECTED = (
    "the items of the log do not differ clearly more in their numbers of rows than they would without any selection "
    "(the squared variation of their rates is {spread:.2f} with a standard error of {error:.2f}, so it may be no more "
    "than the {alone:.2f} that relevance alone makes in simulated logs), and weights would then undo what users like"
)
NOTHING_LEARNABLE = "auto is the naive average, because {why}"
NOT_OF_METRICS = "{estimator} cannot estimate {metrics}"


SELF_CHECKED = (
    "In simulated logs of this size, skew and share of positives its error is {error:.2f} of the naive average's, and "
    "its order of models has a tau of {tau:.2f} with the true one ({naive:.2f} for the naive average)"
)
NOT_BETTER = (
    "in simulated logs of this size, skew and share of positives {estimator} is not better: its error is {error:.2f} "
    "of the naive average's, and its tau with the true order {tau:.2f} ({naive:.2f} for the naive average)"
)
LOSES_ORDER = (
    "in simulated logs of this size, skew and share of positives {estimator} is closer to the truth (its error is "
    "{error:.2f} of the naive average's) but orders models worse: its tau with the true order is {tau:.2f}, and "
    "{naive:.2f} for the naive average"
)


@dataclass(frozen=True)
class AutoChoice:
    """What ``auto`` is on a log."""

    estimator: str
    propensity: str
    sentence: str

    def to_dict(self) -> dict[str, str]:
        """As in the JSON."""
        return {"estimator": self.estimator, "propensity": self.propensity, "why": self.sentence}


def choose_automatic(run: Run, models: Mapping[str, Any], evaluate: Evaluate) -> tuple[Run, AutoChoice | None]:
    """Replace ``auto`` by the estimator that suits the data; None if it was not asked for.

    Without random rows the estimator must have been closer to the truth than the naive average, with its order not
    lost, on simulated logs of the same size, skew and share of positives. If not, ``auto`` is the naive average.
    """
    settings = run.settings
    if not any(isinstance(estimator, Auto) for estimator in settings.estimators):
        return run, None
    estimator, propensity, sentence, fitted = (
        _choose(run, models) if run.split.test.relative_weights is None else (Snips(), None, WITH_WEIGHTS, None)
    )
    metrics = [metric for metric, asked in settings.pairs if isinstance(asked, Auto)]
    if all(_for_metric(estimator, metric) is None for metric in metrics):
        why = NOT_OF_METRICS.format(estimator=estimator, metrics=listed(map(str, metrics)))
        estimator, propensity, sentence, fitted = Aoa(), None, NOTHING_LEARNABLE.format(why=why), None
    if fitted is not None:  # it was chosen for this log, and no random row can check it
        estimator, propensity, sentence = _checked(run, estimator, propensity, sentence, evaluate)
    pairs: dict[tuple[str, str], tuple[AnyMetric, Estimator]] = {}
    for metric, asked in settings.pairs:
        kept = _for_metric(estimator, metric) if isinstance(asked, Auto) else asked
        if kept is not None:
            pairs[str(metric), str(kept)] = metric, kept
    for metric in settings.metrics:  # a metric that only auto was asked for is at least averaged
        if not any(word == str(metric) for word, _ in pairs):
            pairs[str(metric), str(Aoa())] = metric, Aoa()
    settings = replace(settings, pairs=tuple(pairs.values()))
    weighted = any(other.uses_propensity for other in settings.estimators)
    blended = POSITIVE_ONLY if isinstance(estimator, Blend) and estimator.q == "slice" else Exposure()
    if isinstance(estimator, Blend) and not weighted:
        propensity = blended
    if propensity is not None:
        settings = replace(settings, propensity=propensity, propensity_named=True)
    weights = blended if isinstance(estimator, Blend) else settings.propensity
    used = "" if isinstance(estimator, Aoa) else str(weights)
    return replace(run, settings=settings), AutoChoice(str(estimator), used, sentence)


def _checked(
    run: Run, estimator: Estimator, propensity: Exposure | None, sentence: str, evaluate: Evaluate
) -> tuple[Estimator, Exposure | None, str]:
    """The estimator and its sentence with the result of the self-check; the naive average if it fails."""
    shape = shape_of(run.split.train, run.split.test, labelled_rows(run).label)
    check = self_check(shape, str(estimator), "" if propensity is None else str(propensity), evaluate)
    if check.passes:
        numbers = {"error": check.error, "tau": check.tau, "naive": check.naive_tau}
        return estimator, propensity, f"{sentence}. {SELF_CHECKED.format(**numbers)}"
    reason = NOT_BETTER if check.error >= 1 else LOSES_ORDER
    why = reason.format(estimator=estimator, error=check.error, tau=check.tau, naive=check.naive_tau)
    return Aoa(per="pair"), None, NOTHING_LEARNABLE.format(why=why)


def _choose(run: Run, models: Mapping[str, Any]) -> tuple[Estimator, Exposure | None, str, FittedExposure | None]:
    settings, split = run.settings, run.split
    named = settings.propensity_named or split.test.propensity is not None
    if named or any(metric.kind in OVER_ALL_PAIRS for metric in settings.metrics):
        return Snips(), None, WITH_PROPENSITY if named else OVER_PAIRS, None
    ready = any(isinstance(part, Ranks) for given in models.values() for part in _parts(given))
    whole = isinstance(split.rule, Unseen | All | Trained)
    obstacles = {
        "saved ranks": ready,
        "users of each model": settings.users == "served",
        f"ties={settings.ties}": settings.ties not in POLICIES,
    }
    summable = whole and not any(obstacles.values())
    labelled = has_negatives(run)
    if summable and split.slice is not None:
        blend = Blend() if labelled else Blend(q="slice")
        return blend, None, WITH_SLICE.format(estimator=blend), None
    try:
        fitted = _learn(run, labelled=labelled)
    except PropensityError as error:
        return Aoa(per="pair"), None, NOTHING_LEARNABLE.format(why=_clause(error)), None
    if summable and labelled:
        return Blend(), None, WITH_LABELS.format(estimator=Blend()), fitted
    if labelled or split.slice is not None:
        why = listed(name for name, holds in obstacles.items() if holds)
        return Snips(), POSITIVE_ONLY, WITHOUT_SUMS.format(propensity=POSITIVE_ONLY, why=why), fitted
    rated = settings.positive is None and split.train.values is not None
    labels = f"a condition for its ratings, such as {Option('positive', 'rating>=4')}" if rated else "rows that are not"
    return Snips(), POSITIVE_ONLY, WITH_POSITIVES.format(propensity=POSITIVE_ONLY, labels=labels), fitted


def _learn(run: Run, *, labelled: bool) -> FittedExposure:
    """The exposure model of a log; an error says why there is none."""
    split = run.split
    if not isinstance(split.rule, Unseen | All | Trained):
        raise PropensityError(f"the candidates are {split.rule}, so which ones were shown cannot be learnt")
    if not len(split.train):
        raise PropensityError("train has no rows")
    if len(split.test) < LEAST_ROWS:
        raise PropensityError(f"{len(split.test)} held-out rows are too few to learn exposure")
    if not labelled:
        _refuse_unselected(run)
    return fit_exposure(POSITIVE_ONLY, split)


def _refuse_unselected(run: Run) -> None:
    """Refuse positives whose items differ in their counts no more than relevance alone makes them differ.

    Popular items may be those that are shown, or those that are liked, and positives alone cannot show which. Weights
    are right in the first case, and harmful in the second.
    """
    counts = run.split.train.item_counts + run.split.test.item_counts
    spread, spread_error = spread_of_rates(counts.astype(float))
    if spread - ONE_SIDED * spread_error <= RELEVANCE_ALONE:
        raise PropensityError(UNSELECTED.format(spread=spread, error=spread_error, alone=RELEVANCE_ALONE))


def _for_metric(estimator: Estimator, metric: AnyMetric) -> Estimator | None:
    """The estimator if it can estimate the metric; `snips` for metrics over all pairs, and None otherwise."""
    if metric.kind in OVER_ALL_PAIRS:
        return Snips()
    if isinstance(estimator, Aoa):
        return estimator if metric.kind == "mean" else Aoa()
    if isinstance(estimator, Blend) and no_sum(metric) is not None:
        return None
    return estimator if metric.kind in estimator.kinds else None


def _parts(given: Any) -> tuple[Any, ...]:
    return given if isinstance(given, tuple) else (given,)


def _clause(error: PropensityError) -> str:
    """The first clause of a message, as the reason in a sentence."""
    return str(error).split(";", maxsplit=1)[0]
