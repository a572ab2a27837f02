"""Choose the settings and the step of a stepwise model by a metric on validation rows."""

import hashlib
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from unskew.arrays import SeedLike
from unskew.data import Interactions, Split
from unskew.data.candidates import All, Listed, Sampled
from unskew.data.pairs import count_shared
from unskew.errors import ConfigError, DataError, Option
from unskew.evaluation.fitting.grid import try_all
from unskew.metrics import parse_metric
from unskew.models import Model, StepwiseModel, Trained
from unskew.models.training.stepwise import Judge
from unskew.progress import Stage, say, stage
from unskew.ranking import FactorScorer
from unskew.ranking.engines.threads import usable_cores

Evaluate: TypeAlias = Callable[..., Any]
"""The signature of `unskew.evaluate`: from models, split and settings to a report."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The model that validation rows chose for a metric.

    Parameters
    ----------
    model : StepwiseModel
        With the settings and the number of steps that were best; it gives the same factors without validation.
    scorer : FactorScorer
    value : float or None
        The metric on the validation rows; None if there are none.
    metric : str
    """

    model: StepwiseModel
    scorer: FactorScorer
    value: float | None
    metric: str


def choose_by(
    evaluate: Evaluate,
    model: StepwiseModel,
    split: Split,
    metrics: Sequence[str] = ("recall@10",),
    *,
    train: Interactions | None = None,
    penalties: Sequence[float] | None = None,
    settings: Sequence[StepwiseModel] | None = None,
    positive: str | None = None,
    estimator: str = "aoa",
    propensity: str | None = None,
    rng: SeedLike = 0,
    threads: int | None = None,
    checkpoints: Path | None = None,
    name: str = "",
    progress: Stage | None = None,
) -> dict[str, Chosen]:
    """Train a model, and choose its settings and step for each metric with `evaluate` on validation rows.

    The other parameters are those of `unskew.evaluation.choose`. `evaluate` is a parameter because it is built on this
    stage and later ones.
    """
    if not isinstance(model, StepwiseModel):
        raise ConfigError(
            f"{model} is not trained step by step, so no step can be chosen; these are: {', '.join(_stepwise())}"
        )
    grid = _grid(model, penalties, settings)
    if (model.tune or len(grid) > 1) and split.validation is None:
        raise ConfigError(f"{model}: tune chooses by validation rows, but there are none; give {Option('validation')}")
    if len(grid) > 1 and not isinstance(rng, int):  # a shared generator would give the first setting the first draws
        rng = int(np.random.default_rng(rng).integers(2**62))
    side_by_side = (threads or usable_cores()) if model.one_core and len(grid) > 1 else 1
    for metric in metrics:
        if parse_metric(metric).kind == "content":
            raise ConfigError(f"{metric} describes lists, so it cannot choose a model; use recall@10")
    judge = validation_judge(
        evaluate,
        split,
        metrics,
        positive=positive,
        threads=threads if side_by_side == 1 else 1,
        estimator=estimator,
        propensity=propensity,
        name=name or str(model),
    )
    judged_on = "" if checkpoints is None else _judged_on(split, positive, estimator, propensity)

    def learn(tried: StepwiseModel, label: str, heard: Stage | None) -> Trained:
        return tried.train(
            split.train if train is None else train,
            rng=rng,
            judge=judge,
            metrics=tuple(metrics) if judge is not None else (),
            judged_on=judged_on,
            checkpoint=None if checkpoints is None else _file(checkpoints, name or str(model), label),
            threads=threads if side_by_side == 1 else 1,
            progress=stage(heard, f"{name or model}{label}"),
            say=say(heard, f"{name or model}{label}"),
        )

    best: dict[str, Chosen] = {}
    for tried, trained in try_all(grid, learn, side_by_side, name or str(model), progress):
        for metric in metrics:
            at, scorer = trained.best.get(metric, (trained.iterations, trained.last))
            seen = {check.iteration: check.metrics.get(metric) for check in trained.checks}[at]
            before = best[metric].value if metric in best else None
            if before is None or (seen is not None and seen > before):
                best[metric] = Chosen(replace(tried, iterations=at), scorer, seen, metric)
    return best


def _stepwise() -> list[str]:
    return [member.word for member in Model.members() if issubclass(member, StepwiseModel)]


def _grid(
    model: StepwiseModel, penalties: Sequence[float] | None, settings: Sequence[StepwiseModel] | None
) -> tuple[StepwiseModel, ...]:
    if penalties is not None and settings is not None:
        raise ConfigError(f"{model}: give penalties or settings to choose from, not both")
    if penalties is not None:
        settings = [replace(model, regularisation=penalty, tune=False) for penalty in penalties]
    if settings is None:
        settings = model.settings_to_try() if model.tune else [model]
    if not settings:
        raise ConfigError(f"{model}: no regularisation to choose from; give at least one")
    return tuple(settings)


def validation_judge(
    evaluate: Evaluate,
    split: Split,
    metrics: Sequence[str],
    *,
    positive: str | None = None,
    seed: int = 0,
    threads: int | None = None,
    estimator: str = "aoa",
    propensity: str | None = None,
    name: str = "model",
) -> Judge | None:
    """Return a function that gives the metrics of a state on the split's validation rows; None if it has none.

    Test rows are excluded, as validation rows are in a test: ``sampled`` candidates are drawn from outside both.
    """
    if split.validation is None:
        return None
    if not len(split.validation):
        raise DataError(
            f"{split.validation.name}: there is no validation row to choose by; leave out {Option('validation')}"
        )
    in_train = count_shared(split.validation, split.train)
    if in_train == len(split.validation) and not isinstance(split.rule, All | Listed):
        raise DataError(
            f"{split.validation.name}: all {in_train:,} validation rows are also in train, so they cannot judge "
            "a model; hold them out of train"
        )
    judged = Split(split.train, split.validation, split.test, candidates=split.rule)
    source = split.validation.name

    def judge(scorer: FactorScorer) -> Mapping[str, float]:
        options: dict[str, Any] = {"positive": positive, "seed": seed, "threads": threads}
        if propensity is not None:
            options["propensity"] = propensity
        try:
            report = evaluate({name: scorer}, judged, metrics=list(metrics), estimators=[estimator], **options)
        except DataError as error:
            raise DataError(f"{source}: the validation rows cannot judge a model: {error}") from error
        values = {}
        for metric in metrics:
            value = report.value(name, metric, estimator)
            if value is None:
                raise DataError(f"{metric} is undefined on the validation rows; give more of them")
            values[metric] = value
        return values

    return judge


def _judged_on(split: Split, positive: str | None, estimator: str, propensity: str | None) -> str:
    """The sha256 of everything that decides the metrics of a state; empty without validation rows."""
    if split.validation is None:
        return ""
    parts = [split.validation]
    if positive is not None:  # models learn from a part of the seen rows
        parts.append(split.train)
    if isinstance(split.rule, Sampled):  # draws keep away from test rows
        parts.append(split.test)
    weighted = [] if propensity is None else [estimator, propensity]
    words = [str(split.rule), str(positive), *weighted, *(part.sha256 for part in parts)]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _file(folder: Path, name: str, grid: str) -> Path:
    """A file for a model's state, made from its name and its place in the grid; another name gives another file."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be a folder for checkpoints ({error.strerror or error}); name another"
        ) from error
    stem = re.sub(r"[^\w.=-]+", "-", name).strip("-.") or "model"
    other = "" if stem == name else f"-{zlib.crc32(name.encode()):08x}"
    return folder / f"{stem}{other}{grid.replace(', ', '_').replace(' ', '-')}.npz"
