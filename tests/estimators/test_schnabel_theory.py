"""What Schnabel et al. 2016 prove of estimates over all pairs, mostly by enumeration, so without any chance."""

import itertools
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from unskew.arrays import Bools, Floats
from unskew.estimators import (
    Aoa,
    Estimator,
    Ips,
    Rows,
    Snips,
    erm_bound,
    ips_bias,
    ips_variance,
    misspecified_bound,
    tail_bound,
)
from unskew.simulators import MovieLovers

NAIVE, IPS, SNIPS = Aoa(), Ips(), Snips()

Pattern = tuple[Bools, float]

rng = np.random.default_rng(5)
LOSS = rng.uniform(0, 4, (2, 3))
P = rng.uniform(0.1, 0.9, (2, 3))
ASSUMED = rng.uniform(0.1, 0.9, (2, 3))
HYPOTHESES = rng.uniform(0, 4, (5, 2, 3))


def estimate(estimator: Estimator, loss: Floats, propensity: Floats, observed: Bools) -> float | None:
    """The estimator's number from what was observed; None where it has none."""
    return estimator.terms(Rows.of_matrix(loss, propensity, observed), "loss").value


def by_definition(loss: Floats, propensity: Floats, observed: Bools) -> dict[Estimator, float]:
    """Schnabel et al. 2016, eqs. 5, 10 and 11, cell by cell; for at least one observation."""
    losses, weights, weighted = 0.0, 0.0, 0.0
    for cell in zip(*np.nonzero(observed), strict=True):
        losses += loss[cell]
        weights += 1 / propensity[cell]
        weighted += loss[cell] / propensity[cell]
    return {NAIVE: losses / observed.sum(), IPS: weighted / loss.size, SNIPS: weighted / weights}


def independent(propensity: Floats) -> list[Pattern]:
    """Every pattern with its probability, when each cell is tossed for alone."""
    patterns = []
    for bits in itertools.product([False, True], repeat=propensity.size):
        observed = np.array(bits).reshape(propensity.shape)
        patterns.append((observed, float(np.prod(np.where(observed, propensity, 1 - propensity)))))
    return patterns


def nested(propensity: Floats) -> list[Pattern]:
    """Patterns of one toss for all cells, which observes those whose P is above it: the same P, all dependent."""
    steps = np.concatenate([[0.0], np.unique(propensity), [1.0]])
    return [(propensity >= high, float(high - low)) for low, high in itertools.pairwise(steps.tolist()) if high > low]


def moments(value: Callable[[Bools], float | None], patterns: Iterable[Pattern]) -> tuple[float, float]:
    """Mean and variance over the patterns in which there is a value."""
    found = [(value(observed), chance) for observed, chance in patterns]
    values = np.array([v for v, _ in found if v is not None])
    chances = np.array([c for v, c in found if v is not None])
    mean = float(values @ chances / chances.sum())
    return mean, float((values - mean) ** 2 @ chances / chances.sum())


def draws(propensity: Floats, n: int, seed: int) -> Iterable[Bools]:
    """Independent observation, n times."""
    rng = np.random.default_rng(seed)
    return (rng.random(propensity.shape) < propensity for _ in range(n))


def below_all_but(failures: int, n: int, eta: float) -> bool:
    """Whether so many failures in n go with a chance of at most eta; says no wrongly once in a million seeds."""
    from scipy.stats import binom

    return bool(failures <= binom.isf(1e-6, n, eta))


def test_the_estimators_are_those_of_the_definitions() -> None:
    for observed, _ in independent(P)[1:]:
        for estimator, value in by_definition(LOSS, P, observed).items():
            assert estimate(estimator, LOSS, P, observed) == pytest.approx(value, rel=1e-12)


def test_on_nothing_ips_is_zero_and_the_others_are_undefined() -> None:
    nothing = np.zeros((2, 3), dtype=bool)
    assert estimate(IPS, LOSS, P, nothing) == 0
    assert estimate(SNIPS, LOSS, P, nothing) is None
    assert estimate(NAIVE, LOSS, P, nothing) is None


