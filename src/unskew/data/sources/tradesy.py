"""Tradesy: the second-hand clothes that people bought or want."""

from pathlib import Path

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.sources.literals import id_text, numbered_lines, parse_object
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate
from unskew.errors import DataError

_FILE = "tradesy.json"
_LISTS = ("bought", "want")


def read(folder: Path) -> Interactions:
    """Read ``tradesy.json``: one person per line, with ``uid`` and ``lists`` of items bought, wanted, sold and offered.

    An item that a person bought or wants is one row; what a person sells is not used. All persons with such an item are
    read. He and McAuley (2016) keep those with at least five; without repeated items these should be the 19,243 users,
    165,906 items and 394,421 rows of Yang et al. (2018).
    """
    path = locate(folder, _FILE, "tradesy")
    users: list[str] = []
    items: list[str] = []
    for number, line in numbered_lines(path):
        user, liked = _person(line, f"{path}: line {number}")
        users.extend([user] * len(liked))
        items.extend(liked)
    if not users:
        raise DataError(f"{path}: no person bought or wants an item; is it the original file?")
    return Interactions.from_frame(pl.DataFrame({"user": users, "item": items}), name="tradesy")


def _person(line: str, where: str) -> tuple[str, list[str]]:
    """The id of a person, and the items that were bought or are wanted, each once."""
    record = parse_object(line)
    lists = record.get("lists") if isinstance(record, dict) else None
    if not isinstance(lists, dict) or "uid" not in record:
        raise DataError(f"{where} is not an object with 'uid' and 'lists'; is it the original file?")
    liked: dict[str, None] = {}
    for name in _LISTS:
        if not isinstance(lists.get(name), list):
            raise DataError(f"{where} has no list {name!r}; is it the original file?")
        liked.update((id_text(item, where), None) for item in lists[name])
    return id_text(record["uid"], where), list(liked)


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
