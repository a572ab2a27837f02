"""The naive number that belongs next to a corrected one."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unskew.estimators import Aoa, Comparison, Estimate, Estimator, Snips, Traditional, Ure
from unskew.evaluation.estimating.estimate import Estimation
from unskew.evaluation.estimating.served_users import estimate_served, restrict_to_served
from unskew.evaluation.settings.settings import OVER_ALL_PAIRS

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def naive_counterpart(estimator: Estimator, kind: str = "mean") -> Aoa | Traditional:
    """The average an estimator becomes when all propensities are equal, for a metric of a kind.

    ``snips`` is a mean over pairs, so it belongs beside ``aoa(per=pair)``, not beside ``aoa``: part of the gap to the
    latter comes from who is averaged over, not from the correction. Beside ``ure`` belongs ``traditional``, which is
    what a sample is otherwise used for, though its target is another.
    """
    if isinstance(estimator, Ure):
        return Traditional()
    if kind in OVER_ALL_PAIRS:
        per = estimator.per if isinstance(estimator, Snips) else "pair"
        return Aoa(per=per) if per in {"user", "item"} else Aoa()
    return Aoa(per="pair") if isinstance(estimator, Snips) and estimator.per == "pair" else Aoa()


@dataclass(frozen=True)
class Counterparts:
    """Naive estimates that a run was not asked for but that belong next to its corrected ones."""

    estimates: tuple[Estimate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()


def missing_counterparts(report: "Report") -> Counterparts:
    """Make the naive counterparts of corrected estimates that the run was not asked for."""
    asked = {(str(metric), str(estimator)) for metric, estimator in report.settings.pairs}
    pairs = {}
    for metric, estimator in report.settings.pairs:
        naive = naive_counterpart(estimator, metric.kind)
        key = (str(metric), str(naive))
        if estimator.corrects and key not in asked:
            pairs[key] = (metric, naive)
    if not pairs:
        return Counterparts()
    settings = replace(report.settings, pairs=tuple(pairs.values()))
    estimation = Estimation(
        report.evidence, settings, report.propensity, rated=report.rated, exposures=report.exposures
    )
    served = restrict_to_served(estimation, report.contest) if settings.users == "served" else {}
    _, estimates, comparisons = estimate_served(estimation, served, report.contest) if served else estimation.run()
    return Counterparts(tuple(estimates), tuple(comparisons))
