"""Chances of relevance from the labels of a log: rates, leave-one-out, unknown items, refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unskew.arrays import Floats
from unskew.errors import ConfigError, DataError
from unskew.imputation import Imputation, LabelledRows, Labels
from unskew.logistic import fit_logistic, log_odds, sigmoid


def logit(chance: float) -> float:
    return math.log(chance / (1 - chance))


def log_of(seed: int, users: int = 12, items: int = 9, rows: int = 60) -> LabelledRows:
    """Distinct pairs with labels; the last user and the last item have no row."""
    rng = np.random.default_rng(seed)
    cells = rng.choice((users - 1) * (items - 1), rows, replace=False)
    label = (rng.random(rows) < 0.4).astype(float)
    return LabelledRows(cells // (items - 1), cells % (items - 1), label, users, items, "log")


def rate(log: LabelledRows, prior: float, *, user: int | None = None, item: int | None = None, skip: int = -1) -> float:
    """The smoothed rate of a user or of an item, without one row."""
    overall = sum(log.label) / len(log.label)
    count = positives = 0.0
    for row in range(len(log.label)):
        same = (user is None or log.users[row] == user) and (item is None or log.items[row] == item)
        if same and row != skip:
            count += 1
            positives += log.label[row]
    return (positives + prior * overall) / (count + prior)


def slow_columns(log: LabelledRows, prior: float) -> Floats:
    """The columns of each row, without the row itself in its rates."""
    return np.array(
        [
            [
                logit(rate(log, prior, item=int(i), skip=row)),
                logit(rate(log, prior, user=int(u), skip=row)),
                math.log1p(sum(log.items == i)),
            ]
            for row, (u, i) in enumerate(zip(log.users, log.items, strict=True))
        ]
    )


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), prior=st.sampled_from([0.5, 5.0, 40.0]))
def test_chances_are_those_of_loops_over_the_rows(seed: int, prior: float) -> None:
    log = log_of(seed)
    assume(0 < log.label.sum() < len(log.label))
    fitted = Labels(prior).fit(log)
    fit = fit_logistic(slow_columns(log, prior), log.label)
    for user in range(log.n_users):
        for item in range(log.n_items):
            features = [logit(rate(log, prior, item=item)), logit(rate(log, prior, user=user))]
            want = fit.intercept + fit.slopes @ [*features, math.log1p(sum(log.items == item))]
            got = fitted.logits(np.array([user]), np.array([item]))[0]
            # relative too: the top is flat where rows are separated, and log-odds of 30 are sharp to their size only
            assert got == pytest.approx(want, rel=1e-6, abs=1e-6)


def test_the_log_odds_are_a_part_of_the_user_plus_a_part_of_the_item() -> None:
    fitted = Labels().fit(log_of(1))
    block = fitted.block_logits(np.arange(12), np.arange(9))
    np.testing.assert_allclose(block - block[:1] - block[:, :1] + block[0, 0], 0, atol=1e-12)
    users, items = np.indices((12, 9)).reshape(2, -1)
    np.testing.assert_allclose(fitted.rows(users, items).reshape(12, 9), fitted.block(np.arange(12), np.arange(9)))
    np.testing.assert_allclose(fitted.block(np.arange(12), np.arange(9)), sigmoid(block))


@given(st.lists(st.floats(-400, 400), min_size=1, max_size=9), st.lists(st.floats(-400, 400), min_size=1, max_size=9))
def test_a_block_has_32_bits_of_the_chances_of_its_pairs(users: list[float], items: list[float]) -> None:
    fitted = replace(Labels().fit(log_of(1)), by_user=np.array(users), by_item=np.array(items))
    rows, columns = np.indices((len(users), len(items))).reshape(2, -1)
    block = fitted.block(np.arange(len(users)), np.arange(len(items)))
    assert block.dtype == np.float32
    within = np.maximum(np.abs(users)[rows], np.abs(items)[columns]) <= 300  # parts that need not be cut off
    want = fitted.rows(rows, columns)
    np.testing.assert_allclose(block.ravel()[within], want[within], rtol=1e-6, atol=1e-37)
    assert np.isfinite(block).all()


def test_an_item_whose_rows_are_all_positive_has_a_chance_below_1_and_above_the_others() -> None:
    rng = np.random.default_rng(0)
    users, items = np.indices((40, 6)).reshape(2, -1)
    label = (rng.random(240) < 0.2 + 0.1 * items).astype(float)
    label[items == 5] = 1
    fitted = Labels().fit(LabelledRows(users, items, label, 40, 6))
    chances = fitted.block(np.arange(40), np.arange(6))
    assert (chances > 0).all()
    assert (chances < 1).all()
    assert (chances[:, 5] > chances[:, :5].max(axis=1)).all()


def test_an_item_that_the_log_does_not_have_has_the_overall_rate_and_no_count() -> None:
    log = log_of(2)
    fitted = Labels().fit(log)
    overall = log_odds(np.array([log.label.mean()]))[0]
    for user in range(12):
        want = fitted.by_user[user] + fitted.fit.slopes[0] * overall
        np.testing.assert_allclose(fitted.logits(np.array([user]), np.array([-1])), want)
    # an item of the vocabulary without a row is the same: count 0 and the overall rate
    np.testing.assert_allclose(fitted.block(np.arange(12), np.array([-1])), fitted.block(np.arange(12), np.array([8])))


def test_a_user_without_rows_has_the_overall_rate() -> None:
    log = log_of(3)
    fitted = Labels().fit(log)
    overall = log_odds(np.array([log.label.mean()]))[0]
    assert fitted.by_user[11] == pytest.approx(fitted.fit.intercept + fitted.fit.slopes[1] * overall)


def test_the_mean_chance_of_the_fitted_rows_is_near_the_rate() -> None:
    """The regression meets the rate exactly with the rates without each row; the chances have the row in them."""
    log = log_of(4, 60, 50, 900)
    assert Labels().fit(log).rows(log.users, log.items).mean() == pytest.approx(log.label.mean(), abs=0.03)


@pytest.mark.parametrize(("label", "kind"), [(1.0, "positive"), (0.0, "negative")])
def test_labels_that_are_all_the_same_are_refused_with_a_hint(label: float, kind: str) -> None:
    rows = LabelledRows(np.zeros(3, int), np.arange(3), np.full(3, label), 1, 3, "train.csv")
    with pytest.raises(DataError, match=rf"^train\.csv: all 3 rows are {kind}, .*pass all rows, or use snips"):
        Labels().fit(rows)


@pytest.mark.parametrize("prior", [0, -1, np.inf, np.nan])
def test_a_prior_that_means_nothing_is_refused(prior: float) -> None:
    with pytest.raises(ConfigError, match="must be above 0; it is a number of rows, 5 by default"):
        Labels(prior)


def test_it_reads_and_prints_its_option() -> None:
    assert Imputation.from_word("labels") == Labels()
    assert Imputation.from_word("labels(20)") == Labels(20.0)
    assert str(Labels()) == "labels"
    assert Imputation.from_word(str(Labels(20.0))) == Labels(20.0)
    with pytest.raises(ConfigError, match="did you mean 'labels'"):
        Imputation.from_word("label")
