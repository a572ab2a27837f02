"""Theorems of Yang et al. (2018), checked by enumeration over every pattern of observation, so without any chance."""

import numpy as np
import pytest

from unskew.estimators import Aoa, Ips, Rows, Snips
from unskew.testing.worlds.relevant_items import Relevant

WORLDS = [Relevant.random(counts, seed) for seed, counts in enumerate([[1], [5], [2, 3], [1, 1, 4], [1, 2, 3, 4]])]
worlds = pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"counts {world.counts.astype(int).tolist()}")


def moments(values: list[tuple[float, float]]) -> tuple[float, float]:
    """Mean and variance of values with probabilities."""
    mean = sum(p * v for v, p in values)
    return mean, sum(p * (v - mean) ** 2 for v, p in values)


@worlds
def test_the_expectation_of_ips_is_the_truth(world: Relevant) -> None:
    """Users with nothing observed count as 0, or this fails."""
    values = [(world.value(Ips(), seen) or 0.0, p) for seen, p in world.patterns()]
    assert sum(p for _, p in values) == pytest.approx(1)
    assert moments(values)[0] == pytest.approx(world.truth, rel=1e-12)


@worlds
def test_the_expectation_of_ips_of_a_sum_is_the_true_sum(world: Relevant) -> None:
    values = [(world.value(Ips(), seen, total=True) or 0.0, p) for seen, p in world.patterns()]
    assert moments(values)[0] == pytest.approx(world.gains.sum() / len(world.counts), rel=1e-12)


@worlds
def test_the_variance_of_ips_is_the_formula(world: Relevant) -> None:
    """(1/|U|^2) sum_u |S_u|^-2 sum_i c^2 (1 - P) / P."""
    values = [(world.value(Ips(), seen) or 0.0, p) for seen, p in world.patterns()]
    inside = world.gains**2 * (1 - world.propensity) / world.propensity / world.counts[world.user] ** 2
    assert moments(values)[1] == pytest.approx(inside.sum() / len(world.counts) ** 2, rel=1e-9)


@worlds
def test_the_weights_add_up_to_the_number_of_relevant_items_in_expectation(world: Relevant) -> None:
    """The control variate of Yang et al. (2018)."""
    mean = sum(p * float((1 / world.propensity[seen]).sum()) for seen, p in world.patterns())
    assert mean == pytest.approx(len(world.user), rel=1e-12)


def test_dropping_users_with_nothing_observed_would_bias_ips() -> None:
    """So the rule is needed: here the truth is missed by more than a tenth without it."""
    world = WORLDS[3]
    kept = []
    for seen, p in world.patterns():
        users, user = np.unique(world.user[seen], return_inverse=True)
        if len(users):
            rows = Rows(world.gains[seen], user, world.propensity[seen], total=world.counts[users])
            kept.append((float(Ips().terms(rows, "mean").numerator.mean()), p))
    mean = moments(kept)[0] / sum(p for _, p in kept)
    assert abs(mean - world.truth) > 0.1 * world.truth


def exact_mean(snips: Snips, pairs: int, *, per_user: int) -> float:
    """E[estimate | something observed] for `pairs` items of gain 1, P 3/4 and as many of gain 0, P 1/4.

    What was observed matters only through the two counts, so they are enumerated. Each possible outcome is handed
    to the estimator as rows of one user, or of many with one observed row each.
    """
    from scipy.stats import binom

    total = mass = 0.0
    for high in range(pairs + 1):
        for low in range(pairs + 1):
            if high + low == 0:
                continue
            p = float(binom.pmf(high, pairs, 0.75) * binom.pmf(low, pairs, 0.25))
            gains = np.repeat([1.0, 0.0], [high, low])
            propensity = np.repeat([0.75, 0.25], [high, low])
            user = np.arange(high + low) if per_user == 1 else np.zeros(high + low, int)
            value = snips.terms(Rows(gains, user, propensity), "mean").value
            assert value is not None
            total += p * value
            mass += p
    return total / mass


@pytest.mark.parametrize(("per", "per_user"), [("user", 0), ("pair", 0), ("pair", 1), ("balanced", 1)])
def test_the_bias_of_snips_falls_as_one_over_the_number_of_relevant_pairs(per: str, per_user: int) -> None:
    """Slope about -1 on log scales. Per user it needs long users; per pair, many users suffice."""
    sizes = np.array([8, 16, 32])
    bias = [abs(exact_mean(Snips(per=per), n, per_user=per_user) - 0.5) for n in sizes.tolist()]  # type: ignore[arg-type]
    slope = np.polyfit(np.log(sizes), np.log(bias), 1)[0]
    assert slope == pytest.approx(-1, abs=0.1)
    assert bias[-1] < 0.02


def test_snips_per_user_does_not_correct_users_with_one_row_however_many_they_are() -> None:
    """Its ratio is then the row's own gain, so it stays at the naive 3/4; the truth is 1/2."""
    values = [exact_mean(Snips(per="user"), n, per_user=1) for n in (8, 16, 32)]
    assert min(values) > 0.75
    assert values[-1] == pytest.approx(0.75, abs=0.01)


def test_the_naive_average_is_biased_towards_what_is_observed_more() -> None:
    world = WORLDS[4]
    values = [(v, p) for seen, p in world.patterns() if (v := world.value(Aoa(), seen)) is not None]
    mean = moments(values)[0] / sum(p for _, p in values)
    assert abs(mean - world.truth) > 0.01
