"""Gamma from the recommendations of models, in an evaluation."""

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from fitted_gammas import fit_of, skewed_log

from unskew import Interactions, Split, evaluate
from unskew.data import split_fractions, split_leave_one_out
from unskew.data.sources import get_source, status_of
from unskew.errors import ConfigError, DataError, PropensityError
from unskew.evaluation.checking.gamma import NOT_USED, gamma_fit
from unskew.evaluation.fitting.gamma import (
    SHORT_LISTS,
    GammaChoice,
    ModelGamma,
    choose_gamma,
    describe_short_lists,
    references,
)
from unskew.evaluation.run import Run
from unskew.evaluation.settings.settings import resolve
from unskew.models import Model
from unskew.models.training.gradient_run import Descent
from unskew.propensities import Popularity, PropensityModel, fit_gamma
from unskew.ranking import MatrixScorer, Threads, count_top


def doubts(choice: GammaChoice) -> list[str]:
    """The warnings of a choice; the check looks at nothing else of a report."""
    return list(gamma_fit.look(SimpleNamespace(propensities=SimpleNamespace(gamma=choice))))  # type: ignore[arg-type]


def run_of(asked: PropensityModel, split: Split, positives: Interactions, seed: int = 0) -> Run:
    """A run that asks for a propensity, with these training positives."""
    run = Run(split, resolve(propensity=asked, seed=seed), Threads())
    run.__dict__["positives"] = positives  # as a condition on the ratings would choose them
    return run


def test_auto_is_the_mean_over_models_trained_on_the_log() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    choice = choose_gamma(run_of(Popularity("auto"), split, split.train, seed=3))
    assert choice is not None
    by_hand = {}
    for model in references(split.train):
        top = count_top(Model.from_word(str(model)).fit(split.train, rng=3), split, 50)
        by_hand[model.word] = fit_gamma(split.train.item_counts, top.counts)
    assert {model.model: model.fit for model in choice.models} == by_hand
    gammas = [fit.gamma for fit in by_hand.values()]
    assert choice.used == pytest.approx(np.mean(gammas))
    assert (choice.low, choice.high) == (min(gammas), max(gammas))


@pytest.mark.usefixtures("short_auto")
def test_the_models_of_auto_are_trained_on_the_threads_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    whole = Descent.__init__

    def note(self: Descent, *options: Any) -> None:
        asked.append(options[-1])
        whole(self, *options)

    monkeypatch.setattr(Descent, "__init__", note)
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    train = split.train
    scores = np.zeros((train.n_users, train.n_items))
    scorer = MatrixScorer(scores, user_ids=train.user_vocabulary.ids, item_ids=train.item_vocabulary.ids)
    options: dict[str, Any] = {"metrics": ["auc"], "propensity": "popularity(gamma=auto)"}
    evaluate({"mine": scorer}, split, threads=2, **options)
    assert asked == [2] * 4


def test_a_file_of_lists_gives_the_gamma_of_what_they_hold(tmp_path: Path) -> None:
    # popularity in training: a 4, b 2, c 1; users 0 to 3 have a, 4 and 5 have b, 6 has c
    train = Interactions.from_arrays(range(7), list("aaaabbc"))
    test = Interactions.from_arrays([0, 4], ["b", "a"])
    # a goes to users 4 and 5 (the 0 who has it does not count), b to 0, c to 1: f = 2, 1, 1 at log2 n = 2, 1, 0
    rows = [(4, "a"), (5, "a"), (0, "a"), (0, "b"), (1, "c")]
    table = pl.DataFrame([(user, item, 1.0) for user, item in rows], schema=["user", "item", "score"], orient="row")
    table.write_csv(tmp_path / "lists.csv")
    asked = PropensityModel.from_word(f"popularity(gamma=from({tmp_path / 'lists.csv'}))")
    choice = choose_gamma(run_of(asked, Split(train, test), train))
    assert choice is not None
    (model,) = choice.models
    assert model.fit is not None
    assert (model.fit.gamma, model.fit.levels, model.fit.recommended_items) == (pytest.approx(0.5), 3, 3)
    # residuals 1/6, -1/3, 1/6 in log2, so the slope's error is sqrt(1/6 / 2)
    assert model.fit.std_error == pytest.approx(np.sqrt(1 / 12))
    assert (choice.low, choice.high) == pytest.approx((0.5 - 2 * np.sqrt(1 / 12), 0.5 + 2 * np.sqrt(1 / 12)))


