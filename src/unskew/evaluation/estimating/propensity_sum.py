"""`check_propensity`: whether the propensities of a run add up."""

from unskew.estimators import Estimator, Imputing
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.propensities import Diagnostics, InverseSums, Propensity, Uniform


def check_propensity(settings: Settings, samples: Samples, propensities: Propensities) -> Diagnostics | None:
    """Diagnose the propensities that a run's estimates use; None if there are none, or if all are the same.

    A propensity with its own diagnostics keeps them. Others are diagnosed on the judged rows, preferably rated ones,
    because the number of their pairs is known. That number is 0 if it is not known, and for propensities known only up
    to scale.
    """
    if not is_diagnosed(settings):
        return None
    propensity = diagnosed_propensity(settings, propensities, samples.judged.kind)
    diagnostics = getattr(propensity, "diagnostics", None)
    if isinstance(diagnostics, Diagnostics):
        return diagnostics
    return diagnose_sums(sum_inverses(samples, propensity))


def is_diagnosed(settings: Settings) -> bool:
    """Whether estimates of a run have propensities, and not all the same."""
    return any(map(uses_weights, settings.estimators)) and not isinstance(settings.propensity, Uniform)


def sum_inverses(samples: Samples, propensity: Propensity) -> InverseSums:
    """Sums of the inverse propensities of the judged rows, preferably rated ones."""
    rows = samples.judged if samples.ratings is None else samples.ratings
    return InverseSums.of(rows.chances(propensity), rows.pairs_in_all if propensity.absolute else 0)


def diagnose_sums(sums: InverseSums) -> Diagnostics:
    """The diagnostics of sums; those of propensities up to scale have no number of pairs, and no note."""
    return sums.diagnose(absolute=sums.cells > 0)


def diagnosed_propensity(settings: Settings, propensities: Propensities, kind: str) -> Propensity:
    """The propensity of a run's estimates: that of the settings, or exposure if only `blend` and `dr` weight rows."""
    exposure = propensities.relevance.exposure
    if exposure is not None and not any(estimator.uses_propensity for estimator in settings.estimators):
        return exposure
    return propensities.of(kind)


def uses_weights(estimator: Estimator) -> bool:
    """Whether an estimator weights held-out rows, by the propensity of the run or by exposure."""
    return estimator.uses_propensity or (isinstance(estimator, Imputing) and estimator.uses_exposure)
