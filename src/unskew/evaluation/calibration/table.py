"""A calibration on a terminal."""

from typing import TYPE_CHECKING

from unskew.evaluation.names import clean
from unskew.simulators.statistics import STATISTICS

if TYPE_CHECKING:
    from rich.console import Console

    from unskew.evaluation.calibration.result import Calibration


def print_calibration(found: "Calibration", console: "Console") -> None:
    """Print divergences and losses of each world, and the words of the worlds.

    Parameters
    ----------
    found : Calibration
    console : Console
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    log = found.log
    console.print(
        Text(f"{clean(log.name)}: {log.rows:,} rows, {log.users:,} users, {log.items:,} items"), soft_wrap=True
    )
    table = Table(pad_edge=False, box=SIMPLE_HEAD)
    table.add_column("world")
    for each in STATISTICS:
        table.add_column(each, justify="right")
    for column in ("mean loss", "evaluations", "not drawn"):
        table.add_column(column, justify="right")
    for world in found.worlds:
        cells = [f"{world.divergences[each]:.3f} ({percent(world.ratios[each] - 1)})" for each in STATISTICS]
        table.add_row(world.kind, *cells, percent(world.loss), f"{world.evaluations:,}", f"{world.refused:,}")
    table.add_row("best seen", *(f"{found.best[each]:.3f}" for each in STATISTICS), "", "", "")
    console.print(table)
    console.print(Text("K-L divergence of the log from the world in nats; in brackets how far above the best seen"))
    for world in found.worlds:
        console.print(Text(f"{world.kind}: {world.word}"), soft_wrap=True)


def percent(share: float) -> str:
    """A loss in percent, with no more digits than it deserves."""
    return f"{100 * share:,.0f} %" if abs(share) >= 0.1 else f"{100 * share:.1f} %"
