"""`Sample`: judged rows of one kind, with the ranks of all models."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.data import Interactions, Split
from unskew.data.pairs import look_up, pair_keys, row_keys
from unskew.errors import PropensityError
from unskew.estimators import Estimator, Kind, Places, Rows
from unskew.evaluation.collecting.sampled_ranks import Correction
from unskew.metrics import NDCG, AnyMetric, ListMetric, Metric, UserLists, scored_of
from unskew.propensities import Propensity
from unskew.ranking import Ranks


@dataclass(frozen=True, eq=False)
class Sample:
    """Held-out positives with the ranks of all models on the same rows; other kinds of row are made from it."""

    kind: ClassVar[str] = "positives"

    split: Split
    train: Interactions  # the training positives; popularity is counted on them
    users: Ints  # codes of the judged users, ascending
    offsets: Ints  # rows of the k-th judged user
    items: Ints  # item codes of the rows
    ranks: Mapping[str, Ranks]  # by model; rows as in `items`
    known_users: Bools  # which users may be judged, by code: those known to a model, or to all models
    dropped: Mapping[str, int]  # numbers of rows and users that were left out, by reason
    relevant: Floats | None = None  # number of relevant items by user code, -1 where not given
    unlisted: str = "zero"  # or "tied": what an item outside a top-N list gains under a cut-off
    absent: Floats = field(default_factory=lambda: np.empty(0))  # relevant items of known users without any row
    values: Floats | None = None  # ratings of the rows, if any
    correction: Correction | None = None  # of sampled ranks towards full ranking

    @cached_property
    def user(self) -> Ints:
        """Which judged user, from 0, each row belongs to."""
        return np.repeat(np.arange(len(self.users)), np.diff(self.offsets))

    @cached_property
    def row_users(self) -> Ints:
        """User code of each row."""
        return self.users[self.user]

    @cached_property
    def weights(self) -> Floats | None:
        """The weight of each row, relative to the mean of the test; None if all test rows have the same."""
        test = self.split.sorted_test
        if test.relative_weights is None:
            return None
        width = max(len(self.split.item_vocabulary), 1)
        return look_up(row_keys(test, width), test.relative_weights, pair_keys(self.row_users, self.items, width))

    @property
    def rows(self) -> int:
        """Number of held-out rows that are judged."""
        return len(self.items)

    @property
    def dropped_items(self) -> int:
        """Positive test rows of judged or known users that are not judged."""
        return sum(self.dropped[why] for why in ("items_outside_catalogue", "items_in_train", "rows_without_rank"))

    def judged_by(self, metric: AnyMetric) -> list[str]:
        """The models that can be judged by a metric: those that rank."""
        return list(self.ranks)

    def by_list(self, metric: AnyMetric) -> bool:
        """Whether a metric is computed from a user's rows together, not row by row."""
        return isinstance(metric, ListMetric)

    def gains(self, model: str, metric: AnyMetric, *, misses_ties: bool = False) -> Floats:
        """The gain of each row under a model; with `misses_ties` a row comes last within its tie group."""
        ranks, listed = self.ranks[model], self.listed(model)
        assert isinstance(metric, Metric | NDCG)  # the caller divides the gains of NDCG by its ideal
        if self.correction is not None and isinstance(metric, Metric):
            return self.correction.gains(metric, ranks, self.offsets, listed)
        if scored_of(metric) is not None:
            return self.rarity(metric) * metric.row_gains(ranks.above, ranks.spread, ranks.candidates, listed)
        above, tied = ranks.above, ranks.spread
        if misses_ties:
            above, tied = above + tied, np.zeros_like(tied)
        return metric.row_gains(above, tied, ranks.candidates, listed)

    def rarity(self, metric: AnyMetric) -> Floats:
        """The weight of each row under a propensity-scored metric."""
        scored, train = scored_of(metric), self.train
        assert scored is not None
        return scored.weights(train.item_counts, int(np.count_nonzero(train.user_counts)))[self.items]

    def places(self, model: str, metric: AnyMetric, *, misses_ties: bool = False) -> Places | None:
        """The gains of the metric at all places of a model's lists, for estimators that use them; else None."""
        return None

    def chances(self, propensity: Propensity) -> Floats:
        """Propensity of each row; NaN where it has none."""
        given = np.asarray(propensity(self.row_users, self.items, self.values), dtype=float)
        if given.shape != (self.rows,):
            raise PropensityError(
                f"{type(propensity).__name__} gave propensities of shape {given.shape} for {self.rows} rows; it must "
                "give one number per row"
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
        if missing.all() and self.rows:
            raise PropensityError("no held-out item has a propensity; with smoothing=0 items must occur in training")
        return given

    def to_rows(self, kind: Kind, estimator: Estimator, chances: Floats | None = None) -> Rows:
        """The rows that an estimator uses for metrics of a kind, without gains; `Rows.with_worth` adds them.

        `chances` are the propensities of the rows, where the estimator uses them; rows without one are left out, and
        from means those without weight.
        """
        kept = self._kept(kind, chances)
        user, users = self.user, self.users
        if kept is not None:
            judged = np.bincount(user[kept], minlength=len(users)) > 0
            user, users = (np.cumsum(judged) - 1)[user[kept]], users[judged]
        mean = kind == "mean"
        rows = Rows(
            worth=np.empty(0),
            user=user,
            propensity=chances if chances is None or kept is None else chances[kept],
            total=None if self.relevant is None or not mean else self.relevant[users],
            empty=self.empty_users(len(users), mean=mean) if estimator.counts_empty_users else 0,
            kept=kept,
            who=users,
            row_weight=self.weights if self.weights is None or kept is None else self.weights[kept],
        )
        if kept is None:  # known already, so they need not be counted
            vars(rows).update(counts=np.diff(self.offsets), n_users=len(users))
        return rows

    def _kept(self, kind: Kind, chances: Floats | None) -> Bools | None:
        """Which rows an estimator uses; None for all."""
        kept = None if chances is None or not np.isnan(chances).any() else ~np.isnan(chances)
        if self.weights is None or kind in {"sum", "list"} or self.weights.all():
            return kept
        return self.weights > 0 if kept is None else kept & (self.weights > 0)

    def list_values(self, model: str, metric: ListMetric, lists: UserLists | None) -> Floats:
        """The value of each user's list, with the weights of the rows where they have any."""
        if self.weights is None:
            assert lists is not None
            return metric.values(lists)
        assert isinstance(metric, NDCG)  # others are refused
        return metric.weighted_values(self.gains(model, metric), self.weights, self.offsets)

    def lists(self, model: str) -> UserLists:
        """The ranks of each user together (list metrics)."""
        ranks = self.ranks[model]
        return UserLists.from_rows(
            self.offsets, ranks.above, ranks.spread, ranks.candidates, self.listed(model), policy=ranks.ties
        )

    def listed(self, model: str) -> Ints | None:
        """Number of candidates in each row's list, if items outside a list gain nothing; else None."""
        return self.ranks[model].in_list() if self.unlisted == "zero" else None

    def served(self, model: str) -> Bools:
        """Which judged users a model knows."""
        known = self.ranks[model].known
        return np.ones(len(self.users), dtype=bool) if known is None else known[self.offsets[:-1]]

    def definition(self, metric: AnyMetric, model: str) -> str:
        """The definition of the metric, with ties and candidates, as in the report."""
        return f"{metric.definition}; ties {self.ranks[model].ties}; {self.candidates_in_words(model)}"

    def candidates_in_words(self, model: str) -> str:
        """The candidate rule of a model's ranks, and the candidates towards which sampled ranks are corrected."""
        rule = self.ranks[model].candidate_rule
        return rule if self.correction is None else f"{rule}, towards all items outside train and validation"

    def of_users(self, known: Bools, models: Collection[str]) -> Self:
        """The rows of some users, and of some models; `known` is by code."""
        chosen = known[self.users]
        part = self.where(chosen[self.user])
        return replace(
            part,
            ranks={name: ranks for name, ranks in part.ranks.items() if name in models},
            known_users=self.known_users & known,
            dropped={**self.dropped, "users": self.dropped["users"] + int(np.sum(~chosen))},
        )

    def where(self, keep: Bools) -> Self:
        """The rows where `keep` is true; users without such a row are no longer judged."""
        counts = np.bincount(self.user[keep], minlength=len(self.users))
        judged = counts > 0
        return replace(
            self,
            users=self.users[judged],
            offsets=offsets_of(counts[judged]),
            items=self.items[keep],
            ranks={name: ranks.take(keep) for name, ranks in self.ranks.items()},
            values=None if self.values is None else self.values[keep],
            **self._columns(keep),
        )

    def _columns(self, keep: Bools) -> dict[str, Any]:
        """Additional fields of a kind of sample, restricted to the rows where `keep` is true."""
        return {}

    def population(self, *, mean: bool) -> Bools:
        """Which users, by code, could have been observed; ips counts those without observations as 0.

        They are the users with relevant items if counts are known; else all that were declared, or that occur.
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
        """Number of relevant pairs that the observed ones represent; 0 if that is not known."""
        if self.relevant is None:
            return 0
        return int(self.relevant[self.population(mean=True)].sum() + self.absent.sum())
