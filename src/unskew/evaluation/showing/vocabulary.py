"""The sentences of a verdict, as templates, and its two vocabularies: of a corrected log and of a random sample."""

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
    """Words of a verdict that depend on the kind of data."""

    naive: str  # name of the naive estimate, within a sentence
    corrected: str  # name of the estimate that corrects it
    uncorrected: str  # name of the naive estimate where there is no other
    act: str  # what turns the naive estimate into the other, as the subject of a sentence
    with_act: str  # where the corrected value of a model that is judged alone comes from
    without_act: str  # where its naive value comes from
    undefined: str  # headline when no corrected value is defined
    nothing: str  # headline when no corrected value was asked for
    data: str  # what the rows are: a log or a sample


OF_A_LOG = Voice(
    naive="the naive average over the same target",
    corrected="the corrected estimate",
    uncorrected="the naive average",
    act="Correcting for the skew",
    with_act="corrected for the skew",
    without_act="without",
    undefined="No corrected estimate is defined, so the models cannot be compared without the skew of the log.",
    nothing="Only naive averages were computed: nothing here is corrected for the skew of the log.",
    data="log",
)
OF_A_SAMPLE = Voice(
    naive="the sample alone",
    corrected="the estimate over all candidates",
    uncorrected="the sample alone",
    act="Ranking all candidates instead of only the exposed ones",
    with_act="over all candidates",
    without_act="inside the sample",
    undefined="No estimate over all candidates is defined, so the models cannot be compared beyond the sample.",
    nothing="Only the exposed items were ranked: nothing here shows how the models do among all candidates.",
    data="sample",
)

# headlines
NOTHING_TO_COMPARE = "No two models are judged by the same metric, so there is nothing to compare."
ONLY_CONTENT = "The metrics of this run describe the lists; none of them says which model is better."
UNIFORM = "The propensity is uniform, so nothing here is corrected for the skew of the log."
WINNER_CHANGES = "{act} changes the winner from {before} to {after} on {metrics}."
BEST = "{model} is best of {n} models on {metrics}"
LEVEL = "{models} are level on {metrics}"
CHANCE = "by {corrected} no model is shown to be better than a random order on {metrics}"
DEPENDS = "the best model on {metrics} depends on the {what}: {models}"
ASSUMED_BIAS, METHOD = "assumed bias", "method"
"""What the best model may depend on."""
OPEN = "this {data} cannot separate {models} on {metrics}"
OPEN_TOO = "nor {models} on {metrics}"
NOT_AMONG_THEM = " ({models}, first by {naive}, not among them)"
OTHER_ANSWERS = "{n} more metrics have other answers"
OTHER_ANSWER = "1 more metric has another answer"
ALONE = "{model} is judged alone, so there is nothing to compare it with."
ALONE_WITH = "{model} is judged alone: its {metric} is {value} {with_act}{interval}, {naive} {without_act}."
ALONE_INTERVAL = "{level} interval {low} to {high}"
ALONE_ASSUMED = "; {low} to {high} over what may be assumed"
_EMPTY = "An empty list counts as 0 under a cut-off and as a random order otherwise. Judged in this way, {headline}"
EMPTY_LISTS = (
    "{models} no lists for {missing:,} of {users:,} users ({share:.0f} % of the rows) whom another model serves. "
    f"{_EMPTY}"
)
SOME_EMPTY_LISTS = (
    "{models} no lists for some users whom another model serves; {missing:,} of {users:,} users ({share:.0f} % of the "
    f"rows) are not served by every model. {_EMPTY}"
)
FOREIGN_ITEMS = (
    "{places} hold items of neither train nor test, which are always misses: if their ids are written wrongly, these "
    "lists are judged too low."
)
NO_COMMON_USER = "There is no user whom all models know."
COMMON_USERS = "On the {users:,} users whom all models know, {headline}"

