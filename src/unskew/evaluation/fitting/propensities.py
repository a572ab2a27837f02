"""The propensities of a run: of held-out positives, of ratings, and of training rows."""

from dataclasses import dataclass, field, replace

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions, Split
from unskew.data.candidates import All, Listed
from unskew.data.vocabulary import Vocabulary
from unskew.errors import ConfigError
from unskew.evaluation.fitting.gamma import GammaChoice, choose_gamma
from unskew.evaluation.fitting.relevance import (
    POSITIVE_ONLY,
    Relevance,
    fit_exposure,
    fit_relevance,
    has_negatives,
)
from unskew.evaluation.run import Run
from unskew.propensities import Column, Exposure, FittedExposure, ObservationModel, Propensity, PropensityModel


@dataclass(frozen=True, eq=False)
class Propensities:
    """The fitted propensities of a run."""

    positives: Propensity  # of held-out positives
    ratings: Propensity  # of rated rows; learnt from all rows, because metrics over all pairs have no positives
    of_training: PropensityModel  # of training rows, for models that weight by it; uses no column of the test
    gamma: GammaChoice | None = None  # the gammas that a fitted gamma was chosen from
    relevance: Relevance = field(default_factory=Relevance)  # for estimators that sum over all candidates

    def of(self, kind: str) -> Propensity:
        """The propensity of the rows of a kind of sample."""
        return self.ratings if kind == "ratings" else self.positives


def fit_propensities(run: Run) -> tuple[Run, Propensities]:
    """Fit the propensities that the run asks for, and return the run with resolved settings.

    A fitted gamma is replaced by its number. Without a named propensity, popularity is used, unless the test has a
    column of propensities that an estimator can use. Exposure has the power 0.5 for logs of positives only.
    """
    gamma = choose_gamma(run)
    settings = run.settings
    if gamma is not None:  # all later stages see the number
        gamma.check_within(settings.assume)
        settings = replace(settings, propensity=gamma.at(gamma.used))
    unnamed = isinstance(settings.propensity, Exposure) and not settings.propensity_named
    if unnamed and not has_negatives(run):
        settings = replace(settings, propensity=POSITIVE_ONLY)
    of_training = settings.propensity
    if not settings.propensity_named and _has_propensities(run):
        settings = replace(settings, propensity=Column(), propensity_found=True)
    run = replace(run, settings=settings)
    fitted = _fit_held_out(settings.propensity, run.positives, run.split)
    # an observation model is fitted to the test alone, so one fit serves both
    same = run.positives is run.split.train or isinstance(settings.propensity, ObservationModel)
    ratings = fitted if same else _fit_held_out(settings.propensity, run.split.train, run.split)
    relevance = fit_relevance(run, fitted if isinstance(fitted, FittedExposure) else None)
    return run, Propensities(fitted, ratings, of_training, gamma, relevance)


def _has_propensities(run: Run) -> bool:
    """Whether the test has propensities that an estimator of the run can use."""
    weighted = any(estimator.uses_propensity for estimator in run.settings.estimators)
    return weighted and not run.split.exposed and run.split.test.propensity is not None


def _fit_held_out(model: PropensityModel, train: Interactions, split: Split) -> Propensity:
    """Fit the propensity of the test rows. Training pairs are excluded when seen items are not candidates."""
    if isinstance(model, Exposure):
        return fit_exposure(model, split)
    if isinstance(split.rule, All | Listed) or not model.uses_test:
        return fit_propensity(model, train, split.test, seen=None)
    judged = split.sorted_test.take(~split.test_in_train) if split.test_in_train.any() else split.test
    return fit_propensity(model, train, judged, seen=split.train)


def fit_propensity(
    model: PropensityModel, train: Interactions, observed: Interactions, *, seen: Interactions | None
) -> Propensity:
    """Fit a propensity of the observed rows; pairs of `seen` could not have been observed."""
    if isinstance(model, ObservationModel):
        return model.observe(observed, seen=seen)
    return model.fit(train, observed)


def training_propensity(model: PropensityModel, train: Interactions, *, scaled: bool = True) -> Floats:
    r"""P(a training row was observed), fitted on the training rows themselves.

    With `scaled`, a propensity that is known only up to scale is scaled so that :math:`\sum 1/P` is the number of all
    pairs, as it is on average for correct propensities. Models that only weight positives need no scale.
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
    """Number of users or items that a model knows: those that were declared, or that have a training row."""
    return float(len(vocabulary) if vocabulary.declared else np.count_nonzero(counts))
