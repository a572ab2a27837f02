"""Confidence sequences: the formula by hand, intervals and p-values that agree, and coverage at every look."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.estimators import Anytime, Delta, Interval, Terms

RNG = np.random.default_rng(0)


def terms_of(values: np.ndarray) -> Terms:
    return Terms(values, np.ones(len(values)))


def test_the_factor_is_that_of_the_formula() -> None:
    """Waudby-Smith et al. 2024, theorem 2.2 and the choice of rho in their appendix, at the best number of users."""
    scaled = -2 * log(0.05) + log(1 - 2 * log(0.05))
    want = sqrt(2 * (scaled + 1) / scaled * log(sqrt(scaled + 1) / 0.05))
    assert Anytime(500).factor(500, 0.95) == pytest.approx(want, rel=1e-12)
    assert want == pytest.approx(3.03, abs=0.01)
    four = 4 * scaled
    assert Anytime(500).factor(2000, 0.9) == pytest.approx(sqrt(2 * (four + 1) / four * log(sqrt(four + 1) / 0.1)))


def test_bounds_are_the_value_and_the_factor_times_the_error() -> None:
    terms = [terms_of(RNG.random(400)), terms_of(RNG.random(400))]
    sequence = Anytime(100)
    (bounds, gaps), (plain, plain_gaps) = (
        each.bounds(terms, [(0, 1)], 0.95, np.random.default_rng(0)) for each in (sequence, Delta())
    )
    wider = sequence.factor(400, 0.95) / 1.959963984540054
    for ours, theirs in zip([*bounds, *gaps], [*plain, *plain_gaps], strict=True):
        assert None not in (*ours, *theirs)
        low, high = ours
        assert low is not None and high is not None and theirs[0] is not None and theirs[1] is not None  # noqa: PT018
        assert low + high == pytest.approx(theirs[0] + theirs[1])
        assert (high - low) / (theirs[1] - theirs[0]) == pytest.approx(wider)


@settings(deadline=None)
@given(
    shift=st.floats(-0.3, 0.3),
    n=st.integers(5, 400),
    best=st.integers(1, 2000),
    level=st.sampled_from([0.8, 0.95, 0.99]),
)
def test_the_p_value_is_below_alpha_exactly_if_the_interval_does_not_hold_0(
    shift: float, n: int, best: int, level: float
) -> None:
    rng = np.random.default_rng(n)
    a, b = terms_of(rng.random(n) + shift), terms_of(rng.random(n))
    sequence = Anytime(best)
    _, [(low, high)] = sequence.bounds([a, b], [(0, 1)], level, rng)
    p = sequence.p_value(a, b)
    assert low is not None and high is not None and p is not None  # noqa: PT018
    if abs(p - (1 - level)) > 1e-9:
        assert (p < 1 - level) == (not low <= 0 <= high)


def test_differences_without_error_and_single_users() -> None:
    one = terms_of(np.array([0.5]))
    assert Anytime().p_value(one, one) is None
    same = terms_of(np.full(9, 0.5))
    assert Anytime().p_value(same, same) == 1
    assert Anytime().p_value(same, terms_of(np.full(9, 0.25))) == 0


def test_its_word() -> None:
    assert Interval.from_word("anytime(300)") == Anytime(300)
    assert str(Anytime(300)) == "anytime(300)"
    with pytest.raises(ConfigError, match="at least 1"):
        Anytime(0)


def looks(total: int, first: int = 200) -> list[int]:
    """The numbers of users at which an evaluation looks."""
    numbers = [first]
    while numbers[-1] < total:
        numbers.append(min(int(1.5 * numbers[-1]), total))
    return numbers


def held_at_all_looks(interval: Interval, runs: int, total: int = 20_000) -> int:
    """In how many runs the intervals of a skewed ratio hold its truth at every look."""
    rng, held = np.random.default_rng(7), 0
    for _ in range(runs):
        weight = rng.exponential(size=total)
        hit = rng.random(total) < 0.2
        terms = [Terms((weight * hit)[:n], weight[:n]) for n in looks(total)]
        bounds = [interval.bounds([each], [], 0.95, rng)[0][0] for each in terms]
        held += all(low is not None and high is not None and low <= 0.2 <= high for low, high in bounds)
    return held


def test_all_looks_hold_the_truth_in_95_percent_of_2000_runs() -> None:
    """The number of runs has a chance of 1 in 10,000 to be below the bound, if the coverage is 95 %."""
    assert held_at_all_looks(Anytime(2000), 2000) >= 1900
    assert held_at_all_looks(Delta(), 200) < 180  # an interval for one look does not


def test_looking_often_costs_plain_intervals_their_coverage() -> None:
    assert held_at_all_looks(Delta(), 100, 4000) < held_at_all_looks(Anytime(900), 100, 4000)


def test_the_p_value_of_a_given_z() -> None:
    values = np.array([1.0, -1.0] * 50) + 0.3
    a, b = terms_of(values), terms_of(np.zeros(100))
    error = float(np.std(values, ddof=1) / 10)
    scaled = 100 / 50 * (-2 * log(0.05) + log(1 - 2 * log(0.05)))
    want = sqrt(scaled + 1) * exp(-((0.3 / error) ** 2) * scaled / (2 * (scaled + 1)))
    assert Anytime(50).p_value(a, b) == pytest.approx(want, rel=0.02)  # whatever the divisor of the variance
