"""How many positives a user has, told from a sample: the beta-binomial and the chance of a positive."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, gammaln
from scipy.stats import betabinom, hypergeom

from unskew.arrays import Floats
from unskew.estimators.exposed import BetaBinomial, chance_of_any

SHAPES = st.tuples(st.floats(0.2, 20), st.floats(0.2, 200))


@settings(max_examples=40, deadline=None)
@given(SHAPES, st.integers(1, 40), st.integers(0, 40))
def test_a_sample_of_a_beta_binomial_has_the_same_a_and_b(
    shape: tuple[float, float], exposed: int, others: int
) -> None:
    population = exposed + others
    n = np.arange(exposed + 1)
    mixed = np.zeros(exposed + 1)
    for count in range(population + 1):
        mixed += betabinom.pmf(count, population, *shape) * hypergeom.pmf(n, population, count, exposed)
    assert mixed == pytest.approx(betabinom.pmf(n, exposed, *shape), rel=1e-8, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(SHAPES, st.integers(1, 20), st.integers(0, 40), st.data())
def test_the_numbers_of_positives_given_a_sample_are_those_of_bayes(
    shape: tuple[float, float], exposed: int, others: int, data: st.DataObject
) -> None:
    n = data.draw(st.integers(0, exposed))
    population = exposed + others
    every = np.arange(population + 1)
    joint = betabinom.pmf(every, population, *shape) * hypergeom.pmf(n, population, every, exposed)
    numbers, chances = BetaBinomial(*shape).posterior(n, exposed, population)
    assert numbers.tolist() == list(range(n, n + others + 1))
    assert chances == pytest.approx(joint[numbers] / joint.sum(), rel=1e-7, abs=1e-12)


def test_the_expectation_of_a_function_is_the_sum_over_what_it_may_be() -> None:
    prior = BetaBinomial(1.5, 6)
    n, exposed, population = np.array([0, 2, 2]), np.array([4, 4, 6]), np.array([10, 10, 6])
    found = prior.expect(lambda numbers, l, among: numbers**2 + l + 100.0 * among, n, exposed, population)
    for place in range(3):
        numbers, chances = prior.posterior(int(n[place]), int(exposed[place]), int(population[place]))
        value = sum(
            p * (k**2 + exposed[place] + 100 * population[place]) for k, p in zip(numbers, chances, strict=True)
        )
        assert found[place] == pytest.approx(value)


def test_a_population_too_large_to_list_is_scaled_down_without_loss() -> None:
    """The mean number of positives is n + (L - l) (a + n) / (a + b + l); scaling rounds it by far less than 1 %."""
    found = BetaBinomial(2, 30).expect(
        lambda numbers, *_: numbers.astype(float), np.array([3]), np.array([20]), np.array([100_000])
    )
    assert found[0] == pytest.approx(3 + 99_980 * 5 / 52, rel=2e-3)


def log_chances(n: Floats, size: int, logs: Floats) -> Floats:
    a, b = np.exp(logs)
    ways = gammaln(size + 1) - gammaln(n + 1) - gammaln(size - n + 1)
    return np.asarray(ways + betaln(n + a, size - n + b) - betaln(a, b))


def error_of_logs(a: float, b: float, sizes: list[int], users: int) -> Floats:
    """Standard errors of ln a and ln b: the inverse of the expected information, scores by differences."""
    information = np.zeros((2, 2))
    logs, step = np.log([a, b]), 1e-5
    for size in sizes:
        n = np.arange(size + 1.0)
        scores = np.stack(
            [
                (log_chances(n, size, logs + step * unit) - log_chances(n, size, logs - step * unit)) / (2 * step)
                for unit in np.eye(2)
            ]
        )
        information += (scores * np.exp(log_chances(n, size, logs))) @ scores.T * users
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(information))))


@pytest.mark.parametrize(("a", "b", "sizes"), [(1.0, 19.0, [20]), (2.0, 6.0, [5, 16]), (0.5, 30.0, [80])])
def test_a_fit_finds_a_and_b_again(a: float, b: float, sizes: list[int]) -> None:
    """10,000 users a sample size; both within 4 standard errors, which luck fails once in 8,000 times."""
    rng = np.random.default_rng(0)
    exposed = np.repeat(sizes, 10_000)
    fitted = BetaBinomial.fit(rng.binomial(exposed, rng.beta(a, b, len(exposed))), exposed)
    error = error_of_logs(a, b, sizes, 10_000)
    assert error.max() < 0.15
    assert abs(np.log(fitted.a / a)) < 4 * error[0]
    assert abs(np.log(fitted.b / b)) < 4 * error[1]


@pytest.mark.parametrize(("n", "exposed"), [([0, 0, 0], [5, 5, 9]), ([5, 5], [5, 5]), ([1], [3]), ([0], [1])])
def test_a_fit_to_next_to_nothing_still_is_one(n: list[int], exposed: list[int]) -> None:
    prior = BetaBinomial.fit(np.array(n), np.array(exposed))
    assert 0 < prior.a < np.inf
    assert 0 < prior.b < np.inf
    _, chances = prior.posterior(n[0], exposed[0], exposed[0] + 10)
    assert chances.sum() == pytest.approx(1)


def test_users_who_are_all_alike_have_shares_that_hardly_differ() -> None:
    rng = np.random.default_rng(1)
    prior = BetaBinomial.fit(rng.binomial(20, 0.1, 5000), np.full(5000, 20))
    assert prior.a / (prior.a + prior.b) == pytest.approx(0.1, abs=4 * np.sqrt(0.09 / 100_000))
    assert 1 / (prior.a + prior.b + 1) < 0.005


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.data())
def test_the_chance_of_a_positive_is_that_of_the_hypergeometric_distribution(
    population: int, data: st.DataObject
) -> None:
    exposed = data.draw(st.integers(1, population))
    numbers = np.arange(population + 1)
    assert chance_of_any(numbers, exposed, population) == pytest.approx(
        hypergeom.sf(0, population, numbers, exposed), rel=1e-9, abs=1e-12
    )


def test_the_chance_of_a_positive_is_known_for_counts_that_are_not_whole() -> None:
    between = chance_of_any(np.array([2.0, 2.5, 3.0]), 4, 30)
    assert between[0] < between[1] < between[2]
    assert chance_of_any(np.array([27.0, 26.5]), 4, 30).tolist() == pytest.approx([1.0, 1.0], abs=1e-3)
