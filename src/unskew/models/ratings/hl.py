"""Ordinal factorisations of ratings, alone (HL-MAR) or jointly with one of what is observed (HL-MNAR)."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from unskew.errors import ConfigError
from unskew.models.model import Progress, check_whole
from unskew.models.ratings.hl_fit import SAMPLE, STEPS, HlFit, Summary, fit_hl
from unskew.models.ratings.rating_model import Rated, RatingModel


@dataclass(frozen=True)
class HlMar(RatingModel, word="hl-mar"):
    r"""Ordinal factorisation of the observed ratings, as if they were missing at random.

    A rating is the level between whose thresholds a noisy score falls:

    .. math:: P(r_{ui} \le l) = \Phi(b_l - v_u \cdot w_i - s_u - t_i)

    Factors and offsets have normal priors with variances that are learnt, and a posterior by variational inference;
    see `fit_hl`. The prediction is the mean of the rating over the posterior, or its median. HL-MAR of
    Hernández-Lobato, Houlsby and Ghahramani (2014), with differences that `fit_hl` names.

    Parameters
    ----------
    factors : int
        Length of v and w. Factors that the ratings do not support shrink to 0.
    predict : {"mean", "median"}
        The mean suits the squared error, the median the absolute error.
    iterations : int
        Largest number of steps; it stops earlier when it converges.
    """

    factors: int = 10
    predict: Summary = "mean"
    iterations: int = STEPS

    def __post_init__(self) -> None:
        check_whole(self, "factors")
        check_whole(self, "iterations")
        if self.predict not in get_args(Summary):
            raise ConfigError(f"{self.word}(predict={self.predict}): expected {' or '.join(get_args(Summary))}")

    def learn_ratings(self, rated: Rated, rng: np.random.Generator, progress: Progress) -> HlFit:
        """Fit by variational inference; weights are not used."""
        fit = self._fit(rated, rng)
        progress(1, 1)
        return fit

    def _fit(self, rated: Rated, rng: np.random.Generator) -> HlFit:
        return fit_hl(rated, self.factors, selective=False, summary=self.predict, iterations=self.iterations, rng=rng)


@dataclass(frozen=True)
class HlMnar(HlMar, word="hl-mnar"):
    r"""Ordinal factorisation of ratings, jointly with one of what is observed, which depends on the rating.

    The ratings are those of `hl-mar`. Every pair counts: a rating r is observed with probability

    .. math:: P(x_{ui} = 1 \mid r_{ui} = l) = \sigma(e_u \cdot f_i + p_u + q_i + \mu_l + \lambda_{ul} + \psi_{il}),

    with an effect of each level l for all, for each user and for each item, and the ratings of the other pairs are
    summed over. It needs no propensities. The prediction is for any pair, whether it is observed or not. HL-MNAR of
    Hernández-Lobato, Houlsby and Ghahramani (2014), with differences that `fit_hl` names. The options of `hl-mar`, and:

    Parameters
    ----------
    sample : int
        Largest number of pairs without a rating; of more, a random sample is weighted up.
    """

    sample: int = SAMPLE

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "sample")

    def _fit(self, rated: Rated, rng: np.random.Generator) -> HlFit:
        return fit_hl(
            rated,
            self.factors,
            selective=True,
            summary=self.predict,
            sample=self.sample,
            iterations=self.iterations,
            rng=rng,
        )
