"""`FileFormat`: the kind of a table file, its separator, and the columns of one without a header."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from unskew.errors import ConfigError, DataError, Option, did_you_mean

STDIN = Path("-")
"""The path that means standard input."""
BLANKS = " "
"""The separator of fields that are separated by any number of blanks."""
SKIPPED = "_"
"""The name of columns that are not read, in a file without a header."""
_SUFFIXES = {
    ".parquet": "parquet",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".qrels": "qrels",
    ".run": "run",
    ".trec": "trec",
}
KINDS = ("csv", "tsv", "parquet", "qrels", "run", "trec")
"""Words for kinds of files; ``trec`` is qrels or a run, by the number of fields."""
TREC = ("qrels", "run", "trec")
_NO_SEPARATORS = ('"', "\n", "\r", "\0")
_SEPARATORS = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "space": BLANKS,
    "blanks": BLANKS,
}


@dataclass(frozen=True)
class FileFormat:
    r"""The format of a table file; what is not given follows from the end of its name.

    Parameters
    ----------
    kind : str
        ``csv``, ``tsv``, ``parquet``, ``qrels``, ``run`` or ``trec``; by default the end of the name decides:
        ``.parquet``, ``.tsv``, ``.tab``, ``.qrels``, ``.run``, ``.trec``, and CSV for all others.
    columns : tuple of str
        Names of the columns of a text file without a header; those called ``_`` are not read.
    sep : str
        Separator of the fields of a text file, of one or more characters; a space means any number of blanks.
    encoding : str
        Encoding of a text file without a byte order mark, as in ``latin-1``; UTF-8 by default.

    Examples
    --------
    >>> from unskew.data.formats.file_format import FileFormat
    >>> FileFormat.of(columns="user,item,_", sep="tab")
    FileFormat(kind='', columns=('user', 'item', '_'), sep='\t')
    """

    kind: str = ""
    columns: tuple[str, ...] = ()
    sep: str = ""
    encoding: str = ""

    @classmethod
    def of(
        cls,
        *,
        kind: str | None = None,
        columns: str | Iterable[str] | None = None,
        sep: str | None = None,
        encoding: str | None = None,
    ) -> "FileFormat":
        """The format in words: columns as in ``user,item,rating``, and ``tab``, ``comma`` or others as separators."""
        if kind is not None and kind not in KINDS:
            raise ConfigError(f"format {kind!r} is unknown{did_you_mean(kind, KINDS)}")
        names = columns.split(",") if isinstance(columns, str) else columns
        header = tuple(name.strip() for name in names or ())
        twice = [name for name in header if header.count(name) > 1 and name != SKIPPED]
        shown = Option("columns", ",".join(header))
        if columns is not None and not all(header):
            raise ConfigError(f"{shown}: a name is empty; call columns that are not needed {SKIPPED}")
        if twice:
            raise ConfigError(f"{shown}: {twice[0]!r} occurs twice; call columns that are not needed {SKIPPED}")
        if sep == "":
            raise ConfigError(f"{Option('sep')}: the separator is empty; give one, as in tab, ';' or '::'")
        bad = next((mark for mark in _NO_SEPARATORS if mark in (sep or "")), None)
        if bad is not None:
            raise ConfigError(
                f"{Option('sep')}: {sep!r} has {bad!r}, which means something else; give another separator"
            )
        return cls(kind or "", header, _SEPARATORS.get(sep or "", sep or ""), encoding or "")

    def of_file(self, path: Path) -> "FileFormat":
        """The same, with the kind that the name of the file says, unless one was given."""
        if self.kind:
            return self
        return replace(self, kind=_SUFFIXES.get(Path(path.name.removesuffix(".gz")).suffix, "csv"))

    @property
    def separator(self) -> str:
        """The separator of a text file."""
        return self.sep or ("\t" if self.kind == "tsv" else ",")

    @property
    def is_text(self) -> bool:
        """Whether columns and separator can be chosen."""
        return self.kind not in ("parquet", *TREC)

    def refuse_choice(self, name: str) -> None:
        """Refuse what the format of a file fixes: columns and a separator, or the encoding of what is not text."""
        given = {"columns": self.columns, "sep": self.sep, "encoding": self.encoding}
        chosen = next((key for key, value in given.items() if value), "")
        if not self.is_text and chosen and not (chosen == "encoding" and self.kind in TREC):
            raise DataError(f"{name}: a {self.kind} file has a fixed format; leave out {chosen}")


def with_tabs(raw: bytes) -> bytes:
    """The text with one tab where it had blanks between two fields."""
    return b"\n".join(b"\t".join(line.split()) for line in raw.splitlines())


def fields_text(n: int) -> str:
    """A number of fields of a line, in words."""
    return f"{n} field{'' if n == 1 else 's'}"
