"""Parsing of metric words, and the list of all metrics."""

import dataclasses
import typing
from dataclasses import dataclass
from typing import TypeAlias

from unskew.errors import ConfigError
from unskew.metrics.content import ContentMetric
from unskew.metrics.losses import RatingLoss
from unskew.metrics.metric import Kind, ListMetric, Metric, MetricWord
from unskew.notation import parse_word

AnyMetric: TypeAlias = Metric | ListMetric | RatingLoss | ContentMetric


@dataclass(frozen=True)
class MetricEntry:
    """One line of the list of metrics.

    Attributes
    ----------
    form : str
        How it is written: ``auc``, ``recall@K``, or ``adg[@K]`` if the cut-off is optional.
    kind : {"mean", "sum", "list", "loss", "graded", "content", "scored"}
        A mean or a sum over a user's relevant items, a value of the whole list, a loss of predicted ratings, a sum
        over all items graded by their ratings, what is in the top lists, or hits weighted by training counts.
    unbiased_to_missing : bool
        Whether a random part of each user's relevant items has, on average, the same value as all of them.
    definition : str
        The definition with the default options.
    options : dict
        Each option and its choices, the default first.
    """

    form: str
    kind: Kind
    unbiased_to_missing: bool
    definition: str
    options: dict[str, str]


def parse_metric(text: str | MetricWord) -> AnyMetric:
    """Return the metric of a word such as ``recall@10``; a metric object is checked and returned.

    Raises
    ------
    ConfigError
        For an unknown name or option, or a cut-off that is missing or not possible.
    """
    if isinstance(text, str):
        word = parse_word(text)
        metric = _known(MetricWord.build(word))
        if word.cutoff is not None:
            if isinstance(metric, RatingLoss):
                raise ConfigError(f"{metric} has no cut-off; leave out @{word.cutoff}")
            metric = metric @ word.cutoff
    else:
        metric = _known(text)
    if metric.takes_cutoff == "required" and metric.cutoff is None:
        raise ConfigError(f"{metric} needs a cut-off, as in {metric}@10")
    return metric


def list_metrics() -> list[MetricEntry]:
    """Return every registered metric, by word."""
    return [_entry(member) for member in MetricWord.members()]


def _known(metric: MetricWord) -> AnyMetric:
    if isinstance(metric, Metric | ListMetric | RatingLoss | ContentMetric):
        return metric
    raise ConfigError(f"{metric!r} is not a metric; subclass Metric, ListMetric, RatingLoss or ContentMetric")


def _entry(member: type[MetricWord]) -> MetricEntry:
    plain = member()
    suffix, cutoff = {"never": ("", None), "optional": ("[@K]", "K"), "required": ("@K", "K")}[member.takes_cutoff]
    return MetricEntry(
        f"{plain}{suffix}", plain.kind, plain.unbiased_to_missing, plain.describe(cutoff), _options(member)
    )


def _options(member: type[MetricWord]) -> dict[str, str]:
    hints = typing.get_type_hints(member)
    options = {}
    for field in dataclasses.fields(member):
        if not field.init:
            continue
        choices = [str(choice) for choice in typing.get_args(hints[field.name])]
        plain = "a flag" if hints[field.name] is bool else str(field.default)
        options[field.name] = " | ".join(choices) if choices else plain
    return options
