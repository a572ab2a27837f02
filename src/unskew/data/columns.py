"""Names of the columns of table files, for all files or for one of them, and a reader of interactions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from unskew.data.formats.file_format import STDIN, TREC, FileFormat
from unskew.data.interactions import Interactions
from unskew.data.reading import read_table, shown_path
from unskew.errors import ConfigError, DataError, did_you_mean

LOG = ("user", "item", "rating", "timestamp", "propensity", "label")
"""The columns that a file of interactions may have."""
_ROLES = (*LOG, "score", "rank", "prediction", "relevant")
_FORMAT = ("columns", "sep", "format", "encoding")
_NAMED = re.compile(r"(.+?):(\w+=.*)", re.DOTALL)


@dataclass(frozen=True)
class TableFile:
    """A file as a user names it: ``log.csv``, or ``log.csv:user=uid,item=iid`` with column names of its own.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.
    names : mapping
        Names of columns in this file, by ``user``, ``item``, ``rating`` and so on.
    format : FileFormat
        What was said about its format, with the keys ``columns``, ``sep``, ``format`` and ``encoding``.

    Examples
    --------
    >>> from unskew.data.columns import TableFile
    >>> file = TableFile.parse("log.dat:columns=user,item,_,sep=::,user=uid")
    >>> file.path.name, file.names, file.format.columns, file.format.sep
    ('log.dat', {'user': 'uid'}, ('user', 'item', '_'), '::')
    """

    path: Path
    names: Mapping[str, str] = field(default_factory=dict)
    format: FileFormat = field(default_factory=FileFormat)

    @classmethod
    def parse(cls, text: str | Path, roles: tuple[str, ...] | None = None) -> "TableFile":
        """Read the notation; a file that has this very name is that file.

        With `roles`, names of other columns than these are refused.
        """
        path, names = split_names(str(text))
        given = dict(part.split("=", 1) for part in re.split(r",(?=\w+=)", names)) if names else {}
        known = (*(roles or _ROLES), *_FORMAT)
        for key, value in given.items():
            if key not in known:
                raise ConfigError(f"{text}: unknown key {key!r}{did_you_mean(key, known)}")
            if not value:
                raise ConfigError(f"{text}: {key} is empty; write the name of a column, as in {key}=name")
        kind, columns, sep, encoding = (given.pop(key, None) for key in ("format", "columns", "sep", "encoding"))
        try:
            return cls(Path(path), given, FileFormat.of(kind=kind, columns=columns, sep=sep, encoding=encoding))
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None

    @property
    def name(self) -> str:
        """Its name in messages."""
        return shown_path(self.path)

    def read(self, content: bytes | None = None, *, integers: bool = False) -> pl.DataFrame:
        """The table; see `read_table`."""
        self.format.of_file(self.path).refuse_choice(self.name)
        if self.names and self.format.of_file(self.path).kind in TREC:
            raise ConfigError(f"{self.name}: the columns of a TREC file are fixed; leave out {next(iter(self.names))}=")
        return read_table(self.path, content, self.format, integers=integers)


def split_names(text: str) -> tuple[str, str]:
    """The path, and what follows it after a colon, as in ``user=uid,item=iid``; empty if nothing does.

    Examples
    --------
    >>> from unskew.data.columns import split_names
    >>> split_names("log.csv:user=uid"), split_names("s3://bucket/log.csv")
    (('log.csv', 'user=uid'), ('s3://bucket/log.csv', ''))
    """
    match = _NAMED.fullmatch(text)
    if match is None or _exists(text):
        return text, ""
    path, names = match.groups()
    known = names.partition("=")[0] in (*_ROLES, *_FORMAT)
    return (path, names) if known or path == str(STDIN) or _exists(path) else (text, "")


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that the disk cannot have
        return False


@dataclass(frozen=True)
class Columns:
    """Names of the columns of interaction files, and their format.

    Parameters
    ----------
    user, item : str
        Columns of ids.
    rating, timestamp, propensity : str, optional
        By default the columns with these names, if present.
    label : str, optional
        Column of labels 0 and 1 in exposed files; ``label`` by default.
    weight : str, optional
        Column that says how much each test row counts; none by default.
    format : FileFormat
        The format of text files; Parquet and TREC files have their own.
    required : tuple of str
        Columns that must be there even where others may be absent, such as those that were named for one file.
    """

    user: str = "user"
    item: str = "item"
    rating: str | None = None
    timestamp: str | None = None
    propensity: str | None = None
    label: str | None = None
    weight: str | None = None
    format: FileFormat = field(default_factory=FileFormat)
    required: tuple[str, ...] = ()

    def open(self, path: str | Path, *, integers: bool = False) -> tuple[pl.DataFrame, str, "Columns"]:
        """The table of a file, its name in messages, and the names of its columns."""
        file = TableFile.parse(path, LOG)
        encoding = file.format.encoding or ("" if file.path.suffix == ".parquet" else self.format.encoding)
        layout = replace(file.format, kind=file.format.kind or self.format.kind, encoding=encoding).of_file(file.path)
        if layout.kind in TREC:  # which have names of their own
            return replace(file, format=layout).read(), file.name, Columns()
        if layout.is_text:
            layout = replace(layout, columns=layout.columns or self.format.columns, sep=layout.sep or self.format.sep)
        names: dict[str, Any] = dict(file.names)
        columns = replace(self, **names, required=tuple(file.names))
        return replace(file, format=layout).read(integers=integers), file.name, columns

    def read(self, path: str | Path, *, strict: bool = True, once: bool = True) -> Interactions:
        """The rows of a file, which may have column names of its own; see `TableFile`.

        If strict, optional columns that were named must be present. Repeated rows are kept `once`.
        """
        frame, name, columns = self.open(path, integers=True)
        return columns.rows(frame, name, strict=strict, once=once)

    def rows(self, frame: pl.DataFrame, name: str, *, strict: bool = True, once: bool = True) -> Interactions:
        """The rows of a table, repeated ones only `once`; `name` is used in messages."""
        if frame.is_empty():
            raise DataError(f"{name}: has a header but no rows; check the file")
        named: dict[str, Any] = {"rating": self.rating, "timestamp": self.timestamp, "propensity": self.propensity}
        named["weight"] = self.weight
        if not strict:
            named = {
                key: column if column in frame.columns or key in self.required else None
                for key, column in named.items()
            }
        return Interactions.from_frame(frame, user=self.user, item=self.item, name=name, once=once, **named)
