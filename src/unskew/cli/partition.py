"""The command ``unskew partition``: it writes a log as a data set whose parts have all rows of their users."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unskew.cli.inputs import is_data_set, read_log
from unskew.cli.options import ColumnOptions, Quiet, command_of
from unskew.cli.screen import screen, stages
from unskew.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl


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
        log = read_log(options.log, columns).to_polars().rename({"user": columns.user, "item": columns.item})
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
