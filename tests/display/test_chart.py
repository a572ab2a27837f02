"""Charts outside a page: whole, in four formats."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import unskew.display
from unskew.display.chart import _LIGHT, FORMATS, Chart, Charts
from unskew.display.lines import series_lines
from unskew.display.styles import series_styles
from unskew.display.svg import to_svg
from unskew.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def chart() -> Chart:
    names = {"als <b>": "m0", "popular": "m1"}
    rows = [{"series": key, "x": x, "y": x * k} for k, key in enumerate(names.values()) for x in (0, 1, 2)]
    lines = series_lines(names, series_styles(names), "x:Q", "y:Q")
    svg = to_svg(lines, "x", "two lines", {key: name for name, key in names.items()}, rows=rows)
    return svg.chart.titled("Two models", "a note")


def test_the_specification_has_data_colours_legend_and_title(chart):
    text = json.dumps(chart.spec)
    assert "var(" not in text
    assert chart.spec["datasets"]["rows"][0]["x"] == 0
    assert chart.spec["title"]["text"] == "Two models"
    assert chart.spec["description"] == "two lines"
    assert "als <b>" in chart.spec["encoding"]["color"]["legend"]["labelExpr"]
    assert "legend" in json.dumps(chart.spec["encoding"]["strokeDash"])


def test_the_svg_shows_the_names_of_the_series_and_the_title(chart):
    shown = {element.text for element in ET.fromstring(chart.svg).iter() if element.text}
    assert {"als <b>", "popular", "Two models", "a note"} <= shown
    assert _LIGHT["c1"] in chart.svg


@pytest.mark.parametrize("ending", FORMATS)
def test_each_format_is_written_whole(chart, tmp_path, ending):
    path = tmp_path / f"chart{ending}"
    chart.save(path)
    content = path.read_bytes()
    starts = {".svg": b"<svg", ".png": b"\x89PNG", ".json": b"{", ".html": b"<!doctype html>"}
    assert content.startswith(starts[ending])
    if ending == ".json":
        assert json.loads(content) == chart.spec
    if ending == ".html":
        assert b"<script" not in content
        assert b'alt="two lines"' in content


def test_another_ending_is_refused_with_those_that_are_known(chart, tmp_path):
    for name in ("chart.pdf", "chart"):
        with pytest.raises(ConfigError, match=r"use \.svg, \.png, \.json, \.html"):
            chart.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_refused_in_one_line(chart, tmp_path):
    for name in ("chart.svg", "chart.png"):
        with pytest.raises(DataError, match="does not exist; create it first"):
            chart.save(tmp_path / "nowhere" / name)


def test_notebooks_get_a_picture_and_a_specification(chart):
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/png", "application/vnd.vegalite.v5+json"}
    assert bundle["text/plain"] == "Chart('Two models')"
    assert bundle["text/html"].startswith("<img alt=")


def test_a_chart_without_a_legend_has_none(chart):
    alone = Chart(chart.drawn, "two lines")
    assert alone.spec["encoding"]["color"]["legend"] is None
    assert repr(alone) == "Chart('two lines')"


def test_an_unknown_name_is_refused_with_the_nearest(chart):
    charts = Charts(sweep=chart)
    assert charts["sweep"] is chart
    assert charts.get("other") is None
    assert "other" not in charts
    with pytest.raises(ConfigError, match=r"no chart 'sweeep'; did you mean 'sweep'"):
        _ = charts["sweeep"]


def test_the_colours_are_those_of_the_style_sheet():
    sheet = Path(unskew.display.__path__[0], "templates", "style.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([\w-]+): (#\w+)", sheet.split("@media")[0]))
    assert {name: light[name] for name in _LIGHT} == _LIGHT
