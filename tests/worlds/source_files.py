"""Small made files in the formats of the data sources, and what was read from them."""

import gzip
from pathlib import Path

from unskew.data import Interactions


def rows(log: Interactions) -> list[tuple[object, object]]:
    frame = log.to_polars()
    return list(zip(frame["user"].to_list(), frame["item"].to_list(), strict=True))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path
