"""Bias and variance of inverse propensity scoring, and bounds on its error that hold with high probability.

All are about the mean loss over every cell, and need the propensity of every cell, including unobserved ones. They show
what to expect of a design, and cannot be computed from a log alone.
"""

import math

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats
from unskew.errors import ConfigError, DataError, PropensityError


def tail_bound(loss: npt.ArrayLike, propensity: npt.ArrayLike, eta: float) -> float:
    r"""Half width of an interval around IPS with coverage of at least 1 - eta (Schnabel et al. 2016, Prop. 3.1).

    .. math:: |\hat R_{IPS} - R| \le \frac{1}{UI} \sqrt{\frac{1}{2} \ln\frac{2}{\eta} \sum_{u,i} \rho_{ui}^2},
       \qquad \rho_{ui} = \begin{cases} \delta_{ui} / P_{ui} & P_{ui} < 1 \\ 0 & P_{ui} = 1 \end{cases}

    It assumes that cells are observed independently, each with its own P, and that loss and P do not depend on what is
    observed: a prediction chosen by its estimate needs `erm_bound`. It is Hoeffding's inequality, so it holds for any
    sample size, and is wide: a cell counts by its weight even if its variance is small.

    Parameters
    ----------
    loss : array
        Loss of every cell, observed or not. The paper requires 0 or more; the sign makes no difference here.
    propensity : array
        P of every cell, of the same shape, in (0, 1].
    eta : float
        Chance that the bound fails, between 0 and 1.

    Examples
    --------
    >>> round(tail_bound([[2, 1], [0, 1]], [[0.5, 0.5], [0.1, 1]], eta=0.1), 4)
    1.3683
    """
    losses, chance = _loss(loss), _chance(propensity, "propensity")
    _same_shape(losses, chance, "loss", "propensity")
    _between(eta)
    rho = np.where(chance < 1, losses / chance, 0.0)
    return math.sqrt(0.5 * math.log(2 / eta) * float(np.sum(rho**2))) / losses.size


def erm_bound(estimate: float, propensity: npt.ArrayLike, *, largest_loss: float, hypotheses: int, eta: float) -> float:
    r"""Upper bound on the true risk of the prediction with the least IPS estimate (Schnabel et al. 2016, Thm 4.2).

    .. math:: R(\hat Y) \le \hat R_{IPS}(\hat Y \mid P)
       + \frac{\Delta}{UI} \sqrt{\frac{\ln(2 |H| / \eta)}{2}} \sqrt{\sum_{u,i} \frac{1}{P_{ui}^2}}

    with probability 1 - eta. It assumes that cells are observed independently with these P; that the set H of
    predictions is finite and fixed before anything is observed; and that :math:`0 \le \delta_{ui} \le \Delta` for all
    of them. It then holds for all of H at once, and so for a prediction chosen in any way. For a model with real
    parameters H is not finite, and the bound only shows what matters.

    Parameters
    ----------
    estimate : float
        The IPS estimate of the chosen prediction, a mean over all cells.
    propensity : array
        P of every cell, observed or not, in (0, 1].
    largest_loss : float
        Delta, above 0.
    hypotheses : int
        Size of H.
    eta : float
        Chance that the bound fails, between 0 and 1.

    Examples
    --------
    >>> round(erm_bound(0.5, [[0.5, 0.5], [0.25, 1]], largest_loss=1, hypotheses=3, eta=0.1), 4)
    2.2885
    """
    return _finite(estimate) + _deviation(_chance(propensity, "propensity"), largest_loss, hypotheses, eta)


def misspecified_bound(
    estimate: float,
    propensity: npt.ArrayLike,
    assumed: npt.ArrayLike,
    *,
    largest_loss: float,
    hypotheses: int,
    eta: float,
) -> float:
    r"""The bound of `erm_bound` when the propensities used are not the true ones (Schnabel et al. 2016, Thm 5.2).

    .. math:: R(\hat Y) \le \hat R_{IPS}(\hat Y \mid \hat P)
       + \frac{\Delta}{UI} \sum_{u,i} \Bigl| 1 - \frac{P_{ui}}{\hat P_{ui}} \Bigr|
       + \frac{\Delta}{UI} \sqrt{\frac{\ln(2 |H| / \eta)}{2}} \sqrt{\sum_{u,i} \frac{1}{\hat P_{ui}^2}}

    It assumes what `erm_bound` does, and that the assumed propensities are above 0 and were not learnt from the same
    observations. With the true propensities assumed it is `erm_bound`. A :math:`\hat P` above the true P increases the
    middle term and decreases the last: over-estimating small propensities can be better.

    Parameters
    ----------
    estimate : float
        The IPS estimate of the chosen prediction with the assumed propensities.
    propensity : array
        The true P of every cell, in [0, 1].
    assumed : array
        The P-hat used, of the same shape, above 0.
    largest_loss, hypotheses, eta
        As in `erm_bound`.
    """
    true, used = _chance(propensity, "propensity", zero=True), _assumed(assumed)
    _same_shape(true, used, "propensity", "assumed")
    deviation = _deviation(used, largest_loss, hypotheses, eta)
    return _finite(estimate) + largest_loss * float(np.mean(np.abs(1 - true / used))) + deviation


