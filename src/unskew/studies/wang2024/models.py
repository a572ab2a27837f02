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
SHARES = (0.1, 0.5, 1.0)
"""H/U, the shares of hard negatives that are tried."""
DRAWN = Size[tuple[int, ...]]((50, 100, 200), (100,))
"""U, the numbers of drawn items that are tried."""
FIRST = (0.5, 100)
"""H/U and U with which the learning rate and λ of NegS are chosen."""
EPOCHS, PATIENCE = Size(60, 8), 15


@dataclass(frozen=True)
class Entry:
    """A row of a table."""

    backbone: str  # as the paper writes it
    method: str  # as the paper writes it
    # H/U of a NegS that is shown by itself; without it NegS is that of the H/U which validation chose
    share: float | None = None

    def __str__(self) -> str:
        shown = "" if self.share is None else f", H/U = {self.share:g}"
        return f"{self.backbone} {self.method}{shown}"


ENTRIES = tuple(Entry(backbone, method) for backbone in BACKBONES for method in METHODS)
"""The ten rows of the paper."""
ALL_ENTRIES = (*ENTRIES, *(Entry(backbone, NEGS, share) for backbone in BACKBONES for share in SHARES))
"""These, and NegS with every H/U."""
_PLAIN: Mapping[str, PointwiseModel] = {"Bias": Bias(), "IPS": Ips(), "DR": Dr(), "AutoDebias": AutoDebias()}
_LOSSES: Mapping[str, Literal["squared", "bce"]] = {"MF": "squared", "LightGCN": "bce"}
_TRIED: Mapping[str, tuple[tuple[float, float], ...]] = {
    "MF": ((0.01, 1.0), (0.01, 10.0), (0.1, 10.0), (0.1, 100.0)),
    "LightGCN": ((0.1, 1.0), (0.01, 1.0), (0.1, 10.0), (0.01, 10.0)),
}
"""Learning rates and λ. The latter is for a sum over a user's rows: with 1,371 of them, 1 to 100 are a weight decay of
0.0007 to 0.07 for their mean. LightGCN had the settings of MF at first; they were changed because its factors went to 0
with λ = 10, as the AUC on validation showed."""
_TRIED_NEGS: tuple[tuple[float, float], ...] = ((0.01, 0.1), (0.01, 1.0), (0.1, 0.1), (0.1, 1.0))
"""The same of NegS, whose sum is over a user's positives, about 95 of them."""
_CHOSEN_FROM = Size(slice(None), slice(2, 3))
"""Which of these settings are tried."""


def grid_of(context: Context, entry: Entry) -> tuple[DebiasedModel, ...]:
    """The models tried for a row: four learning rates and λ, in a small version one; of NegS with H/U and U fixed."""
    shared: dict[str, Any] = {
        "backbone": entry.backbone.lower(),  # as the library writes it
        "epochs": context.size(EPOCHS),
        "patience": PATIENCE,
    }
    if entry.method == NEGS:
        plain: DebiasedModel = replace(_with_share(NegS(), *FIRST), **shared)
        tried = _TRIED_NEGS
    else:
        plain = replace(_PLAIN[entry.method], loss=_LOSSES[entry.backbone], **shared)
        tried = _TRIED[entry.backbone]
    chosen_from = tried[context.size(_CHOSEN_FROM)]
    return tuple(replace(plain, learning_rate=rate, regularisation=penalty) for rate, penalty in chosen_from)


def negs_of(context: Context, best: NegS) -> dict[float, tuple[NegS, ...]]:
    """NegS with each H/U, for each U, with the learning rate and λ of another."""
    return {share: tuple(_with_share(best, share, drawn) for drawn in context.size(DRAWN)) for share in SHARES}


LAST = Size(30, 3)
"""How many epochs NegS is trained without validation."""


def last_epoch_negs(context: Context, backbone: str, share: float) -> NegS:
    """NegS with one H/U, for training without validation: the first learning rate and λ that are tried."""
    rate, penalty = _TRIED_NEGS[0]
    plain = NegS(backbone=backbone.lower(), learning_rate=rate, regularisation=penalty, epochs=context.size(LAST))  # type: ignore[arg-type]
    return _with_share(plain, share, FIRST[1])


