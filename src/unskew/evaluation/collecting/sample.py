"""Judged rows of one kind, and where each model put them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.data import Interactions, Split
from unskew.errors import PropensityError
from unskew.estimators import Estimator, Kind, Places, Rows
from unskew.evaluation.collecting.sampled_ranks import Correction
from unskew.metrics import NDCG, AnyMetric, ListMetric, Metric, UserLists
from unskew.propensities import Propensity
from unskew.ranking import Ranks


@dataclass(frozen=True, eq=False)
class Sample:
    """Held-out positives with the ranks of all models on the same rows; other kinds of row are made from it.

    Parameters
    ----------
    split : Split
    train : Interactions
        The training positives, which popularity is counted on.
    users : array
        Codes of the judged users, ascending.
    offsets : array
        Rows of the k-th judged user.
    items : array
        Item codes of the rows.
    ranks : mapping
        Model to `Ranks`, rows as in `items`.
    known_users : array of bool
        Users who may be judged, by code: those known to a model, or to all models.
    dropped : mapping
        Counts of what was left out.
    relevant : array or None
        Number of relevant items by user code, -1 where not given.
    unlisted : {"zero", "tied"}
        What an item outside a top-N list gains under a cut-off.
    absent : array
        Numbers of relevant items of users whom all models know but neither train nor test holds.
    values : array or None
        Ratings of the rows, where they have any.
    correction : Correction or None
        How gains of sampled ranks are corrected towards full ranking.
    """

    kind: ClassVar[str] = "positives"

    split: Split
    train: Interactions
    users: Ints
    offsets: Ints
    items: Ints
    ranks: Mapping[str, Ranks]
    known_users: Bools
    dropped: Mapping[str, int]
    relevant: Floats | None = None
    unlisted: str = "zero"
    absent: Floats = field(default_factory=lambda: np.empty(0))
    values: Floats | None = None
    correction: Correction | None = None

    @cached_property
    def user(self) -> Ints:
        """Which judged user, from 0, each row belongs to."""
        return np.repeat(np.arange(len(self.users)), np.diff(self.offsets))

    @cached_property
    def row_users(self) -> Ints:
        """User code of each row."""
        return self.users[self.user]

    @property
    def rows(self) -> int:
        """How many held-out rows are judged."""
        return len(self.items)

    @property
    def dropped_items(self) -> int:
        """Positive test rows of judged or known users that are not judged."""
        return sum(self.dropped[why] for why in ("items_outside_catalogue", "items_in_train", "rows_without_rank"))

    def judged_by(self, metric: AnyMetric) -> list[str]:
        """The models that can be judged by a metric: those that rank."""
        return list(self.ranks)

    def by_list(self, metric: AnyMetric) -> bool:
        """Whether a metric is made from a user's rows together, and not from each."""
        return isinstance(metric, ListMetric)

    def gains(self, model: str, metric: AnyMetric, *, misses_ties: bool = False) -> Floats:
        """What each row is worth under a model.

        Parameters
        ----------
        model : str
        metric : Metric
        misses_ties : bool
            Whether a row comes last within its tie group.
        """
        ranks, listed = self.ranks[model], self.listed(model)
        assert isinstance(metric, Metric | NDCG)  # the ideal of the latter is put in by whoever asks for its gains
        if self.correction is not None and isinstance(metric, Metric):
            return self.correction.gains(metric, ranks, self.offsets, listed)
        above, tied = ranks.above, ranks.spread
        if misses_ties:
            above, tied = above + tied, np.zeros_like(tied)
        return metric.row_gains(above, tied, ranks.candidates, listed)

    def places(self, model: str, metric: AnyMetric, *, misses_ties: bool = False) -> Places | None:
        """What the metric gains at all places of a model's lists, where an estimator has a use for it."""
        return None

    def chances(self, propensity: Propensity) -> Floats:
        """Propensity of each row; NaN where it has none."""
        given = np.asarray(propensity(self.row_users, self.items, self.values), dtype=float)
        if given.shape != (self.rows,):
            raise PropensityError(
                f"{type(propensity).__name__} gave propensities of shape {given.shape} for {self.rows} rows; it must "
                "give one number a row"
            )
        missing = np.isnan(given)
        wrong = ~missing & ~((given > 0) & (given <= 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            item = self.split.item_vocabulary.ids[self.items[row]]
            raise PropensityError(
                f"propensity {given[row]:g} of item {item} is outside (0, 1]; a propensity is the probability that the "
                "row was observed"
            )
        if missing.all():
            raise PropensityError("no held-out item has a propensity; with smoothing=0 items must occur in training")
        return given

    def to_rows(self, kind: Kind, estimator: Estimator, chances: Floats | None = None) -> Rows:
        """The rows that an estimator uses for metrics of a kind; `Rows.with_worth` puts a model and a metric in.

        Parameters
        ----------
        kind : str
        estimator : Estimator
        chances : array, optional
            Propensity of each row, where the estimator uses one; rows without one are left out.
        """
        kept = None if chances is None or not np.isnan(chances).any() else ~np.isnan(chances)
        user, users = self.user, self.users
        if kept is not None:
            judged = np.bincount(user[kept], minlength=len(users)) > 0
            user, users = (np.cumsum(judged) - 1)[user[kept]], users[judged]
        mean = kind == "mean"
        return Rows(
            worth=np.empty(0),
            user=user,
            propensity=chances if chances is None or kept is None else chances[kept],
            total=None if self.relevant is None or not mean else self.relevant[users],
            empty=self.empty_users(len(users), mean=mean) if estimator.counts_empty_users else 0,
            kept=kept,
        )

    def lists(self, model: str) -> UserLists:
        """The ranks of each user together (list metrics)."""
        ranks = self.ranks[model]
        return UserLists.from_rows(
            self.offsets, ranks.above, ranks.spread, ranks.candidates, self.listed(model), policy=ranks.ties
        )

    def listed(self, model: str) -> Ints | None:
        """How many candidates each row's list holds, where being outside a list means to gain nothing."""
        return self.ranks[model].in_list() if self.unlisted == "zero" else None

    def served(self, model: str) -> Bools:
        """Which judged users a model knows."""
        known = self.ranks[model].known
        return np.ones(len(self.users), dtype=bool) if known is None else known[self.offsets[:-1]]

    def definition(self, metric: AnyMetric, model: str) -> str:
        """What exactly was computed, in words."""
        return f"{metric.definition}; ties {self.ranks[model].ties}; {self.candidates_in_words(model)}"

    def candidates_in_words(self, model: str) -> str:
        """The candidate rule of a model's ranks; a corrected one with what it is corrected towards."""
        rule = self.ranks[model].candidate_rule
        return rule if self.correction is None else f"{rule}, towards all items outside train and validation"

    def of_users(self, known: Bools, models: Collection[str]) -> Self:
        """The rows of some users, and of some models.

        Parameters
        ----------
        known : array of bool
            Which users, by code.
        models : collection of str
        """
        chosen = known[self.users]
        part = self.where(chosen[self.user])
        return replace(
            part,
            ranks={name: ranks for name, ranks in part.ranks.items() if name in models},
            known_users=self.known_users & known,
            dropped={**self.dropped, "users": self.dropped["users"] + int(np.sum(~chosen))},
        )

    def where(self, keep: Bools) -> Self:
        """Some of the rows; users without one of them are no longer judged."""
        counts = np.bincount(self.user[keep], minlength=len(self.users))
        judged = counts > 0
        changes: dict[str, Any] = self._columns(keep)
        return replace(
            self,
            users=self.users[judged],
            offsets=offsets_of(counts[judged]),
            items=self.items[keep],
            ranks={name: ranks.take(keep) for name, ranks in self.ranks.items()},
            values=None if self.values is None else self.values[keep],
            **changes,
        )

    def _columns(self, keep: Bools) -> dict[str, Any]:
        """What a kind of sample has beside, of some rows."""
        return {}

    def population(self, *, mean: bool) -> Bools:
        """Users, by code, who could have been observed; ips counts those without observations as 0.

        Those with relevant items where counts are known; else all that were declared, or that occur.
        """
        if self.relevant is not None:
            occurs = self.relevant > 0 if mean else self.relevant >= 0
        elif self.split.user_vocabulary.declared:
            occurs = np.ones(len(self.known_users), dtype=bool)
        else:
            parts = (self.split.train, self.split.test, self.split.validation)
            occurs = np.sum([part.user_counts for part in parts if part is not None], axis=0) > 0
        return np.asarray(occurs & self.known_users)

    def empty_users(self, observed: int, *, mean: bool) -> int:
        """Number of users of the population who count as 0, given how many have observations."""
        absent = np.sum(self.absent > 0) if mean else len(self.absent)
        return int(self.population(mean=mean).sum() + absent) - observed

    @property
    def pairs_in_all(self) -> int:
        """How many relevant pairs the observed ones stand for; 0 where that is not known."""
        if self.relevant is None:
            return 0
        return int(self.relevant[self.population(mean=True)].sum() + self.absent.sum())
