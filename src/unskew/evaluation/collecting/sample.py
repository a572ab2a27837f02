"""What the estimates are made from: the held-out rows and where each model put them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions, Split
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError, PropensityError
from unskew.evaluation.collecting.sampled_ranks import Correction
from unskew.metrics import AnyMetric, Metric, RatingLoss, UserLists
from unskew.propensities import Propensity
from unskew.ranking import Predictions, Ranks


@dataclass(frozen=True, eq=False)
class Evidence:
    """Ranks of all models on the same rows.

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
    predictions : mapping
        Model to predicted ratings of the rows, for the models that predict.
    pairs : array
        How many candidates each user has, by code; metrics over all pairs need it.
    correction : Correction or None
        How gains of sampled ranks are corrected towards full ranking.
    """

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
    predictions: Mapping[str, Predictions] = field(default_factory=dict)
    pairs: Floats = field(default_factory=lambda: np.empty(0))
    correction: Correction | None = None

    @cached_property
    def user(self) -> Ints:
        """Which judged user, from 0, each row belongs to."""
        return np.repeat(np.arange(len(self.users)), np.diff(self.offsets))

    @property
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

    @cached_property
    def predicted(self) -> Bools | None:
        """Which rows all models that predict have a prediction for; None for all."""
        missing = [np.isnan(given.predicted) for given in self.predictions.values()]
        return ~np.any(missing, axis=0) if np.any(missing) else None

    def gains(self, model: str, metric: AnyMetric) -> Floats:
        """Worth of each row: its gain, its loss, or its gain times its rating."""
        if isinstance(metric, RatingLoss):
            predictions = self.predictions[model]
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused, in words
                losses = self._per_row(metric.loss(predictions.values, predictions.predicted), metric)
            self._check_finite(losses, metric, model)
            return losses
        ranks = self.ranks[model]
        assert isinstance(metric, Metric)
        if self.correction is not None:
            return self.correction.gains(metric, ranks, self.offsets, self.listed(model))
        gains = metric.row_gains(ranks.above, ranks.spread, ranks.candidates, self.listed(model))
        return gains * self.values if metric.kind == "graded" and self.values is not None else gains

    def _per_row(self, losses: Floats, metric: AnyMetric) -> Floats:
        """The losses, or an error when there is not one a row, as a class of the user's own may have it."""
        if np.shape(losses) != (self.rows,):
            raise ConfigError(
                f"{metric} gave losses of shape {np.shape(losses)} for {self.rows} rows; loss(values, predicted) gives "
                "one number a row"
            )
        return np.asarray(losses, dtype=float)

    def _check_finite(self, losses: Floats, metric: AnyMetric, model: str) -> None:
        predicted = self.predictions[model].predicted
        wrong = ~np.isfinite(losses) & ~np.isnan(predicted)
        if wrong.any():
            row = int(np.argmax(wrong))
            user, item = self.split.user_vocabulary.ids[self.row_users[row]], self.items[row]
            raise DataError(
                f"{metric} of model {model!r} is {losses[row]} for user {user}, item "
                f"{self.split.item_vocabulary.ids[item]}, predicted {predicted[row]:g}; check ratings and predictions"
            )

    def judged_by(self, metric: AnyMetric) -> list[str]:
        """The models that can be judged by a metric: those that predict, or those that rank."""
        return list(self.predictions if isinstance(metric, RatingLoss) else self.ranks)

    def propensities(self, propensity: Propensity) -> tuple[Floats, Bools | None]:
        """Propensity of each row, and which rows have one (None for all)."""
        given = np.asarray(propensity(self.row_users, self.items, self.values), dtype=float)
        if given.shape != (self.rows,):
            raise PropensityError(
                f"{type(propensity).__name__} gave propensities of shape {given.shape} for {self.rows} rows; it must "
                "give one number a row"
            )
        has = ~np.isnan(given)
        wrong = has & ~((given > 0) & (given <= 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            item = self.split.item_vocabulary.ids[self.items[row]]
            raise PropensityError(
                f"propensity {given[row]:g} of item {item} is outside (0, 1]; a propensity is the probability that the "
                "row was observed"
            )
        if not has.any():
            raise PropensityError("no held-out item has a propensity; with smoothing=0 items must occur in training")
        return given, None if has.all() else has

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

    def of_users(self, known: Bools, models: Collection[str]) -> "Evidence":
        """The rows of some users, and of some models.

        Parameters
        ----------
        known : array of bool
            Which users, by code.
        models : collection of str
        """
        chosen = known[self.users]
        rows = chosen[self.user]
        return replace(
            self,
            users=self.users[chosen],
            offsets=np.append(0, np.cumsum(np.diff(self.offsets)[chosen])).astype(np.int64),
            items=self.items[rows],
            ranks={name: ranks.take(rows) for name, ranks in self.ranks.items() if name in models},
            known_users=self.known_users & known,
            dropped={**self.dropped, "users": self.dropped["users"] + int(np.sum(~chosen))},
            values=None if self.values is None else self.values[rows],
            predictions={
                name: Predictions(made.users[rows], made.items[rows], made.values[rows], made.predicted[rows])
                for name, made in self.predictions.items()
                if name in models
            },
        )

    def candidates_in_words(self, model: str) -> str:
        """The candidate rule of a model's ranks; a corrected one with what it is corrected towards."""
        rule = self.ranks[model].candidate_rule
        return rule if self.correction is None else f"{rule}, towards all items outside train and validation"

    def population(self, *, mean: bool) -> Bools:
        """Users, by code, of whom something could have been observed, which ips counts as 0 where nothing was.

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
        """How many users of the population count as 0, when so many have something observed."""
        absent = np.sum(self.absent > 0) if mean else len(self.absent)
        return int(self.population(mean=mean).sum() + absent) - observed


def relevant_counts(counts: Any, split: Split, users: Ints) -> tuple[Floats, pl.Series, Floats]:
    """Number of relevant items by user code, and the ids and counts of users that neither train nor test holds.

    Parameters
    ----------
    counts : mapping or frame
        User to number, or columns ``user`` and ``relevant``.
    split : Split
    users : array
        Codes of the judged users.

    Raises
    ------
    DataError
        When a judged user has no count.
    """
    if isinstance(counts, Mapping):
        ids: Any = np.array([str(key) for key in counts])
        numbers = np.array(list(counts.values()), dtype=float)
    else:
        import narwhals as nw

        frame = nw.from_native(counts, eager_only=True)
        for column in ("user", "relevant"):
            if column not in frame.columns:
                raise DataError(f"relevant counts: no column {column!r} (there are {', '.join(frame.columns)})")
        ids = pl.Series(frame["user"].to_list())
        numbers = pl.Series(frame["relevant"].to_list()).cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = ~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if bad.any():
        raise DataError(f"relevant counts: row {int(np.argmax(bad)) + 1} is not a whole number of 0 or more")
    users_given = canonical(ids, "users of the relevant counts")
    if users_given.is_duplicated().any():
        twice = users_given.filter(users_given.is_duplicated())[0]
        raise DataError(f"relevant counts: user {twice} stands more than once; give one count a user")
    codes = split.user_vocabulary.encode(users_given)
    by_user = np.full(len(split.user_vocabulary), -1.0)
    by_user[codes[codes >= 0]] = numbers[codes >= 0]
    missing = by_user[users] < 0
    if missing.any():
        user = split.user_vocabulary.ids[users[int(np.argmax(missing))]]
        raise DataError(
            f"relevant counts: {int(missing.sum())} of {len(users)} test users have none, the first is {user}; "
            "every user with test rows needs a count"
        )
    return by_user, users_given.filter(pl.Series(codes < 0)), numbers[codes < 0]


def check_counts(relevant: Floats, users: Ints, rows: Ints, split: Split) -> None:
    """Refuse counts smaller than what was observed."""
    short = relevant[users] < rows
    if short.any():
        k = int(np.argmax(short))
        raise DataError(
            f"relevant counts: user {split.user_vocabulary.ids[users[k]]} has {int(relevant[users[k]])} relevant "
            f"items but {rows[k]} held-out ones; a count covers all relevant items, observed or not"
        )
