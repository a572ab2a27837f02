"""The command ``unskew calibrate``: find simulated worlds that resemble a log."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from unskew.cli.columns import Columns, ItemCol, PropensityCol, RatingCol, TimestampCol, UserCol
from unskew.cli.outputs import check_outputs, write_outputs
from unskew.cli.progress import stages
from unskew.cli.split import read_log
from unskew.errors import ConfigError


def calibrate_command(
    log: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet file, or the name of a data set that is here.")],
    world: Annotated[
        list[str] | None,
        typer.Option("--world", "-w", metavar="KIND", help="ibp, lda or uniform, -unif or -pop [ibp-pop]; repeatable."),
    ] = None,
    singles: Annotated[int, typer.Option(help="Evaluations for each statistic of each world.")] = 60,
    joint: Annotated[int, typer.Option(help="Further evaluations for all statistics together.")] = 150,
    starts: Annotated[int, typer.Option(help="First evaluations of a world, which are quasi-random.")] = 25,
    coarse: Annotated[bool, typer.Option("--coarse", help="Quasi-random only; needs no optional package.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write JSON here [default: calibration-LOG.json].")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the trace here.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", "--resume", help="Keep a record here, and go on from one that is there.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="Which rows are used, as in 'rating>=4' [default: all].")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all draws.")] = 0,
    threads: Annotated[int | None, typer.Option(help="[default: all cores]; the numbers do not depend on it.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No table or progress.")] = False,
    user_col: UserCol = None,
    item_col: ItemCol = None,
    rating_col: RatingCol = None,
    timestamp_col: TimestampCol = None,
    propensity_col: PropensityCol = None,
) -> None:
    """Find the parameters of simulated worlds whose logs resemble this one, in four distributions."""
    place = out or Path(f"calibration-{log.stem}.json")
    options: dict[str, Any] = {"json": place, "html": html}
    if place == Path("-"):
        raise ConfigError("--out -: name a file")
    check_outputs(options, [log])
    from unskew.calibration import calibrate, check_numbers, require_gp

    kinds = tuple(dict.fromkeys(world or ["ibp-pop"]))
    check_numbers(kinds, singles, joint, starts, seed, threads)
    if not coarse:
        require_gp()
    rows = read_log(log, Columns(user_col or "user", item_col or "item", rating_col, timestamp_col, propensity_col))
    with stages(quiet=quiet) as progress:
        found = calibrate(
            rows if positive is None else rows.where(positive),
            kinds,
            singles=singles,
            joint=joint,
            starts=starts,
            seed=seed,
            folder=folder,
            coarse=coarse,
            progress=progress,
            threads=threads,
            where=positive or "",
        )
        write_outputs(found, options)
    if not quiet:
        _print(found, place)


def _print(found: Any, place: Path) -> None:
    from unskew.calibration.showing import print_calibration

    # a pipe or file gets full lines, not those of an imagined 80-column screen
    console = Console(width=None if sys.stdout.isatty() else 130, soft_wrap=False, highlight=False)
    print_calibration(found, console)
    console.print(Text(f"written to {place}; draw a log from the first with"), soft_wrap=True)
    console.print(Text(f"  unskew simulate '{found.worlds[0].word}' OUT/"), soft_wrap=True)
