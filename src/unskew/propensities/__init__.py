"""Propensity models, one file each."""

from unskew.propensities.column import Column
from unskew.propensities.diagnostics import Diagnostics, InverseSums, ReliabilityBin, diagnose, reliability_curve
from unskew.propensities.exposure import Exposure, FittedExposure, PairFeatures
from unskew.propensities.gamma_range import POSSIBLE, GammaRange
from unskew.propensities.observed.boosted import Boosted
from unskew.propensities.observed.combined import Combined
from unskew.propensities.observed.logistic import Logistic
from unskew.propensities.observed.naive_bayes import NaiveBayes
from unskew.propensities.observed.observation import FittedObservation, ObservationModel
from unskew.propensities.popularity import From, Popularity
from unskew.propensities.popularity_fit import GammaFit, PresentationBias, fit_gamma, presentation_bias
from unskew.propensities.propensity import Propensity, PropensityModel
from unskew.propensities.uniform import Uniform

__all__ = [
    "POSSIBLE",
    "Boosted",
    "Column",
    "Combined",
    "Diagnostics",
    "Exposure",
    "FittedExposure",
    "FittedObservation",
    "From",
    "GammaFit",
    "GammaRange",
    "InverseSums",
    "Logistic",
    "NaiveBayes",
    "ObservationModel",
    "PairFeatures",
    "Popularity",
    "PresentationBias",
    "Propensity",
    "PropensityModel",
    "ReliabilityBin",
    "Uniform",
    "diagnose",
    "fit_gamma",
    "presentation_bias",
    "reliability_curve",
]
