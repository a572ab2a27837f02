"""`Exposed`: labelled rows of items drawn at random for each user, ranked among all candidates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.data import Split
from unskew.data.vocabulary import canonical
from unskew.errors import DataError, Option
from unskew.estimators import Estimator, Kind, Places, Rows
from unskew.evaluation.collecting.sample import Sample
from unskew.metrics import NDCG, AnyMetric, Metric
from unskew.ranking import Contest, Ranks


@dataclass(frozen=True, eq=False)
class Exposed(Sample):
    """The exposed rows of a run, positive or not; their labels are the values."""

    kind: ClassVar[str] = "exposed"

    @cached_property
    def positive(self) -> Bools:
        """Which rows are positives."""
        assert self.values is not None
        return self.values > 0

    @cached_property
    def drawn(self) -> Rows:
        """Users, labels and sizes, as the estimators see them."""
        first = next(iter(self.ranks.values()))
        return Rows(
            worth=np.empty(0),
            user=self.user,
            positive=self.positive,
            total=first.candidates[self.offsets[:-1]].astype(np.float64),
            who=self.users,
        )

    @cached_property
    def positives(self) -> Sample:
        """The positives only, as in other tests."""
        if not self.positive.any():
            raise DataError(
                f"{self.split.test.name}: none of {self.rows:,} exposed rows is positive, so no metric is defined; "
                f"check the labels, or {Option('positive')}"
            )
        return self._of_positives({name: ranks.take(self.positive) for name, ranks in self.ranks.items()})

    @cached_property
    def inside(self) -> Sample:
        """The positives ranked among the exposed rows only."""
        return self._of_positives({name: self._inside(ranks) for name, ranks in self.ranks.items()})

    def by_list(self, metric: AnyMetric) -> bool:
        """False: metrics of exposed rows are estimated row by row."""
        return False

    def places(self, model: str, metric: AnyMetric, *, misses_ties: bool = False) -> Places | None:
        """The gain of the metric at every place, labelled or not."""
        ranks, listed = self.ranks[model], self.listed(model)
        assert isinstance(metric, Metric | NDCG)
        held = None if listed is None else listed[self.offsets[:-1]]
        return Places(
            above=ranks.above + ranks.spread * (1.0 if misses_ties else 0.5),
            up_to=_GainsOfPlaces(metric, self.drawn.population, held),
            cutoff=metric.cutoff,
            ideal=metric.ideal_gains if isinstance(metric, NDCG) else None,
        )

    def to_rows(self, kind: Kind, estimator: Estimator, chances: Floats | None = None) -> Rows:
        """All exposed rows, whatever the estimator."""
        return self.drawn

    def _of_positives(self, ranks: Mapping[str, Ranks]) -> Sample:
        has = self.drawn.positives > 0
        without = int(np.sum(~has))
        return Sample(
            split=self.split,
            train=self.train,
            users=self.users[has],
            offsets=offsets_of(self.drawn.positives[has]),
            items=self.items[self.positive],
            ranks=ranks,
            known_users=self.known_users,
            dropped={**self.dropped, "users_without_positive": without, "users": self.dropped["users"] + without},
            unlisted=self.unlisted,
            values=None if self.values is None else self.values[self.positive],
        )

    def _inside(self, ranks: Ranks) -> Ranks:
        """Ranks among the exposed rows; two rows of a user tie if the same number of candidates is above them."""
        user, sizes = self.user, self.drawn.counts
        order = np.lexsort((ranks.above, user))
        place = np.arange(len(order)) - np.repeat(self.offsets[:-1], sizes)
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
        positives = ranks.take(self.positive)
        return replace(
            positives,
            above=(first + tied if ranks.ties == "pessimistic" else first)[self.positive],
            tied=tied[self.positive],
            candidates=sizes[user][self.positive].astype(np.int32),
            listed=listed,
            candidate_rule="listed",
        )


@dataclass(frozen=True, eq=False)
class _GainsOfPlaces:
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
    """Refuse exposed items outside the catalogue: the rest of the population is then unknown too."""
    if contest is None or not contest.dropped["items_outside_catalogue"]:
        return
    codes = split.item_vocabulary.encode(canonical(contest.catalogue_ids, "items of the catalogue"))
    outside = split.test.items[~np.isin(split.test.items, codes)]
    raise DataError(
        f"{split.test.name}: {len(outside):,} exposed rows are of items outside the population, the first is item "
        f"{split.item_vocabulary.ids[outside[0]]}, which is neither in train nor known to a model; name all items that "
        f"could be drawn with {Option('catalogue')}"
    )


def count_hits(ranks: Ranks, cutoff: int) -> float:
    """Number of rows among the first `cutoff`; rows in a tie group across it count in part."""
    inside = (cutoff - ranks.above) / (ranks.spread + 1)
    return float(np.clip(inside, 0, 1).sum())
