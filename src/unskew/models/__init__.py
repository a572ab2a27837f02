"""Built-in models: each learns from a training log and gives a scorer."""

from unskew.models.als import Als
from unskew.models.bpr import Bpr
from unskew.models.cml import Cml
from unskew.models.cml_rank import CmlRank
from unskew.models.cpt import CptFit, CptV, fit_cpt
from unskew.models.debiased import AutoDebias, Bias, DebiasedFit, DebiasedModel, Dr, Ips, NegS, PointwiseModel
from unskew.models.ease import Ease
from unskew.models.item_knn import ItemKnn
from unskew.models.mf import MfIps, MfNaive
from unskew.models.mf_adg import MfAdg
from unskew.models.mf_auc import MfAuc
from unskew.models.mf_fit import MfFit, fit_mf
from unskew.models.mf_tuning import MfTuning, tune_mf
from unskew.models.model import Model
from unskew.models.pairwise import PairwiseModel
from unskew.models.pmf import Pmf
from unskew.models.popular import Popular
from unskew.models.random import Random
from unskew.models.ratings import Rated, RatingFactors, RatingModel
from unskew.models.stepwise import Check, StepwiseModel, Trained
from unskew.models.svd import Svd
from unskew.models.training import GradientModel

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
    "fit_mf",
    "tune_mf",
]
