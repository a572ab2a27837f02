"""The models of a run: what each one can do, and how untrained ones are trained."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from unskew.data import Interactions, Split
from unskew.errors import DataError
from unskew.estimators import OVER_ALL_PAIRS
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.evaluation.fitting.selection import Chosen, Evaluate, choose_by
from unskew.evaluation.fitting.uniform_sample import UniformSample
from unskew.evaluation.run import Run
from unskew.evaluation.settings.seed_names import seed_of
from unskew.evaluation.settings.settings import DEFAULT_LOSSES, DEFAULT_METRICS
from unskew.integrations import is_dataset, read_model
from unskew.models import DebiasedModel, Model, RatingModel, StepwiseModel
from unskew.progress import say
from unskew.propensities import Column, PropensityModel
from unskew.ranking import ListScorer, Predictions, Ranks, Scorer, Threads
from unskew.ranking.scorers import kind_of

One: TypeAlias = "Scorer | Ranks | Predictions | Model | str"
ModelLike: TypeAlias = "One | tuple[One, ...]"
WEIGHTED = "snips"
"""The estimator that judges a model on validation rows, if the model weights its rows."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that is ready to be judged."""

    ranker: Scorer | Ranks | None  # what ranks, if the model does
    predictor: Scorer | Predictions | None  # what predicts ratings, if the model does
    described: str  # its word or class, for the record
    chosen_by: str = ""  # the metric that chose its step, if validation rows did
    learnt: bool = False  # whether it was trained in this run

    @property
    def table(self) -> ListScorer | None:
        """The model if it is a table of predictions, which can rank only if it covers all candidates."""
        return self.ranker if isinstance(self.ranker, ListScorer) and self.ranker is self.predictor else None

    @property
    def scorer(self) -> Scorer | None:
        """The part that gives scores for all items: the ranker, or else the predictor."""
        for part in (self.ranker, self.predictor):
            if part is not None and not isinstance(part, Ranks | Predictions) and part is not self.table:
                return part
        return None


@dataclass(frozen=True, eq=False)
class Contenders:
    """The models of a run by name, ready to be judged, and the random rows they learnt from, if any."""

    models: Mapping[str, Fitted] = field(default_factory=dict)
    uniform: UniformSample | None = None

    @property
    def described(self) -> dict[str, str]:
        """The word or class of each model."""
        return {name: model.described for name, model in self.models.items()}

    @property
    def chosen_by(self) -> dict[str, str]:
        """The metric that chose the step, for each model that was chosen by validation rows."""
        return {name: model.chosen_by for name, model in self.models.items() if model.chosen_by}


def default_metrics(models: Mapping[str, Any]) -> tuple[str, ...]:
    """Ranking metrics for models that rank, rating losses for models that only predict."""
    predicting = [_predicts_only(part) for given in models.values() for part in _parts(given)]
    ranking = () if all(predicting) else DEFAULT_METRICS
    return (*ranking, *(DEFAULT_LOSSES if any(predicting) else ()))


def read_models(
    models: Mapping[str, Any], split: Split | None = None, *, kept: tuple[type, ...] = ()
) -> dict[str, Any]:
    """Return the models, those of other packages and data frames read as scorers.

    Parameters
    ----------
    models : mapping
    split : Split, optional
        For models that have no ids of their own; None if it is read part by part.
    kept : tuple of type
        What is returned as it is.
    """
    if not isinstance(models, Mapping):
        raise DataError(f"models must be a mapping from names, as in {{'mine': model}}, not {type(models).__name__}")
    if not models:
        raise DataError("there is no model to judge; give at least one")
    return {
        name: given if isinstance(given, kept) else _read_parts(given, name, split) for name, given in models.items()
    }


def fit_models(
    run: Run,
    models: Mapping[str, ModelLike],
    weighting: PropensityModel,
    evaluate: Evaluate,
    *,
    uniform: Interactions | None = None,
    checkpoints: str | Path | None = None,
) -> Contenders:
    """Train the models that are not trained yet.

    `weighting` is the propensity of training rows, for models that weight by one and have none of their own; `evaluate`
    judges models on validation rows.
    """
    sample = None if uniform is None else UniformSample.within(uniform, run.split)
    folder = None if checkpoints is None else Path(checkpoints)
    trainer = _Trainer(run, weighting, evaluate, None if sample is None else sample.known, folder)
    elsewhere = trainer.fit_elsewhere(models)
    return Contenders(
        {name: elsewhere[name] if name in elsewhere else trainer.fit(name, given) for name, given in models.items()},
        sample,
    )


