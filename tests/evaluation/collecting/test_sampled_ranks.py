"""Sampled ranks corrected towards full ranking, end to end (Krichene & Rendle 2020)."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError, DataError
from unskew.evaluation.checking.models import CORRECTION_UNCHECKED
from unskew.evaluation.collecting.sampled_ranks import CHECKED_USERS, checked_users
from unskew.ranking import ListScorer, MatrixScorer, Ranks, prepare_contest, rank
from unskew.testing.worlds.long_tail import ITEMS, USERS, real_factors, skewed_split, whole_scores

FORMS = ["sampled(6, correction=unbiased)", "sampled(6, correction=bias-variance)"]


def disjoint_split(rule: str = "unseen", *, propensity: bool = False) -> Split:
    """No test row in train and no validation, so that unseen items are the user's positives and what may be drawn."""
    split = skewed_split(candidates=rule, propensity=propensity)
    test = split.sorted_test.take(~split.test_in_train)
    return Split(split.train, test, candidates=rule)


def run(rule: str, model: Any = None, **options: Any) -> Report:
    options = {"metrics": ["auc"], "estimators": ["aoa"], **options}
    return evaluate({"m": model or whole_scores()}, disjoint_split(rule), **options)


def value(report: Report, metric: str, estimator: str = "aoa") -> float:
    found = report.value("m", metric, estimator)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("rule", "ties"),
    [(FORMS[0], ties) for ties in ("expected", "optimistic", "pessimistic", "ordinal")] + [(FORMS[1], "expected")],
)
def test_the_mean_of_auc_over_seeds_is_that_of_full_ranking(rule: str, ties: str) -> None:
    """60 seeds; the means of aoa and snips lie within 4 standard errors, which 1 run in 15,000 does not."""
    words = ("aoa", "snips")
    reports = [run(rule, estimators=list(words), ties=ties, seed=seed) for seed in range(60)]
    full = run("unseen", estimators=list(words), ties=ties)
    for word in words:
        values = np.array([value(report, "auc", word) for report in reports])
        assert np.std(values) > 1e-3
        assert abs(values.mean() - value(full, "auc", word)) < 4 * np.std(values, ddof=1) / np.sqrt(len(values))


def test_the_mean_of_ips_over_seeds_is_that_of_full_ranking() -> None:
    """As above, with absolute propensities and counts of relevant items."""
    counts = dict.fromkeys(range(USERS), ITEMS)
    options: dict[str, Any] = {"metrics": ["atop"], "estimators": ["ips"], "propensity": "column", "relevant": counts}
    split, whole = (disjoint_split(rule, propensity=True) for rule in (FORMS[0], "unseen"))
    reports = [evaluate({"m": whole_scores()}, split, seed=seed, **options) for seed in range(60)]
    values = np.array([value(report, "atop", "ips") for report in reports])
    full = value(evaluate({"m": whole_scores()}, whole, **options), "atop", "ips")
    assert abs(values.mean() - full) < 4 * np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("metric", ["recall@5", "recall@8", "adg@5", "adg"])
def test_either_form_comes_closer_than_no_correction(metric: str) -> None:
    full = value(run("unseen", real_factors(), metrics=[metric]), metric)
    none, unbiased, tabled = (
        abs(
            float(np.mean([value(run(rule, real_factors(), metrics=[metric], seed=k), metric) for k in range(8)]))
            - full
        )
        for rule in ("sampled(6)", *FORMS)
    )
    assert unbiased < 0.6 * none
    assert tabled < 0.2 * none


@pytest.mark.parametrize("rule", FORMS)
@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "random", "ordinal"])
def test_drawing_everything_is_full_ranking(rule: str, ties: str) -> None:
    words = ["auc", "auc(literal)", "atop", "recall@1", "recall@5", "adg@5", "adg"]
    all_drawn = run(rule.replace("6", "25"), metrics=words, ties=ties)
    full = run("unseen", metrics=words, ties=ties)
    for one, other in zip(all_drawn.estimates, full.estimates, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-13)
        assert one.std_error == pytest.approx(other.std_error, abs=1e-13)


