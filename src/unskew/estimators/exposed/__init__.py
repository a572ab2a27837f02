"""Estimators for items that were drawn at random and labelled."""

from unskew.estimators.exposed.beta_binomial import BetaBinomial, chance_of_any
from unskew.estimators.exposed.planning import ExposurePlan, exposures_needed, interval_width, recall_variance
from unskew.estimators.exposed.traditional import Traditional
from unskew.estimators.exposed.ure import Ure

__all__ = [
    "BetaBinomial",
    "ExposurePlan",
    "Traditional",
    "Ure",
    "chance_of_any",
    "exposures_needed",
    "interval_width",
    "recall_variance",
]
