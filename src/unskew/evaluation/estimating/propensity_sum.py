"""`check_propensity`: whether the propensities of a run add up."""

from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.propensities import Diagnostics, Uniform, diagnose


def check_propensity(settings: Settings, samples: Samples, propensities: Propensities) -> Diagnostics | None:
    """Diagnose the propensities that a run's estimates use; None if there are none, or if all are the same.

    A propensity with its own diagnostics keeps them. Others are diagnosed on the judged rows, preferably rated ones,
    because the number of their pairs is known. That number is 0 if it is not known, and for propensities known only up
    to scale.
    """
    uses = any(estimator.uses_propensity for estimator in settings.estimators)
    if not uses or isinstance(settings.propensity, Uniform):
        return None
    propensity = propensities.of(samples.judged.kind)
    diagnostics = getattr(propensity, "diagnostics", None)
    if isinstance(diagnostics, Diagnostics):
        return diagnostics
    rows = samples.judged if samples.ratings is None else samples.ratings
    pairs = rows.pairs_in_all if propensity.absolute else 0
    return diagnose(rows.chances(propensity), pairs, absolute=pairs > 0)
