"""The cost of random exposure: formulas by enumeration, and promised widths against intervals of drawn tests."""

from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_users import every_sample
from scipy.stats import betabinom, hypergeom

from unskew.errors import ConfigError
from unskew.estimators import Rows, Terms, Ure
from unskew.estimators.exposed.planning import ExposurePlan, exposures_needed, interval_width, recall_variance

POOLED = Ure(aggregate="pooled")
CASE: dict[str, Any] = {"users": 1400, "population": 2000, "positive_share": 0.05, "recall": 0.1}


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_variance_of_recall_given_n_is_that_of_all_samples(n: int) -> None:
    """Seven items, four liked, of which two are in the top 3."""
    labels = (1, 0, 1, 0, 1, 0, 1)
    found = []
    for size in range(1, 8):
        world, picks = every_sample(labels, [1.0, 1.0, 1.0, 0, 0, 0, 0], size)
        numbers = world.rows(picks).positives
        values = world.means(picks, Ure()).numerator[numbers == n]
        if len(values):
            found.append(values.var())
    assert found == pytest.approx([recall_variance(0.5, n, 4)] * len(found), abs=1e-15)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 40), st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0, 1), st.data())
def test_both_parts_together_are_the_short_formula(
    population: int, share: float, recall: float, spread: float, likeness: float, data: st.DataObject
) -> None:
    """R (1 - R) / (U l pi) times 1 + rho (l - 1) (pi + (1 - pi) delta)."""
    exposed = data.draw(st.integers(1, population))
    plan = ExposurePlan(10, population, recall, share, None, spread, likeness)
    effect = 1 + likeness * (exposed - 1) * (share + (1 - share) * spread)
    assert sum(plan.variances(exposed)) == pytest.approx(recall * (1 - recall) / (10 * exposed * share) * effect)


def test_the_parts_are_those_of_a_user_with_every_number_of_positives_hits_and_exposed_hits() -> None:
    """L = 8, l = 3, by sums over N, M and what is exposed of both; U = 1 is not allowed, so it is divided out."""
    population, exposed, share, recall, spread, likeness = 8, 3, 0.3, 0.4, 0.2, 0.25
    a, b = (part * (1 / spread - 1) for part in (share, 1 - share))
    c, d = (part * (1 / likeness - 1) for part in (recall, 1 - recall))
    drawing = users = 0.0
    for positives in range(population + 1):
        for hits in range(positives + 1):
            chance = betabinom.pmf(positives, population, a, b) * betabinom.pmf(hits, positives, c, d)
            ways, values = [], []
            for m in range(min(hits, exposed) + 1):
                for missed in range(min(positives - hits, exposed - m) + 1):
                    rest = population - positives
                    ways.append(comb(hits, m) * comb(positives - hits, missed) * comb(rest, exposed - m - missed))
                    values.append((1 - recall) * m - recall * missed)
            mean = np.average(values, weights=ways)
            drawing += chance * np.average((np.array(values) - mean) ** 2, weights=ways)
            users += chance * mean**2
    per_user = (exposed * share) ** 2
    plan = ExposurePlan(2, population, recall, share, None, spread, likeness)
    assert plan.variances(exposed) == pytest.approx((drawing / per_user / 2, users / per_user / 2))


def test_the_variance_of_precision_is_the_sum_over_hits_and_exposed_hits() -> None:
    population, exposed, cutoff, precision, likeness = 12, 5, 4, 0.3, 0.2
    c, d = (part * (1 / likeness - 1) for part in (precision, 1 - precision))
    hits = np.arange(cutoff + 1)
    chances = betabinom.pmf(hits, cutoff, c, d)
    scale = population / exposed / cutoff
    found = np.arange(exposed + 1)
    drawn = [hypergeom.pmf(found, population, m, exposed) @ (scale * found - m / cutoff) ** 2 for m in hits]
    inside = float(chances @ drawn)
    between = float(np.sum(chances * (hits / cutoff - precision) ** 2))
    plan = ExposurePlan(5, population, precision, cutoff=cutoff, likeness=likeness)
    assert plan.variances(exposed) == pytest.approx((inside / 5, between / 5))


