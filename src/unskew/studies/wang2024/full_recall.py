"""Where models rank all held items, their full recall at every cut-off, and recall inside random samples."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew.arrays import Bools, Floats, Ints, Matrix
from unskew.metrics import NDCG
from unskew.metrics.dcg import discount
from unskew.ranking import Scorer
from unskew.ranking.engines.threads import usable_cores
from unskew.studies.framework.study import Context, Size
from unskew.studies.wang2024.models import fits_of, variant_models
from unskew.studies.wang2024.worlds import BiasedLog, draw_exposed, logs

RankMatrix = npt.NDArray[np.int32]
"""Users by items: the rank from 0 of each held item among the user's held items, -1 elsewhere."""
BLOCK = 256
TIES = 2024
"""Seed of the order of items with the same score."""
INNER = (1, 2, 4, 5, 8, 10, 16, 20)
"""K-bar: cut-offs inside the sample."""
SIZE = 80
"""N-bar, the items drawn of each user, as in the paper."""
DRAWS = Size(120, 6, trials=True)
APART, APART_AT = 0.08, 30
"""Variants differ by this share or more in full recall at this cut-off, that of the paper's sentence about figure 5."""


def places(scores: Scorer | Matrix, held: Bools) -> RankMatrix:
    """The ranks of all held items.

    A faster road of `unskew.ranking.rank`, see benchmarks/study_roads.py: that counts the better candidates of each
    judged item, while here all candidates are judged, so one sort per user ranks them. Items with the same score are
    in one random order for all users and models, as under ``ties="ordinal"`` with item ids in that order.
    """
    mixed = np.random.default_rng(TIES).permutation(held.shape[1])
    placed = np.full(held.shape, -1, dtype=np.int32)

    def place(start: int) -> None:
        users = np.arange(start, min(start + BLOCK, len(held)))
        block = scores[users] if isinstance(scores, np.ndarray) else scores.score(users)
        keys = np.where(held[users], -np.asarray(block), np.inf)[:, mixed]
        order = mixed[np.argsort(keys, axis=1, kind="stable")]
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
        placed[users] = np.where(held[users], ranks, -1)

    with ThreadPoolExecutor(usable_cores()) as pool:  # most of the time is spent in sorting, which Python lets run
        list(pool.map(place, range(0, len(held), BLOCK)))
    return placed


def hits(ranks: RankMatrix, relevant: Bools, ks: Sequence[int]) -> tuple[Floats, Floats]:
    """How many of each user's positives are among the first K, for each K (columns), and how many there are.

    A faster road of `Recall` and `Aoa`, see benchmarks/study_roads.py: one count serves all cut-offs.
    """
    users, items = np.nonzero(relevant)
    cut = np.asarray(ks)
    order = np.argsort(cut, kind="stable")
    bins = np.searchsorted(cut[order], ranks[users, items], side="right")  # place < K counts from the first such K
    table = np.bincount(users * (len(cut) + 1) + bins, minlength=len(ranks) * (len(cut) + 1))
    counts = table.reshape(len(ranks), len(cut) + 1)
    above = np.empty((len(ranks), len(cut)))
    above[:, order] = counts.cumsum(axis=1)[:, :-1]
    return above, counts.sum(axis=1).astype(np.float64)


def full_recall(ranks: RankMatrix, log: BiasedLog, ks: Sequence[int]) -> tuple[Floats, Floats]:
    """Recall@K over all held items, for each K: the mean over users with a positive, and that over positive pairs."""
    above, relevant = hits(ranks, log.relevant, ks)
    has = relevant > 0
    macro = (above[has] / relevant[has, None]).mean(axis=0)
    return np.asarray(macro), np.asarray(above.sum(axis=0) / relevant.sum())


def full_dcg(ranks: RankMatrix, log: BiasedLog, k: int) -> tuple[Floats, Floats]:
    """DCG@K of each user over all held items, and the ideal one."""
    users, items = np.nonzero(log.relevant)
    gains = discounts(ranks[users, items], k)
    relevant = np.bincount(users, minlength=log.world.n_users)
    dcg = np.asarray(np.bincount(users, weights=gains, minlength=log.world.n_users), dtype=float)
    return dcg, (NDCG() @ k).ideal_gains(relevant)


