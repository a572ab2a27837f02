"""The models of the study: methods on backbones, what validation chooses from, random variants, and their fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from unskew.models.debiased import AutoDebias, Bias, DebiasedModel, Dr, Ips, NegS, PointwiseModel
from unskew.ranking.scorers import FactorScorer
from unskew.studies.framework.cache import key_of, read_arrays, write_arrays
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.study import Context, Size
from unskew.studies.wang2024.printed import BACKBONES, METHODS
from unskew.studies.wang2024.worlds import Parts

NEGS = "NegS"
DRAWN, HARDEST = 100, (10, 50, 100)
"""U, and the H that are tried."""
EPOCHS, PATIENCE = Size(120, 8), 30


@dataclass(frozen=True)
class Entry:
    """A row of a table."""

    backbone: str  # as the paper writes it
    method: str  # as the paper writes it
    # H of a NegS that is shown by itself; without it NegS is that of the H which validation chose
    hardest: int | None = None

    def __str__(self) -> str:
        shown = "" if self.hardest is None else f", H/U = {self.hardest / DRAWN:g}"
        return f"{self.backbone} {self.method}{shown}"


ENTRIES = tuple(Entry(backbone, method) for backbone in BACKBONES for method in METHODS)
"""The ten rows of the paper."""
ALL_ENTRIES = (*ENTRIES, *(Entry(backbone, NEGS, hardest) for backbone in BACKBONES for hardest in HARDEST))
"""These, and NegS with every H."""
_PLAIN: Mapping[str, PointwiseModel] = {"Bias": Bias(), "IPS": Ips(), "DR": Dr(), "AutoDebias": AutoDebias()}
_LOSSES: Mapping[str, Literal["squared", "bce"]] = {"MF": "squared", "LightGCN": "bce"}
_TRIED: Mapping[str, tuple[tuple[float, float], ...]] = {
    "MF": ((0.01, 1.0), (0.01, 10.0), (0.1, 10.0), (0.1, 100.0)),
    "LightGCN": ((0.1, 1.0), (0.01, 1.0), (0.1, 10.0), (0.01, 10.0)),
}
"""Learning rates and λ. The latter is for a sum over a user's rows: with 1,371 of them, 1 to 100 are a weight decay of
0.0007 to 0.07 for their mean. LightGCN had the settings of MF at first; they were changed because its factors went to 0
with λ = 10, as the AUC on validation showed."""
_CHOSEN_FROM = Size(slice(None), slice(2, 3))
"""Which of these settings are tried."""
_NEGS: Mapping[str, NegS] = {
    "MF": NegS(learning_rate=0.1, regularisation=0.1),
    "LightGCN": NegS(learning_rate=0.01, regularisation=0.1),
}


def grid_of(context: Context, entry: Entry) -> tuple[DebiasedModel, ...]:
    """The models tried for a row: four settings, or one for each H of NegS; a small version tries one setting."""
    backbone = entry.backbone.lower()  # as the library writes it
    shared: dict[str, Any] = {"backbone": backbone, "epochs": context.size(EPOCHS), "patience": PATIENCE}
    if entry.method == NEGS:
        return tuple(
            replace(_NEGS[entry.backbone], hardest=hardest, drawn=DRAWN, **shared)
            for hardest in HARDEST
            if entry.hardest in {None, hardest}
        )
    plain = replace(_PLAIN[entry.method], loss=_LOSSES[entry.backbone], **shared)
    tried = _TRIED[entry.backbone][context.size(_CHOSEN_FROM)]
    return tuple(replace(plain, learning_rate=rate, regularisation=penalty) for rate, penalty in tried)


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained model."""

    scorer: FactorScorer  # after the epoch with the best validation AUC
    auc: float  # that AUC
    best_epoch: int  # when that was
    epochs: int  # how many were trained


@dataclass(frozen=True, eq=False)
class Choice:
    """A model that validation chose: its word, its fit, and the number of settings that were tried."""

    settings: str
    fit: Fit
    tried: int

    def __str__(self) -> str:
        return (
            f"{self.settings} (best of {self.tried}: AUC {self.fit.auc:.3f} after epoch {self.fit.best_epoch} of "
            f"{self.fit.epochs})"
        )


def choose(context: Context, parts: Parts, data: str, entries: Sequence[Entry] = ALL_ENTRIES) -> dict[Entry, Choice]:
    """For each entry the setting with the best validation AUC."""

    def label(entry: Entry, model: DebiasedModel) -> str:
        hardest = f" {model.hardest}" if isinstance(model, NegS) else ""
        return f"{entry.backbone} {entry.method} {model.learning_rate:g} {model.regularisation:g}{hardest}"

    # a NegS that is shown by itself is also one of the settings of NegS, under the same label
    grids = {entry: {label(entry, model): model for model in grid_of(context, entry)} for entry in entries}
    models = {name: model for grid in grids.values() for name, model in grid.items()}
    fits = fits_of(context, parts, models, stage=f"{data}: debiased models")
    best = {entry: max(grid, key=lambda name: fits[name].auc) for entry, grid in grids.items()}
    return {entry: Choice(str(models[name]), fits[name], len(grids[entry])) for entry, name in best.items()}


