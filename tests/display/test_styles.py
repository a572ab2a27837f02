"""Series keep their looks in charts and legends."""

from unskew.display.lines import drawing_order
from unskew.display.styles import COLOURS, GREY, Style, series_styles


def test_the_first_series_have_colours_and_the_rest_are_grey():
    styles = series_styles([f"m{k}" for k in range(COLOURS + 2)])
    assert [style.colour for style in styles.values()] == [*(f"var(--c{k + 1})" for k in range(COLOURS)), GREY, GREY]
    assert [style.dashes for style in list(styles.values())[:3]] == ["", "6 3", "2 2"]


def test_a_fixed_style_takes_no_colour():
    naive = Style("b", "var(--naive)")
    styles = series_styles(["a", "b", "c"], {"b": naive})
    assert list(styles) == ["a", "b", "c"]
    assert styles["b"] is naive
    assert styles["c"].colour == "var(--c2)"


def test_grey_lines_are_drawn_first():
    styles = series_styles([f"m{k}" for k in range(COLOURS + 1)])
    keys = drawing_order(styles, styles)
    assert next(iter(keys)) == f"m{COLOURS}"
    assert sorted(keys.values()) == list(keys.values())
