"""Steam: the games of Australian players, with the minutes they played."""

import re
from array import array
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.sources.literals import id_text, numbered_lines, parse_object
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate
from unskew.errors import DataError

_FILE = "australian_users_items.json"
_LARGEST = 2**63

# Parsing the half gigabyte as Python takes minutes. A line of exactly this shape is read by patterns, many times as
# fast; any other is parsed.
_TEXT = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
_GAME = (
    rf"\{{'item_id': '([0-9]{{1,18}})', 'item_name': {_TEXT}, "
    r"'playtime_forever': ([0-9]{1,15}), 'playtime_2weeks': [0-9]++\}"
)
_LINE = (
    rf"\{{'user_id': '(?P<player>[^'\\]++)', 'items_count': [0-9]++, 'steam_id': {_TEXT}, 'user_url': {_TEXT}, "
    rf"'items': \[(?P<games>(?:{_GAME}(?:, {_GAME})*+)?+)]\}}"
)
_GAME_PATTERN, _LINE_PATTERN = re.compile(_GAME), re.compile(_LINE)

Library: TypeAlias = tuple[str, list[int], list[float]]
"""A player, the games and the minutes played."""


def read(folder: Path) -> Interactions:
    """Read ``australian_users_items.json``: one player per line, a Python literal with ``user_id`` and ``items``.

    A game in a player's library is a row, even if it was never played; its value is ``playtime_forever``, the minutes
    played in all. Players without a game are left out. If a player has several lines, the first with a game is used and
    the others are ignored. These should be the 70,912 users, 10,978 items and 5,094,082 rows of Tian and Ekstrand
    (2020), who call the set STMV1.
    """
    path = locate(folder, _FILE, "steam-australian")
    players: dict[str, int] = {}
    games, minutes = array("q"), array("d")
    for number, line in numbered_lines(path):
        player, owned, played = _quickly(line) or _library(line, f"{path}: line {number}")
        if owned and player not in players:
            players[player] = len(owned)
            games.extend(owned)
            minutes.extend(played)
    if not players:
        raise DataError(f"{path}: no player has a game; is it the original file?")
    users = pl.Series(list(players))[np.repeat(np.arange(len(players)), list(players.values()))]
    frame = pl.DataFrame({"user": users, "item": np.array(games), "rating": np.array(minutes)})
    return Interactions.from_frame(frame, name="steam-australian")


def _quickly(line: str) -> Library | None:
    """The library of a line in exactly the owner's format; None for any other."""
    whole = _LINE_PATTERN.fullmatch(line)
    if whole is None:
        return None
    games = _GAME_PATTERN.findall(whole["games"])
    return whole["player"], [int(game) for game, _ in games], [float(played) for _, played in games]


def _library(line: str, where: str) -> Library:
    record = parse_object(line)
    items = record.get("items") if isinstance(record, dict) else None
    if not isinstance(items, list) or "user_id" not in record:
        raise DataError(f"{where} is not an object with 'user_id' and a list 'items'; is it the original file?")
    if not all(isinstance(item, dict) and {"item_id", "playtime_forever"} <= item.keys() for item in items):
        raise DataError(f"{where} has an item without 'item_id' or 'playtime_forever'; is it the original file?")
    player = id_text(record["user_id"], where)
    return player, [_game(item["item_id"], where) for item in items], [_played(item, where) for item in items]


def _game(value: Any, where: str) -> int:
    text = id_text(value, where)
    if not (text.isascii() and text.isdigit() and int(text) < _LARGEST):
        raise DataError(f"{where} has the game {value!r}; games are whole numbers, is it the original file?")
    return int(text)


def _played(item: dict[str, Any], where: str) -> float:
    value = item["playtime_forever"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise DataError(f"{where} has {value!r} for playtime_forever; expected minutes, 0 or more")
    return float(value)


STEAM_AUSTRALIAN = Source(
    name="steam-australian",
    title="Steam, version 1: users and items",
    licence="No licence is stated, so no right to redistribute; the owner asks for citation",
    citation=(
        "W.-C. Kang and J. McAuley (2018). Self-Attentive Sequential Recommendation. ICDM; M. Wan and J. McAuley "
        "(2018). Item Recommendation on Monotonic Behavior Chains. RecSys; A. Pathak, K. Gupta and J. McAuley (2017). "
        "Generating and Personalizing Bundle Recommendations on Steam. SIGIR"
    ),
    home="https://cseweb.ucsd.edu/~jmcauley/datasets.html#steam_data",
    forms=(Form({_FILE: None}),),
    reader=read,
    download="https://mcauleylab.ucsd.edu/public_datasets/data/steam/australian_users_items.json.gz",
    how_to_get=(
        "Download australian_users_items.json.gz, version 1: user and item data, from the official home and put it "
        "into the folder"
    ),
)
