"""Errors of estimates over all pairs: formulas, derivatives, and how often intervals hold the truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.estimators import Aoa, Bootstrap, Delta, Estimator, Interval, Ips, Observation, Rows, Snips, Terms
from unskew.testing import strategies, worlds
from unskew.testing.oracles import FORMS, estimate_by_users

few = settings(max_examples=30)
every_form = pytest.mark.parametrize("estimator", FORMS, ids=str)
STEP = 1e-6


def squared_error(estimator: Estimator, rows: Rows, *, root: bool = False) -> float:
    terms = replace(estimator.terms(rows, "loss"), root=root)
    assume(not terms.lone)  # a row that is a group of its own has no known error; see the test of that
    error = Observation().std_error(terms)
    assert error is not None
    return error**2


@few
@given(rows=strategies.pair_rows())
def test_the_observation_variance_of_ips_is_horvitz_and_thompsons(rows):
    want = 0.0
    for delta, p in zip(rows.worth, rows.propensity, strict=True):
        want += delta**2 * (1 - p) / p**2
    assert squared_error(Ips(), rows) == pytest.approx(want / rows.total.sum() ** 2, rel=1e-9, abs=1e-18)


@few
@given(rows=strategies.pair_rows(unequal=False))
def test_the_observation_variance_of_snips_is_that_of_the_ratio(rows):
    value, want, weights = Snips().terms(rows, "loss").value, 0.0, 0.0
    assert value is not None
    for delta, p in zip(rows.worth, rows.propensity, strict=True):
        want += (delta - value) ** 2 * (1 - p) / p**2
        weights += 1 / p
    assert squared_error(Snips(), rows) == pytest.approx(want / weights**2, rel=1e-9, abs=1e-18)


@few
@given(rows=strategies.pair_rows(unequal=False))
def test_the_observation_variance_of_the_naive_mean_is_its_own_sampling_variance(rows):
    want = np.var(rows.worth) / len(rows)
    assert squared_error(Aoa(), rows) == pytest.approx(want, rel=1e-9, abs=1e-18)


@few
@given(rows=strategies.pair_rows())
def test_a_pair_that_is_always_observed_brings_no_error(rows):
    certain = replace(rows, propensity=np.ones(len(rows)))
    for estimator in FORMS:
        errors = estimator.terms(certain, "loss").row_errors
        if not isinstance(estimator, Aoa):
            assert errors is not None
            assert not errors.any()


@pytest.mark.parametrize("per", ["pair", "user", "item"])
@few
@given(rows=strategies.pair_rows())
def test_row_errors_are_how_the_value_moves_with_the_weight_of_a_row(per, rows):
    terms = Snips(per=per).terms(rows, "loss")
    assert terms.row_errors is not None
    for row in range(len(rows)):
        # a weight that is 1 + h times as large is a propensity that is 1 + h times as small
        moved = [_with_weight(rows, row, 1 + step) for step in (STEP, -STEP)]
        up, down = (Snips(per=per).terms(changed, "loss").value for changed in moved)
        slope = (up - down) / (2 * STEP)  # type: ignore[operator]
        want = slope * np.sqrt(1 - rows.propensity[row])
        assert terms.row_errors[row] == pytest.approx(want, rel=1e-5, abs=1e-7)


def _with_weight(rows: Rows, row: int, factor: float) -> Rows:
    propensity = rows.propensity.copy()
    propensity[row] /= factor
    return replace(rows, propensity=propensity)


@every_form
@few
@given(rows=strategies.pair_rows(), root=st.booleans())
def test_the_influence_of_a_user_is_how_the_value_moves_with_the_users_weight(estimator, rows, root):
    """The infinitesimal jackknife, for the value and for its root, as rmse has it."""
    terms = replace(estimator.terms(rows, "loss"), root=root)
    users = len(terms.numerator)
    if len(rows.total) > users:  # only ips looks at users without a row
        rows = replace(rows, total=rows.total[:users])
    slopes = []
    for user in range(users):
        ends = []
        for step in (STEP, -STEP):
            weight = np.ones(users)
            weight[user] += step
            ratio = estimate_by_users(estimator, rows, weight)
            ends.append(np.sqrt(ratio) if root else ratio)
        slopes.append((ends[0] - ends[1]) / (2 * STEP))
    np.testing.assert_allclose(terms.influence, slopes, rtol=1e-5, atol=1e-7)


def population(seed: int, users: int, items: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Users from a population: losses differ between users, and pairs of large loss are seldom observed."""
    rng = np.random.default_rng(seed)
    loss = np.clip(1.5 + rng.normal(0, 0.6, (users, 1)) + rng.normal(0, 0.5, (users, items)), 0, None)
    propensity = 0.15 + 0.5 * np.exp(-loss)
    return loss, propensity, rng.random((users, items)) < propensity