@dataclass(frozen=True, eq=False)
class _Trainer:
    """Trains one model after the other."""

    run: Run
    weighting: PropensityModel
    evaluate: Evaluate
    uniform: Interactions | None
    checkpoints: Path | None

    def fit_elsewhere(self, models: Mapping[str, ModelLike]) -> dict[str, Fitted]:
        """Train all models that are not trained yet at the same time, if the engine is not this process."""
        given = {
            name: model for name, model in models.items() if all(isinstance(p, str | Model) for p in _parts(model))
        }
        if isinstance(self.run.engine, Threads) or self.checkpoints is not None:
            return {}
        # a worker has one core, and neither a cluster of its own nor a progress bar
        there = replace(self, run=replace(self.run, engine=Threads(1), threads=1, progress=None))
        report, fitted = self.run.doing("training", "all models"), {}
        for name, model in zip(given, self.run.engine.map(there.fit_one, list(given.items())), strict=True):
            fitted[name] = model
            if report is not None:
                report(len(fitted), len(given))
        return fitted

    def fit_one(self, named: tuple[str, ModelLike]) -> Fitted:
        """`fit`, for a map over names and models."""
        return self.fit(*named)

    def fit(self, name: str, given: ModelLike) -> Fitted:
        """Return a model ready to be judged, from the parts that rank and that predict."""
        parts = [self._fit(name, part) for part in _parts(given)]
        alone = len(parts) == 1  # next to something that ranks, a table of predictions only predicts
        rankers = [part.ranker for part in parts if part.ranker is not None and (alone or part.table is None)]
        predictors = [part.predictor for part in parts if part.predictor is not None]
        if not parts or len(rankers) > 1 or len(predictors) > 1:
            raise DataError(f"model {name!r}: give one part that ranks, one that predicts ratings, or one of each")
        return Fitted(
            rankers[0] if rankers else None,
            predictors[0] if predictors else None,
            " and ".join(part.described for part in parts),
            next((part.chosen_by for part in parts if part.chosen_by), ""),
            learnt=any(isinstance(part, str | Model) for part in _parts(given)),
        )

    def _fit(self, name: str, given: One) -> Fitted:
        model = Model.from_word(given) if isinstance(given, str) else read_model(given, name, self.run.split)
        if isinstance(model, Predictions):
            return Fitted(None, model, type(model).__name__)
        if isinstance(model, Ranks):
            return Fitted(model, None, type(model).__name__)
        if isinstance(model, StepwiseModel):
            return self._choose(name, model)
        if isinstance(model, DebiasedModel):
            return self._debias(name, model)
        described = kind_of(model)
        if isinstance(model, Model):
            rows = self.run.positives
            if isinstance(model, RatingModel):
                model, rows = self._with_training_propensity(model)
            described = str(model)
            model = model.fit(rows, rng=self._seed(name), progress=self.run.doing("training", name))
        return Fitted(model, model if getattr(model, "ratings", False) else None, described)

    def _seed(self, name: str) -> int:
        """The seed of an entry: that of the run, and for ``als/seed3`` three more, so that its seeds differ."""
        return self.run.settings.seed + seed_of(name)

    def _choose(self, name: str, model: StepwiseModel) -> Fitted:
        """Train, and choose the step by the run's first ranking metric if there are validation rows.

        A model that weights its rows is judged with the same weights, by the first metric that they can correct.
        """
        run, train = self.run, self.run.positives
        word = str(getattr(model, "propensity", ""))  # the propensity it weights its rows with; empty without weights
        fit = [
            metric
            for metric in run.settings.metrics
            if metric.kind not in {*OVER_ALL_PAIRS, "content"} and (metric.kind == "mean" or not word)
        ]
        metric = str(fit[0]) if fit else DEFAULT_METRICS[0]
        weighted: dict[str, Any] = {}
        if word:
            propensity = PropensityModel.from_word(word)
            train = train.with_propensity(training_propensity(propensity, train, scaled=False))
            weighted = {"estimator": WEIGHTED, "propensity": word}
        chosen: Chosen = choose_by(
            self.evaluate,
            model,
            run.split,
            [metric],
            train=train,
            positive=run.settings.positive,
            rng=self._seed(name),
            threads=run.threads,
            checkpoints=self.checkpoints,
            name=name,
            progress=run.progress,
            **weighted,
        )[metric]
        form = f"{WEIGHTED} of " if word else ""
        by = "" if chosen.value is None else f"{form}{chosen.metric} on validation"
        return Fitted(chosen.scorer, None, str(chosen.model), by)

    def _debias(self, name: str, model: DebiasedModel) -> Fitted:
        """Train on labelled rows, positive or not; validation rows choose the epoch by their AUC."""
        run = self.run
        validation = None if run.split.validation is None else _labels(run.split.validation, run.settings.positive)
        trained = model.train(
            _labels(run.split.train, run.settings.positive),
            uniform=self.uniform,
            validation=validation,
            rng=self._seed(name),
            progress=run.doing("training", name),
            say=say(run.progress, name),
        )
        by = "" if validation is None else "auc of labels on validation"
        return Fitted(trained.scorer, None, str(replace(model, epochs=trained.best_epoch) if by else model), by)

    def _with_training_propensity(self, model: RatingModel) -> tuple[RatingModel, Interactions]:
        """Return the model and the training rows with propensities: its own, those of the rows, or the run's."""
        train = self.run.split.train
        if not model.uses_propensity:
            return model, train
        given: str = getattr(model, "propensity", "")
        settings_of_model: Any = model  # a dataclass, which its abstract base does not say
        if not given and train.propensity is not None:
            return replace(settings_of_model, propensity=str(Column())), train
        word = PropensityModel.from_word(given) if given else self.weighting
        named = model if given else replace(settings_of_model, propensity=str(word))
        return named, train.with_propensity(training_propensity(word, train))


def _parts(given: ModelLike) -> tuple[One, ...]:
    return given if isinstance(given, tuple) else (given,)


def _read_parts(given: Any, name: str, split: Split | None) -> Any:
    """A model, or the parts of one: a pair of a model and its data set is one model."""
    if isinstance(given, tuple) and not (len(given) == 2 and is_dataset(given[1])):
        return tuple(read_model(part, name, split) for part in given)
    return read_model(given, name, split)


def _predicts_only(part: Any) -> bool:
    return isinstance(part, Predictions) or getattr(part, "predicts_only", False)


def _labels(rows: Interactions, positive: str | None) -> Interactions:
    """The rows with labels: by the condition if they have its column, else their own labels, or 1."""
    if positive is None:
        return rows
    try:
        return rows.labelled(positive)
    except DataError:  # no such column, so all rows are positives
        return rows.labelled()
