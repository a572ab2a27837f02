"""Runs by hand and tiny calibrations for the tests of the study."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unskew.calibration import Calibrated, Calibration, LogFacts
from unskew.simulators.likeness import STATISTICS
from unskew.studies import Context
from unskew.studies.tian2020.printed import METRICS, RECOMMENDERS, WORLDS
from unskew.studies.tian2020.runs import WAYS, Runs
from unskew.studies.tian2020.sets import SETS
from unskew.trials import Summary, Trials

Values = Mapping[tuple[str, str], tuple[float, float]]
"""Recommender and metric to the observed and the true value."""
PRECISION, RECALL, MRR, NDCG = METRICS
_SIZES = "sizes=pareto(scale=5, shape=1, upper=30)"
_TINY = {
    "ibp-unif": f"ibp(users=60, observe=uniform, {_SIZES}, alpha=25, c=1, sigma=0.3)",
    "ibp-pop": f"ibp(users=60, {_SIZES}, alpha=25, c=1, sigma=0.3)",
    "lda-unif": f"lda(users=60, observe=uniform, {_SIZES}, items=80, topics=4, likes=30)",
    "lda-pop": f"lda(users=60, {_SIZES}, items=80, topics=4, likes=30)",
}


def usual(recall_error: float = 0.0) -> dict[tuple[str, str], tuple[float, float]]:
    """What the paper reports nearly everywhere: the oracle ahead, precision and reciprocal rank far too low."""
    found = {}
    for metric in METRICS:
        truth = {"oracle": 1.0, "popular": 0.8, "random": 0.1}
        share = 1.0 if metric == RECALL else 0.1
        found |= {(name, metric): (share * value, value) for name, value in truth.items()}
    found["popular", PRECISION] = (0.06, 0.8)  # less than its share, so that the ratio to it is overestimated
    found["popular", MRR] = (0.06, 0.8)
    for name in ("oracle", "popular"):
        found[name, RECALL] = (found[name, RECALL][1] + recall_error, found[name, RECALL][1])
    return found


def made_runs(data: str, world: str, values: Values, *, noise: float = 0.001, runs: int = 40, seed: int = 0) -> Runs:
    """Observed values spread about what is given; the truth is the same in all runs."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(0, noise, (runs, len(RECOMMENDERS), len(METRICS)))
    drawn -= drawn.mean(axis=0)  # so that means are those given
    return {(data, world, name): Summary(_trials(design, values, drawn)) for name, design in WAYS.items()}


def _trials(design, values: Values, drawn: np.ndarray) -> Trials:
    runs = len(drawn)
    shape = (runs, len(design.recommenders), len(design.metrics), len(design.methods))
    estimate, truth = np.zeros(shape), np.zeros(shape)
    for (name, metric), (observed, true) in values.items():
        k, m = design.recommenders.index(name), design.metrics.index(metric)
        noise = drawn[:, RECOMMENDERS.index(name), METRICS.index(metric), None]
        estimate[:, k, m], truth[:, k, m] = observed + noise, true
    first, second = (np.array([pair[side] for pair in design.pairs]) for side in (0, 1))
    gap = estimate[:, first] - estimate[:, second]
    counts = np.full(runs, 10)
    error = np.full_like(estimate, 0.01)
    return Trials(
        design, "made", 0, truth, truth, estimate, error, gap, np.full_like(gap, 0.01), counts, counts, counts
    )


def all_worlds(data: str, changed: Mapping[str, Values] | None = None) -> Runs:
    """All four worlds as usual, or some of them changed."""
    popular = usual(recall_error=0.05)
    values = {world: popular if world.endswith("pop") else usual() for world in WORLDS} | dict(changed or {})
    runs: dict[tuple[str, str, str], Summary] = {}
    for k, world in enumerate(values):
        runs |= made_runs(data, world, values[world], seed=k)
    return runs


def tiny_calibration(name: str = "ml-1m", *, chosen: float = 1.0, best: float = 1.0) -> Calibration:
    """Worlds of 60 users, chosen by logs with this divergence; `best` is the smallest one seen."""
    numbers, smallest = dict.fromkeys(STATISTICS, chosen), dict.fromkeys(STATISTICS, best)
    worlds = tuple(
        Calibrated(kind, word, numbers, numbers, 0.0, numbers, 1, 0, {"joint": ((0, 1.0),)})
        for kind, word in _TINY.items()
    )
    facts = LogFacts(name, 600, 60, 80, "0" * 64)
    return Calibration(facts, worlds, smallest, {"joint": 1}, {}, f"unskew calibrate {name}")


def tiny_context(folder: Path, **changed: Any) -> Context:
    """A run in which only ml-1m has parameters, those of tiny worlds."""
    context = Context(**{"trials": 3, "cache": folder / "cache", "folder": folder / "data"} | changed)
    for data in SETS:
        calibration = tiny_calibration() if data == "ml-1m" else None
        context.once(f"tian2020 parameters {data}", lambda calibration=calibration: calibration)
    return context
