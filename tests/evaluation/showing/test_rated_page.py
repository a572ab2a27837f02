"""The page of a run on ratings, alone and beside rankings."""

import re

import numpy as np
import polars as pl
import pytest

from unskew.propensities import NaiveBayes
from unskew.testing.worlds.known_errors import RATINGS, judge_mixed, judge_ratings, rated_split


def shown(page: str) -> str:
    """The text of a page without its charts and tags."""
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<(style|svg).*?</\1>", " ", page, flags=re.DOTALL)).split())


@pytest.fixture(scope="module")
def rated() -> str:
    return judge_ratings().to_html()


@pytest.fixture(scope="module")
def mixed() -> str:
    return judge_mixed(positive="rating>=4").to_html()


def test_a_run_on_ratings_has_no_sweep_and_no_popularity(rated):
    assert 'id="sweep"' not in rated
    assert "opular" not in shown(rated)
    assert "Rated rows by rating" in rated
    assert "Weights and ratings" in rated


def test_errors_are_marked_as_better_when_lower(rated):
    assert shown(rated).count("mae lower is better") == 2  # its card and its chart
    assert "mean of |rating - prediction|; all; lower is better" in shown(rated)
    assert "where lower is better, its difference is negative" in shown(rated)


def test_the_better_model_comes_first_in_tables_and_pairs(rated):
    models = re.findall(r'<th scope="row"><span class="name">(\w+)</span>', rated)
    assert models[:2] == ["near", "far"]
    assert "near far −0." in shown(rated)


def test_nothing_is_undefined_for_models_that_a_metric_cannot_judge(mixed):
    text = shown(mixed)
    assert "undefined" not in text
    assert not re.search(r"\b(nan|inf|None)\b", text)


def test_charts_show_only_the_models_that_the_metric_judges(mixed):
    labels = re.findall(r'aria-label="(\S+): estimates with intervals of ([^;]+);', mixed)
    assert dict(labels) == {
        "mae": "both, table",
        "recall@3": "both, ranker, popular (baseline), random (baseline)",
        "cg@2": "both, ranker",
    }


def test_a_mixed_run_shows_both_kinds_of_rows(mixed):
    text = shown(mixed)
    assert "Rated rows" in text
    assert "Share of rows that popular items have" in text
    assert "How much depends on the assumed bias" in text


def test_the_sweep_has_only_the_models_that_rank(mixed):
    legend = mixed[mixed.index('id="sweep"') :].split("</ul>")[0]
    assert re.findall(r'<span class="name">(\w+)</span>', legend) == ["both", "ranker"]


def test_an_estimator_with_several_targets_tells_them_all(mixed):
    assert "snips all pairs / relevant pairs / all pairs, mean over users" in shown(mixed)


def test_propensities_have_a_section_with_their_sum(rated):
    section = shown(rated[rated.index('id="propensities"') :].split("</section>")[0])
    total = f"{np.sum(1 / rated_split().test.propensity):,.0f}"
    assert f"All pairs 300 Sum of 1/P {total} Propensities 0.25 to 1 Weights 1 to 4 Clipped 0" in section
    assert "<svg" not in rated[rated.index('id="propensities"') :].split("</section>")[0]


def test_a_model_of_what_was_observed_shows_its_reliability_and_its_assumption():
    users, items = np.arange(30), np.zeros(30, dtype=int)
    sample = {"user": users, "item": items, "rating": RATINGS[users, items]}
    report = judge_ratings(propensity=NaiveBayes(pl.DataFrame(sample)))
    page = report.to_html()
    section = page[page.index('id="propensities"') :].split("</section>")[0]
    assert 'aria-label="Share of pairs observed against the predicted propensity' in section
    assert "of about the same propensity, out of pairs of the random sample, " in section
    assert "depends on its rating alone" in page


def test_a_naive_run_has_no_section_on_propensities():
    page = judge_ratings(estimators=["aoa"], propensity="uniform").to_html()
    assert 'id="propensities"' not in page
    assert "Rated rows by rating" in page


def test_the_same_run_gives_the_same_page(rated):
    assert judge_ratings().to_html() == rated
