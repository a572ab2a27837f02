"""`Design`: the recommenders, metrics and methods of a trial."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.errors import ConfigError
from unskew.metrics import parse_metric
from unskew.ranking import TIE_POLICIES, Ties
from unskew.trials.methods import METHODS, Method
from unskew.trials.rows import POPULATIONS, Population

PAPER_METRICS = ("precision(of=list)@50", "recall@50", "mrr@50", "ndcg(discount=lenskit, ideal=all)@50")
"""The four of Tian and Ekstrand (2020), on lists of up to 50."""
METRICS = (*PAPER_METRICS, "adg@50", "auc", "dcg@50")
RECOMMENDERS = ("oracle", "popular", "random")


@dataclass(frozen=True)
class Design:
    """The recommenders, metrics and methods of a trial, in the order of the arrays of a `Trial`.

    Parameters
    ----------
    graded_truth : bool
        Whether the true nDCG gains by how much an item is liked, while the observed one gains 1, as in the paper's
        runs of LDA worlds. The two are then on different scales.
    population : {"tested", "all"}
        Which users are judged: those with a test row, or all who like something outside train. See `run_trial`.
    """

    recommenders: tuple[str, ...]
    metrics: tuple[str, ...] = METRICS
    methods: tuple[Method, ...] = METHODS
    level: float = 0.95  # of the intervals
    ties: Ties = "expected"
    graded_truth: bool = False
    population: Population = "tested"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ConfigError(f"level={self.level:g} must lie between 0 and 1")
        if self.ties not in TIE_POLICIES:
            raise ConfigError(f"ties={self.ties}: choose from {', '.join(TIE_POLICIES)}")
        if self.population not in POPULATIONS:
            raise ConfigError(f"population={self.population!r}: choose from {', '.join(POPULATIONS)}")
        wrong = [word for word in self.metrics if parse_metric(word).kind not in {"mean", "sum", "list"}]
        if wrong or not self.metrics or not self.methods:
            what = f"{wrong[0]} is of ratings" if wrong else "no metric or no method"
            raise ConfigError(f"{what}; a trial needs rankings to judge, as by recall@50, and an estimator, as aoa")

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Places of the recommenders that are compared: each with those after it."""
        return tuple(combinations(range(len(self.recommenders)), 2))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the methods."""
        return tuple(each.label for each in self.methods)

    def pair(self, a: str, b: str) -> tuple[int, int]:
        """Place of a pair, and 1, or -1 when its order is reversed."""
        first, second = self.recommenders.index(a), self.recommenders.index(b)
        return self.pairs.index((min(first, second), max(first, second))), 1 if first < second else -1

    def applies(self) -> Bools:
        """Which method can estimate which metric, metrics by methods."""
        parsed = [parse_metric(word) for word in self.metrics]
        return np.array([[each.admits(metric) for each in self.methods] for metric in parsed])

    def gaps(self, values: Floats) -> Floats:
        """First minus second of each pair; recommenders are on the axis before metrics and methods."""
        first, second = (np.array([pair[side] for pair in self.pairs], dtype=int) for side in (0, 1))
        return np.asarray(values[..., first, :, :] - values[..., second, :, :])
