"""Table 3, one draw of the biased test after another: models trained, estimated on it, judged by the random test."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.evaluation import Report, evaluate
from unskew.models import GradientModel
from unskew.propensities import Popularity
from unskew.ranking import FactorScorer
from unskew.studies.framework.study import Context
from unskew.studies.yang2018.printed import TABLE3_GAMMAS
from unskew.studies.yang2018.table3_data import POSITIVE, Benchmark, Comparison, Tests

AOA, DEFAULT, AOA_PAIRS = "AOA", "snips, default", "aoa(per=pair)"
_USER_FORM = "snips(per=user)"
Judge: TypeAlias = Callable[..., Report]
"""`evaluate` with the models and ties of a draw."""


def published(gamma: float) -> str:
    """The name of the paper's estimator at a gamma."""
    return f"UB({gamma:g})"


def pairwise(gamma: float) -> str:
    """The name of the default form at a gamma."""
    return f"snips({gamma:g})"


ESTIMATES: tuple[str, ...] = (AOA, *map(published, TABLE3_GAMMAS), *map(pairwise, TABLE3_GAMMAS), DEFAULT)
"""What the table shows; the last is what an evaluation does when nothing is said."""

CURVE: tuple[float, ...] = (-0.5, 0.0, 0.5, 1.0, *TABLE3_GAMMAS)
"""Gammas of the figures; -1 is AOA itself."""


@dataclass(frozen=True, eq=False)
class Runs:
    """What all draws of the biased test gave; arrays are (draws, models).

    Parameters
    ----------
    models : tuple of str
    truth : mapping
        By comparison: the mean over users on the random test.
    pairs : mapping
        By comparison: the mean over relevant pairs on the random test.
    noise : mapping
        By comparison: the standard error of the truth, users being drawn.
    estimates : mapping
        By comparison and estimate: the number on the biased test.
    told_apart : mapping
        By comparison: the share of draws in which the random test tells the best from the worst model at 5 %.
    held_out, learnt_from, dropped, unknown : float
        Mean over draws: positives of the biased test, training positives, rows of the random test that are training
        positives, and positives of the biased test whose item has no training positive.
    """

    models: tuple[str, ...]
    truth: Mapping[str, Floats]
    pairs: Mapping[str, Floats]
    noise: Mapping[str, Floats]
    estimates: Mapping[tuple[str, str], Floats]
    told_apart: Mapping[str, float]
    held_out: float
    learnt_from: float
    dropped: float
    unknown: float

    @property
    def draws(self) -> int:
        """How many there were."""
        return len(next(iter(self.truth.values())))


@dataclass(frozen=True, eq=False)
class _Draw:
    truth: dict[str, list[float]]
    pairs: dict[str, list[float]]
    noise: dict[str, list[float]]
    estimates: dict[tuple[str, str], list[float]]
    told_apart: dict[str, bool]
    counts: tuple[int, int, int, int]


def run_draws(
    benchmark: Benchmark, models: Mapping[str, GradientModel], draws: int, context: Context, *, ties: str = "expected"
) -> Runs:
    """Divide, train, estimate and compare, again and again.

    Parameters
    ----------
    benchmark : Benchmark
    models : mapping
        Settings of each model by name.
    draws : int
    context : Context
    ties : str
        As in `evaluate`.
    """
    found = []
    stage = f"{benchmark.name}: models trained"
    for draw in range(draws):
        tests = benchmark.split(context.rng("table3", benchmark.name, draw))
        scorers: dict[str, FactorScorer] = {}
        for k, (name, model) in enumerate(models.items()):
            context.report(stage, draw * len(models) + k, draws * len(models))
            rng = context.rng("table3", benchmark.name, draw, name)
            scorers[name] = model.train(tests.parts.train, rng=rng).last
        found.append(_judge(benchmark, tests, scorers, ties))
    context.report(stage, draws * len(models), draws * len(models))
    return _gather(tuple(models), [comparison.name for comparison in benchmark.comparisons], found)


