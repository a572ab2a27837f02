"""The commands ``unskew simulate`` and ``unskew demo``: they draw logs whose truth is known."""

import json
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from unskew import __version__
from unskew.cli.completion import completes
from unskew.cli.options import Quiet, Seed
from unskew.cli.outputs import check_folder, make_folder
from unskew.cli.screen import screen, stages
from unskew.display.numbers import number
from unskew.display.text_table import Cell, digits, print_lines, print_table, table, words
from unskew.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl

    from unskew.arrays import Floats, Ints
    from unskew.simulators import World, WorldModel
    from unskew.studies import Demo
    from unskew.studies.demo import Way

_TABLES = ("train", "test", "truth", "relevant")
_FILES = (*(f"{name}.parquet" for name in _TABLES), "world.json")


def simulate_command(
    world: Annotated[
        str,
        typer.Argument(
            metavar="WORLD",
            help="A world such as 'ibp(users=500)' (see 'unskew list worlds'), or a JSON of 'unskew calibrate'.",
            autocompletion=completes("worlds"),
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the files; created if absent.")],
    seed: Seed = 0,
    kind: Annotated[
        str | None,
        typer.Option("--world", help="Which world of the JSON to draw from [default: the only one].", metavar="KIND"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Draw a log from a simulated world, with its truth.

    The folder gets train.parquet; test.parquet, with the propensity P(in test | not in train); truth.parquet, with all
    relevant items outside train, their chance to be in the test and, in graded worlds, their strength;
    relevant.parquet, with each user's number of such items, for --relevant-counts; and world.json. Existing files are
    overwritten.
    """
    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    model = _read_world(world, kind)
    check_folder(out, _FILES, Path(world), "file")
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
    """The world that a word describes, or one from a file of calibrated worlds."""
    from unskew.simulators import WorldModel

    if "(" in text or not (text.endswith(".json") or Path(text).is_file()):
        if kind is not None:
            raise ConfigError(f"--world {kind}: needs a JSON of several worlds, but {text!r} is a word; leave it out")
        return WorldModel.from_word(text)
    from unskew.calibration import Calibration

    calibration = Calibration.read(text)
    if kind is not None:
        return calibration.world(kind)
    if len(calibration.worlds) > 1:
        raise ConfigError(f"{text}: has several worlds; choose one with --world {'|'.join(calibration.losses)}")
    return calibration.worlds[0].world


def _write(world: "World", out: Path, seed: int) -> None:
    from unskew.data.writing import write_parquet, written

    make_folder(out)
    with ExitStack() as stack:  # all files are complete before any gets its name
        for name in _TABLES:
            write_parquet(_table(world, name), stack.enter_context(written(out / f"{name}.parquet", "wb")))
        facts = {"unskew": __version__, "world": world.origin, "seed": seed, **_sizes(world)}
        stack.enter_context(written(out / "world.json")).write(json.dumps(facts, indent=2) + "\n")


def _table(world: "World", name: str) -> "pl.DataFrame":
    """One of the tables; ids are the codes."""
    import numpy as np
    import polars as pl

    from unskew.arrays import offsets_of

    columns: dict[str, Ints | Floats | None]
    if name == "relevant":
        # under --candidates trained only items that occur in train are ranked, and only those count
        known = offsets_of(world.train.item_counts[world.items] > 0)
        columns = {
            "user": np.arange(world.n_users, dtype=np.int32),
            "relevant": world.relevant_counts,
            "relevant_trained": np.diff(known[world.offsets]),
        }
    elif name == "truth":
        users = np.repeat(np.arange(world.n_users, dtype=np.int32), world.relevant_counts)
        # not named propensity: it is 0 for users without a test row, and the file can serve as a test as it is
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
    facts = {
        "users": f"{sizes['users']:,}",
        "items": f"{sizes['items']:,}",
        "likes": f"{sizes['likes']:,}",
        "rows of train": f"{sizes['train_rows']:,}",
        "rows of test": f"{sizes['test_rows']:,}",
        "share of all pairs that are rows": f"{rows / (sizes['users'] * sizes['items']):.3%}",
        "users with a test row": f"{sizes['test_users']:,}",
    }
    if world.test.propensity is not None:
        facts["mean P of test rows"] = number(float(world.test.propensity.mean()))
    all_liked = world.likes is None or sizes["likes"] == len(world.train) + len(world.items)
    console = screen()
    print_lines([f"{world.origin}, written to {out}"], console)
    print_table(table(None, [*words(""), *digits("")], list(facts.items())), console)
    print_lines(
        ["To evaluate models on it, with the propensities it was drawn with:", _command(out, all_liked=all_liked)],
        console,
    )


def _command(out: Path, *, all_liked: bool) -> str:
    words = ["unskew", "evaluate", "--train", str(out / "train.parquet"), "--test", str(out / "test.parquet")]
    words += ["--model", "popular", "--model", "random", "-m", "recall@10", "-m", "adg"]
    words += ["-e", "aoa", "-e", "snips", "--propensity", "column"]
    if all_liked:  # ips cannot use rows that are not relevant
        words += ["-e", "ips", "--relevant-counts", str(out / "relevant.parquet")]
    return shlex.join(words)


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the log, the report and the page.")] = Path("unskew-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the simulated world.")] = 0,
) -> None:
    """Run an example on a simulated log whose truth is known.

    Four models are evaluated, and the naive and the corrected estimates are compared with the truth.
    """
    from unskew.studies.demo import make_folder as make_demo_folder
    from unskew.studies.demo import run_demo

    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    make_demo_folder(out)
    with stages() as progress:
        result = run_demo(seed=seed, progress=progress)
        if progress is not None:
            progress("writing the page", 0, 1)
        files = result.write(out)
    console = screen()
    console.print(Text(f"A simulated marketplace: {len(result.train):,} training rows, {len(result.test):,} held out."))
    print_table(_demo_table(result), console)
    for sentence in result.verdict:
        console.print(Text(sentence))
    console.print()
    for what, role in (("Page", "report"), ("JSON", "json"), ("Truth", "truth"), ("Log", "train"), ("", "test")):
        console.print(Text(f"{what:6}{files[role]}"), soft_wrap=True)
    console.print(Text("\nThe same report from these files:"))
    console.print(Text(result.command(out)), soft_wrap=True)


def _demo_table(result: "Demo") -> Table:
    from unskew.studies.demo import WAYS

    title = f"{result.metric} over relevant pairs: value, 95% interval, range over what may be assumed"
    rows: list[list[Cell]] = []
    for model in result.models:
        cells: list[Cell] = [model, _value(result.true_value(model), first=model == result.best())]
        for way in WAYS:
            row = result.estimate(model, way)
            cell = _value(row.value, first=model == result.first(way))
            for low, high in ((row.low, row.high), (row.assumed_low, row.assumed_high)):
                if low is not None and high is not None:
                    cell.append(f"\n{low:.4f}-{high:.4f}", style="dim not bold")
            cells.append(cell)
        rows.append(cells)
    drawn = table(title, [*words("model"), *digits("truth", *(way.label for way in WAYS))], rows)
    drawn.add_section()
    drawn.add_row("puts first", Text(result.best(), style="bold"), *(_first(result, way) for way in WAYS))
    drawn.add_row("hold truth", "", *(_held(result, way) for way in WAYS))
    return drawn


def _held(result: "Demo", way: "Way") -> Text:
    """How many intervals contain the truth, and below, how many ranges do."""
    counts = [count for count in (result.covered(way), result.covered_by_range(way)) if count is not None]
    return Text("\n".join(f"{count} of {len(result.models)}" for count in counts))


def _value(value: float | None, *, first: bool) -> Text:
    return Text(f"* {number(value)}", style="bold") if first else Text(number(value))


def _first(result: "Demo", way: "Way") -> Text:
    right = result.is_right(way)
    return Text(f"{result.first(way)}\n{'right' if right else 'wrong'}", style="bold green" if right else "bold red")
