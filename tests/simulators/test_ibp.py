"""The Indian buffet process. Tests of means have fixed seeds and |z| < 4: each fails by chance once in 16,000 seeds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gamma

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, DataError
from unskew.simulators import Ibp, Preferences

PARAMETERS = [(6.0, 1.0, 0.0), (6.0, 1.0, 0.5), (4.0, 5.0, 0.3), (4.0, -0.3, 0.6), (3.0, 0.05, 0.05)]
IDS = [f"alpha={a:g}, c={c:g}, sigma={s:g}" for a, c, s in PARAMETERS]


def z(values: Floats, expected: float) -> float:
    """Standard errors between a mean and what is expected."""
    return float((np.mean(values) - expected) / (np.std(values, ddof=1) / np.sqrt(len(values))))


def dense(likes: Preferences) -> Ints:
    table = np.zeros((likes.n_users, likes.n_items), dtype=int)
    table[likes.row_users, likes.items] = 1
    return table


def urn(users: int, alpha: float, c: float, sigma: float, rng: np.random.Generator) -> Ints:
    """The definition, user by user (Tian & Ekstrand 2020, section 3.1)."""
    rows: list[list[int]] = []
    takers: list[int] = []
    for n in range(users):
        own = []
        for item, m in enumerate(takers):
            if rng.random() < (m - sigma) / (n + c):
                own.append(item)
        rate = alpha * gamma(1 + c) * gamma(n + c + sigma) / gamma(n + 1 + c) / gamma(c + sigma)
        new = range(len(takers), len(takers) + rng.poisson(rate))
        takers.extend(0 for _ in new)
        own.extend(new)
        for item in own:
            takers[item] += 1
        rows.append(own)
    table = np.zeros((users, len(takers)), dtype=int)
    for user, own in enumerate(rows):
        table[user, own] = 1
    return table


def statistics(table: Ints) -> list[float]:
    """Items, likes, items of 1, 2 and 3 users, the sum of squared popularities, and overlaps of users."""
    popularity = table.sum(axis=0)
    return [
        table.shape[1],
        table.sum(),
        *(np.count_nonzero(popularity == m) for m in (1, 2, 3)),
        float((popularity**2).sum()),
        float(popularity.max(initial=0)),
        float(table[0] @ table[1]),
        float(table[0] @ table[-1]),
        float(table[-2] @ table[-1]),
    ]


def test_the_expected_number_of_items_is_that_of_the_definition() -> None:
    """With sigma = 0 and c = 1 it is alpha times a harmonic number; alpha |U|^sigma of the paper lacks a constant."""
    assert Ibp(users=1000, alpha=10, c=1, sigma=0).expected_items() == pytest.approx(74.8547, abs=5e-5)
    exact = Ibp(users=1000, alpha=10, c=1, sigma=0.5).expected_items()
    assert exact == pytest.approx(693.9, abs=0.05)
    asymptotic = 10 * gamma(2) / (0.5 * gamma(1.5)) * 1000**0.5
    assert asymptotic == pytest.approx(713.6, abs=0.05)
    assert exact / asymptotic == pytest.approx(1, abs=0.03)
    printed = 10 * 1000**0.5
    assert printed == pytest.approx(316.2, abs=0.05)
    assert exact > 2 * printed


@pytest.mark.parametrize(("alpha", "c", "sigma"), PARAMETERS, ids=IDS)
def test_expected_new_items_of_each_user_are_those_of_the_formula(alpha: float, c: float, sigma: float) -> None:
    n = np.arange(100)
    formula = alpha * gamma(1 + c) * gamma(n + c + sigma) / gamma(n + 1 + c) / gamma(c + sigma)
    assert Ibp(users=100, alpha=alpha, c=c, sigma=sigma).new_items() == pytest.approx(formula, rel=1e-10)


@pytest.mark.parametrize(("alpha", "c", "sigma"), PARAMETERS, ids=IDS)
def test_every_user_likes_alpha_items_on_average_and_items_are_as_many_as_expected(
    alpha: float, c: float, sigma: float
) -> None:
    model, rng = Ibp(users=40, alpha=alpha, c=c, sigma=sigma), np.random.default_rng(7)
    drawn = [model.like(rng) for _ in range(600)]
    counts = np.array([likes.counts for likes in drawn])
    for user in (0, 1, 20, 39):
        assert abs(z(counts[:, user], alpha)) < 4
    assert abs(z(np.array([float(likes.n_items) for likes in drawn]), model.expected_items())) < 4
    assert abs(z(counts.sum(axis=1), model.expected_likes())) < 4


@pytest.mark.parametrize(("alpha", "c", "sigma"), PARAMETERS, ids=IDS)
def test_the_second_user_takes_what_the_first_likes_by_the_rule(alpha: float, c: float, sigma: float) -> None:
    model, rng = Ibp(users=2, alpha=20 * alpha, c=c, sigma=sigma), np.random.default_rng(8)
    tables = [dense(model.like(rng)) for _ in range(200)]
    first = sum(int(table[0].sum()) for table in tables)
    both = sum(int(table[0] @ table[1]) for table in tables)
    p = (1 - sigma) / (1 + c)
    assert abs(both - first * p) < 4 * np.sqrt(first * p * (1 - p)) + 1e-9


@pytest.mark.parametrize(("alpha", "c", "sigma"), PARAMETERS, ids=IDS)
def test_worlds_have_the_moments_of_the_urn_user_by_user(alpha: float, c: float, sigma: float) -> None:
    model, rng = Ibp(users=12, alpha=alpha, c=c, sigma=sigma), np.random.default_rng(9)
    ours = np.array([statistics(dense(model.like(rng))) for _ in range(1000)], dtype=float)
    plain = np.array([statistics(urn(12, alpha, c, sigma, rng)) for _ in range(300)], dtype=float)
    error = np.sqrt(ours.var(axis=0) / len(ours) + plain.var(axis=0) / len(plain))
    assert np.all(np.abs(ours.mean(axis=0) - plain.mean(axis=0)) < 4 * error + 1e-12)


def test_early_and_late_users_are_exchangeable() -> None:
    """Likes, overlaps within a half, and items of one user only have the same means in both halves."""
    model, rng = Ibp(users=30, alpha=5, c=1, sigma=0.4), np.random.default_rng(10)
    differences = []
    for _ in range(700):
        table = dense(model.like(rng))
        halves = []
        for half in (table[:15], table[15:]):
            popularity = half.sum(axis=0)
            halves.append([half.sum(), (popularity**2).sum(), np.count_nonzero(popularity == 1), half[0] @ half[1]])
        differences.append(np.subtract(*halves))
    for column in np.array(differences, dtype=float).T:
        assert abs(z(column, 0.0)) < 4


def test_items_are_numbered_by_birth() -> None:
    likes = Ibp(users=200, alpha=20, sigma=0.5).like(3)
    table = dense(likes)
    born = table.argmax(axis=0)
    assert np.all(table.sum(axis=0) > 0)
    assert np.all(np.diff(born) >= 0)
    for user in range(likes.n_users):
        own = likes.items[likes.offsets[user] : likes.offsets[user + 1]]
        assert np.all(np.diff(own) > 0)


@pytest.mark.parametrize(
    ("c", "sigma"), [(1.0, 0.99), (-0.99 + 1e-9, 0.99), (-0.5 + 1e-12, 0.5), (1e-300, 0.0), (5e-324, 0.0), (1e300, 0.9)]
)
def test_extreme_parameters_give_finite_worlds(c: float, sigma: float) -> None:
    model = Ibp(users=300, alpha=20, c=c, sigma=sigma)
    likes = model.like(5)
    assert np.isfinite(model.expected_items())
    assert 0 < likes.n_items <= len(likes)
    assert likes.items.max() < likes.n_items
    assert likes.offsets[-1] == len(likes)


def test_with_almost_no_concentration_all_like_what_the_first_likes() -> None:
    likes = Ibp(users=50, alpha=20, c=1e-300, sigma=0).like(6)
    assert np.all(likes.counts == likes.n_items)


@settings(max_examples=40)
@given(
    users=st.integers(1, 60),
    alpha=st.floats(0.01, 30),
    sigma=st.floats(0, 0.99),
    above=st.floats(1e-6, 100),
    seed=st.integers(0, 5),
)
def test_any_parameters_give_well_formed_likes(users: int, alpha: float, sigma: float, above: float, seed: int) -> None:
    likes = Ibp(users=users, alpha=alpha, c=above - sigma, sigma=sigma).like(seed)
    assert likes.n_users == users
    assert np.array_equal(likes.counts, dense(likes).sum(axis=1))
    assert np.all(likes.popularity >= 1)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("ibp(sigma=1)", "ibp(sigma=1): expected a number of 0 or more, below 1"),
        ("ibp(sigma=-0.1)", "expected a number of 0 or more, below 1"),
        ("ibp(c=-0.5)", "ibp(c=-0.5): expected a number above -sigma, which is -0.5"),
        ("ibp(c=0, sigma=0)", "expected a number above -sigma"),
        ("ibp(alpha=0)", "ibp(alpha=0): expected a number above 0"),
        ("ibp(alpha=nan)", "expected a number above 0"),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_range(word: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Ibp.from_word(word)
    assert says in str(refused.value)


def test_a_world_too_large_to_draw_is_refused_with_its_expected_size() -> None:
    with pytest.raises(DataError, match=r"1,000,000,000 likes are expected.*smaller alpha"):
        Ibp(users=1_000_000, alpha=1000).draw(0)
