"""How well two rows of numbers order the same models: Pearson's correlation, and recall in samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats, Ints
from unskew.studies.framework.stats import pair_signs
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.biased import BiasedLog, logs
from unskew.studies.wang2024.draws import draw_exposed
from unskew.studies.wang2024.rankings import full_recall
from unskew.studies.wang2024.strata import MACRO
from unskew.studies.wang2024.variants import variant_ranks

INNER = (1, 2, 4, 5, 8, 10, 16, 20)
"""K-bar: cut-offs inside the sample."""
SIZE, SIZES = 80, (10, 20, 40, 80, 160)
"""N-bar: items drawn of each user; the paper's, and those of figure 3."""
DRAWS, FAST_DRAWS = 120, 6
FAST_SIZES = (10, 20, 40, 80)


def pearson(first: Floats, second: Floats) -> Floats:
    """Pearson's correlation of each row of the first with each row of the second; NaN where a row is constant."""
    a, b = (part - part.mean(axis=1, keepdims=True) for part in (np.atleast_2d(first), np.atleast_2d(second)))
    size = np.sqrt(np.outer((a**2).sum(axis=1), (b**2).sum(axis=1)))
    return np.asarray(np.divide(a @ b.T, size, out=np.full(size.shape, np.nan), where=size > 0))


def right_pairs(values: Floats, truth: Floats, apart: float) -> Floats:
    """The share of pairs of models in the right order, of those that truly differ by a share of `apart` or more.

    A tie counts half; one number a row of `values`, NaN when no pair differs so much.

    Parameters
    ----------
    values : array (rows, models)
    truth : array (models,)
    apart : float
    """
    left, right = np.triu_indices(len(truth), 1)
    clear = np.abs(truth[left] - truth[right]) >= apart * np.maximum(truth[left], truth[right])
    if not clear.any():
        return np.full(len(values), np.nan)
    agreement = (pair_signs(values) * pair_signs(truth[None]))[:, clear]
    return np.asarray((1 + agreement.mean(axis=1)) / 2)


@dataclass(frozen=True, eq=False)
class Truth:
    """Full recall of some models at every cut-off.

    Parameters
    ----------
    log : BiasedLog
    ranks : mapping
        Name of a model to what `places` gives.
    macro, micro : array (L, models)
        Recall@K for K = 1 to the largest population: the mean over users, and over positive pairs.
    """

    log: BiasedLog
    ranks: Mapping[str, npt.NDArray[np.int32]]
    macro: Floats
    micro: Floats

    @classmethod
    def of(cls, log: BiasedLog, ranks: Mapping[str, npt.NDArray[np.int32]]) -> "Truth":
        """Compute it."""
        every = np.arange(1, int(log.population.max()) + 1)
        both = [full_recall(mine, log, every.tolist()) for mine in ranks.values()]
        macro, micro = (np.stack(part, axis=1) for part in zip(*both, strict=True))
        return cls(log, ranks, macro, micro)

    def of_form(self, form: str) -> Floats:
        """What a form of the estimator is to estimate, at every cut-off and for each model."""
        return self.macro if form in MACRO else self.micro

    @property
    def population(self) -> float:
        """L, the mean over users."""
        return float(self.log.population.mean())

    @property
    def shortest(self) -> int:
        """The smallest L of a user; cut-offs from there on tell little."""
        return int(self.log.population.min())


def truths(context: Context) -> list[Truth]:
    """The variants on each world at hand, and their full recall; made once a run."""
    return [context.once(f"wang2024 truth {log.world.name}", _Truths(context, log)) for log in logs(context)]


@dataclass(frozen=True, eq=False)
class _Truths:
    context: Context
    log: BiasedLog

    def __call__(self) -> Truth:
        return Truth.of(self.log, variant_ranks(self.context, self.log))


def inner_recall(context: Context, truth: Truth, size: int) -> Floats:
    """Recall at each K-bar inside samples of N-bar items, an array (draws, models, K-bars); NaN for K-bar above N-bar.

    Parameters
    ----------
    context : Context
    truth : Truth
    size : int
        N-bar.
    """
    name = truth.log.world.name

    def make() -> Floats:
        rng = context.rng("wang2024", "inner", name, size)
        draws = context.n_trials(DRAWS, FAST_DRAWS)
        found = []
        for _ in context.counted(f"{name}, samples of {size}", range(draws)):
            drawn = draw_exposed(truth.log.held, size, rng)
            found.append([inner_recalls(mine, drawn, truth.log, INNER) for mine in truth.ranks.values()])
        return np.array(found)

    return context.once(f"wang2024 inner {name} {size}", make)


def inner_recalls(ranks: npt.NDArray[np.int32], drawn: Ints, log: BiasedLog, ks: Sequence[int]) -> list[float]:
    """As `recall_inside`, at several cut-offs."""
    mine = np.take_along_axis(ranks, drawn, axis=1)
    users, columns = np.nonzero(np.take_along_axis(log.world.labels, drawn, axis=1))
    if not len(users):
        return [float("nan")] * len(ks)
    # positives are few, so counting what stands above each of them costs less than to sort the sample
    above = (mine[users] < mine[users, columns][:, None]).sum(axis=1)
    numbers = np.bincount(users, minlength=len(drawn))
    each = 1 / (numbers[users] * np.count_nonzero(numbers))  # what a positive adds to the mean over users
    return [float(each[above < k].sum()) if k <= drawn.shape[1] else float("nan") for k in ks]
