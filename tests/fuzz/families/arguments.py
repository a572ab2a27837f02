"""Arguments of the Python interface: odd types and shapes, ids that are not ids, frames without columns."""

import datetime as dt
import random
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from families.family import Family, Recipe, Silent
from families.mutations import NUMBERS, TEXTS, pick
from families.saved import ITEMS, USERS, small_split
from families.words import check_estimate
from unskew import Interactions, Split, audit, evaluate
from unskew.ranking import CallableScorer, FactorScorer, ListScorer, MatrixScorer

_SCALARS: dict[str, Any] = {
    "none": None,
    "true": True,
    "zero": 0,
    "minus": -1,
    "big": 2**70,
    "half": 0.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "text": "x",
    "empty": "",
    "escape": "\x1b[31m",
    "bytes": b"\xff",
    "date": dt.date(2020, 1, 1),
    "decimal": Decimal("1.5"),
    "complex": 1j,
    "object": object(),
    "list": [1],
    "set": {1, 2},
    "type": int,
    "generator": "generator",
}
_SETTINGS = (
    *("metrics", "estimators", "propensity", "level", "seed", "interval", "block_size", "threads", "positive", "ties"),
    *("assume", "users", "relevant", "scale", "candidates", "unlisted", "until", "models", "validation", "engine"),
)
_WAYS = ("list", "tuple", "array", "object", "strings", "bytes", "float", "float32", "int8", "uint64", "bool", "series")
_ODD_WAYS = (
    "matrix",
    "scalar",
    "set",
    "dict",
    "nested",
    "ragged",
    "masked",
    "dates",
    "longdouble",
    "range",
    "generator",
)


