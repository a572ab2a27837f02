"""Estimates from a randomly exposed test: where each model puts the exposed items among all candidates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Split
from unskew.data.vocabulary import canonical
from unskew.errors import DataError, Option
from unskew.estimators import Aoa, Exposure, Terms, Traditional, Ure, Worth
from unskew.estimators.estimator import sum_by
from unskew.evaluation.collecting.sample import Evidence
from unskew.evaluation.estimating.cell import Cell, kish
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import NDCG, AnyMetric, Metric
from unskew.ranking import Contest, Ranks


@dataclass(frozen=True, eq=False)
class Exposures:
    """The exposed rows of a run, positive or not, ranked among the population.

    Parameters
    ----------
    evidence : Evidence
        Of all exposed rows, their labels being the values.
    """

    evidence: Evidence

    @cached_property
    def positive(self) -> Bools:
        """Which rows are positives."""
        assert self.evidence.values is not None
        return self.evidence.values > 0

    @cached_property
    def exposure(self) -> Exposure:
        """Users, labels and sizes, as the estimators want them."""
        first = next(iter(self.evidence.ranks.values()))
        return Exposure(
            self.evidence.user, self.positive, first.candidates[self.evidence.offsets[:-1]].astype(np.int64)
        )

    @cached_property
    def positives(self) -> Evidence:
        """The positives alone, as other tests have them."""
        if not self.positive.any():
            raise DataError(
                f"{self.evidence.split.test.name}: none of {self.evidence.rows:,} exposed rows is positive, so nothing "
                f"can be said of a metric; check the labels, or {Option('positive')}"
            )
        ranks = {name: ranks.take(self.positive) for name, ranks in self.evidence.ranks.items()}
        return self._of_positives(ranks)

    @cached_property
    def inside(self) -> Evidence:
        """The positives ranked among the exposed rows alone."""
        ranks = {name: self._inside(ranks) for name, ranks in self.evidence.ranks.items()}
        return self._of_positives(ranks)

    def _of_positives(self, ranks: Mapping[str, Ranks]) -> Evidence:
        evidence = self.evidence
        has = self.exposure.positives > 0
        without = int(np.sum(~has))
        return replace(
            evidence,
            users=evidence.users[has],
            offsets=np.append(0, np.cumsum(self.exposure.positives[has])).astype(np.int64),
            items=evidence.items[self.positive],
            ranks=ranks,
            values=None if evidence.values is None else evidence.values[self.positive],
            dropped={
                **evidence.dropped,
                "users_without_positive": without,
                "users": evidence.dropped["users"] + without,
            },
        )

    def _inside(self, ranks: Ranks) -> Ranks:
        """Ranks among the exposed rows: two of a user are tied exactly when as many candidates stand above them."""
        user, sizes = self.evidence.user, self.exposure.exposed
        order = np.lexsort((ranks.above, user))
        starts = self.evidence.offsets[:-1]
        place = np.arange(len(order)) - np.repeat(starts, sizes)
        above, owner = ranks.above[order], user[order]
        new = np.append(True, (above[1:] != above[:-1]) | (owner[1:] != owner[:-1]))
        group = np.cumsum(new) - 1
        size = np.bincount(group)
        first = np.empty(len(order), dtype=np.int32)
        tied = np.empty(len(order), dtype=np.int32)
        first[order], tied[order] = place[new][group], size[group] - 1
        listed = None
        in_list = ranks.in_list()
        if in_list is not None:
            within = np.bincount(user[ranks.above < in_list], minlength=len(sizes))
            listed = within[user][self.positive].astype(np.int32)
        taken = ranks.take(self.positive)
        return replace(
            taken,
            above=(first + tied if ranks.ties == "pessimistic" else first)[self.positive],
            tied=tied[self.positive],
            candidates=sizes[user][self.positive].astype(np.int32),
            listed=listed,
            candidate_rule="listed",
        )

    def cell(self, metric: AnyMetric, estimator: Ure) -> Cell:
        """All models by one metric and form of `ure`."""
        exposure = self.exposure
        terms = {model: self._terms(metric, estimator, model) for model in self.evidence.ranks}
        counted = estimator.counted(exposure, metric.kind)
        weights = estimator.row_weights_of(exposure, metric.kind)
        return Cell(
            metric=metric,
            estimator=estimator,
            users=counted,
            dropped_users=self.evidence.dropped["users"] + exposure.n_users - counted,
            dropped_items=self.evidence.dropped_items,
            without_propensity=0,
            effective_sample_size=kish(sum_by(exposure.user[self.positive], weights)),
            effective_rows=kish(weights),
            max_weight_share=float(weights.max() / weights.sum()),
            clipped_share=0.0,
            terms=terms,
        )

    def _terms(self, metric: AnyMetric, estimator: Ure, model: str) -> Terms:
        ranks = self.evidence.ranks[model]
        assert isinstance(metric, Metric | NDCG)
        above, tied = ranks.above, ranks.spread
        if estimator.literal:
            above, tied = above + tied, np.zeros_like(tied)
        listed = self.evidence.listed(model)
        worth = Worth(
            metric.row_gains(above, tied, ranks.candidates, listed),
            above + tied / 2,
            _Places(metric, self.exposure.population, None if listed is None else listed[self.evidence.offsets[:-1]]),
            metric.cutoff,
        )
        if isinstance(metric, NDCG):
            return estimator.shares(worth, self.exposure, metric.ideal_gains)
        return (estimator.sums if metric.kind == "sum" else estimator.means)(worth, self.exposure)


@dataclass(frozen=True, eq=False)
class _Places:
    """Sums of the gains of places from the top, for each user."""

    metric: Metric | NDCG
    population: Ints
    listed: Ints | None

    def __call__(self, numbers: Ints) -> Floats:
        sums = np.empty((len(self.population), len(numbers)))
        columns = [self.population, *([] if self.listed is None else [self.listed])]
        kinds, kind = np.unique(np.stack(columns), axis=1, return_inverse=True)
        if self.listed is None and not getattr(self.metric, "uses_candidates", False):
            table = self._table(int(self.population.max()), None)
            return np.asarray(table[np.minimum(numbers[None], self.population[:, None])])
        for k, (size, *held) in enumerate(kinds.T.tolist()):
            table = self._table(size, held[0] if held else None)
            sums[kind.ravel() == k] = table[np.minimum(numbers, size)]
        return sums

    def _table(self, size: int, listed: int | None) -> Floats:
        places = np.arange(size, dtype=np.int32)
        held = None if listed is None else np.full(size, listed, dtype=np.int32)
        gains = self.metric.row_gains(places, np.zeros_like(places), np.full_like(places, size), held)
        return np.append(0.0, np.cumsum(gains))


def check_population(split: Split, contest: Contest | None) -> None:
    """Refuse exposed items that no model could have recommended: the rest of the population is then unknown too."""
    if contest is None or not contest.dropped["items_outside_catalogue"]:
        return
    codes = split.item_vocabulary.encode(canonical(contest.catalogue_ids, "items of the catalogue"))
    outside = split.test.items[~np.isin(split.test.items, codes)]
    raise DataError(
        f"{split.test.name}: {len(outside):,} exposed rows are of items outside the population, the first is item "
        f"{split.item_vocabulary.ids[outside[0]]}: neither in train nor known to a model; name all items that could be "
        f"drawn with {Option('catalogue')}"
    )


def count_hits(ranks: Ranks, cutoff: int) -> float:
    """How many rows are among the first `cutoff`, those in a tie group across it in part."""
    inside = (cutoff - ranks.above) / (ranks.spread + 1)
    return float(np.clip(inside, 0, 1).sum())


def inside_settings(settings: Settings) -> Settings:
    """The run's metrics by the plain average, for ranks among the exposed rows."""
    mine = tuple((metric, Aoa()) for metric, estimator in settings.pairs if isinstance(estimator, Traditional))
    return replace(settings, pairs=mine)
