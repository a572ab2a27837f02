"""Delimited text: encoding, line ends, quotes and fields are checked before the text is parsed.

Parsers guess where a text is not well formed, and each of them guesses in its own way. So a text is parsed only when
every line says the same thing to all of them; otherwise the line, the column and the reason are named.
"""

import codecs
import csv
import io
import re

import polars as pl

from unskew.data.formats.file_format import BLANKS, SKIPPED, FileFormat, fields_text, with_tabs
from unskew.data.formats.line_scan import BAD_QUOTE, LONE_RETURN, OPEN_QUOTE, RAGGED, TEXT_AFTER_QUOTE, scan, scan_plain
from unskew.errors import ConfigError, DataError, Option

_UNIT = "\x1f"  # a separator that no text has
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_NOT_OF_FILES = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"}
"""Codecs of names and of source code, which are not of whole texts."""
_QUOTE = b'"'
_BLOCK = 1 << 24
_BLANK_LINES = re.compile(rb"(?:[ \t]*\n)+")


def to_utf8(raw: bytes, name: str, encoding: str = "") -> bytes:
    """The text in UTF-8 without a byte order mark.

    A mark says which encoding a text has; without one it is UTF-8, unless another one is given.

    Raises
    ------
    DataError
        If a byte does not fit the encoding; its line and column are named. If a second mark follows the first.
    """
    mark = next((mark for mark in _MARKS if raw.startswith(mark)), b"")
    text = _decoded(raw[len(mark) :], name, _MARKS.get(mark, "") or encoding or "utf-8")
    if text.startswith(codecs.BOM_UTF8):  # which parsers would leave out
        raise DataError(f"{name}: two byte order marks at the start; remove one")
    return text


def _decoded(body: bytes, name: str, known: str) -> bytes:
    """A text of a known encoding in UTF-8."""
    try:
        "a".encode(known)  # refuses codecs that are not of text
        decoder, codec = codecs.getincrementaldecoder(known)(), codecs.lookup(known).name
    except (LookupError, UnicodeError):
        codec = "undefined"
    if codec in _NOT_OF_FILES:
        raise ConfigError(
            f"unknown encoding {known!r}; give one that Python knows, as in {Option('encoding', 'latin-1')}"
        )
    as_it_is, parts = codec == "utf-8", []
    binary = f"{name}: binary data; expected CSV or TSV text, or a file named .parquet"
    if as_it_is and b"\0" in body:
        raise DataError(binary)
    if as_it_is and body.isascii():
        return body
    for start in range(0, len(body) + 1, _BLOCK):  # block by block, because a whole text takes up to four times as much
        block = body[start : start + _BLOCK]
        try:
            text = decoder.decode(block, final=start + _BLOCK > len(body))
        except UnicodeDecodeError as error:
            place = start + len(block) - len(error.object) + error.start
            raise DataError(_undecodable(body, place, name, known)) from error
        except UnicodeError as error:  # of codecs that have a form of their own, such as UTF-16 without a mark
            raise DataError(f"{name}: not {known.upper()} text ({error}); {_hint()}") from error
        if "\0" in text:
            raise DataError(binary)
        if not as_it_is:
            parts.append(text.encode())
    return body if as_it_is else b"".join(parts)


def _undecodable(body: bytes, place: int, name: str, encoding: str) -> str:
    """What to say of a byte that does not fit."""
    before = body[:place].decode(encoding, errors="replace")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    shown = f"column {column}, byte 0x{body[place]:02x}"
    return f"{name}: line {line} is not {encoding.upper()} text ({shown}); {_hint()}"


def _hint() -> str:
    return f"save the file as UTF-8, or say what it is, as in {Option('encoding', 'latin-1')}"


def read_delimited(raw: bytes, name: str, layout: FileFormat, *, integers: bool = False) -> pl.DataFrame:
    """Parse a text in UTF-8; all columns are text, but with `integers` those of whole numbers may be integers.

    Parameters
    ----------
    raw : bytes
        The text, as `to_utf8` returns it.
    name : str
        Name of the file in messages.
    layout : FileFormat
        Its separator, and its columns if it has no header.
    integers : bool
        Whether a column of integers, each as it is printed, may be of integers: it then takes a fraction of the memory
        and time, and says the same.

    Raises
    ------
    DataError
        If a line has too many or too few fields, a quote is out of place, or line ends differ.
    """
    raw, separator, quoting = _one_character(raw, name, layout.separator)
    quoting = quoting and _quotes(raw, separator)
    raw = _line_ends(raw, quoting=quoting)
    leading = _BLANK_LINES.match(raw)
    skipped = leading.group().count(b"\n") if leading else 0
    raw = raw[leading.end() :] if leading else raw
    first = _first_fields(raw, separator, quoting=quoting)
    if layout.columns:
        _check_columns(first, layout.columns, name)
    else:
        _check_header(first, name)
    plain = None if quoting else scan_plain(raw, ord(separator), len(first), header=not layout.columns)
    if plain is None:
        rows, blank = _check_lines(raw, separator, len(first), name, layout, quoting=quoting, skipped=skipped)
    else:
        rows, blank = plain[0], 0
    if blank:
        raw = _without_blanks(raw, quoting=quoting)
    names = [column if column != SKIPPED else f"{SKIPPED}{k}" for k, column in enumerate(layout.columns)]
    whole = plain[1] if plain is not None and integers else []
    frame = _parse(raw, name, separator, names, quoting=quoting, whole=whole)
    if not names and all(first) and len(set(first)) == len(first):
        frame.columns = first  # where polars leaves doubled quotes as they are
    if separator == _UNIT:  # a separator in quotes is text
        frame = frame.with_columns(pl.col(pl.String).str.replace_all(_UNIT, layout.separator, literal=True))
        frame.columns = [column.replace(_UNIT, layout.separator) for column in frame.columns]
    if frame.height != rows - (not names):
        raise DataError(f"{name}: {rows:,} lines were read as {frame.height:,} rows; check its quotes and line ends")
    return frame.select(column for column in layout.columns if column != SKIPPED) if names else frame


