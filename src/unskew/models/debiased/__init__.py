"""Models that learn from selectively observed labels, corrected or not; they need torch."""

from unskew.models.debiased.autodebias import AutoDebias
from unskew.models.debiased.bias import Bias
from unskew.models.debiased.dr import Dr
from unskew.models.debiased.ips import Ips
from unskew.models.debiased.model import DebiasedFit, DebiasedModel
from unskew.models.debiased.negs import NegS
from unskew.models.debiased.pointwise import PointwiseModel

__all__ = ["AutoDebias", "Bias", "DebiasedFit", "DebiasedModel", "Dr", "Ips", "NegS", "PointwiseModel"]
