"""`Shown`: the top lists of the judged users, for metrics of what is in them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data.vocabulary import canonical
from unskew.estimators import Estimator, Kind, Rows
from unskew.evaluation.collecting.sample import Sample
from unskew.metrics import AnyMetric, TopItems
from unskew.ranking import Contest


@dataclass(frozen=True, eq=False)
class Shown(Sample):
    """The judged users with the top lists of all models; held-out rows play no part."""

    kind: ClassVar[str] = "shown"

    lists_by_model: Mapping[str, Ints] = field(default_factory=dict)  # places in the catalogue; -1 where shorter
    counts: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # training users by place in the catalogue
    training_users: int = 0

    @property
    def rows(self) -> int:
        """One per user."""
        return len(self.users)

    @property
    def dropped_items(self) -> int:
        """None: held-out rows play no part."""
        return 0

    def judged_by(self, metric: AnyMetric) -> list[str]:
        """The models that have lists."""
        return list(self.lists_by_model)

    def by_list(self, metric: AnyMetric) -> bool:
        """True: the lists of a model are used together."""
        return True

    def lists(self, model: str) -> Any:
        """The lists of a model."""
        return TopItems(self.lists_by_model[model], self.counts, self.training_users)

    def to_rows(self, kind: Kind, estimator: Estimator, chances: Floats | None = None) -> Rows:
        """One row per user."""
        return Rows(worth=np.empty(0), user=np.arange(len(self.users)), who=self.users)

    def definition(self, metric: AnyMetric, model: str) -> str:
        """The definition of the metric, with ties and candidates."""
        return f"{metric.definition}; ties {self.ties_in_words}; {self.split.rule}"

    @property
    def ties_in_words(self) -> str:
        """How ties at the end of a list are broken."""
        ties = next(iter(self.ranks.values())).ties
        return "ordinal" if ties == "ordinal" else "drawn by the seed"

    def of_users(self, known: Bools, models: Collection[str]) -> Self:
        """The lists of some users, and of some models; `known` is by code."""
        chosen = known[self.users]
        part = super().of_users(known, models)
        return replace(
            part,
            lists_by_model={name: lists[chosen] for name, lists in self.lists_by_model.items() if name in models},
        )


def make_shown(sample: Sample, contest: Contest, lists: Mapping[str, Ints]) -> Shown:
    """The lists of the users of a sample; `lists` has those of all users of the contest."""
    train = sample.train
    codes = sample.split.item_vocabulary.encode(canonical(contest.catalogue_ids, "items of the catalogue"))
    chosen = np.searchsorted(contest.users, sample.users)
    inherited = {each.name: getattr(sample, each.name) for each in fields(Sample)}
    return Shown(
        **inherited,
        lists_by_model={name: each[chosen] for name, each in lists.items()},
        counts=np.where(codes >= 0, train.item_counts[codes], 0),
        training_users=int(np.count_nonzero(train.user_counts)),
    )