# summary
MAY_REPEAT = (
    "This is about recommenders that may repeat what a user already has (population all): {shared:,} of {rows:,} "
    "exposed rows are in train, so a model may have memorised them."
)
SERVED = "Each model is judged on the users it knows, and two models are compared on the users whom both know."
TOO_FEW_USERS = (
    "There are too few users to estimate what chance could do, so this {data} cannot separate any two models."
)
BEST_MEANS = "Best means better than every other model beyond chance (after Holm's correction){gammas}."
BEST_AT_GAMMAS = ", and first at every gamma tried from {low} to {high}"
HOLDS_FOR = (
    "On {metric} that holds for gamma {low} to {high}; at other gammas no model is shown to beat a random order."
)
FEW_USERS_DECIDE = (
    "A small p-value does not count as beyond chance where the effective number of users is small (Student's t)."
)
NOT_ABOVE_POPULAR = "{who} clearly better than the baseline “popular” on {metrics}."
POPULAR_ABOVE = "The baseline “popular” is clearly better {models} on {metrics}."
NAMES_DIFFER = "On {metrics} {naive} and {corrected} name different models, {why}."
NOT_BOTH = "but not both beyond chance"
NOT_ON_COMMON_USERS = "but not on the users whom all models know"
NOT_AT_ALL_ASSUMED = "but not under everything that may be assumed"

# findings
NO_VALUE = "No model has a defined value."
NONE_ABOVE_CHANCE = (
    "By {by}, no model is shown to be better than a random order, which would have {chance}; {model} is first, with "
    "{value}."
)
HAS = "{model} has {value} by {by}."
ALL_LEVEL = "By {by}, {models} are level, with {value}."
ONLY_BEST = "By {by}, only {model} may be best, with {value}."
MAY_BE_BEST = "By {by}, {models} may be best: this {data} cannot separate them."
LEADS = "{a} leads {b} by {gap}"
LEADS_UNSURE = "{lead}; there is no interval, so it is not known how certain that is."
LEAD_INTERVAL = "{lead} ({level} interval of this pair alone {low} to {high})"
BEYOND_CHANCE = "{lead}, more than chance explains ({p} after Holm)."
WITHIN_CHANCE = "{lead}, which chance alone can explain ({p} after Holm)."
WITHIN_FEW_USERS = (
    "{lead}, which chance alone can explain ({p} after Holm, but the weights leave only {users:.2g} effective users)."
)
NAIVE_HAS = "{naive} has {value}."
NAIVE_CHANGES = "{naive} disagrees: {models} {best}. Each of the two leads the other beyond chance by its own estimate."
NAIVE_DISAGREES = "{naive} disagrees: {models} {best}, but the two estimates do not both show that beyond chance."
NAIVE_AGREES = "{naive} agrees: {models} {best}."
NAIVE_FITS = "{naive} does not contradict it: {models} {best}."
ALONE_BEST = "alone may be best, with {value}"
FIRST_AT_GAMMAS = "{models} first at every gamma tried from {low} to {high}."
FIRST_DEPENDS = "Which model is first, and above a random order, depends on the assumed bias: {spans}."
FIRST_BY_METHODS = "{models} first by every method: {methods}."
FIRST_BY_METHOD = "Which model is first depends on the method: {parts}. {decides}"
SLICE_DECIDES = "A slice of random rows would decide."
NOTHING_DECIDES = (
    "No random row checks the order by whole lists; metrics of single items, such as adg@10, can be checked."
)
ROWS_NEEDED = "If their difference is what it seems, about {rows} random rows would separate {{a}} from {{b}}."
TOO_MANY_NEEDED = (
    "If their difference is what it seems, not even all {rows} candidates would separate {{a}} from {{b}}."
)
NO_FLIP = "No error of the weights could make another model first."
ANY_FLIP = "The smallest error of the weights could make {model} first."
FLIPS_AT = (
    "{model} could be first if the weights were wrong by a factor of {factor}; with a smaller error no other model "
    "could."
)

