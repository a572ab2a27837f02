"""Many cells of a table as the paper prints them: rows down, columns across, ours above the paper's."""

from dataclasses import dataclass

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.result import TableResult

MANY = 60  # cells from which on a list of them is hard to read
WIDEST = 10  # columns that fit on a screen


@dataclass(frozen=True)
class Grid:
    """The cells of one data set.

    Parameters
    ----------
    data : str
    columns : tuple of str
    rows : tuple of (str, tuple)
        A name and a cell, or None, for each column.
    """

    data: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ReproducedCell | None, ...]], ...]


def grids_of(table: TableResult) -> tuple[Grid, ...]:
    """The cells of a table by data set, those that have a number of ours; nothing where a list will do.

    Parameters
    ----------
    table : TableResult
    """
    computed = [cell for cell in table.cells if cell.ours is not None]
    if len(table.cells) < MANY or len({(cell.data, cell.row, cell.column) for cell in computed}) < len(computed):
        return ()
    grids = tuple(_grid(data, computed) for data in dict.fromkeys(cell.data for cell in computed))
    return grids if all(1 < len(grid.columns) <= WIDEST for grid in grids) else ()


def _grid(data: str, cells: list[ReproducedCell]) -> Grid:
    here = [cell for cell in cells if cell.data == data]
    wide = len({cell.column for cell in here}) > WIDEST
    placed = {_place(cell, wide=wide): cell for cell in here}
    columns = tuple(dict.fromkeys(column for _, column in placed))
    names = dict.fromkeys(row for row, _ in placed)
    return Grid(data, columns, tuple((name, tuple(placed.get((name, column)) for column in columns)) for name in names))


def _place(cell: ReproducedCell, *, wide: bool) -> tuple[str, str]:
    """Row and column; where columns are too many, the part before their colon goes to the row."""
    before, colon, after = cell.column.partition(": ")
    return (f"{before}, {cell.row}", after) if wide and colon else (cell.row, cell.column)
