"""The command ``unskew calibrate``: find simulated worlds that resemble a log."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.inputs import read_log
from unskew.cli.options import ColumnOptions, LogFile, Quiet, Seed, Threads, command_of
from unskew.cli.outputs import STDOUT, Outputs
from unskew.cli.screen import screen, stages
from unskew.display.text_table import print_lines
from unskew.errors import ConfigError


@dataclass(frozen=True)
class CalibrateOptions(ColumnOptions):
    """The options of ``unskew calibrate``."""

    log: LogFile
    world: Annotated[
        list[str] | None,
        typer.Option("--world", "-w", metavar="KIND", help="ibp, lda or uniform, -unif or -pop [ibp-pop]; repeatable."),
    ] = None
    singles: Annotated[int, typer.Option(help="Evaluations for each statistic of each world.")] = 60
    joint: Annotated[int, typer.Option(help="Further evaluations for all statistics together.")] = 150
    starts: Annotated[int, typer.Option(help="First evaluations of a world, which are quasi-random.")] = 25
    coarse: Annotated[bool, typer.Option("--coarse", help="Quasi-random only; needs no optional package.")] = False
    out: Annotated[Path | None, typer.Option(help="Write JSON here [default: calibration-LOG.json].")] = None
    html: Annotated[Path | None, typer.Option(help="Write a page with the trace here.")] = None
    folder: Annotated[
        Path | None, typer.Option("--folder", "--resume", help="Keep a record here, and go on from one that is there.")
    ] = None
    positive: Annotated[str | None, typer.Option(help="Which rows are used, as in 'rating>=4' [default: all].")] = None
    seed: Seed = 0
    threads: Threads = None
    quiet: Quiet = False


_SETTINGS = ("singles", "joint", "starts", "seed", "folder", "coarse", "threads")


@command_of(CalibrateOptions)
def calibrate_command(options: CalibrateOptions) -> None:
    """Find the parameters of simulated worlds whose logs resemble this one, in four distributions."""
    place, positive = options.out or Path(f"calibration-{options.log.stem}.json"), options.positive
    outputs = Outputs(place, options.html)
    if place == STDOUT:
        raise ConfigError("--out -: name a file")
    outputs.check([options.log])
    from unskew.calibration import calibrate, check_numbers, require_gp

    kinds = tuple(dict.fromkeys(options.world or ["ibp-pop"]))
    check_numbers(kinds, options.singles, options.joint, options.starts, options.seed, options.threads)
    if not options.coarse:
        require_gp()
    rows = read_log(options.log, options.columns)
    with stages(quiet=options.quiet) as progress:
        found = calibrate(
            rows if positive is None else rows.where(positive),
            kinds,
            progress=progress,
            where=positive or "",
            **{name: getattr(options, name) for name in _SETTINGS},
        )
        outputs.write(found.to_json, found.to_html)
    if not options.quiet:
        _print(found, place)


def _print(found: Any, place: Path) -> None:
    from unskew.calibration.showing import print_calibration

    console = screen(130)
    print_calibration(found, console)
    lines = [f"written to {place}; draw a log from the first with", f"  unskew simulate '{found.worlds[0].word}' OUT/"]
    print_lines(lines, console)
