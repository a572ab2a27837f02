"""The main job: models and a split in, a report out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from unskew.arrays import Bools, Ints
from unskew.data import Interactions, Split
from unskew.data.split import Candidates
from unskew.data.vocabulary import vocabulary_of
from unskew.errors import DataError
from unskew.estimators import Estimator, Interval
from unskew.evaluation.doubts import find_doubts
from unskew.evaluation.estimates import Estimation, check_needs
from unskew.evaluation.evidence import Evidence, check_counts, relevant_counts
from unskew.evaluation.report import Report
from unskew.evaluation.saved_ranks import admit, check_alike
from unskew.evaluation.settings import DEFAULT_PROPENSITY, AnyMetric, Settings, resolve
from unskew.models import Model
from unskew.propensities import PropensityModel
from unskew.ranking import Contest, Engine, Ranks, Scorer, Threads, default_block_size, prepare_contest, rank

Judged: TypeAlias = "Scorer | Ranks | Model | str"
Stage: TypeAlias = Callable[[str, int, int], None]


def evaluate(
    models: Mapping[str, Judged],
    split: Split,
    *,
    metrics: Sequence[str | AnyMetric] | None = None,
    estimators: Sequence[str | Estimator] | None = None,
    propensity: str | PropensityModel = DEFAULT_PROPENSITY,
    candidates: str | Candidates | None = None,
    ties: str = "expected",
    positive: str | None = None,
    relevant: Any = None,
    level: float = 0.95,
    interval: str | Interval = "delta",
    seed: int = 0,
    threads: int | None = None,
    engine: Engine | None = None,
    block_size: int | None = None,
    unlisted: str = "zero",
    progress: Stage | None = None,
) -> Report:
    """Judge models on held-out rows, naively and with the skew of the log corrected for.

    Parameters
    ----------
    models : mapping
        Name to model: a `Scorer`, `Ranks` made before, a built-in `Model` or its word (``als(factors=32)``),
        which is then trained on the split's train.
    split : Split
    metrics : sequence, optional
        Words or metrics; ``recall@10``, ``adg@10`` and ``auc`` by default.
    estimators : sequence, optional
        Words or estimators. By default ``aoa`` and ``snips``, each where it applies; one that is named and does
        not apply is an error.
    propensity : str or PropensityModel
    candidates : str or Candidates, optional
        Instead of the split's own rule.
    ties : str
        ``expected`` (exact mean over all orders of a tie), ``optimistic``, ``pessimistic``, ``random``, ``ordinal``.
    positive : str, optional
        Which rows are positives, as in ``rating>=4``; all by default. Training rows are filtered too when they have
        that column, for models and popularity; any training row still counts as seen.
    relevant : mapping or frame, optional
        Each user's number of relevant items (columns ``user``, ``relevant``), for ``ips`` of mean metrics.
    level : float
    interval : str or Interval
        ``delta`` or ``bootstrap(2000)``.
    seed : int
    threads : int, optional
        As many as there are cores by default; the numbers do not depend on it.
    engine : Engine, optional
        Instead of threads.
    block_size : int, optional
        Users scored at a time; recorded, because float32 products differ in the last bit between block sizes.
    unlisted : {"zero", "tied"}
        What an item outside a top-N list gains under a cut-off.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

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
    settings = resolve(
        metrics=metrics,
        estimators=estimators,
        propensity=propensity,
        candidates=candidates,
        ties=ties,
        positive=positive,
        level=level,
        interval=interval,
        seed=seed,
        block_size=block_size,
        unlisted=unlisted,
    )
    if not isinstance(models, Mapping):
        raise DataError(f"models must be a mapping from names, as in {{'mine': model}}, not {type(models).__name__}")
    if not isinstance(split, Split):
        raise DataError(f"expected a Split, got {type(split).__name__}; make one with Split(train, test)")
    if not models:
        raise DataError("no model to judge: give at least one")
    if settings.candidates is not None and settings.candidates != split.rule:
        split = split.with_candidates(settings.candidates)
    train = _positives(split.train, positive)
    fitted_propensity = settings.propensity.fit(train, split.test)
    check_needs(settings, fitted_propensity, counted=relevant is not None)
    fitted = _fit(models, train, seed, progress)
    runner = engine or Threads(threads)
    contest, ranks, block = _rank_all(fitted, split, settings, runner, progress)
    evidence = replace(_evidence(split, train, contest, ranks, positive), unlisted=unlisted)
    if relevant is not None:
        by_user, ids, numbers = relevant_counts(relevant, split, evidence.users)
        check_counts(by_user, evidence.users, np.diff(evidence.offsets), split)
        evidence = replace(evidence, relevant=by_user, absent=numbers[_known_to_all(fitted, ids)])
    estimation = Estimation(evidence, settings, fitted_propensity, threads)
    cells, estimates, comparisons = estimation.run()
    return Report(
        estimates=tuple(estimates),
        comparisons=tuple(comparisons),
        warnings=(*_unnamed(fitted, split), *find_doubts(evidence, settings, cells, contest)),
        settings=settings,
        evidence=evidence,
        propensity=fitted_propensity,
        block_size=block,
        models={name: _describe(model) for name, model in models.items()},
    )


