"""Whole commands with odd flags and files: exit code, one message, and files that are whole or absent."""

import contextlib
import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np

from families.delimited import Delimited
from families.family import Family, HalfWritten, Recipe, Silent, Traceback
from families.mutations import NUMBERS, TEXTS, change_bytes, change_text, pick
from families.words import printed
from unskew.cli import main
from unskew.data.candidates import Candidates
from unskew.errors import ConfigError
from unskew.estimators import Estimator, Interval
from unskew.metrics.metric import MetricWord
from unskew.propensities import PropensityModel

_INPUTS = ("train.csv", "test.csv", "scores.csv", "mf.npz", "users.csv", "items.csv", "labels.csv", "before.json")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FLAGS: dict[str, tuple[str, ...]] = {
    "--positive": ("rating>=3", "rating>9", "x>1", "rating"),
    "--seed": ("0", "7", "-1"),
    "--level": ("0.9", "1", "0", "-1"),
    "--ties": ("random", "expected", "x"),
    "--users": ("common", "served", "x"),
    "--until": ("decided", "width<0.1", "x"),
    "--scale": ("1-5", "1-2", "5-1"),
    "--assume": ("gamma=0..1", "gamma=x"),
    "--by": ("users.csv:gender", "popularity", "items.csv", "test:week", "x.csv:a"),
    "--relevant-counts": ("users.csv", "users.csv:relevant=n"),
    "--catalogue": ("items.csv",),
    "--exposed": ("labels.csv",),
    "--validation": ("test.csv", "labels.csv"),
    "--against": ("before.json", "train.csv"),
    "--user-col": ("user", "uid", "item"),
    "--rating-col": ("rating", "x"),
    "--timestamp-col": ("timestamp", "rating"),
    "--weight-col": ("rating", "x"),
    "--propensity-col": ("rating", "propensity"),
    "--columns": ("user,item,rating", "user,item", "_,user,item", ",,"),
    "--sep": ("tab", ";", "::", '"', ""),
    "--encoding": ("latin-1", "utf-16", "x"),
    "--block-size": ("1", "0", "1000000"),
    "--threads": ("1", "0", "-3"),
    "--max-dropped": ("0.5", "0", "x"),
    "--unlisted": ("tied", "x"),
    "--format": ("csv", "md", "latex", "json", "x"),
    "--allow-missing": (),
    "--no-baselines": (),
    "--debug": (),
    "--bogus": (),
}
_OF = {
    "split": {
        "--holdout": ("0.5", "0", "1", "x"),
        "--temporal": ("0.3", "2"),
        "--per-user": ("0.5", "1"),
        "--k-core": ("2",),
    },
    "audit": {
        "--holdout": ("0.3", "2"),
        "--temporal": ("0.3",),
        "--k": ("2", "0", "99999999999"),
        "--depth": ("none",),
    },
    "gate": {"--margin": ("0.01", "-1", "nan"), "--require": ("snips",)},
}

_SPLIT, _METRIC = ("--train", "train.csv", "--test", "test.csv"), ("-m", "recall@2")


