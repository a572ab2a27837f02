"""`Settings`: everything that decides the numbers of a run, and `resolve`, which parses and checks it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from unskew.data.candidates import Candidates
from unskew.errors import ConfigError, check_types
from unskew.estimators import Estimator, Imputing, Interval, Ure
from unskew.evaluation.settings.admissible import (
    TIES_OF_REDUCTION,
    check_assumed,
    check_interval,
    check_pieces,
    check_user_rule,
    check_values,
    pair,
    with_naive,
)
from unskew.evaluation.settings.rating_scale import Scale
from unskew.metrics import AnyMetric, parse_metric
from unskew.propensities import GammaRange, PropensityModel
from unskew.ranking import Ties, UserRule

DEFAULT_METRICS = ("recall@10", "adg@10", "auc")
DEFAULT_LOSSES = ("mae", "mse")
DEFAULT_ESTIMATORS = ("aoa(per=pair)", "auto")
"""The naive average and the correction that suits the data, both of pairs, so that only the correction differs."""
DEFAULT_PROPENSITY = "popularity"
EXPOSED_METRICS = ("recall@10", "precision@10", "ndcg@10")
EXPOSED_ESTIMATORS = ("traditional", "ure(aggregate=pooled, reduce=control)")
"""The default estimators for a randomly exposed test.

Of all forms of `ure` this had the least bias for its own target over 200 draws of 48 models in two worlds, and a
smaller error than the plain pooled form (``unskew reproduce wang2024/aggregates``).
"""


@dataclass(frozen=True)
class Settings:
    """A run's resolved settings.

    Parameters
    ----------
    pairs : tuple of (metric, estimator)
        What is computed, in order.
    propensity : PropensityModel
    candidates : Candidates or None
        None for the split's own rule.
    ties : str
    positive : str or None
    level : float
    interval : Interval
    seed : int
    block_size : int or None
    unlisted : str
    scale : Scale or None
        The scale of the ratings, where it was declared.
    allow_missing : bool
        Whether test rows without a prediction are left out instead of refused.
    assume : GammaRange or None
        The range of popularity biases that may be assumed, where it was given.
    users : {"any", "common", "served"}
        Which test users are judged.
    propensity_named : bool
        Whether a propensity was named, or implied by a range of gammas.
    propensity_found : bool
        Whether the test's own column of propensities is used, although none was named.
    """

    pairs: tuple[tuple[AnyMetric, Estimator], ...]
    propensity: PropensityModel
    candidates: Candidates | None
    ties: Ties
    positive: str | None
    level: float
    interval: Interval
    seed: int
    block_size: int | None
    unlisted: str
    scale: Scale | None = None
    allow_missing: bool = False
    assume: GammaRange | None = None
    users: UserRule = "any"
    propensity_named: bool = True
    propensity_found: bool = False

    @cached_property
    def metrics(self) -> list[AnyMetric]:
        """The distinct metrics, in order."""
        return list({str(metric): metric for metric, _ in self.pairs}.values())

    @cached_property
    def estimators(self) -> list[Estimator]:
        """The distinct estimators, in order."""
        return list({str(estimator): estimator for _, estimator in self.pairs}.values())


def resolve(
    *,
    metrics: Sequence[str | AnyMetric] | None = None,
    estimators: Sequence[str | Estimator] | None = None,
    propensity: str | PropensityModel | None = None,
    candidates: str | Candidates | None = None,
    ties: str = "expected",
    positive: str | None = None,
    level: float = 0.95,
    interval: str | Interval = "delta",
    seed: int = 0,
    block_size: int | None = None,
    unlisted: str = "zero",
    scale: str | Scale | None = None,
    allow_missing: bool = False,
    assume: str | GammaRange | None = None,
    users: str = "any",
    exposed: bool = False,
    usual: Sequence[str] = DEFAULT_ESTIMATORS,
) -> Settings:
    """Parse words, and refuse combinations that do not go together.

    With `exposed` the test has items drawn at random, with other defaults and estimators; otherwise `usual` are the
    estimators by default. Without a named propensity,
    popularity is used, unless the test has a column of propensities.

    Raises
    ------
    ConfigError
        With a hint, before any work is done.
    """
    check_types("text", {"propensity": propensity}, PropensityModel)
    check_types("text", {"candidates": candidates}, Candidates)
    check_types("text", {"interval": interval}, Interval, optional=False)
    check_types("text", {"scale": scale}, Scale)
    check_types("text", {"assume": assume}, GammaRange)
    check_types("text", {"positive": positive})
    check_types("text", {"ties": ties, "unlisted": unlisted, "users": users}, optional=False)
    check_types("a number", {"level": level}, optional=False)
    check_types("a whole number", {"seed": seed}, optional=False)
    check_types("a whole number", {"block_size": block_size})
    check_pieces("metrics", metrics)
    check_pieces("estimators", estimators)
    tie_policy = check_values(level, ties, unlisted, seed, block_size)
    default_metrics, default_estimators = (
        (EXPOSED_METRICS, EXPOSED_ESTIMATORS) if exposed else (DEFAULT_METRICS, tuple(usual))
    )
    wanted = [metrics] if isinstance(metrics, str) else metrics if metrics is not None else default_metrics
    parsed_metrics = [parse_metric(metric) for metric in wanted]
    chosen = (
        [estimators] if isinstance(estimators, str) else estimators if estimators is not None else default_estimators
    )
    parsed_estimators = [Estimator.from_word(e) if isinstance(e, str) else e for e in chosen]
    if estimators is None and ties not in TIES_OF_REDUCTION:  # where nothing can be reduced
        parsed_estimators = [replace(e, reduce="none") if isinstance(e, Ure) else e for e in parsed_estimators]
    if not parsed_metrics or not parsed_estimators:
        raise ConfigError("nothing to compute: name at least one metric and one estimator")
    pairs = pair(parsed_metrics, parsed_estimators, ties, strict=estimators is not None, exposed=exposed)
    if estimators is None and not exposed:
        pairs = with_naive(parsed_metrics, pairs)
    if not pairs:
        raise ConfigError(
            f"{parsed_metrics[0]} cannot be estimated by {' or '.join(map(str, parsed_estimators))}; use recall@10"
        )
    chosen_interval = Interval.from_word(interval) if isinstance(interval, str) else interval
    check_interval(chosen_interval, pairs)
    weighted = [estimator for _, estimator in pairs if estimator.uses_propensity]
    by_exposure = any(isinstance(estimator, Imputing) and estimator.uses_exposure for _, estimator in pairs)
    usual = "exposure" if by_exposure and not weighted else DEFAULT_PROPENSITY
    named = usual if propensity is None else propensity
    model = PropensityModel.from_word(named) if isinstance(named, str) else named
    assumed = GammaRange.parse(assume) if isinstance(assume, str) else assume
    check_assumed(assumed, model, [estimator for _, estimator in pairs])
    return Settings(
        pairs=pairs,
        propensity=model,
        candidates=Candidates.from_word(candidates) if isinstance(candidates, str) else candidates,
        ties=tie_policy,
        positive=positive,
        level=level,
        interval=chosen_interval,
        seed=seed,
        block_size=block_size,
        unlisted=unlisted,
        scale=Scale.parse(scale) if isinstance(scale, str) else scale,
        allow_missing=allow_missing,
        assume=assumed,
        propensity_named=propensity is not None or assume is not None,
        users=check_user_rule(users, exposed=exposed),
    )