@pytest.mark.parametrize("estimator", [Aoa(per="item"), Snips(per="item")], ids=str)
def test_the_error_of_the_item_normalised_forms_is_that_of_drawing_users_anew(estimator):
    """1000 bootstrap draws, each worked out afresh; their spread has an error of 2.2 %, and 5 of these are allowed."""
    rows = Rows.of_matrix(*population(0, 300))
    rng = np.random.default_rng(1)
    users = int(rows.user.max()) + 1
    drawn = [
        estimate_by_users(estimator, rows, np.bincount(rng.integers(0, users, users), minlength=users))
        for _ in range(1000)
    ]
    assert estimator.terms(rows, "loss").std_error == pytest.approx(np.std(drawn), rel=5 / np.sqrt(2000))


@pytest.mark.parametrize("estimator", [Ips(), Snips(), Aoa(), Snips(per="item")], ids=str)
def test_the_error_of_a_root_is_that_of_the_jackknife(estimator):
    """Leaving out one of 300 users at a time; it and the delta method differ by order 1/300."""
    rows = Rows.of_matrix(*population(2, 300))
    terms = replace(estimator.terms(rows, "loss"), root=True)
    users = len(terms.numerator)
    rows = replace(rows, total=rows.total[:users])
    left = [np.sqrt(estimate_by_users(estimator, rows, np.arange(users) != user)) for user in range(users)]
    jackknife = np.sqrt((users - 1) / users * np.sum((left - np.mean(left)) ** 2))
    assert terms.std_error == pytest.approx(jackknife, rel=0.02)
    assert terms.value == pytest.approx(np.sqrt(estimator.terms(rows, "loss").value), rel=1e-12)


@few
@given(rows=strategies.pair_rows())
def test_the_observation_error_of_a_root_is_that_of_the_ratio_over_twice_the_root(rows):
    for estimator in (Ips(), Snips()):
        value = estimator.terms(rows, "loss").value
        assert value is not None
        want = squared_error(estimator, rows) / (4 * value)
        assert squared_error(estimator, rows, root=True) == pytest.approx(want, rel=1e-9)


def test_a_perfect_prediction_has_a_root_of_zero_without_error():
    rows = replace(worlds.pair_rows([(0, 0), (1, 1), (2, 0)], 3, 0, unequal=False), worth=np.zeros(3))
    for estimator in (Ips(), Snips(), Aoa()):
        terms = replace(estimator.terms(rows, "loss"), root=True)
        assert (terms.value, terms.std_error, Observation().std_error(terms)) == (0, 0, 0)


def covered(interval: Interval, estimator: Estimator, worlds: list[Rows], truth: float, *, root: bool = False) -> int:
    """How many of the intervals at 90 % hold the truth."""
    hits = 0
    for number, rows in enumerate(worlds):
        terms = replace(estimator.terms(rows, "loss"), root=root)
        ((low, high),), _ = interval.bounds([terms], [], 0.9, np.random.default_rng(number))
        assert low is not None
        assert high is not None
        hits += low <= truth <= high
    return hits


def is_chance(hits: int, n: int, level: float) -> bool:
    """Whether so many hits go with the level; says no wrongly once in 10,000 seeds."""
    from scipy.stats import binom

    return bool(binom.isf(1 - 5e-5, n, level) <= hits <= binom.isf(5e-5, n, level))


@pytest.mark.parametrize("root", [False, True], ids=["mae", "rmse"])
@pytest.mark.parametrize("estimator", [Ips(), Snips()], ids=str)
def test_observation_intervals_hold_the_truth_of_a_fixed_matrix_nine_times_in_ten(estimator, root):
    """60 by 50 pairs, tossed for 800 times; wrong alarms once in 10,000 seeds."""
    rng = np.random.default_rng(3)
    loss, propensity = rng.uniform(0, 4, (60, 50)), rng.uniform(0.1, 0.9, (60, 50))
    worlds = [Rows.of_matrix(loss, propensity, rng.random(loss.shape) < propensity) for _ in range(800)]
    truth = float(np.sqrt(loss.mean()) if root else loss.mean())
    assert is_chance(covered(Observation(), estimator, worlds, truth, root=root), 800, 0.9)


