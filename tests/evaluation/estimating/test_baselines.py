"""The baselines `popular` and `random`: on the users and candidates of the models, and never among them."""

from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.evaluation.estimating.baselines import IN_PARTS, OWN_USERS, SAVED_RANKS, STOPPED
from unskew.evaluation.showing.text import as_text
from unskew.ranking import MatrixScorer, prepare_contest, rank

RNG = np.random.default_rng(5)
USERS, ITEMS = 60, 30
SCORES = {name: RNG.normal(size=(USERS, ITEMS)) for name in ("one", "two", "three")}


def split_of(**more: Any) -> Split:
    """A log in which low item numbers are popular."""
    rng = np.random.default_rng(1)
    chance = np.linspace(0.6, 0.05, ITEMS)
    seen = rng.random((USERS, ITEMS)) < chance
    held = seen & (rng.random((USERS, ITEMS)) < 0.3)
    users, items = np.nonzero(seen & ~held)
    train = Interactions.from_arrays(users, items, n_users=USERS, n_items=ITEMS)
    return Split(train, Interactions.from_arrays(*np.nonzero(held), n_users=USERS, n_items=ITEMS), **more)


def judged(names: tuple[str, ...] = ("one", "two"), split: Split | None = None, **settings: Any) -> Report:
    """A report on models of random scores."""
    asked = {"metrics": ["recall@5", "auc"], "estimators": ["aoa(per=pair)", "snips"], **settings}
    return evaluate({name: MatrixScorer(SCORES[name]) for name in names}, split or split_of(), **asked)


def test_popular_has_the_numbers_of_the_model_of_that_name() -> None:
    baselines = judged().baselines
    named = evaluate(
        {"popular": "popular", "flat": MatrixScorer(np.zeros((USERS, ITEMS)))},
        split_of(),
        metrics=["recall@5", "auc"],
        estimators=["aoa(per=pair)", "snips"],
    )
    assert baselines is not None
    for row in baselines.estimates:
        twin = named.estimate("flat" if row.model == "random" else "popular", row.metric, row.estimator)
        assert row.value == pytest.approx(twin.value, abs=1e-12)
        assert row.low == pytest.approx(twin.low, abs=1e-12)
    assert named.baselines is not None
    assert named.baselines.names == ("random",)


def test_numbers_and_families_of_the_models_do_not_change() -> None:
    with_them, without = judged().to_dict(), judged(baselines=False).to_dict()
    assert with_them.pop("baselines")["estimates"][0]["baseline"] is True
    for report in (with_them, without):
        report["verdict"].pop("summary")
    assert with_them == without


def test_comparisons_are_those_of_a_run_with_the_baseline_as_model_before_holm() -> None:
    baselines = judged(("one",)).baselines
    models = {"one": MatrixScorer(SCORES["one"]), "popular": "popular"}
    run = evaluate(models, split_of(), metrics=["recall@5"], estimators=["snips"])
    assert baselines is not None
    (row,) = baselines.against("popular", "recall@5", "snips")
    (twin,) = run.comparisons
    assert (row.a, row.b) == ("one", "popular")
    assert row.difference == pytest.approx(twin.difference)
    assert (row.low, row.high, row.p_value) == pytest.approx((twin.low, twin.high, twin.p_value))
    assert row.p_value_holm == row.p_value  # one model, so there is nothing to correct for


def test_holm_is_over_the_models_of_one_baseline() -> None:
    baselines = judged(("one", "two", "three")).baselines
    assert baselines is not None
    rows = baselines.against("random", "auc", "snips")
    assert [row.a for row in rows] == ["one", "two", "three"]
    smallest = min(rows, key=lambda row: row.p_value or 0.0)
    assert smallest.p_value_holm == pytest.approx(min(1.0, 3 * (smallest.p_value or 0.0)))


def test_the_verdict_says_when_no_model_beats_popularity() -> None:
    behind = judged().verdict
    assert behind.summary[-1] == "No model is clearly better than the baseline “popular” on recall@5 and auc."
    alone = judged(("one",)).verdict
    assert alone.summary[-1].startswith("“one” is not clearly better than the baseline “popular”")
    held = split_of().test.to_sparse().toarray()
    perfect = evaluate({"oracle": MatrixScorer(held + 0.0)}, split_of(), metrics=["auc"], estimators=["snips"])
    assert not any("popular" in each for each in perfect.verdict.summary)
    assert all("popular" not in answer.judging.may_be_best for answer in judged().answers)


