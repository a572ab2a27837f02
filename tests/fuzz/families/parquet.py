"""Parquet files with columns of odd types, empty, with nulls, or damaged."""

import datetime as dt
import io
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from families.family import Family, Recipe, Silent
from families.mutations import change_bytes, pick
from unskew import Interactions
from unskew.data.item_list import read_catalogue
from unskew.ranking import read_predictions, read_scores

_DAY = dt.date(2020, 1, 1)
_KINDS: dict[str, tuple[Any, Any]] = {  # a type, and a value of it from a small whole number
    "int64": (pl.Int64, int),
    "int8": (pl.Int8, int),
    "uint64": (pl.UInt64, lambda k: 2**64 - 1 - k),
    "negative": (pl.Int64, lambda k: -k - 1),
    "float": (pl.Float64, float),
    "float32": (pl.Float32, lambda k: k / 4),
    "huge": (pl.Float64, lambda k: 1e300 * (k + 1)),
    "nan": (pl.Float64, lambda k: float("nan") if k % 2 else 1.0),
    "inf": (pl.Float64, lambda k: float("inf") if k % 2 else 1.0),
    "text": (pl.String, lambda k: f"u{k}"),
    "digits": (pl.String, str),
    "escape": (pl.String, lambda k: f"\x1b[{k}m"),
    "words": (pl.String, lambda k: ("null", "NaN", "", "inf", "1")[k % 5]),
    "binary": (pl.Binary, lambda k: bytes([k, 255])),
    "bool": (pl.Boolean, lambda k: k % 2 == 0),
    "null": (pl.Null, lambda k: None),
    "list": (pl.List(pl.Int64), lambda k: [k]),
    "array": (pl.Array(pl.Int64, 2), lambda k: [k, k]),
    "struct": (pl.Struct({"a": pl.Int64}), lambda k: {"a": k}),
    "date": (pl.Date, lambda k: _DAY + dt.timedelta(days=k)),
    "datetime": (pl.Datetime("ns"), lambda k: dt.datetime(2020, 1, 1 + k)),  # noqa: DTZ001
    "zoned": (pl.Datetime("us", "Europe/Berlin"), lambda k: dt.datetime(2020, 1, 1 + k)),  # noqa: DTZ001
    "duration": (pl.Duration, lambda k: dt.timedelta(seconds=k)),
    "time": (pl.Time, dt.time),
    "decimal": (pl.Decimal(10, 2), lambda k: Decimal(k) / 4),
    "category": (pl.Categorical, lambda k: f"c{k}"),
    "enum": (pl.Enum([f"e{k}" for k in range(12)]), lambda k: f"e{k}"),
}
_PLAIN = {"int64", "int8", "uint64", "negative", "text", "digits", "category", "enum", "float"}


class Parquet(Family):
    name = "parquet"
    share = 8

    def make(self, rng: random.Random) -> Recipe:
        role = pick(rng, ("log", "log", "scores", "predictions", "catalogue"))
        names = {"log": ("user", "item", "rating", "timestamp", "propensity"), "catalogue": ("item",)}.get(
            role, ("user", "item", role.removesuffix("s"))
        )
        columns = {}
        for name in names:
            if name not in {"user", "item"} and role == "log" and rng.random() < 0.5:
                continue
            usual = {"user": ("int64", "text"), "item": ("int64", "digits"), "propensity": ("float32",)}
            kind = pick(rng, list(_KINDS)) if rng.random() < 0.4 else pick(rng, usual.get(name, ("float", "int64")))
            columns[name] = {"kind": kind, "null": pick(rng, (None, None, None, 0, 1))}
        rows = pick(rng, (0, 1, 4, 9))
        return {
            "role": role,
            "columns": columns,
            "codes": [[rng.randrange(9) for _ in range(rows)] for _ in columns],
            "change": rng.randrange(1 << 30) if rng.random() < 0.25 else None,
            "compression": pick(rng, ("uncompressed", "zstd", "snappy")),
        }

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        columns = {}
        for (name, column), codes in zip(recipe["columns"].items(), recipe["codes"], strict=True):
            kind, value = _KINDS[column["kind"]]
            values = [None if place == column["null"] else value(code) for place, code in enumerate(codes)]
            columns[name] = pl.Series(name, values, dtype=kind)
        stream = io.BytesIO()
        pl.DataFrame(columns).write_parquet(stream, compression=recipe["compression"])
        content = stream.getvalue()
        if recipe["change"] is not None:
            content = change_bytes(random.Random(recipe["change"]), content)
        path = folder / "log.parquet"
        path.write_bytes(content)
        role = recipe["role"]
        if role in {"scores", "predictions"}:
            (read_scores if role == "scores" else read_predictions)(path)
            users = None
        elif role == "catalogue":
            users, column = read_catalogue(path).to_list(), "item"
        else:
            log = Interactions.read(path)
            users, column = log.user_vocabulary.ids.tolist(), "user"
        if users is None or recipe["change"] is not None or recipe["columns"][column]["kind"] not in _PLAIN:
            return
        said = {str(int(value) if isinstance(value, float) else value) for value in columns[column]}
        if {str(user) for user in users} != said:
            raise Silent(f"{column}s {users}, and the file has {said}")
