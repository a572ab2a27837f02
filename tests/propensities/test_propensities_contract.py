"""What every propensity owes, by the contract, and what each of them is by its formula."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.errors import ConfigError, PropensityError
from unskew.propensities import (
    Boosted,
    Column,
    Combined,
    Exposure,
    Logistic,
    NaiveBayes,
    Popularity,
    PropensityModel,
    Uniform,
)
from unskew.testing import check_propensity
from unskew.testing.contracts.propensity_contract import propensity_logs

USERS = pl.DataFrame({"user": range(30), "age": [code % 7 for code in range(30)]})
ITEMS = pl.DataFrame({"item": range(22), "kind": ["abc"[code % 3] for code in range(22)]})
MCAR = np.arange(60) % 5 + 1

MODELS = [
    Uniform(),
    Popularity(),
    Popularity(1.5, 0),
    Popularity(-2),
    Popularity(-1),
    Popularity(3, 5),
    Column(),
    NaiveBayes(MCAR),
    NaiveBayes(MCAR, clip=0.5),
    Logistic(USERS, ITEMS, penalty=1),
    Combined(users=USERS, mcar=MCAR, penalty=1),
    Boosted(USERS, ITEMS, trees=3),
    Exposure(),
    Exposure(power=1, users=USERS, items=ITEMS),
]


def test_every_registered_propensity_is_tried_here() -> None:
    assert {type(model) for model in MODELS} == set(PropensityModel.members())


def test_uniform_is_the_same_for_all_and_not_absolute() -> None:
    fitted = Uniform().fit(*propensity_logs())
    assert fitted(np.arange(3), np.arange(3)).tolist() == [1, 1, 1]
    assert not fitted.absolute


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_every_propensity_keeps_the_contract(model: PropensityModel, seed: int) -> None:
    check_propensity(model, seed=seed)


@given(gamma=st.floats(-3, 3), smoothing=st.floats(0.01, 10))
def test_popularity_is_a_power_of_the_training_count(gamma: float, smoothing: float) -> None:
    """Yang et al. 2018, with smoothing: ((n + s) / max)^((gamma + 1) / 2), scaled to a maximum of 1."""
    train, _ = propensity_logs()
    fitted = Popularity(gamma, smoothing).fit(train, train)
    powers = [(count + smoothing) ** ((gamma + 1) / 2) for count in train.item_counts.tolist()]
    assert fitted.by_item == pytest.approx([power / max(powers) for power in powers], rel=1e-9)


def test_the_exponent_is_derived_not_as_printed() -> None:
    """gamma 0 is the square root of the count, 1 the count itself, -1 no correction (Yang et al. 2018)."""
    train = Interactions.from_arrays(np.arange(5), [0, 0, 0, 0, 1], n_users=5, n_items=2)
    by_gamma = {g: float(Popularity(g, smoothing=0).fit(train, train).by_item[1]) for g in (-1, 0, 1, 3)}
    assert by_gamma == pytest.approx({-1: 1, 0: 1 / 2, 1: 1 / 4, 3: 1 / 16})


def test_smoothing_keeps_items_never_seen_in_training_and_zero_drops_them() -> None:
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 1], n_users=3, n_items=3)
    kept = Popularity().fit(train, train)
    assert kept.by_item == pytest.approx(np.sqrt([1, 2 / 3, 1 / 3]))
    dropped = Popularity(smoothing=0).fit(train, train)
    assert np.isnan(dropped.by_item[2])
    assert dropped.by_item[:2] == pytest.approx(np.sqrt([1, 1 / 2]))


@pytest.mark.parametrize("gamma", [-1, -2.5])
def test_smoothing_zero_drops_unseen_items_at_any_gamma(gamma: float) -> None:
    """Also where a power of 0 would be 1 or infinite."""
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 1], n_users=3, n_items=3)
    fitted = Popularity(gamma, smoothing=0).fit(train, train)
    assert np.isnan(fitted.by_item).tolist() == [False, False, True]
    assert np.nanmax(fitted.by_item) == 1


@pytest.mark.parametrize(
    "word", ["popularity(gamma=nan)", "popularity(gamma=inf)", "popularity(smoothing=-1)", "popularity(smoothing=inf)"]
)
def test_impossible_options_are_refused(word: str) -> None:
    with pytest.raises(ConfigError, match="must be"):
        PropensityModel.from_word(word)


def test_a_propensity_that_would_vanish_is_refused() -> None:
    train = Interactions.from_arrays(np.arange(100), [0] * 99 + [1], n_users=100, n_items=3)
    with pytest.raises(PropensityError, match="vanish in floating point; use a smaller gamma"):
        Popularity(gamma=1000).fit(train, train)


def test_no_training_row_gives_no_popularity() -> None:
    empty = Interactions.from_arrays([], [], n_users=1, n_items=2)
    with pytest.raises(PropensityError, match="needs training rows"):
        Popularity(smoothing=0).fit(empty, empty)


def test_the_column_is_looked_up_by_user_and_item() -> None:
    test = Interactions.from_arrays([2, 0, 2], [1, 1, 0], propensity=[0.1, 0.2, 0.3], n_users=3, n_items=2)
    fitted = Column().fit(test, test)
    assert fitted.absolute
    values = fitted(np.array([0, 2, 2, 1]), np.array([1, 0, 1, 1]))
    assert values[:3].tolist() == [0.2, 0.3, 0.1]
    assert np.isnan(values[3])


def test_a_column_that_is_not_there_is_refused() -> None:
    test = Interactions.from_arrays([0], [0], name="test.csv")
    with pytest.raises(
        PropensityError, match=r"test\.csv has no column 'propensity', which the propensity 'column' needs"
    ):
        Column().fit(test, test)


@pytest.mark.parametrize(
    ("word", "says"), [("popularty", "did you mean 'popularity'"), ("popularity(gama=1)", "did you mean 'gamma'")]
)
def test_unknown_words_are_refused_with_the_nearest(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        PropensityModel.from_word(word)
