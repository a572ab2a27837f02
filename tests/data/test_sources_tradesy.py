"""Tradesy on made lines; no row is from the real data."""

import gzip
import os
from pathlib import Path

import pytest

from unskew.data import Interactions
from unskew.data.sources import get_source, status_of
from unskew.errors import DataError

PYTHON = (
    "{'lists': {'bought': ['466', '459'], 'selling': ['1'], 'want': ['459', '12'], 'sold': []}, 'uid': '2'}\n"
    "\n"
    "{'lists': {'bought': [], 'selling': [], 'want': ['12', '12'], 'sold': ['466']}, 'uid': '30'}\n"
    "{'lists': {'bought': [], 'selling': ['7'], 'want': [], 'sold': []}, 'uid': '4'}\n"
)
GOOD = '{"uid": 1, "lists": {"bought": [5], "want": []}}\n'


def read(folder: Path, text: str, name: str = "tradesy.json") -> Interactions:
    raw = text.encode()
    (folder / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return get_source("tradesy").read(folder)


def pairs(log: Interactions) -> list[tuple[object, object]]:
    return [(user, item) for user, item, *_ in log.to_polars().iter_rows()]


@pytest.mark.parametrize("name", ["tradesy.json", "tradesy.json.gz"])
@pytest.mark.parametrize("text", [PYTHON, PYTHON.replace("'", '"')], ids=["Python", "JSON"])
def test_what_was_bought_or_is_wanted_is_a_row_once(tmp_path: Path, name: str, text: str) -> None:
    """Item 459 is in both lists of user 2; user 4 only sells, so is not in it."""
    log = read(tmp_path, text, name)
    assert pairs(log) == [(2, 466), (2, 459), (2, 12), (30, 12)]
    assert (log.n_users, log.n_items, log.duplicates) == (2, 3, 0)
    assert log.values is None
    assert log.times is None


def test_both_ways_of_writing_may_be_mixed_and_ids_may_be_numbers(tmp_path: Path) -> None:
    assert pairs(read(tmp_path, GOOD + PYTHON)) == [(1, 5), (2, 466), (2, 459), (2, 12), (30, 12)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{'uid': '2', 'lists': ", "line 2 is not an object"),
        ("['uid', 'lists']", "line 2 is not an object"),
        ("{'uid': '2'}", "line 2 is not an object"),
        ("{'lists': {'bought': [], 'want': []}}", "line 2 is not an object"),
        ("{'uid': '2', 'lists': {'bought': []}}", "line 2 has no list 'want'"),
        ("{'uid': '2', 'lists': {'bought': 'all', 'want': []}}", "line 2 has no list 'bought'"),
        ("{'uid': '2', 'lists': {'bought': [1.5], 'want': []}}", "line 2 has the id 1.5"),
        ("{'uid': '', 'lists': {'bought': [], 'want': []}}", "line 2 has the id ''"),
        ("{'uid': True, 'lists': {'bought': [], 'want': []}}", "line 2 has the id True"),
        ("[" * 100_000, "line 2 is not an object"),
    ],
    ids=range(10),
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(DataError, match=rf"tradesy\.json: {said}"):
        read(tmp_path, GOOD + line + "\n")


def test_a_line_is_never_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(DataError, match="line 1"):
        read(tmp_path, f"open({str(made)!r}, 'w')\n")
    assert not made.exists()


@pytest.mark.parametrize("text", ["", "\n\n", "{'uid': '2', 'lists': {'bought': [], 'want': []}}\n"])
def test_a_file_without_any_row_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="no person bought or wants"):
        read(tmp_path, text)


def test_a_cut_gzip_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tradesy.json.gz").write_bytes(gzip.compress(PYTHON.encode())[:-9])
    with pytest.raises(DataError, match=r"tradesy\.json\.gz: not a complete gzip"):
        get_source("tradesy").read(tmp_path)


def test_the_real_file_has_the_published_counts_for_people_with_five_items() -> None:
    """The counts of Yang et al. (2018), with the rule of He and McAuley (2016), who count repeated items too."""
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"]) / "tradesy"
    if status_of(get_source("tradesy"), folder).presence != "present":
        pytest.skip("real data: tradesy is not in the folder UNSKEW_DATA")
    log = get_source("tradesy").read(folder)
    kept = log.take(log.user_counts[log.users] >= 5)
    found = (int((kept.user_counts > 0).sum()), int((kept.item_counts > 0).sum()), len(kept))
    assert found == (19_243, 165_906, 394_421)
