"""Settings of the four models in Table 3: those of the paper for Yahoo! R3, and chosen ones for Coat."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from unskew.data import Split
from unskew.evaluation import evaluate
from unskew.evaluation.fitting.selection import validation_judge
from unskew.models import Bpr, Cml, CmlRank, GradientModel, Pmf
from unskew.studies.framework.study import Context
from unskew.studies.yang2018.table3_data import Benchmark
from unskew.studies.yang2018.yahoo import biased_split

YAHOO_SETTINGS: Mapping[str, GradientModel] = {
    name: replace(model, factors=50, regularisation=0.001, iterations=10_000, batch=8000, every=1000)
    for name, model in (("cml", Cml()), ("cml-rank", CmlRank()), ("bpr", Bpr()), ("pmf", Pmf(form="openrec")))
}
"""As the paper has them; it does not say which rows chose among the checks, so the last step is taken."""

# By `search` with other draws of the biased test than those of the table. AUC on validation rows, mean of 3 draws:
# cml .693, cml-rank .643, bpr .737, pmf .732; of the grid the least were .652, .584, .661 and .678.
COAT_SETTINGS: Mapping[str, GradientModel] = {
    "cml": Cml(factors=8, regularisation=0.1, iterations=500, batch=500, learning_rate=0.001),
    "cml-rank": CmlRank(factors=8, regularisation=0.001, iterations=750, batch=500, learning_rate=0.005),
    "bpr": Bpr(factors=8, regularisation=0.1, iterations=1000, batch=500, learning_rate=0.001),
    "pmf": Pmf(form="openrec", factors=8, regularisation=0.01, iterations=750, batch=500, learning_rate=0.005),
}

GRID: Mapping[str, tuple[float, ...]] = {
    "factors": (8, 20),
    "regularisation": (0.1, 0.01, 0.001),
    "learning_rate": (0.001, 0.005),
}
STEPS, EVERY = 1500, 250
SEARCHES = 3
VALIDATION = 0.2  # share of the items that is drawn, as for the biased test, to make validation rows


def fewer_steps(models: Mapping[str, GradientModel], iterations: int) -> dict[str, GradientModel]:
    """The same settings, stopped early."""
    return {name: replace(model, iterations=min(model.iterations, iterations)) for name, model in models.items()}


def search(
    benchmark: Benchmark,
    models: Mapping[str, GradientModel],
    context: Context,
    *,
    grid: Mapping[str, tuple[float, ...]] = GRID,
    steps: int = STEPS,
    every: int = EVERY,
) -> dict[str, GradientModel]:
    """Choose options and the number of steps by AUC on validation rows, which are as biased as the biased test.

    Parameters
    ----------
    benchmark : Benchmark
    models : mapping
        What is not in the grid stays as it is here.
    context : Context
    grid : mapping
        Values to try of each option.
    steps, every : int
        Steps at most, and between two looks.
    """
    splits = list(_splits(benchmark, context))
    total = len(models) * len(splits) * int(np.prod([len(values) for values in grid.values()]))
    done = 0
    chosen = {}
    for name, model in models.items():
        best = -np.inf
        for values in itertools.product(*grid.values()):
            options = dict(zip(grid, values, strict=True))
            tried = replace(model, **options, iterations=steps, every=every, patience=0)  # type: ignore[arg-type]
            seen = []
            for split in splits:
                context.report("coat: settings tried", done, total)
                judge = validation_judge(evaluate, split, ["auc"], threads=1)
                trained = tried.train(split.train, rng=0, judge=judge, metrics=("auc",))
                seen.append([check.metrics["auc"] for check in trained.checks])
                done += 1
            means = np.mean(seen, axis=0)
            if means.max() > best:
                best = float(means.max())
                chosen[name] = replace(tried, iterations=every * (1 + int(means.argmax())))
    context.report("coat: settings tried", total, total)
    return chosen


def _splits(benchmark: Benchmark, context: Context) -> Iterator[Split]:
    n_items = benchmark.positives.n_items
    for k in range(SEARCHES):
        rng = context.rng("table3", "search", k)
        parts = benchmark.split(rng).parts
        enough = np.flatnonzero(parts.train.user_counts >= 2).astype(np.int32)
        inner = biased_split(parts.train, enough, n_items, round(VALIDATION * n_items), rng)
        yield Split(inner.train, parts.test, inner.test)