def test_the_measured_error_compares_with_full_ranking() -> None:
    report = run(FORMS[1], metrics=["auc", "recall@5"])
    full = run("unseen", metrics=["auc", "recall@5"])
    assert report.samples.correction is not None
    for check in report.samples.correction:
        assert check.users == len(report.samples.judged.users)
        assert check.corrected == pytest.approx(report.value("m", check.metric, "aoa"), abs=1e-12)
        assert check.full == pytest.approx(full.value("m", check.metric, "aoa"), abs=1e-12)
        assert check.difference == pytest.approx(check.corrected - check.full, abs=1e-12)
        assert check.std_error is not None
    assert [(check.model, check.metric) for check in report.samples.correction] == [("m", "auc"), ("m", "recall@5")]


def test_the_error_is_in_the_json_the_text_and_the_page_of_a_corrected_run_only() -> None:
    report = run(FORMS[0])
    (check,) = json.loads(report.to_json())["correction"]
    assert set(check) == {"model", "metric", "users", "corrected", "full", "difference", "std_error"}
    line = f"auc: corrected minus full ranking, on {check['users']} users: m {check['difference']:+.4f}"
    assert line in str(report)
    assert "corrected minus full ranking" in report.to_html()
    plain = run("sampled(6)")
    assert "correction" not in plain.to_dict()
    assert "minus full ranking" not in str(plain) + plain.to_html()


def test_a_correction_that_is_far_off_is_warned_of() -> None:
    """One item stands above all positives; where it is not drawn, ADG takes the next one for the first."""
    split = disjoint_split(FORMS[0])
    scores = np.zeros((USERS, ITEMS))
    scores[split.train.users, split.train.items] = -1
    scores[split.test.users, split.test.items] = -1
    scores[np.arange(USERS), scores.argmax(axis=1)] = 2
    scores[split.test.users, split.test.items] = 1
    models = {"m": MatrixScorer(scores), "twin": MatrixScorer(scores)}
    report = evaluate(models, split, metrics=["adg", "auc"], estimators=["aoa"])
    said = [text for text in report.warnings if "is off by" in text]
    assert all(f"for model {name!r}" in said[0] for name in models)
    assert said == [text for text in said if text.startswith("adg: the correction of sampled ranks")]
    assert len(said) == 1