@pytest.mark.parametrize("patterns", [independent(P), nested(P)], ids=["independent", "nested"])
def test_the_expectation_of_ips_is_the_truth_even_when_cells_depend_on_one_another(patterns: list[Pattern]) -> None:
    assert sum(chance for _, chance in patterns) == pytest.approx(1)
    assert sum(chance * observed for observed, chance in patterns) == pytest.approx(P)
    mean, _ = moments(lambda observed: estimate(IPS, LOSS, P, observed), patterns)
    assert mean == pytest.approx(LOSS.mean(), rel=1e-12)


@pytest.mark.parametrize("estimator", [NAIVE, SNIPS], ids=str)
def test_the_expectation_of_the_others_is_not_the_truth(estimator: Estimator) -> None:
    mean, _ = moments(lambda observed: estimate(estimator, LOSS, P, observed), independent(P))
    assert abs(mean - LOSS.mean()) > 0.01


def test_the_variance_of_ips_is_the_formula() -> None:
    _, variance = moments(lambda observed: estimate(IPS, LOSS, P, observed), independent(P))
    assert ips_variance(LOSS, P) == pytest.approx(variance, rel=1e-12)


def test_the_variance_is_another_when_cells_depend_on_one_another() -> None:
    _, variance = moments(lambda observed: estimate(IPS, LOSS, P, observed), nested(P))
    assert variance > 2 * ips_variance(LOSS, P)


def test_the_variance_estimated_from_a_log_is_right_on_average() -> None:
    """The sum over observed cells of loss^2 (1 - P) / P^2 over (UI)^2."""

    def squared_error(observed: np.ndarray) -> float:
        errors = IPS.terms(Rows.of_matrix(LOSS, P, observed), "loss").row_errors
        assert errors is not None
        return float(np.sum(errors**2))

    assert moments(squared_error, independent(P))[0] == pytest.approx(ips_variance(LOSS, P), rel=1e-12)


@pytest.mark.parametrize("patterns", [independent(P), nested(P)], ids=["independent", "nested"])
def test_wrong_propensities_bias_ips_as_lemma_51_says(patterns: list[Pattern]) -> None:
    """Truth less expectation, in this sign; the usual bias is its negative."""
    mean, _ = moments(lambda observed: estimate(IPS, LOSS, ASSUMED, observed), patterns)
    assert ips_bias(LOSS, P, ASSUMED) == pytest.approx(LOSS.mean() - mean, rel=1e-12)


def test_the_tail_bound_fails_at_most_as_often_as_it_says_exactly() -> None:
    for eta in (0.05, 0.2, 0.5, 0.9):
        bound = tail_bound(LOSS, P, eta)
        failing = [
            chance
            for observed, chance in independent(P)
            if abs((estimate(IPS, LOSS, P, observed) or 0.0) - LOSS.mean()) > bound
        ]
        assert sum(failing) <= eta


def test_the_tail_bound_fails_at_most_as_often_as_it_says_on_many_cells() -> None:
    """30 by 40 cells, eta = .1, 2000 draws."""
    world = np.random.default_rng(1)
    loss, propensity = world.uniform(0, 4, (30, 40)), world.uniform(0.05, 0.9, (30, 40))
    bound, eta = tail_bound(loss, propensity, 0.1), 0.1
    errors = [(estimate(IPS, loss, propensity, seen) or 0.0) - loss.mean() for seen in draws(propensity, 2000, seed=2)]
    assert below_all_but(int(np.sum(np.abs(errors) > bound)), 2000, eta)
    # and the draws are what theory says, so that the count above means something: 5 standard errors of a deviation
    assert np.std(errors) == pytest.approx(np.sqrt(ips_variance(loss, propensity)), rel=5 / np.sqrt(2 * 2000))


