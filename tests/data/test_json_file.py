"""JSON that goes in: what does not fit its schema is named, and nothing else than JSON is read."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.data.formats.json_file import Anything, Each, Least, conform, read_json
from unskew.errors import DataError

SCHEMA = {"name": str, "n": Least(1), "by": Each((float, None)), "rows": [{"x": float, "on": bool}], "more": Anything}
GOOD: dict[str, Any] = {"name": "a", "n": 3, "by": {"k": 0.5, "l": None}, "rows": [{"x": 1, "on": True}], "more": [{}]}


def test_what_fits_passes() -> None:
    conform(GOOD, SCHEMA, "x", "again")


WRONG = {
    "another kind": ([], "it is [], not an object"),
    "a key less": ({key: GOOD[key] for key in GOOD if key != "n"}, "no 'n'"),
    "a key more": ({**GOOD, "nane": 1}, "unknown key 'nane'; did you mean 'name'?"),
    "a number for a text": ({**GOOD, "name": 3}, "name is 3, not a text"),
    "too small": ({**GOOD, "n": 0}, "n is 0, not a whole number of at least 1"),
    "a truth for a number": ({**GOOD, "n": True}, "n is true, not a whole number"),
    "many digits": ({**GOOD, "n": 10**30}, "not a whole number"),
    "neither": ({**GOOD, "by": {"k": "x"}}, 'by.k is "x", not a number'),
    "in a list": ({**GOOD, "rows": [{"x": 1.0, "on": True}, {"x": [], "on": True}]}, "rows[1].x is [], not a number"),
    "not a list": ({**GOOD, "rows": {}}, "rows is {}, not a list"),
    "infinite": ({**GOOD, "by": {"k": float("inf")}}, "by.k is Infinity, not a number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_named(name: str) -> None:
    data, says = WRONG[name]
    with pytest.raises(DataError) as caught:
        conform(data, SCHEMA, "x", "again")
    assert says in str(caught.value)
    assert str(caught.value).startswith("x: ")
    assert str(caught.value).endswith("; again")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=8,
    )
)
def test_any_data_pass_or_are_refused(data: Any) -> None:
    try:
        conform(data, SCHEMA, "x", "again")
    except DataError:
        return
    assert set(data) == set(SCHEMA)


BAD = {
    "nothing": b"",
    "not JSON": b"{",
    "NaN": b'{"a": NaN}',
    "Latin-1": b'"\xe9"',
    "digits": b"1" * 5_000,
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_json_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(BAD[name])
    with pytest.raises(DataError, match=r"x\.json: not a thing, because it is not JSON .*; make it$") as caught:
        read_json(path, "a thing", "make it")
    assert "\n" not in str(caught.value)
