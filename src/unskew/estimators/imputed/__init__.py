"""Estimators that sum over all candidates, each with its chance of being relevant."""

from unskew.estimators.imputed.blend import Blend
from unskew.estimators.imputed.directions import hotelling
from unskew.estimators.imputed.dm import Dm, Imputing
from unskew.estimators.imputed.dr import Dr
from unskew.estimators.imputed.sliced import (
    Shrunk,
    SlicedMetric,
    SlicedModel,
    SliceRows,
    blend_with_slice,
    joint_terms,
)
from unskew.estimators.imputed.tilt import shifts_of_tilt, tilted_weights

__all__ = [
    "Blend",
    "Dm",
    "Dr",
    "Imputing",
    "Shrunk",
    "SliceRows",
    "SlicedMetric",
    "SlicedModel",
    "blend_with_slice",
    "hotelling",
    "joint_terms",
    "shifts_of_tilt",
    "tilted_weights",
]