def discounts(above: Ints, k: int) -> Floats:
    """1 / log2(rank + 1) with the rank from 1, and 0 beyond K."""
    return np.asarray(np.where(above < k, discount(above), 0.0))


@dataclass(frozen=True, eq=False)
class Truth:
    """Full recall of some models at every cut-off."""

    log: BiasedLog
    ranks: Mapping[str, RankMatrix]  # rank matrices by model
    macro: Floats  # (L, models): recall@K for K = 1 to the largest population, the mean over users
    micro: Floats  # the same, the mean over positive pairs

    @classmethod
    def of(cls, log: BiasedLog, ranks: Mapping[str, RankMatrix]) -> "Truth":
        """Full recall from the ranks."""
        every = np.arange(1, int(log.population.max()) + 1)
        both = [full_recall(matrix, log, every.tolist()) for matrix in ranks.values()]
        macro, micro = (np.stack(part, axis=1) for part in zip(*both, strict=True))
        return cls(log, ranks, macro, micro)

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.log.name

    @property
    def shortest(self) -> int:
        """The smallest L of a user; cut-offs from there on say little."""
        return int(self.log.population.min())


def truths(context: Context) -> list[Truth]:
    """The variants on each available world, and their full recall; computed once per run."""

    def make(log: BiasedLog) -> Truth:
        fits = fits_of(context, log.parts, variant_models(context), stage=f"variants on {log.name}")
        k = [min(APART_AT, int(log.population.min()) - 1)]
        recall = {name: float(full_recall(places(fit.scorer, log.held), log, k)[0][0]) for name, fit in fits.items()}
        kept = apart(recall, APART)  # ranked again, because the ranks of all need much memory
        return Truth.of(log, {name: places(fits[name].scorer, log.held) for name in kept})

    return context.once("wang2024 truths", lambda: [make(log) for log in logs(context)])


def apart(recall: Mapping[str, float], share: float) -> list[str]:
    """From the best on, each model that is lower by this share or more than the one kept before, in their order."""
    kept: list[str] = []
    for name in sorted(recall, key=lambda name: -recall[name]):
        if not kept or recall[name] <= (1 - share) * recall[kept[-1]]:
            kept.append(name)
    return [name for name in recall if name in kept]


def describe_apart(worlds: Sequence[Truth]) -> str:
    """Which variants are left, in a sentence."""
    left = "; ".join(f"{truth.name} {len(truth.ranks)}" for truth in worlds)
    return (
        f"Of the variants those are kept whose full recall@{APART_AT} differs by {APART:.0%} or more, from the best "
        f"on: {left}."
    )


def inner_recall(context: Context, truth: Truth, size: int) -> Floats:
    """Recall at each K-bar inside samples of `size` items, an array (draws, models, K-bars); NaN for K-bar above it."""

    def make() -> Floats:
        rng = context.rng("wang2024", "inner", truth.name, size)
        draws = []
        for _ in context.counted(f"{truth.name}, samples of {size}", range(context.size(DRAWS))):
            drawn = draw_exposed(truth.log.held, size, rng)
            draws.append([inner_recalls(ranks, drawn, truth.log, INNER) for ranks in truth.ranks.values()])
        return np.array(draws)

    return context.once(f"wang2024 inner {truth.name} {size}", make)


def inner_recalls(ranks: RankMatrix, drawn: Ints, log: BiasedLog, ks: Sequence[int]) -> list[float]:
    """Recall at several cut-offs inside a sample.

    A faster road of `Traditional`, see benchmarks/study_roads.py: positives are few, so it costs less to count what is
    above each of them than to sort the sample, and one count serves all cut-offs.
    """
    above_all = np.take_along_axis(ranks, drawn, axis=1)
    users, columns = np.nonzero(np.take_along_axis(log.world.labels, drawn, axis=1))
    if not len(users):
        return [float("nan")] * len(ks)
    above = (above_all[users] < above_all[users, columns][:, None]).sum(axis=1)
    numbers = np.bincount(users, minlength=len(drawn))
    weight = 1 / (numbers[users] * np.count_nonzero(numbers))  # what a positive adds to the mean over users
    return [float(weight[above < k].sum()) if k <= drawn.shape[1] else float("nan") for k in ks]
