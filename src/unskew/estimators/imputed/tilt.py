"""`tilted_weights`: weights of the log's positives that make these resemble the positives of a slice."""

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.imputed.directions import root_of

RIDGE = 20.0
"""Penalty of the tilt, over the number of positives of the slice."""


def tilted_weights(features: Floats, weight: Floats, target: Floats, positives: int) -> Floats:
    r"""Weights :math:`w e^{b \cdot f}` that give the features of held-out positives the mean that the slice has.

    Parameters
    ----------
    features : array (rows, features)
        Of the held-out positives, standardised.
    weight : array
        w above, inverse propensities.
    target : array
        Mean of the features of the slice's positives.
    positives : int
        How many those are; the ridge penalty of b is 20 over it.
    """
    tilt, ridge = np.zeros(features.shape[1]), RIDGE / max(positives, 1)
    shares = weight / weight.sum()
    for _ in range(200):
        mean = shares @ features
        slope = target - mean - ridge * tilt
        curvature = (features * shares[:, None]).T @ features - np.outer(mean, mean) + ridge * np.eye(len(tilt))
        step = np.clip(np.linalg.solve(curvature, slope), -1, 1)
        tilt = tilt + step
        logs = np.log(weight) + features @ tilt
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        if float(np.abs(step).max()) < 1e-10:
            break
    return np.asarray(shares)


def shifts_of_tilt(features: Floats, shares: Floats, spread: Floats, positives: int) -> Floats:
    r"""By how much tilted weights move if the slice is another, one standard error away in each direction.

    The mean of the features over the slice's positives has the covariance :math:`S / n^+`. If it moves by
    :math:`\delta`, b moves by :math:`(C + \lambda I)^{-1} \delta`, with C the weighted covariance of the features and
    :math:`\lambda` the ridge penalty.

    Parameters
    ----------
    features : array (rows, features)
        Of the held-out positives, standardised.
    shares : array
        From `tilted_weights`.
    spread : array (features, features)
        S above.
    positives : int
        :math:`n^+` above.
    """
    centred = features - shares @ features
    ridge = RIDGE / max(positives, 1)
    curvature = (centred * shares[:, None]).T @ centred + ridge * np.eye(features.shape[1])
    moves = np.linalg.solve(curvature, root_of(spread / max(positives, 1)))
    return np.asarray((shares[:, None] * (centred @ moves)).T)
