"""TREC files: relevance judgements (qrels) and runs are read as tables, and qrels are written."""

import codecs
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unskew.data.formats.file_format import fields_text, with_tabs
from unskew.data.writing import written
from unskew.errors import DataError, Option

if TYPE_CHECKING:
    from unskew.data.interactions import Interactions

FIELDS = {
    "qrels": ("user", "iteration", "item", "rating"),
    "run": ("user", "Q0", "item", "rank", "score", "tag"),
}
"""The fields of a line, by the names that their columns get."""
_KEPT = {"qrels": ("user", "item", "rating"), "run": ("user", "item", "rank", "score")}
_SHOWN = {
    "qrels": "topic, iteration, document and relevance (user, 0, item, relevance)",
    "run": "topic, Q0, document, rank, score and tag (user, Q0, item, rank, score, name)",
}


def read_trec(raw: bytes, name: str, kind: str) -> pl.DataFrame:
    """The table of a qrels file or a run; all columns are text.

    Parameters
    ----------
    raw : bytes
        Lines of fields that are separated by blanks; empty lines are skipped.
    name : str
        Name of the file in messages.
    kind : str
        ``qrels`` (topic, iteration, document, relevance), ``run`` (topic, Q0, document, rank, score, tag), or ``trec``
        for the one that the first line fits. Topics are users, documents are items.

    Raises
    ------
    DataError
        If there is no line, or a line has another number of fields; it is named.
    """
    text = with_tabs(raw.removeprefix(codecs.BOM_UTF8)).strip(b"\n")
    if not text:
        raise DataError(f"{name}: the file is empty; expected lines of {_SHOWN['run' if kind == 'run' else 'qrels']}")
    if kind == "trec":
        kind = "qrels" if text.split(b"\n", 1)[0].count(b"\t") + 1 == len(FIELDS["qrels"]) else "run"
    try:
        frame = pl.read_csv(
            io.BytesIO(text),
            separator="\t",
            has_header=False,
            schema=dict.fromkeys(FIELDS[kind], pl.String),
            quote_char=None,
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{name}: {_what_is_wrong(raw, kind)}") from error
    frame = frame.filter(frame[:, 0].is_not_null())  # a blank line has nothing
    if frame[:, -1].null_count():  # a line is short
        raise DataError(f"{name}: {_what_is_wrong(raw, kind)}")
    return frame.select(_KEPT[kind])


def _what_is_wrong(raw: bytes, kind: str) -> str:
    """A message that names the first line with another number of fields."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        fields = line.split()
        if fields and len(fields) != len(FIELDS[kind]):
            return f"line {number} has {fields_text(len(fields))}, expected {_SHOWN[kind]}{_hint(kind, fields)}"
    return "cannot be read as text; save the file as UTF-8"


def _hint(kind: str, fields: list[bytes]) -> str:
    other = "run" if kind == "qrels" else "qrels"
    if len(fields) == len(FIELDS[other]):
        return f"; if it is a {other} file, say so: FILE:format={other}"
    if len(fields) == 1 and b"," in fields[0]:
        return "; if it is a CSV file, say so: FILE:format=csv"
    return "; an id cannot contain a blank"


def write_qrels(rows: "Interactions", path: str | Path, *, positive: str | None = None) -> None:
    """Write held-out rows as a qrels file: lines ``user 0 item relevance``.

    The relevance is the value of the row, or 1 if rows have no values. It must be a whole number, because other
    programs read it as one.

    Parameters
    ----------
    rows : Interactions
    path : str or Path
    positive : str, optional
        A condition such as ``rating>=4``: the relevance is then 1 where it holds, else 0.

    Examples
    --------
    >>> from unskew import Interactions, write_qrels
    >>> rows = Interactions.from_arrays(["ann", "bob"], ["tea", "jam"], [5, 2])
    >>> write_qrels(rows, "test.qrels", positive="rating>=4")  # doctest: +SKIP
    """
    labelled = rows if positive is None else rows.labelled(positive)
    relevance = np.ones(len(rows)) if labelled.values is None else labelled.values
    whole = relevance == np.floor(relevance)
    if not whole.all():
        row = int(np.argmin(whole))
        raise DataError(
            f"{rows.name}: value {relevance[row]:g} in row {row + 1} is not a whole number, but the relevance in a "
            f"qrels file is; give a condition, as in {Option('positive', 'rating>=4')}"
        )
    users = check_fields(rows.user_vocabulary.decode(rows.users).tolist(), f"user of {rows.name}")
    items = check_fields(rows.item_vocabulary.decode(rows.items).tolist(), f"item of {rows.name}")
    lines = (
        f"{user} 0 {item} {value}\n" for user, item, value in zip(users, items, relevance.astype(int), strict=True)
    )
    with written(Path(path)) as stream:
        stream.writelines(lines)


def check_fields(ids: Iterable[object], what: str) -> list[str]:
    """The ids as text; one that is empty or has a blank in it is refused, because blanks separate fields."""
    texts = [str(each) for each in ids]
    bad = next((text for text in texts if not text or text.split() != [text]), None)
    if bad is not None:
        raise DataError(
            f"{what}: the id {bad!r} has a blank in it, which separates the fields of a TREC file; rename it"
        )
    return texts
