"""The page in a real browser."""

import shutil

import pytest

from unskew.testing.worlds.head_and_tail import judge_models

CHROMIUM = shutil.which("chromium")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on the path: apt-get install chromium")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EVIL = "<script>alert(1)</script>"
WIDE = "a-model-with-quite-a-long-name-that-nobody-would-want-to-type-twice"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    metrics = ["recall@10", "adg@10", "auc", "ndcg@10"]
    settings = {"metrics": metrics, "estimators": None, "propensity": "popularity"}
    judge_models("head", "tail", "even", names=(EVIL, WIDE, "漢字"), **settings).to_html(path)
    return path


class Visit:
    """An opened page and what happened meanwhile."""

    def __init__(self, browser, path, *, width=1280, scheme="light"):
        self.trouble, self.requests, self.dialogs = [], [], []
        self.context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dismiss)
        self.page.goto(path.as_uri())
        self.page.wait_for_load_state("networkidle")

    def _dismiss(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()


@pytest.fixture
def visit(browser, path):
    visits = []

    def go(**how):
        visits.append(Visit(browser, path, **how))
        return visits[-1]

    yield go
    for one in visits:
        one.context.close()


def test_it_opens_without_errors_or_requests(visit, path):
    seen = visit()
    assert seen.trouble == []
    assert [url for url in seen.requests if not url.startswith("data:")] == [path.as_uri()]


def test_a_model_named_like_a_script_shows_as_text(visit):
    seen = visit()
    assert seen.dialogs == []
    assert seen.page.locator("script").count() == 0
    assert seen.page.locator("#estimates table").get_by_text(EVIL).first.is_visible()
    assert "<script>" in seen.page.locator("svg.chart text", has_text="script").first.text_content()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_body_never_scrolls_sideways(visit, width):
    page = visit(width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # what is wider than the page scrolls in its own box
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "auto"


@pytest.mark.parametrize("width", [390, 1280])
def test_charts_fit_and_stay_legible(visit, width):
    page = visit(width=width).page
    for box in [chart.bounding_box() for chart in page.locator("svg.chart").all()]:
        assert box["width"] <= width
        assert box["height"] > 50
    sizes = page.evaluate("[...document.querySelectorAll('svg.chart text')].map(t => t.getBoundingClientRect().height)")
    assert min(sizes) >= 10


def test_details_open_without_a_script(visit):
    page = visit().page
    page.locator("summary", has_text="The run as JSON").click()
    assert page.locator("#provenance pre").is_visible()


def test_it_follows_the_colour_scheme(visit):
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = visit().page.evaluate(colour), visit(scheme="dark").page.evaluate(colour)
    assert light == "rgb(255, 255, 255)"
    assert dark != light


def test_chart_colours_come_from_the_style_sheet(visit):
    strokes = "[...new Set([...document.querySelectorAll('svg.chart line')].map(e => getComputedStyle(e).stroke))]"
    light, dark = visit().page.evaluate(strokes), visit(scheme="dark").page.evaluate(strokes)
    assert "none" not in light
    assert light != dark


def test_it_prints(visit, tmp_path):
    page = visit(scheme="dark").page
    made = page.pdf(format="A4", prefer_css_page_size=True)
    assert made.startswith(b"%PDF")
    assert 1 <= made.count(b"/Type /Page\n") + made.count(b"/Type /Page ") < 20
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.set_viewport_size({"width": 703, "height": 900})  # A4 within its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 703


def test_the_name_of_a_group_stays_in_sight_when_its_table_is_scrolled(visit):
    page = visit(width=390).page
    page.evaluate("document.querySelector('#estimates .scroll').scrollLeft = 200")
    box = page.locator("#estimates tr.group div").first.bounding_box()
    assert 0 <= box["x"] <= 40
    assert box["x"] + box["width"] <= 390