class Commands(Family):
    """No pages, because the engine that draws charts reserves more addresses than a worker may have."""

    name = "commands"
    share = 7

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = np.random.default_rng(3)
        cells = rng.permutation(40)
        rows = [f"u{c // 8},i{c % 8},{1 + c % 5},{1000 + c}" for c in cells]
        (folder / "train.csv").write_text("user,item,rating,timestamp\n" + "\n".join(rows[:18]) + "\n")
        (folder / "test.csv").write_text("user,item,rating,timestamp\n" + "\n".join(rows[18:30]) + "\n")
        (folder / "labels.csv").write_text(
            "user,item,label\n" + "".join(f"u{c // 8},i{c % 8},{c % 2}\n" for c in cells[30:])
        )
        scores = "".join(f"u{c // 8},i{c % 8},{rng.normal():.3f}\n" for c in range(40))
        (folder / "scores.csv").write_text("user,item,score\n" + scores)
        (folder / "users.csv").write_text(
            "user,gender,relevant\n" + "".join(f"u{k},{'mf'[k % 2]},{k + 5}\n" for k in range(5))
        )
        (folder / "items.csv").write_text("item,genre\n" + "".join(f"i{k},g{k % 3}\n" for k in range(9)))
        np.savez(
            folder / "mf.npz",
            user_factors=rng.normal(size=(5, 2)).astype("f4"),
            item_factors=rng.normal(size=(8, 2)).astype("f4"),
            user_ids=[f"u{k}" for k in range(5)],
            item_ids=[f"i{k}" for k in range(8)],
        )
        words = ["--train", folder / "train.csv", "--test", folder / "test.csv", "--model", "popular"]
        self._run(["evaluate", *map(str, words), "-m", "recall@2", "-e", "aoa", "--json", str(folder / "before.json")])
        self.texts = Delimited(folder)

    def make(self, rng: random.Random) -> Recipe:
        command = pick(rng, ("evaluate", "evaluate", "evaluate", "split", "split", "audit", "gate"))
        models = [
            ["--model", "popular"],
            ["--scores", "scores.csv"],
            ["--factors", "mf.npz"],
            ["--predictions", "scores.csv"],
        ]
        words = {
            "evaluate": [*_SPLIT, *pick(rng, models), *_METRIC, "-e", "aoa"],
            "split": ["train.csv", "out"],
            "audit": ["train.csv", "--depth", "none", "--quiet"],
            "gate": ["popular", "scores.csv", *_SPLIT, *_METRIC, "--margin", "0.1"],
        }[command]
        for _ in range(pick(rng, (0, 1, 1, 2, 3))):
            known = {**_FLAGS, **_OF.get(command, {})} if command == "evaluate" or rng.random() < 0.3 else _OF[command]
            flag = pick(rng, list(known))
            values = known[flag]
            odd = rng.random() < 0.2
            words = [*words, flag, *([pick(rng, (*NUMBERS, *TEXTS) if odd else values)] if values else [])]
        if command == "evaluate" and rng.random() < 0.4:
            families: dict[str, Any] = {
                "-m": MetricWord,
                "-e": Estimator,
                "--propensity": PropensityModel,
                "--interval": Interval,
                "--candidates": Candidates,
            }
            flag = pick(rng, list(families))
            words += [flag, printed(rng, families[flag], wild=rng.random() < 0.3) + ("@2" if flag == "-m" else "")]
        if command != "split":
            words += ["--json", pick(rng, ("out.json", "out.json", "-", "missing/out.json", "train.csv"))]
        if rng.random() < 0.15:
            place = rng.randrange(len(words))
            words[place] = change_text(rng, words[place], (*TEXTS, *NUMBERS))
        files = {}
        if rng.random() < 0.35:
            name = pick(rng, _INPUTS)
            content = (self.folder / name).read_bytes()
            if name.endswith(".csv") and rng.random() < 0.7:
                rows = content.decode().splitlines()
                place = rng.randrange(len(rows))
                rows[place] = change_text(rng, rows[place], (*TEXTS, *NUMBERS, ",", '"', "\r"))
                content = "\n".join(rows).encode("utf-8", errors="surrogatepass") + b"\n"
            else:
                content = change_bytes(rng, content)
            files[name] = content.decode("latin-1")
        return {"words": [command, *words], "files": files}

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        for name in _INPUTS:
            given = recipe["files"].get(name)
            (folder / name).write_bytes((self.folder / name).read_bytes() if given is None else given.encode("latin-1"))
        before = {path: path.read_bytes() for path in folder.iterdir()}
        with contextlib.chdir(folder):
            status, out, err = self._run([word.replace("\0", "") for word in recipe["words"]])
        after = {path for path in folder.rglob("*") if path.is_file()}
        changed = sorted(str(path.relative_to(folder)) for path in after if before.get(path) != path.read_bytes())
        wrong = "Traceback (most recent call last)" in err or "this is a bug" in err
        if wrong:
            raise Traceback(err[-3000:])
        if status not in {0, 1, 2, 3} or (status == 3 and recipe["words"][0] != "gate"):
            raise Traceback(f"exit status {status}: {err[-1000:]}")
        if any(path.name.startswith(".unskew") or path.suffix == ".part" for path in after) or set(before) - after:
            raise HalfWritten(f"left over or gone: {sorted(path.name for path in after ^ set(before))}")
        if _CONTROL.search(out + err):
            raise Silent(f"a control character is printed: {out + err!r:.800}")
        if status != 2:
            _check_results(folder, changed, out, recipe["words"])
            return
        if changed:
            raise HalfWritten(f"exit status 2, but {changed} is written")
        errors = [line for line in err.splitlines() if line.startswith("unskew: ")]
        if len(errors) != 1 or err.splitlines()[-1] != errors[0] or len(errors[0]) > 1100:
            raise Silent(f"not one message: {err[-2000:]!r}")
        raise ConfigError(errors[0])

    @staticmethod
    def _run(words: list[str]) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main([word.encode("utf-8", "replace").decode() for word in words])
            except SystemExit as leave:
                status = int(leave.code or 0)
        return status, out.getvalue(), err.getvalue()


def _check_results(folder: Path, changed: list[str], out: str, words: list[str]) -> None:
    """Files of results are whole, and cells of CSV begin with nothing that a spreadsheet would compute."""
    for name in changed:
        content = (folder / name).read_text() if name.endswith((".json", ".csv")) else ""
        if name.endswith(".json"):
            json.loads(content)
    if "csv" in words and out and "--json" in words and words[words.index("--json") + 1] != "-":
        for row in csv.reader(io.StringIO(out)):
            for cell in row:
                if cell[:1] in "=@" and cell[:1]:
                    raise Silent(f"a cell of CSV is {cell!r}")