def test_six_tenths_of_the_tail_bound_would_not_do() -> None:
    """At P = 1/2 the bound is 2.45 standard deviations, so six tenths of it are 1.47, which fail in 14 % of draws."""
    loss, propensity = np.ones((20, 30)), np.full((20, 30), 0.5)
    bound = tail_bound(loss, propensity, 0.1)
    assert bound == pytest.approx(2.4477 * np.sqrt(ips_variance(loss, propensity)), rel=1e-4)
    errors = [abs((estimate(IPS, loss, propensity, seen) or 0.0) - 1) for seen in draws(propensity, 4000, seed=3)]
    assert not below_all_but(int(np.sum(np.array(errors) > 0.6 * bound)), 4000, 0.1)
    assert below_all_but(int(np.sum(np.array(errors) > bound)), 4000, 0.1)


def chosen(hypotheses: Floats, propensity: Floats, observed: np.ndarray) -> tuple[int, float]:
    """The hypothesis with the least IPS estimate, and that estimate."""
    values = [estimate(IPS, loss, propensity, observed) or 0.0 for loss in hypotheses]
    best = int(np.argmin(values))
    return best, values[best]


@pytest.mark.parametrize("eta", [0.1, 0.5])
def test_the_risk_of_the_chosen_hypothesis_is_below_the_bound_of_theorem_42(eta: float) -> None:
    bounded, unbounded = 0.0, 0.0
    for observed, chance in independent(P):
        best, value = chosen(HYPOTHESES, P, observed)
        bound = erm_bound(value, P, largest_loss=4, hypotheses=len(HYPOTHESES), eta=eta)
        bounded += chance * (HYPOTHESES[best].mean() <= bound)
        unbounded += chance * (HYPOTHESES[best].mean() <= value)
    assert bounded >= 1 - eta
    # the chosen one's own estimate is too good to be true: without the added term the claim is false
    assert unbounded < 0.5


@pytest.mark.parametrize("eta", [0.1, 0.5])
def test_the_risk_is_below_the_bound_of_theorem_52_with_wrong_propensities(eta: float) -> None:
    bounded = 0.0
    for observed, chance in independent(P):
        best, value = chosen(HYPOTHESES, ASSUMED, observed)
        bound = misspecified_bound(value, P, ASSUMED, largest_loss=4, hypotheses=len(HYPOTHESES), eta=eta)
        bounded += chance * (HYPOTHESES[best].mean() <= bound)
    assert bounded >= 1 - eta


def test_both_bounds_hold_on_many_cells() -> None:
    """20 by 30 cells, 16 hypotheses, eta = .1, 400 draws; on so many cells the bounds are worth something."""
    world = np.random.default_rng(7)
    hypotheses, propensity = world.uniform(0, 1, (16, 20, 30)), world.uniform(0.3, 0.9, (20, 30))
    assumed = np.clip(propensity * world.uniform(0.8, 1.25, (20, 30)), 0.05, 1)
    settings = {"largest_loss": 1.0, "hypotheses": 16, "eta": 0.1}
    right, wrong = [], []
    for observed in draws(propensity, 400, seed=8):
        best, value = chosen(hypotheses, propensity, observed)
        right.append(erm_bound(value, propensity, **settings) - hypotheses[best].mean())  # type: ignore[arg-type]
        best, value = chosen(hypotheses, assumed, observed)
        bound = misspecified_bound(value, propensity, assumed, **settings)  # type: ignore[arg-type]
        wrong.append(bound - hypotheses[best].mean())
    assert below_all_but(int(np.sum(np.array(right) < 0)), 400, 0.1)
    assert below_all_but(int(np.sum(np.array(wrong) < 0)), 400, 0.1)
    assert max(right) < 0.25


def test_without_its_middle_term_theorem_52_would_be_false() -> None:
    """All losses 1, P = .1 and 1 assumed: the estimate is near .1 and what theorem 4.2 adds to it far too little."""
    loss, propensity, assumed = np.ones((30, 40)), np.full((30, 40), 0.1), np.ones((30, 40))
    for observed in draws(propensity, 50, seed=9):
        value = estimate(IPS, loss, assumed, observed) or 0.0
        assert erm_bound(value, assumed, largest_loss=1, hypotheses=1, eta=0.1) < 0.25
        assert misspecified_bound(value, propensity, assumed, largest_loss=1, hypotheses=1, eta=0.1) > 0.95