def test_popularity_is_that_of_positives_but_everything_seen_is_left_out(tmp_path: Path) -> None:
    train = Interactions.from_arrays([0, 0, 1, 1, 2, 3, 4], list("abacbab"), values=[5, 1, 5, 5, 5, 5, 5])
    positives = train.where("rating>=4")  # a 3, b 2, c 1
    table = pl.DataFrame({"user": [0, 0, 1, 2], "item": list("bcba"), "score": [1.0] * 4})
    table.write_csv(tmp_path / "lists.csv")
    asked = Popularity(f"from({tmp_path / 'lists.csv'})")
    choice = choose_gamma(run_of(asked, Split(train, train), positives))
    # user 0 has seen b, so f = 1 at each popularity: a goes to user 2, b to user 1, c to user 0
    assert choice is not None
    assert choice.used == pytest.approx(0)


def test_a_number_and_another_propensity_ask_for_nothing() -> None:
    log = skewed_log()
    for word in ("popularity(gamma=2)", "uniform"):
        assert choose_gamma(run_of(PropensityModel.from_word(word), Split(log, log), log)) is None


@pytest.mark.usefixtures("short_auto")
def test_the_run_shows_what_was_asked_for_and_what_was_found() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    report = evaluate({"popular": "popular"}, split, metrics=["auc"], propensity="popularity(gamma=auto, smoothing=2)")
    run = report.to_dict()["run"]
    assert run["propensity"] == "popularity(gamma=auto, smoothing=2)"
    assert [model["model"] for model in run["gamma"]["models"]] == ["bpr", "cml", "cml-rank", "pmf"]
    assert [model["settings"] for model in run["gamma"]["models"]] == list(map(str, references(split.train)))
    assert run["gamma"]["min"] <= run["gamma"]["mean"] == run["gamma"]["used"] <= run["gamma"]["max"]
    assert report.settings.propensity == Popularity(run["gamma"]["used"], 2)
    again = evaluate({"popular": "popular"}, split, metrics=["auc"], propensity=report.settings.propensity)
    for mine, theirs in zip(again.estimates, report.estimates, strict=True):
        assert replace(mine, assumed_low=None, assumed_high=None) == replace(
            theirs, assumed_low=None, assumed_high=None
        )
    assert "gamma" not in again.run
    assert run["assumed"] == f"gamma={run['gamma']['min']!r}..{run['gamma']['max']!r}"  # to the last digit


@pytest.mark.usefixtures("short_auto")
def test_a_model_trained_with_the_runs_propensity_gets_the_number() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    report = evaluate({"ips": "mf-ips"}, split, metrics=["mae"], propensity="popularity(gamma=auto)")
    assert report.propensities.gamma is not None
    assert f"popularity(gamma={report.propensities.gamma.used}" in report.models["ips"]


def test_a_model_without_a_gamma_is_left_out_with_a_warning() -> None:
    choice = GammaChoice(Popularity("auto"), (ModelGamma("a", fit_of(1.5)), ModelGamma("b", None, "not identified: x")))
    assert choice.used == 1.5
    assert (choice.low, choice.high) == pytest.approx((1.3, 1.7))
    assert doubts(choice) == [NOT_USED.format(model="b", problem="not identified: x")]
    assert choice.to_dict()["models"][1]["gamma"] is None
    assert "b not identified" in choice.describe()


@pytest.mark.usefixtures("short_auto")
def test_few_levels_are_warned_of() -> None:
    split = split_fractions(skewed_log(items=9), (80, 20), rng=1)
    report = evaluate({"popular": "popular"}, split, metrics=["auc"], propensity="popularity(gamma=auto)")
    assert any("is uncertain (standard error" in text for text in report.warnings)
    assert any("hardly show what it favours" in text for text in report.warnings)


@pytest.mark.parametrize(("length", "seen", "short"), [(60, False, False), (10, False, True), (50, True, True)])
def test_lists_that_leave_places_empty_are_warned_of(tmp_path: Path, length: int, seen: bool, short: bool) -> None:
    # users have 6 or 7 of about 230 items; lists with the items they have first fill that many fewer of 50 places
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    train = split.train
    trained, rows = np.flatnonzero(train.item_counts), []
    order = trained[np.argsort(-train.item_counts[trained], kind="stable")]
    for user in range(train.n_users):
        had = train.items[train.users == user]
        best = np.concatenate([had, np.setdiff1d(order, had)]) if seen else order[~np.isin(order, had)]
        rows += [(user, item, float(-k)) for k, item in enumerate(best[:length])]
    frame = pl.DataFrame(
        {
            "user": train.user_vocabulary.ids[[row[0] for row in rows]],
            "item": train.item_vocabulary.ids[[row[1] for row in rows]],
            "score": [row[2] for row in rows],
        }
    )
    frame.write_csv(tmp_path / "lists.csv")
    choice = choose_gamma(run_of(Popularity(f"from({tmp_path / 'lists.csv'})"), split, train))
    assert choice is not None
    about_lists = [doubt for doubt in doubts(choice) if "places per user" in doubt]
    assert len(about_lists) == short
    filled = 50 - len(train) / train.n_users if seen else length
    for doubt in about_lists:
        assert SHORT_LISTS.format(filled=filled, room=50) in doubt
        assert doubt.endswith("gamma describes only what they hold")


