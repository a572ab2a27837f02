"""`naive_twin`: the naive estimator with the same target as a corrected one."""

from dataclasses import replace

from unskew.estimators import OVER_ALL_PAIRS, Aoa, Estimator, Imputing, Snips, Traditional, Ure
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.estimate import Estimated, estimate
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric


def naive_twin(estimator: Estimator, kind: str = "mean") -> Aoa | Traditional:
    """The naive average that equals an estimator if all propensities are equal, for a metric of a kind.

    ``snips`` is a mean over pairs, so it is compared with ``aoa(per=pair)``, not with ``aoa``: part of the difference
    to the latter comes from averaging over users, not from the correction. ``ure`` is compared with ``traditional``,
    the usual estimate from a sample, although it has another target.
    """
    if isinstance(estimator, Ure):
        return Traditional()
    if kind in OVER_ALL_PAIRS:
        per = estimator.per if isinstance(estimator, Snips) else "pair"
        return Aoa(per=per) if per in {"user", "item"} else Aoa()
    of_pairs = isinstance(estimator, Imputing) and kind == "mean"
    return Aoa(per="pair") if of_pairs or (isinstance(estimator, Snips) and estimator.per == "pair") else Aoa()


def missing_twins(settings: Settings, samples: Samples, propensities: Propensities) -> Estimated:
    """Compute the naive twins of corrected estimates that a run was not asked for."""
    pairs = missing_pairs(settings)
    if not pairs:
        return Estimated()
    return estimate(replace(settings, pairs=pairs), samples, propensities, band=False)


def missing_pairs(settings: Settings) -> tuple[tuple[AnyMetric, Estimator], ...]:
    """The metrics with the naive twins of their corrected estimators that a run was not asked for."""
    asked = {(str(metric), str(estimator)) for metric, estimator in settings.pairs}
    pairs: dict[tuple[str, str], tuple[AnyMetric, Estimator]] = {}
    for metric, estimator in settings.pairs:
        naive = naive_twin(estimator, metric.kind)
        key = (str(metric), str(naive))
        if estimator.corrects and key not in asked:
            pairs[key] = (metric, naive)
    return tuple(pairs.values())
