"""Estimators, estimates and their intervals."""

from unskew.estimators.aoa import Aoa
from unskew.estimators.bounds import erm_bound, ips_bias, ips_variance, misspecified_bound, tail_bound
from unskew.estimators.estimate import Comparison, Estimate, Terms
from unskew.estimators.estimator import Estimator, Weighted
from unskew.estimators.exposed import (
    BetaBinomial,
    ExposedEstimator,
    Exposure,
    ExposurePlan,
    Traditional,
    Ure,
    Worth,
    chance_of_any,
    exposures_needed,
    interval_width,
    recall_variance,
)
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
from unskew.estimators.rows import Rows
from unskew.estimators.snips import Snips

__all__ = [
    "Aoa",
    "BetaBinomial",
    "Bootstrap",
    "Comparison",
    "Delta",
    "Estimate",
    "Estimator",
    "ExposedEstimator",
    "Exposure",
    "ExposurePlan",
    "Interval",
    "Ips",
    "Observation",
    "Rows",
    "Snips",
    "Terms",
    "Traditional",
    "Ure",
    "Weighted",
    "Worth",
    "chance_of_any",
    "difference",
    "erm_bound",
    "exposures_needed",
    "holm",
    "interval_width",
    "ips_bias",
    "ips_variance",
    "misspecified_bound",
    "normal_quantile",
    "p_value",
    "recall_variance",
    "student_p",
    "tail_bound",
]
