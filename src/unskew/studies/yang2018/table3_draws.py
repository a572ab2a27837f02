"""Draws of Table 3: the settings of its models, and their numbers in one draw of the biased test after another.

In a draw models are trained on what is left, estimated on the biased test, and judged by the random test.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from unskew.arrays import Floats
from unskew.data import Split
from unskew.evaluation import Report, evaluate
from unskew.evaluation.fitting.selection import validation_judge
from unskew.models import Bpr, Cml, CmlRank, GradientModel, Pmf
from unskew.propensities import Popularity
from unskew.ranking import FactorScorer
from unskew.studies.framework.stats import Mean, kendall
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Row, Trials
from unskew.studies.yang2018.printed import TABLE3_GAMMAS
from unskew.studies.yang2018.yahoo import COAT, POSITIVE, YAHOO, Benchmark, Comparison, Tests, biased_split

DRAWS = {COAT: Size(10, 2, trials=True), YAHOO: Size(1, 1, trials=True)}
"""Draws of the biased test; one of yahoo-r3 takes minutes."""
TIES = {COAT: "expected", YAHOO: "optimistic"}
AOA, DEFAULT, AOA_PAIRS = "AOA", "snips, default", "aoa(per=pair)"
TRUTH, TRUTH_PAIRS, NOISE = "truth", "truth over pairs", "standard error of the truth"
"""Numbers of the random test: the mean over users, the mean over relevant pairs, the error of the first over users."""
APART = "p-value of best against worst"
HELD_OUT, LEARNT_FROM, DROPPED, UNKNOWN = "held out", "learnt from", "dropped", "without a training positive"
"""Counts: positives of the biased test, training positives, rows of the random test that are training positives, and
positives of the biased test whose item has no training positive."""
ALL = "all"
"""Instead of a comparison or a model, if a number is of all of them."""
DIMS = ("data", "comparison", "number", "model")


published, pairwise = "UB({:g})".format, "snips({:g})".format
"""The name of the paper's estimator at a gamma, and that of the default form."""
CURVE: tuple[float, ...] = (-0.5, 0.0, 0.5, 1.0, *TABLE3_GAMMAS)
"""Gammas of the figures; -1 is AOA itself."""

Judge = Callable[..., Report]
"""`evaluate` with the models, the split and the ties of a draw."""

YAHOO_SETTINGS: Mapping[str, GradientModel] = {
    name: replace(model, factors=50, regularisation=0.001, iterations=10_000, batch=8000, every=1000)
    for name, model in (("cml", Cml()), ("cml-rank", CmlRank()), ("bpr", Bpr()), ("pmf", Pmf(form="openrec")))
}
"""As in the paper; it does not say which rows chose the step of a model, so the last step is used."""
YAHOO_STEPS = Size(10_000, 200)

# By `search`, with other draws of the biased test than those of the table. AUC on validation rows, mean of 3 draws:
# cml .693, cml-rank .643, bpr .737, pmf .732; the lowest of the grid were .652, .584, .661 and .678.
COAT_SETTINGS: Mapping[str, GradientModel] = {
    "cml": Cml(factors=8, regularisation=0.1, iterations=500, batch=500, learning_rate=0.001),
    "cml-rank": CmlRank(factors=8, regularisation=0.001, iterations=750, batch=500, learning_rate=0.005),
    "bpr": Bpr(factors=8, regularisation=0.1, iterations=1000, batch=500, learning_rate=0.001),
    "pmf": Pmf(form="openrec", factors=8, regularisation=0.01, iterations=750, batch=500, learning_rate=0.005),
}
GRID: Size[Mapping[str, tuple[float, ...]]] = Size(
    {"factors": (8, 20), "regularisation": (0.1, 0.01, 0.001), "learning_rate": (0.001, 0.005)}
)
STEPS, EVERY = Size(1500), Size(250)
SEARCHES = 3
VALIDATION = 0.2  # share of the items that is drawn, as for the biased test, to make validation rows


def settings_of(benchmark: Benchmark, context: Context) -> Mapping[str, GradientModel]:
    """The models of a data set: the paper's, or those chosen for Coat."""
    if benchmark.name == YAHOO:
        most = context.size(YAHOO_STEPS)
        return {name: replace(model, iterations=min(model.iterations, most)) for name, model in YAHOO_SETTINGS.items()}
    return search(benchmark, COAT_SETTINGS, context) if context.tune else COAT_SETTINGS


