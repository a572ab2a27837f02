"""Intervals and comparisons: the user is the unit, what is undefined is None, never 0."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unskew.errors import ConfigError
from unskew.estimators import (
    Bootstrap,
    Comparison,
    Delta,
    Interval,
    Terms,
    difference,
    holm,
    normal_quantile,
    p_value,
    student_p,
)


def some_terms(users: int = 400, seed: int = 0) -> Terms:
    """Numerators that go with their denominators, as sums of weights do."""
    rng = np.random.default_rng(seed)
    denominator = rng.gamma(2, 1, users)
    return Terms(denominator * rng.beta(2, 3, users), denominator)


def brute_force(terms: Terms, draws: int, seed: int = 1) -> np.ndarray:
    """Values of users drawn with replacement, one loop a draw."""
    rng = np.random.default_rng(seed)
    m = len(terms.numerator)
    values = []
    for _ in range(draws):
        users = rng.integers(0, m, m)
        values.append(terms.numerator[users].sum() / terms.denominator[users].sum())
    return np.array(values)


def bounds(interval: Interval, terms: list[Terms], pairs: list[tuple[int, int]], seed: int = 0) -> tuple:
    return interval.bounds(terms, pairs, 0.95, np.random.default_rng(seed))


def test_the_delta_error_agrees_with_a_brute_force_bootstrap() -> None:
    """4,000 draws know a standard error to about 1.1 %; 5 % are four and a half times that."""
    terms = some_terms()
    assert terms.std_error == pytest.approx(brute_force(terms, 4000).std(), rel=0.05)


def test_the_delta_error_of_a_mean_is_the_usual_one() -> None:
    values = np.random.default_rng(0).normal(size=50)
    terms = Terms(values, np.ones(50))
    assert terms.value == pytest.approx(values.mean())
    assert terms.std_error == pytest.approx(values.std(ddof=1) / math.sqrt(50), rel=1e-12)


def test_the_delta_interval_is_z_errors_around_the_value() -> None:
    terms = some_terms()
    [(low, high)], _ = bounds(Delta(), [terms], [])
    assert terms.value is not None
    assert terms.std_error is not None
    assert (low, high) == pytest.approx(
        (terms.value - 1.959964 * terms.std_error, terms.value + 1.959964 * terms.std_error)
    )


def test_bootstrap_and_delta_agree_for_many_users() -> None:
    """A quantile of 4,000 draws is known to about 0.04 standard errors; the tolerance is 0.15."""
    terms = some_terms(2000)
    [by_delta], _ = bounds(Delta(), [terms], [])
    [by_draws], _ = bounds(Bootstrap(4000), [terms], [])
    assert by_draws == pytest.approx(by_delta, abs=0.15 * (terms.std_error or 0))


def test_the_bootstrap_agrees_with_brute_force() -> None:
    terms = some_terms(60)
    [(low, high)], _ = bounds(Bootstrap(4000), [terms], [])
    expected = np.quantile(brute_force(terms, 4000), [0.025, 0.975])
    assert (low, high) == pytest.approx(tuple(expected), abs=0.15 * (terms.std_error or 0))


def test_the_bootstrap_depends_on_the_seed_alone() -> None:
    terms = [some_terms(seed=1), some_terms(seed=2)]
    first, again, other = (bounds(Bootstrap(200), terms, [(0, 1)], seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_an_interval_does_not_depend_on_what_else_is_estimated() -> None:
    """All estimates share the draws."""
    a, b = some_terms(seed=1), some_terms(seed=2)
    alone, _ = bounds(Bootstrap(200), [a], [])
    both, _ = bounds(Bootstrap(200), [b, a], [])
    assert both[1] == pytest.approx(alone[0], rel=1e-12)


def test_the_bootstrap_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = [some_terms(50)]
    whole = bounds(Bootstrap(300), terms, [])
    monkeypatch.setattr("unskew.estimators.intervals._CHUNK", 50 * 7)
    assert bounds(Bootstrap(300), terms, []) == whole


def test_differences_are_paired_by_user() -> None:
    """Two models that differ by a constant: their difference is certain though each is not."""
    a = some_terms()
    b = Terms(a.numerator - 0.1 * a.denominator, a.denominator)
    gap, error = difference(a, b)
    assert gap == pytest.approx(0.1)
    assert error == pytest.approx(0, abs=1e-12)
    for interval in (Delta(), Bootstrap(100)):
        _, [(low, high)] = bounds(interval, [a, b], [(0, 1)])
        assert (low, high) == pytest.approx((0.1, 0.1))


def test_the_error_of_a_difference_of_means_is_that_of_the_paired_test() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 80))
    gap, error = difference(Terms(x, np.ones(80)), Terms(y, np.ones(80)))
    assert gap is not None
    assert error is not None
    assert gap / error == pytest.approx(stats.ttest_rel(x, y).statistic, rel=1e-12)
    assert p_value(gap, error) == pytest.approx(2 * stats.norm.sf(abs(gap / error)), rel=1e-12)


def test_the_error_of_a_difference_of_ratios_agrees_with_brute_force() -> None:
    a = some_terms(seed=1)
    b = Terms(0.5 * a.numerator + 0.3 * some_terms(seed=2).numerator, a.denominator)
    gaps = brute_force(a, 3000) - brute_force(b, 3000)  # the same seed, so the same users
    assert difference(a, b)[1] == pytest.approx(gaps.std(), rel=0.06)


def test_swapping_the_models_swaps_the_sign() -> None:
    a, b = some_terms(seed=1), some_terms(seed=2)
    (gap, error), (back, same) = difference(a, b), difference(b, a)
    assert gap == -(back or 0)
    assert error == pytest.approx(same)


def test_one_user_has_a_value_but_no_error() -> None:
    one = Terms(np.array([1.0]), np.array([2.0]))
    assert (one.value, one.std_error) == (0.5, None)
    assert difference(one, one) == (0.0, None)
    assert p_value(*difference(one, one)) is None
    for interval in (Delta(), Bootstrap(50)):
        assert bounds(interval, [one, one], [(0, 1)]) == ([(None, None)] * 2, [(None, None)])


def test_no_user_has_no_value() -> None:
    none = Terms(np.array([]), np.array([]))
    assert (none.value, none.std_error) == (None, None)
    assert difference(none, none) == (None, None)
    for interval in (Delta(), Bootstrap(50)):
        assert bounds(interval, [none], []) == ([(None, None)], [])


def test_users_without_weight_have_no_value() -> None:
    nothing = Terms(np.zeros(3), np.zeros(3))
    assert nothing.value is None
    assert bounds(Bootstrap(50), [nothing], []) == ([(None, None)], [])


def test_a_difference_without_spread_is_certain() -> None:
    assert p_value(0.0, 0.0) == 1.0
    assert p_value(0.1, 0.0) == 0.0
    assert p_value(None, None) is None


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_quantiles_are_those_of_the_normal(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), rel=1e-9)


def test_holm_by_hand() -> None:
    """Four p values, smallest first: 4 x .005, 3 x .01, 2 x .03, then .04, which may not fall below .06."""
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert adjusted == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})


def slow_holm(p_values: list[float]) -> list[float]:
    """Adjusted p of a hypothesis: the largest of (m - j) p over it and all that have a smaller p."""
    m = len(p_values)
    adjusted = []
    for place, p in enumerate(p_values):
        before = sorted((q, k) for k, q in enumerate(p_values) if (q, k) <= (p, place))
        adjusted.append(min(1.0, max((m - j) * q for j, (q, _) in enumerate(before))))
    return adjusted


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_agrees_with_its_definition(p_values: list[float]) -> None:
    adjusted = holm(dict(enumerate(p_values)))
    assert list(adjusted.values()) == pytest.approx(slow_holm(p_values))
    assert all(a is not None and a >= p for a, p in zip(adjusted.values(), p_values, strict=True))


def test_holm_leaves_what_is_undefined_out_of_the_count() -> None:
    assert holm({"a": 0.02, "b": None, "c": 0.5}) == {"a": 0.04, "b": None, "c": 0.5}
    assert holm({}) == {}


@pytest.mark.parametrize(
    ("word", "says"),
    [("bootstrap(5)", "at least 10 draws"), ("bootstrp", "did you mean 'bootstrap'"), ("delta(3)", "has no argument")],
)
def test_impossible_intervals_are_refused(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Interval.from_word(word)


def test_models_exchanged_change_the_sign_of_all_but_nothing():
    turned = Comparison("recall@5", "aoa", "a", "b", 0.0, -0.5, 0.25, 1.0, 1.0).reversed()
    assert (turned.a, turned.low, turned.high) == ("b", -0.25, 0.5)
    assert f"{turned.difference:+.4f}" == "+0.0000"


@pytest.mark.parametrize("effective", [2.5, 5.0, 24.0, 1000.0])
@pytest.mark.parametrize("z", [0.5, 1.96, 3.0, 8.0])
def test_few_effective_users_are_read_on_students_t(effective: float, z: float) -> None:
    p = 2 * stats.norm.sf(z)
    assert student_p(p, effective) == pytest.approx(2 * stats.t.sf(z, effective - 1), rel=1e-6)
    assert student_p(p, 1e9) == pytest.approx(p, rel=1e-6)


def test_a_difference_without_error_is_a_sign_test() -> None:
    assert student_p(0.0, 3.0) == 0.25
    assert student_p(0.0, 1.0) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("users", "spread"), [(10, 2.0), (50, 2.0), (100, 1.0), (500, 2.0)])
def test_students_t_keeps_the_error_rate_where_few_users_carry_the_weight(users: int, spread: float) -> None:
    """Two models of equal worth, weights log-normal: wrong in 5 % of 3,000 draws, give or take 3 points."""
    rng = np.random.default_rng(users)
    wrong = normal = 0
    for _ in range(3000):
        weight = np.exp(spread * rng.standard_normal(users))
        gap = rng.choice([-1.0, 0.0, 0.0, 1.0], users)
        a, b = Terms(weight * np.maximum(gap, 0), weight), Terms(weight * np.maximum(-gap, 0), weight)
        p = p_value(*difference(a, b))
        assert p is not None
        normal += p < 0.05
        wrong += student_p(p, float(weight.sum() ** 2 / (weight**2).sum())) < 0.05
    assert wrong / 3000 < 0.08
    assert wrong < normal