def drawn_test(plan: ExposurePlan, exposed: int, rng: np.random.Generator) -> Rows:
    """Users as the plan takes them, and a sample of each: hits first, then other positives, then the rest."""
    share, spread = plan.share or 0.0, plan.spread
    shares = rng.beta(share * (1 / spread - 1), (1 - share) * (1 / spread - 1), plan.users)
    positives = rng.binomial(plan.population, shares)
    rates = rng.beta(plan.value * (1 / plan.likeness - 1), (1 - plan.value) * (1 / plan.likeness - 1), plan.users)
    hits = rng.binomial(positives, rates)
    found = rng.hypergeometric(hits, plan.population - hits, exposed)
    missed = rng.hypergeometric(positives - hits, plan.population - positives, exposed - found)
    place = np.tile(np.arange(exposed), (plan.users, 1))
    gains, positive = place < found[:, None], place < (found + missed)[:, None]
    return Rows(
        gains.ravel().astype(float),
        np.repeat(np.arange(plan.users), exposed),
        total=np.full(plan.users, float(plan.population)),
        positive=positive.ravel(),
    )


def drawn_terms(plan: ExposurePlan, exposed: int, seed: int) -> list[Terms]:
    rng = np.random.default_rng(seed)
    return [POOLED.terms(drawn_test(plan, exposed, rng), "mean") for _ in range(200)]


@pytest.mark.parametrize(
    ("plan", "width"),
    [
        (ExposurePlan(1400, 2000, 0.1, 0.05), 0.03),
        (ExposurePlan(300, 300, 0.3, 0.18, spread=0.15, likeness=0.2), 0.08),
        (ExposurePlan(800, 60, 0.5, 0.3, spread=0.05, likeness=0.3), 0.05),
    ],
)
def test_the_promised_width_is_that_of_the_intervals_of_such_a_test(plan: ExposurePlan, width: float) -> None:
    """200 tests: the mean of their widths is within 4 of its standard errors, each below .6 %, of what was promised.

    200 values know their own spread to 5 %, and 20 % are four times that.
    """
    terms = drawn_terms(plan, plan.needed(width), 3)
    widths = np.array([2 * 1.959964 * (each.std_error or 0.0) for each in terms])
    promised = plan.width(plan.needed(width))
    assert width * 0.97 < promised <= width
    error = widths.std() / sqrt(200)
    assert error < 0.006 * promised
    assert abs(widths.mean() - promised) < 4 * error
    assert np.std([each.value for each in terms]) * 2 * 1.959964 == pytest.approx(promised, rel=0.2)


def test_the_part_of_drawing_is_what_intervals_of_these_users_alone_have() -> None:
    """200 tests: the mean of their variances of the draw within 4 of its standard errors, and these below 2 %."""
    plan = ExposurePlan(800, 60, 0.5, 0.3, spread=0.05, likeness=0.3)
    found = np.array([0.0 if each.rows is None else float(np.sum(each.rows**2)) for each in drawn_terms(plan, 20, 5)])
    drawing, users = plan.variances(20)
    error = found.std() / sqrt(200)
    assert error < 0.02 * drawing
    assert abs(found.mean() - drawing) < 4 * error
    assert users > drawing


def test_a_pilot_tells_what_the_plan_needs() -> None:
    """5,000 users: share, recall, spread and likeness as they were put in, within four times their usual error."""
    plan = ExposurePlan(5000, 300, 0.3, 0.18, spread=0.15, likeness=0.2)
    pilot = drawn_test(plan, 16, np.random.default_rng(0))
    found = ExposurePlan.from_pilot(pilot, users=700)
    assert (found.users, found.population) == (700, 300)
    assert (found.share, found.value) == pytest.approx((0.18, 0.3), abs=4 * 0.005)
    assert found.spread == pytest.approx(0.15, abs=4 * 0.005)
    assert found.likeness == pytest.approx(0.2, abs=4 * 0.01)
    error = POOLED.terms(pilot, "mean").std_error
    assert ExposurePlan.from_pilot(pilot).std_error(16) == pytest.approx(error, rel=0.01)


