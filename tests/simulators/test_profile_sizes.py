"""Profile sizes. Statistical tests have fixed seeds; each would fail by chance less than once in 10,000 seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, chisquare

from unskew.arrays import Ints
from unskew.errors import ConfigError
from unskew.simulators import BetaBinomialSizes, ParetoSizes, ProfileSizes

FITTED = ParetoSizes(scale=20.00000045, shape=0.510528, upper=737)
"""The fit to ml-100k of Tian & Ekstrand 2020, from their code."""


def unlikely(drawn: Ints, sizes: ProfileSizes) -> float:
    """The p-value of these draws."""
    values, chances = sizes.pmf()
    counts = np.array([np.count_nonzero(drawn == value) for value in values])
    assert counts.sum() == len(drawn)
    large = chances * len(drawn) >= 5
    seen = np.append(counts[large], counts[~large].sum())
    expected = np.append(chances[large], chances[~large].sum()) * len(drawn)
    keep = expected > 0
    return float(chisquare(seen[keep], expected[keep]).pvalue)


def test_the_fit_of_the_paper_has_its_numbers() -> None:
    values, chances = FITTED.pmf()
    assert FITTED.reached(np.array([737.0]))[0] == pytest.approx(0.841405, abs=5e-7)
    assert chances[:3] == pytest.approx([0.029238, 0.027208, 0.025401], abs=5e-7)
    assert FITTED.mean == pytest.approx(119.602, abs=5e-4)
    assert (values[0], values[-1]) == (20, 736)  # 737 itself has no mass, for what is below is rounded down


def test_a_small_pareto_by_hand() -> None:
    """F(x) = 1 - 1/x from 1, cut at 3.5: 1/2, 1/6 and 1/3 - 2/7 = 1/21, of 5/7 together."""
    values, chances = ParetoSizes(scale=1, shape=1, upper=3.5).pmf()
    assert values.tolist() == [1, 2, 3]
    assert chances == pytest.approx([7 / 10, 7 / 30, 1 / 15])


def test_what_would_round_to_0_is_drawn_anew() -> None:
    """Given that a Pareto number is at least 1, where it began does not matter."""
    assert ParetoSizes(scale=0.3, shape=1.5, upper=50).pmf()[1] == pytest.approx(
        ParetoSizes(scale=1, shape=1.5, upper=50).pmf()[1]
    )
    assert ParetoSizes(scale=0.01, shape=20, upper=10).draw(1000, 0).min() == 1  # 1e-40 of the mass is at 1 and above


def test_draws_follow_the_distribution_function_inverted_by_hand() -> None:
    """As the paper's code draws: a uniform number up to F(upper), inverted, rounded down, anew when 0."""
    rng = np.random.default_rng(1)
    sizes = ParetoSizes(scale=0.7, shape=0.8, upper=30.5)
    top = 1 - (0.7 / 30.5) ** 0.8
    plain = np.floor(0.7 * (1 - rng.random(50_000) * top) ** (-1 / 0.8)).astype(int)
    assert unlikely(plain[plain > 0], sizes) > 1e-4
    assert unlikely(sizes.draw(50_000, 2), sizes) > 1e-4


@pytest.mark.parametrize("word", ["pareto(scale=20.00000045, shape=0.510528, upper=737)", "beta-binomial(low=20)"])
def test_draws_follow_their_probabilities(word: str) -> None:
    sizes = ProfileSizes.from_word(word)
    assert unlikely(sizes.draw(200_000, 3), sizes) > 1e-4


