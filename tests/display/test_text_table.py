"""Printed tables keep their words and their edge."""

import pytest
from rich.table import Table

from unskew.display.text_table import plain_text, print_words

ROWS = [
    ("recall@10", "autodebias(backbone=lightgcn, epochs=3)", "relevant items, mean over users with one in the sample")
]


def drawn(width: int) -> str:
    table = Table()
    for name in ("metric", "model", "target"):
        table.add_column(name, overflow="fold")
    table.add_column("value", no_wrap=True)
    for row in ROWS:
        table.add_row(*row, "0.1234")
    return plain_text(lambda console: print_words(table, console), width)


@pytest.mark.parametrize("width", range(70, 130, 4))
def test_words_are_neither_cut_nor_broken_where_there_is_room_for_them(width):
    text = drawn(width)
    assert max(map(len, text.splitlines())) <= width
    for word in (*" ".join(ROWS[0]).split(), "0.1234"):
        assert word in text
