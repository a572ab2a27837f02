"""The commands ``unskew split``, into train, validation and test, and ``unskew partition``, into parts by user."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from unskew.cli.command import command_of
from unskew.cli.inputs import is_data_set, path_of, read_log
from unskew.cli.options import ColumnOptions, LogFile, Quiet, Seed, WeightColumn
from unskew.cli.outputs import check_folder, make_folder
from unskew.cli.screen import aside, screen, stages
from unskew.display.text_table import digits, print_lines, print_table, table, words
from unskew.errors import ConfigError, DataError

if TYPE_CHECKING:
    import polars as pl

    from unskew.arrays import Bools
    from unskew.data import Interactions, Split

_PARTS = ("train", "validation", "test")
_NEITHER = "in the gap, after the end of the test, or a repeated (user, item)"
_NO_PROPENSITY = "the propensity column of the test was dropped, because it is known for random splits only"


@dataclass(frozen=True)
class SplitOptions(ColumnOptions):
    """The options of ``unskew split``."""

    log: LogFile
    out: Annotated[Path, typer.Argument(help="Folder for train, validation and test; created if absent.")]
    fractions: Annotated[
        str | None,
        typer.Option(help="Split rows at random, as train/validation/test or train/test [default: 70/15/15]."),
    ] = None
    per_user: Annotated[
        str | None,
        typer.Option(
            help="Split each user's rows at random: a test share, as in 0.2, or train/validation/test, as in 70/10/20."
        ),
    ] = None
    least: Annotated[
        int | None,
        typer.Option(help="With --per-user: users with fewer rows are only in train; all others have a test row."),
    ] = None
    leave_one_out: Annotated[
        bool,
        typer.Option("--leave-one-out", help="Hold out each user's last row, or a random one if there are no times."),
    ] = False
    temporal: Annotated[float | None, typer.Option(help="Hold out the last share of the log by time, as in 0.2.")] = (
        None
    )
    before: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Train on rows before this date, test on rows from then on: as in 2024-01-31 or 2024-01-31T12:00 "
            "(UTC), or a number in the unit of the times.",
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            metavar="DATE", help="With --before or --rolling: where the test ends [default: after the last row]."
        ),
    ] = None
    gap: Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH",
            help="With --before or --rolling: leave the rows of this length of time before the test out of train, as "
            "in 7d or 12h.",
        ),
    ] = None
    rolling: Annotated[
        str | None,
        typer.Option(
            metavar="NxLENGTH",
            help="Test windows one after another, each with all of the training before it, as in 4x7d; one folder "
            "each, for unskew evaluate --windows.",
        ),
    ] = None
    time_unit: Annotated[
        str,
        typer.Option(
            help="Unit of the times since 1970: s, ms, us, ns, or number if they are not dates; auto goes by size."
        ),
    ] = "auto"
    seed: Seed = 0
    file_format: Annotated[str, typer.Option("--format", help="Format of the files: csv or parquet.")] = "csv"
    partitions: Annotated[
        int | None,
        typer.Option(help="Write each part as a folder of this many Parquet files by user, read part by part."),
    ] = None
    weight_col: WeightColumn = None


@command_of(SplitOptions)
def split_command(options: SplitOptions) -> None:
    """Split a log into train, validation and test.

    A propensity column is rewritten to P(in test | candidate).
    """
    per_user, least, seed, out = options.per_user, options.least, options.seed, options.out
    _check_ways(options)
    if least is not None and per_user is None:
        raise ConfigError("--least needs --per-user, as in --per-user 70/10/20 --least 5")
    if options.file_format not in {"csv", "parquet"}:
        raise ConfigError(f"--format {options.file_format!r}: choose csv or parquet")
    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    parts = parse_fractions(options.fractions or "70/15/15")
    share, validation = parse_per_user("0.2" if per_user is None else per_user)
    kind: Literal["csv", "parquet"] = "csv" if options.file_format == "csv" else "parquet"
    if options.rolling is not None:
        _split_rolling(options, kind)
        return
    check_folder(out, [f"{name}.{kind}" for name in _PARTS], path_of(options.log), "log")
    from unskew.data import split_by_time, split_fractions, split_leave_one_out, split_per_user, split_temporal

    # a split at a moment keeps repeated rows, or a later one would replace a training row
    interactions = read_log(options.log, options.columns, once=options.before is None)
    if options.before is not None:
        split = split_by_time(
            interactions, before=options.before, until=options.until, gap=options.gap, unit=options.time_unit
        )
    elif per_user is not None:
        split = split_per_user(interactions, share, validation=validation, least=least, rng=seed)
    elif options.leave_one_out:
        split = split_leave_one_out(interactions, rng=seed)
    elif options.temporal is not None:
        split = split_temporal(interactions, options.temporal)
    else:
        split = split_fractions(interactions, parts, rng=seed)
    _write(split, out, kind, options.partitions)
    _print(split, interactions, out, kind)
    if validation or least is not None:
        _print_train_only(split, interactions, validation=validation)


def _check_ways(options: SplitOptions) -> None:
    """Refuse two ways to split, and options of another way than the chosen one."""
    ways = ("fractions", "per_user", "leave_one_out", "temporal", "before", "rolling")
    chosen = [name for name in ways if getattr(options, name) not in {None, False}]
    flags = [f"--{name.replace('_', '-')}" for name in ways]
    if len(chosen) > 1:
        raise ConfigError(f"choose one of {', '.join(flags[:-1])} and {flags[-1]}")
    timed = bool({"before", "rolling"} & set(chosen))
    for name, given in (("until", options.until), ("gap", options.gap)):
        if given is not None and not timed:
            raise ConfigError(
                f"--{name} needs --before or --rolling, as in --before 2024-01-31 --{name} {_AS_IN[name]}"
            )
    if options.time_unit != "auto" and not timed:
        raise ConfigError("--time-unit needs --before or --rolling; leave it out")


_AS_IN = {"until": "2024-02-07", "gap": "7d"}


def _split_rolling(options: SplitOptions, kind: Literal["csv", "parquet"]) -> None:
    """Write one folder per window."""
    from unskew.data import rolling
    from unskew.data.time.splits import parse_rolling
    from unskew.data.time.windows import window_folders, window_names

    number, length = parse_rolling(options.rolling or "")
    names, out = window_names(number), options.out
    for name in names:
        check_folder(out / name, [f"{part}.{kind}" for part in _PARTS], path_of(options.log), "log")
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: this is a file; name a folder to write to")
    earlier = [name for name in window_folders(out) if name not in names]
    if earlier:
        raise ConfigError(
            f"{out / earlier[0]} is from an earlier split and would be evaluated with these windows; remove it, or "
            "name another folder"
        )
    log = read_log(options.log, options.columns, once=False)
    splits = rolling(log, number, length, gap=options.gap, until=options.until, unit=options.time_unit)
    for name, split in zip(names, splits, strict=True):
        _write(split, out / name, kind, options.partitions)
    rows = [
        [name, split.origin, f"{len(split.train):,}", f"{len(split.test):,}", _new_share(split)]
        for name, split in zip(names, splits, strict=True)
    ]
    console = screen()
    print_lines([f"{number} windows, written to {out}; evaluate them with: unskew evaluate --windows {out}"], console)
    print_table(table(None, [*words("folder", "split"), *digits("train", "test", "cold test rows")], rows), console)
    if log.propensity is not None:
        print_lines([f"warning: {_NO_PROPENSITY}"], aside())


def _new_share(split: "Split") -> str:
    """The share of test rows whose user or item has no training row."""
    train, test = split.train, split.test
    return f"{((train.user_counts[test.users] == 0) | (train.item_counts[test.items] == 0)).mean():.1%}"


def parse_fractions(text: str) -> tuple[float, ...]:
    """Parts of a text such as ``70/15/15``."""
    from unskew.data.splitters import check_whole

    try:
        parts = tuple(float(part) for part in text.split("/"))
    except ValueError:
        parts = ()
    if len(parts) not in {2, 3} or not all(0 < part < float("inf") for part in parts):
        raise ConfigError(f"cannot read fractions {text!r}; write two or three positive parts, as in 80/20 or 70/15/15")
    check_whole(parts, "--fractions")
    return parts


def parse_per_user(text: str) -> tuple[float, float]:
    """Shares of test and validation, from one share as in ``0.2`` or from parts as in ``70/10/20``."""
    from unskew.data.splitters import check_whole

    try:
        parts = [float(part) for part in text.split("/")]
    except ValueError:
        parts = []
    if len(parts) == 1:
        return parts[0], 0.0
    if len(parts) not in {2, 3} or not all(0 < part < float("inf") for part in parts):
        raise ConfigError(
            f"cannot read --per-user {text!r}; write a share as in 0.2, or two or three positive parts as in 70/10/20"
        )
    check_whole(parts, "--per-user")
    return parts[-1] / sum(parts), parts[1] / sum(parts) if len(parts) == 3 else 0.0


def _parts(split: "Split") -> "dict[str, Interactions]":
    named = dict(zip(_PARTS, (split.train, split.validation, split.test), strict=True))
    return {name: part for name, part in named.items() if part is not None}


def _write(split: "Split", out: Path, kind: Literal["csv", "parquet"], parts: int | None) -> None:
    from unskew.data import write_parts
    from unskew.data.writing import write_parquet, written

    make_folder(out)
    if parts is not None:
        for name, part in _parts(split).items():
            write_parts([part.to_polars()], out / name, parts)
        return
    with ExitStack() as stack:  # all parts are complete before any gets its name
        for name, part in _parts(split).items():
            stream = stack.enter_context(written(out / f"{name}.{kind}", "wb"))
            if kind == "csv":
                for place, frame in enumerate(part.frames()):
                    frame.write_csv(stream, include_header=place == 0)
            else:
                write_parquet(part.to_polars(), stream)


def _print(split: "Split", log: "Interactions", out: Path, kind: str) -> None:
    rows = []
    for name, part in {"log": log, **_parts(split)}.items():
        users, items = int((part.user_counts > 0).sum()), int((part.item_counts > 0).sum())
        rows.append([name, f"{len(part):,}", f"{users:,}", f"{items:,}"])
    console = screen()
    print_lines([f"{split.origin}, written to {out}"], console)
    print_table(table(None, [*words("part"), *digits("rows", "users", "items")], rows), console)
    neither = len(log) - sum(len(part) for part in _parts(split).values())
    print_lines([f"rows in no part: {neither:,}, " + _NEITHER] if neither else [], console)
    print_lines([_cold(split)], console)
    print_lines((f"warning: {text}" for text in _warnings(split, log, out, kind)), aside())


def _cold(split: "Split") -> str:
    """How many test rows have a user or an item without a training row."""
    import numpy as np

    train, test = split.train, split.test
    new_user, new_item = train.user_counts[test.users] == 0, train.item_counts[test.items] == 0
    users, tested = len(np.unique(test.users[new_user])), int(np.count_nonzero(test.user_counts))
    return (
        f"cold test users (no training row): {users:,} of {tested:,}, with {_share(new_user)} test rows; "
        f"test rows of cold items (never in train): {_share(new_item)}"
    )


def _share(rows: "Bools") -> str:
    return f"{int(rows.sum()):,} of {len(rows):,} ({rows.mean() if len(rows) else 0:.1%})"


def _print_train_only(split: "Split", log: "Interactions", *, validation: float) -> None:
    from unskew.data import count_train_only

    users = int((log.user_counts > 0).sum())
    lines = [f"{count_train_only(split):,} of {users:,} users are only in train"]
    if validation and split.validation is None:
        lines.append("no user has enough rows for a validation row, so no validation part was written")
    print_lines(lines, screen())


def _warnings(split: "Split", log: "Interactions", out: Path, kind: str) -> Iterator[str]:
    if log.duplicates:
        from unskew.evaluation.checking.data import REPEATED_ROWS, repeated

        yield REPEATED_ROWS.format(part="log", rows=repeated(log.duplicates))
    if log.propensity is not None and split.test.propensity is None:
        yield _NO_PROPENSITY
    if split.validation is None and (out / f"validation.{kind}").exists():
        yield f"{out / f'validation.{kind}'} is from an earlier split and does not belong to this one; remove it"


@dataclass(frozen=True)
class PartitionOptions(ColumnOptions):
    """The options of ``unskew partition``."""

    log: Annotated[
        Path, typer.Argument(help="A log, or a table of scores: a file, or a folder or URL of Parquet files.")
    ]
    out: Annotated[Path, typer.Argument(help="Folder for the data set; an earlier one is replaced.")]
    partitions: Annotated[
        int | None,
        typer.Option(help="Number of parts [default: one per two million rows]; the same for train and test."),
    ] = None
    quiet: Quiet = False


@command_of(PartitionOptions)
def partition_command(options: PartitionOptions) -> None:
    """Write a log as Parquet files by user, so that it can be evaluated without being in memory.

    The part of a user depends on the user's id alone. Parquet files are read some million rows at a time.
    """
    from unskew.data.partitions import ROWS, count_rows, find_files, parts_for, read_batches, write_parts
    from unskew.data.partitions.locations import as_location

    if options.partitions is not None and options.partitions < 1:
        raise ConfigError(f"--partitions {options.partitions}: must be at least 1")
    columns, whole = options.columns, options.log.suffix == ".parquet" or is_data_set(options.log)
    if not whole:
        log = read_log(options.log, columns).to_polars()
        named = {name: getattr(columns, name, None) for name in log.columns}
        log = log.rename({name: column for name, column in named.items() if column})
        batches, total = iter([log]), len(log)
    else:
        files = find_files(as_location(options.log))
        batches, total = read_batches(files, columns), sum(map(count_rows, files))
    parts = options.partitions or parts_for(total)
    with stages(quiet=options.quiet) as progress:
        rows = write_parts(_counted(batches, progress, total, ROWS), options.out, parts, columns)
    if not options.quiet:
        screen().print(f"{rows:,} rows in {parts:,} parts, written to {options.out}", markup=False, highlight=False)


def _counted(batches: "Iterator[pl.DataFrame]", progress: object, total: int, size: int) -> "Iterator[pl.DataFrame]":
    """Yield the batches, and report how many are done."""
    steps = -(-total // size)
    for done, batch in enumerate(batches):
        yield batch
        if callable(progress):
            progress("writing parts", min(done + 1, steps), steps)
