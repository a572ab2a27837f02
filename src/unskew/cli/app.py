"""The application: it registers the commands and prints errors in one line."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from unskew import __version__
from unskew.cli.audit import audit_command
from unskew.cli.calibrate import calibrate_command
from unskew.cli.command import first_sentence
from unskew.cli.datasets import datasets_app
from unskew.cli.evaluate import evaluate_command
from unskew.cli.exposures import exposures_command
from unskew.cli.gate import gate_command
from unskew.cli.listing import list_command
from unskew.cli.reproduce import reproduce_command
from unskew.cli.screen import noted_compilation
from unskew.cli.simulate import demo_command, simulate_command
from unskew.cli.split import partition_command, split_command
from unskew.display.names import escaped
from unskew.errors import UnskewError, spelled_as_flags

BAD_INPUT = 2
INTERRUPTED = 130
INTERRUPTED_WORDS = "interrupted; no file was left half written"
HELP_WIDTH = 120  # most columns of help texts
_LONGEST = 1000  # characters of a message
_REPORT = "this is a bug; please report what --debug shows"

app = typer.Typer(
    name="unskew",
    help="What your recommender's offline metrics would be if the log were not skewed, and how sure that is.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": HELP_WIDTH},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"unskew {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Results go to stdout, progress and warnings to stderr.

    Exit status: 0 for success, 1 if a study's numbers disagree, 2 for bad usage or bad data; unskew gate has its own.
    """
    # --debug is read by main(), which needs it even when parsing fails


_COMMANDS: dict[str, Callable[..., None]] = {
    "evaluate": evaluate_command,
    "gate": gate_command,
    "audit": audit_command,
    "calibrate": calibrate_command,
    "simulate": simulate_command,
    "exposures": exposures_command,
    "split": split_command,
    "partition": partition_command,
    "list": list_command,
    "demo": demo_command,
    "reproduce": reproduce_command,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, short_help=first_sentence(_command))(_command)
app.add_typer(datasets_app, name="datasets")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command line and exit with 0, 1 (a study's numbers disagree), 2 (bad usage or data) or 130 (interrupted).

    Parameters
    ----------
    arguments : list of str, optional
        Used instead of ``sys.argv[1:]``.
    """
    with spelled_as_flags(), _interrupts_not_lost():
        _run(sys.argv[1:] if arguments is None else arguments)


def _run(words: list[str]) -> NoReturn:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # so that module:Name finds a file in this folder; last, so that it hides nothing
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"] or ["--help"]
    try:
        with noted_compilation(quiet=not {"--quiet", "-q"}.isdisjoint(words)):
            status = typer.main.get_command(app).main(args=words, prog_name="unskew", standalone_mode=False)
    except typer.Exit as leave:
        status = leave.exit_code
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except UnskewError as error:
        _fail(str(error), debug=False)
    except SystemExit:  # typer and rich exit this way when the pipe is closed, as in "unskew list metrics | head"
        status = 0
    except (MemoryError, OSError) as error:
        _fail(f"{str(error) or 'out of memory'}; check memory, disk and permissions", debug=debug)
    except Exception as error:  # noqa: BLE001  # whatever it is, one line and no traceback
        if _was_interrupted(error):
            _forget_interrupt()
            _fail(INTERRUPTED_WORDS, debug=debug, status=INTERRUPTED)
        usage = _usage(error)
        _fail(usage or f"{type(error).__name__}: {error}; {_blame(error)}", debug=debug and not usage)
    if status == INTERRUPTED:  # newer versions of typer turn Ctrl-C into this status
        _forget_interrupt()
        print(f"unskew: {INTERRUPTED_WORDS}", file=sys.stderr)  # noqa: T201
    sys.exit(status if isinstance(status, int) else 0)


@contextmanager
def _interrupts_not_lost() -> Iterator[None]:
    """Raise Ctrl-C again where the interpreter drops it: in a callback of a compiler, in a finalizer."""
    before = sys.unraisablehook

    def hook(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # later, because an error of this hook is dropped too; as a signal, because that also ends a sleep
            again = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            again.start()
        else:
            before(dropped)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _forget_interrupt() -> None:
    """Make the process exit with the given status after Ctrl-C.

    Ctrl-C inside an ``exec`` of text, as dataclasses and compilers make, is remembered by the interpreter, which then
    ends ``python -m`` with the signal although it was caught. Another such ``exec`` clears this.
    """
    exec("")  # noqa: S102


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused the error: a compiled package that is being imported turns it into another exception."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _blame(error: Exception) -> str:
    """A hint on the cause of an error: a class of the user, named as module:Name, or a bug of unskew."""
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [frame for frame in frames if Path(frame.filename).resolve().parent == Path.cwd()]
    if user_frames:
        last = user_frames[-1]
        return f"raised in line {last.lineno} of {Path(last.filename).name}; --debug shows the traceback"
    return _REPORT


def _usage(error: Exception) -> str:
    """The message of a usage error; empty for another kind of error."""
    # typer builds on click or on its own copy of it, by version; both give usage errors this method
    if not hasattr(error, "format_message"):
        return ""
    context = getattr(error, "ctx", None)
    command = "unskew" if context is None else context.command_path
    message: str = error.format_message()
    return f"{message.rstrip('.')}; see '{command} --help'"


def _fail(message: str, *, debug: bool, status: int = BAD_INPUT) -> NoReturn:
    if debug:
        traceback.print_exc()
    print(f"unskew: {escaped(message, _LONGEST)}", file=sys.stderr)  # noqa: T201
    sys.exit(status)
