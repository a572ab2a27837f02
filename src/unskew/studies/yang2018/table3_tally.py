"""Table 3 in numbers: how far off, how much less, and in which order."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.stats import kendall
from unskew.studies.yang2018.table3_runs import AOA, Runs


@dataclass(frozen=True)
class Reduction:
    """How much smaller an error is than AOA's, in per cent of it, with the paired standard error over draws."""

    value: float
    error: float | None


def errors(runs: Runs, comparison: str, estimate: str) -> Floats:
    """Distance of an estimate to the truth, (draws, models)."""
    return np.asarray(np.abs(runs.estimates[comparison, estimate] - runs.truth[comparison]))


def reduction(runs: Runs, comparison: str, estimate: str, model: int) -> Reduction:
    r"""100 (1 - e / a) with e and a the mean errors of the estimate and of AOA.

    The standard error is that of a ratio of means over the same draws: the standard deviation of
    :math:`e_t - (e / a) a_t`, over :math:`a \sqrt T`.
    """
    mine, naive = (errors(runs, comparison, name)[:, model] for name in (estimate, AOA))
    ratio = mine.mean() / naive.mean()
    value = float(100 * (1 - ratio))
    if len(mine) < 2:
        return Reduction(value, None)
    return Reduction(value, float(100 * np.std(mine - ratio * naive, ddof=1) / naive.mean() / len(mine) ** 0.5))


def taus(runs: Runs, comparison: str, estimate: str) -> Floats:
    """Kendall's tau of the models by the estimate and by the truth, one a draw."""
    pairs = zip(runs.estimates[comparison, estimate], runs.truth[comparison], strict=True)
    return np.array([kendall(mine, true, ties="a").item() for mine, true in pairs])
