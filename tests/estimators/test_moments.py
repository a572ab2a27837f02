"""Moments have the values, errors and draws of the terms they are sums of, and merge by addition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.estimators import Bootstrap, Delta, Moments, Terms, difference
from unskew.estimators.sums_kernel import poisson_sums
from unskew.ranking import Threads

USERS = st.integers(2, 40)


def make_terms(users: int, models: int, seed: int, *, root: bool = False, alike: bool = False) -> list[Terms]:
    """Terms of models; with `alike`, all have the same denominators, as weighted means have."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 5, users)
    keys = rng.integers(2**63, size=users).astype(np.uint64)
    return [
        Terms(
            rng.random(users) * weights,
            weights if alike else rng.uniform(0.1, 5, users),
            root=root,
            keys=keys,
        )
        for _ in range(models)
    ]


def taken(terms: list[Terms], rows: slice) -> list[Terms]:
    return [Terms(t.numerator[rows], t.denominator[rows], root=t.root, keys=t.keys[rows]) for t in terms]


@given(USERS, st.integers(1, 4), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_values_errors_and_differences_are_those_of_the_terms(
    users: int, models: int, seed: int, root: bool, alike: bool
) -> None:
    terms = make_terms(users, models, seed, root=root, alike=alike)
    moments = Moments.of(terms)
    assert moments.size == models
    for place, term in enumerate(terms):
        assert moments.value(place) == pytest.approx(term.value, rel=1e-12)
        assert moments.std_error(place) == pytest.approx(term.std_error, rel=1e-9, abs=1e-12)
    for a in range(models):
        for b in range(a + 1, models):
            assert moments.difference(a, b) == pytest.approx(difference(terms[a], terms[b]), rel=1e-9, abs=1e-12)


@given(USERS, st.integers(0, 10**6), st.integers(0, 40))
def test_moments_of_two_parts_add_up(users: int, seed: int, cut: int) -> None:
    terms = make_terms(users, 3, seed)
    cut = min(cut, users)
    joined = Moments.join([Moments.of(taken(terms, slice(cut))), Moments.of(taken(terms, slice(cut, None)))])
    whole = Moments.of(terms)
    assert joined.users == whole.users
    np.testing.assert_allclose(joined.sums, whole.sums, rtol=1e-12)
    np.testing.assert_allclose(joined.products, whole.products, rtol=1e-12)


def test_by_hand() -> None:
    """Two users with 1 of 2 and 2 of 2: 3/4; the influences are (1 - 1.5)/4 and (2 - 1.5)/4, so the variance 2/32."""
    moments = Moments.of([Terms(np.array([1.0, 2.0]), np.array([2.0, 2.0]))])
    assert moments.value(0) == 0.75
    assert moments.std_error(0) == pytest.approx(np.sqrt(2 * 2 * 0.125**2))


def test_what_is_undefined_is_none() -> None:
    nobody = Moments.of([Terms(np.zeros(1), np.zeros(1))])
    assert nobody.value(0) is None
    assert nobody.std_error(0) is None
    assert nobody.difference(0, 0) == (None, None)


def test_a_model_and_its_copy_do_not_differ_at_all() -> None:
    (term,) = make_terms(1000, 1, 0)
    gap, error = Moments.of([term, term]).difference(0, 1)
    assert gap == 0
    assert error == pytest.approx(0, abs=1e-12)


def test_poisson_draws_of_parts_add_up_and_depend_on_the_user_alone() -> None:
    terms, interval = make_terms(300, 2, 1), Bootstrap(60, weights="poisson")

    def sums(some: list[Terms]) -> np.ndarray:
        return interval.sums(some, np.random.default_rng(5))

    whole = sums(terms)
    np.testing.assert_allclose(sums(taken(terms, slice(120))) + sums(taken(terms, slice(120, None))), whole, rtol=1e-12)
    backwards = sums(taken(terms, slice(None, None, -1)))
    np.testing.assert_allclose(backwards, whole, rtol=1e-12)


def test_poisson_weights_have_the_chances_of_poisson() -> None:
    """Shares of weights 0 to 4 among 100,000 draws of a user; each fails by chance in 1 of 10^6 cases (4.9 errors)."""
    weights = poisson_sums(np.array([7], dtype=np.uint64), np.ones((1, 1)), 3, 0, 100_000).ravel()
    for weight, divisor in enumerate((1, 1, 2, 6, 24)):
        chance = np.exp(-1) / divisor
        assert abs(np.mean(weights == weight) - chance) < 4.9 * np.sqrt(chance * (1 - chance) / len(weights))


def test_the_poisson_bootstrap_has_the_width_of_the_delta_method() -> None:
    terms = make_terms(2_000, 2, 2, alike=True)
    rng = np.random.default_rng(0)
    (poisson, _), (gap,) = Bootstrap(2_000, weights="poisson").bounds(terms, [(0, 1)], 0.95, rng)
    (delta, _), (gap_delta,) = Delta().bounds(terms, [(0, 1)], 0.95, rng)
    for one, other in ((poisson, delta), (gap, gap_delta)):
        assert one[1] - one[0] == pytest.approx(other[1] - other[0], rel=0.1)


@pytest.mark.parametrize("weights", ["multinomial", "poisson"])
def test_draws_are_the_same_on_any_number_of_threads(weights: str) -> None:
    terms, interval = make_terms(200, 2, 3), Bootstrap(170, weights=weights)  # type: ignore[arg-type]
    one, two = (interval.sums(terms, np.random.default_rng(4), Threads(n)) for n in (1, 2))
    assert one.tobytes() == two.tobytes()
