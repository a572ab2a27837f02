"""Built-in models: each learns from a training log and returns a scorer."""

from unskew.models.als import Als
from unskew.models.bpr import Bpr
from unskew.models.cml import Cml, CmlRank
from unskew.models.debiased import AutoDebias, Bias, DebiasedFit, DebiasedModel, Dr, Ips, NegS, PointwiseModel
from unskew.models.ease import Ease
from unskew.models.item_knn import ItemKnn
from unskew.models.mf_adg import MfAdg, MfAuc
from unskew.models.model import Model
from unskew.models.pmf import Pmf
from unskew.models.popular import Popular
from unskew.models.random import Random
from unskew.models.ratings.cpt import CptFit, CptV, fit_cpt
from unskew.models.ratings.hl import HlMar, HlMnar
from unskew.models.ratings.hl_fit import HlFit, fit_hl
from unskew.models.ratings.hl_tuning import HlTuning, tune_hl
from unskew.models.ratings.mf import MfIps, MfNaive
from unskew.models.ratings.mf_fit import MfFit, fit_mf
from unskew.models.ratings.mf_tuning import MfTuning, tune_mf
from unskew.models.ratings.rating_model import Rated, RatingFactors, RatingModel
from unskew.models.svd import Svd
from unskew.models.training.gradient_model import GradientModel
from unskew.models.training.pair_model import PairwiseModel
from unskew.models.training.stepwise import Check, StepwiseModel, Trained

__all__ = [
    "Als",
    "AutoDebias",
    "Bias",
    "Bpr",
    "Check",
    "Cml",
    "CmlRank",
    "CptFit",
    "CptV",
    "DebiasedFit",
    "DebiasedModel",
    "Dr",
    "Ease",
    "GradientModel",
    "HlFit",
    "HlMar",
    "HlMnar",
    "HlTuning",
    "Ips",
    "ItemKnn",
    "MfAdg",
    "MfAuc",
    "MfFit",
    "MfIps",
    "MfNaive",
    "MfTuning",
    "Model",
    "NegS",
    "PairwiseModel",
    "Pmf",
    "PointwiseModel",
    "Popular",
    "Random",
    "Rated",
    "RatingFactors",
    "RatingModel",
    "StepwiseModel",
    "Svd",
    "Trained",
    "fit_cpt",
    "fit_hl",
    "fit_mf",
    "tune_hl",
    "tune_mf",
]
