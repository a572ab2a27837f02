"""The command ``unskew simulate``: draw a log whose truth is known, and write both."""

import json
import shlex
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from unskew import __version__
from unskew.cli.progress import stages
from unskew.data.writing import check_writable, written
from unskew.errors import ConfigError, DataError

if TYPE_CHECKING:
    import polars as pl

    from unskew.arrays import Floats, Ints
    from unskew.simulators import World, WorldModel

_TABLES = ("train", "test", "truth", "relevant")
_FILES = (*(f"{name}.parquet" for name in _TABLES), "world.json")


def simulate_command(
    world: Annotated[
        str,
        typer.Argument(
            metavar="WORLD",
            help="A word, as in 'ibp(users=500, alpha=30)' (see: unskew list worlds), or a JSON of unskew calibrate.",
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the files; made if absent.")],
    seed: Annotated[int, typer.Option(help="Seed of all draws.")] = 0,
    kind: Annotated[
        str | None, typer.Option("--world", help="Which world of the JSON [default: the only one]", metavar="KIND")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table or progress.")] = False,
) -> None:
    """Draw a log whose truth is known: train and test, all that is relevant, and how likely it was to be seen.

    Writes train.parquet, test.parquet (with the propensity, P(in test | not in train)), truth.parquet (all that is
    relevant and not in train, with its chance to be in the test, and its strength in graded worlds), relevant.parquet
    (each user's number of such items, as --relevant-counts wants it) and world.json. Files of these names that are
    there already are written over.
    """
    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    model = _read_world(world, kind)
    _check_folder(out, world)
    with stages(quiet=quiet) as progress:
        if progress is not None:
            progress("drawing", 0, 2)
        drawn = model.draw(seed)
        if progress is not None:
            progress("drawing", 1, 2)
            progress.say("drawing", "writing")
        _write(drawn, out, seed)
    if not quiet:
        _print(drawn, out)


def _read_world(text: str, kind: str | None) -> "WorldModel":
    """The world of a word, or one of those in a file of calibrated ones."""
    from unskew.simulators import WorldModel

    if "(" in text or not (text.endswith(".json") or Path(text).is_file()):
        if kind is not None:
            raise ConfigError(f"--world {kind}: chooses among the worlds of a JSON, and {text!r} is a word")
        return WorldModel.from_word(text)
    from unskew.calibration import Calibration

    found = Calibration.read(text)
    if kind is not None:
        return found.world(kind)
    if len(found.worlds) > 1:
        raise ConfigError(f"{text}: holds several worlds; choose with --world {'|'.join(found.losses)}")
    return found.worlds[0].world


def _check_folder(out: Path, world: str) -> None:
    """Refuse, before anything is drawn, a folder that cannot be written to."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: this is a file; name a folder to write to")
    if out.exists():
        for name in _FILES:
            check_writable(out / name)
            if (out / name).resolve() == Path(world).resolve():
                raise ConfigError(f"{out}: the file {world} would be written over; name another folder")


def _write(world: "World", out: Path, seed: int) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: cannot be made ({error.strerror}); name a folder that can") from error
    with ExitStack() as stack:  # all files are whole before any gets its name
        for name in _TABLES:
            _table(world, name).write_parquet(stack.enter_context(written(out / f"{name}.parquet", "wb")))
        facts = {"unskew": __version__, "world": world.made, "seed": seed, **_sizes(world)}
        stack.enter_context(written(out / "world.json")).write(json.dumps(facts, indent=2) + "\n")


def _table(world: "World", name: str) -> "pl.DataFrame":
    """One of the tables; ids are the codes, so nothing is looked up."""
    import numpy as np
    import polars as pl

    columns: dict[str, Ints | Floats | None]
    if name == "relevant":
        # under --candidates trained only items that occur in train are ranked, and only those count
        known = np.append(0, np.cumsum(world.train.item_counts[world.items] > 0))
        columns = {
            "user": np.arange(world.n_users, dtype=np.int32),
            "relevant": world.relevant_counts,
            "relevant_trained": np.diff(known[world.offsets]),
        }
    elif name == "truth":
        users = np.repeat(np.arange(world.n_users, dtype=np.int32), world.relevant_counts)
        # chance is 0 for users without a test row, so it is no propensity, and the file can be judged by as it is
        columns = {"user": users, "item": world.items, "chance": world.chances, "strength": world.strength}
    else:
        part = world.train if name == "train" else world.test
        columns = {"user": part.users, "item": part.items, "propensity": part.propensity}
    return pl.DataFrame({key: column for key, column in columns.items() if column is not None})


def _sizes(world: "World") -> dict[str, int]:
    import numpy as np

    return {
        "users": world.n_users,
        "items": world.n_items,
        "likes": len(world.items) + len(world.train) if world.likes is None else len(world.likes),
        "train_rows": len(world.train),
        "test_rows": len(world.test),
        "test_users": int(np.count_nonzero(world.test.user_counts)),
    }


def _print(world: "World", out: Path) -> None:
    sizes = _sizes(world)
    rows = sizes["train_rows"] + sizes["test_rows"]
    table = Table(pad_edge=False, box=SIMPLE_HEAD, show_header=False)
    table.add_column("what")
    table.add_column("how much", justify="right")
    table.add_row("users", f"{sizes['users']:,}")
    table.add_row("items", f"{sizes['items']:,}")
    table.add_row("likes", f"{sizes['likes']:,}")
    table.add_row("rows of train", f"{sizes['train_rows']:,}")
    table.add_row("rows of test", f"{sizes['test_rows']:,}")
    table.add_row("share of all pairs that are rows", f"{rows / (sizes['users'] * sizes['items']):.3%}")
    table.add_row("users with a test row", f"{sizes['test_users']:,}")
    if world.test.propensity is not None:
        table.add_row("mean P of test rows", f"{world.test.propensity.mean():.4f}")
    # a pipe or file gets full lines, not those of an imagined 80-column screen
    console = Console(width=None if sys.stdout.isatty() else 100, highlight=False)
    console.print(Text(f"{world.made}, written to {out}"), soft_wrap=True)
    console.print(table)
    console.print(Text("Judge models by it, also with the P it was drawn with:"))
    all_liked = world.likes is None or sizes["likes"] == len(world.train) + len(world.items)
    console.print(Text(_command(out, all_liked=all_liked)), soft_wrap=True)


def _command(out: Path, *, all_liked: bool) -> str:
    words = ["unskew", "evaluate", "--train", str(out / "train.parquet"), "--test", str(out / "test.parquet")]
    words += ["--model", "popular", "--model", "random", "-m", "recall@10", "-m", "adg"]
    words += ["-e", "aoa", "-e", "snips", "--propensity", "column"]
    if all_liked:  # ips knows no rows of what is not relevant
        words += ["-e", "ips", "--relevant-counts", str(out / "relevant.parquet")]
    return shlex.join(words)
