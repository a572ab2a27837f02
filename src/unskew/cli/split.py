"""The command ``unskew split``: hold a part of a log out."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from unskew.cli.columns import Columns, ItemCol, PropensityCol, RatingCol, TimestampCol, UserCol
from unskew.data import (
    Interactions,
    Split,
    split_fractions,
    split_leave_one_out,
    split_per_user,
    split_temporal,
)
from unskew.data.writing import check_writable, written
from unskew.errors import ConfigError, DataError


def split_command(
    log: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file, or the name of a data set that is here.")],
    out: Annotated[Path, typer.Argument(help="Folder for train, validation and test; made if absent.")],
    fractions: Annotated[
        str | None, typer.Option(help="Random parts: train/validation/test or train/test [default: 70/15/15].")
    ] = None,
    per_user: Annotated[float | None, typer.Option(help="Random share of each user's rows.")] = None,
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Each user's last row, or a random one without times.")
    ] = False,
    temporal: Annotated[float | None, typer.Option(help="The last share of the log by time.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all draws.")] = 0,
    file_format: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
    user_col: UserCol = None,
    item_col: ItemCol = None,
    rating_col: RatingCol = None,
    timestamp_col: TimestampCol = None,
    propensity_col: PropensityCol = None,
) -> None:
    """Hold a part of a log out, seeded; a propensity column is rewritten to P(in test | candidate)."""
    chosen = [fractions is not None, per_user is not None, leave_one_out, temporal is not None]
    if sum(chosen) > 1:
        raise ConfigError("choose one of --fractions, --per-user, --leave-one-out and --temporal")
    if file_format not in {"csv", "parquet"}:
        raise ConfigError(f"--format {file_format!r}: choose csv or parquet")
    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    parts = parse_fractions(fractions or "70/15/15")
    _make_folder(out)
    columns = Columns(user_col or "user", item_col or "item", rating_col, timestamp_col, propensity_col)
    interactions = _read(log, columns)
    if per_user is not None:
        split = split_per_user(interactions, per_user, rng=seed)
    elif leave_one_out:
        split = split_leave_one_out(interactions, rng=seed)
    elif temporal is not None:
        split = split_temporal(interactions, temporal)
    else:
        split = split_fractions(interactions, parts, rng=seed)
    _write(split, out, "csv" if file_format == "csv" else "parquet")
    _print(split, interactions, out)


def parse_fractions(text: str) -> tuple[float, ...]:
    """Parse ``70/15/15``."""
    try:
        return tuple(float(part) for part in text.split("/"))
    except ValueError:
        raise ConfigError(f"cannot read fractions {text!r}; write them as 70/15/15 or 80/20") from None


def _read(log: Path, columns: Columns) -> Interactions:
    if not log.exists():
        from unskew.data.sources import SOURCES

        if str(log) in SOURCES:
            return SOURCES[str(log)].read()
    return columns.read(log)


def _make_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: this is a file; name a folder to write to")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: cannot be made ({error.strerror}); check its permissions") from error
    check_writable(out / "train.csv")


def _parts(split: Split) -> dict[str, Interactions]:
    named = {"train": split.train, "validation": split.validation, "test": split.test}
    return {name: part for name, part in named.items() if part is not None}


def _write(split: Split, out: Path, kind: Literal["csv", "parquet"]) -> None:
    with ExitStack() as stack:  # all parts are whole before any gets its name
        for name, part in _parts(split).items():
            stream = stack.enter_context(written(out / f"{name}.{kind}", "wb"))
            frame = part.to_polars()
            if kind == "csv":
                frame.write_csv(stream)
            else:
                frame.write_parquet(stream)


def _print(split: Split, log: Interactions, out: Path) -> None:
    table = Table(title=f"{split.made}, written to {out}", title_justify="left", pad_edge=False)
    for column in ("part", "rows", "users", "items"):
        table.add_column(column, justify="left" if column == "part" else "right")
    for name, part in {"log": log, **_parts(split)}.items():
        users, items = int((part.user_counts > 0).sum()), int((part.item_counts > 0).sum())
        table.add_row(name, f"{len(part):,}", f"{users:,}", f"{items:,}")
    Console().print(table)
    notes = Console(stderr=True)
    if log.duplicates:
        notes.print(f"warning: {log.duplicates} repeated (user, item) rows left out", markup=False, soft_wrap=True)
    if log.propensity is not None and split.test.propensity is None:
        notes.print(
            "warning: this split is no random share, so the propensity column of the test was left out",
            soft_wrap=True,
        )
