"""Checkpoints of training runs on disk, from which an interrupted run can resume."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unskew.arrays import Floats, Matrix
from unskew.data.formats.array_file import read_checked, write_checked
from unskew.errors import DataError
from unskew.models.model import Observed

_KIND, VERSION = "a checkpoint of a training run", 3
_HINTS = {
    "version": "of another version",
    "model": "of another model or other settings",
    "seed": "of another seed",
    "data": "of another data set",
}


@dataclass(frozen=True)
class Identity:
    """What a checkpoint must have in common with the run that resumes from it.

    Parameters
    ----------
    model : str
        The model with all its options, except those on how long it trains.
    seed : int
    data : str
        Fingerprint of the training matrix.
    metrics : tuple of str
        The metrics that choose the best state.
    judged_on : str
        Fingerprint of the rows that they are computed on; empty without validation.
    """

    model: str
    seed: int
    data: str
    metrics: tuple[str, ...] = ()
    judged_on: str = ""

    def header(self) -> dict[str, Any]:
        """As plain data."""
        # the arithmetic of a step may also change between releases
        made_by = f"{VERSION} of unskew {version('unskew')}"
        return {"version": made_by, "model": self.model, "seed": self.seed, "data": self.data}


def fingerprint(observed: Observed, weights: Floats | None = None) -> str:
    """The sha256 of a training matrix with its ids and weights; the order of the log's rows does not matter."""
    digest = hashlib.sha256()
    for ids in (observed.user_ids, observed.item_ids):
        digest.update("\0".join(map(str, ids.tolist())).encode() + b"\n")
    digest.update(observed.matrix.indptr.astype("<i8").tobytes())
    digest.update(observed.matrix.indices.astype("<i4").tobytes())
    if weights is not None:
        digest.update(weights.astype("<f8").tobytes())
    return digest.hexdigest()


def save(path: Path, identity: Identity, progress: Mapping[str, Any], arrays: Mapping[str, Matrix]) -> None:
    """Write a checkpoint; after an error no file is left.

    Parameters
    ----------
    path : Path
    identity : Identity
    progress : mapping
        Plain data: the progress of the run, and its checks.
    arrays : mapping
    """
    about = {**identity.header(), "metrics": list(identity.metrics), "judged_on": identity.judged_on, **progress}
    write_checked(path, _KIND, VERSION, about, arrays, packed=False)


def load(path: Path, identity: Identity) -> tuple[dict[str, Any], dict[str, Matrix]]:
    """Read the progress and the arrays of a checkpoint.

    Raises
    ------
    DataError
        If it is not a checkpoint, or one of another model, seed, data set, version or validation.
    """
    header, arrays = read_checked(path, _KIND, VERSION, "remove it, or name another file")
    for key, value in identity.header().items():
        if header.get(key) != value:
            # the stored seed was drawn from the given one, so it means nothing to users
            values = "" if key == "seed" else f" ({_short(header.get(key))}, not {_short(value)})"
            raise DataError(f"{path}: this checkpoint is {_HINTS[key]}{values}; remove it, or name another file")
    metrics = header.get("metrics")
    if metrics != list(identity.metrics):
        before = ", ".join(map(str, metrics)) if isinstance(metrics, list) else repr(metrics)
        raise DataError(
            f"{path}: this checkpoint was validated by {before[:200] or 'no metric'}, not by "
            f"{', '.join(identity.metrics) or 'none'}; remove it, or name another file"
        )
    if header.get("judged_on", identity.judged_on) != identity.judged_on:
        raise DataError(
            f"{path}: this checkpoint was validated on other rows, or among other candidates; remove it, or "
            "name another file"
        )
    return header, arrays


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:12]}..."  # the first digits of a sha256 are enough
