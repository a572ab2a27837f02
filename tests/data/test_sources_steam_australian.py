"""Steam of Australian players on made lines; no row is from the real data."""

import gzip
import os
from pathlib import Path

import pytest

from unskew.data import Interactions
from unskew.data.sources import get_source, status_of
from unskew.data.sources.literals import parse_object
from unskew.data.sources.steam_australian import _library, _quickly
from unskew.errors import DataError

FILE = "australian_users_items.json"


def player(name: object, *games: tuple[object, object, object]) -> dict[str, object]:
    items = [
        {"item_id": game, "item_name": title, "playtime_forever": minutes, "playtime_2weeks": 0}
        for game, title, minutes in games
    ]
    return {"user_id": name, "items_count": len(items), "steam_id": "7", "user_url": "http://x/7", "items": items}


def text(*players: dict[str, object]) -> str:
    return "".join(f"{each!r}\n" for each in players)


TWO = text(player("ann", ("10", "Chess's End", 6), ("20", 'Say "Go"', 0)), player("bob-2", ("20", 'Say "Go"', 300)))


def read(folder: Path, lines: str, name: str = FILE) -> Interactions:
    raw = lines.encode()
    (folder / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return get_source("steam-australian").read(folder)


def rows(log: Interactions) -> list[tuple[object, ...]]:
    return log.to_polars().rows()


@pytest.mark.parametrize("name", [FILE, f"{FILE}.gz"])
def test_every_game_of_a_library_is_a_row_with_the_minutes_played(tmp_path: Path, name: str) -> None:
    log = read(tmp_path, TWO, name)
    assert rows(log) == [("ann", 10, 6.0), ("ann", 20, 0.0), ("bob-2", 20, 300.0)]
    assert log.times is None


def test_players_without_a_game_are_left_out(tmp_path: Path) -> None:
    log = read(tmp_path, text(player("cid")) + "\n" + TWO)
    assert (log.n_users, log.n_items, len(log)) == (2, 2, 3)


def test_of_several_lines_of_a_player_the_first_with_a_game_is_kept(tmp_path: Path) -> None:
    """A later copy adds neither its games nor its minutes."""
    again = text(player("ann", ("10", "Chess's End", 99), ("30", "Late", 5)))
    log = read(tmp_path, text(player("ann")) + TWO + again)
    assert rows(log) == [("ann", 10, 6.0), ("ann", 20, 0.0), ("bob-2", 20, 300.0)]


@pytest.mark.parametrize(
    "line",
    [
        text(player("ann", ("10", "plain", 6))),
        text(player("ann")),
        text(player("ann", ("10", 'Chess\'s "End" \\ é', 6), ("20", "}]}, {'item_id': '9'", 7))),
        text(player("ann", ("10", "', 'playtime_forever': 1, 'playtime_2weeks': 0}, {'item_id': '5", 6))),
    ],
    ids=["plain", "empty", "quotes", "a name that looks like a game"],
)
def test_the_quick_way_reads_what_the_parser_reads(line: str) -> None:
    quick = _quickly(line.strip())
    assert quick is not None
    assert quick == _library(line, "here")


@pytest.mark.parametrize(
    "record",
    [
        player(76561197960265728, ("10", "a", 6)),
        player("ann", (10, "a", 6)),
        player("ann", ("10", "a", 6.5)),
        player("o'n", ("10", "a", 6)),
        {"items": [{"playtime_forever": 6, "item_id": "10"}], "user_id": "ann"},
    ],
    ids=["number for a player", "number for a game", "half minutes", "quote in a player", "other order"],
)
def test_a_line_written_otherwise_is_read_too(tmp_path: Path, record: dict[str, object]) -> None:
    assert _quickly(repr(record)) is None
    ((user, item, value),) = rows(read(tmp_path, text(record)))
    assert (str(user), item) == (str(record["user_id"]), 10)
    assert value in {6.0, 6.5}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{'user_id': 'cid', 'items': [", "line 3 is not an object with 'user_id' and a list 'items'"),
        ("['user_id', 'items']", "line 3 is not an object"),
        ("{'user_id': 'cid'}", "line 3 is not an object"),
        ("{'items': []}", "line 3 is not an object"),
        ("{[]: 1}", "line 3 is not an object"),
        ("[" * 100_000, "line 3 is not an object"),
        ("{'user_id': '', 'items': []}", "line 3 has the id ''"),
        ("{'user_id': 'cid', 'items': [{'item_id': '10'}]}", "line 3 has an item without"),
        ("{'user_id': 'cid', 'items': ['10']}", "line 3 has an item without"),
        (repr(player("cid", ("ten", "a", 6))), "line 3 has the game 'ten'"),
        (repr(player("cid", ("9" * 19, "a", 6))), "line 3 has the game '9999"),
        (repr(player("cid", ("10", "a", -1))), "line 3 has -1 for playtime_forever"),
        (repr(player("cid", ("10", "a", "6"))), "line 3 has '6' for playtime_forever"),
        (repr(player("cid", ("10", "a", True))), "line 3 has True for playtime_forever"),
        (repr(player("cid", ("10", "a", 6)))[:-9], "line 3 is not an object"),
    ],
    ids=range(15),
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(DataError, match=rf"australian_users_items\.json: {said}"):
        read(tmp_path, f"{TWO}{line}\n")


def test_a_line_is_never_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(DataError, match="line 1"):
        read(tmp_path, f"open({str(made)!r}, 'w')\n")
    assert not made.exists()
    assert parse_object("__import__('os')") is None


@pytest.mark.parametrize("lines", ["", "\n\n", text(player("ann"))])
def test_a_file_without_any_game_is_an_error(tmp_path: Path, lines: str) -> None:
    with pytest.raises(DataError, match="no player has a game"):
        read(tmp_path, lines)


def test_a_missing_and_a_cut_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no file 'australian_users_items\.json'"):
        get_source("steam-australian").read(tmp_path)
    (tmp_path / f"{FILE}.gz").write_bytes(gzip.compress(TWO.encode())[:-9])
    with pytest.raises(DataError, match=r"json\.gz: not a complete gzip"):
        get_source("steam-australian").read(tmp_path)


def test_the_real_file_has_the_published_counts() -> None:
    """STMV1 of Tian and Ekstrand (2020)."""
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"]) / "steam-australian"
    if status_of(get_source("steam-australian"), folder).presence != "present":
        pytest.skip("real data: steam-australian is not in the folder UNSKEW_DATA")
    log = get_source("steam-australian").read(folder)
    assert (log.n_users, log.n_items, len(log)) == (70_912, 10_978, 5_094_082)
