import json
import shlex
from pathlib import Path

import pytest

from unskew.cli.app import main


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as leave:
        main(list(words))
    captured = capsys.readouterr()
    return leave.value.code, captured.out, captured.err


def test_the_demo_prints_who_is_right_and_how_to_get_the_same_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "demo"
    code, out, err = run(capsys, "demo", "--out", str(folder))
    assert code == 0
    assert err == ""
    assert "puts first" in out
    assert "puts 'popular' first" in " ".join(out.split())
    assert "hold truth" in out
    assert all(str(path) in out for path in folder.iterdir())
    command = out.strip().splitlines()[-1]
    assert command.startswith("unskew evaluate ")
    assert run(capsys, *shlex.split(command)[1:], "--quiet")[0] == 0
    assert (folder / "again.json").read_bytes() == (folder / "report.json").read_bytes()
    assert json.loads((folder / "truth.json").read_text())["seed"] == 0


def test_a_file_in_the_place_of_the_folder_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    code, out, err = run(capsys, "demo", "--out", str(tmp_path / "taken"))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "--out" in err


def test_a_negative_seed_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, "demo", "--seed", "-1", "--out", str(tmp_path / "x"))
    assert code == 2
    assert "seed -1" in err
    assert not (tmp_path / "x").exists()
