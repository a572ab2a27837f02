"""Data with a random test set, and the factorisations of ratings that Table 2 compares on it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from unskew.arrays import Floats
from unskew.blas import one_thread
from unskew.data import Interactions, Split
from unskew.data.sources.coat import read_item_features, read_user_features
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.models import CptV, Rated, fit_cpt, fit_hl, fit_mf, tune_hl
from unskew.models.ratings.mf_fit import Loss, Offsets
from unskew.models.ratings.mf_tuning import FACTORS, PENALTIES, tune_mf
from unskew.propensities import Boosted, Column, Combined, Logistic, NaiveBayes, PropensityModel
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.study import Context

COAT, YAHOO = "coat", "yahoo-r3"
SHARE = 0.05  # of the test rows, which become the random sample
PAPER_PENALTIES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""The penalties of section 6.5. Their unit is not stated; here it is that of the paper's program, as in `fit_mf`."""
LOSSES: Mapping[str, Loss] = {"MAE": "mae", "MSE": "mse"}


@dataclass(frozen=True)
class Learner:
    """A row of the table.

    `propensity` names one of the benchmark's, empty for none. With `printed_grid` a factorisation chooses among the
    paper's penalties, else among those of the benchmark.
    """

    row: str
    propensity: str = ""
    offsets: Offsets = "free"
    printed_grid: bool = False
    kind: Literal["mf", "cpt", "hl-mar", "hl-mnar"] = "mf"


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Self-selected ratings to learn from, and random ones to be judged on.

    The test of the split is without the rows of the sample, from which propensities are learnt. Cross-validation
    chooses among the factors and penalties.
    """

    name: str
    split: Split
    sample: Interactions
    propensities: Mapping[str, PropensityModel]
    learners: tuple[Learner, ...]
    factors: tuple[int, ...] = FACTORS
    penalties: tuple[float, ...] = PENALTIES


class Learnt(NamedTuple):
    """Predicted ratings of the test rows, and the settings that were chosen."""

    predicted: Floats
    settings: str


class Learned(NamedTuple):
    """All rows of a benchmark.

    Rows are by name and by the metric that the fit made small: MSE or MAE of a factorisation, the mean or the median of
    an ordinal one. CPT-v has the same predictions for both. The notes are on propensities.
    """

    benchmark: Benchmark
    rows: Mapping[tuple[str, str], Learnt]
    notes: tuple[str, ...] = ()


def learn(benchmark: Benchmark, context: Context) -> Learned:
    """Learn all rows of a benchmark."""
    weights, notes = _weights(benchmark, context)
    jobs = [(learner, metrics) for learner in benchmark.learners for metrics in _jobs(learner)]
    tasks = (
        partial(_learn, learner, metrics, weights[learner.propensity], benchmark, context.seed)
        for learner, metrics in jobs
    )
    results = run_all(tasks, len(jobs), f"learning on {benchmark.name}", context)
    rows = {
        (learner.row, metric): learnt
        for (learner, metrics), several in zip(jobs, results, strict=True)
        for metric, learnt in zip(metrics, several, strict=True)
    }
    return Learned(benchmark, rows, notes)


def _jobs(learner: Learner) -> list[tuple[str, ...]]:
    """The metrics of each fit: a factorisation has a fit of its own for each."""
    if learner.printed_grid:  # fits of the absolute error with hardly any penalty are slow
        return [("MSE",)]
    return [(metric,) for metric in LOSSES] if learner.kind == "mf" else [tuple(LOSSES)]


def _learn(
    learner: Learner, metrics: tuple[str, ...], rated: Rated, benchmark: Benchmark, seed: int
) -> tuple[Learnt, ...]:
    """Choose the settings from a grid, fit, and predict; runs in another process."""
    test = benchmark.split.sorted_test
    with one_thread():
        if learner.kind == "cpt":
            fit = fit_cpt(rated, CptV.classes, rng=seed).factors
            return (Learnt(fit.predict(test.users, test.items), f"{CptV.classes} classes"),) * len(metrics)
        if learner.kind == "mf":
            penalties = PAPER_PENALTIES if learner.printed_grid else benchmark.penalties
            return tuple(
                _factorise(learner, rated, LOSSES[metric], benchmark.factors, penalties, test, seed)
                for metric in metrics
            )
        return _ordinal(learner.kind == "hl-mnar", metrics, rated, benchmark.factors, test, seed)


def _factorise(
    learner: Learner,
    rated: Rated,
    loss: Loss,
    factors: tuple[int, ...],
    penalties: tuple[float, ...],
    test: Interactions,
    seed: int,
) -> Learnt:
    chosen = tune_mf(rated, factors, penalties, loss=loss, offsets=learner.offsets, rng=seed)
    fit = fit_mf(rated, chosen.factors, chosen.penalty, loss=loss, offsets=learner.offsets)
    settings = f"{chosen.factors} factors, penalty {chosen.penalty:g}"
    if chosen.penalty == max(penalties):
        settings += ", the largest that was tried"
    return Learnt(fit.predict(test.users, test.items), settings)


def _ordinal(
    selective: bool, metrics: tuple[str, ...], rated: Rated, factors: tuple[int, ...], test: Interactions, seed: int
) -> tuple[Learnt, ...]:
    """The mean and the median of an ordinal factorisation, and what the choice on the test itself would give."""
    fits = {count: fit_hl(rated, count, selective=selective, rng=seed) for count in factors}
    best = dict.fromkeys(LOSSES.values(), factors[0])
    if len(factors) > 1:
        best = tune_hl(rated, factors, selective=selective, rng=seed).factors
    learnt = []
    for metric in metrics:
        median = LOSSES[metric] == "mae"
        predicted = {
            count: replace(fit, summary="median" if median else "mean").predict(test.users, test.items)
            for count, fit in fits.items()
        }
        settings = f"{best[LOSSES[metric]]} factors, the {'median' if median else 'mean'} of the rating"
        if len(factors) > 1:
            errors = [np.abs(np.asarray(test.values) - values) for values in predicted.values()]
            least = min(float(np.mean(error if median else error**2)) for error in errors)
            settings += f"; with the factors that are best on the test, as in the paper, its {metric} is {least:.4f}"
        learnt.append(Learnt(predicted[best[LOSSES[metric]]], settings))
    return tuple(learnt)


def _weights(benchmark: Benchmark, context: Context) -> tuple[dict[str, Rated], tuple[str, ...]]:
    """The training rows, weighted by the inverse of each propensity."""
    train = benchmark.split.train
    values = np.asarray(train.values, dtype=np.float64)
    weights = {"": Rated.unweighted(train.users, train.items, values, train.n_users, train.n_items)}
    used = [name for name in benchmark.propensities if name in {learner.propensity for learner in benchmark.learners}]
    notes = []
    for name in context.counted(f"propensities of {benchmark.name}", used):
        chance = training_propensity(benchmark.propensities[name], train)
        weights[name] = Rated(train.users, train.items, values, 1 / chance, train.n_users, train.n_items)
        notes.append(
            f"{benchmark.name}, {name} propensities: from {chance.min():.4f} to {chance.max():.4f}; their inverses add "
            f"up to {np.sum(1 / chance):,.0f}, and there are {train.n_users * train.n_items:,} pairs."
        )
    return weights, tuple(notes)


def coat(context: Context) -> Benchmark | None:
    """Coat Shopping, with covariates and published propensities; None when it is not available."""
    source = context.find(COAT)
    if source is None:
        return None
    place = context.place(COAT)
    split, sample = hold_out(source.read_split(place), context)
    users, items = read_user_features(place), read_item_features(place)
    propensities: dict[str, PropensityModel] = {
        "logistic": Logistic(users, items),
        "naive-bayes": NaiveBayes(sample),
        "combined": Combined(users=users, items=items, mcar=sample),
        "boosted": Boosted(users, items),
    }
    if split.train.propensity is not None:
        propensities["published"] = Column()
    learners = []
    modes: tuple[tuple[Offsets, str], ...] = (("free", ""), ("regularised", ", penalised offsets"))
    for offsets, words in modes:
        learners.append(Learner(f"MF-Naive{words}", offsets=offsets))
        for name in propensities:
            kind = "" if name == "logistic" else f", {name}"
            learners.append(Learner(f"MF-IPS{kind}{words}", name, offsets))
    for row, name in (("MF-Naive", ""), ("MF-IPS", "logistic")):
        learners.append(Learner(f"{row}, paper's penalties", name, printed_grid=True))
    learners += _BASELINES
    return small(Benchmark(COAT, split, sample, propensities, tuple(learners)), context)


_BASELINES = (
    Learner("HL-MNAR", kind="hl-mnar"),
    Learner("HL-MAR", kind="hl-mar"),
    Learner("CPT-v", kind="cpt"),
)


def yahoo(context: Context) -> Benchmark | None:
    """Yahoo! R3, whose users and songs have no covariates; None when it is not available."""
    source = context.find(YAHOO)
    if source is None:
        return None
    split, sample = hold_out(source.read_split(context.place(YAHOO)), context)
    learners = (
        Learner("MF-Naive"),
        Learner("MF-IPS", "naive-bayes"),
        Learner("MF-Naive, penalised offsets", "", "regularised"),
        Learner("MF-IPS, penalised offsets", "naive-bayes", "regularised"),
        *_BASELINES,
    )
    benchmark = Benchmark(YAHOO, split, sample, {"naive-bayes": NaiveBayes(sample)}, learners)
    # it has forty times the ratings of coat, and the whole grid would take a day
    if not context.tune:
        benchmark = replace(benchmark, factors=(20,), penalties=(20.0, 10.0, 5.0, 2.5))
    return small(benchmark, context)


def hold_out(split: Split, context: Context) -> tuple[Split, Interactions]:
    """Move some of the test rows into a random sample, from which propensities are learnt."""
    test = split.test
    picked = np.zeros(len(test), dtype=bool)
    size = max(1, round(SHARE * len(test)))
    picked[context.rng("table2", "random sample").choice(len(test), size, replace=False)] = True
    rest = Split(split.train, test.take(~picked), candidates=split.rule, origin=split.origin)
    return rest, test.take(picked)


def small(benchmark: Benchmark, context: Context) -> Benchmark:
    """For a fast run, two rows and little to choose from; else the same."""
    if not context.fast:
        return benchmark
    two = (
        Learner("MF-Naive, penalised offsets", "", "regularised"),
        Learner("MF-IPS, naive-bayes, penalised offsets", "naive-bayes", "regularised"),
    )
    return replace(benchmark, learners=two, factors=(5,), penalties=(5.0, 2.5))
