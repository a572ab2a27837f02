"""Whether an estimator tells oracle from popular where that can be told, and says so where it cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from unskew.studies.tian2020.runs import Runs
from unskew.trials import PairSummary

CLEAR = 3
"""Standard errors of the paired difference from which on the true gap is clear."""
CHOSEN = 0.95
COVERED = (0.93, 0.97)
CHANCE = 0.001
"""A share is only held to be outside its limits when chance alone would bring it there more rarely than this."""
ADMITTED = ("precision(of=list)@50", "recall@50", "adg@50", "auc", "dcg@50")
"""Metrics that can be corrected."""


@dataclass(frozen=True)
class Judgement:
    """Oracle and popular compared by one metric and one estimate, in all runs of a world."""

    data: str
    world: str
    pair: PairSummary

    @property
    def place(self) -> str:
        """Where it is."""
        return f"{self.data} {self.world} {self.pair.metric.partition('(')[0].partition('@')[0]}"

    @property
    def clear(self) -> bool:
        """Whether the mean true gap exceeds three standard errors."""
        gap, error = self.pair.true_gap, self.pair.std_error
        return gap is not None and error is not None and abs(gap) > CLEAR * error

    @property
    def coverage(self) -> float:
        """Of the population's difference, by the interval of the difference."""
        return _share(self.pair.coverage_population)

    @property
    def chosen(self) -> float:
        """Share of runs that choose the one that is truly better in the run."""
        return _share(self.pair.right_chosen)

    @cached_property
    def is_covered(self) -> bool:
        """Whether so many runs do not refute that the coverage is between its limits."""
        low, high = covered_counts(self.pair.runs)
        return low <= round(self.coverage * self.pair.runs) <= high

    @cached_property
    def reached(self) -> bool:
        """Whether the runs do not refute the goal: the better one chosen where the gap is clear, else coverage."""
        if self.clear:
            return round(self.chosen * self.pair.runs) >= chosen_count(self.pair.runs)
        return self.is_covered


def _share(value: float | None) -> float:
    return float("nan") if value is None else value


def judgements(runs: Sequence[Runs], method: str) -> Iterator[Judgement]:
    """All worlds and metrics that a method applies to."""
    for each in runs:
        summary = each.summary()
        design = summary.trials.design
        admits = design.applies()[:, design.labels.index(method)]
        for metric in ADMITTED:
            if admits[design.metrics.index(metric)]:
                yield Judgement(each.data, each.world, summary.pair("oracle", "popular", metric, method))


def covered_counts(runs: int) -> tuple[int, int]:
    """The fewest and the most covering intervals that agree with a coverage of 93 to 97 %.

    Examples
    --------
    >>> covered_counts(100), covered_counts(200)
    ((84, 100), (174, 200))
    """
    from scipy.stats import binom

    low, high = COVERED
    return int(binom.ppf(CHANCE, runs, low)), int(binom.ppf(1 - CHANCE, runs, high))


def chosen_count(runs: int) -> int:
    """The fewest right choices that agree with 95 % of them being right."""
    from scipy.stats import binom

    return int(binom.ppf(CHANCE, runs, CHOSEN))


def pass_chance(runs: int, coverage: float) -> float:
    """How probably an interval that truly covers so often is not refuted by so many runs.

    Examples
    --------
    >>> [round(pass_chance(runs, 0.9), 2) for runs in (100, 200, 1000)]
    [0.98, 0.93, 0.36]
    """
    from scipy.stats import binom

    low, high = covered_counts(runs)
    return float(binom.cdf(high, runs, coverage) - binom.cdf(low - 1, runs, coverage))


def runs_needed() -> int:
    """How many runs make the distance of 95 % to either limit two standard errors of a share."""
    reach = (COVERED[1] - COVERED[0]) / 2
    return ceil(round(0.95 * 0.05 / (reach / 2) ** 2, 6))  # 475, and not one more for a last bit


@dataclass(frozen=True)
class Reach:
    """How far a method gets, over all worlds and metrics."""

    method: str
    found: tuple[Judgement, ...]

    @classmethod
    def of(cls, runs: Sequence[Runs], method: str) -> "Reach":
        """From all judgements."""
        return cls(method, tuple(judgements(runs, method)))

    def part(self, *, clear: bool) -> tuple[Judgement, ...]:
        """Those with a clear gap, or the others."""
        return tuple(each for each in self.found if each.clear is clear)

    @property
    def missed(self) -> tuple[Judgement, ...]:
        """Where the goal is not reached, the furthest off first."""
        own = [each for each in self.found if not each.reached]
        return tuple(sorted(own, key=lambda each: each.chosen if each.clear else each.coverage))

    @property
    def uncovered(self) -> tuple[Judgement, ...]:
        """Where the interval does not cover, the gap clear or not; lowest first."""
        return tuple(sorted((each for each in self.found if not each.is_covered), key=lambda each: each.coverage))

    @property
    def mean_coverage(self) -> float:
        """Over all worlds and metrics."""
        return float(np.mean([each.coverage for each in self.found])) if self.found else float("nan")
