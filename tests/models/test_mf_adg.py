"""The costs of MF-ADG: what a rank loses, and which rank a number of draws stands for (Lim et al. 2015, section 4)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.metrics import parse_metric
from unskew.models import MfAdg, MfAuc, Model
from unskew.models.mf_adg import rank_cost


def test_the_cost_of_the_first_ranks():
    assert rank_cost([0, 1, 2, 3]) == pytest.approx([0, 0.3691, 0.5, 0.5693], abs=5e-5)


def test_the_cost_is_a_sum_of_decreasing_positive_steps():
    steps = np.diff(rank_cost(np.arange(100_000)))
    assert np.all(steps > 0)
    assert np.all(np.diff(steps) < 0)
    assert np.cumsum(steps)[99] == pytest.approx(rank_cost(100))


def test_adg_is_one_minus_the_mean_cost():
    above = np.array([0, 3, 7, 400])
    gains = parse_metric("adg").row_gains(above, np.zeros(4, dtype=int), np.full(4, 500))
    assert gains == pytest.approx(1 - rank_cost(above))


@given(st.integers(2, 20_000), st.floats(1, 2000))
def test_the_rank_of_a_number_of_draws_is_in_range_and_the_cost_below_one(n_items, gamma):
    model = MfAdg(gamma=gamma)
    costs = model.costs(n_items)
    assert len(costs) == model.budget(n_items) == np.ceil((n_items - 1) / gamma)
    assert costs[0] == rank_cost(n_items - 1)  # a violator found at once: all others may stand above
    assert np.all((costs >= 0) & (costs < 1))
    assert np.all(np.diff(costs) <= 0)
    ranks = (n_items - 1) // np.arange(1, len(costs) + 1)
    assert np.all(ranks <= n_items - 1)
    # giving up in time leaves alone what is estimated to stand among the first gamma, but for the last draw
    assert np.all(ranks[:-1] >= np.floor(gamma))


def test_ten_items_by_hand():
    """Nine others; gamma 3 allows three draws, for ranks 9, 4 and 3."""
    assert MfAdg(gamma=3).costs(10) == pytest.approx([1 - 1 / np.log2(11), 1 - 1 / np.log2(6), 1 - 1 / np.log2(5)])
    assert len(MfAdg(gamma=1).costs(10)) == 9
    assert len(MfAdg().costs(10)) == 1  # gamma beyond the catalogue: one draw


def test_mf_auc_draws_once_at_full_cost():
    assert MfAuc().costs(1000).tolist() == [1.0]


@pytest.mark.parametrize("word", ["mf-adg(gamma=0.99)", "mf-adg(gamma=0)", "mf-adg(gamma=-3)", "mf-adg(gamma=inf)"])
def test_a_gamma_below_one_is_refused(word):
    with pytest.raises(ConfigError, match=r"mf-adg\(gamma=.*\): expected a finite number of at least 1"):
        Model.from_word(word)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": 0}, r"mf-adg\(init=0\): expected a finite number above 0"),
        ({"learning_rate": 2, "regularisation": 0.5}, "learning-rate times regularisation must be below 1"),
        ({"iterations": 0}, r"mf-adg\(iterations=0\): expected a whole number of at least 1"),
        ({"factors": 2.5}, r"mf-adg\(factors=2.5\)"),
        ({"tune": True, "learning_rate": 1}, "tune chooses learning-rate and regularisation; leave them out"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        MfAdg(**options)
