r"""`limit`: exact means and standard deviations of the estimates of Table 1; `rmse_limits`: errors of Figure 2.

The losses of a prediction have moments that depend on the rating alone. With the shares :math:`p_r` of the ratings,
their chances :math:`P_r` and n cells,

.. math::

   R = \sum_r p_r E[\delta \mid r], \qquad R_{naive} = \sum_r p_r P_r E[\delta \mid r] \Big/ \sum_r p_r P_r, \qquad
   \operatorname{Var}(\mathrm{IPS}) = \frac{1}{n} \sum_r p_r \frac{1 - P_r}{P_r} E[\delta^2 \mid r],

and those of SNIPS and of the naive average, to first order, with :math:`\delta` less the value it is normalised to.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.simulators import MARGINALS

SHARES = np.array(MARGINALS) / sum(MARGINALS)
STARS = np.arange(1.0, 6.0)
POWERS = {"MAE": 1, "MSE": 2}


@dataclass(frozen=True)
class Limit:
    """Where an experiment tends to.

    The true risk and the limit of the naive average; standard deviations of the estimates over draws of what is
    observed; and how much the first two vary over draws of the prediction itself, which is 0 but for SKEWED.
    """

    true: float
    naive: float
    sd_ips: float
    sd_snips: float
    sd_naive: float
    sd_prediction: float
    sd_prediction_naive: float


def chances_at(alpha: float, density: float = 0.05) -> Floats:
    r"""P of one to five stars: k for four and more, :math:`k \alpha^{4-r}` below, so that `density` is observed."""
    relative = alpha ** np.maximum(4 - STARS, 0)
    return np.asarray(density * relative / (SHARES @ relative))


def limit(matrix: str, metric: str, alpha: float, cells: int) -> Limit:
    """Closed forms of one prediction's MAE or MSE."""
    power, chance = POWERS[metric], chances_at(alpha)
    first, second = moments(matrix, power), moments(matrix, 2 * power)
    true = float(SHARES @ first)
    seen = SHARES * chance / (SHARES @ chance)
    naive = float(seen @ first)
    odds = SHARES * (1 - chance) / chance
    around = second - 2 * true * first + true**2
    around_naive = second - 2 * naive * first + naive**2
    drawn = np.maximum(second - first**2, 0) if matrix == "SKEWED" else np.zeros(5)
    return Limit(
        true,
        naive,
        sd_ips=float(np.sqrt(odds @ second / cells)),
        sd_snips=float(np.sqrt(odds @ around / cells)),
        sd_naive=float(np.sqrt((SHARES * chance * (1 - chance)) @ around_naive / cells) / (SHARES @ chance)),
        sd_prediction=float(np.sqrt(SHARES @ drawn / cells)),
        sd_prediction_naive=float(np.sqrt((SHARES * chance**2) @ drawn / cells) / (SHARES @ chance)),
    )


def rmse_limits(forms: Sequence[Limit], draws: int) -> dict[str, tuple[float, float]]:
    r"""RMSE of each estimator over several predictions, and its standard error over `draws` trials.

    .. math:: \sqrt{\frac{1}{m} \sum_j (b_j^2 + \sigma_j^2)}

    with the bias :math:`b_j` and the standard deviation :math:`\sigma_j` of the estimates of prediction j. The variance
    of a squared error is :math:`4 b_j^2 \sigma_j^2 + 2 \sigma_j^4` for normal estimates. The standard error is for
    errors that grow and shrink together over the predictions, which is an upper bound.
    """
    bias = np.array([form.naive - form.true for form in forms])
    unbiased = np.zeros(len(forms))
    parts = {
        "Naive": (bias, np.array([form.sd_naive for form in forms])),
        "IPS": (unbiased, np.array([form.sd_ips for form in forms])),
        "SNIPS": (unbiased, np.array([form.sd_snips for form in forms])),
    }
    prediction = np.hypot([form.sd_prediction for form in forms], [form.sd_prediction_naive for form in forms])
    limits = {}
    for name, (b, sd) in parts.items():
        root = float(np.sqrt(np.mean(b**2 + sd**2)))
        drawing = np.mean(np.sqrt(4 * b**2 * sd**2 + 2 * sd**4)) / np.sqrt(draws)
        limits[name] = root, float(np.hypot(drawing, np.mean(2 * np.abs(b) * prediction)) / (2 * root))
    return limits


def moments(matrix: str, power: int) -> Floats:
    """Mean of the absolute error to a power, for cells of one to five stars."""
    if matrix == "SKEWED":
        return np.array([_clipped_moment(star, power) for star in STARS])
    sizes, share = {
        "REC_ONES": ((4, 0, 0, 0, 0), SHARES[4] / SHARES[0]),  # as many ones as there are fives
        "REC_FOURS": ((0, 0, 0, 1, 0), SHARES[4] / SHARES[3]),
        "ROTATE": ((4, 1, 1, 1, 1), 1.0),
        "COARSENED": ((2, 1, 0, 0, 1), 1.0),
    }[matrix]
    return np.asarray(share * np.array(sizes, dtype=float) ** power)


def _clipped_moment(star: float, power: int) -> float:
    """Moment of the absolute error of a normal prediction with deviation (6 - star)/2, clipped to [0, 6]."""
    from scipy.stats import norm

    sigma = (6 - star) / 2
    total = 0.0
    for end in (star / sigma, (6 - star) / sigma):  # down to 0 and up to 6
        density, tail = float(norm.pdf(end)), float(norm.sf(end))
        inside = {
            1: norm.pdf(0) - density,
            2: 0.5 - tail - end * density,
            4: 3 * (0.5 - tail) - (end**3 + 3 * end) * density,
        }[power]
        total += float(inside) + end**power * tail
    return float(sigma**power * total)