def test_tables_show_them_below_the_models() -> None:
    report = judged()
    text = as_text(report)
    table = text[text.index("Estimates") :]
    places = [table.index(f" {name} ") for name in ("one", "two", "popular (baseline)", "random (baseline)")]
    assert places == sorted(places)
    assert "popular (baseline)" in report.to_markdown()
    assert "popular (baseline)" in report.to_html()
    assert "popular (baseline)" in report._repr_html_()
    assert "(baseline)" not in as_text(judged(baselines=False))
    assert report.value("popular", "auc", "snips") == report.baselines.of("auc", "snips")[0].value  # type: ignore[union-attr]


def test_imputed_estimates_have_baselines_too() -> None:
    rng = np.random.default_rng(2)
    split = split_of()
    test = split.test
    rated = Interactions.from_arrays(
        test.users, test.items, values=rng.integers(0, 2, len(test)).astype(float), n_users=USERS, n_items=ITEMS
    )
    train = Interactions.from_arrays(
        split.train.users,
        split.train.items,
        values=rng.integers(0, 2, len(split.train)).astype(float),
        n_users=USERS,
        n_items=ITEMS,
    )
    report = judged(("one",), Split(train, rated), estimators=["aoa(per=pair)", "dm"], positive="rating>=1")
    flat = evaluate(
        {"flat": MatrixScorer(np.zeros((USERS, ITEMS)))},
        Split(train, rated),
        metrics=["auc"],
        estimators=["dm"],
        positive="rating>=1",
    )
    assert report.value("random", "auc", "dm") == pytest.approx(flat.value("flat", "auc", "dm"))
    assert report.baselines is not None
    assert len(report.baselines.comparisons) == 8  # two metrics, two estimators, two baselines


def test_what_has_none_says_why() -> None:
    split = split_of()
    ranks = rank(MatrixScorer(SCORES["one"]), prepare_contest({"one": MatrixScorer(SCORES["one"])}, split), name="one")
    saved = evaluate({"one": ranks}, split, metrics=["auc"], estimators=["aoa"])
    assert saved.to_dict()["baselines"] == {"left_out": SAVED_RANKS}
    assert f"note: the baselines are left out, because {SAVED_RANKS}" in as_text(saved)
    served, stopped = judged(users="served").baselines, judged(until="decided").baselines
    assert served is not None
    assert served.left_out == OWN_USERS
    assert stopped is not None
    assert stopped.left_out == STOPPED
    assert IN_PARTS


def test_ratings_have_no_baseline() -> None:
    split = split_of()
    values = np.ones(len(split.test)) * 3
    rated = Interactions.from_arrays(split.test.users, split.test.items, values=values, n_users=USERS, n_items=ITEMS)
    model = MatrixScorer(SCORES["one"], ratings=True)
    report = evaluate({"one": model}, Split(split.train, rated), metrics=["mae"], estimators=["aoa"])
    assert report.baselines is None
    assert "baselines" not in report.to_dict()


def test_nothing_is_added_to_models_that_are_both_baselines() -> None:
    report = evaluate({"by count": "popular", "random": "random"}, split_of(), metrics=["auc"], estimators=["aoa"])
    assert report.baselines is None


@pytest.mark.parametrize("rule", ["all", "trained", "sampled(8)"])
def test_every_rule_of_candidates_has_them(rule: str) -> None:
    report = judged(("one",), candidates=rule)
    popular = evaluate({"counts": "popular"}, split_of(), metrics=["auc"], estimators=["aoa"], candidates=rule)
    assert report.baselines is not None
    assert report.value("random", "auc", "snips") == pytest.approx(0.5, abs=0.1)
    other = judged(("one",), candidates=rule, estimators=["aoa"])
    assert other.value("popular", "auc", "aoa") == pytest.approx(popular.value("counts", "auc", "aoa"))