class Arguments(Family):
    name = "api"
    share = 12

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.split = small_split()

    def make(self, rng: random.Random) -> Recipe:
        call = pick(
            rng, ("arrays", "arrays", "frame", "sparse", "split", "scorer", "scorer", "settings", "audit", "lists")
        )
        recipe: Recipe = {"call": call, "columns": {}}
        length = pick(rng, (0, 1, 3, 6, 6))
        for name in ("users", "items", "values", "times", "propensity", "weights"):
            if name not in {"users", "items"} and rng.random() < 0.6:
                continue
            n = length if rng.random() < 0.95 else length + 1
            way = pick(rng, _WAYS) if rng.random() < 0.6 else pick(rng, _ODD_WAYS) if rng.random() < 0.3 else "list"
            recipe["columns"][name] = {"way": way, "values": [_element(rng, name) for _ in range(n)]}
        recipe["sizes"] = [pick(rng, (None, None, 6, 0, -1, 3, 2**40, "x", 2.5)) for _ in range(2)]
        recipe["setting"] = pick(rng, _SETTINGS)
        recipe["value"] = (
            pick(rng, list(_SCALARS)) if rng.random() < 0.7 else {"text": pick(rng, (*NUMBERS[:20], *TEXTS))}
        )
        recipe["shape"] = pick(
            rng, ([USERS, ITEMS], [USERS, ITEMS], [ITEMS, USERS], [USERS], [], [0, ITEMS], [USERS, 0], [2, 3, 4])
        )
        recipe["scores"] = pick(
            rng, ("f4", "f8", "i8", "u1", "bool", "O", "U3", "c8", "f2", "nan", "inf", "huge", "M8[D]")
        )
        recipe["scorer"] = pick(rng, ("matrix", "callable", "factors", "lists", "array", "dict", "frame"))
        recipe["seed"] = rng.randrange(1000)
        return recipe

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        getattr(self, f"_{recipe['call']}")(recipe)

    def _arrays(self, recipe: Recipe) -> None:
        columns = {name: column_of(spec) for name, spec in recipe["columns"].items()}
        n_users, n_items = recipe["sizes"]
        log = Interactions.from_arrays(**columns, n_users=n_users, n_items=n_items)
        _check_log(log)

    def _frame(self, recipe: Recipe) -> None:
        names = {"users": "user", "items": "item", "values": "rating", "times": "timestamp", "weights": "w"}
        columns = {names.get(name, name): column_of(spec) for name, spec in recipe["columns"].items()}
        kind = recipe["seed"] % 4
        try:
            with warnings.catch_warnings(action="ignore"):
                frame: Any = _frame_of(columns, kind)
        except Exception:  # noqa: BLE001  # there is no such frame
            return
        _check_log(Interactions.from_frame(frame, weight="w" if "w" in columns and recipe["seed"] % 2 else None))

    def _sparse(self, recipe: Recipe) -> None:
        from scipy import sparse

        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            try:
                matrix: Any = _matrix(recipe)
                matrix = sparse.coo_matrix(matrix) if recipe["seed"] % 3 else sparse.csr_array(matrix)
            except Exception:  # noqa: BLE001  # there is no such matrix
                matrix = sparse.csr_array((USERS, ITEMS))
        ids = column_of(recipe["columns"]["users"]) if recipe["seed"] % 2 else None
        _check_log(Interactions.from_sparse(matrix, user_ids=ids))

    def _split(self, recipe: Recipe) -> None:
        parts: dict[str, Any] = {"train": self.split.train, "test": self.split.test}
        name = pick(random.Random(recipe["seed"]), ("train", "test", "validation", "candidates", "slice"))
        log = self.split.test.take(np.arange(len(self.split.test)) < recipe["seed"] % 4)
        parts[name] = log if recipe["seed"] % 3 == 0 and name != "candidates" else scalar(recipe["value"])
        self._judge({"a": "popular"}, Split(**parts))

    def _scorer(self, recipe: Recipe) -> None:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            scores = _matrix(recipe)
        kind = recipe["scorer"]
        model: Any = scores
        if kind == "matrix":
            model = MatrixScorer(scores)
        elif kind == "callable":
            model = CallableScorer(lambda users: scores[users] if scores.ndim and len(scores) == USERS else scores)
        elif kind == "factors":
            model = FactorScorer(scores, np.ones((ITEMS, scores.shape[-1] if scores.ndim else 1)))
        elif kind == "lists":
            model = ListScorer.from_arrays(scores, n_items=ITEMS)
        elif kind == "dict":
            model = {user: list(range(user % ITEMS)) for user in range(USERS)} | {
                scalar("text"): scalar(recipe["value"])
            }
        elif kind == "frame":
            column = scores.reshape(-1)[: USERS * 2].tolist()
            users = [place % USERS for place in range(len(column))]
            model = pl.DataFrame(
                {"user": users, "item": [(u * 3) % ITEMS for u in users], "score": column}, strict=False
            )
        self._judge({"a": model}, self.split)

    def _lists(self, recipe: Recipe) -> None:
        items = column_of(recipe["columns"]["items"])
        model = [items for _ in range(USERS)] if recipe["seed"] % 2 else dict.fromkeys(range(USERS), items)
        self._judge({"a": model}, self.split)

    def _settings(self, recipe: Recipe) -> None:
        name, value = recipe["setting"], scalar(recipe["value"])
        if name in {"metrics", "estimators"} and recipe["seed"] % 2:
            value = [value]
        models: Any = {"a": "popular"}
        if name == "models":
            models = value if recipe["seed"] % 2 else {"a": value}
        split: Any = self.split
        if name in {"candidates", "validation"}:
            split = Split(self.split.train, self.split.test, **{name: value})
        asked = {} if name in {"models", "candidates", "validation"} else {name: value}
        self._judge(models, split, **asked)

    def _audit(self, recipe: Recipe) -> None:
        columns = {name: column_of(spec) for name, spec in recipe["columns"].items()}
        log: Any = Interactions.from_arrays(**columns) if recipe["seed"] % 4 else scalar(recipe["value"])
        value = scalar(recipe["value"])
        asked: dict[str, Any] = {
            name: value
            for name in (("k", "level", "seed", "holdout", "positive", "metrics")[recipe["seed"] % 6],)
            if recipe["seed"] % 3 == 0
        }
        audit(log, {"p": "popular"} if recipe["seed"] % 2 else None, depth="none", **asked).to_dict()

    def _judge(self, models: Any, split: Any, **asked: Any) -> None:
        usual: dict[str, Any] = {
            "metrics": ["recall@2", "auc"],
            "estimators": ["aoa"],
            "baselines": False,
            "threads": 1,
        }
        if asked.get("threads", 1) is None or (type(asked.get("threads")) is int and asked["threads"] > 4):
            asked = {}
        for row in evaluate(models, split, **{**usual, **asked}).estimates:
            check_estimate(row)