def test_a_pilot_of_another_metric_or_without_a_hit_is_refused() -> None:
    rows = Rows(np.zeros(2), np.array([0, 1]), total=np.full(2, 5.0), positive=np.array([True, True]))
    for hits in ([0.0, 0.0], [0.5, 1.0], [1.0]):
        with pytest.raises(ConfigError, match="pilot"):
            ExposurePlan.from_pilot(rows.with_worth(np.array(hits)))


@settings(max_examples=60, deadline=None)
@given(st.floats(0.015, 0.3))
def test_one_item_fewer_would_be_too_few(width: float) -> None:
    needed = exposures_needed(width, **CASE)
    assert interval_width(needed, **CASE) <= width
    assert needed == 1 or interval_width(needed - 1, **CASE) > width


def test_four_times_the_users_halve_the_width() -> None:
    assert interval_width(20, **{**CASE, "users": 5600}) == pytest.approx(interval_width(20, **CASE) / 2)


def test_positives_may_be_counted() -> None:
    counted = {"users": 1400, "population": 2000, "positives": 100, "recall": 0.1}
    assert interval_width(20, **counted) == interval_width(20, **CASE)


def test_a_difference_is_found_as_often_as_promised() -> None:
    """1,000 draws of normal estimates with the error and correlation of the plan: 80 % within 4 * 1.3 %."""
    plan = ExposurePlan(1400, 2000, 0.1, 0.05)
    needed = plan.needed_to_detect(0.03, correlation=0.4, power=0.8)
    a, b = (ExposurePlan(1400, 2000, value, 0.05).std_error(needed) for value in (0.085, 0.115))
    error = plan.gap_error(needed, 0.03, 0.4)
    assert error == pytest.approx(sqrt(a * a + b * b - 0.8 * a * b))
    rng = np.random.default_rng(0)
    pairs = rng.multivariate_normal([0.085, 0.115], [[a * a, 0.4 * a * b], [0.4 * a * b, b * b]], 1000)
    gaps = pairs[:, 1] - pairs[:, 0]
    assert np.mean(gaps > 1.959964 * error) == pytest.approx(0.8, abs=0.052)


def test_models_that_hit_the_same_items_need_fewer_of_them() -> None:
    plan = ExposurePlan(1400, 2000, 0.1, 0.05)
    needed = [plan.needed_to_detect(0.03, correlation=r) for r in (0.0, 0.5, 0.9)]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] > 2 * needed[2]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"users": 1}, "users 1 must be 2"),
        ({"population": 0}, "population 0 must be 1"),
        ({"recall": 0.0}, "recall 0 must be between"),
        ({"recall": float("nan")}, "recall nan"),
        ({"level": 1.0}, "level 1 must"),
        ({"spread": -0.1}, "spread -0.1"),
        ({"likeness": 1.5}, "likeness 1.5"),
        ({"positive_share": None}, "needs the share of positives"),
        ({"positives": 3}, "not both"),
        ({"positive_share": None, "positives": 2000}, "below the population"),
        ({"width": 0.0}, "width 0 must be above 0"),
        ({"width": 0.001}, "all 2,000 items of each give 0.012"),
    ],
)
def test_what_cannot_be_is_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        exposures_needed(**{"width": 0.02, **CASE, **changed})


def test_other_plans_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match="only 2 positives"):
        ExposurePlan(100, 40, 0.5, 0.05, cutoff=10)
    with pytest.raises(ConfigError, match="cut-off 41"):
        ExposurePlan(100, 40, 0.5, cutoff=41)
    plan = ExposurePlan(100, 40, 0.1, 0.2)
    for exposed in (0, 41):
        with pytest.raises(ConfigError, match=f"{exposed} exposed items"):
            plan.width(exposed)
    with pytest.raises(ConfigError, match="both models between 0 and 1"):
        plan.needed_to_detect(0.3)
    with pytest.raises(ConfigError, match="use more users"):
        plan.needed_to_detect(0.01)
    with pytest.raises(ConfigError, match="correlation 1"):
        plan.needed_to_detect(0.05, correlation=1)
    with pytest.raises(ConfigError, match="at most all"):
        recall_variance(0.5, 3, 2)