def test_a_small_catalogue_is_no_short_list() -> None:
    # of 4 items the users have 3, 2, 2 and 1, so a list of 4 has room for 1, 2, 2 and 3
    users = ["u0", "u0", "u0", "u1", "u1", "u2", "u2", "u3"]
    log = Interactions.from_arrays(users, list("abcabada"))
    whole = MatrixScorer(np.ones((4, 4)), user_ids=["u0", "u1", "u2", "u3"], item_ids=list("abcd"))
    assert describe_short_lists(count_top(whole, log, 4), log) == ""
    one = MatrixScorer(np.ones((4, 1)), user_ids=["u0", "u1", "u2", "u3"], item_ids=["b"])
    assert describe_short_lists(count_top(one, log, 4), log) == SHORT_LISTS.format(filled=0.5, room=2)


def test_lists_of_two_popularity_levels_give_no_gamma(tmp_path: Path) -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    popularity, users = split.train.item_counts, split.train.user_vocabulary.ids
    chosen_items = [int(np.flatnonzero(popularity == level)[0]) for level in np.unique(popularity)[[1, -2]]]
    rows = [(user, split.train.item_vocabulary.ids[item], 1.0) for user in users for item in chosen_items]
    pl.DataFrame(rows, schema=["user", "item", "score"], orient="row").write_csv(tmp_path / "two.csv")
    with pytest.raises(PropensityError, match="recommendations show 2 of 23 popularity levels, but three are needed"):
        choose_gamma(run_of(Popularity(f"from({tmp_path / 'two.csv'})"), split, split.train))


def test_a_log_with_one_popularity_level_is_refused() -> None:
    users = np.repeat(np.arange(6), 2)
    train = Interactions.from_arrays(users, (users + np.tile([0, 1], 6)) % 6)
    test = Interactions.from_arrays([0], [3])
    stages: list[str] = []
    options: dict[str, Any] = {"progress": lambda stage, done, total: stages.append(stage)}
    with pytest.raises(PropensityError, match="gamma is not identified: every item has 2 interactions"):
        evaluate({"popular": "popular"}, Split(train, test), propensity="popularity(gamma=auto)", **options)
    assert not stages  # nothing was trained for it


@pytest.mark.usefixtures("short_auto")
def test_the_same_run_gives_the_same_gamma_on_any_number_of_threads() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    reports = [
        evaluate({"popular": "popular"}, split, propensity="popularity(gamma=auto)", threads=threads, block_size=7)
        for threads in (1, 3)
    ]
    assert reports[0].to_json() == reports[1].to_json()


def test_a_missing_file_is_refused() -> None:
    log = skewed_log()
    with pytest.raises(DataError, match=r"nowhere\.npz"):
        evaluate(
            {"popular": "popular"}, split_fractions(log, (80, 20)), propensity="popularity(gamma=from(nowhere.npz))"
        )


def test_a_models_own_propensity_must_name_a_number() -> None:
    split = split_fractions(skewed_log(), (80, 20), rng=1)
    with pytest.raises(ConfigError, match="gamma is fitted only during an evaluation"):
        evaluate({"ips": "mf-ips(propensity=popularity(gamma=auto))"}, split, metrics=["mae"])


def test_popularity_counted_after_the_test_began_is_warned_of() -> None:
    log = skewed_log()
    by_user = split_leave_one_out(log)
    by_luck = split_fractions(log, (80, 20), rng=0)
    options = {"metrics": ["auc"], "estimators": ["snips"]}
    late = [evaluate({"popular": "popular"}, split, **options).warnings for split in (by_user, by_luck)]  # type: ignore[arg-type]
    assert any("later than the first test row" in text for text in late[0])
    assert not any("later than the first test row" in text for text in late[1])
    even = evaluate({"popular": "popular"}, by_user, propensity="uniform", **options)  # type: ignore[arg-type]
    assert not any("later than the first test row" in text for text in even.warnings)


def test_ml_100k_gives_a_gamma_within_what_is_published_for_other_logs() -> None:
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"]) / "ml-100k"
    if status_of(get_source("ml-100k"), folder).presence == "absent":
        pytest.skip("real data: ml-100k is not in the folder UNSKEW_DATA")
    split = split_fractions(get_source("ml-100k").read(folder), (80, 20), rng=0)
    choice = choose_gamma(run_of(Popularity("auto"), split, split.train))
    assert choice is not None
    assert 1 < choice.low <= choice.high < 3
    assert all(fit.std_error < 0.2 and fit.levels > 100 for fit in choice.fits)
