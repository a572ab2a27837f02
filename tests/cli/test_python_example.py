"""The example of the README, as it stands there, and what its report can do."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unskew import Interactions, Split, evaluate
from unskew.ranking import FactorScorer


@pytest.fixture
def report(world, monkeypatch):
    monkeypatch.chdir(world.folder)
    user_factors, item_factors = world.array("user_factors"), world.array("item_factors")
    users, items = world.array("user_ids"), world.array("item_ids")
    split = Split(train=Interactions.read("train.csv"), test=Interactions.read("test.csv"))  # vocabularies are joined
    return evaluate(
        {"mf": FactorScorer(user_factors, item_factors, user_ids=users, item_ids=items)},
        split,
        metrics=["recall@10", "adg@10", "auc"],
        estimators=["aoa", "snips"],
        propensity="popularity(gamma=0.5)",
        threads=2,
        seed=0,
    )


def test_it_gives_every_metric_by_every_estimator(report):
    found = [(row.model, row.metric, row.estimator) for row in report.estimates]
    assert found == [("mf", m, e) for m in ("recall@10", "adg@10", "auc") for e in ("aoa", "snips")]


def test_it_prints_a_table(report):
    text = str(report)
    for words in ("mf", "recall@10", "snips", "95% interval"):
        assert words in text
    assert repr(report) == f"Report(1 models, 6 estimates, {len(report.warnings)} warnings)"


def test_to_dict_is_the_json_of_the_command_line(report, world, unskew):
    run = world.evaluate("-e", "aoa", "-e", "snips", "--propensity", "popularity(gamma=0.5)", "--json", "-")
    python, command = report.to_dict(), json.loads(unskew(*run).out)
    assert len(python.pop("warnings")) == len(command.pop("warnings"))  # which name keywords here and flags there
    assert python == command


def test_the_frames_hold_the_estimates(report):
    polars, pandas = report.to_polars(), report.to_pandas()
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(pandas, pd.DataFrame)
    estimates = report.to_dict()["estimates"]
    assert polars.to_dicts() == estimates
    assert list(pandas["value"]) == [row["value"] for row in estimates]
    assert list(pandas.columns) == polars.columns == list(estimates[0])


def test_to_html_writes_the_page(report, tmp_path):
    text = report.to_html("report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert "mf" in text


def test_a_notebook_shows_a_table(report):
    table = report._repr_html_()
    assert table.startswith("<p><strong>“mf” is judged alone")
    assert table.count("<tr>") == 1 + 6 + 12  # the estimates, and those of the two baselines
    assert "recall@10" in table


def test_integer_codes_need_no_ids():
    rng = np.random.default_rng(0)
    train = Interactions.from_arrays([0, 0, 1, 2], [0, 1, 2, 3], n_users=3, n_items=6)
    test = Interactions.from_arrays([0, 1, 2], [4, 4, 5], n_users=3, n_items=6)
    scorer = FactorScorer(rng.normal(size=(3, 2)), rng.normal(size=(6, 2)))
    report = evaluate({"mf": scorer}, Split(train=train, test=test), metrics=["auc"], estimators=["aoa"])
    scores = scorer.score(np.arange(3))
    # by hand: how many of the user's unseen items beat the held-out one, out of how many
    seen = {0: [0, 1], 1: [2], 2: [3]}
    expected = []
    for user, item in ((0, 4), (1, 4), (2, 5)):
        unseen = [i for i in range(6) if i not in seen[user]]
        expected.append(1 - sum(scores[user, i] > scores[user, item] for i in unseen) / len(unseen))
    assert report.value("mf", "auc", "aoa") == pytest.approx(np.mean(expected))
