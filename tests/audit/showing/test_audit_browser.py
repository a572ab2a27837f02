"""The page of an audit in a real browser."""

import shutil

import pytest

from unskew import audit
from unskew.testing.worlds import skewed_log

CHROMIUM = shutil.which("chromium")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on the path: apt-get install chromium")

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
WIDE = "a-model-with-quite-a-long-name-that-nobody-would-want-to-type-twice"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "audit.html"
    audit(skewed_log(), {"popular": "popular", WIDE: "item-knn"}, k=10).to_html(path)
    return path


@pytest.fixture(scope="module")
def page(path):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.trouble, page.asked = [], []
        page.on("console", lambda message: page.trouble.append(message.text))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri())
        yield page
        browser.close()


def test_it_opens_without_errors_or_requests(page, path):
    assert page.trouble == []
    assert [url for url in page.asked if not url.startswith("data:")] == [path.as_uri()]
    assert "most popular items have" in page.locator("h1").inner_text()


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_it_fits_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in [chart.bounding_box() for chart in page.locator("svg.chart").all()]:
        assert box["width"] <= width
        assert box["height"] > 50


def test_it_prints_within_the_paper(page):
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 900})  # A4 within its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 703
    page.emulate_media(media="screen")
