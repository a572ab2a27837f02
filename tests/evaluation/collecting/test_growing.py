"""Users in a random order, drawn as far as they are needed: the order, and users who cannot be judged."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.errors import ConfigError, DataError
from unskew.evaluation.collecting.growing import RandomOrder
from unskew.ranking import MatrixScorer
from unskew.ranking.contest import plan_contest, prepare_contest

USERS, ITEMS = 900, 30
OPTIONS: dict[str, Any] = {"metrics": ["recall@5"], "estimators": ["aoa"], "until": "width<0.15"}


def world(seed: int = 0, *, overlap: float = 0.1) -> tuple[MatrixScorer, Split]:
    """Ratings of 1 to 5; some test rows are also in train, and the model knows every third user less."""
    rng = np.random.default_rng(seed)
    train, test = rng.random((USERS, ITEMS)) < 0.2, rng.random((USERS, ITEMS)) < 0.1
    test &= ~train | (rng.random(train.shape) < overlap)
    parts = [
        Interactions.from_arrays(*np.nonzero(mask), rng.integers(1, 6, mask.sum()), n_users=USERS, n_items=ITEMS)
        for mask in (train, test)
    ]
    known = np.flatnonzero(np.arange(USERS) % 3)
    return MatrixScorer(rng.normal(size=(len(known), ITEMS)), user_ids=known), Split(*parts)


@pytest.mark.parametrize("total", [1, 2, 7, 200])
def test_the_order_has_every_number_once_however_it_is_drawn(total: int) -> None:
    order, at_once = RandomOrder(total, [3]), RandomOrder(total, [3])
    while len(order.drawn) < total:
        assert len(order.draw(1 + total // 3)) > 0
    assert sorted(order.drawn) == list(range(total))
    assert len(order.draw(5)) == 0
    np.testing.assert_array_equal(np.sort(at_once.draw(total)), np.arange(total))


def test_all_orders_are_equally_likely() -> None:
    orders = [tuple(RandomOrder(3, [seed]).draw(3)) for seed in range(3000)]
    counts = [orders.count(order) for order in sorted(set(orders))]
    assert len(counts) == 6
    assert min(counts) > 420  # 500 on average, with a standard deviation of 20


def test_the_contest_of_some_users_has_the_rows_of_the_contest_of_all() -> None:
    model, split = world()
    for candidates in ("unseen", "all", "trained", "listed"):
        ruled = split.with_candidates(candidates)
        plan = plan_contest({"mine": model}, ruled, positive="rating>=4")
        whole = prepare_contest({"mine": model}, ruled, positive="rating>=4")
        some = ruled.tested_users[::7]
        part = plan.contest(some)
        chosen = np.flatnonzero(np.isin(whole.users, some))
        np.testing.assert_array_equal(part.users, whole.users[chosen])
        np.testing.assert_array_equal(part.candidates, whole.candidates[chosen])
        rows = np.isin(whole.row_users, some)
        for column in ("items", "columns", "values"):
            np.testing.assert_array_equal(getattr(part, column), getattr(whole, column)[rows])
        halves = plan.contest(ruled.tested_users[::2]).dropped, plan.contest(ruled.tested_users[1::2]).dropped
        assert {why: halves[0][why] + halves[1][why] for why in whole.dropped} == dict(whole.dropped)


def test_users_who_cannot_be_judged_are_drawn_and_counted() -> None:
    model, split = world()
    report = evaluate({"mine": model}, split, positive="rating>=4", **OPTIONS)
    stop, sample = report.stop, report.samples.judged
    assert stop is not None
    assert stop.met
    assert 200 <= len(sample.users) < stop.users < stop.of == len(split.tested_users)
    assert {row.users for row in report.estimates} == {len(sample.users)}
    assert sample.dropped["users"] == stop.users - len(sample.users)
    assert sample.dropped["unknown_users"] > 0
    assert len(np.unique(report.inputs.split.test.users)) == stop.users
    part = Split(split.train, split.test.take(np.isin(split.test.users, report.inputs.split.test.users)))
    options = {**OPTIONS, "until": None, "interval": report.run["interval"]}
    whole = evaluate({"mine": model}, part, positive="rating>=4", **options)
    assert report.estimates == whole.estimates
    assert report.run["data"] == whole.run["data"]


def test_a_test_without_any_row_to_judge_is_refused_as_without_a_rule() -> None:
    model, split = world()
    for changes in ({"positive": "rating>=9"}, {"candidates": "unseen"}):
        rows = split.test if "positive" in changes else split.train
        messages = []
        for until in (None, "width<0.1"):
            with pytest.raises(DataError) as error:
                evaluate({"mine": model}, Split(split.train, rows), **{**OPTIONS, "until": until, **changes})
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_an_estimator_that_counts_users_without_rows_is_refused() -> None:
    model, split = world(overlap=0)
    test = replace(split.test, propensity=np.full(len(split.test), 0.5))
    options = {**OPTIONS, "metrics": ["dcg@5"], "estimators": ["ips"], "propensity": "column"}
    with pytest.raises(ConfigError, match="ips counts users without a held-out row as 0"):
        evaluate({"mine": model}, Split(split.train, test), **options)


def test_the_counts_and_orders_of_a_log_are_kept_for_the_next_evaluation() -> None:
    model, split = world()
    first = evaluate({"mine": model}, split, **OPTIONS)
    assert first.inputs.split.train is split.train
    assert "by_user" in split.train.__dict__
    assert Split(split.train, split.test).train is split.train
