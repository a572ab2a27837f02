import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.metrics import ATOP, AUC, AUCOfNegatives
from unskew.testing.worlds.scored_users import from_ranks


def test_auc_by_hand():
    # ranks 1 and 3 of 4: 1 - 0/4 and 1 - 2/4; literally 1 - 1/4 and 1 - 3/4
    above, n = np.array([0, 2]), np.array([4, 4])
    np.testing.assert_allclose(AUC().gain(above, n), [1, 0.5])
    np.testing.assert_allclose(AUC(literal=True).gain(above, n), [0.75, 0.25])
    np.testing.assert_allclose(ATOP().gain(above, n), [1, 1 / 3])


def test_a_single_candidate_is_on_top():
    one = np.array([1])
    assert ATOP().gain(np.array([0]), one)[0] == 1
    assert AUC().gain(np.array([0]), one)[0] == 1


def test_auc_of_negatives_is_undefined_without_a_negative():
    assert np.isnan(AUCOfNegatives().values(from_ranks([1, 2, 3], 3))[0])


@given(ranks=st.sets(st.integers(1, 20), min_size=1, max_size=19))
def test_auc_of_negatives_follows_from_atop(ranks):
    # AUC = ((n-1) ATOP - (k-1)/2) / (n-k) without ties
    n, k = 20, len(ranks)
    above = np.array(sorted(ranks)) - 1
    atop = ATOP().gain(above, np.full(k, n)).mean()
    auc = AUCOfNegatives().values(from_ranks(sorted(ranks), n))[0]
    assert auc == pytest.approx(((n - 1) * atop - (k - 1) / 2) / (n - k), abs=1e-12)
