from pathlib import Path
from typing import Any

import pytest

from unskew.data.writing import AsJson, saved
from unskew.errors import DataError


class Result(AsJson):
    def to_dict(self) -> dict[str, Any]:
        return {"value": 0.5, "words": "für"}


def test_json_is_text_and_a_file_when_one_is_named(tmp_path: Path) -> None:
    text = '{\n  "value": 0.5,\n  "words": "für"\n}\n'
    assert Result().to_json() == Result().to_json(tmp_path / "result.json") == text
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == text


def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    assert saved("text", None) == "text"
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        saved("text", tmp_path / "nowhere" / "page.html")
