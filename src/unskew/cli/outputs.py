"""Writing results: to JSON and HTML files, to stdout, or to a folder."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import typer

from unskew.errors import ConfigError, DataError, did_you_mean

STDOUT = Path("-")
FORMATS = ("table", "md", "csv", "latex", "json")


@dataclass(frozen=True)
class Outputs:
    """The files to write; JSON may go to stdout."""

    json: Path | None = None
    html: Path | None = None
    form: str | None = None  # of what is printed

    @property
    def on_screen(self) -> bool:
        """Whether JSON, or another format, is printed instead of the tables."""
        return self.json == STDOUT or self.printed != "table"

    @property
    def prints_json(self) -> bool:
        """Whether ``--json -`` prints already."""
        return self.json == STDOUT

    @property
    def printed(self) -> str:
        """The format of what is printed, of `FORMATS`."""
        return self.form or "table"

    def check(self, inputs: Iterable[Path | None] = ()) -> None:
        """Refuse, before long work, files that cannot be written or that the run reads."""
        from unskew.data.writing import check_writable

        if self.printed not in FORMATS:
            raise ConfigError(f"--format {self.form}: unknown{did_you_mean(self.printed, FORMATS)}")
        if self.json == STDOUT and self.form not in {None, "json"}:
            raise ConfigError(f"--json - and --format {self.form} both print; leave one out, or name a file for --json")
        in_use = {path.resolve(): "is read by this run" for path in inputs if path is not None}
        for name, path in (("json", self.json), ("html", self.html)):
            if path is None or (name == "json" and path == STDOUT):
                continue
            if path == STDOUT:
                raise ConfigError("--html - : only --json can go to stdout; name a file")
            check_writable(path)
            if path.is_file() or not path.exists():  # a device such as /dev/null may be named twice
                if path.resolve() in in_use:
                    raise ConfigError(f"--{name} {path}: the file {in_use[path.resolve()]}; name another")
                in_use[path.resolve()] = "is already written by --json"

    def write(self, to_json: Callable[[], str], to_html: Callable[[], str] | None = None) -> None:
        """Write the files; both are complete before either gets its name."""
        from unskew.data.writing import written

        texts = {}
        if self.html is not None and to_html is not None:
            texts[self.html] = to_html()
        if self.json is not None:
            texts[self.json] = to_json()
        on_screen = texts.pop(STDOUT, None)
        with ExitStack() as stack:
            for path, text in texts.items():
                stack.enter_context(written(path)).write(text)
        if on_screen is not None:
            typer.echo(on_screen, nl=False)


def check_folder(out: Path, files: Iterable[str], source: Path, what: str) -> None:
    """Refuse, before long work, a folder that cannot be written to, or where an input would be overwritten."""
    from unskew.data.writing import check_writable

    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: this is a file; name a folder to write to")
    if not out.exists():
        return
    for name in files:
        check_writable(out / name)
        if (out / name).resolve() == source.resolve():
            raise ConfigError(f"{out}: this would overwrite the {what} {source}; name another folder")


def make_folder(out: Path) -> None:
    """Create a folder and its parents."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: cannot be created ({error.strerror}); name another folder") from error
