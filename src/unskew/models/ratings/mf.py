"""Matrix factorisation of ratings, with inverse propensities as weights (MF-IPS) or without (MF-Naive)."""

import logging
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from unskew.errors import ConfigError
from unskew.models.model import Progress, check_number, check_whole
from unskew.models.ratings.mf_fit import Loss, Offsets, fit_mf
from unskew.models.ratings.mf_tuning import tune_mf
from unskew.models.ratings.rating_model import Rated, RatingFactors, RatingModel

FACTORS = 20
PENALTY = 10.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MfNaive(RatingModel, word="mf-naive"):
    r"""Factorisation of ratings: predicts ratings as if the rated pairs were a random sample.

    .. math:: \min \frac{U I}{n} \sum_{\text{observed}} \delta(y_{ui},\ v_u \cdot w_i + a_u + b_i + c)
       + \lambda \frac{U I}{(U + I)(d + 1)} \bigl(\lVert V \rVert^2 + \lVert W \rVert^2 + \lVert a \rVert^2
       + \lVert b \rVert^2\bigr)

    MF-Naive of Schnabel et al. (2016): their eq. 14 with equal propensities; see `fit_mf`.

    Parameters
    ----------
    factors : int
        d.
    penalty : float
        λ. The best value grows with d: about half of d + 1 on Coat and on MovieLens 100K.
    loss : {"mse", "mae"}
        δ: the squared or the absolute error.
    offsets : {"regularised", "free"}
        Whether a and b are penalised like the factors. If free, they are not, and d replaces d + 1.
    tune : bool
        Choose factors and penalty by 4-fold cross-validation; see `tune_mf`.
    """

    factors: int = FACTORS
    penalty: float = PENALTY
    loss: Loss = "mse"
    offsets: Offsets = "regularised"
    tune: bool = False

    def __post_init__(self) -> None:
        check_whole(self, "factors")
        check_number(self, "penalty", zero=True)
        for option, kinds in (("loss", Loss), ("offsets", Offsets)):
            if getattr(self, option) not in get_args(kinds):
                given, known = getattr(self, option), " or ".join(get_args(kinds))
                raise ConfigError(f"{self.word}({option}={given}): expected {known}")
        if self.tune and (self.factors, self.penalty) != (FACTORS, PENALTY):
            raise ConfigError(f"{self}: tune chooses factors and penalty; leave them out, or leave out tune")

    def learn_ratings(self, rated: Rated, rng: np.random.Generator, progress: Progress) -> RatingFactors:
        """Fit, after choosing the settings if `tune`."""
        return self._fit(rated, np.inf, rng, progress)

    def _fit(self, rated: Rated, most: float, rng: np.random.Generator, progress: Progress) -> RatingFactors:
        factors, penalty = self.factors, self.penalty
        if self.tune:
            tuned = tune_mf(rated, loss=self.loss, offsets=self.offsets, most=most, rng=rng, progress=progress)
            factors, penalty = tuned.factors, tuned.penalty
            log.info("%s: factors=%d, penalty=%g", self, factors, penalty)
        cut = rated.take(np.arange(len(rated)), most=most)
        fitted = fit_mf(cut, factors, penalty, loss=self.loss, offsets=self.offsets)
        if not self.tune:
            progress(1, 1)
        return fitted


@dataclass(frozen=True)
class MfIps(MfNaive, word="mf-ips"):
    r"""Factorisation of ratings, each weighted by its inverse propensity: predicts the rating of a random pair.

    .. math:: \min \sum_{\text{observed}} \frac{1}{P_{ui}}\,\delta(y_{ui},\ v_u \cdot w_i + a_u + b_i + c)
       + \lambda \frac{U I}{(U + I)(d + 1)} \bigl(\lVert V \rVert^2 + \lVert W \rVert^2 + \lVert a \rVert^2
       + \lVert b \rVert^2\bigr)

    The sum of losses is unbiased for that over all U I pairs if P is right. MF-IPS of Schnabel et al. (2016), eq. 14;
    see `fit_mf`. The options of `mf-naive`, and:

    Parameters
    ----------
    propensity : str
        The word of a propensity model for the training rows, as in ``mf-ips(propensity=naive-bayes(mcar=FILE))``.
        An evaluation fits it and adds the propensities to the rows; without it, the rows must have them.
    clip : float
        Smallest propensity; smaller ones are raised to it, so that weights are at most 1/clip. 0 for no clipping.
    """

    propensity: str = ""
    clip: float = 0.0

    uses_propensity: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "clip", zero=True)
        if self.clip > 1:
            raise ConfigError(f"{self.word}(clip={self.clip:g}): clip must be at most 1, like propensities")

    def learn_ratings(self, rated: Rated, rng: np.random.Generator, progress: Progress) -> RatingFactors:
        """Fit with clipped weights, after choosing the settings if `tune`."""
        return self._fit(rated, 1 / self.clip if self.clip else np.inf, rng, progress)