def _with_share(model: NegS, share: float, drawn: int) -> NegS:
    return replace(model, hardest=round(share * drawn), drawn=drawn)


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained model."""

    scorer: FactorScorer  # after the epoch with the best validation AUC; without validation after the last
    auc: float  # that AUC: over all pairs of rows, of NegS the mean over users of their own; 0 without validation
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
    """For each entry the setting that is best on validation.

    The learning rate and λ of NegS are chosen with one H/U and U, then these with that learning rate and λ.
    """
    stage = f"{data}: debiased models"
    firsts = {entry: grid_of(context, Entry(entry.backbone, entry.method)) for entry in entries}
    fits = fits_of(context, parts, _labelled(firsts), stage=stage)
    grids: dict[Entry, tuple[DebiasedModel, ...]] = {}
    for entry, grid in firsts.items():
        if entry.method != NEGS:
            grids[entry] = grid
            continue
        best = max(grid, key=lambda model, entry=entry: fits[_label(entry, model)].auc)  # type: ignore[misc]
        assert isinstance(best, NegS)
        by_share = negs_of(context, best)
        every = tuple(model for models in by_share.values() for model in models)
        grids[entry] = (*grid, *every) if entry.share is None else by_share[entry.share]
    fits = fits_of(context, parts, _labelled(grids), stage=stage)
    choices = {}
    for entry, grid in grids.items():
        names = {_label(entry, model): str(model) for model in grid}
        best_name = max(names, key=lambda name: fits[name].auc)
        choices[entry] = Choice(names[best_name], fits[best_name], len(names))
    return choices


def _labelled(grids: Mapping[Entry, Sequence[DebiasedModel]]) -> dict[str, DebiasedModel]:
    return {_label(entry, model): model for entry, grid in grids.items() for model in grid}


def _label(entry: Entry, model: DebiasedModel) -> str:
    """The name of a fit; a NegS that is shown by itself is also one of the settings of NegS, under the same name."""
    sampled = f" {model.hardest} of {model.drawn}" if isinstance(model, NegS) else ""
    return f"{entry.backbone} {entry.method} {model.learning_rate:g} {model.regularisation:g}{sampled}"


VARIANTS = Size(64, 12)
"""How many are drawn; those that are too near to another are left out, see `full_recall.apart`."""
VARIANT_EPOCHS = Size[tuple[int, ...]]((1, 2, 3, 5, 10, 20, 40), (2, 10, 20))
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
        f"{tried}. Each is as it was after the epoch with the best AUC on the validation sample."
    )


FORMAT = 2
"""Changes when the numbers of a fit do, so that a fit in the cache of an older version is not used."""
_NEEDED, _OPTIONAL = ("user_factors", "item_factors"), ("user_bias", "item_bias", "user_ids", "item_ids")


def fits_of(
    context: Context,
    parts: Parts,
    models: Mapping[str, DebiasedModel],
    *,
    stage: str = "debiased models",
    validated: bool = True,
) -> dict[str, Fit]:
    """Models trained on one log, side by side in processes, or read from the cache.

    The name decides where a model begins: the same settings under two names are two runs. Models that are not validated
    are as they were after their last epoch.
    """
    rows = [(part.sha256, part.n_users, part.n_items) for part in (parts.train, parts.uniform, parts.validation)]
    shared = repr((FORMAT, context.seed, *rows, *([] if validated else ["last epoch"])))
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
        tasks = [partial(_train, models[name], parts, rngs[name], paths[name], validated) for name in missing]
        trained = run_all(tasks, len(tasks), stage, context)
        memory.update({keys[name]: fit for name, fit in zip(missing, trained, strict=True)})
    return {name: memory[key] for name, key in keys.items()}


def _train(model: DebiasedModel, parts: Parts, rng: np.random.Generator, path: Path | None, validated: bool) -> Fit:
    """Train, and write to the cache; a task for another process."""
    validation = parts.validation if validated else None
    trained = model.train(parts.train, uniform=parts.uniform, validation=validation, rng=rng)
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
