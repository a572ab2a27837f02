"""Audits in notebooks, and their charts outside the page."""

import numpy as np
import pytest

from unskew import Audit, ConfigError, Interactions, audit

EVIL = "<b>"


@pytest.fixture(scope="module")
def skewed() -> Audit:
    rng = np.random.default_rng(0)
    popular = 1 / np.arange(1, 31)
    items = np.concatenate([rng.choice(30, 8, replace=False, p=popular / popular.sum()) for _ in range(40)])
    log = Interactions.from_arrays(np.repeat(np.arange(40), 8), items, n_users=40, n_items=30)
    return audit(log, {"popular": "popular", EVIL: "item-knn"}, k=5, metrics=["auc"], depth="none")


def test_a_notebook_shows_the_headline_then_a_chart_then_tables(skewed):
    shown = skewed._repr_html_()
    assert shown.index("<strong>") < shown.index("<img") < shown.index("<table>")
    assert shown.count("<table>") == 3
    assert "&lt;b&gt;" in shown
    assert EVIL not in shown
    assert shown.count("<li>") == len(skewed.warnings)


def test_the_charts_have_names(skewed):
    assert list(skewed.charts) == ["rank", "levels", "lorenz", "gamma popular", "gamma <b>", "places", "strata auc"]
    assert skewed.charts["lorenz"].svg.startswith("<svg")
    assert "popular" in skewed.charts["lorenz"].svg
    with pytest.raises(ConfigError, match="did you mean 'lorenz'"):
        _ = skewed.charts["lorentz"]


def test_an_audit_of_a_log_alone_has_the_charts_of_the_log():
    log = Interactions.from_arrays([0, 0, 1, 2], [0, 1, 0, 0], n_users=3, n_items=2)
    assert list(audit(log, depth="none").charts) == ["rank", "levels", "lorenz"]
