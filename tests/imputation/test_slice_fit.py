"""Chances fitted to random rows: cross-fitting, a base that is kept or recalibrated, and logs of positives."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.imputation import FromSlice, Imputation, LabelledRows, fit_to_slice
from unskew.logistic import fit_logistic, log_odds, sigmoid

USERS, ITEMS = 40, 30


@dataclass(frozen=True, eq=False)
class Dense:
    """Chances, or columns, of all pairs."""

    values: Floats

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        return np.asarray(self.values[users, items])

    def block(self, users: Ints, items: Ints, /) -> Floats:
        return np.asarray(self.values[np.ix_(users, items)])

    def block_logits(self, users: Ints, items: Ints, /) -> Floats:
        return log_odds(self.block(users, items))


def world(seed: int, rows: int = 300) -> tuple[Dense, Floats, LabelledRows]:
    """Two columns, the log-odds of relevance, and labelled random pairs."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(USERS, ITEMS, 2))
    logits = -1 + columns @ np.array([0.8, -0.4])
    cells = rng.choice(USERS * ITEMS, rows, replace=False)
    users, items = cells // ITEMS, cells % ITEMS
    label = (rng.random(rows) < sigmoid(logits[users, items])).astype(float)
    return Dense(columns), logits, LabelledRows(users, items, label, USERS, ITEMS, "slice")


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), based=st.booleans())
def test_a_row_of_the_slice_is_scored_by_a_regression_that_did_not_see_it(seed: int, *, based: bool) -> None:
    columns, logits, rows = world(seed)
    base = Dense(sigmoid(logits + 0.3)) if based else None
    fitted = fit_to_slice(columns, rows, base=base, seed=seed)
    x = (columns.rows(rows.users, rows.items) - fitted.center) / fitted.scale
    offset = log_odds(base.rows(rows.users, rows.items)) if base else np.zeros(len(x))
    order = np.argsort(rows.users * ITEMS + rows.items)
    fold = np.empty(len(x), int)
    fold[order] = fitted.fold
    chances = fitted.rows(rows.users, rows.items)
    for k in range(5):
        kept = fold != k
        fit = fit_logistic(x[kept], rows.label[kept], offset=offset[kept], penalty=1.0)
        np.testing.assert_allclose(chances[~kept], sigmoid(fit.logits(x[~kept]) + offset[~kept]), atol=1e-8)


def test_other_pairs_are_scored_by_the_regression_of_all_rows() -> None:
    columns, _, rows = world(1)
    fitted = fit_to_slice(columns, rows)
    block = fitted.block(np.arange(USERS), np.arange(ITEMS))
    other = np.ones((USERS, ITEMS), bool)
    other[rows.users, rows.items] = False
    np.testing.assert_allclose(fitted.rows(*np.nonzero(other)), block[other])
    assert not np.allclose(fitted.rows(rows.users, rows.items), block[rows.users, rows.items])


def test_a_large_penalty_and_a_calibrated_base_leave_the_base() -> None:
    """Without slopes only the intercept is left, and its error is that of 1,000 rows: 5 of them are the tolerance."""
    columns, logits, rows = world(2, 1000)
    base = Dense(sigmoid(logits))
    fitted = fit_to_slice(columns, rows, base=base, penalty=1e9)
    moved = log_odds(fitted.block(np.arange(USERS), np.arange(ITEMS))) - logits
    error = 1 / np.sqrt(np.sum(base.rows(rows.users, rows.items) * (1 - base.rows(rows.users, rows.items))))
    assert np.ptp(moved) < 1e-4
    assert abs(moved.mean()) < 5 * error


def test_a_base_that_already_fits_the_slice_is_returned() -> None:
    """A base whose errors on the slice are orthogonal to all columns leaves nothing to learn."""
    columns, _, rows = world(3)
    first = fit_to_slice(columns, rows, penalty=1e-9)
    base = Dense(first.block(np.arange(USERS), np.arange(ITEMS)))
    again = fit_to_slice(columns, rows, base=base, penalty=5.0)
    np.testing.assert_allclose(again.block(np.arange(USERS), np.arange(ITEMS)), base.values, atol=1e-6)


@pytest.mark.parametrize("shift", [-2.0, 1.0, 3.0])
def test_a_base_that_is_off_by_a_constant_is_recalibrated(shift: float) -> None:
    columns, logits, rows = world(4, 1000)
    fitted = fit_to_slice(columns, rows, base=Dense(sigmoid(logits + shift)))
    chances = fitted.block(np.arange(USERS), np.arange(ITEMS))
    assert chances[rows.users, rows.items].mean() == pytest.approx(rows.label.mean(), abs=1e-6)
    moved = log_odds(chances) - (logits + shift)
    assert moved.mean() == pytest.approx(-shift, abs=0.5)  # five standard errors of 1,000 rows


def test_the_fit_of_a_slice_meets_its_rate() -> None:
    columns, _, rows = world(5)
    fitted = fit_to_slice(columns, rows, penalty=1 / 0.3)
    block = fitted.block(np.arange(USERS), np.arange(ITEMS))
    assert block[rows.users, rows.items].mean() == pytest.approx(rows.label.mean(), abs=1e-6)


def test_a_constant_column_does_not_matter() -> None:
    columns, _, rows = world(6)
    wider = Dense(np.concatenate([columns.values, np.ones((USERS, ITEMS, 1))], axis=2))
    plain, other = fit_to_slice(columns, rows), fit_to_slice(wider, rows)
    np.testing.assert_allclose(
        plain.block(np.arange(USERS), np.arange(ITEMS)), other.block(np.arange(USERS), np.arange(ITEMS)), atol=1e-7
    )


@pytest.mark.parametrize("positives", [0, 1, 2])
def test_few_or_no_positives_give_finite_chances(positives: int) -> None:
    columns, logits, rows = world(7, 30)
    label = (np.arange(30) < positives).astype(float)
    rows = LabelledRows(rows.users, rows.items, label, USERS, ITEMS, "slice")
    for base in (None, Dense(sigmoid(logits))):
        fitted = fit_to_slice(columns, rows, base=base)
        chances = fitted.block(np.arange(USERS), np.arange(ITEMS))
        assert np.isfinite(chances).all()
        assert np.isfinite(fitted.rows(rows.users, rows.items)).all()
        assert chances.mean() < 0.5


@pytest.mark.parametrize("positive", [False, True])
def test_rows_of_one_label_say_how_rare_the_other_is(*, positive: bool) -> None:
    """Half a row of each label is added, so the rate of 30 rows is half a row of 31, with an error of its own."""
    columns, _, rows = world(7, 30)
    rows = LabelledRows(rows.users, rows.items, np.full(30, float(positive)), USERS, ITEMS, "slice")
    fitted = fit_to_slice(columns, rows, penalty=1e6)
    other = fitted.block(np.arange(USERS), np.arange(ITEMS))
    np.testing.assert_allclose(1 - other if positive else other, 0.5 / 31, rtol=1e-3)
    assert fitted.whole.covariance[0, 0] == pytest.approx(1 / (31 * (0.5 / 31) * (30.5 / 31)), rel=1e-3)


def test_a_seed_decides_the_folds() -> None:
    columns, _, rows = world(8)
    once, again, other = (fit_to_slice(columns, rows, seed=seed).rows(rows.users, rows.items) for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_the_word_slice_is_an_imputation_that_needs_columns() -> None:
    assert Imputation.from_word("slice") == FromSlice()
    empty = np.empty(0, int)
    with pytest.raises(ConfigError, match="is learnt from random rows"):
        FromSlice().fit(LabelledRows(empty, empty, np.empty(0), 1, 1))