def test_rejection_is_drawing_anew_until_it_fits() -> None:
    sizes, rng = ParetoSizes(scale=3, shape=1, upper=40), np.random.default_rng(4)
    limits = rng.integers(3, 12, size=20_000)
    plain = np.empty_like(limits)
    for k, limit in enumerate(limits):
        plain[k] = sizes.draw(1, rng)[0]
        while plain[k] > limit:
            plain[k] = sizes.draw(1, rng)[0]
    quick = sizes.draw(len(limits), 5, limits)
    assert np.all(quick <= limits)
    for limit in (3, 5, 11):
        values, chances = sizes.pmf()
        inside = chances[values <= limit] / chances[values <= limit].sum()
        for drawn in (plain[limits == limit], quick[limits == limit]):
            counts = np.array([np.count_nonzero(drawn == value) for value in values[values <= limit]])
            assert len(counts) == 1 or chisquare(counts, inside * len(drawn)).pvalue > 1e-4


def test_where_nothing_fits_the_limit_is_the_size() -> None:
    sizes = ParetoSizes(scale=20, shape=1, upper=100)
    assert sizes.draw(4, 0, np.array([0, 5, 19, 20])).tolist() == [0, 5, 19, 20]


def test_beta_binomial_sizes_are_those_of_scipy_given_that_they_reach_the_least() -> None:
    sizes = BetaBinomialSizes(a=0.8, b=2.5, high=150, low=20)
    values, chances = sizes.pmf()
    reference = betabinom(150, 0.8, 2.5)
    assert values.tolist() == list(range(20, 151))
    assert chances == pytest.approx(reference.pmf(values) / reference.sf(19), rel=1e-9)


@given(
    scale=st.floats(0.01, 300),
    shape=st.floats(0.01, 30),
    more=st.floats(0.01, 500),
    limit=st.integers(0, 1000),
    seed=st.integers(0, 10),
)
def test_pareto_sizes_stay_inside(scale: float, shape: float, more: float, limit: int, seed: int) -> None:
    sizes = ParetoSizes(scale, shape, max(scale, 1) + more)
    values, chances = sizes.pmf()
    assert np.all(chances >= 0)
    assert chances.sum() == pytest.approx(1)
    assert values[0] == max(int(scale), 1)
    assert values[-1] <= sizes.upper
    for drawn in (sizes.draw(50, seed), sizes.draw(50, seed, np.full(50, max(limit, values[0])))):
        assert drawn.min() >= values[0]
        assert drawn.max() <= values[-1]
    assert sizes.draw(50, seed, np.full(50, limit)).max() <= limit


@given(
    a=st.floats(0.01, 100),
    b=st.floats(0.01, 100),
    low=st.integers(1, 100),
    more=st.integers(0, 100),
    seed=st.integers(0, 10),
)
def test_beta_binomial_sizes_stay_inside(a: float, b: float, low: int, more: int, seed: int) -> None:
    sizes = BetaBinomialSizes(a, b, low + more, low)
    assert sizes.pmf()[1].sum() == pytest.approx(1)
    drawn = sizes.draw(50, seed)
    assert low <= drawn.min() <= drawn.max() <= low + more


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("pareto(scale=0)", "scale=0): expected a number above 0"),
        ("pareto(scale=nan)", "expected a number above 0"),
        ("pareto(shape=-1)", "shape=-1): expected a number above 0"),
        ("pareto(scale=20, upper=20)", "upper=20): expected a number above the scale 20 and above 1"),
        ("pareto(scale=0.1, upper=0.9)", "above 1"),
        ("pareto(upper=inf)", "below 100 million"),
        ("beta-binomial(a=0)", "a=0): expected a number above 0"),
        ("beta-binomial(low=0)", "1 <= low <= high"),
        ("beta-binomial(low=30, high=29)", "1 <= low <= high"),
        ("paretto(scale=2)", "pareto"),
    ],
)
def test_what_is_no_distribution_is_refused_with_the_range(word: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ProfileSizes.from_word(word)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("word", ["pareto(scale=2, upper=30.5)", "beta-binomial(a=2, low=5)", "pareto"])
def test_words_are_printed_as_they_are_read(word: str) -> None:
    assert str(ProfileSizes.from_word(word)) == word
