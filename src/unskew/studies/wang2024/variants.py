"""Variants of AutoDebias by random search, good and poor: what the correlation figures are about."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unskew.studies.framework.study import Context
from unskew.studies.wang2024.biased import BiasedLog
from unskew.studies.wang2024.rankings import places

if TYPE_CHECKING:
    from unskew.models.debiased import AutoDebias

VARIANTS, FAST_VARIANTS = 24, 6
LEARNING_RATES = (0.003, 0.01, 0.03, 0.1)
REGULARISATIONS = (0.1, 1.0, 10.0, 30.0, 100.0)
IMPUTATIONS = (0.005, 0.05, 0.5)
FACTORS = (2, 5, 10, 20, 40)
EPOCHS, FAST_EPOCHS = (5, 10, 20, 40), (2, 10, 20)


def variant_models(context: Context) -> dict[str, "AutoDebias"]:
    """Models whose settings are drawn at random; few epochs or a small step make poor ones too."""
    from unskew.models.debiased import AutoDebias

    rng = context.rng("wang2024", "variants")
    epochs = FAST_EPOCHS if context.fast else EPOCHS
    found = {}
    for number in range(FAST_VARIANTS if context.fast else VARIANTS):
        found[f"variant {number + 1}"] = AutoDebias(
            learning_rate=float(rng.choice(LEARNING_RATES)),
            regularisation=float(rng.choice(REGULARISATIONS)),
            imputation=float(rng.choice(IMPUTATIONS)),
            factors=int(rng.choice(FACTORS)),
            epochs=int(rng.choice(epochs)),
        )
    return found


def variant_ranks(context: Context, log: BiasedLog) -> dict[str, npt.NDArray[np.int32]]:
    """Where each variant puts the held items, made once a run."""
    from unskew.studies.wang2024.fits import fits_of

    def make() -> dict[str, npt.NDArray[np.int32]]:
        fits = fits_of(context, log, variant_models(context), stage=f"variants on {log.world.name}")
        return {name: places(fit.scorer, log.held) for name, fit in fits.items()}

    return context.once(f"wang2024 variants {log.world.name}", make)


def told(context: Context) -> str:
    """How they were made, in a sentence."""
    models = variant_models(context)
    grids = {
        "learning rate": LEARNING_RATES,
        "penalty": REGULARISATIONS,
        "weight of the imputed labels": IMPUTATIONS,
        "factors": FACTORS,
        "epochs": FAST_EPOCHS if context.fast else EPOCHS,
    }
    tried = "; ".join(f"{name} of {', '.join(f'{value:g}' for value in grid)}" for name, grid in grids.items())
    return (
        f"{len(models)} variants of AutoDebias with matrix factorisation, their settings drawn at random: {tried}. "
        "Each is kept as it was after the epoch with the best AUC on the small validation sample. None was left out."
    )
