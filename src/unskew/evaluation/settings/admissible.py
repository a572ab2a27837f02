"""Refusals that need no data: metrics, estimators, intervals, ties, rules and models that do not go together."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

from unskew.data.candidates import Candidates, Sampled
from unskew.errors import ConfigError, Option, PropensityError, check_types, did_you_mean
from unskew.estimators import OVER_ALL_PAIRS, Aoa, Auto, Bootstrap, Estimator, Interval, Observation, Snips, Ure
from unskew.metrics import NDCG, AnyMetric, Metric, Recall
from unskew.metrics.auc import LinearMetric
from unskew.notation import Named
from unskew.propensities import GammaRange, Popularity, Propensity, PropensityModel
from unskew.ranking import TIE_POLICIES, USER_RULES, Ties, UserRule
from unskew.ranking.all_candidates.candidate_sums import POLICIES

if TYPE_CHECKING:
    from unskew.evaluation.fitting.models import Fitted
    from unskew.evaluation.settings.settings import Settings

TIES_OF_REDUCTION = ("expected", "random", "ordinal")
"""Tie policies under which the gains of all places have a known sum."""


ALONE = "use aoa for it, or name no estimator"


def pair(
    metrics: Sequence[AnyMetric], estimators: Sequence[Estimator], ties: str, *, strict: bool, exposed: bool
) -> tuple[tuple[AnyMetric, Estimator], ...]:
    """Return each metric with each estimator that suits it; with `strict`, refuse an estimator that does not."""
    pairs = {}
    for metric in metrics:
        for estimator in estimators:
            problem = _exposed_mismatch(metric, estimator, ties, exposed=exposed) or _mismatch(
                metric, estimator, exposed=exposed
            )
            if problem is None:
                pairs[str(metric), str(estimator)] = (metric, estimator)
            elif strict or (exposed and metric.kind in {*OVER_ALL_PAIRS, "content", "scored"}):  # never a default
                raise ConfigError(problem)
    return tuple(pairs.values())


def with_naive(
    metrics: Sequence[AnyMetric], pairs: Sequence[tuple[AnyMetric, Estimator]]
) -> tuple[tuple[AnyMetric, Estimator], ...]:
    """Return the default pairs, and ``aoa`` for metrics that are not means over relevant pairs."""
    completed = []
    for metric in {str(metric): metric for metric in metrics}.values():
        suited = [estimator for other, estimator in pairs if other is metric]
        if metric.kind != "mean":
            suited = [Aoa(), *(estimator for estimator in suited if not isinstance(estimator, Aoa))]
        completed += [(metric, estimator) for estimator in suited]
    return tuple(completed)


def check_pieces(name: str, given: object) -> None:
    """Refuse metrics or estimators that are not a list of words or objects."""
    if given is None or isinstance(given, str):
        return
    if not isinstance(given, Sequence):
        raise ConfigError(f"{name} must be a list of words, not {type(given).__name__}")
    for each in given:
        check_types("text", {f"each of {name}": each}, Named, optional=False)


def check_values(level: float, ties: str, unlisted: str, seed: int, block_size: int | None) -> Ties:
    """Refuse single settings that are out of range or unknown; return the tie policy."""
    if not 0 < level < 1:
        raise ConfigError(f"level {level:g} must lie between 0 and 1, as in 0.95")
    policy = next((known for known in TIE_POLICIES if known == ties), None)
    if policy is None:
        raise ConfigError(f"unknown tie policy {ties!r}{did_you_mean(ties, TIE_POLICIES)}")
    if unlisted not in {"zero", "tied"}:
        raise ConfigError(f"unlisted={unlisted!r}: choose zero or tied")
    if not 0 <= seed < 2**63:
        raise ConfigError(f"seed {seed} must be 0 or more, and below 2**63")
    if block_size is not None and block_size < 1:
        raise ConfigError(f"block size {block_size} must be at least 1")
    return policy


def check_user_rule(users: str, *, exposed: bool) -> UserRule:
    """Return the rule for which users are judged; refuse an unknown word."""
    rule = next((known for known in USER_RULES if known == users), None)
    if rule is None:
        raise ConfigError(f"unknown rule users={users!r}{did_you_mean(users, USER_RULES)}")
    if exposed and rule == "served":
        raise ConfigError(
            f"users=served needs {Option('test')}: exposed rows are one sample for all models; use any or common"
        )
    return rule


def check_assumed(assumed: GammaRange | None, model: PropensityModel, estimators: Sequence[Estimator]) -> None:
    """Refuse a range of gammas that no number of the run depends on, or that leaves out its own gamma."""
    if assumed is None:
        return
    asked = Option("assume", str(assumed))
    if not isinstance(model, Popularity):
        raise ConfigError(f"{asked} is about popularity, but the propensity is {model}; leave it out")
    if not any(estimator.uses_propensity for estimator in estimators):
        hint = f"add {Option('estimator', 'snips')}, or leave it out"
        raise ConfigError(f"{asked}: no estimator here uses a propensity; {hint}")
    if model.source is None and model.known_gamma not in assumed:
        raise ConfigError(
            f"{asked} leaves out the gamma of {model}, {model.known_gamma:g}; widen it, or name a gamma within it"
        )


def check_interval(interval: Interval, pairs: Sequence[tuple[AnyMetric, Estimator]]) -> None:
    """Refuse ``observation`` for estimates whose error of observation is not known, and Poisson draws of other units.

    Poisson draws are by user, so an estimate must be a sum over the users who have rows.
    """
    if isinstance(interval, Bootstrap) and interval.merges:
        for metric, estimator in pairs:
            if not isinstance(estimator, Aoa | Snips | Auto) or getattr(estimator, "per", "") == "item":
                raise ConfigError(
                    f"the interval {interval} is not known for {metric} by {estimator}; use bootstrap({interval.n})"
                )
    if not isinstance(interval, Observation):
        return
    for metric, estimator in pairs:
        if metric.kind in OVER_ALL_PAIRS or (isinstance(estimator, Ure) and estimator.knows_draw_error(metric.kind)):
            continue
        if estimator.sees != "observed":
            raise ConfigError(
                f"the interval 'observation' is not known for {metric} by {estimator}; use ure(aggregate=pooled) with "
                "recall or precision, or delta"
            )
        raise ConfigError(
            f"the interval 'observation' is for metrics over all pairs, such as mae, not for {metric}; use delta"
        )


def check_needs(settings: "Settings", propensity: Propensity, *, counted: bool) -> None:
    """Refuse estimators that lack what they need; `counted` says whether numbers of relevant items are given."""
    for metric, estimator in settings.pairs:
        if estimator.needs_absolute and not propensity.absolute:
            raise PropensityError(
                f"{estimator} needs absolute propensities, but {settings.propensity} is known only up to scale; "
                f"use {Option('propensity', 'column')}, naive-bayes or logistic, or snips"
            )
        if estimator.needs_relevant and metric.kind == "mean" and not counted:
            raise ConfigError(
                f"{estimator} of {metric} needs each user's number of relevant items; "
                f"give {Option('relevant_counts')}, or use snips"
            )


def check_weighted(settings: "Settings", until: str | None) -> None:
    """Refuse metrics and estimators that have no meaning for weighted test rows."""
    if until is not None:
        raise ConfigError(f"{Option('until')} is not known for weighted test rows; leave it or the weights out")
    for metric, estimator in settings.pairs:
        if metric.kind == "list" and not isinstance(metric, NDCG):
            raise ConfigError(
                f"{metric} has no form with weighted rows, because a position is either a hit or not; use ndcg, whose "
                "gains may have weights, or recall or adg"
            )
        if metric.kind == "graded":
            raise ConfigError(f"{metric} has the ratings as weights already; use recall, adg or mae, or no weights")
        if estimator.needs_relevant and metric.kind != "sum":
            raise ConfigError(
                f"{estimator} of {metric} with weighted rows needs the weights of items that were never observed; use "
                "snips"
            )
        if not estimator.takes_weights:
            raise ConfigError(f"{estimator} takes no account of the weights of test rows; use snips or aoa")


def check_candidates(rule: Candidates, metrics: Iterable[AnyMetric], items: int) -> None:
    """Refuse metrics that sampled candidates cannot give, in a catalogue of this many items.

    A correction is possible for means over relevant items, and for cut-offs not below the mean distance of two draws.
    """
    if not isinstance(rule, Sampled):
        return
    content = next((metric for metric in metrics if metric.kind == "content"), None)
    if content is not None:
        raise ConfigError(f"{content} is about the lists that users see, not about {rule}; use unseen")
    if not rule.corrected:
        if any(metric.kind == "graded" for metric in metrics):
            raise ConfigError(f"graded metrics need all candidates, not {rule}; use unseen")
        return
    for metric in metrics:
        if metric.kind != "mean" or not isinstance(metric, Metric):
            raise ConfigError(
                f"{metric} is not a mean over relevant items, and {rule} can correct only those; leave correction out, "
                f"or use {Option('candidates', 'unseen')}"
            )
        fixed = isinstance(metric, LinearMetric) or not metric.uses_candidates
        if rule.correction == "bias-variance" and not fixed:
            raise ConfigError(
                f"the gain of {metric} depends on the number of candidates, so {rule} cannot correct it; use "
                "correction=unbiased"
            )
        needed = ceil(items / rule.n)
        if metric.cutoff is not None and metric.cutoff < needed:
            raise ConfigError(
                f"{metric} needs K of at least {needed:,} with {rule.n:,} draws of {items:,} items; use "
                f"{Option('candidates', 'unseen')}, or sampled(n) with more draws"
            )


def check_models(models: "Mapping[str, Fitted]", settings: "Settings") -> None:
    """Refuse a metric that no model can be judged by, and a model that can be judged by no metric."""
    losses = [metric for metric in settings.metrics if metric.kind == "loss"]
    rankings = [metric for metric in settings.metrics if metric.kind != "loss"]
    if losses and not any(model.predictor is not None for model in models.values()):
        raise ConfigError(
            f"{losses[0]} needs predicted ratings, which no model gives; use "
            f"{Option('predictions')}, or a rating model such as mf-naive"
        )
    for name, model in models.items():
        if model.ranker is None and not losses:
            raise ConfigError(
                f"model {name!r} gives predictions for some rows only, but {rankings[0]} needs a ranking; give its "
                f"{Option('scores')} or {Option('factors')} under the same name, or ask for mae"
            )
        if model.predictor is None and not rankings:
            raise ConfigError(
                f"model {name!r} predicts no ratings, but {losses[0]} needs them; give "
                f"{Option('predictions')}, or ask for a ranking metric"
            )


def _mismatch(metric: AnyMetric, estimator: Estimator, *, exposed: bool) -> str | None:
    if metric.kind in estimator.kinds:
        if metric.kind in OVER_ALL_PAIRS:
            return None
        if isinstance(estimator, Aoa | Snips) and estimator.per == "item":
            return f"{estimator} cannot estimate {metric}: it is for metrics over all pairs, such as mae; use snips"
        if not (isinstance(estimator, Aoa) and estimator.per == "pair" and metric.kind != "mean"):
            return None
    if metric.kind == "content":
        return f"{estimator} cannot estimate {metric}: it describes the lists, so there is nothing to correct; {ALONE}"
    if metric.kind == "scored":
        return f"{estimator} cannot estimate {metric}: it has weights of its own, by training counts; {ALONE}"
    cutoff = "@K" if metric.cutoff is None else f"@{metric.cutoff}"
    if isinstance(estimator, Aoa):
        why = "it is one number per user, not a mean over pairs"
    elif metric.kind == "sum":
        why = "a sum over a user's relevant items has no denominator in positive-only data"
    else:
        why = "its value depends on relevant items that were never observed"
    instead = f"use aoa for it, or adg{cutoff} or recall{cutoff} with {estimator}"
    if exposed:
        pooled = Ure(aggregate="pooled")
        suited = "traditional" if _ure_mismatch(metric, pooled, "expected") else pooled
        instead = f"with {Option('exposed')} use {suited}"
    return f"{estimator} cannot estimate {metric}: {why}; {instead}"


def _exposed_mismatch(metric: AnyMetric, estimator: Estimator, ties: str, *, exposed: bool) -> str | None:
    """Return why an estimator for exposed data cannot estimate a metric here; None where it can, or is another kind."""
    if exposed and metric.kind in {"content", "scored"}:
        return f"{metric} is not estimated from exposed rows; use {Option('test')} for it"
    if exposed and metric.kind in OVER_ALL_PAIRS:
        return f"{metric} is of ratings, and {Option('exposed')} takes labels; {for_random_ratings()}, or use recall@10"
    if estimator.sees == "observed":
        return None
    if estimator.sees == "candidates":
        return _imputing_mismatch(metric, estimator, ties, exposed=exposed)
    if not exposed:
        return (
            f"{estimator} needs items that were drawn at random and labelled; give them with "
            f"{Option('exposed')} instead of {Option('test')}, or use snips"
        )
    return _ure_mismatch(metric, estimator, ties) if isinstance(estimator, Ure) else None


def for_random_ratings() -> str:
    """What to do with ratings of random items, because labels of them are useless to a metric of ratings."""
    learnt = Option("propensity", "naive-bayes(mcar=FILE)")
    every = Option("candidates", "all")
    return f"give random ratings as {Option('test')} with {every} and aoa, or learn propensities from them by {learnt}"


def _imputing_mismatch(metric: AnyMetric, estimator: Estimator, ties: str, *, exposed: bool) -> str | None:
    """Return why an estimator over all candidates cannot estimate a metric here; None where it can."""
    if exposed:
        return f"{estimator} needs the log; give {Option('test')} next to {Option('exposed')}, or use ure"
    if metric.kind not in estimator.kinds:
        return f"{estimator} cannot estimate {metric}; use dm or blend" if metric.kind == "list" else None
    if ties not in POLICIES:
        return f"{estimator} sums over all candidates, whose ties have no order under ties={ties}; use ties=expected"
    return no_sum(metric)


def no_sum(metric: AnyMetric) -> str | None:
    """Return why a metric cannot be summed over all candidates; None where it can."""
    try:
        metric.recipe(1)
    except ConfigError as error:
        return str(error)
    return None


def _ure_mismatch(metric: AnyMetric, estimator: Ure, ties: str) -> str | None:
    if metric.kind == "list" and not isinstance(metric, NDCG):
        return (
            f"{estimator} cannot estimate {metric}: it depends on positives that were not drawn; use recall, "
            "precision, dcg or ndcg, or traditional for it"
        )
    if estimator.literal and (ties != "expected" or not isinstance(getattr(metric, "metric", None), Recall)):
        return f"{estimator} has its own rule for ties, for recall@K only; leave out {Option('ties')}, and use recall@K"
    if estimator.reduce != "none" and ties not in TIES_OF_REDUCTION:
        return f"{estimator}: under ties={ties} the gains of all places have no known sum; use ties=expected"
    return None
