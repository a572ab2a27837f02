"""The command ``unskew calibrate``: find simulated worlds that resemble a log."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from unskew.cli.command import command_of
from unskew.cli.inputs import path_of, read_log
from unskew.cli.options import (
    ColumnOptions,
    EngineWord,
    LogFile,
    Quiet,
    RayAddress,
    Seed,
    Threads,
)
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
        typer.Option(
            "--world",
            "-w",
            metavar="KIND",
            help="Kind of world: ibp, lda or uniform, then -unif or -pop [default: ibp-pop]; repeatable.",
        ),
    ] = None
    singles: Annotated[int, typer.Option(help="Worlds to try per statistic and kind.")] = 60
    joint: Annotated[int, typer.Option(help="Further worlds to try for all statistics together.")] = 150
    starts: Annotated[
        int, typer.Option(help="Quasi-random worlds to start with, shared by all statistics of a kind.")
    ] = 25
    coarse: Annotated[
        bool, typer.Option("--coarse", help="Search with quasi-random worlds only; needs no optional package.")
    ] = False
    out: Annotated[Path | None, typer.Option(help="Write JSON to this file [default: calibration-LOG.json].")] = None
    html: Annotated[Path | None, typer.Option(help="Write an HTML page with the trace of the search.")] = None
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", "--resume", help="Folder for a record of the search; a search recorded there is continued."
        ),
    ] = None
    positive: Annotated[
        str | None, typer.Option(help="Condition for the rows that are used, such as 'rating>=4' [default: all rows].")
    ] = None
    seed: Seed = 0
    threads: Threads = None
    engine: EngineWord = None
    ray_address: RayAddress = None
    quiet: Quiet = False


_SETTINGS = ("singles", "joint", "starts", "seed", "folder", "coarse", "threads")


@command_of(CalibrateOptions)
def calibrate_command(options: CalibrateOptions) -> None:
    """Find simulated worlds whose logs resemble a given log.

    Logs are compared by four distributions; the search is for the parameters of each kind of world.
    """
    log = path_of(options.log)
    stem = "stdin" if log.name == "-" else log.stem
    place, positive = options.out or Path(f"calibration-{stem}.json"), options.positive
    outputs = Outputs(place, options.html)
    if place == STDOUT:
        raise ConfigError("--out -: JSON cannot go to stdout here; name a file")
    outputs.check([log])
    from unskew.calibration import calibrate, check_numbers, require_gp
    from unskew.ranking import engine_of

    kinds = tuple(dict.fromkeys(options.world or ["ibp-pop"]))
    check_numbers(kinds, options.singles, options.joint, options.starts, options.seed, options.threads)
    if not options.coarse:
        require_gp()
    engine = engine_of(options.engine, options.threads, options.ray_address)
    rows = read_log(options.log, options.columns)
    with stages(quiet=options.quiet) as progress:
        calibration = calibrate(
            rows if positive is None else rows.where(positive),
            kinds,
            engine=engine,
            progress=progress,
            where=positive or "",
            **{name: getattr(options, name) for name in _SETTINGS},
        )
        outputs.write(calibration.to_json, calibration.to_html)
    if not options.quiet:
        _print(calibration, place)


def _print(calibration: Any, place: Path) -> None:
    from unskew.calibration.showing import print_calibration

    console = screen()
    print_calibration(calibration, console)
    lines = [
        f"written to {place}; draw a log from the first world with",
        f"  unskew simulate '{calibration.worlds[0].word}' OUT/",
    ]
    print_lines(lines, console)
