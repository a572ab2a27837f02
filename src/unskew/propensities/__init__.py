"""Propensity models, one file each."""

from unskew.propensities.column import Column
from unskew.propensities.diagnostics import Diagnostics, ReliabilityBin, diagnose, reliability_curve
from unskew.propensities.naive_bayes import NaiveBayes
from unskew.propensities.observation import FittedObservation, ObservationModel
from unskew.propensities.popularity import Popularity
from unskew.propensities.propensity import Propensity, PropensityModel
from unskew.propensities.uniform import Uniform

__all__ = [
    "Column",
    "Diagnostics",
    "FittedObservation",
    "NaiveBayes",
    "ObservationModel",
    "Popularity",
    "Propensity",
    "PropensityModel",
    "ReliabilityBin",
    "Uniform",
    "diagnose",
    "reliability_curve",
]
