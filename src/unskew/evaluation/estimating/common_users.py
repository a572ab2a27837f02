"""The same run on the users whom all models know, where they do not know the same ones."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Bools
from unskew.evaluation.estimating.estimate import Estimation
from unskew.evaluation.estimating.gamma_band import measure_band
from unskew.evaluation.settings.settings import OVER_ALL_PAIRS

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def lacking_share(report: "Report") -> float:
    """Share of the judged rows that are of users whom some models know and others do not, where these count."""
    return 0.0 if report.settings.users != "any" else float(1 - _known_rows(report).mean())


def _known_rows(report: "Report") -> Bools:
    """Which judged rows are of users whom all models know."""
    evidence = report.evidence
    known = [ranks.known for ranks in evidence.ranks.values() if ranks.known is not None]
    return np.all(known, axis=0) if known else np.ones(evidence.rows, dtype=bool)


def judge_common_users(report: "Report") -> "Report | None":
    """Make the estimates of positives again on the users whom all models know.

    None where all models know the same users, where there is no user whom all know, and where the rule of the run is
    another one already. Ranks are those of the run: nothing is ranked again.
    """
    settings, evidence = report.settings, report.evidence
    pairs = tuple(pair for pair in settings.pairs if pair[0].kind not in OVER_ALL_PAIRS)
    if settings.users != "any" or report.exposures is not None or len(evidence.ranks) < 2 or not pairs:
        return None
    known = _known_rows(report)
    if known.all() or not known.any():
        return None
    users = np.zeros(len(evidence.known_users), dtype=bool)
    users[evidence.row_users[known]] = True
    common = evidence.of_users(users, evidence.ranks)
    estimation = Estimation(common, replace(settings, pairs=pairs, users="common"), report.propensity)
    cells, estimates, comparisons = estimation.run()
    band = measure_band([estimation], report.gamma)
    return replace(
        report,
        estimates=tuple(estimates if band is None else map(band.widen, estimates)),
        comparisons=tuple(comparisons),
        warnings=(),
        settings=estimation.settings,
        evidence=common,
        band=band,
        rated=None,
        cells=tuple(cells),
        against=None,
    )