def test_ips_and_snips_choose_the_same_hypothesis() -> None:
    """Their ratio does not depend on the prediction (Schnabel et al. 2016, section 4)."""
    for observed, _ in independent(P)[1:]:
        by_ips = [estimate(IPS, loss, P, observed) for loss in HYPOTHESES]
        by_snips = [estimate(SNIPS, loss, P, observed) for loss in HYPOTHESES]
        assert np.argsort(by_ips).tolist() == np.argsort(by_snips).tolist()  # type: ignore[arg-type]


TOY = MovieLovers(p=0.2)
TOY_LOSSES = [np.abs(TOY.ratings - prediction) for prediction in TOY.predictions]


def toy_moments(estimator: Estimator, loss: Floats) -> tuple[float, float]:
    """Mean and variance over the 64 patterns, without the empty one where there is no value."""
    return moments(lambda observed: estimate(estimator, loss, TOY.propensity, observed), independent(TOY.propensity))


def test_movie_lovers_true_losses_and_what_the_naive_average_tends_to() -> None:
    assert [loss.mean() for loss in TOY_LOSSES] == pytest.approx([2 / 3, 4 / 3])
    limits = [float((loss * TOY.propensity).sum() / TOY.propensity.sum()) for loss in TOY_LOSSES]
    assert limits == pytest.approx([0.625, 0.25])


def test_movie_lovers_on_the_sample_drawn_in_figure_1() -> None:
    """27 cells: 16 liked, 8 dramas, 3 disliked. The naive average has the wrong order, SNIPS the right one."""
    # eight users of either kind, two films of each genre: 32 cells are liked, 32 dramas and 32 disliked
    world = MovieLovers(p=0.2, lovers=(8, 8), films=(2, 2, 2))
    flat = np.zeros(world.ratings.size, dtype=bool)
    for stars, count in ((5, 16), (3, 8), (1, 3)):
        flat[np.flatnonzero(world.ratings == stars)[:count]] = True
    observed = flat.reshape(world.ratings.shape)
    losses = [np.abs(world.ratings - prediction) for prediction in world.predictions]
    naive = [estimate(NAIVE, loss, world.propensity, observed) for loss in losses]
    snips = [estimate(SNIPS, loss, world.propensity, observed) for loss in losses]
    assert naive == pytest.approx([16 / 27, 12 / 27])
    assert snips == pytest.approx([32 / 62, 120 / 62])


def test_movie_lovers_variances_of_ips() -> None:
    assert [ips_variance(loss, TOY.propensity) for loss in TOY_LOSSES] == pytest.approx([2, 1568 / 36])
    assert [toy_moments(IPS, loss)[1] for loss in TOY_LOSSES] == pytest.approx([2.0, 43.5556], abs=5e-5)


def test_movie_lovers_warn_that_snips_is_badly_biased_on_six_cells() -> None:
    """Even the order is wrong: .64 and .29 for 2/3 and 4/3."""
    means = [toy_moments(SNIPS, loss)[0] for loss in TOY_LOSSES]
    assert means == pytest.approx([0.64164, 0.29456], abs=5e-6)


def test_movie_lovers_bias_when_one_in_ten_is_assumed_everywhere() -> None:
    """The dramas are right by luck; each of two disliked cells adds 4 (1 - .02 / .1) / 6."""
    assumed = np.full((2, 3), 0.1)
    assert ips_bias(TOY_LOSSES[0], TOY.propensity, assumed) == pytest.approx(0, abs=1e-15)
    assert ips_bias(TOY_LOSSES[1], TOY.propensity, assumed) == pytest.approx(1.066667, abs=5e-7)
    mean, _ = moments(lambda o: estimate(IPS, TOY_LOSSES[1], assumed, o), independent(TOY.propensity))
    assert TOY_LOSSES[1].mean() - mean == pytest.approx(1.066667, abs=5e-7)
