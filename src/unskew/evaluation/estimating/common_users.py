"""`judge_common_users`: a report again, on the users whom all models know."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unskew.estimators import OVER_ALL_PAIRS
from unskew.evaluation.estimating.estimate import estimate
from unskew.evaluation.estimating.tally import known_to_all

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def lacking_share(report: "Report") -> float:
    """Share of the judged rows that belong to users whom some models do not know; 0 if such users are not judged."""
    tally = report.tally
    return 0.0 if report.settings.users != "any" or not tally.rows else 1 - tally.shared_rows / tally.rows


def judge_common_users(report: "Report") -> "Report | None":
    """Return the report with the estimates of positives on the users whom all models know.

    None if all models know the same users, if there is no user whom all know, or if the run has another rule for users.
    The ranks are those of the run: nothing is ranked again.
    """
    settings, samples = report.settings, report.samples
    sample = samples.judged
    pairs = tuple(pair for pair in settings.pairs if pair[0].kind not in {*OVER_ALL_PAIRS, "content"})
    if settings.users != "any" or samples.exposed is not None or len(sample.ranks) < 2 or not pairs:
        return None
    known = known_to_all(sample)
    if known.all() or not known.any():
        return None
    users = np.zeros(len(sample.known_users), dtype=bool)
    users[sample.row_users[known]] = True
    common = replace(samples, judged=sample.of_users(users, sample.ranks), ratings=None)
    restricted = replace(settings, pairs=pairs, users="common")
    return replace(
        report,
        inputs=replace(report.inputs, settings=restricted),
        samples=common,
        estimated=estimate(restricted, common, report.propensities),
        warnings=(),
        against=None,
    )
