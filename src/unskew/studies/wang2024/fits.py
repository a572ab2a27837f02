"""Debiased models trained side by side in processes, each kept in the cache when it is done."""

import hashlib
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from unskew.data import Interactions
from unskew.errors import DataError, Option
from unskew.models.debiased import DebiasedModel
from unskew.ranking.scorers import FactorScorer
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.study import Context

FORMAT = 1
"""Changes when the numbers of a fit do, so that what an older version kept is not used."""
_ARRAYS = ("user_factors", "item_factors", "user_bias", "item_bias", "user_ids", "item_ids")


class Parts(Protocol):
    """What a model learns from; the values of all rows are labels, 1 or 0."""

    @property
    def train(self) -> Interactions:
        """Selectively observed pairs."""

    @property
    def uniform(self) -> Interactions:
        """A few pairs drawn uniformly, to learn from."""

    @property
    def validation(self) -> Interactions:
        """A few pairs drawn uniformly, to stop and to choose by."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained model.

    Parameters
    ----------
    scorer : FactorScorer
        After the epoch with the best validation AUC.
    auc : float
        That AUC.
    best_epoch, epochs : int
        When that was, and how many were trained.
    """

    scorer: FactorScorer
    auc: float
    best_epoch: int
    epochs: int


def fitted(context: Context, log: Parts, model: DebiasedModel) -> FactorScorer:
    """One model, trained or read back."""
    return fit_many(context, log, {str(model): model})[str(model)]


def fit_many(context: Context, log: Parts, models: Mapping[str, DebiasedModel]) -> dict[str, FactorScorer]:
    """The scorers of some models, by their names; see `fits_of`."""
    return {name: fit.scorer for name, fit in fits_of(context, log, models).items()}


def fits_of(
    context: Context, log: Parts, models: Mapping[str, DebiasedModel], *, stage: str = "debiased models"
) -> dict[str, Fit]:
    """Models trained on one log, or read back where they are kept.

    Parameters
    ----------
    context : Context
    log : Parts
    models : mapping
        The name decides where a model begins: the same settings under two names are two runs.
    stage : str
        What to call them when telling how far they are.
    """
    shared = repr((FORMAT, context.seed, *map(_identity, (log.train, log.uniform, log.validation))))
    folder = context.cached("wang2024", "fits")
    rows = Rows(log.train, log.uniform, log.validation)
    tasks = {name: Training(model, name, context.seed, rows, shared, folder) for name, model in models.items()}
    memory: dict[str, Fit] = context.once("wang2024 fits", dict)
    for task in tasks.values():
        if task.key not in memory and (kept := task.kept()) is not None:
            memory[task.key] = kept
    missing = [task for task in tasks.values() if task.key not in memory]
    if missing:
        found = run_all(missing, len(missing), stage, context)
        memory.update({task.key: fit for task, fit in zip(missing, found, strict=True)})
    return {name: memory[task.key] for name, task in tasks.items()}


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a log without all else, for they are sent to other processes."""

    train: Interactions
    uniform: Interactions
    validation: Interactions


@dataclass(frozen=True, eq=False)
class Training:
    """A fit on its way.

    Parameters
    ----------
    model : DebiasedModel
    name : str
        Decides, with the seed, where it begins.
    seed : int
    rows : Rows
    shared : str
        What tells its log from others.
    folder : Path, optional
        Where it is kept.
    """

    model: DebiasedModel
    name: str
    seed: int
    rows: Rows
    shared: str
    folder: Path | None

    @property
    def key(self) -> str:
        """Tells it from all others."""
        return hashlib.sha256(repr((self.shared, self.name, self.model)).encode()).hexdigest()[:20]

    @property
    def path(self) -> Path | None:
        """Its file."""
        return None if self.folder is None else self.folder / f"{self.model.word}-{self.key}.npz"

    def __call__(self) -> Fit:
        """Train and keep."""
        trained = self.model.train(
            self.rows.train,
            uniform=self.rows.uniform,
            validation=self.rows.validation,
            rng=Context(seed=self.seed).rng("wang2024", "fit", self.name),
        )
        fit = Fit(trained.scorer, float(trained.auc or 0.0), trained.best_epoch, trained.epochs)
        path = self.path
        if path is not None:
            _write(path, fit)
        return fit

    def kept(self) -> Fit | None:
        """What the cache has of it; None where it has nothing, or the file is not whole."""
        path = self.path
        if path is None or not path.exists():
            return None
        try:
            with path.open("rb") as stream, np.load(stream) as file:  # numpy leaves a bad file open
                arrays: dict[str, Any] = {name: file[name] for name in _ARRAYS if name in file}
                auc, best, epochs = file["course"].tolist()
            return Fit(FactorScorer(**arrays, name=str(self.model)), float(auc), int(best), int(epochs))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, TypeError):
            return None


def _identity(part: Interactions) -> tuple[str, int, int]:
    """The rows, and how many users and items there are besides theirs."""
    return part.sha256, part.n_users, part.n_items


def _write(path: Path, fit: Fit) -> None:
    scorer, part = fit.scorer, path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    arrays = {name: np.asarray(getattr(scorer, name)) for name in _ARRAYS if getattr(scorer, name) is not None}
    try:
        np.savez(part, allow_pickle=False, course=np.array([fit.auc, fit.best_epoch, fit.epochs]), **arrays)
        part.replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error}); choose another {Option('cache')}"
        ) from error
