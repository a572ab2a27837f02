"""Refusals of a run over parts: what cannot be computed from sums of parts, by name."""

from typing import Any

from unskew.data.candidates import Candidates, Sampled
from unskew.errors import ConfigError, Option
from unskew.estimators import Aoa, Bootstrap, Delta, Estimator, Ips, Snips, Weighted
from unskew.evaluation.settings.settings import Settings
from unskew.propensities import Column, Popularity, Uniform

PART_ESTIMATORS = ("aoa(per=pair)", "snips")
"""The default estimators of a run over parts; `auto` may choose one that needs all rows."""
IN_PARTS = (
    "the data are read part by part, where the default is snips by {propensity}; a run in memory may choose another "
    "estimator"
)
"""Why the default is what it is."""


def check_mergeable(settings: Settings, rule: Candidates) -> None:
    """Refuse what needs all rows at once.

    Raises
    ------
    ConfigError
        That names it, and what can be used.
    """
    for estimator in settings.estimators:
        if why := _needs_all_rows(estimator):
            raise ConfigError(f"{estimator} cannot be merged over parts: {why}")
    for metric in settings.metrics:
        if metric.kind in {"content", "scored"}:
            needs = "the lists of all users" if metric.kind == "content" else "the training counts of all items"
            raise ConfigError(f"{metric} cannot be merged over parts: it needs {needs} at once; leave it out")
    interval = settings.interval
    if not isinstance(interval, Delta) and not (isinstance(interval, Bootstrap) and interval.merges):
        instead = f"bootstrap({interval.n}, weights=poisson)" if isinstance(interval, Bootstrap) else "delta"
        raise ConfigError(
            f"{Option('interval', interval)} cannot be merged over parts: it needs all users at once; use {instead}"
        )
    propensity = settings.propensity
    if not isinstance(propensity, Popularity | Uniform | Column) or (
        isinstance(propensity, Popularity) and propensity.source is not None
    ):
        raise ConfigError(
            f"{Option('propensity', propensity)} cannot be merged over parts: it is fitted to all rows; use popularity "
            "with a gamma, uniform or column"
        )
    if settings.ties == "random":
        raise ConfigError(
            f"{Option('ties', 'random')} cannot be merged over parts: its draws depend on the place of a user in the "
            f"whole log; use {Option('ties', 'expected')}"
        )
    if settings.users == "served":
        raise ConfigError(
            f"{Option('users', 'served')} cannot be merged over parts: each model has other users; use "
            f"{Option('users', 'common')}"
        )
    if isinstance(rule, Sampled):
        raise ConfigError(
            f"{Option('candidates', rule)} cannot be merged over parts: its draws depend on the place of a user in the "
            f"whole log; use {Option('candidates', 'unseen')}"
        )


def _needs_all_rows(estimator: Estimator) -> str:
    """Why an estimator needs all rows at once; empty if it does not."""
    if not isinstance(estimator, Aoa | Ips | Snips):
        return "it is fitted to all rows; use aoa, ips or snips"
    if getattr(estimator, "per", "") == "item":
        return "the rows of an item are in many parts; use another form"
    if isinstance(estimator, Weighted) and estimator.clip:
        return "the clipping depends on the largest propensity of all rows; leave it out"
    return ""


def check_unused(given: dict[str, Any]) -> None:
    """Refuse arguments of `evaluate` that need all rows in memory."""
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"{Option(name)} cannot be merged over parts: it needs all rows at once; leave it out")
