"""`audit`: measure how skewed a log and the recommendations of models are."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.audit.error.error_audit import audit_error
from unskew.audit.error.own_models import Seen
from unskew.audit.error.plan import plan_error
from unskew.audit.holdout import Holdout, check_held_out, check_k, plan_holdout
from unskew.audit.lists import ModelAudit, measure_lists
from unskew.audit.popularity import LogAudit, Strata, measure_log, part_items
from unskew.audit.result import Audit
from unskew.audit.strata import ESTIMATOR, StratumEstimate, check_metrics, estimate_strata
from unskew.data import Interactions
from unskew.display.phrases import counted
from unskew.errors import ConfigError, DataError, Option, check_types
from unskew.evaluation import evaluate
from unskew.evaluation.checking import AUDIT_CHECKS, warn
from unskew.evaluation.checking.data import FEW_USERS, REPEATED_ROWS, repeated
from unskew.evaluation.checking.models import unnamed
from unskew.evaluation.checking.time_leak import find_hindsight
from unskew.evaluation.collecting.collect import collect
from unskew.evaluation.estimating.estimate import Estimated
from unskew.evaluation.fitting.gamma import describe_short_lists
from unskew.evaluation.fitting.models import Contenders, ModelLike, fit_models, read_models
from unskew.evaluation.fitting.propensities import Propensities, fit_propensity
from unskew.evaluation.report import Report
from unskew.evaluation.run import Run
from unskew.evaluation.settings.admissible import check_pieces
from unskew.evaluation.settings.settings import resolve
from unskew.metrics import AnyMetric
from unskew.progress import Stage
from unskew.propensities.popularity_fit import LEAST_LEVELS
from unskew.ranking import Engine, TopCounts, count_top, engine_of

if TYPE_CHECKING:
    from unskew.calibration import Calibration

ROWS_IN_LOG = "{rows} dropped (also in the log): lists do not hold items that the user already has"
ALL_EQUAL = (
    "all items of the log have the same number of rows{before}, so they are equally popular: there is no head or tail, "
    "and gamma is not identified"
)
UNCERTAIN = "model {model!r}: {note}; do not rely on it"
NO_GAMMA = "gamma of model {model!r} is not identified: {why}"
OUTSIDE = "model {model!r} gives {share:.1%} of its places to items that the log does not have"
LISTS_SHORT = "model {model!r}: {short}; {what} only what they hold"
FEW_USERS_IN = (
    "{stratum}: only {users} with held-out rows, so its intervals are rough; hold out more rows, with a larger "
    "{holdout} or {test}"
)


def audit(
    log: Interactions,
    models: Mapping[str, Any] | None = None,
    *,
    test: Interactions | None = None,
    holdout: float | None = None,
    temporal: float | None = None,
    metrics: Sequence[str | AnyMetric] | None = None,
    k: int = 50,
    positive: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    engine: Engine | str | None = None,
    block_size: int | None = None,
    progress: Stage | None = None,
    depth: str = "none",
    world: str | None = None,
    parameters: "str | Path | Calibration | None" = None,
    runs: int | None = None,
    evaluations: int | None = None,
) -> Audit:
    """Measure how skewed towards the popular a log is, and the top-k lists of models, and their metrics by popularity.

    Parameters
    ----------
    log : Interactions
    models : mapping, optional
        Name to model: whatever `evaluate` takes that gives scores, or a built-in `Model` or its word, which is then
        trained.
    test : Interactions, optional
        Held-out rows for the metrics; `log` is then the training log.
    holdout : float, optional
        Without a test, the random share of the log to hold out; 0.2 when all models are to be trained here.
    temporal : float, optional
        Hold out this last share of the log by time instead.
    metrics : sequence, optional
        Words or metrics that are means over held-out items; ``recall@10``, ``adg@10`` and ``auc`` by default.
    k : int
        Length of the recommendation lists.
    positive : str, optional
        Which rows are positives, as in ``rating>=4``; popularity counts only them. Any training row counts as seen.
    level : float
        Level of the intervals.
    seed : int
    threads : int, optional
        By default the number of cores; the numbers do not depend on it.
    engine : {"threads", "ray"} or Engine, optional
        Where blocks of users and simulated evaluations run, as in `evaluate`.
    block_size : int, optional
        Users scored at a time.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.
    depth : {"none", "quick", "standard", "deep"}
        How much to simulate to find out how wrong an evaluation on such a log can be; see `ErrorAudit`. By default
        nothing is simulated, because it may take minutes.
    world : str, optional
        The kind of world to calibrate to the log, or a world in full; by default ``lda-pop``, ``ibp-pop``,
        ``lda-unif`` and ``ibp-unif`` are calibrated.
    parameters : path or Calibration, optional
        A saved calibration, as from ``unskew calibrate``; all its worlds, unless `world` names one.
    runs, evaluations : int, optional
        Simulated evaluations over all worlds, and worlds that each search tries, instead of those of the depth.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from unskew import Interactions, audit
    >>> log = Interactions.from_arrays([0, 1, 2, 3, 0, 1], ["a", "a", "a", "a", "b", "c"])
    >>> result = audit(log)
    >>> result.log.gini
    0.3333333333333333
    >>> result.strata.items.tolist()
    [1, 0, 2]
    """
    if not isinstance(log, Interactions):
        raise DataError(f"expected Interactions, got {type(log).__name__}; see Interactions.from_frame and .read")
    given = {} if models is None else models
    if not isinstance(given, Mapping):
        raise DataError(f"models must be a mapping from names, as in {{'mine': model}}, not {type(given).__name__}")
    check_types("text", {"depth": depth}, optional=False)
    check_types("text", {"world": world})
    check_types("a number", {"holdout": holdout, "temporal": temporal})
    check_types("a whole number", {"k": k}, optional=False)
    check_types("a whole number", {"runs": runs, "evaluations": evaluations, "threads": threads})
    check_pieces("metrics", metrics)
    check_metrics(metrics)
    wanted = plan_error(depth, world=world, parameters=parameters, runs=runs, evaluations=evaluations)
    settings = resolve(
        metrics=metrics,
        estimators=[ESTIMATOR],
        propensity="uniform",
        positive=positive,
        level=level,
        seed=seed,
        block_size=block_size,
    )
    positives = log if positive is None else log.where(positive)
    log_audit = measure_log(positives)
    plan = plan_holdout(log, given, test, holdout, temporal, settings)
    train = plan.split.train if positive is None else plan.split.train.where(positive)
    check_k(k, train, given)
    check_held_out(plan, given, settings)
    run = Run(plan.split, settings, engine_of(engine, threads), threads, progress)
    given = read_models(given, plan.split) if given else {}
    contenders = _fit(run, given)
    lists = _count_lists(run, contenders, k, judged=plan.judged)
    base = _popularity_base(log_audit, positives, train, drawn=plan.judged and test is None)
    known = [top.catalogue for top in lists.values()]  # the items that a model could recommend
    strata = part_items(base, np.unique(np.concatenate(known)) if known else None)
    rows = tuple(measure_lists(name, top, strata, base) for name, top in lists.items())
    samples = collect(run, contenders) if plan.judged else None
    propensity = fit_propensity(settings.propensity, train, plan.split.test, seen=None)
    propensities = Propensities(propensity, propensity, settings.propensity)
    parts = () if samples is None else tuple(estimate_strata(samples, strata, settings, propensities, threads))
    warnings = (
        *unnamed(contenders.models, plan.split),
        *_about_data(log, plan),
        *(() if samples is None else _about_rows(Report(run, contenders, propensities, samples, Estimated()))),
        *_about_models(rows, strata, drawn=base is not train),
        *_about_places(rows, lists, plan.split.train),
        *_few(parts),
    )
    seen = None if samples is None else Seen(given, contenders.models, lists, samples, run, k)
    error, about_error = audit_error(wanted, plan.split, settings, seen, bool(given), run)
    return Audit(
        log=log_audit,
        strata=strata,
        models=rows,
        by_stratum=parts,
        warnings=tuple(dict.fromkeys((*warnings, *about_error))),
        settings=settings,
        k=k,
        data={"log": log} if test is None else {"log": log, "test": test},
        split=plan.split.origin if plan.judged else "none",
        described=contenders.described,
        ranks={} if samples is None else {name: ranks.sha256 for name, ranks in samples.judged.ranks.items()},
        block_size=settings.block_size if samples is None else samples.block_size,
        counted_on="training rows" if plan.judged and base is train else "rows",
        error=error,
    )


def _fit(run: Run, models: Mapping[str, ModelLike]) -> Contenders:
    contenders = fit_models(run, models, run.settings.propensity, evaluate)
    for name, model in contenders.models.items():
        if model.ranker is None or model.scorer is None:
            give = f"give its {Option('scores')} or {Option('factors')}"
            raise ConfigError(f"model {name!r} gives no scores to make lists from; {give}")
    return contenders


def _count_lists(run: Run, contenders: Contenders, k: int, *, judged: bool) -> dict[str, TopCounts]:
    """Number of lists of each model that hold each item, over the whole catalogue."""
    lists = {}
    for name, model in contenders.models.items():
        assert model.scorer is not None
        lists[name] = count_top(
            model.scorer,
            run.split if judged else run.split.train,
            k,
            name=name,
            catalogue="all",
            engine=run.engine,
            block_size=run.settings.block_size,
            progress=run.doing("listing", name),
        )
    return lists


def _popularity_base(log: LogAudit, positives: Interactions, train: Interactions, *, drawn: bool) -> Interactions:
    """The rows that popularity is counted on: training rows, unless the whole log has too few levels for a gamma.

    Holding rows out gives items of equal popularity unequal counts, so such levels would come from chance alone.
    """
    return positives if drawn and len(log.levels) < LEAST_LEVELS else train


def _about_rows(report: Report) -> Iterator[str]:
    """Yield warnings on the held-out rows: those dropped, and numbers that depend on few of them."""
    seen = report.samples.judged.dropped["items_in_train"]
    if seen:
        yield ROWS_IN_LOG.format(rows=counted(seen, "test row"))
    yield from warn(report, AUDIT_CHECKS)


def _about_data(log: Interactions, plan: Holdout) -> Iterator[str]:
    if log.duplicates:
        yield REPEATED_ROWS.format(part="log", rows=repeated(log.duplicates))
    if plan.note:
        yield plan.note
    if plan.judged:
        yield from find_hindsight(plan.split)


def _about_models(rows: Sequence[ModelAudit], strata: Strata, *, drawn: bool) -> Iterator[str]:
    if strata.levels < 2:
        yield ALL_EQUAL.format(before=" before rows are held out" if drawn else "")
    for row in rows:
        if row.gamma is None and strata.levels >= 2:
            yield NO_GAMMA.format(model=row.model, why=row.why)
        elif row.gamma is not None:
            yield from (UNCERTAIN.format(model=row.model, note=note) for note in row.gamma.notes)
        if row.outside:
            yield OUTSIDE.format(model=row.model, share=row.outside)


def _about_places(rows: Sequence[ModelAudit], lists: Mapping[str, TopCounts], train: Interactions) -> Iterator[str]:
    for row in rows:
        short = describe_short_lists(lists[row.model], train)
        if short:
            what = "the numbers describe" if row.gamma is None else "gamma describes"
            yield LISTS_SHORT.format(model=row.model, short=short, what=what)


def _few(parts: Sequence[StratumEstimate]) -> Iterator[str]:
    named: set[str] = set()
    for part in parts:
        if part.stratum != "all" and part.estimate.users < FEW_USERS and part.stratum not in named:
            named.add(part.stratum)
            users = counted(part.estimate.users, "user")
            larger = {"holdout": Option("holdout"), "test": Option("test")}
            yield FEW_USERS_IN.format(stratum=part.stratum, users=users, **larger)
