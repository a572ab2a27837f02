"""Tradesy: what people bought, and want, of second-hand clothes."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_lines
from unskew.errors import DataError

_FILE = "tradesy.json"
_LISTS = ("bought", "want")


def read(folder: Path) -> Interactions:
    """Read ``tradesy.json``: a line a person, with ``uid`` and ``lists`` of what was bought, wanted, sold and offered.

    An item that a person bought or wants is a row, once; what a person sells says nothing of taste. All persons with
    such an item are read. He and McAuley (2016) keep those with at least five; without repeated items these should be
    the 19,243 users, 165,906 items and 394,421 rows of Yang et al. (2018).
    """
    path = locate(folder, _FILE, "tradesy")
    users: list[str] = []
    items: list[str] = []
    for number, line in _lines(path):
        user, liked = _person(line, f"{path}: line {number}")
        users.extend([user] * len(liked))
        items.extend(liked)
    if not users:
        raise DataError(f"{path}: nobody in it bought or wants anything; is it the original file?")
    return Interactions.from_frame(pl.DataFrame({"user": users, "item": items}), name="tradesy")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    for first, block in read_lines(path):
        for number, line in enumerate(block, start=first):
            if line.strip():
                yield number, line.decode("utf-8", errors="replace").strip()


def _person(line: str, where: str) -> tuple[str, list[str]]:
    """The id of a person, and what was bought or is wanted, each item once."""
    record = _parse(line)
    lists = record.get("lists") if isinstance(record, dict) else None
    if not isinstance(lists, dict) or "uid" not in record:
        raise DataError(f"{where} is no object with 'uid' and 'lists'; is it the original file?")
    liked: dict[str, None] = {}
    for name in _LISTS:
        if not isinstance(lists.get(name), list):
            raise DataError(f"{where} has no list {name!r}; is it the original file?")
        liked.update((_id(item, where), None) for item in lists[name])
    return _id(record["uid"], where), list(liked)


def _parse(line: str) -> Any:
    """The object of a line, written as JSON or, as the owner does, as Python would; it is never run."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _id(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise DataError(f"{where} has the id {value!r}; ids are whole numbers or text")
    return str(value)


TRADESY = Source(
    name="tradesy",
    title="Tradesy",
    licence="No licence is stated, so no right to redistribute; the owner asks for citation",
    citation=("R. He and J. McAuley (2016). VBPR: Visual Bayesian Personalized Ranking from Implicit Feedback. AAAI"),
    home="https://jmcauley.ucsd.edu/data/tradesy/",
    forms=(Form({_FILE: None}),),
    reader=read,
    download="https://jmcauley.ucsd.edu/data/tradesy/tradesy.json.gz",
    how_to_get="Download tradesy.json.gz from the official home and put it into the folder",
)
