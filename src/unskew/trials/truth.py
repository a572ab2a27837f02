"""`Rankings`: ranks of the judged rows by each recommender, and the true values of metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from unskew.arrays import Bools, Floats, offsets_of
from unskew.estimators.means import sum_by
from unskew.metrics import NDCG, AnyMetric, ListMetric, Metric, UserLists
from unskew.metrics.dcg import discount
from unskew.metrics.exact.user_lists import divide
from unskew.ranking import Ranks
from unskew.simulators import World
from unskew.trials.design import Design
from unskew.trials.recommenders import Recommender
from unskew.trials.rows import JudgedRows


@dataclass(frozen=True, eq=False)
class Rankings:
    """Users who are judged together, and each recommender's ranks of their rows."""

    judged: JudgedRows
    ranks: Mapping[str, Ranks]
    kept: Bools  # users for whom every recommender has something to list
    graded: bool  # see `Design.graded_truth`
    _lists: dict[tuple[str, bool], UserLists] = field(default_factory=dict)

    @classmethod
    def of(
        cls, judged: JudgedRows, world: World, recommenders: Mapping[str, Recommender], design: Design, seed: int
    ) -> "Rankings":
        """Rank the rows by each recommender."""
        kept = np.ones(len(judged.users), dtype=bool)
        by_name = {name: each.rank(judged, world, ties=design.ties, seed=seed) for name, each in recommenders.items()}
        for ranks in by_name.values():
            assert ranks.listed is not None
            kept &= ranks.listed[judged.offsets[:-1]] > 0
        return cls(judged, by_name, kept, design.graded_truth)

    @property
    def users(self) -> int:
        """Number of users that are kept."""
        return int(self.kept.sum())

    def gains(self, name: str, metric: Metric) -> Floats:
        """Worth of each judged row."""
        ranks = self.ranks[name]
        # a user without a candidate is in no sum, but must not divide by 0
        return metric.row_gains(ranks.above, ranks.spread, np.maximum(ranks.candidates, 1), ranks.listed)

    def lists(self, name: str, *, observed: bool) -> UserLists:
        """The truth rows of each judged user, or the test rows, by rank."""
        if (name, observed) not in self._lists:
            judged, ranks = self.judged, self.ranks[name]
            chosen = judged.in_test if observed else judged.in_truth
            offsets = offsets_of(np.bincount(judged.user[chosen], minlength=len(judged.users)))
            assert ranks.listed is not None
            columns = (ranks.above, ranks.spread, ranks.candidates, ranks.listed)
            rows = slice(None) if chosen.all() else np.flatnonzero(chosen)
            self._lists[name, observed] = UserLists.from_rows(
                offsets, *(column[rows] for column in columns), policy=ranks.ties
            )
        return self._lists[name, observed]

    def truth(self, name: str, metric: AnyMetric, gains: Floats | None = None) -> Floats:
        """The true mean over the kept users, and that over their relevant pairs (NaN for sums and list metrics).

        Gains of the rows are computed unless they are given.
        """
        judged, kept = self.judged, self.kept
        if isinstance(metric, ListMetric):
            if self.graded and isinstance(metric, NDCG) and judged.strength is not None:
                values = self._graded_ndcg(name, metric, judged.strength)
            else:
                values = metric.values(self.lists(name, observed=False))
            return np.array([_mean(values[kept]), np.nan])
        assert isinstance(metric, Metric)
        worth = self.gains(name, metric) if gains is None else gains
        if not judged.in_truth.all():
            worth = np.where(judged.in_truth, worth, 0.0)
        sums = sum_by(judged.user, worth)[kept]
        if metric.kind == "sum":
            return np.array([_mean(sums), np.nan])
        relevant = judged.relevant[kept]
        return np.array([_mean(sums / relevant), sums.sum() / relevant.sum() if len(sums) else np.nan])

    def _graded_ndcg(self, name: str, metric: NDCG, strength: Floats) -> Floats:
        r"""Per user :math:`\sum_{hits} y\, d(rank) / \sum_j y_{(j)} d(j)`, with y how much the item is liked."""
        from unskew.trials.kernel import ideal_gains

        judged, ranks = self.judged, self.ranks[name]
        hits = metric.row_gains(ranks.above, ranks.spread, ranks.candidates, ranks.listed)
        table = discount(np.arange(judged.relevant.max()), metric.discount)
        ideal = table if metric.ideal == "all" else table[: metric.k]
        best = ideal_gains(offsets_of(judged.relevant), strength[judged.in_truth], ideal)
        return divide(sum_by(judged.user, hits * strength), best)  # outside the truth the strength is 0


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else np.nan