def _unnamed(models: Mapping[str, Scorer | Ranks], split: Split) -> Iterator[str]:
    """Say which models were matched by order alone, where ids are more than row numbers."""
    for name, model in models.items():
        if isinstance(model, Ranks):
            continue
        pairs = (("user", split.user_vocabulary), ("item", split.item_vocabulary))
        axes = [axis for axis, ids in pairs if getattr(model, f"{axis}_ids", None) is None and not ids.is_range]
        if axes:
            yield (
                f"model {name!r} has no {' and '.join(f'{axis}_ids' for axis in axes)}: its k-th row was taken for the "
                "k-th id of train and test together"
            )


def _positives(train: Interactions, positive: str | None) -> Interactions:
    if positive is None:
        return train
    try:
        return train.where(positive)
    except DataError:  # train lacks that column, so all its rows are positives
        return train


def _fit(
    models: Mapping[str, Judged], train: Interactions, seed: int, progress: Stage | None
) -> dict[str, Scorer | Ranks]:
    fitted: dict[str, Scorer | Ranks] = {}
    for name, given in models.items():
        model = Model.from_word(given) if isinstance(given, str) else given
        if isinstance(model, type) or not isinstance(model, Model | Ranks | Scorer):
            kind = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
            raise DataError(
                f"model {name!r} is {kind}; give an object with a method score(users), Ranks, or a word such as 'als'"
            )
        if isinstance(model, Model):
            stage = None if progress is None else _stage(progress, f"training {name}")
            fitted[name] = model.fit(train, rng=seed, progress=stage)
        else:
            fitted[name] = model
    return fitted


def _rank_all(
    models: Mapping[str, Scorer | Ranks],
    split: Split,
    settings: Settings,
    engine: Engine,
    progress: Stage | None,
) -> tuple[Contest | None, dict[str, Ranks], int | None]:
    scorers = {name: model for name, model in models.items() if not isinstance(model, Ranks)}
    ready = {name: model for name, model in models.items() if isinstance(model, Ranks)}
    contest, made, block = None, {}, None
    if scorers:
        contest = prepare_contest(scorers, split, positive=settings.positive, seed=settings.seed)
        block = settings.block_size or default_block_size(contest.catalogue_size)
        for name, scorer in scorers.items():
            made[name] = rank(
                scorer,
                contest,
                name=name,
                ties=settings.ties,
                engine=engine,
                block_size=block,
                seed=settings.seed,
                progress=None if progress is None else _stage(progress, f"ranking {name}"),
            )
    joined = {name: made[name] if name in made else admit(name, ready[name], split, settings) for name in models}
    check_alike(joined)
    return contest, joined, block


def _known_to_all(models: Mapping[str, Scorer | Ranks], ids: pl.Series) -> Bools:
    """Whether every model knows a user of neither train nor test; only one with ids of its own can."""
    known = np.ones(len(ids), dtype=bool)
    for name, model in models.items():
        if isinstance(model, Ranks):
            continue  # they do not say whom else the model knows
        own = getattr(model, "user_ids", None)
        if own is None:
            return np.zeros(len(ids), dtype=bool)
        known &= vocabulary_of(own, f"user_ids of model {name!r}")[0].encode(ids) >= 0
    return known


def _evidence(
    split: Split, train: Interactions, contest: Contest | None, ranks: Mapping[str, Ranks], positive: str | None
) -> Evidence:
    first = next(iter(ranks.values()))
    starts = np.flatnonzero(np.append(True, first.users[1:] != first.users[:-1]))
    users = first.users[starts]
    known = np.ones(len(split.user_vocabulary), dtype=bool)
    dropped: Mapping[str, int]
    if contest is None:
        dropped = _without_rank(split, first, users, positive)
    else:
        dropped = contest.dropped
        for binding in contest.bindings.values():
            known &= binding.rows >= 0
    return Evidence(
        split=split,
        train=train,
        users=users,
        offsets=np.append(starts, len(first)).astype(np.int64),
        items=first.items,
        ranks=ranks,
        known_users=known,
        dropped=dropped,
    )


def _without_rank(split: Split, ranks: Ranks, users: Ints, positive: str | None) -> dict[str, int]:
    """What saved ranks lack; they do not tell why."""
    test = split.test
    is_positive = np.ones(len(test), dtype=bool) if positive is None else test.holds(positive)
    tested = np.unique(test.users)
    return {
        "items_in_train": 0,
        "items_outside_catalogue": 0,
        "rows_without_rank": int(np.sum(is_positive & np.isin(test.users, users))) - len(ranks),
        "rows_of_unknown_users": 0,
        "unknown_users": 0,
        "users_without_positive": len(tested) - len(np.unique(test.users[is_positive])),
        "users": len(tested) - len(users),
    }


def _stage(progress: Stage, name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)


def _describe(model: Judged) -> str:
    if isinstance(model, str):
        return str(Model.from_word(model))
    return str(model) if isinstance(model, Model) else type(model).__name__