def _check_log(log: Interactions) -> None:
    """Codes are within the vocabularies, and what is made of a log can be made."""
    for codes, vocabulary in ((log.users, log.user_vocabulary), (log.items, log.item_vocabulary)):
        if len(codes) and not (codes.min() >= 0 and codes.max() < len(vocabulary)):
            raise Silent(f"codes {codes.tolist()} of {len(vocabulary)} ids")
    again = Interactions.from_frame(log.to_polars(), weight="weight" if log.weights is not None else None)
    if len(log) and again.sha256 != log.sha256:
        raise Silent(f"{log!r} is another log when it is read back: {log.to_polars().rows()!r:.300}")


def scalar(name: Any) -> Any:
    """The value of a setting."""
    if isinstance(name, dict):
        return name["text"]
    return (each for each in range(3)) if name == "generator" else _SCALARS[name]


def _element(rng: random.Random, name: str) -> Any:
    if rng.random() < 0.05:
        return pick(
            rng, (None, -1, 2**31, 2**63, -(2**63), 10**30, 0.5, float("nan"), float("inf"), "x", "", "7", True)
        )
    return rng.randrange(1, 5) / 4 if name in {"propensity", "weights"} else rng.randrange(6)


def column_of(spec: Recipe) -> Any:
    """A column as a recipe describes it; where there is no such column, the list."""
    values = spec["values"]
    ways: dict[str, Any] = {
        "list": lambda: values,
        "tuple": lambda: tuple(values),
        "array": lambda: np.array(values),
        "object": lambda: np.array(values, dtype=object),
        "strings": lambda: np.array([str(value) for value in values]),
        "bytes": lambda: np.array([str(value).encode() for value in values]),
        "float": lambda: np.array(values, dtype="f8"),
        "float32": lambda: np.array(values, dtype="f4"),
        "int8": lambda: np.array(values).astype("i1"),
        "uint64": lambda: np.array(values).astype("u8"),
        "bool": lambda: np.array(values, dtype=bool),
        "series": lambda: pl.Series(values),
        "matrix": lambda: np.array([values, values]),
        "scalar": lambda: np.array(values[0]),
        "set": lambda: set(values),
        "dict": lambda: dict.fromkeys(values, 1),
        "nested": lambda: [[value] for value in values],
        "ragged": lambda: [[value] * (place % 3) for place, value in enumerate(values)],
        "masked": lambda: np.ma.array(values, mask=[place == 0 for place in range(len(values))]),
        "dates": lambda: np.array(values).astype("M8[s]"),
        "longdouble": lambda: np.array(values, dtype="g"),
        "range": lambda: range(len(values)),
        "generator": lambda: (value for value in values),
    }
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            return ways[spec["way"]]()
    except Exception:  # noqa: BLE001  # there is no such column
        return values


def _frame_of(columns: dict[str, Any], kind: int) -> Any:
    if kind == 0:
        import pandas as pd

        return pd.DataFrame({name: list(column) for name, column in columns.items()})
    if kind == 1:
        import pyarrow as pa

        return pa.table({name: pa.array(list(column)) for name, column in columns.items()})
    frame = pl.DataFrame({name: pl.Series(list(column), strict=False) for name, column in columns.items()})
    return frame.lazy() if kind == 2 else frame


def _matrix(recipe: Recipe) -> Any:
    """Scores of the shape and type of a recipe."""
    rng = np.random.default_rng(recipe["seed"])
    plain: Any = np.round(rng.normal(size=recipe["shape"]) * 3, 1)
    odd = {"nan": float("nan"), "inf": float("inf"), "huge": 1e300}.get(recipe["scores"])
    if odd is not None:
        plain = np.array(plain)
        plain.reshape(-1)[:1] = odd
        return plain
    return (
        np.asarray(plain).astype("i8").astype(recipe["scores"])
        if recipe["scores"][0] == "M"
        else np.asarray(plain).astype(recipe["scores"])
    )
