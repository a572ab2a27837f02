"""Rows that repeat: an item that a user has twice in train was seen once."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions, Split, evaluate
from unskew.ranking import MatrixScorer, Ranks, prepare_contest, rank
from unskew.testing.strategies import integer_worlds
from unskew.testing.worlds.integer_worlds import IntegerWorld

RULES = ("unseen", "all", "trained", "sampled(3)")


def repeated(rows: Interactions, times: list[int]) -> Interactions:
    """The same pairs, each as often as it is said, in the vocabularies of `rows`."""
    taken = np.repeat(np.arange(len(rows)), np.resize(times, len(rows)))
    frame = pl.DataFrame({"user": rows.users[taken], "item": rows.items[taken]})
    made = Interactions.from_frame(frame, once=False)
    return made.recode(rows.user_vocabulary, rows.item_vocabulary) if len(taken) else rows


def columns(ranks: Ranks) -> list[list[int]]:
    return [column.tolist() for column in (ranks.users, ranks.items, ranks.above, ranks.tied, ranks.candidates)]


@pytest.mark.parametrize("rule", RULES)
@given(world=integer_worlds(), times=st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_repeated_training_rows_change_no_candidate_and_no_rank(
    rule: str, world: IntegerWorld, times: list[int]
) -> None:
    split = world.split(rule)
    again = Split(repeated(split.train, times), split.test, split.validation, candidates=rule)
    scorer = MatrixScorer(world.matrix)
    try:
        contests = [prepare_contest({"model": scorer}, one) for one in (split, again)]
    except Exception as error:  # noqa: BLE001
        with pytest.raises(type(error)):
            prepare_contest({"model": scorer}, again)
        return
    assert contests[0].candidates.tolist() == contests[1].candidates.tolist()
    first, second = (rank(scorer, contest) for contest in contests)
    assert columns(first) == columns(second)


@given(world=integer_worlds(), times=st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_what_a_user_has_seen_is_a_set(world: IntegerWorld, times: list[int]) -> None:
    train = world.split("unseen").train
    again = repeated(train, times)
    assert [part.tolist() for part in again.by_user] == [part.tolist() for part in train.by_user]
    assert again.seen_counts.tolist() == train.seen_counts.tolist() == train.user_counts.tolist()
    assert (again.to_sparse() != train.to_sparse()).nnz == 0


def test_repeated_test_rows_are_judged_once_and_counted() -> None:
    train = Interactions.from_arrays([0, 1], [0, 1])
    test = Interactions.from_frame(pl.DataFrame({"user": [0, 0, 1], "item": [1, 1, 0]}), once=False)
    split = Split(train, test)
    assert (len(split.test), split.test.duplicates) == (2, 1)
    report = evaluate({"popular": "popular"}, split, metrics=["auc"], estimators=["aoa"])
    assert any("1 repeated (user, item) row" in text for text in report.warnings)


def test_models_learn_from_pairs_and_not_from_how_often_they_are_logged() -> None:
    rows = pl.DataFrame({"user": [0, 0, 0, 1, 2], "item": [0, 0, 0, 1, 1]})
    test = Interactions.from_arrays([0, 1], [1, 0])
    train = Interactions.from_frame(rows, once=False)
    values = [
        evaluate({"m": word}, Split(part, test), metrics=["auc"], estimators=["aoa"]).value("m", "auc", "aoa")
        for word in ("popular", "als(factors=2)", "ease")
        for part in (train, train.distinct())
    ]
    assert values[0::2] == values[1::2]
