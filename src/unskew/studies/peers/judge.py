"""`judge`: all methods on one log, next to the truth; `Judged` has the numbers of all models."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from unskew.arrays import Bools, Floats, Ints, Matrix
from unskew.data import Split
from unskew.evaluation import Report, evaluate
from unskew.ranking import MatrixScorer, Scorer
from unskew.studies.framework.cache import read_arrays, write_arrays
from unskew.studies.peers.formulas import Lists
from unskew.studies.peers.methods import (
    METHODS,
    NDCG,
    PEERS,
    PLAIN,
    RUNS,
    SHARE,
    SUMS,
    USERS,
    Given,
    K,
    Method,
    Run,
    Target,
    of_ours,
)
from unskew.studies.truth.forms import MODELS
from unskew.studies.truth.judge import fit_models
from unskew.studies.truth.logs import Log, Parts

Means = Mapping[Target, Floats]
"""Numbers of all models by target."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Numbers of all models by all methods, on one log; NaN where a log has no truth of that kind.

    Parameters
    ----------
    values, low, high : array (methods, models)
        Estimates, and the ends of their 95 % intervals; NaN for packages without intervals.
    truth, naive : array (methods, models)
        The true values of each method's target, and the averages over held-out positives.
    user_truth, user_naive : array (methods, models)
        The same of the mean over users, whatever a method averages over.
    seconds : array (methods)
        Time for all models. Ours is from scores to intervals, that of the formulas of packages from lists to numbers.
    """

    values: Floats
    low: Floats
    high: Floats
    truth: Floats
    naive: Floats
    user_truth: Floats
    user_naive: Floats
    seconds: Floats

    def write(self, path: Path | None) -> None:
        """Keep the numbers in a file."""
        write_arrays(path, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def read(cls, path: Path | None) -> "Judged | None":
        """The numbers of a file; None without one."""
        arrays = read_arrays(path, [field.name for field in fields(cls)])
        return None if arrays is None else cls(**arrays)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Numbers of one method."""

    values: Floats
    seconds: float
    low: Floats
    high: Floats


def judge(log: Log, seed: Sequence[int], *, threads: int | None = None) -> Judged:
    """Split the positives of a log, train all models once, and estimate by all methods."""
    parts = served(log.parts(np.random.default_rng([*seed, 1]), positives=True))
    log = parts.log
    drawn = log.sample(SHARE, np.random.default_rng([*seed, 2]))
    rng = np.random.default_rng([*seed, 3])
    scorers = {name: untied(scorer, rng) for name, scorer in fit_models(parts, seed).items()}
    tops = [top_lists(scorer.matrix, parts.trained) for scorer in scorers.values()]
    numbers = _of_peers(tops, Given(parts.trained, parts.held, (*seed, 4)))
    for run in RUNS:
        numbers |= _of_ours(run, parts, drawn if run.sliced else None, scorers, seed[-1], threads)
    naive = means(tops, parts.held)
    truths = {sliced: truth(log, parts, tops, drawn if sliced else None) for sliced in (False, True)}
    return _joined(numbers, truths, naive)


def served(parts: Parts) -> Parts:
    """The users with a positive in train; packages differ in what they do with the others."""
    log, users = parts.log, parts.trained.any(axis=1)
    known = None if log.known is None else log.known[users]
    rows = Log(log.observed[users], log.liked[users], log.relevant[users], known=known)
    return Parts(rows, parts.trained[users], parts.held[users])


def untied(scorer: MatrixScorer, rng: np.random.Generator) -> MatrixScorer:
    """The same order with ties broken at random, once for all methods: packages differ in what they do with ties."""
    order = np.lexsort((rng.random(scorer.matrix.shape), scorer.matrix))
    places = np.empty(order.shape, dtype=np.float32)
    np.put_along_axis(places, order, np.arange(order.shape[1], dtype=np.float32)[np.newaxis], axis=1)
    return MatrixScorer(places, scorer.user_ids, scorer.item_ids)


def top_lists(scores: Matrix, excluded: Bools) -> Ints:
    """The best items of each user that are not excluded, the best first."""
    negated = np.where(excluded, np.inf, -scores)
    return np.argsort(negated, axis=1, kind="stable")[:, :K]


def means(tops: Sequence[Ints], positive: Bools) -> dict[Target, Floats]:
    """Plain averages of all models by target."""
    return {target: np.array([mean(Lists(top, positive)) for top in tops]) for target, mean in PLAIN.items()}


def truth(log: Log, parts: Parts, tops: Sequence[Ints], drawn: Bools | None) -> dict[Target, Floats]:
    """The true values of all models by target.

    If only a random sample of the pairs is known, means are over its relevant ones without those of the slice, sums are
    over all users and divided by its share, and there is no true ndcg.
    """
    relevant = log.relevant & ~parts.trained
    if log.known is None:
        return means(tops, relevant)
    known = log.known if drawn is None else log.known & ~drawn
    values = means(tops, relevant & known)
    del values[NDCG]
    # a sample has no relevant pair of some users, whose sums are not 0
    factor = (relevant & known).any(axis=1).mean() / known[~parts.trained].mean()
    return {target: factor * value if target in SUMS else value for target, value in values.items()}


def _of_peers(tops: Sequence[Ints], given: Given) -> dict[Method, _Numbers]:
    numbers, absent = {}, np.full(len(tops), np.nan)
    for method, formula in PEERS.items():
        start = time.process_time()
        values = np.array([formula(Lists(top, given.positive), given) for top in tops])
        numbers[method] = _Numbers(values, time.process_time() - start, absent, absent)
    return numbers


def _of_ours(
    run: Run, parts: Parts, drawn: Bools | None, scorers: Mapping[str, Scorer], seed: int, threads: int | None
) -> dict[Method, _Numbers]:
    start = time.process_time()
    report = evaluate(
        scorers,
        Split(parts.train, parts.test, slice=None if drawn is None else parts.slice_of(drawn)),
        metrics=list(run.metrics),
        estimators=list(run.estimators),
        propensity=run.propensity,
        positive="rating>=1",
        seed=seed,
        threads=threads,
        baselines=False,
    )
    seconds = time.process_time() - start
    return {
        of_ours(word, metric, over, sliced=run.sliced): _Numbers(values, seconds, low, high)
        for word, over in run.estimators.items()
        for metric, factor in run.metrics.items()
        for values, low, high in [_ends(report, word, metric, factor)]
    }


def _ends(report: Report, word: str, metric: str, factor: float) -> Floats:
    """Values, low and high ends of all models; auto has the name of the estimator that it became."""
    name = word if report.chosen is None else report.chosen.estimator
    rows = {row.model: row for row in report.estimates if row.metric == metric and row.estimator == name}
    ends = [[getattr(rows[model], end) for model in MODELS] for end in ("value", "low", "high")]
    return factor * np.array(ends, dtype=float)


def _joined(numbers: Mapping[Method, _Numbers], truths: Mapping[bool, Means], naive: Means) -> Judged:
    absent = np.full(len(MODELS), np.nan)
    columns = [
        (
            numbers[method].values,
            numbers[method].low,
            numbers[method].high,
            truths[method.sliced].get(method.target, absent),
            naive[method.target],
            truths[method.sliced].get(_of_users(method.target), absent),
            naive[_of_users(method.target)],
        )
        for method in METHODS
    ]
    values, low, high, true, average, of_users, users_average = map(np.array, zip(*columns, strict=True))
    seconds = np.array([numbers[method].seconds for method in METHODS])
    return Judged(values, low, high, true, average, of_users, users_average, seconds)


def _of_users(target: Target) -> Target:
    return Target(target.metric, USERS)
