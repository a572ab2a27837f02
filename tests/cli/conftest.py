"""A small world on disk, and the command line called from within the test."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from unskew.cli import main

USERS, ITEMS = 20, 15


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class World:
    """Files of a small run: train.csv, test.csv, mf.npz, dense.csv, top.csv."""

    folder: Path

    def __truediv__(self, name: str) -> str:
        return str(self.folder / name)

    def write(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def factors(self, name: str = "changed.npz", **changed: Any) -> str:
        """The factors with some arrays changed, or left out where None."""
        with np.load(self.folder / "mf.npz") as stored:
            arrays = {**stored, **changed}
        np.savez(self.folder / name, **{key: array for key, array in arrays.items() if array is not None})
        return str(self.folder / name)

    def array(self, name: str) -> Any:
        with np.load(self.folder / "mf.npz") as stored:
            return stored[name]

    def evaluate(self, *more: str, train: str = "train.csv", test: str = "test.csv", model: bool = True) -> list[str]:
        """The words of an evaluation of these files."""
        models = ["--factors", self / "mf.npz"] if model else []
        return ["evaluate", "--train", self / train, "--test", self / test, *models, *more]


def read_terminal(command: list[str], environment: dict[str, str]) -> str:
    """What a command shows on stderr, a terminal. It is read while it runs, because a terminal holds little."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(120) == 0
    return shown.decode(errors="replace")


@pytest.fixture
def on_terminal() -> Callable[[list[str], dict[str, str]], str]:
    return read_terminal


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # packages that other tests import may have set it


@pytest.fixture
def unskew(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as leave:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Outcome(int(leave.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def world(tmp_path: Path) -> World:
    rng = np.random.default_rng(0)
    popular = 1 / np.arange(1, ITEMS + 1) ** 0.7
    users = [f"u{user}" for user in range(USERS)]
    items = [f"i{item}" for item in range(ITEMS)]
    rows: dict[str, list[Any]] = {"train": [], "test": []}
    for user in range(USERS):
        had = rng.choice(ITEMS, 8, replace=False, p=popular / popular.sum())
        for place, item in enumerate(had):
            rating, time = int(rng.integers(1, 6)), 100 * place + user
            row = (users[user], items[item], rating, time)
            rows["train" if place < 5 else "test"].append(row)
    columns = ["user", "item", "rating", "timestamp"]
    pl.DataFrame(rows["train"], schema=columns, orient="row").write_csv(tmp_path / "train.csv")
    test = pl.DataFrame(rows["test"], schema=columns, orient="row")
    chance = pl.Series("propensity", np.round(rng.uniform(0.1, 1, len(test)), 3))
    test.with_columns(chance).write_csv(tmp_path / "test.csv")
    user_factors = rng.normal(size=(USERS, 4)).astype(np.float32)
    item_factors = rng.normal(size=(ITEMS, 4)).astype(np.float32)
    np.savez(tmp_path / "mf.npz", user_factors=user_factors, item_factors=item_factors, user_ids=users, item_ids=items)
    scores = user_factors @ item_factors.T
    for name, length in (("dense", ITEMS), ("top", 4)):
        best = np.argsort(-scores, axis=1)[:, :length]
        table = [(users[u], items[i], float(scores[u, i])) for u in range(USERS) for i in best[u]]
        pl.DataFrame(table, schema=["user", "item", "score"], orient="row").write_csv(tmp_path / f"{name}.csv")
    return World(tmp_path)


@pytest.fixture
def refuse(unskew: Callable[..., Outcome], world: World) -> Callable[..., str]:
    """Run an evaluation that must be refused: exit 2, one plain line, nothing on stdout, no file made."""

    def run(*arguments: str, says: tuple[str, ...] = (), outputs: bool = True) -> str:
        before = {path: path.stat().st_mtime_ns for path in world.folder.rglob("*")}
        asked = ["--json", world / "out.json", "--html", world / "out.html"] if outputs else []
        outcome = unskew(*arguments, *asked)
        assert outcome.code == 2, outcome
        assert outcome.out == ""
        assert outcome.err.endswith("\n")
        assert outcome.err.count("\n") == 1, outcome.err
        assert outcome.err.startswith("unskew: ")
        assert "Traceback" not in outcome.err
        assert "this is a bug" not in outcome.err
        after = {path: path.stat().st_mtime_ns for path in world.folder.rglob("*")}
        assert after == before, "a file was made, changed or lost"
        for words in says:
            assert words in outcome.err
        return outcome.err

    return run
