"""Estimators, estimates and their intervals."""

from unskew.estimators.aoa import Aoa
from unskew.estimators.estimate import Comparison, Estimate, Terms
from unskew.estimators.estimator import Estimator, Weighted
from unskew.estimators.intervals import (
    Bootstrap,
    Delta,
    Interval,
    Observation,
    difference,
    holm,
    normal_quantile,
    p_value,
)
from unskew.estimators.ips import Ips
from unskew.estimators.rows import Rows
from unskew.estimators.snips import Snips

__all__ = [
    "Aoa",
    "Bootstrap",
    "Comparison",
    "Delta",
    "Estimate",
    "Estimator",
    "Interval",
    "Ips",
    "Observation",
    "Rows",
    "Snips",
    "Terms",
    "Weighted",
    "difference",
    "holm",
    "normal_quantile",
    "p_value",
]
