"""The models of a run: what each can do, and how those that are not yet trained are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions, Split
from unskew.data.vocabulary import Vocabulary
from unskew.errors import ConfigError, DataError, Option
from unskew.evaluation.fitting.selection import Chosen, Evaluate, choose_by, say
from unskew.evaluation.settings.settings import DEFAULT_LOSSES, DEFAULT_METRICS, OVER_ALL_PAIRS, Settings
from unskew.models import DebiasedModel, Model, RatingModel, StepwiseModel
from unskew.progress import Stage, stage
from unskew.propensities import Column, ObservationModel, Propensity, PropensityModel
from unskew.ranking import ListScorer, Predictions, Ranks, Scorer, scores_from_frame

One: TypeAlias = "Scorer | Ranks | Predictions | Model | str"
Judged: TypeAlias = "One | tuple[One, ...]"
WEIGHTED = "snips"
"""How a model that weights its rows is judged on validation rows."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that is ready to be judged.

    Parameters
    ----------
    ranker : Scorer, Ranks or None
        What ranks, if the model does.
    predictor : Scorer, Predictions or None
        What predicts ratings, if the model does.
    described : str
        The model in words, for the record.
    chosen_by : str
        What chose its step, where it learns step by step and there are validation rows.
    learnt : bool
        Whether it was trained in this run.
    """

    ranker: Scorer | Ranks | None
    predictor: Scorer | Predictions | None
    described: str
    chosen_by: str = ""
    learnt: bool = False

    @property
    def table(self) -> ListScorer | None:
        """The table of predictions that it is, which ranks only where it covers all candidates."""
        return self.ranker if isinstance(self.ranker, ListScorer) and self.ranker is self.predictor else None

    @property
    def scorer(self) -> Scorer | None:
        """What gives scores for all items: the ranker, or else the predictor."""
        for part in (self.ranker, self.predictor):
            if part is not None and not isinstance(part, Ranks | Predictions) and part is not self.table:
                return part
        return None


def default_metrics(models: Mapping[str, Any]) -> tuple[str, ...]:
    """Ranking metrics for models that rank, rating losses for those that come as predictions."""
    parts = [part for given in models.values() for part in (given if isinstance(given, tuple) else (given,))]
    predicting = [_predicts_only(part) for part in parts]
    ranking = () if all(predicting) else DEFAULT_METRICS
    return (*ranking, *(DEFAULT_LOSSES if any(predicting) else ()))


def read_frames(models: Mapping[str, Any]) -> dict[str, Any]:
    """The models with each data frame among them read as a table of scores, as a file of scores would be."""
    return {
        name: tuple(_read_frame(name, part) for part in given) if isinstance(given, tuple) else _read_frame(name, given)
        for name, given in models.items()
    }


def _read_frame(name: str, given: Any) -> Any:
    if isinstance(given, str | Model | Ranks | Predictions | type) or not hasattr(given, "columns"):
        return given
    import narwhals as nw

    frame = nw.from_native(given, eager_only=True, pass_through=True)
    return scores_from_frame(frame, name=f"model {name!r}") if isinstance(frame, nw.DataFrame) else given


def _predicts_only(part: Any) -> bool:
    return isinstance(part, Predictions) or (isinstance(part, ListScorer) and part.ratings)


def fit_all(
    models: Mapping[str, Judged],
    split: Split,
    train: Interactions,
    settings: Settings,
    evaluate: Evaluate,
    progress: Stage | None,
    checkpoints: Path | None = None,
    threads: int | None = None,
    uniform: Interactions | None = None,
) -> dict[str, Fitted]:
    """Train what is to be trained.

    Parameters
    ----------
    models : mapping
    split : Split
    train : Interactions
        The training positives; rating models learn from all rated rows of the split's train.
    settings : Settings
    evaluate : callable
        What judges models on validation rows.
    progress : callable, optional
    checkpoints : Path, optional
        A folder for models that learn step by step.
    threads : int, optional
        Of their training.
    uniform : Interactions, optional
        Labelled rows that were drawn at random, coded as the split is, for models that learn from them too.
    """
    fitted = {}
    for name, given in models.items():
        parts = [
            _fit(name, part, split, train, settings, evaluate, progress, checkpoints, threads, uniform)
            for part in (given if isinstance(given, tuple) else (given,))
        ]
        alone = len(parts) == 1  # beside something that ranks, a table of predictions only predicts
        rankers = [part.ranker for part in parts if part.ranker is not None and (alone or part.table is None)]
        predictors = [part.predictor for part in parts if part.predictor is not None]
        if not parts or len(rankers) > 1 or len(predictors) > 1:
            raise DataError(f"model {name!r}: give one thing that ranks, one that predicts ratings, or one of each")
        fitted[name] = Fitted(
            rankers[0] if rankers else None,
            predictors[0] if predictors else None,
            " and ".join(part.described for part in parts),
            next((part.chosen_by for part in parts if part.chosen_by), ""),
            learnt=any(isinstance(part, str | Model) for part in (given if isinstance(given, tuple) else (given,))),
        )
    return fitted


def _fit(
    name: str,
    given: One,
    split: Split,
    train: Interactions,
    settings: Settings,
    evaluate: Evaluate,
    progress: Stage | None,
    checkpoints: Path | None,
    threads: int | None,
    uniform: Interactions | None,
) -> Fitted:
    model = Model.from_word(given) if isinstance(given, str) else _read_frame(name, given)
    if isinstance(model, type) or not isinstance(model, Model | Ranks | Predictions | Scorer):
        kind = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise DataError(
            f"model {name!r} is {kind}; give an object with a method score(users), Ranks, Predictions, a frame with "
            "columns user, item and score, or a word such as 'als'"
        )
    if isinstance(model, Predictions):
        return Fitted(None, model, type(model).__name__)
    if isinstance(model, Ranks):
        return Fitted(model, None, type(model).__name__)
    described = type(model).__name__
    if isinstance(model, StepwiseModel):
        chosen = _choose(name, model, split, train, settings, evaluate, progress, checkpoints, threads)
        form = f"{WEIGHTED} of " if _weighting(model) else ""
        by = "" if chosen.value is None else f"{form}{chosen.metric} on validation"
        return Fitted(chosen.scorer, None, str(chosen.model), by)
    if isinstance(model, DebiasedModel):
        return _debias(name, model, split, settings, progress, uniform)
    if isinstance(model, Model):
        rows = train
        if isinstance(model, RatingModel):
            model, rows = _with_training_propensity(model, split.train, settings)
        described = str(model)
        model = model.fit(rows, rng=settings.seed, progress=None if progress is None else stage(progress, name))
    return Fitted(model, model if getattr(model, "ratings", False) else None, described)


def _debias(
    name: str,
    model: DebiasedModel,
    split: Split,
    settings: Settings,
    progress: Stage | None,
    uniform: Interactions | None,
) -> Fitted:
    """Train on labelled rows, positive or not; validation rows choose the epoch by their AUC."""
    validation = None if split.validation is None else _labels(split.validation, settings.positive)
    trained = model.train(
        _labels(split.train, settings.positive),
        uniform=uniform,
        validation=validation,
        rng=settings.seed,
        progress=None if progress is None else stage(progress, name),
        tell=say(progress, name),
    )
    by = "" if validation is None else "auc of labels on validation"
    return Fitted(trained.scorer, None, str(replace(model, epochs=trained.best_epoch) if by else model), by)


def _labels(rows: Interactions, positive: str | None) -> Interactions:
    """The rows with labels: by the condition where they have its column, else their own, or 1 where they have none."""
    if positive is None:
        return rows
    try:
        return rows.labelled(positive)
    except DataError:  # no such column, so all rows are positives
        return rows.labelled()


def _choose(
    name: str,
    model: StepwiseModel,
    split: Split,
    train: Interactions,
    settings: Settings,
    evaluate: Evaluate,
    progress: Stage | None,
    checkpoints: Path | None,
    threads: int | None,
) -> Chosen:
    """Train with the run's first ranking metric as the judge, where there are validation rows.

    A model that weights its rows is judged with the same weights, by the first metric that they can correct.
    """
    word = _weighting(model)
    fit = [
        metric
        for metric in settings.metrics
        if metric.kind not in OVER_ALL_PAIRS and (metric.kind == "mean" or not word)
    ]
    metric = str(fit[0]) if fit else DEFAULT_METRICS[0]
    weighted: dict[str, Any] = {}
    if word:
        propensity = PropensityModel.from_word(word)
        train = train.with_propensity(training_propensity(propensity, train, scaled=False))
        weighted = {"estimator": WEIGHTED, "propensity": word}
    return choose_by(
        evaluate,
        model,
        split,
        [metric],
        train=train,
        positive=settings.positive,
        rng=settings.seed,
        threads=threads,
        checkpoints=checkpoints,
        name=name,
        progress=progress,
        **weighted,
    )[metric]


def _weighting(model: StepwiseModel) -> str:
    """The word of the propensity that a model weights its rows with; empty when it does not."""
    return str(getattr(model, "propensity", ""))


def _with_training_propensity(
    model: RatingModel, train: Interactions, settings: Settings
) -> tuple[RatingModel, Interactions]:
    """The training rows with the propensities the model learns with: its own, those of the rows, or the run's."""
    if not model.uses_propensity:
        return model, train
    own: str = getattr(model, "propensity", "")
    settings_of_model: Any = model  # a dataclass, which its abstract base does not say
    if not own and train.propensity is not None:
        return replace(settings_of_model, propensity=str(Column())), train
    word = PropensityModel.from_word(own) if own else settings.propensity
    named = model if own else replace(settings_of_model, propensity=str(word))
    return named, train.with_propensity(training_propensity(word, train))


