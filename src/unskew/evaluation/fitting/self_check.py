"""`self_check`: whether an estimator beats the naive average on simulated logs that resemble a given one."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions, Split
from unskew.data.concentration import gini
from unskew.evaluation.fitting.selection import Evaluate

WORLDS = ("popq", "personal", "self", "mixed")
"""Selection by popularity that follows quality, by affinity, by relevance, and by all of them."""
DRAWS = 2
"""Logs per world. The order of few models on few logs is lost by chance too often."""
MODELS = {
    "popular": "popular",
    "random": "random",
    "ease": "ease(regularisation=100)",
    "ease 500": "ease(regularisation=500)",
    "svd 2": "svd(rank=2)",
    "svd 8": "svd(rank=8)",
    "knn": "item-knn(neighbours=50)",
    "als": "als(factors=8, regularisation=5, alpha=10)",
}
METRICS = ("recall@10", "adg", "auc")
MOST = 300
"""Largest number of users and of items of a simulated log."""
NAIVE = "aoa(per=pair)"
ORDER_LOST = 0.05
"""Loss of Kendall's tau from which order counts as lost."""


@dataclass(frozen=True)
class LogShape:
    """What a simulated log takes from a real one, rounded, so that similar logs share a check."""

    users: int
    items: int
    density: float
    skew: float  # Gini coefficient of the items' numbers of rows
    positive: float | None  # share of positives among the rows; None if all are


@dataclass(frozen=True)
class SelfCheck:
    """The error and the order of an estimator in simulated logs, next to those of the naive average."""

    estimator: str
    error: float  # mean absolute error, as a share of the naive average's
    tau: float  # Kendall's tau with the true order, averaged over worlds and metrics
    naive_tau: float
    tau_error: float = 0.0  # standard error over logs of the difference of the two

    @property
    def passes(self) -> bool:
        """Whether the error is smaller, and order is not lost by more than its error over logs explains."""
        return self.error < 1 and self.tau + self.tau_error >= self.naive_tau - ORDER_LOST


def shape_of(train: Interactions, test: Interactions, label: Floats) -> LogShape:
    """The shape of a log, its size at most 300 users and 300 items."""
    users = int(np.count_nonzero(train.user_counts + test.user_counts))
    items = int(np.count_nonzero(train.item_counts + test.item_counts))
    rows = len(train) + len(test)
    small_users, small_items = (int(np.clip(round(size, -1), 50, MOST)) for size in (users, items))
    # a smaller log of the same density has too few rows per user, so these are kept, up to a third of the items
    density = float(np.clip(rows / max(users, 1) / small_items, 10 / small_items, 0.3))
    share = float(label.mean()) if len(label) else 1.0
    counts = (train.item_counts + test.item_counts).astype(float)
    positive = None if share in {0.0, 1.0} else float(np.clip(round(share, 1), 0.1, 0.9))
    return LogShape(small_users, small_items, round(density, 2), round(gini(counts[counts > 0]), 1), positive)


@lru_cache(maxsize=64)
def self_check(shape: LogShape, estimator: str, propensity: str, evaluate: Evaluate) -> SelfCheck:
    """Judge an estimator on simulated logs of a shape, whose truth is known.

    Parameters
    ----------
    shape : LogShape
    estimator, propensity : str
        Words; an empty propensity is that of the estimator itself.
    evaluate : callable
        `evaluate`, handed down.
    """
    errors, naive_errors, taus, naive_taus = [], [], [], []
    for seed, name in enumerate(WORLDS * DRAWS):
        drawn = _draw(name, shape, seed)
        corrected, naive, truth = _judge(drawn, shape, estimator, propensity, evaluate, seed)
        errors.append(np.abs(corrected - truth).mean())
        naive_errors.append(np.abs(naive - truth).mean())
        taus.append(_tau(corrected, truth))
        naive_taus.append(_tau(naive, truth))
    ratio = float(np.sum(errors)) / max(float(np.sum(naive_errors)), 1e-12)
    gaps = np.array(taus) - np.array(naive_taus)
    error = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    return SelfCheck(estimator, ratio, float(np.mean(taus)), float(np.mean(naive_taus)), error)


def _draw(name: str, shape: LogShape, seed: int) -> Any:
    """A world whose log has the density, the skew and the share of positives of the shape, by a coarse search."""
    from unskew.simulators import SelectionWorld

    best, distance = None, np.inf
    for alpha in (0.0, 0.5, 1.0, 1.5, 2.0, 2.5):
        density, base = shape.density, SelectionWorld.preset(name).base
        for _ in range(2):  # the first draw says how far density and positives are off
            sizes = {"users": shape.users, "items": shape.items, "density": density, "base": base}
            drawn = SelectionWorld.preset(name, **sizes, alpha=alpha).draw(seed)
            rate = float(np.clip(drawn.relevant[drawn.observed].mean(), 0.01, 0.99))
            if shape.positive is None:  # its rows are the positives alone
                density = float(np.clip(shape.density / rate, shape.density, 0.6))
            else:
                base += float(np.log(shape.positive / (1 - shape.positive)) - np.log(rate / (1 - rate)))
        logged = drawn.observed & drawn.relevant if shape.positive is None else drawn.observed
        counts = logged.sum(axis=0).astype(float)
        gap = abs(gini(counts[counts > 0]) - shape.skew)
        if gap < distance:
            best, distance = drawn, gap
    return best


def _judge(
    drawn: Any, shape: LogShape, estimator: str, propensity: str, evaluate: Evaluate, seed: int
) -> tuple[Floats, Floats, Floats]:
    """The corrected, naive and true values, metrics by models."""
    users, items = np.nonzero(drawn.observed)
    label = drawn.relevant[users, items]
    if shape.positive is None:
        users, items, label = users[label], items[label], label[label]
    held = np.random.default_rng([seed, 80]).random(len(users)) < 0.2
    train, test = (_rows(users[m], items[m], label[m], drawn.relevant.shape) for m in (~held, held))
    report = evaluate(
        MODELS,
        Split(train, test),
        metrics=METRICS,
        estimators=(NAIVE, estimator),
        propensity=propensity or None,
        positive="rating>=1",
        threads=1,
    )
    missing = drawn.relevant.copy()
    missing[users[~held], items[~held]] = False
    true_users, true_items = np.nonzero(missing)
    everything = _rows(true_users, true_items, np.ones(len(true_users), dtype=bool), missing.shape)
    ready = {name: report.contenders.models[name].ranker for name in MODELS}
    truth = evaluate(ready, Split(train, everything), metrics=METRICS, estimators=(NAIVE,), threads=1)
    tables = []
    for source, word in ((report, estimator), (report, NAIVE), (truth, NAIVE)):
        tables.append(np.array([[source.value(name, metric, word) for name in MODELS] for metric in METRICS]))
    return tables[0], tables[1], tables[2]


def _rows(users: Ints, items: Ints, label: Any, size: tuple[int, int]) -> Interactions:
    return Interactions.from_arrays(users, items, label.astype(float), n_users=size[0], n_items=size[1])


def _tau(values: Floats, truth: Floats) -> float:
    from scipy.stats import kendalltau

    taus = [kendalltau(row, true).statistic for row, true in zip(values, truth, strict=True)]
    return float(np.mean(np.nan_to_num(taus)))
