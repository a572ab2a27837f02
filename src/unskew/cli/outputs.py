"""Where results go: files of JSON and HTML, or stdout."""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import typer

from unskew.errors import ConfigError

STDOUT = Path("-")


class Result(Protocol):
    """What can be written."""

    def to_json(self) -> str:
        """The JSON."""

    def to_html(self) -> str:
        """The page."""


def check_outputs(options: dict[str, Any], inputs: Iterable[Path | None]) -> None:
    """Refuse, before long work, what cannot be written or would destroy a file of the run.

    Parameters
    ----------
    options : dict
        Paths or None under ``json`` and ``html``.
    inputs : iterable of path or None
        What the run reads.
    """
    from unskew.data.writing import check_writable

    taken = {path.resolve(): "is read by this run" for path in inputs if path is not None}
    for name in ("json", "html"):
        path = options[name]
        if path is None or (name == "json" and path == STDOUT):
            continue
        if path == STDOUT:
            raise ConfigError("--html - : only --json can go to stdout; name a file")
        check_writable(path)
        if path.is_file() or not path.exists():  # a device such as /dev/null may be named twice
            if path.resolve() in taken:
                raise ConfigError(f"--{name} {path}: that file {taken[path.resolve()]}; name another")
            taken[path.resolve()] = "is already written by --json"


def write_outputs(result: Result, options: dict[str, Any]) -> None:
    """Write the files asked for; both are whole before any gets its name."""
    from unskew.data.writing import written

    texts = {}
    if options["html"] is not None:
        texts[options["html"]] = result.to_html()
    if options["json"] is not None:
        texts[options["json"]] = result.to_json()
    on_screen = texts.pop(STDOUT, None)
    with ExitStack() as stack:
        for path, text in texts.items():
            stack.enter_context(written(path)).write(text)
    if on_screen is not None:
        typer.echo(on_screen, nl=False)