def _one_character(raw: bytes, name: str, separator: str) -> tuple[bytes, str, bool]:
    """The text with a separator of one character, because polars takes no other; and whether fields may be quoted."""
    if separator == BLANKS:
        return with_tabs(raw), "\t", False
    if len(separator.encode()) == 1:
        return raw, separator, True
    if _UNIT.encode() in raw:
        raise DataError(f"{name}: a field has the control character 0x1f; remove it")
    return raw.replace(separator.encode(), _UNIT.encode()), _UNIT, True


def _line_ends(raw: bytes, *, quoting: bool) -> bytes:
    """The text with LF line ends where it had CRLF, or CR alone everywhere; what is in quotes stays as it is."""
    raw = raw.removesuffix(b"\r")
    if b"\r" not in raw:
        return raw
    parts = raw.split(_QUOTE) if quoting else [raw]  # those with an even place are not in quotes
    end = b"\r\n" if any(b"\n" in part for part in parts[::2]) else b"\r"
    parts[::2] = [part.replace(end, b"\n") for part in parts[::2]]
    return _QUOTE.join(parts)


def _quotes(raw: bytes, separator: str) -> bool:
    """Whether some field is in quotes; if none is, quotes are characters like others, as in ``12" disk``."""
    if _QUOTE not in raw:
        return False
    mark = separator.encode()
    return raw.startswith(_QUOTE) or b'\n"' in raw or b'\r"' in raw or mark + _QUOTE in raw


def _first_fields(raw: bytes, separator: str, *, quoting: bool) -> list[str]:
    line = raw[: raw.find(b"\n") if b"\n" in raw else len(raw)]
    if not quoting:
        return line.decode().split(separator)
    while line.count(_QUOTE) % 2 and len(line) < len(raw):  # a line end in quotes
        end = raw.find(b"\n", len(line) + 1)
        line = raw[: end if end >= 0 else len(raw)]
    try:
        return next(csv.reader(io.StringIO(line.decode()), delimiter=separator), [])
    except csv.Error:  # a field of more than 131,072 characters
        return [""] * (line.count(separator.encode()) + 1)


def _check_columns(first: list[str], columns: tuple[str, ...], name: str) -> None:
    if len(first) != len(columns):
        raise DataError(
            f"{name}: line 1 has {fields_text(len(first))}, but {Option('columns', ','.join(columns))} names "
            f"{len(columns)}; name each of them ({SKIPPED} for those that are not needed), and check {Option('sep')}"
        )
    if {each.lower() for each in first} & {column.lower() for column in columns if column != SKIPPED}:
        raise DataError(f"{name}: line 1 is a header, because it has names of columns; leave out {Option('columns')}")


def _check_header(names: list[str], name: str) -> None:
    twice = {each for each in names if names.count(each) > 1}
    if twice and not all(each.replace(".", "").isdigit() for each in twice):
        raise DataError(f"{name}: column {min(twice)!r} occurs twice in the header; rename one")


def _check_lines(
    raw: bytes, separator: str, width: int, name: str, layout: FileFormat, *, quoting: bool, skipped: int
) -> tuple[int, int]:
    """How many rows there are, and how many blank lines; or an error that names the first line that is not one."""
    problem, place, line, fields, rows, blank = scan(raw, ord(separator), width, quoting=quoting)
    if not problem:
        return rows, blank
    column = len(raw[raw.rfind(b"\n", 0, place) + 1 : place].decode(errors="replace")) + 1
    expected = str(Option("columns")) if layout.columns else "the header"
    more = fields > width
    what = {
        RAGGED: (
            f"has {fields_text(fields)}, {expected} {width}; "
            + ("quote fields that contain the separator" if more else "give every line the same number of fields")
        ),
        LONE_RETURN: f"has a carriage return in column {column}; save the file with one kind of line ends",
        TEXT_AFTER_QUOTE: f"has text after the closing quote in column {column}; double the quotes inside a field",
        BAD_QUOTE: f"has a quote inside a field in column {column}; put the field in quotes and double those inside",
        OPEN_QUOTE: f"opens a quote in column {column} that is never closed; check that every quote is closed",
    }
    raise DataError(f"{name}: line {line + skipped} {what[problem]}")


def _without_blanks(raw: bytes, *, quoting: bool) -> bytes:
    """The text without lines of blanks."""
    parts = raw.split(_QUOTE) if quoting else [raw]
    for place in range(0, len(parts), 2):  # which are not in quotes; their first and last lines are parts of lines
        first, *middle = parts[place].split(b"\n")
        last = middle[-1:]
        if place == len(parts) - 1 and last and not last[0].strip(b" \t"):
            last = [b""]
        parts[place] = b"\n".join([first, *(line for line in middle[:-1] if line.strip(b" \t")), *last])
    return _QUOTE.join(parts)


def _parse(
    raw: bytes, name: str, separator: str, names: list[str], *, quoting: bool, whole: list[bool]
) -> pl.DataFrame:
    try:
        return pl.read_csv(
            io.BytesIO(raw),
            separator=separator,
            has_header=not names,
            new_columns=names or None,
            infer_schema=False,
            schema_overrides=[pl.Int64 if each else pl.String for each in whole] or None,
            quote_char='"' if quoting else None,
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{name}: cannot be read as text with {separator!r} between fields; check its lines") from error
