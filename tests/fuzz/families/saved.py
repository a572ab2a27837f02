"""Files that the program wrote and reads again, then damaged: ranks, checkpoints and sums of parts."""

import json
import random
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from families.family import Family, Recipe, Silent
from families.mutations import change_bytes, change_json, pick
from families.words import check_estimate
from unskew import Interactions, Ranks, Split, evaluate
from unskew.data import open_split, write_parts
from unskew.data.formats.array_file import read_npz, write_checked
from unskew.evaluation.partitioned.reduction import Reduction
from unskew.models import Model
from unskew.ranking import ListScorer, prepare_contest, rank

USERS, ITEMS = 6, 8
_RANKS = ("ranks", "lists", "pool", "ordinal")
_ODD = (0, 1, -1, 2, 7, 8, 100, 2**31 - 1, -(2**31), 2**40, 0.5, 1e38, float("nan"), float("inf"))
_TYPES = ("i4", "i8", "i1", "u4", "u8", "f4", "f8", "f2", "b", "U4", "c8", "S2", "M8[s]")


def small_split(candidates: str = "unseen") -> Split:
    """A log of 30 rows, a third of which is held out."""
    pairs = np.random.default_rng(5).permutation(USERS * ITEMS)[:30]
    log = Interactions.from_arrays(pairs // ITEMS, pairs % ITEMS, n_users=USERS, n_items=ITEMS)
    return Split(log.take(np.arange(20)), log.take(np.arange(20, 30)), candidates=candidates)


class Saved(Family):
    name = "saved"
    share = 8

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = np.random.default_rng(5)
        self.splits = {"ranks": small_split(), "pool": small_split("sampled(3, correction=unbiased)")}
        self.splits |= dict.fromkeys(("lists", "ordinal", "checkpoint"), self.splits["ranks"])
        self.model: Any = Model.from_word("bpr(factors=2, iterations=30, every=15, batch=8)")
        matrix = rng.normal(size=(USERS, ITEMS))
        lists = ListScorer.from_arrays(np.argsort(-matrix, axis=1)[:, :3], n_items=ITEMS)
        for kind in _RANKS:
            scorer = lists if kind == "lists" else Model.from_word("popular").fit(self.splits[kind].train)
            contest = prepare_contest({"a": scorer}, self.splits[kind])
            ranks = rank(scorer, contest, ties="ordinal" if kind == "ordinal" else "expected")
            ranks.save(folder / f"{kind}.npz")
        self.expected: dict[str, Any] = {kind: self._result(kind, folder / f"{kind}.npz") for kind in _RANKS}
        half: Any = replace(self.model, iterations=15)
        half.train(self.splits["ranks"].train, checkpoint=folder / "checkpoint.npz", threads=1)
        copy = folder / "resumed.npz"
        copy.write_bytes((folder / "checkpoint.npz").read_bytes())
        self.expected["checkpoint"] = self._result("checkpoint", copy)
        for name in ("train", "test"):
            part = getattr(self.splits["ranks"], name)
            write_parts([part.to_polars()], folder / name, parts=1)
        split = open_split(folder / "train", folder / "test")
        asked: dict[str, Any] = {"metrics": ["recall@2"], "estimators": ["aoa", "snips"], "work": folder / "work"}
        with warnings.catch_warnings(action="ignore"):
            evaluate({"popular": "popular"}, split, threads=1, **asked)
        kept = next((folder / "work").glob("part-*.npz"))
        kept.rename(folder / "sums.npz")
        self.key = json.loads(str(read_npz(folder / "sums.npz")["about"][()]).partition(" ")[2])["key"]
        self.expected["sums"] = self._result("sums", folder / "sums.npz")

    def make(self, rng: random.Random) -> Recipe:
        kind = pick(rng, (*_RANKS, "ranks", "checkpoint", "sums"))
        arrays, about = _contents(self.folder / f"{kind}.npz")
        how = pick(rng, ("bytes", "bytes", "array", "array", "mended", "mended", "mended", "about", "version"))
        recipe: Recipe = {"file": kind, "how": how, "seed": rng.randrange(1 << 30)}
        if how in {"array", "mended"}:
            name = pick(rng, list(arrays))
            recipe |= {
                "array": name,
                "change": pick(rng, ("value", "value", "value", "type", "shape", "drop", "add", "zero", "reverse")),
                "value": pick(rng, _ODD),
                "type": pick(rng, _TYPES),
                "place": rng.randrange(1000),
            }
        if how == "about" or (how == "mended" and rng.random() < 0.1):
            recipe["about"] = change_json(rng, about, 1)
        return recipe

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        kind, source, path = recipe["file"], self.folder / f"{recipe['file']}.npz", folder / "saved.npz"
        how = recipe["how"]
        content = source.read_bytes()
        arrays, about = _contents(source)
        if how == "bytes":
            path.write_bytes(change_bytes(random.Random(recipe["seed"]), content))
        elif how == "version":
            text = json.dumps(
                {**about, "format": pick(random.Random(recipe["seed"]), ("\x1b[31m", 0, 99, None, 1.5, []))}
            )
            np.savez(path, about=np.array(f"{'0' * 64} {text}"), **arrays)
        else:
            about = recipe.get("about", about)
            if "change" in recipe:
                with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
                    _change(arrays, recipe)
            if how == "array" or not isinstance(about, dict):
                stored: Any = read_npz(source)
                np.savez(path, about=stored["about"], **arrays)
            else:
                plain = {key: value for key, value in about.items() if key not in {"kind", "format", "sha256"}}
                write_checked(path, about.get("kind", ""), about.get("format", 0), plain, arrays, packed=False)
        result = self._result(kind, path)
        mended = how in {"mended", "about"}
        if not mended and result is not None and result != self.expected[kind]:
            raise Silent(f"{kind} gave {result!r:.300}, and before they were changed {self.expected[kind]!r:.300}")

    def _result(self, kind: str, path: Path) -> Any:
        """What comes of a file: numbers that are compared, None if it was left aside."""
        if kind == "sums":
            sums = Reduction.load(path, getattr(self, "key", ""))
            return None if sums is None else {name: array.tolist() for name, array in sums.arrays.items()}
        if kind == "checkpoint":
            trained = self.model.train(self.splits[kind].train, checkpoint=path, threads=1)
            return trained.last.score(np.arange(USERS)).tolist()
        ranks = Ranks.load(path)
        metrics = ["recall@4", "auc"] if kind == "pool" else ["recall@2", "auc", "ndcg@3"]
        report = evaluate(
            {"a": ranks},
            self.splits[kind],
            metrics=metrics,
            estimators=["aoa"],
            baselines=False,
            threads=1,
            ties="ordinal" if kind == "ordinal" else "expected",
        )
        # corrected values may be beyond 1, and so may those of ordinal ranks that were forged, checksum and all
        for row in report.estimates if kind not in {"pool", "ordinal"} else ():
            check_estimate(row)
        return [row.value for row in report.estimates]


def _contents(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays = read_npz(path)
    about = json.loads(str(arrays.pop("about")[()]).partition(" ")[2])
    return arrays, about


def _change(arrays: dict[str, Any], recipe: Recipe) -> None:
    """Change one array."""
    name, change = recipe["array"], recipe["change"]
    array = arrays[name]
    if change == "value" and array.size:
        changed = array.copy()
        value = recipe["value"]
        if changed.dtype.kind in "iu" and value != value:  # noqa: PLR0124
            changed = changed.astype("f8")
        if changed.dtype.kind in "fiub":
            changed.reshape(-1)[recipe["place"] % array.size] = np.array(value, "f8").astype(changed.dtype)
        arrays[name] = changed
    elif change == "type":
        kind = recipe["type"]
        arrays[name] = (
            array.astype("i8").astype(kind) if kind[0] == "M" and array.dtype.kind in "iufb" else array.astype(kind)
        )
    elif change == "shape":
        arrays[name] = array.reshape(-1)[:-1] if recipe["place"] % 2 and array.size else array[None]
    elif change == "drop":
        del arrays[name]
    elif change == "add":
        arrays[f"{name}2"] = array
    elif change == "zero":
        arrays[name] = np.zeros_like(array)
    else:
        arrays[name] = array.reshape(-1)[::-1].reshape(array.shape)
