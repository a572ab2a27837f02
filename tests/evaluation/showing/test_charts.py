"""Charts are inline SVG with real text, ids of their own and nothing to load."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from unskew.display.styles import COLOURS, series_styles
from unskew.display.svg import inline_svg, round_numbers
from unskew.estimators import Estimator
from unskew.evaluation.estimating.gamma_sweep import GAMMAS, Sweep
from unskew.evaluation.showing import charts
from unskew.evaluation.showing.popularity_section import measure_skew
from unskew.testing.worlds.head_and_tail import judge_models

WORDS = ["aoa(per=pair)", "snips"]
STYLES = charts.estimator_styles([Estimator.from_word(word) for word in WORDS])


@pytest.fixture(scope="module")
def report():
    return judge_models("head", "tail", estimators=WORDS)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter("text")]


def count(svg: str, mark: str) -> int:
    groups = [g for g in ET.fromstring(svg).iter("g") if f"mark-{mark} role-mark" in g.get("class", "")]
    return sum(len(g) for g in groups)


def test_estimates_are_points_with_bars(report):
    svg = charts.estimates_chart(report.estimates, ["tail", "head"], STYLES, "x")
    assert count(svg, "symbol") == 4
    assert count(svg, "rule") == 4 + 2  # the corrected ones have a range over what may be assumed too
    assert [text for text in texts(svg) if text in {"head", "tail"}] == ["tail", "head"]


def test_an_undefined_interval_has_no_bar(report):
    blank = dict.fromkeys(("low", "high", "assumed_low", "assumed_high"))
    rows = [replace(row, **blank) if row.model == "head" else row for row in report.estimates]
    svg = charts.estimates_chart(rows, ["tail", "head"], STYLES, "x")
    assert count(svg, "symbol") == 4
    assert count(svg, "rule") == 2 + 1


def test_undefined_values_have_no_point(report):
    rows = [replace(row, value=None) if row.model == "head" else row for row in report.estimates]
    assert count(charts.estimates_chart(rows, ["tail", "head"], STYLES, "x"), "symbol") == 2
    assert charts.estimates_chart([replace(row, value=None) for row in rows], ["tail", "head"], STYLES, "x") is None


@pytest.mark.parametrize("name", ["<b>&amp;\"'</b>", "漢字 🙂", "</svg><i>", "a.b[0]", "'; drop", "datum.x"])
def test_names_are_text_whatever_they_hold(report, name):
    rows = [replace(row, model=name if row.model == "head" else row.model) for row in report.estimates]
    svg = charts.estimates_chart(rows, ["tail", name], STYLES, "x")
    assert name in texts(svg)
    assert {element.tag for element in ET.fromstring(svg).iter()} <= {
        "svg",
        "g",
        "path",
        "line",
        "text",
        "rect",
        "defs",
    }


def test_control_characters_and_huge_names_can_be_drawn(report):
    odd = "\x00\x08\ud800\u202e" + "x" * 5000
    rows = [replace(row, model=odd if row.model == "head" else row.model) for row in report.estimates]
    assert max(map(len, texts(charts.estimates_chart(rows, ["tail", odd], STYLES, "x")))) <= charts.LABEL


def test_every_line_of_the_sweep_has_its_look(report):
    styles = series_styles(["head", "tail"])
    svg = charts.sweep_chart(report.sweeps[0], styles, 0.0, "x")
    drawn = [g for g in ET.fromstring(svg).iter("path") if g.get("stroke") in {"var(--c1)", "var(--c2)"}]
    assert len(drawn) == 2
    assert drawn[1].get("stroke-dasharray")
    assert "this run" in texts(svg)
    assert "var(--alarm)" in svg


def test_a_gamma_outside_the_sweep_is_not_marked(report):
    styles = series_styles(["head", "tail"])
    for gamma in (None, 5.0, -2.0):
        assert "this run" not in texts(charts.sweep_chart(report.sweeps[0], styles, gamma, "x"))


def test_undefined_values_of_a_sweep_are_left_out():
    nothing = Sweep("auc", "snips", GAMMAS, {"a": np.full(len(GAMMAS), np.nan)})
    assert charts.sweep_chart(nothing, series_styles(["a"]), None, "x") is None


def test_many_models_are_grey_beyond_the_colours():
    styles = series_styles([f"m{k}" for k in range(20)])
    assert len({style.colour for style in styles.values()}) == COLOURS + 1
    values = {model: np.linspace(0, k, len(GAMMAS)) for k, model in enumerate(styles)}
    svg = charts.sweep_chart(Sweep("auc", "snips", GAMMAS, values), styles, 0.0, "x")
    assert len(re.findall(r'stroke="var\(--faint\)"', svg)) == 12


def test_skew_charts_are_drawn():
    skew = measure_skew(judge_models("head", propensity="popularity(gamma=1)"))
    for chart in (charts.weights_chart, charts.popularity_chart, charts.tenths_chart):
        svg = chart(skew, "x")
        assert ET.fromstring(svg).get("aria-label")
        assert "var(--c1)" in svg


def test_equal_weights_are_not_drawn():
    skew = measure_skew(judge_models("head", propensity="uniform"))
    assert charts.weights_chart(skew, "x") is None
    assert "var(--c1)" not in charts.popularity_chart(skew, "x") + charts.tenths_chart(skew, "x")


def test_ids_get_their_own_prefix():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'
        '<g clip-path="url(#clip7)"><use xlink:href="#mark"/><text id="mark">url(#clip7) a&lt;b</text></g>'
        '<defs><clipPath id="clip7"/></defs><path display="none"/></svg>'
    )
    made = inline_svg(svg, "first", 'a "picture"')
    root = ET.fromstring(made)
    assert [element.get("id") for element in root.iter() if element.get("id")] == ["first-0", "first-1"]
    assert 'clip-path="url(#first-1)"' in made
    assert 'href="#first-0"' in made
    assert root.find(".//text").text == "url(#clip7) a<b"
    assert (root.get("role"), root.get("aria-label"), root.get("width")) == ("img", 'a "picture"', None)
    assert root.find("path") is None


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.5, 20.0, [0.5, 1, 2, 5, 10, 20]),
        (0.02, 3000.0, [0.1, 1, 10, 100, 1000]),
        (11, 39, [20, 30]),
        (1, 4, [1, 2, 3, 4]),
        (0.97, 1.02, [0.97, 1.02]),
    ],
)
def test_log_axes_have_round_ticks(low, high, ticks):
    assert round_numbers(low, high) == pytest.approx(ticks)
