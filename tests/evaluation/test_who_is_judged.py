"""Who is judged does not depend on the other models of a run."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError, DataError
from unskew.estimators import Comparison, Estimate
from unskew.evaluation.estimating.best_models import Answer, Standing
from unskew.ranking import ListScorer, MatrixScorer, Scorer, prepare_contest, rank
from unskew.testing.worlds.head_and_tail import NAIVE_AND_SNIPS

USERS, ITEMS = 12, 9
METRICS = ["recall@3", "adg", "auc", "precision@2", "ndcg@4", "map", "mrr@3", "hit@2"]
WEIGHTED: dict[str, Any] = {"metrics": METRICS, "propensity": "popularity"}
"""The log is too small for an exposure to be learnt."""


def world(seed: int = 0) -> tuple[Split, np.ndarray]:
    rng = np.random.default_rng(seed)
    chosen = rng.random((USERS, ITEMS))
    train = np.argwhere(chosen < 0.35)
    test = np.argwhere(chosen > 0.75)
    parts = [Interactions.from_arrays(*rows.T, n_users=USERS, n_items=ITEMS) for rows in (train, test)]
    return Split(*parts), rng.integers(0, 5, (USERS, ITEMS)).astype(float)


def partial(matrix: np.ndarray, users: list[int], items: list[int], *, lists: bool = False) -> Scorer:
    if not lists:
        return MatrixScorer(matrix[np.ix_(users, items)], user_ids=users, item_ids=items)
    rows = [(user, item, matrix[user, item]) for user in users for item in items]
    return ListScorer.from_table(*(list(column) for column in zip(*rows, strict=True)))


def rows_of(report: Report, model: str) -> list[Any]:
    return [row for row in report.estimates if row.model == model]


some_users = st.sets(st.integers(0, USERS - 1), min_size=1).map(sorted)
some_items = st.sets(st.integers(0, ITEMS - 1), min_size=1).map(sorted)


@pytest.mark.parametrize("interval", ["delta", "bootstrap(50)"])
@given(seed=st.integers(0, 5), users=some_users, items=some_items, lists=st.booleans())
def test_another_model_does_not_move_a_models_numbers(
    interval: str, seed: int, users: list[int], items: list[int], *, lists: bool
) -> None:
    split, matrix = world(seed)
    mine = MatrixScorer(matrix)
    other = partial(-matrix, users, items, lists=lists)
    options: dict[str, Any] = {**WEIGHTED, "interval": interval}
    alone = evaluate({"mine": mine}, split, **options)
    if not np.isin(split.test.users, users).any():
        with pytest.raises(DataError, match="knows none of the"):
            evaluate({"mine": mine, "other": other}, split, **options)
        return
    together = evaluate({"mine": mine, "other": other}, split, **options)
    assert rows_of(together, "mine") == rows_of(alone, "mine")


@given(seed=st.integers(0, 5), users=some_users, items=some_items)
def test_the_users_whom_a_model_serves_give_its_numbers_alone(seed: int, users: list[int], items: list[int]) -> None:
    split, matrix = world(seed)
    other = partial(-matrix, users, items)
    if not np.isin(split.test.users, users).any():
        return
    alone = evaluate({"other": other}, split, **WEIGHTED)
    together = evaluate({"mine": MatrixScorer(matrix), "other": other}, split, **WEIGHTED, users="served")
    for mine, own in zip(rows_of(together, "other"), rows_of(alone, "other"), strict=True):
        assert (mine.value, mine.std_error, mine.low, mine.users) == (own.value, own.std_error, own.low, own.users)
        assert mine.effective_sample_size == own.effective_sample_size


def test_served_models_are_compared_on_the_users_of_both() -> None:
    split, matrix = world()
    one = partial(matrix, list(range(8)), list(range(ITEMS)))
    two = partial(-matrix, list(range(4, 12)), list(range(ITEMS)))
    served = evaluate({"one": one, "two": two}, split, **WEIGHTED, users="served")
    common = evaluate({"one": one, "two": two}, split, **WEIGHTED, users="common")
    assert served.comparisons == common.comparisons
    assert rows_of(served, "one") != rows_of(common, "one")
    assert served.run["users"] == "served"
    assert served.verdict.summary[0].startswith("Each model is judged on the users it knows")
    assert served.twins.estimates == ()
    assert all(answer.flip_gamma is None and not answer.weighted for answer in served.answers)
    weighted = [evaluate({"one": one, "two": two}, split, metrics=["auc"], estimators=["snips"], users="served")]
    weighted += [evaluate({"one": one}, split, metrics=["auc"], estimators=["snips"])]
    naive = [next(row for row in each.twins.estimates if row.model == "one") for each in weighted]
    assert (naive[0].value, naive[0].users) == (naive[1].value, naive[1].users)
    assert served.to_html()
    assert str(served)


def test_served_models_that_predict_are_judged_as_if_alone_too() -> None:
    rng = np.random.default_rng(5)
    users, items = np.nonzero(rng.random((USERS, ITEMS)) < 0.8)
    held, values = rng.random(len(users)) < 0.4, rng.integers(1, 6, len(users)).astype(float)
    split = Split(
        *(
            Interactions.from_arrays(users[part], items[part], values=values[part], n_items=ITEMS)
            for part in (~held, held)
        )
    )
    scores = rng.integers(1, 6, (3, USERS, ITEMS)).astype(float)
    models = {f"m{k}": MatrixScorer(scores[k], ratings=True) for k in range(3)}
    served = evaluate(models, split, metrics=["mse", "cg@3"], users="served")
    for name, model in models.items():
        alone = evaluate({name: model}, split, metrics=["mse", "cg@3"])
        assert [row.value for row in rows_of(served, name)] == [row.value for row in rows_of(alone, name)]
    assert len(served.comparisons) == 3 * len(served.settings.pairs)
    assert str(served)


def test_served_models_carry_the_band_of_their_own_users() -> None:
    split, matrix = world()
    one = partial(matrix, list(range(8)), list(range(ITEMS)))
    two = partial(-matrix, list(range(4, 12)), list(range(ITEMS)))
    served = evaluate({"one": one, "two": two}, split, metrics=["auc"], estimators=NAIVE_AND_SNIPS, users="served")
    alone = evaluate({"two": two}, split, metrics=["auc"], estimators=NAIVE_AND_SNIPS)
    ends = [(row.assumed_low, row.assumed_high) for row in (*rows_of(served, "two"), *rows_of(alone, "two"))]
    assert ends[:2] == ends[2:]
    assert ends[1] != (None, None)


def test_models_that_know_other_users_are_also_judged_on_those_whom_all_know() -> None:
    split, matrix = world()
    models = {"whole": MatrixScorer(matrix), "few": partial(-matrix, list(range(6)), list(range(ITEMS)))}
    report = evaluate(models, split, **WEIGHTED)
    common = evaluate(models, split, **WEIGHTED, users="common")
    other = report.on_common_users
    assert other is not None
    assert other.comparisons == common.comparisons
    assert [(row.model, row.value, row.low, row.assumed_low) for row in other.estimates] == [
        (row.model, row.value, row.low, row.assumed_low) for row in common.estimates
    ]
    verdict = report.verdict
    assert verdict.sentence.startswith("“few” has no lists for ")
    assert verdict.common is not None
    assert verdict.common.answer == common.verdict.answer
    said = common.verdict.answer
    assert f"users whom all models know, {said[0].lower()}{said[1:]}" in verdict.sentence
    assert (
        report.to_dict()["verdict"]["common_users"]["users"] == verdict.common_users == len(common.samples.judged.users)
    )
    assert "users whom all models know" in report.to_html()
    assert "on the 6 users whom all models know" in " ".join(str(report).split())
    assert evaluate({"whole": models["whole"], "same": MatrixScorer(-matrix)}, split).on_common_users is None
    assert common.on_common_users is None


def test_served_models_that_share_no_user_are_not_compared() -> None:
    split, matrix = world()
    models = {name: partial(matrix, users, list(range(ITEMS))) for name, users in (("a", [0, 1, 2]), ("b", [7, 8, 9]))}
    report = evaluate(models, split, metrics=["auc"], estimators=NAIVE_AND_SNIPS, users="served")
    assert all(row.difference is None and row.p_value is None for row in report.comparisons)
    assert len(report.comparisons) == 2


def test_an_unknown_user_gains_nothing_under_a_cut_off_and_is_tied_otherwise() -> None:
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=5)
    test = Interactions.from_arrays([0, 1], [1, 1], n_users=2, n_items=5)
    best = np.array([[0.0, 9, 1, 2, 3]])
    models = {
        "all": MatrixScorer(np.repeat(best, 2, axis=0), user_ids=[0, 1], item_ids=range(5)),
        "one": MatrixScorer(best, user_ids=[0], item_ids=range(5)),
    }
    report = evaluate(models, Split(train, test), metrics=["recall@2", "auc"], estimators=["aoa"])
    tied = evaluate(models, Split(train, test), metrics=["recall@2"], estimators=["aoa"], unlisted="tied")
    assert report.value("all", "recall@2", "aoa") == 1
    assert report.value("one", "recall@2", "aoa") == 0.5
    assert tied.value("one", "recall@2", "aoa") == 0.75  # 2 of 4 places for the user whom it does not know
    assert report.value("one", "auc", "aoa") == pytest.approx((1 + (1 / 2 + 1 / 8)) / 2)


def test_a_model_that_answers_few_users_does_not_win_by_it() -> None:
    """It is judged on all users, and the other model keeps its number."""
    split, matrix = world()
    whole = MatrixScorer(matrix)
    few = partial(matrix, [0, 1], list(range(ITEMS)))
    alone = evaluate({"whole": whole}, split, metrics=["recall@3"], estimators=["aoa"]).value(
        "whole", "recall@3", "aoa"
    )
    report = evaluate({"whole": whole, "few": few}, split, metrics=["recall@3"], estimators=["aoa"])
    mine, theirs = (report.value(model, "recall@3", "aoa") for model in ("whole", "few"))
    assert mine == alone
    assert theirs is not None
    assert mine is not None
    assert theirs < mine / 2


def test_the_catalogue_grows_with_the_items_of_all_models() -> None:
    split, matrix = world()
    wide = MatrixScorer(np.c_[matrix, np.zeros((USERS, 2))], item_ids=[*range(ITEMS), 50, 51])
    alone = evaluate({"mine": MatrixScorer(matrix)}, split, metrics=["auc"], estimators=["aoa"])
    together = evaluate({"mine": MatrixScorer(matrix), "wide": wide}, split, metrics=["auc"], estimators=["aoa"])
    assert together.samples.contest is not None
    assert together.samples.contest.catalogue_size == ITEMS + 2
    assert together.value("mine", "auc", "aoa") > alone.value("mine", "auc", "aoa")  # type: ignore[operator]


def test_a_test_item_that_no_model_knows_stays_in_the_denominator() -> None:
    train = Interactions.from_arrays([0, 1], ["a", "b"])
    test = Interactions.from_arrays([0, 0, 1], ["b", "new", "a"])
    report = evaluate({"popular": "popular"}, Split(train, test), metrics=["recall@1"], estimators=["aoa"])
    assert report.value("popular", "recall@1", "aoa") == 0.75


@pytest.mark.parametrize("rule", ["any", "served"])
def test_saved_ranks_follow_the_rule(rule: str) -> None:
    split, matrix = world()
    models = {"one": MatrixScorer(matrix), "two": partial(-matrix, [0, 1, 2, 5], list(range(ITEMS)))}
    live = evaluate(models, split, **WEIGHTED, users=rule)
    contest = prepare_contest(models, split)
    together = {name: rank(model, contest, name=name) for name, model in models.items()}
    apart = {name: rank(model, prepare_contest({name: model}, split), name=name) for name, model in models.items()}
    for saved in (together, apart, {**models, "two": apart["two"]}, {**models, "one": apart["one"]}):
        report = evaluate(saved, split, **WEIGHTED, users=rule)
        assert report.estimates == live.estimates
        assert report.comparisons == live.comparisons


def test_saved_ranks_whose_ties_are_in_an_order_cannot_be_filled() -> None:
    split, matrix = world()
    models = {"one": MatrixScorer(matrix), "two": partial(-matrix, [0, 1, 2], list(range(ITEMS)))}
    apart = {
        name: rank(model, prepare_contest({name: model}, split), name=name, ties="ordinal")
        for name, model in models.items()
    }
    with pytest.raises(DataError, match=r"lack \d users whom other models know"):
        evaluate(apart, split, metrics=["auc"], ties="ordinal")


def test_saved_ranks_of_other_users_are_refused_under_common() -> None:
    split, matrix = world()
    models = {"one": MatrixScorer(matrix), "two": partial(-matrix, [0, 1, 2], list(range(ITEMS)))}
    apart = {name: rank(model, prepare_contest({name: model}, split), name=name) for name, model in models.items()}
    with pytest.raises(DataError, match="of different rows or candidates"):
        evaluate(apart, split, metrics=["auc"], users="common")


def test_rules_that_do_not_exist_or_do_not_apply_are_refused() -> None:
    split, matrix = world()
    with pytest.raises(ConfigError, match="unknown rule users='everybody'"):
        evaluate({"m": MatrixScorer(matrix)}, split, users="everybody")
    exposed = Split(
        split.train,
        Interactions.from_arrays([0, 1], [0, 1], [1, 0], n_users=USERS, n_items=ITEMS),
        candidates="all",
        exposed=True,
    )
    with pytest.raises(ConfigError, match="users=served needs test="):
        evaluate({"m": MatrixScorer(matrix)}, exposed, users="served")


def test_users_whom_some_models_do_not_know_change_no_winner() -> None:
    """Naively "all" is first only because "half" has no lists for half of the users; corrected, "half" is first."""
    answer = Answer("auc", lead("half", "all"), corrects=True, naive=lead("all", "half"))
    assert answer.changes_winner
    split, matrix = world()
    liked = np.zeros_like(matrix)
    liked[split.test.users, split.test.items] = 1
    models = {"all": MatrixScorer(matrix), "half": partial(liked, list(range(6)), list(range(ITEMS)))}
    report = evaluate(models, split, metrics=["recall@3", "auc"])
    for found in report.answers:
        assert not found.changes_winner
        assert found.confirmed or found.swap is not None


def lead(first: str, second: str) -> Standing:
    """One model ahead of another, beyond chance."""
    rows = (
        Estimate(name, "auc", "", "snips", "", value, 0.1, value, 1.0, 0.95, None, None, 9, 0, 0, 99.0, 9.0, 0.1, 0, 0)
        for name, value in ((first, 0.9), (second, 0.8))
    )
    return Standing("snips", tuple(rows), (Comparison("auc", "snips", first, second, 0.1, 0, 1, 0, 0.001),), 0.05, 99.0)