def test_observation_intervals_of_a_difference_hold_the_true_difference():
    """Of two losses on the same rows; 800 tosses, wrong alarms once in 10,000 seeds."""
    rng = np.random.default_rng(4)
    first, propensity = rng.uniform(0, 4, (40, 50)), rng.uniform(0.1, 0.9, (40, 50))
    second = first + rng.normal(0.1, 0.5, first.shape)
    hits = 0
    for _ in range(800):
        seen = rng.random(first.shape) < propensity
        terms = [Snips().terms(Rows.of_matrix(loss, propensity, seen), "loss") for loss in (first, second)]
        _, ((low, high),) = Observation().bounds(terms, [(0, 1)], 0.9, rng)
        assert low is not None
        assert high is not None
        hits += low <= float((first - second).mean()) <= high
        reach = Observation().gap_error(*terms)
        assert high - low == pytest.approx(2 * 1.6448536 * reach, rel=1e-6)
    assert is_chance(hits, 800, 0.9)


@pytest.mark.parametrize("interval", [Delta(), Bootstrap(200)], ids=str)
@pytest.mark.parametrize("estimator", [Ips(), Snips(), Snips(per="item")], ids=str)
def test_user_intervals_hold_the_truth_of_the_population_nine_times_in_ten(estimator, interval):
    """400 samples of 250 users; wrong alarms once in 10,000 seeds."""
    truth = float(population(99, 400_000)[0].mean())
    worlds = [Rows.of_matrix(*population(1000 + seed, 250)) for seed in range(400)]
    assert is_chance(covered(interval, estimator, worlds, truth), 400, 0.9)


def test_the_naive_mean_has_the_wrong_truth_however_tight_its_interval():
    truth = float(population(99, 400_000)[0].mean())
    worlds = [Rows.of_matrix(*population(1000 + seed, 250)) for seed in range(50)]
    assert covered(Delta(), Aoa(), worlds, truth) == 0


def test_for_users_drawn_from_a_population_observation_intervals_are_too_short():
    """They speak of these users alone: what they leave out is that other users could have come."""
    truth = float(population(99, 400_000)[0].mean())
    worlds = [Rows.of_matrix(*population(1000 + seed, 250)) for seed in range(200)]
    assert not is_chance(covered(Observation(), Snips(), worlds, truth), 200, 0.9)


def test_observation_is_refused_where_nothing_is_known_of_rows():
    terms = Terms(np.ones(3), np.ones(3))
    with pytest.raises(ConfigError, match="for metrics over all pairs, such as mae; use delta"):
        Observation().std_error(terms)


def test_nothing_observed_has_no_observation_error():
    rows = Rows.of_matrix(np.ones((2, 3)), np.full((2, 3), 0.5), np.zeros((2, 3), bool))
    assert Observation().std_error(Ips().terms(rows, "loss")) is None
    assert Observation().bounds([Ips().terms(rows, "loss")], [], 0.9, np.random.default_rng(0)) == ([(None, None)], [])


def test_the_word_of_the_interval_comes_back():
    assert str(Interval.from_word("observation")) == "observation"


@pytest.mark.parametrize(
    ("word", "known"),
    [("aoa", True), ("snips", True), ("ips", True), ("aoa(per=user)", False), ("snips(per=user)", False)],
)
def test_a_user_of_one_row_has_no_error_of_their_own_mean(word, known):
    """Its distance from its own mean is 0; an interval of no width, and p = 0, would be claimed from nothing."""
    ones = np.ones(3)
    rows = Rows(np.array([1.0, 2.0, 4.0]), np.arange(3), 0.5 * ones, np.zeros(3, int), total=4 * ones)
    other = rows.with_worth(np.array([2.0, 1.0, 0.0]))
    estimator, interval = Estimator.from_word(word), Observation()
    mine, theirs = estimator.terms(rows, "loss"), estimator.terms(other, "loss")
    assert (interval.std_error(mine) is not None) == known
    assert (interval.gap_error(mine, theirs) is not None) == known
    (low, _), _ = (bounds[0] for bounds in interval.bounds([mine, theirs], [(0, 1)], 0.95, np.random.default_rng(0)))
    assert (low is not None) == known
