"""The page is one file that holds all and loads nothing."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources

import pytest

from unskew import __version__
from unskew.testing.worlds.head_and_tail import judge_models, make_split

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """What a page consists of; refuses tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def values(self, name: str) -> list[str]:
        return [value for _, key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def report():
    metrics = ["recall@10", "adg@10", "ndcg@10"]
    return judge_models("head", "tail", "even", metrics=metrics, estimators=None, propensity="popularity(gamma=1)")


@pytest.fixture(scope="module")
def page(report):
    return Page(report.to_html())


def test_nothing_is_loaded_and_nothing_runs(report, page):
    assert page.tags["script"] == page.tags["img"] == page.tags["iframe"] == page.tags["object"] == 0
    assert [value for name in ("src", "href") for value in page.values(name)] == ["data:,"]
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    text = report.to_html()
    assert "@import" not in text
    assert "http://" not in text
    assert "https://" not in text
    assert text.count("url(") == text.count("url(#")
    assert "default-src 'none'" in text


def test_sections_stand_in_order(page):
    wanted = ["verdict", "estimates", "comparisons", "sweep", "propensities", "skew", "warnings", "provenance"]
    assert [value for tag, name, value in page.attributes if name == "id" and tag in {"section", "header"}] == wanted


def test_ids_are_distinct_and_references_resolve(page):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    wanted = [v[5:-1] for name in ("clip-path", "fill", "stroke") for v in page.values(name) if v.startswith("url(#")]
    assert set(wanted) <= set(ids)


def test_charts_say_what_they_show(page):
    pictures = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    # three metrics, two sweeps (ndcg has none), three of the skew
    assert sum("interval of the difference" not in label for label in pictures) == 8


def test_every_estimate_and_comparison_is_in_a_table(report, page):
    for row in report.estimates:
        assert f"{row.value:.4f}" in page.text
        assert row.definition in page.text
    for row in report.comparisons:
        assert f"{abs(row.difference):.4f}" in page.text


def test_the_naive_counterpart_is_next_to_the_corrected_estimate(page):
    assert "†" not in page.text  # the default has it
    asked = judge_models("head", "tail", estimators=["aoa", "snips"])
    assert "aoa(per=pair) †" in Page(asked.to_html()).text


def test_provenance_is_whole(report, page):
    for part in report.run["data"].values():
        assert part["sha256"] in page.text
    assert f"Made by unskew {__version__}." in page.text
    assert "popularity(gamma=1)" in page.text


def test_warnings_are_listed(report):
    assert "<li>a &lt;b&gt;</li>" in replace(report, warnings=("a <b>",)).to_html()
    assert "<p>None.</p>" in replace(report, warnings=()).to_html()


def test_the_same_report_gives_the_same_bytes(report):
    assert report.to_html() == report.to_html()


def test_names_from_the_data_are_escaped():
    names = (EVIL, 'x" onload="alert(1)', "{{ 7 * 7 }}")
    page = Page(judge_models("head", "tail", "even", names=names).to_html())
    assert page.tags["script"] == 0
    assert "onload" not in [name for _, name, _ in page.attributes]
    for name in names:
        assert name in page.text


def test_names_that_are_no_text_can_be_written(tmp_path):
    names = ("\x00\ud800\u202e", "x" * 5000, "漢字 🙂 מודל")
    path = tmp_path / "page.html"
    judge_models("head", "tail", "even", names=names).to_html(path)
    text = path.read_text(encoding="utf-8")
    assert "\x00" not in text
    assert "\u202e" not in text
    assert "漢字 🙂 מודל" in Page(text).text


def test_one_model_is_enough():
    page = Page(judge_models("head").to_html())
    assert "One model was judged, so there is nothing to compare." in page.text
    assert "another model is first" not in page.text


def test_one_user_is_enough():
    page = Page(judge_models("head", "tail", users=1).to_html())
    assert "undefined" in page.text
    assert not re.search(r"\b(nan|inf|None)\b", page.text)


def test_undefined_values_are_shown_as_such(report):
    blank = [replace(row, value=None, low=None, high=None, std_error=None) for row in report.estimates]
    gone = [
        replace(c, difference=None, low=None, high=None, p_value=None, p_value_holm=None) for c in report.comparisons
    ]
    page = Page(
        replace(report, estimated=replace(report.estimated, estimates=tuple(blank), comparisons=tuple(gone))).to_html()
    )
    assert "undefined" in page.text


def test_metrics_that_cannot_be_corrected_have_no_sweep():
    page = Page(judge_models("head", "tail", metrics=["ndcg@10"], estimators=["aoa"]).to_html())
    assert "only those can be corrected" in page.text


def test_equal_weights_are_said_in_words():
    assert "All held-out rows weigh the same." in Page(judge_models("head", propensity="uniform").to_html()).text


def test_ips_stands_beside_aoa():
    report = judge_models(
        "head",
        "tail",
        split=make_split(propensity=0.25),
        propensity="column",
        estimators=["ips"],
        relevant={str(user): 4 for user in range(300)},
    )
    assert "aoa †" in Page(report.to_html()).text


def test_many_models_and_metrics_are_kept_readable():
    names = tuple(f"model {k}" for k in range(20))
    kinds = tuple(("head", "tail", "even")[k % 3] for k in range(20))
    metrics = ["recall@1", "recall@5", "recall@10", "adg@10", "auc", "ndcg@10", "map", "precision@5"]
    settings = {"metrics": metrics, "estimators": None, "propensity": "popularity"}
    page = Page(judge_models(*kinds, names=names, users=40, **settings).to_html())
    assert "12 other models" in page.text
    assert "All 190 pairs of recall@10, snips" in page.text
    assert "lower places change" not in [text.strip() for text in page.texts]


def test_the_template_is_part_of_the_package():
    assert (resources.files("unskew.evaluation.showing") / "report.html.j2").is_file()


def test_drawing_is_loaded_only_for_the_page():
    code = "import sys, unskew.evaluation.showing.verdict; print({'altair', 'jinja2', 'vl_convert'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
