"""Estimators, estimates and their intervals."""

from unskew.estimators.aoa import Aoa
from unskew.estimators.auto import Auto
from unskew.estimators.bounds import erm_bound, ips_bias, ips_variance, misspecified_bound, tail_bound
from unskew.estimators.estimate import Comparison, Estimate, Terms, influence_of
from unskew.estimators.estimator import Estimator, Weighted
from unskew.estimators.exposed import (
    BetaBinomial,
    ExposurePlan,
    Traditional,
    Ure,
    chance_of_any,
    exposures_needed,
    interval_width,
    recall_variance,
)
from unskew.estimators.imputed import Blend, Dm, Dr, Imputing
from unskew.estimators.intervals import (
    Bootstrap,
    Delta,
    Interval,
    Observation,
    difference,
    holm,
    normal_quantile,
    p_value,
    student_p,
)
from unskew.estimators.ips import Ips
from unskew.estimators.moments import Moments
from unskew.estimators.replicates import Mean, difference_of_means, mean_of_replicates
from unskew.estimators.rows import OVER_ALL_PAIRS, Kind, Places, Rows
from unskew.estimators.sequences import Anytime
from unskew.estimators.snips import Snips

__all__ = [
    "OVER_ALL_PAIRS",
    "Anytime",
    "Aoa",
    "Auto",
    "BetaBinomial",
    "Blend",
    "Bootstrap",
    "Comparison",
    "Delta",
    "Dm",
    "Dr",
    "Estimate",
    "Estimator",
    "ExposurePlan",
    "Imputing",
    "Interval",
    "Ips",
    "Kind",
    "Mean",
    "Moments",
    "Observation",
    "Places",
    "Rows",
    "Snips",
    "Terms",
    "Traditional",
    "Ure",
    "Weighted",
    "chance_of_any",
    "difference",
    "difference_of_means",
    "erm_bound",
    "exposures_needed",
    "holm",
    "influence_of",
    "interval_width",
    "ips_bias",
    "ips_variance",
    "mean_of_replicates",
    "misspecified_bound",
    "normal_quantile",
    "p_value",
    "recall_variance",
    "student_p",
    "tail_bound",
]
