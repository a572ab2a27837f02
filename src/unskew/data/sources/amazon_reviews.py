"""Amazon reviews as their owner packs them: one JSON object a line."""

import json
from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.sources.text import read_lines
from unskew.errors import DataError

_FIELDS = {"reviewerID": pl.String, "asin": pl.String, "overall": pl.Float64, "unixReviewTime": pl.Float64}


def read_reviews(path: Path, name: str) -> Interactions:
    """Read who reviewed what, the stars and the time; the texts are left out block by block, as they are long.

    Parameters
    ----------
    path : Path
    name : str
        Of the data set, for messages.
    """
    blocks = [_parse(path, first, lines) for first, lines in read_lines(path)]
    if not blocks:
        raise DataError(f"{path}: the file is empty; expected one JSON object a line")
    return Interactions.from_frame(
        pl.concat(blocks), user="reviewerID", item="asin", rating="overall", timestamp="unixReviewTime", name=name
    )


def _parse(path: Path, first: int, lines: list[bytes]) -> pl.DataFrame:
    try:
        return pl.read_ndjson(b"".join(lines), schema=_FIELDS)
    except pl.exceptions.PolarsError as error:
        where = _first_bad(first, lines) or f"something in lines {first} to {first + len(lines) - 1}"
        raise DataError(f"{path}: {where} is not one JSON object of a review; is it the original file?") from error


def _first_bad(first: int, lines: list[bytes]) -> str | None:
    for number, line in enumerate(lines, start=first):
        try:
            json.loads(line)
        except ValueError:
            return f"line {number}"
    return None
