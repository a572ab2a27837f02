"""Many cells as a grid."""

from unskew.display.numbers import written_number
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.result import Findings, StudyResult, TableResult
from unskew.studies.showing.grid import MANY, WIDEST, grids_of
from unskew.studies.showing.page import render_study


def table_of(*cells):
    return TableResult("study", "table9", "a title", False, 0, 1.0, (), Findings(cells))


def many(rows, columns, data="here", paper=0.5):
    return [ReproducedCell(f"r{r}", c, data, paper, r + 0.25) for r in range(rows) for c in columns]


def test_few_cells_stay_a_list():
    assert grids_of(table_of(*many(3, ["a", "b"]))) == ()


def test_rows_and_columns_keep_their_order_and_each_cell_its_place():
    columns = ["b", "a", "c"]
    (grid,) = grids_of(table_of(*many(MANY // 3, columns)))
    assert grid.columns == tuple(columns)
    assert [name for name, _ in grid.rows] == [f"r{k}" for k in range(MANY // 3)]
    assert all(cell.row == name and cell.column == column for name, cells in grid.rows
               for column, cell in zip(grid.columns, cells, strict=True))  # fmt: skip


def test_data_sets_are_apart_and_absent_ones_left_out():
    cells = [*many(20, ["a", "b"], "one"), *many(20, ["a", "c"], "two")]
    cells += [ReproducedCell("r0", "a", "absent", 1.0, None)]
    first, second = grids_of(table_of(*cells))
    assert (first.data, first.columns, second.data, second.columns) == ("one", ("a", "b"), "two", ("a", "c"))


def test_what_stands_before_the_colon_of_too_many_columns_goes_to_the_row():
    columns = [f"{metric}: {name}" for metric in ("auc", "recall") for name in "abcdef"]
    assert len(columns) > WIDEST
    (grid,) = grids_of(table_of(*many(10, columns)))
    assert grid.columns == tuple("abcdef")
    assert ("recall, r3", "b") in {
        (name, cell.column.partition(": ")[2]) for name, cells in grid.rows for cell in cells
    }
    assert grids_of(table_of(*many(10, [str(k) for k in range(WIDEST + 1)]))) == ()


def test_a_hole_is_a_hole_and_two_cells_of_one_place_stay_a_list():
    cells = many(40, ["a", "b"])
    (grid,) = grids_of(table_of(*cells[1:]))
    assert grid.rows[0][1] == (cells[1], None) or grid.rows[0][1] == (None, cells[1])
    assert grids_of(table_of(*cells, cells[0])) == ()


def test_the_page_shows_the_grid_and_folds_the_list():
    table = table_of(*many(40, ["a", "b"]))
    page = render_study(StudyResult("study", "t", "r", False, 0, (table,)))
    assert "All 80 numbers" in page
    assert "Nothing to compare" in page
    short = render_study(StudyResult("study", "t", "r", False, 0, (table_of(*many(2, ["a"])),)))
    assert "<details>" not in short


def test_numbers_are_written_by_their_size():
    assert [written_number(x) for x in (16980.0, 270.0, 1234.56, 34.74, 0.25, 2e-5, 1e-14, None)] == [
        "16,980",
        "270",
        "1,234.6",
        "34.7400",
        "0.2500",
        "2.0e-05",
        "0.0000",
        "-",
    ]
    assert written_number(0.5, "+") == "+0.5000"
