"""The main job: models and a split in, a report out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from unskew.arrays import Bools
from unskew.data import Interactions, Split
from unskew.data.split import Candidates
from unskew.data.vocabulary import vocabulary_of
from unskew.errors import DataError
from unskew.estimators import Estimator, Interval
from unskew.evaluation.doubts import find_doubts
from unskew.evaluation.estimates import Estimation, check_needs
from unskew.evaluation.evidence import Evidence, check_counts, relevant_counts
from unskew.evaluation.report import Report
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
    evidence = _evidence(split, train, contest, ranks, positive)
    if relevant is not None:
        by_user, ids, numbers = relevant_counts(relevant, split, evidence.users)
        check_counts(by_user, evidence.users, np.diff(evidence.offsets), split)
        evidence = replace(evidence, relevant=by_user, absent=numbers[_known_to_all(fitted, ids)])
    estimation = Estimation(evidence, settings, fitted_propensity, threads)
    cells, estimates, comparisons = estimation.run()
    return Report(
        estimates=tuple(estimates),
        comparisons=tuple(comparisons),
        warnings=tuple(find_doubts(evidence, settings, cells, contest)),
        settings=settings,
        evidence=evidence,
        propensity=fitted_propensity,
        block_size=block,
        models={name: _describe(model) for name, model in models.items()},
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
                unlisted=settings.unlisted,
                seed=settings.seed,
                progress=None if progress is None else _stage(progress, f"ranking {name}"),
            )
    joined = {name: made[name] if name in made else ready[name] for name in models}
    _check_same_rows(joined, split, settings)
    for name, ranks in ready.items():
        _check_belongs(name, ranks, split)
    return contest, joined, block


def _check_same_rows(ranks: Mapping[str, Ranks], split: Split, settings: Settings) -> None:
    names = list(ranks)
    first = ranks[names[0]]
    for name, other in ranks.items():
        same = np.array_equal(first.users, other.users) and np.array_equal(first.items, other.items)
        if not same or not np.array_equal(first.candidates, other.candidates):
            raise DataError(
                f"ranks of {names[0]!r} and {name!r} are of different rows or candidates; make them on the same split"
            )
        if other.ties != settings.ties or other.candidate_rule != str(split.rule):
            raise DataError(
                f"ranks of {name!r} were made with ties {other.ties} among {other.candidate_rule} candidates; "
                f"ask for the same here, not {settings.ties} and {split.rule}"
            )


def _check_belongs(name: str, ranks: Ranks, split: Split) -> None:
    width = max(len(split.item_vocabulary), int(ranks.items.max(initial=0)) + 1)
    keys = [rows.users.astype(np.int64) * width + rows.items for rows in (ranks, split.test)]
    strange = int(np.sum(~np.isin(keys[0], keys[1])))
    if strange or not len(ranks):
        raise DataError(
            f"ranks of {name!r} do not belong to this split: {strange} of {len(ranks)} rows are not in its test"
        )


def _known_to_all(models: Mapping[str, Scorer | Ranks], ids: pl.Series) -> Bools:
    """Whether every model knows a user of neither train nor test; only one with ids of its own can."""
    known = np.ones(len(ids), dtype=bool)
    for name, model in models.items():
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
    if contest is None:
        # ranks tell what is missing, not why
        judged = np.isin(split.test.users, users)
        asked = judged if positive is None else judged & split.test.holds(positive)
        dropped: Mapping[str, int] = {
            "items_in_train": 0,
            "items_outside_catalogue": int(asked.sum()) - len(first),
            "rows_of_unknown_users": 0,
            "unknown_users": 0,
            "users": int(np.sum(split.test.user_counts > 0)) - len(users),
        }
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


def _stage(progress: Stage, name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)


def _describe(model: Judged) -> str:
    if isinstance(model, str):
        return str(Model.from_word(model))
    return str(model) if isinstance(model, Model) else type(model).__name__