# reasons for doubt
UNEVEN_WEIGHTS = (
    "The weights are uneven: for {estimator}, {users:,} users count like {size:,.0f} users of equal weight."
)
MORE_WARNINGS = "{warnings} below."
ASSUMES_POPULARITY = (
    "The correction assumes that an item's chance to be observed follows its popularity in training, with gamma "
    "{gamma}. The interval does not cover an error in this assumption"
)
ASSUMES_MODEL = (
    "The correction assumes that {depends}. No interval covers an error in this assumption; the section on "
    "propensities shows whether they add up."
)
ASSUMES_TRUE = "The correction takes {propensity} as true. No interval covers an error in this assumption."
ASSUMES_NOTHING = "The propensity is uniform, so nothing is corrected: each estimate equals its naive counterpart."
RANGE_OF_GAMMAS = "; the range over what may be assumed covers gamma {low} to {high} only."
ASSUMES_DRAW = (
    "The estimates over all candidates assume that each user's exposed items were drawn from {items} with equal "
    "chances, and that all of them were labelled. No interval covers an error in this assumption."
)
ASSUMES_IMPUTATION = (
    "{estimator} rests on labels of pairs that were selected, and without random rows nothing can check it. Its "
    "interval does not cover that; the range over {methods} shows how far the methods differ."
)
ASSUMES_LABELS = (
    "{estimator} rests on labels of pairs that were selected, and without random rows nothing can check it. Its "
    "interval does not cover that."
)
ASSUMES_SLICE = (
    "The estimates assume that the {rows:,} rows of the slice ({positives:,} positive) were drawn from the candidates "
    "with equal chances."
)
SCORED = (
    "{metric} weights items by a fixed function of their training counts, not by their chance to be observed, and its "
    "target is not a mean over relevant pairs; use adg or recall with snips to correct for the skew"
)
NAIVE_ONLY = "{metric} is the naive average only; use {snips} to correct it, unless the test was drawn at random"
NAIVE_ONLY_BECAUSE = "{metric} is the naive average only, because {why}; {instead} can be corrected"

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
    """The assumption of the propensity in a sentence, with the gammas over which estimates were made."""
    if isinstance(model, propensities.Uniform):
        return ASSUMES_NOTHING
    if isinstance(model, propensities.Popularity):
        text = ASSUMES_POPULARITY.format(gamma=signed(model.known_gamma))
        if assumed is None:
            return f"{text}."
        return text + RANGE_OF_GAMMAS.format(low=signed(assumed.low), high=signed(assumed.high))
    depends = next((words for kind, words in _DEPENDS if isinstance(model, kind)), None)
    if depends is not None:
        return ASSUMES_MODEL.format(depends=depends)
    column = isinstance(model, propensities.Column)
    return ASSUMES_TRUE.format(propensity="the test file's own propensities" if column else f"the propensity {model}")


def describe_draw(population: Candidates) -> str:
    """The assumption behind estimates from exposed items, in two sentences."""
    items = "the items that a user does not have in train" if isinstance(population, Unseen) else "all items"
    return ASSUMES_DRAW.format(items=items)


def rows_needed(rows: int, candidates: int) -> str:
    """How many random rows would separate two models, to two digits, as a template with a and b."""
    if rows > candidates:
        return TOO_MANY_NEEDED.format(rows=f"{candidates:,}")
    return ROWS_NEEDED.format(rows=f"{round(rows, 2 - len(str(rows))):,}")


def naive_only(metric: AnyMetric) -> str:
    """A note that a metric is not corrected here, and which one could be."""
    cutoff = "" if metric.cutoff is None else f"@{metric.cutoff}"
    if metric.kind in {"mean", "loss", "graded"}:
        return NAIVE_ONLY.format(metric=metric, snips=Option("estimator", "snips"))
    if metric.kind == "scored":
        return SCORED.format(metric=metric)
    why = "its value depends on relevant items that were never observed"
    if metric.kind == "sum":
        why = "a sum over relevant items has no mean over pairs"
    instead = f"adg{cutoff} and recall{cutoff}" if cutoff else "adg and auc"
    return NAIVE_ONLY_BECAUSE.format(metric=metric, why=why, instead=instead)


def targets_of(rows: Iterable[Estimate]) -> dict[str, str]:
    """The target of each estimator; several joined by slashes when metrics are of several kinds."""
    by_estimator: dict[str, dict[str, None]] = {}
    for row in rows:
        by_estimator.setdefault(row.estimator, {})[row.target] = None
    return {estimator: " / ".join(targets) for estimator, targets in by_estimator.items()}
