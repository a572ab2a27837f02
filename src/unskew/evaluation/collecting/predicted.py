"""`Ratings`: the rated rows of a test, with what each model predicts for them or how it ranks them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data.candidates import All, Listed
from unskew.errors import ConfigError, DataError, Option
from unskew.estimators import OVER_ALL_PAIRS, Estimator, Kind, Rows
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.fitting.models import Fitted
from unskew.evaluation.run import Run
from unskew.metrics import AnyMetric, RatingLoss
from unskew.ranking import Contest, ListScorer, Predictions, Ranks, look_up, predict


@dataclass(frozen=True, eq=False)
class Ratings(Sample):
    """All rows with a rating, for metrics over all pairs of a user and an item."""

    kind: ClassVar[str] = "ratings"
    predictions: Mapping[str, Predictions] = field(default_factory=dict)  # by model, of those that predict
    pairs: Floats = field(default_factory=lambda: np.empty(0))  # candidates of each user, by code

    @cached_property
    def predicted(self) -> Bools | None:
        """Which rows have a prediction of every model that predicts; None for all rows."""
        missing = [np.isnan(given.predicted) for given in self.predictions.values()]
        return ~np.any(missing, axis=0) if np.any(missing) else None

    def judged_by(self, metric: AnyMetric) -> list[str]:
        """The models that can be judged by a metric: those that predict, or those that rank."""
        return list(self.predictions if isinstance(metric, RatingLoss) else self.ranks)

    def gains(self, model: str, metric: AnyMetric, *, misses_ties: bool = False) -> Floats:
        """The loss of each row, or its gain times its rating."""
        if not isinstance(metric, RatingLoss):
            assert self.values is not None
            return super().gains(model, metric) * self.values
        predictions = self.predictions[model]
        with np.errstate(over="ignore", invalid="ignore"):  # `_check_finite` refuses what is not finite
            losses = self._per_row(metric.loss(predictions.values, predictions.predicted), metric)
        self._check_finite(losses, metric, model)
        return losses

    def to_rows(self, kind: Kind, estimator: Estimator, chances: Floats | None = None) -> Rows:
        """The rated rows that have a propensity and, for a loss, predictions of all models."""
        kept = np.ones(self.rows, dtype=bool) if chances is None else ~np.isnan(chances)
        if self.weights is not None:
            kept &= self.weights > 0
        if kind == "loss" and self.predicted is not None:
            kept &= self.predicted
        users, user = np.unique(self.row_users[kept], return_inverse=True)
        graded = kind == "graded"
        return Rows(
            worth=np.empty(0),
            user=user,
            propensity=None if chances is None else chances[kept],
            item=np.unique(self.items[kept], return_inverse=True)[1],
            size=1 / self.pairs[users][user] if graded else None,
            total=self._totals(users, graded=graded),
            kept=None if kept.all() else kept,
            who=users,
            row_weight=None if self.weights is None else self.weights[kept],
        )

    def of_users(self, known: Bools, models: Collection[str]) -> Self:
        """The rows of some users, by code, and the ranks and predictions of some models."""
        part = super().of_users(known, models)
        return replace(part, predictions={name: given for name, given in part.predictions.items() if name in models})

    def definition(self, metric: AnyMetric, model: str) -> str:
        """The definition of the metric, as in the report."""
        return f"{metric.definition}; {self.split.rule}" if metric.kind == "loss" else super().definition(metric, model)

    @property
    def pairs_in_all(self) -> int:
        """Number of pairs that the observed ones represent: all candidates of the population."""
        return int(self.pairs[self.population(mean=False)].sum())

    def _columns(self, keep: Bools) -> dict[str, Any]:
        return {
            "predictions": {
                name: Predictions(given.users[keep], given.items[keep], given.values[keep], given.predicted[keep])
                for name, given in self.predictions.items()
            }
        }

    def _totals(self, users: Ints, *, graded: bool) -> Floats:
        """Pairs of the users with rows, then of the rest of the population; 1 each for a sum over a user's items."""
        rest = self.population(mean=False)
        rest[users] = False
        pairs = np.concatenate([self.pairs[users], self.pairs[rest]])
        return (pairs > 0).astype(float) if graded else pairs

    def _per_row(self, losses: Floats, metric: AnyMetric) -> Floats:
        """Return the losses; refuse those of a user's class that does not give one per row."""
        if np.shape(losses) != (self.rows,):
            raise ConfigError(
                f"{metric} gave losses of shape {np.shape(losses)} for {self.rows} rows; loss(values, predicted) must "
                "give one number per row"
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


def collect_ratings(run: Run, models: Mapping[str, Fitted], contest: Contest, ranks: Mapping[str, Ranks]) -> Ratings:
    """Return all rows with a rating, with the predictions of the models that predict.

    `contest` is over all rated rows; `ranks` is empty unless a metric ranks them.
    """
    settings = run.settings
    assert contest.values is not None
    for name, each in ranks.items():
        if not (np.array_equal(each.users, contest.row_users) and np.array_equal(each.items, contest.items)):
            raise DataError(f"ranks of {name!r} do not have all rated test rows; make them without a condition")
    predicted: dict[str, Floats] = {}
    if any(metric.kind == "loss" for metric in settings.metrics):
        predicting = [name for name, model in models.items() if model.predictor is not None]
        predicted = {name: _predict(run, name, models[name], contest) for name in predicting}
    missing = int(np.sum(np.any([np.isnan(column) for column in predicted.values()], axis=0))) if predicted else 0
    if missing:
        _check_missing(run, models, predicted, contest, missing)
    return Ratings(
        split=run.split,
        train=run.positives,
        users=contest.users,
        offsets=contest.offsets,
        items=contest.items,
        ranks=ranks,
        known_users=contest.known_users,
        dropped={**contest.dropped, "rows_without_prediction": missing},
        unlisted=settings.unlisted,
        values=contest.values,
        predictions={
            name: Predictions(contest.row_users, contest.items, contest.values, column)
            for name, column in predicted.items()
        },
        pairs=_count_pairs(run, contest, ranks),
    )


def check_rated(run: Run) -> None:
    """Refuse metrics over ratings where the test has none."""
    if run.split.test.values is None:
        metric = next(metric for metric in run.settings.metrics if metric.kind in OVER_ALL_PAIRS)
        raise DataError(
            f"{run.split.test.name} has no column 'rating', which {metric} needs; name it with {Option('rating_col')}"
        )


def _predict(run: Run, name: str, model: Fitted, contest: Contest) -> Floats:
    """Predictions of a model for the rows of a contest; NaN where it has none."""
    predictor = model.predictor
    if isinstance(predictor, Predictions):
        predictor.check(run.split, name)
        return predictor.of(contest.row_users, contest.items)
    if isinstance(predictor, ListScorer):
        return look_up(predictor, run.split, contest.row_users, contest.items)
    assert predictor is not None
    return predict(predictor, contest, name=name)


def _check_missing(
    run: Run, models: Mapping[str, Fitted], predicted: Mapping[str, Floats], contest: Contest, rows: int
) -> None:
    """Refuse rows without a prediction, unless they may be left out, some remain, and no estimator needs all."""
    name = max(predicted, key=lambda name: int(np.sum(np.isnan(predicted[name]))))
    missing = np.isnan(predicted[name])
    everywhere = rows == len(contest)
    if run.settings.allow_missing and not everywhere:
        for metric, estimator in run.settings.pairs:
            if metric.kind == "loss" and estimator.counts_empty_users:
                raise ConfigError(
                    f"{estimator} of {metric} is over all pairs, so every test row needs a prediction, but "
                    f"{rows:,} have none; use snips, or predict them"
                )
        return
    row = int(np.argmax(missing))
    user, item = contest.user_ids[contest.row_users[row]], contest.catalogue_ids[contest.columns[row]]
    what = f"model {name!r} has no prediction for {int(missing.sum()):,} of {len(contest):,} test rows"
    looked_up = isinstance(models[name].predictor, Predictions | ListScorer)
    hint = (
        ("are its user and item ids those of the test?" if looked_up else "it knows none of the items in the test")
        if everywhere
        else f"predict them, or leave them out for all models with {Option('allow_missing', True)}"
    )
    raise DataError(f"{what}, the first is user {user}, item {item}; {hint}")


def _count_pairs(run: Run, contest: Contest, ranks: Mapping[str, Ranks]) -> Floats:
    """Number of candidates of each user, by code, judged or not."""
    split = run.split
    if isinstance(split.rule, Listed):
        listed = np.zeros(len(split.user_vocabulary))
        listed[contest.users] = contest.candidates
        return listed
    seen = split.train.seen_counts * (not isinstance(split.rule, All))
    catalogue = contest.catalogue_size
    if ranks:  # those made before may be among items that no model here knows
        first = next(iter(ranks.values()))
        catalogue = int(first.candidates[0] + seen[first.users[0]])
    return np.asarray(float(catalogue) - seen)
