"""Propensity models, one file each."""

from unskew.propensities.column import Column
from unskew.propensities.popularity import Popularity
from unskew.propensities.propensity import Propensity, PropensityModel
from unskew.propensities.uniform import Uniform

__all__ = ["Column", "Popularity", "Propensity", "PropensityModel", "Uniform"]
