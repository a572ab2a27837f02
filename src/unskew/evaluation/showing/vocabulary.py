"""The two vocabularies of a verdict, a corrected log or a random sample, and what a correction assumes."""

from collections.abc import Iterable
from dataclasses import dataclass

from unskew import propensities
from unskew.data.candidates import Candidates, Unseen
from unskew.display.numbers import signed
from unskew.errors import Option
from unskew.estimators import Estimate
from unskew.metrics import AnyMetric
from unskew.propensities import GammaRange, PropensityModel


@dataclass(frozen=True)
class Voice:
    """How a verdict speaks of the naive number, of the one that corrects it, and of the data."""

    naive: str  # the two numbers, within a sentence
    corrected: str
    uncorrected: str  # the naive number where there is no other
    act: str  # what leads from one to the other
    with_act: str  # where the value of a model that is judged alone comes from
    without_act: str
    undefined: str  # headline when no corrected value is defined
    nothing: str  # headline when none was asked for
    data: str


OF_A_LOG = Voice(
    naive="the naive average over the same target",
    corrected="the corrected estimate",
    uncorrected="the naive average",
    act="Correcting for the skew",
    with_act="corrected for the skew",
    without_act="without",
    undefined="No corrected estimate is defined, so the models cannot be compared free of the skew of the log.",
    nothing="Only naive averages were computed: nothing here is corrected for the skew of the log.",
    data="log",
)
OF_A_SAMPLE = Voice(
    naive="the sample alone",
    corrected="the estimate over all candidates",
    uncorrected="the sample alone",
    act="Ranking all candidates, and not the exposed ones alone,",
    with_act="over all candidates",
    without_act="inside the sample",
    undefined="No estimate over all candidates is defined, so the models cannot be compared beyond the sample.",
    nothing="Only the exposed items were ranked: nothing here tells how the models do among all candidates.",
    data="sample",
)
_CHANCE = "a pair's chance to be observed"
_SAMPLE = "that the sample of ratings was drawn at random"
_DEPENDS: tuple[tuple[type[PropensityModel], str], ...] = (
    (propensities.NaiveBayes, f"{_CHANCE} depends on its rating alone, and {_SAMPLE}"),
    (propensities.Logistic, f"{_CHANCE} follows a logistic model of the given covariates, whatever its rating"),
    (propensities.Boosted, f"{_CHANCE} depends on the given covariates alone, whatever its rating"),
    (
        propensities.Combined,
        f"{_CHANCE} depends on the given covariates and, independently of them, on its rating, and {_SAMPLE}",
    ),
)


def describe_assumption(model: PropensityModel, assumed: GammaRange | None = None) -> str:
    """What must hold for the corrected numbers to be right, and over which gammas they were made."""
    if isinstance(model, propensities.Uniform):
        return "The propensity is uniform, so nothing is corrected: each estimate equals its naive counterpart."
    if isinstance(model, propensities.Popularity):
        gamma = signed(model.known_gamma)
        text = (
            f"The correction assumes that an item's chance to be observed follows its popularity in training, with "
            f"gamma {gamma}. The interval does not cover an error in that"
        )
        if assumed is None:
            return f"{text}."
        low, high = signed(assumed.low), signed(assumed.high)
        return f"{text}; the range over what may be assumed covers gamma {low} to {high}, and nothing else."
    depends = next((words for kind, words in _DEPENDS if isinstance(model, kind)), None)
    if depends is not None:
        return (
            f"The correction assumes that {depends}. No interval covers an error in that; the section on propensities "
            "shows how far they add up."
        )
    if isinstance(model, propensities.Column):
        return "The correction takes the test file's own propensities as true. No interval covers an error in that."
    return f"The correction takes the propensity {model} as true. No interval covers an error in that."


def describe_draw(population: Candidates) -> str:
    """What must hold for estimates from exposed items to be right."""
    among = "the items that a user does not have in train" if isinstance(population, Unseen) else "all items"
    return (
        f"The estimates over all candidates assume that each user's exposed items were drawn from {among} with equal "
        "chances, and that all of them were labelled. No interval covers an error in that."
    )


def naive_only(metric: AnyMetric) -> str:
    """Say that a metric is not corrected here, and which one could be."""
    cutoff = "" if metric.cutoff is None else f"@{metric.cutoff}"
    if metric.kind in {"mean", "loss", "graded"}:
        return f"{metric} is the naive average only; {Option('estimator', 'snips')} corrects it"
    why = "its value depends on relevant items that were never observed"
    if metric.kind == "sum":
        why = "a sum over relevant items has no mean over pairs"
    instead = f"adg{cutoff} and recall{cutoff} can be" if cutoff else "adg and auc can be"
    return f"{metric} is the naive average only, because {why}; {instead} corrected"


def targets_of(rows: Iterable[Estimate]) -> dict[str, str]:
    """What each estimator aims at; more than one thing when metrics are of several kinds."""
    by_estimator: dict[str, dict[str, None]] = {}
    for row in rows:
        by_estimator.setdefault(row.estimator, {})[row.target] = None
    return {estimator: " / ".join(targets) for estimator, targets in by_estimator.items()}
