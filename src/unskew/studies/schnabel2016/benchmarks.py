"""Data with a random test set, and the factorisations of ratings that Table 2 compares on it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from unskew.arrays import Floats
from unskew.blas import one_thread
from unskew.data import Interactions, Split
from unskew.data.sources.coat import read_item_features, read_user_features
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.models import CptV, Rated, fit_cpt, fit_mf
from unskew.models.ratings.mf_fit import Loss, Offsets
from unskew.models.ratings.mf_tuning import FACTORS, PENALTIES, tune_mf
from unskew.propensities import Boosted, Column, Combined, Logistic, NaiveBayes, PropensityModel
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.study import Context

COAT, YAHOO = "coat", "yahoo-r3"
SHARE = 0.05  # of the test rows, which become the random sample
Grid = tuple[tuple[int, ...], tuple[float, ...]]
"""Factors and penalties to choose from."""
LOSSES: Mapping[str, Loss] = {"MAE": "mae", "MSE": "mse"}


@dataclass(frozen=True)
class Learner:
    """A row of the table.

    `propensity` names one of the benchmark's, empty for none; with `mixture` it is CPT-v instead of a factorisation.
    """

    row: str
    propensity: str = ""
    offsets: Offsets = "regularised"
    mixture: bool = False


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

    Rows are by name and by the metric that the fit made small; CPT-v is judged by both. The notes are on propensities.
    """

    benchmark: Benchmark
    rows: Mapping[tuple[str, str], Learnt]
    notes: tuple[str, ...] = ()


def learn(benchmark: Benchmark, context: Context) -> Learned:
    """Learn all rows of a benchmark."""
    weights, notes = _weights(benchmark, context)
    grid, test = (benchmark.factors, benchmark.penalties), benchmark.split.sorted_test
    keys = [(learner, metric) for learner in benchmark.learners for metric in LOSSES]
    tasks = (
        partial(_learn, learner, weights[learner.propensity], LOSSES[metric], grid, test, context.seed)
        for learner, metric in keys
    )
    results = run_all(tasks, len(keys), f"learning on {benchmark.name}", context)
    rows = {(learner.row, metric): learnt for (learner, metric), learnt in zip(keys, results, strict=True)}
    return Learned(benchmark, rows, notes)


def _learn(learner: Learner, rated: Rated, loss: Loss, grid: Grid, test: Interactions, seed: int) -> Learnt:
    """Choose the settings from a grid, fit, and predict; runs in another process."""
    with one_thread():
        if learner.mixture:
            fit, settings = fit_cpt(rated, CptV.classes, rng=seed).factors, f"{CptV.classes} classes"
        else:
            chosen = tune_mf(rated, *grid, loss=loss, offsets=learner.offsets, rng=seed)
            fit = fit_mf(rated, chosen.factors, chosen.penalty, loss=loss, offsets=learner.offsets)
            settings = f"{chosen.factors} factors, penalty {chosen.penalty:g}"
        return Learnt(fit.predict(test.users, test.items), settings)


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
    # without propensities and with each, both kinds of offsets; the paper's own way has the plain name
    learners = []
    modes: tuple[tuple[Offsets, str], ...] = (("regularised", ""), ("free", ", free offsets"))
    for offsets, words in modes:
        learners.append(Learner(f"MF-Naive{words}", offsets=offsets))
        for name in propensities:
            kind = "" if name == "logistic" else f", {name}"
            learners.append(Learner(f"MF-IPS{kind}{words}", name, offsets))
    learners.append(Learner("CPT-v", mixture=True))
    return small(Benchmark(COAT, split, sample, propensities, tuple(learners)), context)


def yahoo(context: Context) -> Benchmark | None:
    """Yahoo! R3, whose users and songs have no covariates; None when it is not available."""
    source = context.find(YAHOO)
    if source is None:
        return None
    split, sample = hold_out(source.read_split(context.place(YAHOO)), context)
    learners = (Learner("MF-Naive"), Learner("MF-IPS", "naive-bayes"), Learner("CPT-v", mixture=True))
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
    two = (Learner("MF-Naive"), Learner("MF-IPS, naive-bayes", "naive-bayes"))
    return replace(benchmark, learners=two, factors=(5,), penalties=(5.0, 2.5))