def search(benchmark: Benchmark, models: Mapping[str, GradientModel], context: Context) -> dict[str, GradientModel]:
    """Choose options and the number of steps by AUC on validation rows, which are as biased as the biased test."""
    splits = []
    for k in range(SEARCHES):
        rng = context.rng("table3", "search", k)
        parts = benchmark.split(rng).parts
        enough = np.flatnonzero(parts.train.user_counts >= 2).astype(np.int32)
        inner = biased_split(parts.train, enough, round(VALIDATION * benchmark.positives.n_items), rng)
        splits.append(Split(inner.train, parts.test, inner.test))
    grid, every = context.size(GRID), context.size(EVERY)
    options = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    tasks = [(name, option) for name in models for option in options]
    best, chosen = dict.fromkeys(models, -np.inf), {}
    for name, option in context.counted("coat: settings tried", tasks):
        sizes = {"iterations": context.size(STEPS), "every": every, "patience": 0}
        tried = replace(models[name], **option, **sizes)  # type: ignore[arg-type]
        curves = []
        for split in splits:
            judge = validation_judge(evaluate, split, ["auc"], threads=1)
            trained = tried.train(split.train, rng=0, judge=judge, metrics=("auc",))
            curves.append([check.metrics["auc"] for check in trained.checks])
        means = np.mean(curves, axis=0)
        if means.max() > best[name]:
            best[name] = float(means.max())
            chosen[name] = replace(tried, iterations=every * (1 + int(means.argmax())))
    return chosen


@dataclass(frozen=True, eq=False)
class Runs:
    """All numbers of a data set, one per draw of the biased test, by the dimensions `DIMS`."""

    data: str
    models: tuple[str, ...]
    trials: Trials

    @property
    def draws(self) -> int:
        """How many there were."""
        return len(self.trials[self.data, ALL, HELD_OUT, ALL])

    def of(self, comparison: str, number: str, model: str = ALL) -> Floats:
        """The values of a number, one per draw."""
        return self.trials[self.data, comparison, number, model]

    def gap(self, comparison: str, model: str, estimate: str, truth: str = TRUTH) -> Floats:
        """Estimate less truth."""
        return self.of(comparison, estimate, model) - self.of(comparison, truth, model)

    def error(self, comparison: str, model: str, estimate: str) -> Floats:
        """Distance of an estimate to the truth."""
        return np.abs(self.gap(comparison, model, estimate))

    def reduction(self, comparison: str, model: str, estimate: str) -> Mean:
        r"""100 (1 - e / a) with e and a the mean errors of the estimate and of AOA.

        The standard error is that of a ratio of means over the same draws: the standard deviation of
        :math:`e_t - (e / a) a_t`, over :math:`a \sqrt T`. It is also given as the spread, which cells show.
        """
        error, naive = (self.error(comparison, model, name) for name in (estimate, AOA))
        ratio = error.mean() / naive.mean()
        rest = Mean.of(error - ratio * naive)
        se = None if rest.spread is None else 100 * rest.spread / float(naive.mean()) / len(error) ** 0.5
        return Mean(float(100 * (1 - ratio)), se, se)

    def taus(self, comparison: str, estimate: str) -> Floats:
        """Kendall's tau of the models by the estimate and by the truth, one per draw."""
        ours, true = (
            np.array([self.of(comparison, number, model) for model in self.models]).T for number in (estimate, TRUTH)
        )
        return np.diag(kendall(ours, true, ties="a"))


def run_draws(benchmark: Benchmark, models: Mapping[str, GradientModel], context: Context) -> Runs:
    """All draws: split, train, estimate and compare."""
    data = benchmark.name
    draws = context.size(DRAWS[data])
    stage, total = f"{data}: models trained", draws * len(models)
    rows: list[Row] = []
    for draw in range(draws):
        tests = benchmark.split(context.rng("table3", data, draw))
        scorers: dict[str, FactorScorer] = {}
        for k, (name, model) in enumerate(models.items()):
            context.report(stage, draw * len(models) + k, total)
            scorers[name] = model.train(tests.parts.train, rng=context.rng("table3", data, draw, name)).last
        rows += (((data, *key), value) for key, value in _judge(benchmark, tests, scorers))
    context.report(stage, total, total)
    return Runs(data, tuple(models), Trials.collect(DIMS, "draw", rows))


def _judge(benchmark: Benchmark, tests: Tests, scorers: Mapping[str, FactorScorer]) -> Iterator[Row]:
    """The numbers of a draw, by comparison, number and model."""
    parts = tests.parts
    yield (ALL, HELD_OUT, ALL), len(parts.test)
    yield (ALL, LEARNT_FROM, ALL), len(parts.train)
    yield (ALL, DROPPED, ALL), tests.dropped
    yield (ALL, UNKNOWN, ALL), int((parts.train.item_counts[parts.test.items] == 0).sum())
    judge = partial(evaluate, scorers, ties=TIES[benchmark.name], threads=1)
    for lists in sorted({comparison.lists for comparison in benchmark.comparisons}):
        asked = [comparison for comparison in benchmark.comparisons if comparison.lists == lists]
        yield from _truths(partial(judge, tests.random_split(lists=lists), positive=POSITIVE), asked)
        yield from _estimates(partial(judge, tests.biased_split(lists=lists), positive="rating>=1"), asked)