def training_propensity(model: PropensityModel, train: Interactions, *, scaled: bool = True) -> Floats:
    r"""P(a training row was observed), fitted on the training rows themselves.

    One that is known only up to scale is scaled so that :math:`\sum 1/P` is the number of all pairs, as it is on
    average for the right one; not so where positives alone are weighted against one another.
    """
    fitted = fit_propensity(model, train, train, seen=None)
    propensity = np.asarray(fitted(train.users, train.items, train.values), dtype=float)
    if np.isnan(propensity).any():
        raise ConfigError(f"{model} has no propensity for some training rows; popularity(smoothing=1) has")
    if scaled and not fitted.absolute:
        pairs = _known(train.user_vocabulary, train.user_counts) * _known(train.item_vocabulary, train.item_counts)
        propensity = np.minimum(1.0, propensity * float(np.sum(1 / propensity)) / pairs)
    return propensity


def _known(vocabulary: Vocabulary, counts: Ints) -> float:
    """How many users or items a model knows: those that were declared, or that have a training row."""
    return float(len(vocabulary) if vocabulary.declared else np.count_nonzero(counts))


def fit_propensity(
    model: PropensityModel, train: Interactions, observed: Interactions, *, seen: Interactions | None
) -> Propensity:
    """Fit a propensity of the observed rows; pairs of `seen` could not have been observed."""
    if isinstance(model, ObservationModel):
        return model.observe(observed, seen=seen)
    return model.fit(train, observed)


def check_judged(fitted: Mapping[str, Fitted], settings: Settings) -> None:
    """Refuse a metric that no model can be judged by, and a model that no metric can judge."""
    losses = [metric for metric in settings.metrics if metric.kind == "loss"]
    rankings = [metric for metric in settings.metrics if metric.kind != "loss"]
    if losses and not any(model.predictor is not None for model in fitted.values()):
        raise ConfigError(
            f"{losses[0]} needs predicted ratings, which no model gives; use "
            f"{Option('predictions')}, or a rating model such as "
            "mf-naive"
        )
    for name, model in fitted.items():
        if model.ranker is None and not losses:
            raise ConfigError(
                f"model {name!r} gives predictions for some rows only, and {rankings[0]} needs a ranking; give its "
                f"{Option('scores')} or {Option('factors')} under the same name, or ask for mae"
            )
        if model.predictor is None and not rankings:
            raise ConfigError(
                f"model {name!r} predicts no ratings, and {losses[0]} needs them; give "
                f"{Option('predictions')}, or ask for a ranking metric"
            )
