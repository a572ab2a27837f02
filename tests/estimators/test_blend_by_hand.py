"""Six pairs worked by hand: dm, dr, blend and the one-step estimate of a slice, as on the page on the blend."""

import numpy as np
import pytest

from unskew.estimators import Blend, Dm, Dr, Estimator, Rows
from unskew.estimators.imputed import SlicedMetric, SlicedModel, SliceRows, blend_with_slice

CHANCES = np.array([[1 / 2, 1 / 4, 1 / 4], [1 / 4, 1 / 8, 1 / 8]])
"""q of two users and three items."""
GAINS = np.array([[1, 1 / 2, 0], [0, 1, 1 / 2]])
"""The gain of each pair: 1, 1/2 and 0 at the ranks 1, 2 and 3, as for auc."""
USER, ITEM = np.array([0, 0, 1]), np.array([0, 1, 2])
"""The held-out rows."""
LABEL = np.array([True, False, True])
EXPOSURE = np.array([1 / 16, 1 / 16, 1 / 256])


def all_held_out() -> Rows:
    """Return the held-out rows with labels, as `Dr` uses them."""
    return Rows(worth=GAINS[USER, ITEM], user=USER, propensity=EXPOSURE, positive=LABEL, imputed=CHANCES[USER, ITEM])


def held_out_positives() -> Rows:
    """Return the two positives with their propensities to the power 0.75, as `Blend` uses them."""
    return Rows(worth=GAINS[USER, ITEM][LABEL], user=USER[LABEL], propensity=EXPOSURE[LABEL] ** 0.75)


def candidates(logged: Rows | None = None, *, kind: str = "mean") -> Rows:
    """Return one row per user, with the sums over the user's candidates."""
    mass = CHANCES.sum(axis=1)
    return Rows(
        worth=(CHANCES * GAINS).sum(axis=1),
        user=np.arange(2),
        size=mass if kind == "mean" else None,
        total=np.array([3.0, 3.0]),
        mass=mass,
        logged=logged,
    )


def sliced() -> SlicedMetric:
    """Return the comparison with a slice of three rows: user 1 with b, positive, and user 2 with b and a."""
    user, item = np.array([0, 1, 1]), np.array([1, 1, 0])
    rows = SliceRows(
        user=user,
        positive=np.array([True, False, False]),
        chance=CHANCES[user, item],
        candidates=6,
        mass=float(CHANCES.sum()),
        users=2,
        logged_user=USER[LABEL],
        logged_weight=np.array([8, 64]) / 72,
    )
    model = SlicedModel(Dm().terms(candidates(), "mean"), GAINS[user, item], GAINS[USER, ITEM][LABEL])
    spread = CHANCES * (1 - CHANCES)
    first, second = (np.array([(spread * GAINS**power).sum()]) for power in (1, 2))
    return blend_with_slice([model], rows, (float(spread.sum()), first, second[None]), mean=True)


@pytest.mark.parametrize(
    ("estimator", "logged", "value"),
    [
        (Dm(), None, 13 / 24),
        (Dr(), all_held_out(), 17 / 32),
        (Blend(), held_out_positives(), 79 / 144),
    ],
    ids=str,
)
def test_a_mean_over_six_pairs_is_that_worked_by_hand(estimator: Estimator, logged: Rows | None, value: float) -> None:
    assert estimator.terms(candidates(logged), "mean").value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("estimator", "logged", "value"),
    [
        (Dm(), None, 13 / 16 / 2),
        (Dr(), all_held_out(), 51 / 16 / 2),
        (Blend(), held_out_positives(), (13 / 32 + 3 / 4 * 5 / 9) / 2),
    ],
    ids=str,
)
def test_a_sum_per_user_is_that_worked_by_hand(estimator: Estimator, logged: Rows | None, value: float) -> None:
    """The sums are over two users, who have 3/4 relevant items each on average."""
    assert estimator.terms(candidates(logged, kind="sum"), "sum").value == pytest.approx(value, rel=1e-12)


def test_the_largest_weight_of_dr_is_capped_at_ten_medians() -> None:
    """Inverse chances are 16, 16 and 256; 256 becomes 160, and 6 / 192 makes them add up to the six candidates."""
    np.testing.assert_allclose(Dr().row_weights(EXPOSURE, 6), [1 / 2, 1 / 2, 5], rtol=1e-12)
    np.testing.assert_allclose(Dr(cap=100).row_weights(EXPOSURE, 6), [1 / 3, 1 / 3, 16 / 3], rtol=1e-12)


def test_errors_by_user_are_those_worked_by_hand() -> None:
    r"""Dm has the sums 5/8 and 3/16 of q c, and 1 and 1/2 of q.

    So the users add :math:`\pm (5/8 - 13/24) / (3/2) = \pm 1/18` to the error. The weighted rows add
    :math:`\pm 8 (1 - 5/9) / 72 = \pm 4/81`, and the mean of both is 17/324.
    """
    direct = Dm().terms(candidates(), "mean")
    np.testing.assert_allclose(direct.influence, [1 / 18, -1 / 18], rtol=1e-12)
    assert direct.std_error == pytest.approx(1 / 9, rel=1e-12)
    blend = Blend().terms(candidates(held_out_positives()), "mean")
    np.testing.assert_allclose(blend.influence, [17 / 324, -17 / 324], rtol=1e-12)
    assert blend.std_error == pytest.approx(17 / 162, rel=1e-12)


def test_a_slice_of_three_rows_is_compared_as_worked_by_hand() -> None:
    metric = sliced()
    assert metric.direct == pytest.approx([13 / 24], rel=1e-12)
    assert metric.tilted == pytest.approx([5 / 9], rel=1e-12)
    assert metric.base == pytest.approx([79 / 144], rel=1e-12)
    assert metric.one_step == pytest.approx([29 / 48], rel=1e-12)
    assert metric.variance == pytest.approx(np.array([[127 / 768]]), rel=1e-12)
    assert metric.base_variance == pytest.approx(np.array([[2 * (17 / 324) ** 2]]), rel=1e-12)


def test_one_positive_hardly_moves_the_blend() -> None:
    """The share of the way is 1/2 if the blend is worth 1 positive, and 1/101 if it is worth 100."""
    metric = sliced()
    shrunk = metric.shrunk(metric.design_effect)
    assert 1 / 101 < shrunk.share < 1 / 10
    assert shrunk.value == pytest.approx([79 / 144 + shrunk.share / 18], rel=1e-12)