def _truths(judge: Judge, asked: list[Comparison]) -> Iterator[Row]:
    """The numbers of the random test."""
    report = judge(metrics=[each.random for each in asked], estimators=["aoa", AOA_PAIRS])
    for each in asked:
        for model in report.models:
            estimate = report.estimate(model, each.random, "aoa")
            yield (each.name, TRUTH, model), estimate.value
            yield (each.name, TRUTH_PAIRS, model), report.value(model, each.random, AOA_PAIRS)
            yield (each.name, NOISE, model), estimate.std_error
        yield (each.name, APART, ALL), _p_value(report, each.random)


def _p_value(report: Report, metric: str) -> float | None:
    """That of the difference between the best and the worst model, by a paired test over users."""
    values = {model: report.value(model, metric, "aoa") or 0.0 for model in report.models}
    ends = {max(values, key=values.__getitem__), min(values, key=values.__getitem__)}
    rows = (row for row in report.comparisons if row.metric == metric and row.estimator == "aoa")
    return next((row.p_value for row in rows if {row.a, row.b} == ends), None)


def _estimates(judge: Judge, asked: list[Comparison]) -> Iterator[Row]:
    """The numbers of the biased test."""
    forms: dict[Popularity, dict[str, str]] = {Popularity(): {AOA: "aoa", AOA_PAIRS: AOA_PAIRS, DEFAULT: "snips"}}
    for gamma in CURVE:
        forms[Popularity(gamma=gamma, smoothing=0)] = {published(gamma): "snips(per=user)", pairwise(gamma): "snips"}
    for propensity, named in forms.items():
        report = judge(metrics=[each.biased for each in asked], estimators=list(named.values()), propensity=propensity)
        for each in asked:
            for name, estimator in named.items():
                for model in report.models:
                    yield (each.name, name, model), report.value(model, each.biased, estimator)


def describe(benchmark: Benchmark, runs: Runs, models: Mapping[str, GradientModel]) -> Iterator[str]:
    """How the numbers of a data set came about, and how far to trust them."""
    held_out, learnt_from, unknown = (runs.of(ALL, each).mean() for each in (HELD_OUT, LEARNT_FROM, UNKNOWN))
    cut = next(each for each in benchmark.comparisons if each.lists and each.kind == "recall")
    yield (
        f"{len(benchmark.users):,} users with two or more positives (rating >= 4) where they chose, and a relevant and "
        f"an irrelevant random item. For each, {benchmark.size} of {benchmark.positives.n_items:,} items are drawn "
        "uniformly; the positives among them are the biased test, and the models learn from the others (per draw "
        f"{held_out:,.0f} and {learnt_from:,.0f}, {held_out / len(benchmark.users):.1f} held out per user; "
        f"{unknown:.1f} of them have an item without a training positive, and no propensity unless smoothed). "
        f"{runs.draws} draw{'s' * (runs.draws > 1)}, models trained again in each. On both sides items are ranked in "
        "the full catalogue without the user's training positives; under 'lists', as in the paper, among the "
        f"{benchmark.size} items of the biased test ({cut.biased}) and among the user's random items ({cut.random})."
    )
    if benchmark.name == COAT:
        cells, liked, same = benchmark.overlap
        yield (
            f"{cells} cells are both chosen and random, {same} of them with the same rating in both. {cells - liked} "
            f"are rated below 4; they are not training positives, so their random rows stay. {liked} are positives. "
            "Those that the models learn from are not candidates, and their random rows are dropped "
            f"({runs.of(ALL, DROPPED).mean():.1f} per draw, of test users); those in the biased test are candidates, "
            "and stay positives of the random test. Test users keep a random positive in both cases."
        )
    yield f"settings: {'; '.join(str(model) for model in models.values())}."
    yield _doubts(benchmark, runs)


def _doubts(benchmark: Benchmark, runs: Runs) -> str:
    def less(name: str, number: str, truth: str) -> Floats:
        """A number less a truth, (models, draws)."""
        return np.array([runs.gap(name, model, number, truth) for model in runs.models])

    names = [each.name for each in benchmark.comparisons]
    noise = {name: np.nanmean([runs.of(name, NOISE, model) for model in runs.models]) for name in names}
    apart = {name: np.mean(runs.of(name, APART) < 0.05) for name in names}
    parts = (
        f"{name} {noise[name]:.3f}, best and worst model differ at 5 % in {100 * apart[name]:.0f} % of draws"
        for name in names
    )
    off = [float(less(name, TRUTH, TRUTH_PAIRS).mean()) for name in names]
    ours, naive = (
        np.array([np.abs(less(name, form, TRUTH_PAIRS)).mean(axis=1) for name in names])
        for form in (DEFAULT, AOA_PAIRS)
    )
    below = 100 * (1 - ours / naive)
    return (
        "the draws share users, items and random test, so spreads and standard errors over draws do not include the "
        f"noise of the truth itself. Its standard error over users: {'; '.join(parts)}. The mean over relevant pairs, "
        f"which the default snips estimates, is {min(off):.3f} to {max(off):.3f} below that over users; {DEFAULT!r} is "
        f"{ours.min():.3f} to {ours.max():.3f} away from it, {below.min():.0f} to {below.max():.0f} % less than "
        f"{AOA_PAIRS} is. This comparison is the fairer one."
    )
