"""Methods that are compared: metrics of other packages and ours, each with the target that it is judged by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.studies.peers import formulas
from unskew.studies.peers.formulas import Lists, discounts

K = 10
"""Length of all lists."""
SHARE = 0.01
"""Share of all pairs that the slice of random rows has."""
OURS = "unskew"
USERS, PAIRS = "users", "pairs"


@dataclass(frozen=True, order=True)
class Target:
    """What a number is meant to be: a metric in the mean over users, or over all relevant pairs."""

    metric: str
    over: str = USERS

    def __str__(self) -> str:
        return f"{self.metric}, {self.over}"


RECALL, RECALL_PAIRS = Target("recall@10"), Target("recall@10", PAIRS)
ADG, ADG_PAIRS = Target("adg@10"), Target("adg@10", PAIRS)
NDCG, DCG, HITS = Target("ndcg@10"), Target("dcg@10"), Target("hits@10")
PLAIN: Mapping[Target, Callable[[Lists], float]] = MappingProxyType(
    {
        RECALL: formulas.recall,
        RECALL_PAIRS: lambda lists: float(lists.hits.sum() / lists.sizes.sum()),
        ADG: formulas.adg,
        ADG_PAIRS: lambda lists: float((lists.hits @ discounts(lists.k)).sum() / lists.sizes.sum()),
        NDCG: formulas.ndcg,
        DCG: formulas.dcg,
        HITS: formulas.hits,
    }
)
"""The plain average by target: of all relevant pairs it is the truth, of held-out positives the naive estimate."""
SUMS = (DCG, HITS)
"""Targets that grow with the number of known pairs; ndcg needs all of them, and the others are means over some."""


@dataclass(frozen=True, order=True)
class Method:
    """A row of the tables.

    Parameters
    ----------
    package : str
    name : str
        The metric, or our estimator.
    target : Target
        What its number is compared with.
    sliced : bool
        Whether it has random rows next to the log.
    """

    package: str
    name: str
    target: Target
    sliced: bool = False

    def __str__(self) -> str:
        return f"{self.package}: {self.name}"


@dataclass(frozen=True, eq=False)
class Given:
    """What the packages are given of a log.

    Parameters
    ----------
    trained, positive : array of bool (users, items)
        The positives of train and of test.
    seed : tuple of int
        Of RecTools' draws.
    """

    trained: Bools
    positive: Bools
    seed: tuple[int, ...]

    @cached_property
    def weight(self) -> Floats:
        """1/P of our default propensity, ``popularity``, for PyTorch Geometric, which leaves weights to its user."""
        counts = self.trained.sum(axis=0) + 1
        return np.asarray((counts.max() / counts) ** 0.5)

    @cached_property
    def propensity(self) -> Floats:
        """WarpRec's, from training counts."""
        return formulas.popularity_propensity(self.trained.sum(axis=0))

    @cached_property
    def held_counts(self) -> Ints:
        """Held-out positives by item, from which RecPack says to fit its propensities."""
        return np.asarray(self.positive.sum(axis=0))

    @cached_property
    def without_excess(self) -> Bools:
        """The positives that RecTools keeps."""
        return formulas.without_excess(self.positive, np.random.default_rng(self.seed))


PyG = "PyTorch Geometric"
NAIVE = Method("ir_measures", "R@10", RECALL)
WEIGHTED = Method(PyG, "weighted recall@10", RECALL)
PEERS: Mapping[Method, Callable[[Lists, Given], float]] = MappingProxyType(
    {
        NAIVE: lambda lists, _: formulas.recall(lists),
        Method("ir_measures", "nDCG@10", NDCG): lambda lists, _: formulas.ndcg(lists),
        Method("RecTools", "Recall@10, debiased", RECALL): lambda lists, given: formulas.recall(
            Lists(lists.top, given.without_excess)
        ),
        Method("RecTools", "NDCG@10, debiased", NDCG): lambda lists, given: formulas.ndcg(
            Lists(lists.top, given.without_excess)
        ),
        Method("RecPack", "IPSHitRate@10", HITS): lambda lists, given: formulas.ips_hits(lists, given.held_counts),
        WEIGHTED: lambda lists, given: formulas.weighted_recall(lists, given.weight),
        Method(PyG, "weighted NDCG@10", NDCG): lambda lists, given: formulas.weighted_ndcg(lists, given.weight),
        Method("WarpRec", "SNIPSRecall@10", RECALL): lambda lists, given: formulas.weighted_recall(
            lists, 1 / given.propensity
        ),
        Method("WarpRec", "IPSRecall@10", RECALL): lambda lists, given: formulas.ips_recall(lists, given.propensity),
        Method("WarpRec", "SNIPSDCG@10", ADG): lambda lists, given: formulas.snips_dcg(lists, given.propensity),
        Method("WarpRec", "IPSDCG@10", DCG): lambda lists, given: formulas.ips_dcg(lists, given.propensity),
    }
)
"""Metrics of other packages."""


@dataclass(frozen=True)
class Run:
    """An evaluation of ours.

    Parameters
    ----------
    name : str
        The row.
    estimators : mapping
        By what they are called, whether they average over pairs or over users; ``auto`` becomes another estimator.
    propensity : str, optional
    metrics : tuple of str
        With their factors, because hits are ten times precision.
    sliced : bool
        Whether it has random rows.
    """

    estimators: Mapping[str, str]
    propensity: str | None
    metrics: Mapping[str, float]
    sliced: bool = False


MEANS: Mapping[str, float] = MappingProxyType({"recall@10": 1.0, "adg@10": 1.0})
ALL: Mapping[str, float] = MappingProxyType({**MEANS, "ndcg@10": 1.0, "dcg@10": 1.0, "precision@10": float(K)})
AUTO, SNIPS, SNIPS_USERS = "auto", "snips", "snips(per=user)"
RUNS = (
    Run({SNIPS: PAIRS, SNIPS_USERS: USERS}, "popularity", MEANS),
    Run({AUTO: PAIRS}, None, MEANS),
    Run({AUTO: PAIRS}, None, ALL, sliced=True),
)
"""Our evaluations. With random rows ``auto`` is ``blend(q=slice)``."""


def of_ours(estimator: str, metric: str, over: str = PAIRS, *, sliced: bool = False) -> Method:
    """The row of an estimator and a metric of ours."""
    called = "hits@10" if metric == "precision@10" else metric
    rows = f", {100 * SHARE:g} % random rows" if sliced else ""
    target = Target(called, over if metric in MEANS else USERS)
    return Method(OURS, f"{estimator}{rows}, {called}", target, sliced)


METHODS = (
    *PEERS,
    *(
        of_ours(word, metric, over, sliced=run.sliced)
        for run in RUNS
        for word, over in run.estimators.items()
        for metric in run.metrics
    ),
)
"""All rows, in the order of the tables."""
