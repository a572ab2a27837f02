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
        (Blend(rows=0), held_out_positives(), 79 / 144),
        (Blend(rows=81 / 65), held_out_positives(), (3 * 13 / 24 + 5 / 9) / 4),
        (Blend(), held_out_positives(), 13 / 24 + 81 / 13162 * (5 / 9 - 13 / 24)),
    ],
    ids=str,
)
def test_a_mean_over_six_pairs_is_that_worked_by_hand(estimator: Estimator, logged: Rows | None, value: float) -> None:
    """The weights 8 and 64 count as 72^2 / (8^2 + 64^2) = 81/65 rows."""
    assert estimator.terms(candidates(logged), "mean").value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("estimator", "logged", "value"),
    [
        (Dm(), None, 13 / 16 / 2),
        (Dr(), all_held_out(), 51 / 16 / 2),
        (Blend(rows=0), held_out_positives(), (13 / 32 + 3 / 4 * 5 / 9) / 2),
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
    blend = Blend(rows=0).terms(candidates(held_out_positives()), "mean")
    np.testing.assert_allclose(blend.influence, [17 / 324, -17 / 324], rtol=1e-12)
    assert blend.std_error == pytest.approx(17 / 162, rel=1e-12)


def test_a_slice_of_three_rows_is_compared_as_worked_by_hand() -> None:
    """The users add 1/18 and 4/81 to the errors of the two sources, with both signs, as above."""
    metric = sliced()
    np.testing.assert_allclose(metric.sources, [[13 / 24], [5 / 9]], rtol=1e-12)
    assert metric.one_step == pytest.approx([29 / 48], rel=1e-12)
    assert metric.variance == pytest.approx(np.array([[127 / 768]]), rel=1e-12)
    both = np.array([1 / 18, 4 / 81])
    np.testing.assert_allclose(metric.over_users[:, :, 0, 0], 2 * np.outer(both, both), rtol=1e-12)
    np.testing.assert_array_equal(metric.through_slice[:, 0, 0], [0, 0])  # neither is fitted to the slice


def test_given_worths_of_100_the_slice_has_a_weight_of_1_in_401() -> None:
    r"""Without errors over users the biases have the variance V / 100, and a correlation of -1/2.

    By symmetry the sources have the same weight, and their mean has the variance V / 400. So the weights of mean and
    slice are as 400 to 1.
    """
    errors = np.array([[1 / 100, -1 / 200, 0], [-1 / 200, 1 / 100, 0], [0, 0, 1]])
    weights = np.linalg.solve(errors, np.ones(3))
    np.testing.assert_allclose(weights / weights.sum(), [200 / 401, 200 / 401, 1 / 401], rtol=1e-12)


def test_one_positive_hardly_moves_the_blend() -> None:
    """The posterior over 15 x 15 worths, one after the other with fractions of V."""
    metric = sliced()
    effect = max(1.0, metric.design_effect)
    variance = 127 / 768 * effect
    gaps = np.array([13 / 24 - 29 / 48, 5 / 9 - 29 / 48])
    estimates = np.array([13 / 24, 5 / 9, 29 / 48])
    users = 2 * np.outer([1 / 18, 4 / 81], [1 / 18, 4 / 81]) / variance
    chances, weights = [], []
    for of_imputation in 10 ** (np.arange(15) / 4):
        for of_rows in 10 ** (np.arange(15) / 4):
            crossed = -0.5 / np.sqrt(of_imputation * of_rows)
            errors = np.eye(3)
            biases = np.array([[1 / of_imputation, crossed], [crossed, 1 / of_rows]])
            errors[:2, :2] = users + biases
            spread = variance * (errors[:2, :2] + 1)  # of the gaps, which share the error of the slice
            chances.append(np.exp(-gaps @ np.linalg.inv(spread) @ gaps / 2) / np.sqrt(np.linalg.det(spread)))
            row = np.linalg.inv(errors).sum(axis=0)
            weights.append(row / row.sum())
    mean = np.average(weights, axis=0, weights=chances)
    shrunk = metric.shrunk(metric.design_effect)
    np.testing.assert_allclose(shrunk.weights[0], mean, atol=1e-6)  # one model has a level and no differences
    assert shrunk.value == pytest.approx([mean @ estimates], rel=1e-6)
    assert 1 / 401 < shrunk.weights[0, -1] < 1 / 10
    assert 13 / 24 < shrunk.value[0] < 29 / 48