def test_validation_items_are_no_candidates() -> None:
    """4 of 10 items are in train, validation or test of the user: 6 could be drawn, and 7 are ranked in full."""
    parts = [Interactions.from_arrays([0, 0], [k, k + 1], n_users=1, n_items=10) for k in (0, 2)]
    test = Interactions.from_arrays([0], [9], n_users=1, n_items=10)
    split = Split(parts[0], test, parts[1], candidates="sampled(3, correction=unbiased)")
    scores = np.array([[9.0, 9, 9, 9, 1, 2, 3, 4, 5, 3.5]])
    report = evaluate({"m": MatrixScorer(scores)}, split, metrics=["auc"], estimators=["aoa"])
    assert report.samples.correction is not None
    assert report.samples.correction[0].full == 1 - 2 / 6
    assert report.samples.correction[0].std_error is None
    assert "towards all items outside train and validation" in report.estimates[0].definition


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("dcg@10", r"dcg@10 is not a mean over relevant items.*leave correction out, or use candidates=.unseen"),
        ("ndcg@10", "not a mean over relevant items"),
        ("precision@10", "not a mean over relevant items"),
        ("cg@10", "not a mean over relevant items"),
        ("mae", "not a mean over relevant items"),
        (
            "recall@4",
            r"recall@4 needs K of at least 5 with 6 draws of 25 items; use candidates=.unseen., or sampled\(n\)",
        ),
        ("adg@1", "adg@1 needs K of at least 5"),
    ],
)
@pytest.mark.parametrize("rule", FORMS)
def test_what_cannot_be_corrected_is_refused(rule: str, metric: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        run(rule, metrics=[metric])


def test_items_that_only_a_model_knows_count_for_the_least_cut_off() -> None:
    wide = MatrixScorer(np.zeros((USERS, 60)), user_ids=np.arange(USERS), item_ids=np.arange(60))
    with pytest.raises(ConfigError, match="needs K of at least 10 with 6 draws of 60 items"):
        run(FORMS[0], wide, metrics=["recall@5"])


def saved(rule: str, change: Callable[[Ranks], Ranks] = lambda ranks: ranks) -> Ranks:
    scorer = whole_scores()
    return change(rank(scorer, prepare_contest({"m": scorer}, disjoint_split(rule)), name="m"))


@pytest.mark.parametrize("rule", FORMS)
def test_ranks_made_before_are_corrected_but_not_checked(rule: str, tmp_path: Path) -> None:
    saved(rule).save(tmp_path / "m.npz")
    metrics = ["auc", "recall@5"]
    again, fresh = (run(rule, model, metrics=metrics) for model in (Ranks.load(tmp_path / "m.npz"), whole_scores()))
    assert again.estimates == fresh.estimates
    assert again.to_dict()["correction"] == []
    assert CORRECTION_UNCHECKED.format(model="m") in again.warnings
    assert not any("cannot be checked" in text for text in fresh.warnings)


def test_ranks_that_do_not_say_what_was_drawn_from_are_refused() -> None:
    def other(ranks: Ranks) -> Ranks:
        assert ranks.pool is not None
        return replace(ranks, pool=ranks.pool + 1)

    with pytest.raises(DataError, match="'m' do not say how many items the candidates were drawn from"):
        run(FORMS[0], saved(FORMS[0], lambda ranks: replace(ranks, pool=None)))
    models = {"one": saved(FORMS[0]), "two": saved(FORMS[0], other)}
    with pytest.raises(DataError, match="'one' and 'two' were drawn from different items"):
        evaluate(models, disjoint_split(FORMS[0]), metrics=["auc"], propensity="popularity")


@pytest.mark.parametrize("rule", FORMS)
def test_threads_do_not_change_a_byte(rule: str) -> None:
    models: dict[str, Any] = {"m": real_factors(), "other": whole_scores()}
    options: dict[str, Any] = {"metrics": ["auc", "recall@5", "adg"], "block_size": 16, "propensity": "popularity"}
    texts = {evaluate(models, disjoint_split(rule), threads=n, **options).to_json() for n in (1, 3)}
    assert len(texts) == 1


@pytest.mark.parametrize("rule", FORMS)
def test_what_a_list_leaves_out_gains_nothing_under_a_cut_off(rule: str) -> None:
    items = np.tile([0, 1, 2], (USERS, 1))
    lists = ListScorer.from_arrays(items, user_ids=np.arange(USERS), item_ids=np.arange(ITEMS))
    report = run(rule, lists, metrics=["recall@5", "adg"])
    outside = ~np.isin(report.samples.judged.items, [0, 1, 2])
    recall, adg = (report.samples.judged.gains("m", metric) for metric in report.settings.metrics)
    assert (recall[outside] == 0).all()
    assert (recall[~outside] > 0.3).all()
    assert (adg[outside] > 0).all()


def test_many_users_are_checked_by_a_seeded_sample() -> None:
    chosen = checked_users(10_000, 3)
    assert len(np.unique(chosen)) == CHECKED_USERS
    assert (np.diff(chosen) > 0).all()
    assert np.array_equal(chosen, checked_users(10_000, 3))
    assert not np.array_equal(chosen, checked_users(10_000, 4))
    assert checked_users(7, 0).tolist() == list(range(7))
