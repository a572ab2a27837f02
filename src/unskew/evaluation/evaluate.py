"""`evaluate`: judge models on a split and return a report; `choose`: choose a model by validation rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from unskew.compiling import announces
from unskew.data import Interactions, Split
from unskew.data.candidates import Candidates
from unskew.data.exposed import LABELLED, has_labels
from unskew.data.partitions import PartitionedSplit
from unskew.errors import ConfigError, DataError, Option, check_types
from unskew.estimators import OVER_ALL_PAIRS, Auto, Estimator, Imputing, Interval, Snips
from unskew.evaluation.anytime import Until, check_scored, rank_until
from unskew.evaluation.checking import warn
from unskew.evaluation.collecting.collect import collect
from unskew.evaluation.estimating.estimate import estimate
from unskew.evaluation.fitting.automatic import AutoChoice, choose_automatic
from unskew.evaluation.fitting.models import default_metrics, fit_models, read_models
from unskew.evaluation.fitting.propensities import fit_propensities
from unskew.evaluation.fitting.relevance import shared_exposure
from unskew.evaluation.fitting.selection import Chosen, choose_by
from unskew.evaluation.partitioned.evaluate_parts import evaluate_parts
from unskew.evaluation.partitioned.mergeable import IN_PARTS, PART_ESTIMATORS, check_unused
from unskew.evaluation.partitioned.part_models import PartTable, check_part_models
from unskew.evaluation.report import Report
from unskew.evaluation.run import Run
from unskew.evaluation.settings.admissible import check_candidates, check_models, check_needs, check_weighted
from unskew.evaluation.settings.rating_scale import Scale, check_scale
from unskew.evaluation.settings.settings import Settings, resolve
from unskew.metrics import AnyMetric
from unskew.models import StepwiseModel
from unskew.progress import Stage
from unskew.propensities import GammaRange, PropensityModel
from unskew.ranking import Engine, engine_of


@announces
def evaluate(
    models: Mapping[str, Any],
    split: Split | PartitionedSplit,
    *,
    metrics: Sequence[str | AnyMetric] | None = None,
    estimators: Sequence[str | Estimator] | None = None,
    propensity: str | PropensityModel | None = None,
    candidates: str | Candidates | None = None,
    ties: str = "expected",
    positive: str | None = None,
    relevant: Any = None,
    level: float = 0.95,
    interval: str | Interval = "delta",
    seed: int = 0,
    threads: int | None = None,
    engine: Engine | str | None = None,
    block_size: int | None = None,
    unlisted: str = "zero",
    users: str = "any",
    scale: str | Scale | None = None,
    allow_missing: bool = False,
    assume: str | GammaRange | None = None,
    checkpoints: str | Path | None = None,
    uniform: Interactions | None = None,
    until: str | None = None,
    on: str | None = None,
    work: str | Path | None = None,
    memory: str | None = None,
    baselines: bool = True,
    group_seeds: bool = True,
    progress: Stage | None = None,
) -> Report:
    """Judge models on held-out rows, naively and with the skew of the log corrected for.

    Parameters
    ----------
    models : mapping
        Name to model: a `Scorer`, `Ranks` made before, `Predictions`, a built-in `Model` or its word
        (``als(factors=32)``), which is then trained on the split's train; a fitted model of another package, lists of
        items, or a frame or matrix of scores (see `unskew.integrations`); or a pair of them, one that ranks and one
        that predicts ratings. A scorer with ``ratings=True`` does both.
    split : Split or PartitionedSplit
        A `PartitionedSplit` is read part by part, and never whole; see `unskew.data.open_split`.
    metrics : sequence, optional
        Words or metrics; ``recall@10``, ``adg@10`` and ``auc`` by default, ``mae`` and ``mse`` for predictions.
    estimators : sequence, optional
        Words or estimators. By default ``aoa(per=pair)`` and ``snips``, which share their target, and ``aoa`` for
        metrics that have no mean over pairs; one that is named and does not apply is an error.
    propensity : str or PropensityModel, optional
        By default ``column`` when the test has a column of propensities, else ``popularity``.
    candidates : str or Candidates, optional
        Instead of the split's own rule.
    ties : str
        ``expected`` (exact mean over all orders of a tie), ``optimistic``, ``pessimistic``, ``random``, ``ordinal``.
    positive : str, optional
        Which rows are positives, as in ``rating>=4``; all by default. Training rows are filtered too when they have
        that column, for models and popularity; any training row still counts as seen. Rows of an exposed test have
        labels already; with one, training rows whose values are 0 and 1 are taken to have them too.
    relevant : mapping or frame, optional
        Each user's number of relevant items (columns ``user``, ``relevant``), for ``ips`` of mean metrics.
    level : float
    interval : str or Interval
        ``delta`` or ``bootstrap(2000)``.
    seed : int
    threads : int, optional
        As many as there are cores by default; the numbers do not depend on it.
    engine : {"threads", "ray"} or Engine, optional
        Where blocks of users are scored. ``ray`` takes the Ray cluster that this process is connected to, or starts one
        on this machine; `unskew.ranking.Ray` has an address. The numbers are the same.
    block_size : int, optional
        Users scored at a time; recorded, because matrix products may differ in the last bit between block sizes.
    unlisted : {"zero", "tied"}
        What an item outside a top-N list gains under a cut-off.
    users : {"any", "common", "served"}
        Which test users are judged. By default those known to at least one model; a user whom a model does not know has
        an empty list there: 0 under a cut-off, tied otherwise. ``common`` takes the users whom every model knows,
        ``served`` for each model those whom it knows; two models are then compared on the users of both. Rating losses
        are always over common users.
    scale : str or Scale, optional
        The scale of the ratings, as in ``1-5`` or ``0.5-5/0.5``; ratings that are not on it are refused.
    allow_missing : bool
        Leave out, for all models, test rows that some model has no prediction for, instead of refusing them.
    assume : str or GammaRange, optional
        Which popularity biases may be assumed, as in ``gamma=0..1``: each corrected estimate has the envelope of its
        interval over them. By default from -0.5 to 1.5, or the range that ``popularity(gamma=auto)`` finds.
    checkpoints : str or Path, optional
        A folder where stepwise models keep their state; a run that was stopped continues from there.
    uniform : Interactions, optional
        Rows drawn at random with labels 1 and 0 as values; the models `ips`, `dr` and `autodebias` learn from them too.
    until : str, optional
        Stop before all users are ranked: ``decided`` when one model is clearly the best, ``width<0.005`` when all
        intervals are narrower. Users are then ranked in a seeded random order, and the intervals are confidence
        sequences, which hold at every stop.
    on : str, optional
        The metric and estimator that this is about, as in ``recall@10:snips``; by default the first metric, by the
        first of its estimators that corrects.
    work : str or Path, optional
        For a partitioned split: a folder that keeps finished parts, so that a run that was stopped goes on.
    memory : str, optional
        For a partitioned split: a limit, as in ``4GiB``; a run that needs more is refused before it starts.
    baselines : bool
        Whether the report also has ``popular`` and ``random`` on the same users and candidates, to compare the models
        with. They are not candidates of the verdict.
    group_seeds : bool
        Whether entries called ``MODEL/seedN``, as in ``als/seed0`` and ``als/seed1``, are judged as one model: its
        numbers are means over seeds, with the errors of users and of seeds. `Report.estimates` has the entries.
    progress : callable, optional
        Called as ``progress(stage, done, total)``. If it has a method ``say(stage, words)``, that is called with
        losses. Loops that must be compiled first are the stage ``compiling, once``.

    Returns
    -------
    Report

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import Interactions, Split, evaluate
    >>> from unskew.ranking import MatrixScorer
    >>> train = Interactions.from_arrays([0, 0, 1], [0, 1, 0], n_users=2, n_items=4)
    >>> test = Interactions.from_arrays([0, 1], [2, 1], n_users=2, n_items=4)
    >>> scores = np.array([[0, 0, 5, 1], [0, 1, 2, 3.0]])
    >>> report = evaluate({"mine": MatrixScorer(scores)}, Split(train, test), metrics=["recall@1"], estimators=["aoa"])
    >>> report.value("mine", "recall@1", "aoa")
    0.5
    """
    given = read_models(models, split if isinstance(split, Split) else None, kept=(PartTable,))
    check_types("text", {"until": until, "on": on, "memory": memory})
    check_types("text", {"checkpoints": checkpoints, "work": work}, PathLike)
    check_types("a whole number", {"threads": threads})
    if on is not None and until is None:
        raise ConfigError(f"{Option('on', on)} needs {Option('until')}, as in {Option('until', 'decided')}")
    asked: dict[str, Any] = {
        "metrics": metrics,
        "estimators": estimators,
        "propensity": propensity,
        "ties": ties,
        "positive": positive,
        "level": level,
        "interval": interval,
        "seed": seed,
        "block_size": block_size,
        "unlisted": unlisted,
        "scale": scale,
        "allow_missing": allow_missing,
        "assume": assume,
        "users": users,
    }
    where = engine_of(engine, threads)
    if isinstance(split, PartitionedSplit):
        check_unused({"until": until, "uniform": uniform, "checkpoints": checkpoints})
        split = split if candidates is None else replace(split, candidates=candidates)
        report = _evaluate_parts(
            given,
            split,
            asked,
            engine=where,
            threads=threads,
            relevant=relevant,
            work=work,
            memory=memory,
            progress=progress,
        )
        return replace(report, shows_baselines=baselines, groups_seeds=group_seeds)
    _check_split(split, work=work, memory=memory)
    if metrics is None and not split.exposed:
        asked["metrics"] = default_metrics(given)
    if positive is None and split.exposed and has_labels(split.train):
        asked["positive"] = LABELLED
    settings = resolve(**asked, candidates=candidates, exposed=split.exposed)
    if settings.positive is None and _needs_labels(settings, split):
        settings = replace(settings, positive=LABELLED)
    if settings.candidates is not None and settings.candidates != split.rule:
        split = split.with_candidates(settings.candidates)
    run = Run(split, settings, where, threads, progress)
    check_scale(run.settings.scale, run.split)
    with shared_exposure():
        run, chosen = choose_automatic(run, given, evaluate)
        if run.split.test.relative_weights is not None:
            check_weighted(run.settings, until)
        rule = None if until is None else Until.parse(until, on, run)
        run, propensities = fit_propensities(run)
    check_needs(run.settings, propensities.positives, counted=relevant is not None)
    check_candidates(run.split.rule, run.settings.metrics, len(run.split.catalogue))
    contenders = fit_models(run, given, propensities.of_training, evaluate, uniform=uniform, checkpoints=checkpoints)
    check_models(contenders.models, run.settings)
    if rule is not None:
        check_scored(contenders, relevant, rule)
        run, samples, estimated, stop = rank_until(run, contenders, propensities, rule, threads)
    else:
        samples = collect(run, contenders, relevant, propensities.relevance)
        estimated, stop = estimate(run.settings, samples, propensities, threads, engine=run.engine), None
    report = Report(
        run,
        contenders,
        propensities,
        samples,
        estimated,
        chosen=chosen,
        stop=stop,
        shows_baselines=baselines,
        groups_seeds=group_seeds,
    )
    return replace(report, warnings=warn(report))


def _check_split(split: Any, **options: Any) -> None:
    """Refuse what is not a split, and options of a partitioned one."""
    for name, value in options.items():
        if value is not None:
            raise ConfigError(f"{Option(name)} is for data sets that are read part by part; leave it out")
    if not isinstance(split, Split):
        raise DataError(f"expected a Split, got {type(split).__name__}; make one with Split(train, test)")


def _evaluate_parts(
    models: Mapping[str, Any], split: PartitionedSplit, asked: Mapping[str, Any], **options: Any
) -> Report:
    """Judge models on a partitioned split."""
    checked = check_part_models(models)
    metrics = default_metrics(checked) if asked["metrics"] is None else asked["metrics"]
    settings = resolve(**{**asked, "metrics": metrics}, usual=PART_ESTIMATORS)
    report = evaluate_parts(checked, split, settings, **options)
    if asked["estimators"] is not None or not any(isinstance(each, Snips) for each in settings.estimators):
        return report
    choice = AutoChoice(
        "snips", str(report.settings.propensity), IN_PARTS.format(propensity=report.settings.propensity)
    )
    return replace(report, chosen=choice)


def choose(
    model: StepwiseModel, split: Split, metrics: Sequence[str] = ("recall@10",), **options: Any
) -> dict[str, Chosen]:
    """Train a model on the split's train, and choose its settings and step for each metric.

    Parameters
    ----------
    model : StepwiseModel
    split : Split
        Its validation rows choose; without them the last step is taken.
    metrics : sequence of str
        Each gets the model that was best by it, under the split's candidate rule.
    train : Interactions, optional
        Training rows, if only a part of the split's train; all rows of that still count as seen.
    penalties : sequence of float, optional
        Values of the regularisation to choose from.
    settings : sequence of StepwiseModel, optional
        Settings to choose from; by default the model alone, or its ``settings_to_try`` with ``tune``. A setting whose
        training diverges is skipped, unless all do.
    positive : str, optional
        Which validation rows are positives.
    estimator : str
        How a metric is estimated from the validation rows; by default averaged over users (``aoa``).
    propensity : str, optional
        Of the validation rows, for an estimator that needs it.
    rng : int or Generator
        All settings start from the same numbers.
    threads : int, optional
        The choice does not depend on it.
    checkpoints : Path, optional
        A folder; a run that is saved there continues where it was.
    name : str
        Name of the model in progress and file names; its word by default.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    dict
        Metric to `Chosen`.
    """
    return choose_by(evaluate, model, split, metrics, **options)


def _needs_labels(settings: Settings, split: Split) -> bool:
    """Whether an estimator learns from labels, and the values of the log are labels: 0 and 1.

    Else imputation would take a row of value 0 as negative, and the weighted mean would take it as positive.
    """
    learns = any(
        isinstance(estimator, Imputing | Auto) and metric.kind not in OVER_ALL_PAIRS
        for metric, estimator in settings.pairs
    )
    return learns and split.test.values is not None and (has_labels(split.test) or has_labels(split.train))
