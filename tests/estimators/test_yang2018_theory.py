"""What Yang et al. (2018) prove or say of their estimators, by exact sums over all that might have been observed.

Identities for fixed rows (equal propensities, gamma = -1, scale) are in test_estimators_contract.py, the cells of
Table 1 in test_estimators_goldens.py, a first set of worlds in test_estimators_theory.py; here they are drawn.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from unskew import Interactions, Split, evaluate
from unskew.arrays import Floats
from unskew.estimators import Aoa, Estimator, Ips, Rows, Snips
from unskew.metrics import ADG, AUC, Metric, Recall
from unskew.ranking import MatrixScorer
from unskew.studies.yang2018.table1 import EXAMPLE
from unskew.testing.worlds.relevant_items import Relevant

CHANCES = st.one_of(st.floats(0.02, 1), st.sampled_from([0.02, 0.5, 1.0]))


@st.composite
def worlds(draw: st.DrawFn) -> Relevant:
    """At most 12 relevant items of at most 4 users, some of them certain to be observed."""
    counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4).filter(lambda counts: sum(counts) <= 12))
    n = sum(counts)
    gains = draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    chances = draw(st.lists(CHANCES, min_size=n, max_size=n))
    return Relevant(np.repeat(np.arange(len(counts)), counts), np.array(gains), np.array(chances))


def outcomes(world: Relevant) -> tuple[Floats, Floats]:
    """Every pattern of observation as a row of zeros and ones, and its chance."""
    n = len(world.user)
    seen = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    return seen.astype(float), np.where(seen, world.propensity, 1 - world.propensity).prod(axis=1)


def values(world: Relevant, estimator: Estimator) -> Floats:
    """The estimate in every outcome, nan where there is none: each user in each outcome is a user in one call."""
    seen, _ = outcomes(world)
    outcome, item = np.nonzero(seen)
    n_users = len(world.counts)
    owner, user = np.unique(outcome * n_users + world.user[item], return_inverse=True)
    relevant = world.counts[owner % n_users]
    terms = estimator.terms(Rows(world.gains[item], user, world.propensity[item], total=relevant), "mean")
    parts = (terms.numerator, terms.denominator)
    sums = [np.bincount(owner // n_users, weights=part, minlength=len(seen)) for part in parts]
    if estimator.counts_empty_users:
        return np.asarray(sums[0] / n_users)
    ratio = np.full(len(seen), np.nan)
    return np.divide(sums[0], sums[1], out=ratio, where=sums[1] > 0)


def mean(world: Relevant, estimator: Estimator) -> float:
    """Expectation given that there is an estimate."""
    found, chance = values(world, estimator), outcomes(world)[1]
    there = ~np.isnan(found)
    return float(found[there] @ chance[there] / chance[there].sum())


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_the_expectation_of_ips_is_the_truth_in_any_world(world: Relevant) -> None:
    """Eq. 8, for the propensities that are true and above 0."""
    assert mean(world, Ips()) == pytest.approx(world.truth, rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_the_variance_of_ips_is_the_formula_in_any_world(world: Relevant) -> None:
    """(1/|U|^2) sum_u |S_u|^-2 sum_i c^2 (1 - P) / P."""
    chance = outcomes(world)[1]
    variance = float((values(world, Ips()) - world.truth) ** 2 @ chance)
    inside = world.gains**2 * (1 - world.propensity) / world.propensity / world.counts[world.user] ** 2
    assert variance == pytest.approx(float(inside.sum()) / len(world.counts) ** 2, rel=1e-9, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_the_weights_of_each_user_add_up_to_the_relevant_items_in_expectation(world: Relevant) -> None:
    """The control variate: E of the sum of 1/P over S*_u is |S_u|."""
    seen, chance = outcomes(world)
    weights = chance @ (seen / world.propensity)
    assert np.bincount(world.user, weights=weights) == pytest.approx(world.counts, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(worlds(), st.floats(0.05, 1))
def test_only_the_ratios_of_the_propensities_matter_to_snips_in_every_outcome(world: Relevant, scale: float) -> None:
    scaled = Relevant(world.user, world.gains, world.propensity * scale)
    for estimator in (Snips(per="user"), Snips(), Snips(per="balanced")):
        assert values(scaled, estimator) == pytest.approx(values(world, estimator), rel=1e-9, abs=1e-12, nan_ok=True)


def test_the_vectorised_outcomes_are_those_of_the_slow_loop() -> None:
    world = Relevant.random([1, 3, 2], 4)
    for estimator in (Aoa(), Ips(), Snips(), Snips(per="user"), Snips(per="balanced")):
        fast = dict(zip(map(tuple, outcomes(world)[0].astype(bool).tolist()), values(world, estimator), strict=True))
        for seen, _ in world.patterns():
            slow = world.value(estimator, seen)
            assert fast[tuple(seen.tolist())] == pytest.approx(np.nan if slow is None else slow, nan_ok=True)


@pytest.mark.parametrize("metric", [ADG(), ADG() @ 5, AUC(), AUC(literal=True), Recall() @ 5], ids=str)
def test_the_expectation_of_aoa_is_not_the_truth_in_the_example_of_the_paper(metric: Metric) -> None:
    """It is too high for the list of popular items, too low for the two that begin with the others."""
    gains = [EXAMPLE.gains(name, metric) for name in EXAMPLE.lists]
    bias = [EXAMPLE.expectation(worth, Aoa()) - worth.mean() for worth in gains]
    assert bias[0] > 0.07
    assert bias[1] < -0.07
    assert bias[2] < -0.03


def two_classes(n: int, estimator: Estimator) -> float:
    """E[estimate | something observed] of one user with n items of gain 1, P 3/4, and n of gain 0, P 1/4.

    Only the two counts matter, so the sum is over them, exactly; every pair of counts is a user in one call.
    """
    high, low = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    chance = binom.pmf(high, n, 0.75) * binom.pmf(low, n, 0.25)
    some = high + low > 0
    high, low, chance = high[some], low[some], chance[some]
    user = np.repeat(np.arange(len(high)), high + low)
    first = np.arange(len(user)) - np.repeat(np.cumsum(high + low) - high - low, high + low) < high[user]
    terms = estimator.terms(Rows(first.astype(float), user, np.where(first, 0.75, 0.25)), "mean")
    return float((terms.numerator / terms.denominator) @ chance / chance.sum())


def test_the_bias_of_snips_is_a_third_over_n_in_the_long_run_and_that_of_aoa_stays() -> None:
    """By the second-order formula of a ratio the bias tends to (3 - 1/3) / (8 n) = 1 / (3 n).

    The next term is of order 1/n^2, so n times the bias is within a constant over n of 1/3, and on log scales the
    slope from n to 2n within a constant over n of -1; 1/2 and 1 will do for the constants. All sums are exact. AOA
    tends to sum P c / sum P = 3/4, though the truth is 1/2.
    """
    sizes = np.array([16, 32, 64, 128])
    bias = np.array([two_classes(n, Snips(per="user")) - 0.5 for n in sizes.tolist()])
    assert np.all(np.abs(sizes * bias - 1 / 3) < 0.5 / sizes)
    assert np.all(np.abs(np.diff(np.log2(bias)) + 1) < 1 / sizes[:-1])
    assert two_classes(128, Aoa()) == pytest.approx(0.75, abs=1e-3)


def epsilon_world(epsilon: float, popular: float, others: float, n_others: int = 5, n_users: int = 2) -> Relevant:
    """Section 3.1: each user likes an item that is nearly always observed, and others that hardly ever are."""
    gains = np.tile([popular, *[others] * n_others], n_users)
    chances = np.tile([1 - epsilon, *[epsilon] * n_others], n_users)
    return Relevant(np.repeat(np.arange(n_users), 1 + n_others), gains, chances)


@pytest.mark.parametrize(("popular", "others"), [(1.0, 0.0), (0.0, 1.0), (0.3, 0.9)])
def test_aoa_tends_to_the_gain_of_the_popular_item_alone_whatever_the_truth(popular: float, others: float) -> None:
    """As epsilon goes to 0 the distance to c(Z of k^u) falls with it; IPS has the truth as its mean at any epsilon."""
    truth = (popular + 5 * others) / 6
    away = []
    for epsilon in (0.01, 0.001, 0.0001):
        world = epsilon_world(epsilon, popular, others)
        assert world.truth == pytest.approx(truth)
        assert mean(world, Ips()) == pytest.approx(truth, rel=1e-9)
        away.append(abs(mean(world, Aoa()) - popular) / epsilon)
    assert away == pytest.approx([away[-1]] * 3, rel=0.05)
    assert abs(mean(epsilon_world(1e-4, popular, others), Aoa()) - truth) > 0.9 * abs(popular - truth)


def test_the_truth_can_be_as_bad_as_one_likes_while_aoa_is_nearly_1() -> None:
    for n_others in (1, 4, 9):
        world = epsilon_world(1e-4, 1.0, 0.0, n_others, n_users=1)
        assert world.truth == pytest.approx(1 / (1 + n_others))
        assert mean(world, Aoa()) > 0.998


def test_few_rows_a_user_and_a_small_epsilon_leave_nothing_for_snips_to_correct() -> None:
    """What is never observed cannot be weighted: for one user it ends up where AOA does; many users help the pairs."""
    for estimator in (Snips(per="user"), Snips()):
        assert mean(epsilon_world(1e-4, 1.0, 0.0), estimator) > 0.99
    epsilon, n_users = 0.05, 400
    rare = np.arange(5 * n_users + 1)
    chance = binom.pmf(rare, len(rare) - 1, epsilon)
    likely = rare[chance > 1e-12]
    found = []
    for n in likely.tolist():
        gains, chances = np.repeat([1.0, 0.0], [n_users, n]), np.repeat([1.0, epsilon], [n_users, n])
        rows = Rows(gains, np.zeros(n_users + n, dtype=int), chances)
        found.append(Snips().terms(rows, "mean").value)
    assert np.array(found, dtype=float) @ chance[likely] == pytest.approx(1 / 6, abs=0.002)


@pytest.mark.parametrize("smoothing", [0, 1])
def test_an_evaluation_with_popularity_at_gamma_minus_one_gives_the_naive_averages(smoothing: int) -> None:
    """The exponent (gamma + 1) / 2 is then 0: SNIPS a user is AOA, and the default SNIPS the plain mean over pairs."""
    rng = np.random.default_rng(0)
    cells = rng.permutation(30 * 20)[:300]
    train, test = (
        Interactions.from_arrays(part // 20, part % 20, n_users=30, n_items=20) for part in (cells[:200], cells[200:])
    )
    report = evaluate(
        {"made": MatrixScorer(rng.random((30, 20)))},
        Split(train, test),
        metrics=["adg", "auc", "recall@5"],
        estimators=["aoa", "snips(per=user)", "aoa(per=pair)", "snips"],
        propensity=f"popularity(gamma=-1, smoothing={smoothing})",
        threads=1,
    )
    for metric in ("adg", "auc", "recall@5"):
        naive, by_user, plain, default = (
            report.value("made", metric, word) for word in ("aoa", "snips(per=user)", "aoa(per=pair)", "snips")
        )
        assert by_user == pytest.approx(naive, rel=1e-12)
        assert default == pytest.approx(plain, rel=1e-12)
        assert naive != plain
