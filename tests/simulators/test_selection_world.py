"""Worlds of selective observation. Tests by chance have fixed seeds; each comparison fails for one seed in 10,000."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2, chisquare

from unskew.arrays import Bools, Ints, Matrix
from unskew.errors import ConfigError, DataError
from unskew.simulators import SELECTION_WORLDS, SelectionDraw, SelectionWorld, draw_outside

NAMES = list(SELECTION_WORLDS)
LARGEST_Z = 3.89
"""A standard normal is outside this with probability 1e-4."""


@cache
def drawn(name: str, seed: int = 1) -> SelectionDraw:
    return SelectionWorld.preset(name, users=300, items=400).draw(seed)


def z_of(hits: Bools, chances: Matrix) -> float:
    """How many standard deviations the number of hits is from its expectation."""
    chances = chances.astype(np.float64)
    return float((hits.sum() - chances.sum()) / np.sqrt((chances * (1 - chances)).sum()))


def fits_chi_square(statistic: float, degrees: int) -> bool:
    """Whether a sum of squares of standard normals is inside an interval that it leaves with probability 1e-4."""
    low, high = chi2.ppf([0.5e-4, 1 - 0.5e-4], degrees)
    return bool(low < statistic < high)


def squares(values: Matrix | Ints) -> float:
    """The sum of squared deviations from the mean."""
    return float(((values - values.mean(dtype=np.float64)) ** 2).sum())


def test_the_seven_worlds_have_their_numbers() -> None:
    numbers = {
        name: (world.alpha, world.rho, world.beta, world.kappa, world.activity)
        for name, world in SELECTION_WORLDS.items()
    }
    assert numbers == {
        "pop": (1.5, 0, 0, 0, 0.6),
        "popq": (1.5, 0.7, 0, 0, 0.6),
        "personal": (0.7, 0.3, 1, 0, 0.6),
        "self": (0.7, 0.3, 0.3, 1.5, 0.6),
        "mixed": (1, 0.5, 0.7, 0.8, 0.6),
        "adverse": (1, -0.6, 0, -1, 0.6),
        "mar": (0, 0, 0, 0, 0),
    }
    assert all(
        (world.users, world.items, world.base, world.density) == (700, 600, -2.2, 0.06)
        for world in SELECTION_WORLDS.values()
    )


@pytest.mark.parametrize("name", NAMES)
def test_all_matrices_are_users_by_items_in_single_precision(name: str) -> None:
    world = drawn(name)
    for matrix in (world.relevant, world.observed):
        assert (matrix.shape, matrix.dtype) == ((300, 400), bool)
    for numbers in (world.chance, world.affinity, world.relevance_logit):
        assert (numbers.shape, numbers.dtype) == ((300, 400), np.float32)
    assert world.quality.shape == world.popularity.shape == (400,)
    assert (world.n_users, world.n_items) == (300, 400)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("density", [0.01, 0.06, 0.5])
def test_the_mean_chance_is_the_density(name: str, density: float) -> None:
    world = SelectionWorld.preset(name, users=100, items=80, density=density).draw(2)
    assert world.chance.mean(dtype=np.float64) == pytest.approx(density, rel=1e-5)
    assert np.all((world.chance > 0) & (world.chance < 1))


@pytest.mark.parametrize("name", NAMES)
def test_relevance_and_observation_occur_as_often_as_their_chances_say(name: str) -> None:
    world = drawn(name)
    likely = world.chance > np.median(world.chance)
    if name != "mar":
        assert abs(z_of(world.observed[likely], world.chance[likely])) < LARGEST_Z
    assert abs(z_of(world.observed, world.chance)) < LARGEST_Z
    assert abs(z_of(world.relevant, expit(world.relevance_logit))) < LARGEST_Z


def test_the_logit_of_relevance_has_the_stated_parts() -> None:
    world = drawn("mixed")
    of_user = world.relevance_logit - 0.9 * world.affinity - 0.8 * world.quality
    np.testing.assert_allclose(of_user, np.broadcast_to(of_user[:, :1], of_user.shape), atol=1e-5)
    level = (of_user[:, 0] + 2.2) / 0.7
    assert abs(level.mean()) * np.sqrt(300) < LARGEST_Z
    assert fits_chi_square(squares(level), 299)


def test_affinity_is_a_product_of_six_tastes_with_variance_one() -> None:
    affinity = drawn("pop").affinity
    values = np.linalg.svd(affinity, compute_uv=False)
    assert values[5] > 1e3 * values[6]
    # Var(x.y / sqrt(6)) is 1; its mean square over users and items varies as those of 6 * 300 and 6 * 400 squares do
    deviation = np.sqrt(2 / (6 * 300) + 2 / (6 * 400))
    assert abs(float((affinity**2).mean()) - 1) < LARGEST_Z * deviation


@pytest.mark.parametrize("name", NAMES)
def test_popularity_and_quality_have_the_correlation_rho(name: str) -> None:
    world = SelectionWorld.preset(name, users=2, items=5000).draw(3)
    correlation = np.corrcoef(world.popularity, world.quality)[0, 1]
    distance = np.arctanh(correlation) - np.arctanh(SELECTION_WORLDS[name].rho)  # Fisher's z
    assert abs(distance) * np.sqrt(5000 - 3) < LARGEST_Z
    assert fits_chi_square(squares(world.popularity), 4999)


def test_popularity_is_quality_where_they_correlate_fully() -> None:
    world = SelectionWorld(users=3, items=50, alpha=1, rho=-1).draw(4)
    assert np.array_equal(world.popularity, -world.quality)


@pytest.mark.parametrize("name", NAMES)
def test_the_logit_of_observation_has_the_stated_parts(name: str) -> None:
    model, world = SELECTION_WORLDS[name], drawn(name)
    rest = logit(world.chance.astype(np.float64)) - model.alpha * world.popularity - model.beta * world.affinity
    rest -= model.kappa * world.relevant
    np.testing.assert_allclose(rest, np.broadcast_to(rest[:, :1], rest.shape), atol=1e-4)
    activity = rest[:, 0]  # and the constant
    if model.activity:
        assert fits_chi_square(squares(activity) / model.activity**2, 299)
    else:
        assert np.ptp(activity) < 1e-6


def test_kappa_multiplies_the_odds_of_relevant_pairs_by_its_exponential() -> None:
    plain = SelectionWorld(users=200, items=150, alpha=0.7, beta=0.3)
    without, selected = plain.draw(5), replace(plain, kappa=1.5).draw(5)
    assert np.array_equal(without.relevant, selected.relevant)
    moved = logit(selected.chance.astype(np.float64)) - logit(without.chance.astype(np.float64))
    relevant = selected.relevant
    assert moved[relevant].mean() - moved[~relevant].mean() == pytest.approx(1.5, abs=1e-4)
    assert np.ptp(moved[relevant]) < 1e-4


def test_what_is_observed_is_better_or_worse_than_the_rest_as_the_world_says() -> None:
    gain = {name: drawn(name).relevant[drawn(name).observed].mean() / drawn(name).relevant.mean() for name in NAMES}
    for name in ("popq", "personal", "self", "mixed"):
        assert gain[name] > 1.2
    assert gain["adverse"] < 0.6
    assert gain["self"] > gain["mixed"] > gain["popq"]


def test_mar_observes_all_pairs_with_one_chance() -> None:
    world = drawn("mar")
    assert np.ptp(world.chance) == 0
    for axis in (0, 1):
        counts = world.observed.sum(axis=axis)
        assert fits_chi_square(squares(counts) / (counts.mean() * (1 - 0.06)), len(counts) - 1)
    both = world.relevant & world.observed
    assert abs(z_of(both[world.relevant], world.chance[world.relevant])) < LARGEST_Z


def test_a_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    model = SelectionWorld.preset("mixed", users=40, items=30)
    first, again, other = model.draw(6), model.draw(np.random.default_rng(6)), model.draw(7)
    for field in ("relevant", "chance", "observed", "affinity", "relevance_logit"):
        assert getattr(first, field).tobytes() == getattr(again, field).tobytes()
        assert getattr(first, field).tobytes() != getattr(other, field).tobytes()


def test_worlds_with_one_seed_have_the_same_truth_and_observe_different_pairs() -> None:
    worlds = [drawn(name) for name in NAMES]
    assert len({world.relevant.tobytes() for world in worlds}) == 1
    assert len({world.observed.tobytes() for world in worlds}) == len(NAMES)


def test_the_base_sets_the_share_of_relevant_pairs() -> None:
    shares = [SelectionWorld.preset("pop", base=base).draw(8).relevant.mean() for base in (-5, -2.2, 0)]
    assert shares[0] < 0.03 < shares[1] < 0.2 < shares[2]
    assert shares[2] == pytest.approx(0.5, abs=0.1)


def test_the_log_has_the_observed_pairs_with_label_and_chance() -> None:
    world = drawn("self")
    log = world.log
    assert (len(log), log.n_users, log.n_items) == (world.observed.sum(), 300, 400)
    assert log.values is not None
    assert log.propensity is not None
    assert np.array_equal(log.values == 1, world.relevant[log.users, log.items])
    assert np.array_equal(log.propensity, world.chance[log.users, log.items])
    assert np.all(world.observed[log.users, log.items])


def test_inverse_chances_of_the_log_give_the_true_share_of_relevant_pairs() -> None:
    world = drawn("adverse")
    log, chance = world.log, world.chance.astype(np.float64)
    assert log.values is not None
    assert log.propensity is not None
    estimate = (log.values / log.propensity).sum()
    deviation = np.sqrt((world.relevant * (1 - chance) / chance).sum())
    assert abs(estimate - world.relevant.sum()) < LARGEST_Z * deviation


def test_a_random_slice_is_distinct_unobserved_labelled_and_seeded() -> None:
    world = drawn("mixed")
    sample, again, other = (world.random_slice(500, seed) for seed in (9, 9, 10))
    assert (len(sample), sample.duplicates, sample.n_users, sample.n_items) == (500, 0, 300, 400)
    assert not world.observed[sample.users, sample.items].any()
    assert sample.values is not None
    assert np.array_equal(sample.values == 1, world.relevant[sample.users, sample.items])
    assert sample.sha256 == again.sha256 != other.sha256


def test_a_random_slice_can_avoid_other_pairs_than_the_observed() -> None:
    world = drawn("mixed")
    assert len(world.random_slice(world.relevant.size, outside=np.zeros_like(world.observed))) == world.relevant.size
    first = world.random_slice(500, 11)
    used = world.observed.copy()
    used[first.users, first.items] = True
    second = world.random_slice(500, 11, outside=used)
    assert not used[second.users, second.items].any()


def test_every_pair_outside_the_mask_is_drawn_equally_often() -> None:
    rng = np.random.default_rng(12)
    mask = rng.random((6, 5)) < 0.4
    counts = np.zeros(mask.shape)
    for _ in range(4000):
        users, items = draw_outside(mask, 4, rng)
        counts[users, items] += 1
    assert counts[mask].sum() == 0
    # draws without replacement vary less than the multinomial that the test assumes, so it fails even more rarely
    assert chisquare(counts[~mask]).pvalue > 1e-4


def test_a_slice_that_is_too_large_is_refused_and_one_of_all_pairs_is_not() -> None:
    mask = np.eye(3, dtype=bool)
    users, items = draw_outside(mask, 6)
    assert list(zip(users.tolist(), items.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    with pytest.raises(DataError, match="cannot draw 7 pairs, because 6 are outside the mask"):
        draw_outside(mask, 7)


@pytest.mark.parametrize(
    "settings",
    [
        {"users": 0},
        {"items": 0},
        {"tastes": 0},
        {"base": float("nan")},
        {"alpha": float("inf")},
        {"rho": 1.1},
        {"activity": -1.0},
        {"density": 0.0},
        {"density": 1.0},
    ],
    ids=str,
)
def test_settings_outside_their_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"selection world: {next(iter(settings))}="):
        SelectionWorld(**settings)


def test_an_unknown_world_gets_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'mixed'"):
        SelectionWorld.preset("mixd")


@pytest.mark.slow
def test_five_thousand_users_and_items_can_be_drawn() -> None:
    world = SelectionWorld.preset("mixed", users=5000, items=5000).draw(13)
    assert world.chance.mean(dtype=np.float64) == pytest.approx(0.06, rel=1e-4)
    assert abs(z_of(world.observed, world.chance)) < LARGEST_Z
