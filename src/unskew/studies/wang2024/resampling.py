"""Correlations of recall in the sample with full recall, in resamples of the variants and of the draws.

The settings of the variants are drawn at random, and few of them are far enough apart. Which ones they are moves a
correlation more than the draws of the sample do, so what is said about it has to hold for other variants too.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.studies.framework.stats import pair_signs
from unskew.studies.framework.study import Context, Size
from unskew.studies.wang2024.full_recall import Truth

RESAMPLES = Size(500, 50)
SURE = 0.975
"""What holds in this share of the resamples holds; what holds in as few as the rest fails; else it is left open."""
Correlation = Literal["Pearson", "Kendall"]
CORRELATIONS: tuple[Correlation, ...] = ("Pearson", "Kendall")


def resampled(context: Context, truth: Truth, inner: Floats, kind: Correlation) -> Floats:
    """The mean over draws of the correlation at every K, in each resample of variants and draws: (resamples, L).

    `inner` is recall in the sample (draws, models). A resample weighs a variant by how often it is drawn.
    """
    rng, times = context.rng("wang2024", "resamples", truth.name), context.size(RESAMPLES)
    draws, models = inner.shape
    variants, weights = (rng.multinomial(n, np.full(n, 1 / n), size=times) for n in (models, draws))
    return np.array(
        [
            mean_correlation(inner, truth.macro, kind, variant.astype(float), weight / draws)
            for variant, weight in zip(variants, weights, strict=True)
        ]
    )


def mean_correlation(inner: Floats, macro: Floats, kind: Correlation, variants: Floats, draws: Floats) -> Floats:
    r"""The mean over draws of the weighted correlation with each row of `macro`; 0 where one of the two is constant.

    .. math:: \sum_d v_d \frac{\sum_j w_j x_{dj} y_{kj}}{\sqrt{\sum_j w_j x_{dj}^2 \sum_j w_j y_{kj}^2}}

    with :math:`v` the weights of draws. For Pearson's correlation j is a model with its weight, and x and y are centred
    by weighted means; for Kendall's tau-b j is a pair of models with the product of their weights, and x and y are the
    signs of their differences. The sum over draws is made first, because there are many K.
    """
    if kind == "Pearson":
        weights = variants
        x, y = (part - (part @ weights / weights.sum())[:, None] for part in (inner, macro))
    else:
        left, right = np.triu_indices(len(variants), 1)
        weights = variants[left] * variants[right]
        x, y = pair_signs(inner), pair_signs(macro)
    x_size, y_size = (np.sqrt(part**2 @ weights) for part in (x, y))
    mean = np.divide(draws, x_size, out=np.zeros(len(x)), where=x_size > 1e-12) @ x
    return np.divide((y * weights) @ mean, y_size, out=np.zeros(len(y)), where=y_size > 1e-12)


def sure(holds: Bools) -> bool | None:
    """What the resamples say together: whether it holds; None where that depends on the variants and draws."""
    share = float(np.mean(holds))
    return None if 1 - SURE < share < SURE else share >= SURE


def rises(values: Sequence[Floats]) -> bool | None:
    """Whether something rises from first to last, and falls in no step, by its values in resamples."""
    ends = sure(values[-1] > values[0])
    if ends is False or any(sure(after < before) for before, after in pairwise(values)):
        return False
    return ends
