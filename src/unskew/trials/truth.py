"""What a metric is on everything that is relevant: the mean over users, and the mean over pairs."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.estimators.means import sum_by
from unskew.metrics import NDCG, AnyMetric, ListMetric, Metric, UserLists
from unskew.metrics.dcg import discount
from unskew.metrics.exact.positions import mean_gain
from unskew.metrics.exact.user_lists import divide
from unskew.ranking import Ranks
from unskew.trials.rows import JudgedRows


@dataclass(frozen=True)
class Truth:
    """A metric's true value, as a mean over users and, for a mean over items, over relevant pairs (else NaN)."""

    users: float
    pairs: float


class Rankings:
    """One recommender's ranks of the judged rows, and what metrics make of them.

    Parameters
    ----------
    judged : JudgedRows
    ranks : Ranks
    graded : bool
        Whether the true nDCG gains by how much an item is liked.
    """

    def __init__(self, judged: JudgedRows, ranks: Ranks, *, graded: bool = False) -> None:
        self.judged, self.ranks, self.graded = judged, ranks, graded
        self._lists: dict[bool, UserLists] = {}

    def gains(self, metric: Metric) -> Floats:
        """Worth of each judged row."""
        ranks = self.ranks
        # a user without a candidate is in no sum, but must not divide by 0
        return metric.row_gains(ranks.above, ranks.spread, np.maximum(ranks.candidates, 1), ranks.listed)

    def lists(self, *, observed: bool) -> UserLists:
        """The truth rows of each judged user, or the test rows, by rank."""
        if observed not in self._lists:
            judged, ranks = self.judged, self.ranks
            chosen = judged.in_test if observed else judged.in_truth
            rows = slice(None) if chosen.all() else chosen
            assert ranks.listed is not None
            self._lists[observed] = UserLists.from_rows(
                _offsets(judged, chosen),
                ranks.above[rows],
                ranks.spread[rows],
                ranks.candidates[rows],
                ranks.listed[rows],
                policy=ranks.ties,
            )
        return self._lists[observed]

    def truth(self, metric: AnyMetric, kept: Bools, gains: Floats | None = None) -> Truth:
        """The true value of a metric for the users that are kept.

        Parameters
        ----------
        metric : Metric or ListMetric
        kept : array of bool
            Which judged users.
        gains : array, optional
            Of the rows, where they were made before.
        """
        judged = self.judged
        if isinstance(metric, ListMetric):
            values = self._graded_ndcg(metric) if self._is_graded(metric) else metric.values(self.lists(observed=False))
            return Truth(_mean(values[kept]), np.nan)
        assert isinstance(metric, Metric)
        worth = self.gains(metric) if gains is None else gains
        if not judged.in_truth.all():
            worth = np.where(judged.in_truth, worth, 0.0)
        sums = sum_by(judged.user, worth)[kept]
        if metric.kind == "sum":
            return Truth(_mean(sums), np.nan)
        relevant = judged.relevant[kept]
        return Truth(_mean(sums / relevant), float(sums.sum() / relevant.sum()) if len(sums) else np.nan)

    def _is_graded(self, metric: AnyMetric) -> bool:
        return self.graded and isinstance(metric, NDCG) and self.judged.strength is not None

    def _graded_ndcg(self, metric: ListMetric) -> Floats:
        r"""Per user :math:`\sum_{hits} y\, d(rank) / \sum_j y_{(j)} d(j)`, with y how much the item is liked."""
        from unskew.trials.kernel import ideal_gains

        judged, ranks = self.judged, self.ranks
        assert isinstance(metric, NDCG)
        assert judged.strength is not None
        assert ranks.listed is not None
        longest = int(max(judged.relevant.max(), ranks.candidates.max())) + 1
        table = discount(np.arange(longest), metric.discount)
        hits = mean_gain(table if metric.k is None else table[: metric.k], ranks.above, ranks.spread)
        if metric.k is not None:
            hits[ranks.above >= ranks.listed] = 0.0
        ideal = table if metric.k is None or metric.ideal == "all" else table[: metric.k]
        rows = judged.in_truth
        best = ideal_gains(_offsets(judged, rows), judged.strength[rows], ideal)
        return divide(sum_by(judged.user, hits * judged.strength), best)  # outside the truth the strength is 0


def _offsets(judged: JudgedRows, chosen: Bools) -> Ints:
    if chosen.all():
        return judged.offsets
    counts = np.bincount(judged.user[chosen], minlength=len(judged.users))
    return offsets_of(counts)


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else np.nan
