"""The goal of a corrected estimate: it chooses right where the true gap is clear, and covers the gap elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from unskew.studies.tian2020.runs import EXPECTED, Runs
from unskew.trials import PairSummary

CLEAR = 3
"""Standard errors of the paired difference from which on the true gap is clear."""
CHOSEN = 0.95
COVERED = (0.93, 0.97)
CHANCE = 0.001
"""A share counts as outside its limits only if chance alone would bring it there more rarely than this."""
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
        """Data set, world and metric."""
        return f"{self.data} {self.world} {self.pair.metric.partition('(')[0].partition('@')[0]}"

    @property
    def clear(self) -> bool:
        """Whether the mean true gap exceeds three standard errors."""
        gap, error = self.pair.true_gap, self.pair.std_error
        return gap is not None and error is not None and abs(gap) > CLEAR * error

    @property
    def coverage(self) -> float:
        """Share of runs whose interval of the difference covers the population's difference."""
        share = self.pair.coverage_population
        return float("nan") if share is None else share

    @property
    def chosen(self) -> float:
        """Share of runs that choose the one that is truly better in the run."""
        share = self.pair.right_chosen
        return float("nan") if share is None else share

    @cached_property
    def is_covered(self) -> bool:
        """Whether the runs do not refute that the coverage is between its limits."""
        low, high = covered_counts(self.pair.runs)
        return low <= round(self.coverage * self.pair.runs) <= high

    @cached_property
    def reached(self) -> bool:
        """Whether the runs do not refute the goal: the better one chosen where the gap is clear, else coverage."""
        if self.clear:
            return round(self.chosen * self.pair.runs) >= chosen_count(self.pair.runs)
        return self.is_covered


def judgements(runs: Runs, method: str) -> Iterator[Judgement]:
    """All worlds and metrics that a method applies to."""
    for (data, world, way), summary in runs.items():
        design = summary.trials.design
        for metric in ADMITTED if way == EXPECTED else ():
            if design.applies()[design.metrics.index(metric), design.labels.index(method)]:
                yield Judgement(data, world, summary.pair("oracle", "popular", metric, method))


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
    """The probability that this number of runs does not refute an interval with this true coverage.

    Examples
    --------
    >>> [round(pass_chance(runs, 0.9), 2) for runs in (100, 200, 1000)]
    [0.98, 0.93, 0.36]
    """
    from scipy.stats import binom

    low, high = covered_counts(runs)
    return float(binom.cdf(high, runs, coverage) - binom.cdf(low - 1, runs, coverage))


def runs_needed() -> int:
    """The number of runs that makes the distance of 95 % to either limit two standard errors of a share."""
    reach = (COVERED[1] - COVERED[0]) / 2
    return ceil(round(0.95 * 0.05 / (reach / 2) ** 2, 6))  # 475, and not one more for a last bit


@dataclass(frozen=True)
class Reach:
    """How often a method reaches the goal, over all worlds and metrics."""

    method: str
    judgements: tuple[Judgement, ...]

    def part(self, *, clear: bool) -> tuple[Judgement, ...]:
        """Those with a clear gap, or the others."""
        return tuple(each for each in self.judgements if each.clear is clear)

    @property
    def missed(self) -> tuple[Judgement, ...]:
        """Where the goal is not reached, the furthest off first."""
        missed = (each for each in self.judgements if not each.reached)
        return tuple(sorted(missed, key=lambda each: each.chosen if each.clear else each.coverage))

    @property
    def uncovered(self) -> tuple[Judgement, ...]:
        """Where the interval does not cover, whether the gap is clear or not; lowest first."""
        missed = (each for each in self.judgements if not each.is_covered)
        return tuple(sorted(missed, key=lambda each: each.coverage))

    @property
    def mean_coverage(self) -> float:
        """The mean over all worlds and metrics."""
        return float(np.mean([each.coverage for each in self.judgements])) if self.judgements else float("nan")
