"""The page of a study."""

import re
import xml.etree.ElementTree as ET

import pytest
from made_study import ABSENT, BAD_CELL, BAD_CLAIM, EVIL, EVIL_FINDINGS, GOOD, cell, figure, result

from unskew.studies import Claim, Figure, Findings, Panel, Series
from unskew.studies.showing.charts import panel_chart, styles_of
from unskew.studies.showing.page import render_study


@pytest.fixture(scope="module")
def page():
    return render_study(result(GOOD, BAD_CELL, BAD_CLAIM, ABSENT))


def test_the_page_opens_with_the_verdict_and_shows_every_table(page):
    assert (
        "<h1>2 of 3 comparable printed numbers agree, and 1 of 2 claims of the paper hold; 1 number needs data that is "
        "not here.</h1>" in page
    )
    for number in range(1, 5):
        assert f'<section id="t{number}">' in page
    assert "could not run: the data is not here" in page
    assert "How it was done." in page


def test_cells_are_shown_with_difference_tolerance_and_judgement(page):
    row = re.search(r'<section id="t2">.*?<tbody>(.*?)</tbody>', page, re.DOTALL).group(1)
    cells = re.findall(r"<t[dh][^>]*>([^<]*)<", row)
    assert cells == ["a", "x", "made", "1.0000", "–", "2.0000", "–", "+1.0000", "0.1000", "no", "1"]
    assert "<li>tolerance: rounding</li>" in page


def test_a_reference_is_not_in_the_column_of_the_paper():
    odd = Findings((cell(2.0, paper=None, reference=1.0),), (Claim("c", True, "seen"),))
    shown = render_study(result(odd))
    row = re.search(r'<section id="t1">.*?<tbody>(.*?)</tbody>', shown, re.DOTALL).group(1)
    assert re.findall(r"<t[dh][^>]*>([^<]*)<", row)[3:6] == ["–", "1.0000", "2.0000"]
    assert "[ours]" in shown


def test_claims_are_shown_with_their_evidence(page):
    for word in ("Holds", "Fails", "Not judged"):
        assert f">{word}:</strong> It holds" in page
    assert "not seen" in page


def test_the_page_needs_nothing_from_elsewhere(page):
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
    assert "@import" not in page


def test_the_same_result_gives_the_same_bytes():
    made = result(GOOD)
    assert render_study(made) == render_study(made)


def test_everything_is_escaped():
    page = render_study(result(EVIL_FINDINGS))
    assert EVIL not in page
    assert page.count("&lt;script&gt;") >= 8


def test_every_panel_is_an_svg_with_lines_bands_and_a_label():
    svg = panel_chart(figure(), figure().panels[0], "p")
    root = ET.fromstring(svg)
    kinds = [element.get("class", "") for element in root.iter()]
    assert sum("mark-area" in kind for kind in kinds) == 2
    assert sum("mark-line" in kind for kind in kinds) == 2
    assert "left over x: plain, better" in root.get("aria-label")


def test_what_is_naive_is_grey_and_series_keep_their_colour_in_all_panels():
    styles = styles_of(figure())
    assert styles["plain"].colour == "var(--naive)"
    assert styles["better"].colour == "var(--c1)"
    assert all("var(--c1)" in panel_chart(figure(), panel, "p") for panel in figure().panels)


def test_a_band_below_zero_is_cut_on_a_logarithmic_axis():
    # the last band of "plain" reaches from 1 - 3.92 to 1 + 3.92
    svg = panel_chart(figure(log_y=True, log_x=True), figure().panels[0], "p")
    assert "NaN" not in svg
    assert "Infinity" not in svg


def test_points_that_cannot_be_drawn_are_left_out():
    nan = float("nan")
    line = Series("s", (0.0, 1.0, 2.0), (1.0, nan, -1.0), (1.0, nan, -1.0), (1.0, nan, -1.0))
    panel = Panel("p", (line,))
    assert panel_chart(Figure("f", "x", (panel,), log_x=True, log_y=True), panel, "p") is None
    assert panel_chart(Figure("f", "x", (panel,)), panel, "p") is not None
    assert "There is no point to draw." in render_study(result(_drawn(panel)))


def _drawn(panel):
    from unskew.studies import Findings

    return Findings(figures=(Figure("f", "x", (panel,), log_x=True, log_y=True),))


def test_categories_are_points_with_intervals_side_by_side():
    lines = (Series.of("ours", [0, 1], [1, 2], [0.1, 0.1]), Series.of("theirs", [0, 1], [1, 3], [0, 0], naive=True))
    made = Figure("A figure", "world", (Panel("left", lines),), categories=("one", "<two>"))
    root = ET.fromstring(panel_chart(made, made.panels[0], "p"))
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"one", "<two>", "world"} <= set(texts)
    assert "ours, theirs, each a point with an interval" in root.get("aria-label")
    dots = [element for element in root.iter() if element.get("transform") and element.get("d", "").startswith("M")]
    places = {element.get("transform").partition(",")[0] for element in dots}
    assert len(places) == 4
    assert made.to_dict()["categories"] == ["one", "<two>"]


def test_a_place_without_a_category_is_refused():
    with pytest.raises(TypeError, match="from 0 to 0"):
        Figure("A figure", "x", (Panel("left", (Series.of("a", [1], [1], [0]),)),), categories=("one",))