def ips_variance(loss: npt.ArrayLike, propensity: npt.ArrayLike) -> float:
    r"""Variance of IPS over random observations (Schnabel et al. 2016, section 3).

    .. math:: \mathrm{Var}(\hat R_{IPS}) = \frac{1}{(UI)^2} \sum_{u,i} \delta_{ui}^2 \Bigl(\frac{1}{P_{ui}} - 1\Bigr)

    It assumes that cells are observed independently with these P. Without independence the mean of IPS is the same, but
    the variance is not.

    Parameters
    ----------
    loss : array
        Loss of every cell, observed or not.
    propensity : array
        P of every cell, of the same shape, in (0, 1].

    Examples
    --------
    >>> ips_variance([[2, 1]], [[0.5, 0.2]])
    2.0
    """
    losses, chance = _loss(loss), _chance(propensity, "propensity")
    _same_shape(losses, chance, "loss", "propensity")
    return float(np.sum(losses**2 * (1 - chance) / chance)) / losses.size**2


def ips_bias(loss: npt.ArrayLike, propensity: npt.ArrayLike, assumed: npt.ArrayLike) -> float:
    r"""True mean loss minus the expectation of IPS, with wrong propensities (Lemma 5.1).

    .. math:: R - \mathrm{E}[\hat R_{IPS}(\cdot \mid \hat P)]
       = \frac{1}{UI} \sum_{u,i} \delta_{ui} \Bigl(1 - \frac{P_{ui}}{\hat P_{ui}}\Bigr)

    The sign is that of Schnabel et al. 2016, Lemma 5.1. What is usually called the bias is the negative of it. Cells
    need not be observed independently: only the P of each cell matters. It assumes that the assumed propensities are
    above 0 and do not depend on what is observed; a true P of 0 is allowed, and such a cell adds its whole loss.

    Parameters
    ----------
    loss : array
        Loss of every cell, observed or not.
    propensity : array
        The true P of every cell, of the same shape, in [0, 1].
    assumed : array
        The P-hat used, of the same shape, above 0.

    Examples
    --------
    >>> ips_bias([[2, 1]], [[0.5, 0.2]], [[0.5, 0.4]])
    0.25
    """
    losses, true, used = _loss(loss), _chance(propensity, "propensity", zero=True), _assumed(assumed)
    _same_shape(losses, true, "loss", "propensity")
    _same_shape(losses, used, "loss", "assumed")
    return float(np.mean(losses * (1 - true / used)))


def _deviation(propensity: Floats, largest_loss: float, hypotheses: int, eta: float) -> float:
    """The largest error of the estimates of all hypotheses."""
    if not 0 < largest_loss < math.inf:
        raise ConfigError(f"largest_loss={largest_loss:g}: expected a number above 0, the largest loss a cell can have")
    if hypotheses < 1:
        raise ConfigError(f"hypotheses={hypotheses}: expected the number of predictions to choose from, at least 1")
    _between(eta)
    weights = math.sqrt(float(np.sum(propensity**-2.0)))
    return largest_loss / propensity.size * math.sqrt(math.log(2 * hypotheses / eta) / 2) * weights


def _loss(loss: npt.ArrayLike) -> Floats:
    losses = _numbers(loss, "loss")
    if not np.all(np.isfinite(losses)):
        raise DataError("loss: every cell needs a finite loss, also if it is unobserved")
    return losses


def _chance(propensity: npt.ArrayLike, what: str, *, zero: bool = False) -> Floats:
    chance = _numbers(propensity, what)
    good = (chance >= 0) if zero else (chance > 0)
    _refuse(chance, ~(good & (chance <= 1)), what, "[0, 1]" if zero else "(0, 1]")
    return chance


def _assumed(assumed: npt.ArrayLike) -> Floats:
    used = _numbers(assumed, "assumed")
    _refuse(used, ~((used > 0) & (used < np.inf)), "assumed", "(0, inf)")
    return used


def _refuse(values: Floats, bad: npt.NDArray[np.bool_], what: str, wanted: str) -> None:
    if bad.any():
        raise PropensityError(
            f"{what}: {values[bad][0]:g} ({int(bad.sum())} in all) is outside {wanted}; every cell needs a probability"
        )


def _numbers(values: npt.ArrayLike, what: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what}: {error}; expected numbers") from error
    if not numbers.size:
        raise DataError(f"{what}: has no cells; give the value of every cell, users by items")
    return numbers


def _same_shape(first: Floats, second: Floats, one: str, other: str) -> None:
    if first.shape != second.shape:
        raise DataError(f"{one} has shape {first.shape}, {other} {second.shape}; give both for every cell")


def _finite(estimate: float) -> float:
    if not math.isfinite(estimate):
        raise DataError(f"estimate {estimate}: expected the finite IPS estimate of the chosen prediction")
    return float(estimate)


def _between(eta: float) -> None:
    if not 0 < eta < 1:
        raise ConfigError(f"eta={eta:g}: expected the chance of failure, between 0 and 1")