def _judge(benchmark: Benchmark, tests: Tests, scorers: Mapping[str, FactorScorer], ties: str) -> _Draw:
    seen = tests.parts.train.item_counts > 0
    counts = (
        len(tests.parts.test),
        len(tests.parts.train),
        tests.dropped,
        int((~seen[tests.parts.test.items]).sum()),
    )
    draw = _Draw({}, {}, {}, {}, {}, counts)
    for lists in sorted({comparison.lists for comparison in benchmark.comparisons}):
        asked = [comparison for comparison in benchmark.comparisons if comparison.lists == lists]
        judge = partial(evaluate, scorers, ties=ties, threads=1)
        _add_truth(draw, asked, judge, tests, lists=lists)
        _add_estimates(draw, asked, judge, tests, lists=lists)
    return draw


def _add_truth(draw: _Draw, asked: list[Comparison], judge: Judge, tests: Tests, *, lists: bool) -> None:
    report = judge(
        tests.random_split(lists=lists),
        metrics=[comparison.random for comparison in asked],
        estimators=["aoa", AOA_PAIRS],
        positive=POSITIVE,
    )
    for comparison in asked:
        metric, name = comparison.random, comparison.name
        draw.truth[name] = _values(report, metric, "aoa")
        draw.pairs[name] = _values(report, metric, AOA_PAIRS)
        errors = [report.estimate(model, metric, "aoa").std_error for model in report.models]
        draw.noise[name] = [np.nan if error is None else error for error in errors]
        draw.told_apart[name] = _apart(report, metric, dict(zip(report.models, draw.truth[name], strict=True)))


def _apart(report: Report, metric: str, truth: Mapping[str, float]) -> bool:
    """Whether the best and the worst model differ by more than chance, by a paired test over users."""
    ends = {max(truth, key=truth.__getitem__), min(truth, key=truth.__getitem__)}
    for row in report.comparisons:
        if row.metric == metric and row.estimator == "aoa" and {row.a, row.b} == ends:
            return row.p_value is not None and row.p_value < 0.05
    return False


def _add_estimates(draw: _Draw, asked: list[Comparison], judge: Judge, tests: Tests, *, lists: bool) -> None:
    split = tests.biased_split(lists=lists)

    def at(propensity: Popularity, named: Mapping[str, str]) -> None:
        report = judge(
            split,
            metrics=[comparison.biased for comparison in asked],
            estimators=list(named.values()),
            propensity=propensity,
            positive="rating>=1",
        )
        for comparison in asked:
            for name, estimator in named.items():
                values = _values(report, comparison.biased, estimator)
                draw.estimates[comparison.name, name] = values

    at(Popularity(), {AOA: "aoa", AOA_PAIRS: AOA_PAIRS, DEFAULT: "snips"})
    for gamma in CURVE:
        at(Popularity(gamma=gamma, smoothing=0), {published(gamma): _USER_FORM, pairwise(gamma): "snips"})


def _values(report: Report, metric: str, estimator: str) -> list[float]:
    values = [report.value(model, metric, estimator) for model in report.models]
    return [np.nan if value is None else value for value in values]


def _gather(models: tuple[str, ...], names: list[str], found: list[_Draw]) -> Runs:
    held_out, learnt_from, dropped, unknown = np.mean([draw.counts for draw in found], axis=0).tolist()
    return Runs(
        models=models,
        truth={name: np.array([draw.truth[name] for draw in found]) for name in names},
        pairs={name: np.array([draw.pairs[name] for draw in found]) for name in names},
        noise={name: np.array([draw.noise[name] for draw in found]) for name in names},
        estimates={key: np.array([draw.estimates[key] for draw in found]) for key in found[0].estimates},
        told_apart={name: float(np.mean([draw.told_apart[name] for draw in found])) for name in names},
        held_out=held_out,
        learnt_from=learnt_from,
        dropped=dropped,
        unknown=unknown,
    )
