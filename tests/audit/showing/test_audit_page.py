"""The page of an audit: whole, the same each time, and safe."""

import re
from html.parser import HTMLParser

import pytest
from audited_logs import tiny

from unskew import Interactions, audit
from unskew.audit.showing import words
from unskew.audit.showing.charts import THE_LOG, levels_chart, rank_chart
from unskew.audit.showing.words import headline, summary
from unskew.display.numbers import percent
from unskew.display.styles import series_styles
from unskew.testing.worlds import flat_log, skewed_log

EVIL = "<script>alert(1)</script>"


class Text(HTMLParser):
    """The words of a page, and its tags."""

    def __init__(self, html):
        super().__init__()
        self.words, self.tags, self.labels = "", [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if dict(attributes).get("class") == "chart":
            self.labels.append(dict(attributes)["aria-label"])

    def handle_data(self, data):
        self.words += data


@pytest.fixture(scope="module")
def found():
    return audit(skewed_log(), {"popular": "popular", EVIL: "item-knn"}, k=10, metrics=["auc", "recall@5"])


@pytest.fixture(scope="module")
def page(found):
    return found.to_html()


def test_it_needs_nothing_else(page):
    assert not re.search(r"""(?:src|href|url\()\s*=?\s*["']?https?:""", page.replace("http://www.w3.org", ""))
    assert "script" not in Text(page).tags


def test_every_chart_says_in_words_what_it_shows(page):
    labels = Text(page).labels
    # rank, levels, Lorenz, places, one f(n*) a model, one a metric
    assert len(labels) == 4 + 2 + 2
    assert labels[0].startswith("Interactions per item over its rank")
    assert any("the fitted slope gamma is" in label for label in labels)


def test_its_numbers_are_those_of_the_audit(found, page):
    words = Text(page).words
    assert f"{found.log.gini:.3f}" in words
    for row in found.models:
        assert f"{row.gamma.gamma:.3f}".replace("-", "−") in words
        assert f"{row.popularity:.1f}" in words
    for part in found.by_stratum:
        assert f"{part.estimate.value:.4f}" in words
    assert headline(found) in words.replace("\N{NO-BREAK SPACE}", " ")


def test_the_same_audit_gives_the_same_bytes(found, page):
    assert found.to_html() == page


def test_names_from_the_data_are_text(page):
    assert EVIL not in page
    assert EVIL in Text(page).words


def test_a_log_alone_has_a_short_page():
    page = audit(tiny()).to_html()
    assert len(Text(page).labels) == 3
    for absent in ('id="models"', 'id="metrics"', 'id="presentation"'):
        assert absent not in page


def test_equal_popularity_can_be_drawn():
    log = Interactions.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 0])
    found = audit(log, {"p": "popular"}, holdout=0.4, k=1)
    assert "svg" in Text(found.to_html()).tags


def test_equal_popularity_has_no_head_to_speak_of():
    found = audit(flat_log(), {"knn": "item-knn"}, k=10)
    assert headline(found) == f"{words.TOP_ITEMS.format(items='5 %', rows='5 %')}."
    assert list(summary(found)) == [words.NO_HEAD, words.NO_GAMMA]
    text = Text(found.to_html()).words
    assert "Counted on the whole log" in text
    assert "training rows only" not in text


def test_charts_of_the_log_have_its_own_colour(found):
    first = series_styles(["a"])["a"].colour
    for chart in (rank_chart(found.log, "x"), levels_chart(found.log, "x")):
        assert first not in chart
        assert THE_LOG.colour in chart


def test_the_headline_names_the_model_with_most_places_for_the_head():
    found = audit(skewed_log(), {"knn": "item-knn", "popular": "popular"}, k=10)
    share = found.model("popular").shares[0]
    top = found.log.top_share(0.05)
    start = words.TOP_ITEMS.format(items="5 %", rows=percent(top.rows))
    assert headline(found) == start + words.HEAD_PLACES.format(model="“popular”", places=percent(share))
    first, second, third = summary(found)
    assert first.startswith("The head is ")
    assert second.startswith(words.TO_TAIL.partition("{shares}")[0].format(k=10))
    assert third.startswith(words.GAMMAS.partition("{")[0])


def test_a_doubtful_gamma_is_given_with_its_doubt():
    found = audit(skewed_log(), {"knn": "item-knn", "popular": "popular"}, k=10)
    knn, popular = (found.model(name).gamma for name in ("knn", "popular"))
    assert (knn.doubtful, popular.doubtful) == (False, True)
    sentence = list(summary(found))[-1]
    rough = words.GAMMA_ROUGH.format(levels=popular.levels, error=popular.std_error)
    assert sentence.endswith(f"for “popular”{rough}.")
    assert sentence.count("rough") == 1
    assert f"standard error {popular.std_error:.3f}, from {popular.levels} levels" in found.to_html()
