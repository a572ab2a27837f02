"""How much memory a run over parts needs, and whether that is within a limit."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from unskew.errors import ConfigError, Option
from unskew.evaluation.partitioned.counting import Counts
from unskew.ranking import Engine, Threads, default_block_size
from unskew.ranking.engines.threads import usable_cores

TRAIN_ROW, TEST_ROW = 160, 600
"""Bytes that a row of a part needs while the part is read and ranked, as measured by `benchmarks/partitions.py`."""
BASE = 350 * 2**20
"""Bytes of the interpreter and its packages."""
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)
_UNITS = "KMGT"


def parse_size(text: str) -> int:
    """Bytes, from ``4GiB``, ``500MB`` or ``2e9``-like whole numbers.

    Examples
    --------
    >>> parse_size("1.5GiB")
    1610612736
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ConfigError(f"{Option('memory', text)}: expected a size, as in 4GiB")
    number, unit, binary = match.groups()
    power = _UNITS.index(unit.upper()) + 1 if unit else 0
    return int(float(number) * (1024 if binary else 1000) ** power)


def check_memory(
    limit: str | None, counts: Counts, models: Mapping[str, Any], engine: Engine, threads: int | None, block: int | None
) -> None:
    """Refuse a limit that is too small for one part per worker, and say how many parts would do."""
    if limit is None:
        return
    allowed, workers = parse_size(limit), 1
    if isinstance(engine, Threads):
        workers = min(engine.n or threads or usable_cores(), len(counts.parts))
    items = len(counts.items)
    fixed = BASE + 64 * items + sum(map(_bytes_of, models.values()))
    fixed += workers * 8 * items * (block or default_block_size(items))
    rows = max(TRAIN_ROW * part.rows[0] + TEST_ROW * len(models) * part.rows[1] for part in counts.parts)
    if fixed + workers * rows <= allowed:
        return
    total = TRAIN_ROW * counts.data["train"]["rows"] + TEST_ROW * len(models) * counts.data["test"]["rows"]
    if fixed >= 0.9 * allowed:
        raise ConfigError(
            f"{Option('memory', limit)}: the catalogue, the models and {workers} blocks of scores alone need "
            f"{_shown(fixed)}; use a smaller {Option('block_size')}, fewer threads or a larger limit"
        )
    parts = int(np.ceil(1.2 * workers * total / (allowed - fixed)))
    needed = _shown(fixed + workers * rows)
    raise ConfigError(
        f"{Option('memory', limit)}: {workers} of {len(counts.parts)} parts at a time need about {needed}; {parts} "
        "parts would do: write it again with 'unskew partition'"
    )


def _shown(size: float) -> str:
    """A number of bytes in words, rounded up."""
    unit, name = (2**30, "GiB") if size >= 10 * 2**30 else (2**20, "MiB")
    return f"{np.ceil(size / unit):,.0f} {name}"


def _bytes_of(model: Any) -> int:
    """Bytes of the arrays of a model that are in memory, not in a map."""
    arrays = [value for value in getattr(model, "__dict__", {}).values() if isinstance(value, np.ndarray)]
    return sum(array.nbytes for array in arrays if not _is_mapped(array))


def _is_mapped(array: Any) -> bool:
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False
