"""What is no earlier run is refused, in one line that says what it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compared_worlds import judge

from unskew import Report, compare
from unskew.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def report() -> Report:
    return judge(metrics=["adg", "ndcg"])


def without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda read: read.pop(key)


def broken(where: list[Any], value: object) -> Callable[[dict[str, Any]], None]:
    def change(read: Any) -> None:
        for key in where[:-1]:
            read = read[key]
        read[where[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (broken(["study"], "schnabel2016"), "the JSON of a study, not of a report"),
        (broken(["audit"], {}), "the JSON of an audit, not of a report"),
        (without("run"), "has no 'run'"),
        (without("estimates"), "has no 'estimates'"),
        (without("unskew"), "has no 'unskew'"),
        (broken(["unskew"], "9.9.0"), "written by unskew 9.9.0"),
        (broken(["estimates"], [{"model": "m"}]), "not a complete report: no 'estimates[0].metric'"),
        (broken(["estimates"], 3), "not a complete report"),
        (broken(["estimates", 0, "value"], "high"), 'estimates[0].value is "high", not a number'),
        (broken(["estimates", 0, "std_error"], float("nan")), "estimates[0].std_error is NaN, not a number"),
        (broken(["estimates", 0, "metric"], 5), "estimates[0].metric is 5, not a text"),
        (broken(["run"], []), "not a complete report"),
        (broken(["run", "judged"], {"users": 0, "rows": 0}), "must be whole numbers above 0"),
        (broken(["run", "judged", "rows_a_user"], {"4": 7}), "rows_a_user must be numbers of users that add up"),
        (broken(["run", "judged", "rows_a_user"], {"4": "8"}), "not a complete report"),
        (broken(["run", "judged", "rows_a_user"], {"four": 8}), "not a complete report (ValueError"),
        (broken(["run", "judged", "rows_a_user"], [4]), "not a complete report (AttributeError"),
        (broken(["run", "data", "test"], {"sha256": 3}), "the test has no fingerprint"),
        (broken(["run", "models"], ["m"]), "models must be names and words"),
    ],
)
def test_json_of_something_else_is_refused(report: Report, change: Callable[[Any], None], words: str) -> None:
    read = json.loads(report.to_json())
    change(read)
    with pytest.raises(DataError) as refused:
        compare(report, read)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"user,item\n1,2\n", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b"[1, 2]", "not the JSON of a report"),
        (b"{}", "has no 'unskew'"),
    ],
)
def test_files_of_something_else_are_refused(report: Report, content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as refused:
        compare(report, path)
    assert str(refused.value).startswith(f"{path}: {words}") or words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "give what 'Report.to_json()' wrote" in str(refused.value)


def test_a_file_that_is_not_there_and_a_folder_are_refused(report: Report, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        compare(report, tmp_path / "no.json")
    with pytest.raises(DataError, match="this is a directory"):
        compare(report, tmp_path)


def test_runs_with_nothing_in_common_are_refused(report: Report) -> None:
    read = report.to_dict()
    read["estimates"] = [{**row, "model": "other"} for row in read["estimates"]]
    with pytest.raises(ConfigError, match="no model in common \\(there other; here m\\)"):
        compare(report, read)
    with pytest.raises(ConfigError, match="no metric and estimator in common; it has auc by aoa, ask for those"):
        compare(report, judge(metrics=["auc"]))
    many = judge(metrics=[f"recall@{k}" for k in range(1, 9)])
    with pytest.raises(ConfigError, match="recall@5 by aoa, recall@6 by aoa and 2 more, ask for those"):
        compare(report, many)


def test_what_is_no_report_or_in_the_wrong_place_is_refused(report: Report) -> None:
    for wrong in (None, 3, [report]):
        with pytest.raises(DataError, match=f"must be a report, its JSON or the file .*, not {type(wrong).__name__}"):
            compare(report, wrong)  # type: ignore[arg-type]
    for wrong in ("test.json", None, report.to_dict()):
        with pytest.raises(DataError, match=r"the report of this run first, got .* and the earlier run second"):
            compare(wrong, report)  # type: ignore[arg-type]


def test_a_later_patch_of_the_same_version_is_taken(report: Report) -> None:
    read = report.to_dict()
    read["unskew"] = ".".join([*read["unskew"].split(".")[:2], "99"])
    assert compare(report, read).rows
