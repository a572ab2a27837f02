"""Data with a random test set, and the factorisations of ratings that Table 2 compares on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from unskew.arrays import Floats
from unskew.blas import one_thread
from unskew.data import Interactions, Split
from unskew.data.sources.coat import read_item_features, read_user_features
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.models import CptV, Rated, fit_cpt, fit_mf
from unskew.models.ratings.mf_fit import Loss, Offsets
from unskew.models.ratings.mf_tuning import FACTORS, FOLDS, PATIENCE, PENALTIES, MfTuning, tune_mf
from unskew.propensities import Boosted, Column, Combined, Logistic, NaiveBayes, PropensityModel
from unskew.ranking import Predictions
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.study import Context

COAT, YAHOO = "coat", "yahoo-r3"
SHARE = 0.05  # of the test rows, which become the random sample
LOSSES: Mapping[str, Loss] = {"MAE": "mae", "MSE": "mse"}


@dataclass(frozen=True, eq=False)
class Search:
    """Settings to be chosen by cross-validation.

    The options are those of `tune_mf`; the seed deals the folds.
    """

    rated: Rated
    factors: tuple[int, ...]
    penalties: tuple[float, ...]
    loss: Loss = "mse"
    offsets: Offsets = "regularised"
    folds: int = FOLDS
    patience: int = PATIENCE
    seed: int = 0

    def __call__(self) -> MfTuning:
        """The settings with the smallest error."""
        return tune_mf(
            self.rated,
            self.factors,
            self.penalties,
            loss=self.loss,
            offsets=self.offsets,
            folds=self.folds,
            patience=self.patience,
            rng=self.seed,
        )


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


@dataclass(frozen=True, eq=False)
class Learnt:
    """Predicted ratings of the test rows, and the settings that were chosen."""

    predicted: Floats
    settings: str


@dataclass(frozen=True, eq=False)
class Learning:
    """The task of a learner, for another process: choose the settings, fit, and predict."""

    search: Search
    test: Interactions
    mixture: bool = False

    def __call__(self) -> Learnt:
        """Predictions for the test rows."""
        search = self.search
        with one_thread():
            if self.mixture:
                mixture = fit_cpt(search.rated, CptV.classes, rng=search.seed)
                fit, settings = mixture.factors, f"{CptV.classes} classes"
            else:
                chosen = search()
                fit = fit_mf(search.rated, chosen.factors, chosen.penalty, loss=search.loss, offsets=search.offsets)
                settings = f"{chosen.factors} factors, penalty {chosen.penalty:g}"
            return Learnt(fit.predict(self.test.users, self.test.items), settings)


@dataclass(frozen=True, eq=False)
class Learned:
    """All rows of a benchmark.

    Rows are by name and by the metric that the fit made small; CPT-v is judged by both. The notes are on propensities.
    """

    benchmark: Benchmark
    rows: Mapping[tuple[str, str], Learnt]
    notes: tuple[str, ...] = field(default=())

    def predictions(self, metric: str, rows: Sequence[str] | None = None) -> dict[str, Predictions]:
        """By row, ready to be judged."""
        test = self.benchmark.split.sorted_test
        values = np.asarray(test.values)
        return {
            row: Predictions(test.users, test.items, values, learnt.predicted)
            for (row, owner), learnt in self.rows.items()
            if owner == metric and (rows is None or row in rows)
        }


def learn(benchmark: Benchmark, context: Context) -> Learned:
    """Learn all rows of a benchmark."""
    split = benchmark.split
    weights, notes = _weights(benchmark, context)
    keys = [(learner, metric) for learner in benchmark.learners for metric in LOSSES]
    tasks = (
        Learning(
            Search(
                weights[learner.propensity],
                benchmark.factors,
                benchmark.penalties,
                loss=LOSSES[metric],
                offsets=learner.offsets,
                seed=context.seed,
            ),
            split.sorted_test,
            learner.mixture,
        )
        for learner, metric in keys
    )
    results = run_all(tasks, len(keys), f"learning on {benchmark.name}", context)
    rows = {(learner.row, metric): learnt for (learner, metric), learnt in zip(keys, results, strict=True)}
    return Learned(benchmark, rows, notes)


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
    return small(Benchmark(COAT, split, sample, propensities, _all_learners(propensities)), context)


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


def _all_learners(propensities: Mapping[str, PropensityModel]) -> tuple[Learner, ...]:
    """Without propensities and with each, both kinds of offsets; the paper's own way has the plain name."""
    learners = []
    modes: tuple[tuple[Offsets, str], ...] = (("regularised", ""), ("free", ", free offsets"))
    for offsets, said in modes:
        learners.append(Learner(f"MF-Naive{said}", offsets=offsets))
        for name in propensities:
            kind = "" if name == "logistic" else f", {name}"
            learners.append(Learner(f"MF-IPS{kind}{said}", name, offsets))
    return (*learners, Learner("CPT-v", mixture=True))
