"""Amazon reviews as their owner packs them: ratings only, JSON objects, or blocks of lines."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.text import read_columns, read_lines
from unskew.errors import DataError

_FIELDS = {"reviewerID": pl.String, "asin": pl.String, "overall": pl.Float64, "unixReviewTime": pl.Float64}
_RATINGS = {"user": pl.String, "item": pl.String, "rating": pl.Float64, "timestamp": pl.Float64}
_BLOCK = {
    b"review/userId": "user",
    b"product/productId": "item",
    b"review/score": "rating",
    b"review/time": "timestamp",
}
_NOBODY = "unknown"


def read_ratings(path: Path, name: str) -> Interactions:
    """Read a file of ratings, one per line: user, item, stars and time, separated by commas.

    Parameters
    ----------
    path : Path
    name : str
        Of the data set, for messages.
    """
    return Interactions.from_frame(read_columns(read_content(path), path, _RATINGS, separator=","), name=name)


def read_reviews(path: Path, name: str) -> Interactions:
    """Read user, item, stars and time of reviews; the long texts are dropped block by block.

    Parameters
    ----------
    path : Path
    name : str
        Of the data set, for messages.
    """
    blocks = [_parse(path, first, lines) for first, lines in read_lines(path)]
    if not blocks:
        raise DataError(f"{path}: the file is empty; expected one JSON object per line")
    return Interactions.from_frame(
        pl.concat(blocks), user="reviewerID", item="asin", rating="overall", timestamp="unixReviewTime", name=name
    )


def read_blocks(path: Path, name: str) -> Interactions:
    """Read reviews as blocks of lines ``key: value`` with a blank line between them.

    The keys are ``product/productId``, ``review/userId``, ``review/score`` and ``review/time``; others are ignored.
    Reviews by the user ``unknown``, who is many people, are left out.

    Parameters
    ----------
    path : Path
    name : str
        Of the data set, for messages.
    """
    columns: dict[str, list[str]] = {column: [] for column in _BLOCK.values()}
    starts: list[int] = []
    for start, fields in _blocks(path):
        missing = [key.decode() for key, column in _BLOCK.items() if not fields.get(column)]
        if missing:
            raise DataError(f"{path}: the block of line {start} has no {missing[0]}; is it the original file?")
        if fields["user"] != _NOBODY:
            starts.append(start)
            for column, value in fields.items():
                columns[column].append(value)
    if not starts:
        raise DataError(f"{path}: has no review by a known user; was it cut short?")
    frame = pl.DataFrame(columns)
    numbers = frame.with_columns(pl.col("rating", "timestamp").cast(pl.Float64, strict=False))
    for column in ("rating", "timestamp"):
        if numbers[column].null_count():
            row = int(numbers[column].is_null().arg_max() or 0)
            shown = f"{frame[column][row]!r} for {column}"
            raise DataError(f"{path}: the block of line {starts[row]} has {shown}, expected a number")
    return Interactions.from_frame(numbers, name=name)


def _blocks(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The number of the first line of each block, and its values of the wanted keys."""
    fields: dict[str, str] = {}
    start = 0
    for first, lines in read_lines(path):
        for number, line in enumerate(lines, start=first):
            if line.strip():
                start = start or number
                key, _, value = line.partition(b":")
                if key in _BLOCK:
                    fields[_BLOCK[key]] = value.decode("utf-8", errors="replace").strip()
            elif start:
                yield start, fields
                fields, start = {}, 0
    if start:
        yield start, fields


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
        except (ValueError, RecursionError):
            return f"line {number}"
    return None
