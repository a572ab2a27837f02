"""Texts with separators: logs, scores, catalogues, propensities and side tables, compared with Python's csv module."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from families.family import Family, Recipe, Silent
from families.mutations import NUMBERS, TEXTS, change_bytes, change_text, pick
from families.reference import Unclear, number_of, read_rows
from unskew import Interactions
from unskew.data import Columns, FileFormat
from unskew.data.item_list import read_catalogue
from unskew.data.reading import read_table
from unskew.ranking import read_predictions, read_scores

_HEADERS = {
    "log": ("user", "item", "rating", "timestamp", "propensity"),
    "scores": ("user", "item", "score"),
    "predictions": ("user", "item", "prediction"),
    "catalogue": ("item", "genre"),
    "table": ("user", "relevant"),
    "qrels": ("user", "iteration", "item", "rating"),
    "run": ("user", "Q0", "item", "rank", "score", "tag"),
}
_SEPARATORS = ("\t", ";", "|", "::", " ", ",", "\u00a6", "a", '"', "\n", "\r", "\x1f", "\\", "ab", "1", "''")
_ENCODINGS = ("utf-8", "latin-1", "utf-16", "utf-16-le", "cp1252", "utf-8-sig", "utf-7", "idna", "rot13", "x", "cp037")


class Delimited(Family):
    name = "text"
    share = 30

    def make(self, rng: random.Random) -> Recipe:
        role = pick(rng, ("log", "log", "log", *_HEADERS))
        trec = role in {"qrels", "run"}
        separator = " " if trec else pick(rng, (*",,,,,,\t\t;|", *_SEPARATORS))
        columns = list(_HEADERS[role])
        if role == "log" and rng.random() < 0.7:
            columns = columns[: rng.randrange(2, 6)]
        headerless = role == "log" and rng.random() < 0.2
        rows = [] if headerless or trec else [columns]
        sane = rng.random() < 0.7
        rows += [[_field(rng, column, sane=sane) for column in columns] for _ in range(pick(rng, (0, 1, 2, 3, 6, 12)))]
        if rng.random() < 0.15 and rows:
            row = pick(rng, rows)
            row.append("x") if rng.random() < 0.5 else row.pop()
        quotes = pick(rng, ("never", "never", "some", "all", "bad"))
        end = pick(rng, ("\n", "\n", "\n", "\r\n", "\r", "mixed"))
        text = ""
        for row in rows:
            text += separator.join(_quoted(rng, each, separator, quotes) for each in row)
            text += pick(rng, ("\n", "\r\n", "\r", "\n\n", "\r\r\n")) if end == "mixed" else end
        if rng.random() < 0.2:
            text = text.rstrip("\r\n")
        if rng.random() < 0.2:
            text = change_text(rng, text, (*TEXTS, *NUMBERS[:60], "\r", "\n", "\r\n", '"', '""', separator, "\n\n"))
        encoding = pick(rng, ("utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le"))
        raw = text.encode(encoding, errors="replace")
        if rng.random() < 0.2:
            raw = change_bytes(rng, raw)
        named = pick(rng, _ENCODINGS) if rng.random() < 0.15 else encoding if encoding != "utf-8" else ""
        suffix = {"\t": ".tsv", " ": ".txt"}.get(separator, ".csv") if not trec else f".{role}"
        zipped = rng.random() < 0.05
        return {
            "role": role,
            "raw": raw.decode("latin-1"),
            "sep": separator if separator not in {",", "\t"} and not trec else "",
            "encoding": named,
            "columns": ",".join(columns) if headerless else "",
            "file": f"log{suffix}" + (".gz" if zipped else ""),
        }

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        path, raw = folder / recipe["file"], recipe["raw"].encode("latin-1")
        path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
        role = recipe["role"]
        layout = FileFormat.of(
            columns=recipe["columns"] or None, sep=recipe["sep"] or None, encoding=recipe["encoding"] or None
        )
        trec = role in {"qrels", "run"}
        names = list(_HEADERS[role]) if trec else list(layout.columns)
        frame = read_table(path, layout=layout)
        rows = _reference(raw, " " if trec else layout.of_file(path).separator, recipe["encoding"], names)
        if not names:  # the header
            names, rows = rows[0], rows[1:]
        if len(set(names)) == len(names):
            kept = [name for name in names if not trec or name in frame.columns]
            places = [names.index(name) for name in kept]
            said = [tuple(kept), *(tuple(row[place] for place in places) for row in rows)]
            read = [tuple(frame.columns), *(tuple(each or "" for each in row) for row in frame.rows())]
            if said != read:
                raise Silent(f"read as {read!r:.400}, and the text says {said!r:.400}")
        _roles(path, layout)[role](names, rows)


def _reference(raw: bytes, separator: str, encoding: str, names: list[str]) -> list[list[str]]:
    try:
        rows = read_rows(raw, separator, encoding)
    except Unclear as error:
        raise Silent(f"accepted, but {error}") from error
    if not rows or (names and len(rows[0]) != len(names)):
        raise Silent("accepted, although there are no rows or other columns")
    return rows


def _roles(path: Path, layout: FileFormat) -> dict[str, Callable[[list[str], list[list[str]]], None]]:
    """What is done with a table of each role."""

    def log(names: list[str], rows: list[list[str]]) -> None:
        compare_log(Columns(format=layout).read(path), names, rows)

    def scores(names: list[str], rows: list[list[str]]) -> None:
        scorer = read_scores(_named(path, layout))
        column = "score" if "score" in names else "rank"
        compare_scores(scorer, names, rows, column, -1.0 if column == "rank" else 1.0)

    def predictions(names: list[str], rows: list[list[str]]) -> None:
        compare_scores(read_predictions(_named(path, layout)), names, rows, "prediction", 1.0)

    def catalogue(names: list[str], rows: list[list[str]]) -> None:
        ids = read_catalogue(_named(path, layout))
        said = list(dict.fromkeys(row[names.index("item")] for row in rows))
        if [str(each) for each in ids] != said:
            raise Silent(f"items {ids.to_list()!r:.300}, and the text says {said!r:.300}")

    return {
        "log": log,
        "qrels": log,
        "scores": scores,
        "run": scores,
        "predictions": predictions,
        "catalogue": catalogue,
        "table": lambda names, rows: None,
    }


def _named(path: Path, layout: FileFormat) -> str:
    words = [f"{key}={value}" for key, value in (("sep", layout.sep), ("encoding", layout.encoding)) if value]
    return f"{path}:{','.join(words)}" if words else str(path)


def compare_log(log: Interactions, names: list[str], rows: list[list[str]]) -> None:
    """Compare a log with the rows of a text; of repeated pairs the latest counts, without times the last."""
    said: dict[tuple[str, str], tuple[float, dict[str, float]]] = {}
    numbers = [name for name in ("rating", "timestamp", "propensity") if name in names]
    try:
        for row in rows:
            values = {name: _value(row[names.index(name)], name) for name in numbers}
            pair, time = (row[names.index("user")], row[names.index("item")]), values.get("timestamp") or 0.0
            if pair not in said or time >= said[pair][0]:
                said[pair] = (time, values)
    except Unclear as error:
        raise Silent(f"accepted, but {error}") from error
    users = [str(each) for each in log.user_vocabulary.decode(log.users).tolist()]
    items = [str(each) for each in log.item_vocabulary.decode(log.items).tolist()]
    columns = {"rating": log.values, "timestamp": log.times, "propensity": log.propensity}
    if sorted(zip(users, items, strict=True)) != sorted(said):
        raise Silent(f"pairs {sorted(zip(users, items, strict=True))!r:.300}, the text says {sorted(said)!r:.300}")
    if any(value is None for _, values in said.values() for value in values.values()):
        return  # times that are dates, whose order is not known here
    for name in numbers:
        column = columns[name]
        read = None if column is None else dict(zip(zip(users, items, strict=True), column.tolist(), strict=True))
        if read != {pair: values[name] for pair, (_, values) in said.items()}:
            raise Silent(f"{name} is {read!r:.300}, the text says {said!r:.300}")


def compare_scores(scorer: Any, names: list[str], rows: list[list[str]], column: str, sign: float) -> None:
    """Compare a table of scores with the rows of a text."""
    users, items = ([str(each) for each in ids] for ids in (scorer.user_ids.tolist(), scorer.item_ids.tolist()))
    read = {}
    for row, user in enumerate(users):
        for place in range(scorer.offsets[row], scorer.offsets[row + 1]):
            read[user, items[scorer.columns[place]]] = float(scorer.scores[place])
    try:
        said = {
            (row[names.index("user")], row[names.index("item")]): sign * number_of(row[names.index(column)])
            for row in rows
        }
    except Unclear as error:
        raise Silent(f"accepted, but {error}") from error
    if read != said:
        raise Silent(f"scores {read!r:.300}, the text says {said!r:.300}")


def _value(text: str, name: str) -> Any:
    """The number; None for a date."""
    try:
        return number_of(text)
    except Unclear:
        if name == "timestamp" and any(mark in text for mark in "-:/T"):
            return None
        raise


def _field(rng: random.Random, column: str, *, sane: bool) -> str:
    if not sane and rng.random() < 0.2:
        return str(pick(rng, (*NUMBERS, *TEXTS, "a" * pick(rng, (1000, 140_000)))))
    if column in {"user", "item"}:
        return str(pick(rng, (rng.randrange(6), rng.randrange(6), f"u{rng.randrange(4)}", '12" disk', "a,b", "null")))
    if column == "propensity":
        return pick(rng, ("0.5", "1", "0.25", "1e-3"))
    if column == "timestamp":
        return pick(
            rng, ("1", "5", "1.5", "1600000000", "-3", "2020-01-02", "2020-01-02 03:04:05", "2020-01-02T03:04:05")
        )
    return str(rng.randrange(1, 6)) if rng.random() < 0.7 else pick(rng, ("0.5", "1e2", "-1", "3.25"))


def _quoted(rng: random.Random, field: str, separator: str, quotes: str) -> str:
    needs = any(mark in field for mark in (separator, '"', "\n", "\r"))
    if (
        quotes == "all"
        or (quotes == "some" and rng.random() < 0.3)
        or (quotes != "bad" and needs and rng.random() < 0.8)
    ):
        return '"' + field.replace('"', '""') + '"'
    return f'"{field}"' if quotes == "bad" and rng.random() < 0.2 else field