VARIANTS = Size(24, 6)
VARIANT_EPOCHS = Size[tuple[int, ...]]((5, 10, 20, 40), (2, 10, 20))
_DRAWN_FROM: Mapping[str, tuple[float, ...]] = {
    "learning_rate": (0.003, 0.01, 0.03, 0.1),
    "regularisation": (0.1, 1.0, 10.0, 30.0, 100.0),
    "imputation": (0.005, 0.05, 0.5),
    "factors": (2, 5, 10, 20, 40),
}
_SETTINGS = ("learning rate", "penalty", "weight of the imputed labels", "factors", "epochs")
"""The names of these, and of the number of epochs, in a sentence."""


def variant_models(context: Context) -> dict[str, AutoDebias]:
    """Variants of AutoDebias whose settings are drawn at random; few epochs or a small step give poor ones too."""
    rng = context.rng("wang2024", "variants")
    grids = {**_DRAWN_FROM, "epochs": context.size(VARIANT_EPOCHS)}
    return {
        f"variant {number + 1}": AutoDebias(**{name: rng.choice(grid).item() for name, grid in grids.items()})
        for number in range(context.size(VARIANTS))
    }


def describe_variants(context: Context) -> str:
    """How the variants came about, in a sentence."""
    grids = zip(_SETTINGS, (*_DRAWN_FROM.values(), context.size(VARIANT_EPOCHS)), strict=True)
    tried = "; ".join(f"{name} of {', '.join(f'{value:g}' for value in grid)}" for name, grid in grids)
    return (
        f"{context.size(VARIANTS)} variants of AutoDebias with matrix factorisation, their settings drawn at random: "
        f"{tried}. Each is kept as it was after the epoch with the best AUC on the small validation sample. None was "
        "left out."
    )


FORMAT = 1
"""Changes when the numbers of a fit do, so that a fit in the cache of an older version is not used."""
_NEEDED, _OPTIONAL = ("user_factors", "item_factors"), ("user_bias", "item_bias", "user_ids", "item_ids")


def fits_of(
    context: Context, parts: Parts, models: Mapping[str, DebiasedModel], *, stage: str = "debiased models"
) -> dict[str, Fit]:
    """Models trained on one log, side by side in processes, or read from the cache.

    The name decides where a model begins: the same settings under two names are two runs.
    """
    rows = [(part.sha256, part.n_users, part.n_items) for part in (parts.train, parts.uniform, parts.validation)]
    shared = repr((FORMAT, context.seed, *rows))
    folder = context.cached("wang2024", "fits")
    keys = {name: key_of(shared, name, model, length=20) for name, model in models.items()}
    paths = {name: folder and folder / f"{model.word}-{keys[name]}.npz" for name, model in models.items()}
    memory: dict[str, Fit] = context.once("wang2024 fits", dict)
    for name, model in models.items():
        if keys[name] not in memory and (stored := _read(paths[name], str(model))) is not None:
            memory[keys[name]] = stored
    missing = [name for name in models if keys[name] not in memory]
    if missing:
        rngs = {name: context.rng("wang2024", "fit", name) for name in missing}
        tasks = [partial(_train, models[name], parts, rngs[name], paths[name]) for name in missing]
        trained = run_all(tasks, len(tasks), stage, context)
        memory.update({keys[name]: fit for name, fit in zip(missing, trained, strict=True)})
    return {name: memory[key] for name, key in keys.items()}


def _train(model: DebiasedModel, parts: Parts, rng: np.random.Generator, path: Path | None) -> Fit:
    """Train, and write to the cache; a task for another process."""
    trained = model.train(parts.train, uniform=parts.uniform, validation=parts.validation, rng=rng)
    fit = Fit(trained.scorer, float(trained.auc or 0.0), trained.best_epoch, trained.epochs)
    factors = {name: getattr(fit.scorer, name) for name in (*_NEEDED, *_OPTIONAL)}
    arrays = {name: np.asarray(array) for name, array in factors.items() if array is not None}
    write_arrays(path, {**arrays, "course": np.array([fit.auc, fit.best_epoch, fit.epochs])})
    return fit


def _read(path: Path | None, name: str) -> Fit | None:
    """The fit in the cache; None where there is none, or the file is damaged."""
    arrays = read_arrays(path, (*_NEEDED, "course"), _OPTIONAL)
    if arrays is None:
        return None
    auc, best, epochs = arrays.pop("course").tolist()
    return Fit(FactorScorer(**arrays, name=name), float(auc), int(best), int(epochs))
