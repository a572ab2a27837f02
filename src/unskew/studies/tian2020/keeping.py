"""Runs made block by block, each kept in the cache when it is done, so that a stopped study goes on from there."""

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.errors import DataError, Option
from unskew.studies.framework.study import Context
from unskew.trials import Design, Trial, Trials

BLOCK = 10
"""Runs that are kept together."""
FORMAT = 1
"""Changes when the numbers of a run do, so that what an older version kept is not used."""
_ARRAYS = tuple(each.name for each in fields(Trial) if each.name != "design")
Blocks = Callable[[range], list[dict[str, Trial]]]


def kept_trials(
    context: Context, parts: tuple[str, ...], world: str, designs: Mapping[str, Design], total: int, make: Blocks
) -> dict[str, Trials]:
    """Trials by the name of their design, made or read back.

    Parameters
    ----------
    context : Context
    parts : tuple of str
        Names the folder in the cache, and the stage in the progress.
    world : str
        Word of the world that is drawn from.
    designs : mapping
    total : int
        How many runs.
    make : callable
        Gives the trials, by the name of their design, of each of the runs asked for.
    """
    place = context.cached("tian2020", *parts)
    identity = repr((FORMAT, world, context.seed, sorted(designs.items())))
    key = hashlib.sha256(identity.encode()).hexdigest()[:16]
    names = [f"{way}-{name}" for way in designs for name in _ARRAYS]
    stage, kept = f"{', '.join(parts[1:])}: simulated evaluations", []
    for first in range(0, total, BLOCK):
        context.report(stage, first, total)
        path = None if place is None else place / f"{key}-{first:04d}.npz"
        size = min(BLOCK, total - first)
        block = None if path is None else _read(path, size, names)
        if block is None:
            block = _stacked(make(range(first, first + size)))
            if path is not None:
                _write(path, block)
        kept.append(block)
    context.report(stage, total, total)
    found = {}
    for way, design in designs.items():
        arrays: dict[str, Any] = {name: np.concatenate([block[f"{way}-{name}"] for block in kept]) for name in _ARRAYS}
        found[way] = Trials(design, world, context.seed, **arrays)
    return found


def _stacked(found: list[dict[str, Trial]]) -> dict[str, Floats]:
    return {
        f"{way}-{name}": np.stack([np.asarray(getattr(each[way], name)) for each in found])
        for way in found[0]
        for name in _ARRAYS
    }


def _read(path: Path, size: int, names: list[str]) -> dict[str, Floats] | None:
    """A kept block of at least so many runs; None where there is none, or it is not whole."""
    if not path.exists():
        return None
    try:
        with path.open("rb") as stream, np.load(stream) as file:  # numpy leaves a file that it cannot read open
            block = {name: file[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    whole = all(len(array) >= size for array in block.values())
    return {name: array[:size] for name, array in block.items()} if whole else None


def _write(path: Path, block: Mapping[str, Floats]) -> None:
    part = path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    try:
        np.savez(part, allow_pickle=False, **block)
        part.replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error}); choose another {Option('cache')}"
        ) from error
