"""``--against``: the earlier run is set beside this one in table, JSON and page; what is no run is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest


@pytest.fixture
def earlier(unskew: Callable[..., Any], world: Any) -> str:
    """The JSON of a run on the first positive of each user."""
    test = pl.read_csv(world / "test.csv")
    test.group_by("user", maintain_order=True).head(1).write_csv(world / "small.csv")
    path = world / "earlier.json"
    outcome = unskew(
        *world.evaluate("-m", "adg", "-m", "ndcg", "-e", "aoa", "--json", path, "--quiet", test="small.csv")
    )
    assert outcome.code == 0
    return str(path)


def test_what_moved_is_in_the_table_the_json_and_the_page(unskew: Any, world: Any, earlier: str) -> None:
    files = "--json", world / "now.json", "--html", world / "now.html"
    outcome = unskew(*world.evaluate("-m", "adg", "-m", "ndcg", "-e", "aoa", "--against", earlier, *files))
    assert outcome.code == 0
    assert f"earlier run: {earlier}" in outcome.out
    assert outcome.out.index("Estimates") < outcome.out.index("Against the earlier run")
    assert "note: ndcg moves with the number of positives per user" in outcome.out
    assert "note: adg can be compared" in outcome.out
    read = json.loads(Path(world / "now.json").read_text())
    adg, ndcg = read["against"]["changes"]
    assert (adg["metric"], adg["expected"]) == ("adg", 0)
    assert ndcg["expected"] > 0
    assert read["against"]["before"]["positives_a_user"] == 1
    assert read["against"]["file"] == earlier
    page = Path(world / "now.html").read_text()
    assert 'id="against"' in page
    assert page.count(earlier) == 2  # in the summary and in the section


def test_the_numbers_are_those_of_a_run_without_it(unskew: Any, world: Any, earlier: str) -> None:
    words = world.evaluate("-m", "adg", "-e", "aoa", "--quiet", "--json", "-")
    alone, beside = (json.loads(unskew(*words, *more).out) for more in ((), ("--against", earlier)))
    assert beside.pop("against")["changes"]
    assert alone == beside


def test_a_toml_file_may_name_it_relative_to_itself(unskew: Any, world: Any, earlier: str) -> None:
    del earlier
    config = world.write("run.toml", 'against = "earlier.json"\nmetric = ["adg"]\nestimator = ["aoa"]\n')
    outcome = unskew(*world.evaluate("--config", config))
    assert outcome.code == 0
    assert "Against the earlier run" in outcome.out


def test_what_is_no_earlier_run_is_refused(world: Any, refuse: Any, earlier: str) -> None:
    read = json.loads(Path(earlier).read_text())
    study = world.write("study.json", json.dumps({"study": "lim2015", "cells": []}))
    newer = world.write("newer.json", json.dumps({**read, "unskew": "7.0.0"}))
    text = world.write("text.json", "no json")
    refuse(*world.evaluate("--against", world / "no.json"), says=("no.json: no such file",))
    refuse(
        *world.evaluate("--against", text),
        says=("text.json: not the JSON of a report, because it is not JSON", "unskew evaluate --json"),
    )
    refuse(*world.evaluate("--against", study), says=("the JSON of a study",))
    refuse(*world.evaluate("--against", newer), says=("written by unskew 7.0.0",))


def test_other_models_are_refused_before_the_work_and_some_are_a_note(
    unskew: Any, world: Any, refuse: Any, earlier: str
) -> None:
    words = world.evaluate("--model", "popular", "-m", "adg", "-e", "aoa", "--against", earlier, model=False)
    refuse(*words, says=("earlier.json: no model in common (there mf; here popular)", "NAME=FILE"))
    outcome = unskew(*words, "--factors", world / "mf.npz")
    assert outcome.code == 0
    assert "note: only now: popular adg aoa" in outcome.out


def test_other_metrics_and_estimators_are_refused_before_the_work(
    world: Any, refuse: Any, earlier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("nothing is to be done before the words are checked")

    monkeypatch.setattr("unskew.evaluation.evaluate", work)
    says = ("earlier.json: no metric and estimator in common; it has adg by aoa, ndcg by aoa, ask for those",)
    for words in (("-m", "auc", "-e", "aoa"), ("-m", "adg", "-e", "snips"), ()):
        refuse(*world.evaluate(*words, "--against", earlier), says=says)


def test_a_run_is_not_lost_where_only_its_end_shows_that_nothing_is_in_common(
    unskew: Any, world: Any, earlier: str
) -> None:
    read = json.loads(Path(earlier).read_text())
    read["estimates"] = [{**row, "metric": "mae"} for row in read["estimates"] if row["metric"] == "adg"]
    changed = world.write("mae.json", json.dumps(read))  # of the model mf, which only ranks
    ratings = pl.read_csv(world / "test.csv").select("user", "item", pl.lit(3.0).alias("prediction"))
    ratings.write_csv(world / "predicted.csv")
    more = (
        "--predictions",
        f"p={world / 'predicted.csv'}",
        "--rating-col",
        "rating",
        "-m",
        "adg",
        "-m",
        "mae",
        "-e",
        "aoa",
    )
    files = "--json", world / "now.json", "--html", world / "now.html"
    outcome = unskew(*world.evaluate(*more, "--against", changed, *files))
    assert outcome.code == 2
    assert "mae.json: no metric and estimator in common; it has mae by aoa" in outcome.err
    assert "Estimates" in outcome.out
    assert {row["model"] for row in json.loads(Path(world / "now.json").read_text())["estimates"]} == {"mf", "p"}
    assert "unskew report" in Path(world / "now.html").read_text()


def test_the_earlier_run_is_not_written_over(world: Any, refuse: Any, earlier: str) -> None:
    refuse(*world.evaluate("--against", earlier, "--json", earlier), says=("is read by this run",), outputs=False)
