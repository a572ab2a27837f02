"""`dm`, `dr` and `blend` against loops over pairs, and what each of them is right about in expectation."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.arrays import Bools, Floats
from unskew.errors import ConfigError, DataError
from unskew.estimators import Blend, Dm, Dr, Estimator, Rows, Terms
from unskew.estimators.auto import Auto
from unskew.testing.worlds.imputed_worlds import (
    ImputedWorld,
    dm_by_loops,
    dr_by_loops,
    random_imputed_world,
    snips_by_loops,
)

KINDS = ("mean", "sum")
seeds = st.integers(0, 2**32 - 1)


def terms_of(estimator: Estimator, world: ImputedWorld, kind: str = "mean") -> Terms:
    return estimator.terms(world.rows(kind, positives=not isinstance(estimator, Dr)), kind)  # type: ignore[arg-type]


def share_of_rows(world: ImputedWorld, rows: float = 100) -> float:
    """Half of n over n plus this number, with n the effective number of the held-out positives."""
    logged = world.rows("mean", positives=True).logged
    assert logged is not None
    total, squares = 0.0, 0.0
    for chance in logged.chance:
        total += 1 / chance
        squares += 1 / chance**2
    return 0.5 * (total**2 / squares) / (total**2 / squares + rows)


def nudged(estimator: Estimator, world: ImputedWorld, kind: str) -> Floats:
    """The derivative of the value by the weight of each user, from a small change of the weight."""
    rows = world.rows(kind, positives=True)
    assert rows.logged is not None
    assert rows.mass is not None
    changes, share = [], share_of_rows(world)
    for user in range(len(world.gain)):
        weight = np.ones(len(world.gain))
        values = []
        for step in (1e-5, -1e-5):
            weight[user] = 1 + step
            direct = np.sum(weight * rows.worth) / np.sum(weight * (rows.mass if kind == "mean" else 1))
            each = weight[rows.logged.user] / rows.logged.chance
            scale = 1.0 if kind == "mean" else np.sum(weight * rows.mass) / np.sum(weight)
            weighted = scale * np.sum(each * rows.logged.worth) / np.sum(each)
            values.append((1 - share) * direct + share * weighted if isinstance(estimator, Blend) else direct)
        changes.append((values[0] - values[1]) / 2e-5)
    return np.array(changes)


@given(seed=seeds, kind=st.sampled_from(KINDS))
def test_dm_is_the_mean_over_all_candidates(seed: int, kind: str) -> None:
    world = random_imputed_world(np.random.default_rng(seed))
    assert terms_of(Dm(), world, kind).value == pytest.approx(dm_by_loops(world, kind), rel=1e-12)


@given(seed=seeds, kind=st.sampled_from(KINDS))
def test_blend_is_a_mean_of_imputation_and_of_weighted_positives(seed: int, kind: str) -> None:
    """Half of each with `rows=0`; the fewer rows there are, the less they count."""
    world = random_imputed_world(np.random.default_rng(seed))
    direct, weighted = dm_by_loops(world, kind), snips_by_loops(world, kind)
    assert terms_of(Blend(rows=0), world, kind).value == pytest.approx((direct + weighted) / 2, rel=1e-12)
    for rows in (3.0, 100.0):
        share = share_of_rows(world, rows)
        want = (1 - share) * direct + share * weighted
        assert terms_of(Blend(rows=rows), world, kind).value == pytest.approx(want, rel=1e-12)


def test_the_share_of_the_rows_has_the_least_variance() -> None:
    """Biases of variance 1/m with a correlation of r, noise of variance 1/n in the rows, and n0 = m / (2 (1 - r))."""
    for m, r, n in ((600, -0.5, 50), (680, -0.7, 200), (100, 0.0, 30)):
        errors = np.array([[1 / m, r / m], [r / m, 1 / m + 1 / n]])
        weights = np.linalg.solve(errors, np.ones(2))
        assert Blend(rows=m / (2 * (1 - r))).share(np.ones(n)) == pytest.approx(weights[1] / weights.sum(), rel=1e-12)


def test_rows_that_count_as_one_have_next_to_no_share() -> None:
    assert Blend().share(np.array([1e9, 1.0, 1.0])) == pytest.approx(0.5 / 101)
    assert Blend().share(np.ones(100)) == 0.25


@pytest.mark.parametrize("rows", [-1, np.inf, np.nan])
def test_a_number_of_rows_is_at_least_zero(rows: float) -> None:
    with pytest.raises(ConfigError, match="must be a number of rows, at least 0"):
        Blend(rows=rows)


@given(seed=seeds, kind=st.sampled_from(KINDS), cap=st.sampled_from([1.0, 2.0, 10.0, np.inf]))
def test_dr_adds_the_weighted_errors_of_the_log(seed: int, kind: str, cap: float) -> None:
    world = random_imputed_world(np.random.default_rng(seed))
    want = dr_by_loops(world, kind, cap)
    value = terms_of(Dr(cap=cap), world, kind).value
    below = float(np.sum(terms_of(Dr(cap=cap), world, kind).denominator))
    assert (value is None) == (below <= 0)
    if value is not None:
        assert value == pytest.approx(want, rel=1e-9)


@settings(max_examples=30)
@given(seed=seeds, estimator=st.sampled_from([Dm(), Blend()]), kind=st.sampled_from(KINDS))
def test_the_influence_is_the_derivative_by_the_weight_of_a_user(seed: int, estimator: Estimator, kind: str) -> None:
    world = random_imputed_world(np.random.default_rng(seed))
    terms = terms_of(estimator, world, kind)
    np.testing.assert_allclose(terms.influence, nudged(estimator, world, kind), atol=1e-7)
    assert terms.influence.sum() == pytest.approx(0, abs=1e-12)


@given(seed=seeds)
def test_the_influence_of_the_plain_mean_is_the_mean_of_both(seed: int) -> None:
    world = random_imputed_world(np.random.default_rng(seed))
    rows = world.rows("mean", positives=True)
    assert rows.logged is not None
    weight = 1 / rows.logged.chance
    sums = [np.bincount(rows.logged.user, x, minlength=5) for x in (weight * rows.logged.worth, weight)]
    weighted, direct = Terms(sums[0], sums[1]), terms_of(Dm(), world)
    np.testing.assert_allclose(
        terms_of(Blend(rows=0), world).influence, (weighted.influence + direct.influence) / 2, atol=1e-14
    )


@given(seed=seeds)
def test_lists_are_those_of_dm(seed: int) -> None:
    """The row of a user is the expected value of the list, and its size the chance that anything is relevant."""
    rng = np.random.default_rng(seed)
    rows = Rows(rng.random(6), np.arange(6), size=rng.uniform(0.1, 1, 6), mass=rng.uniform(1, 3, 6))
    direct, blend = Dm().terms(rows, "list"), Blend().terms(rows, "list")
    np.testing.assert_array_equal(direct.numerator, blend.numerator)
    assert direct.value == pytest.approx(rows.worth.sum() / rows.size.sum())  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="dr cannot estimate"):
        Dr().terms(rows, "list")


def samples_by_stratum(strata: list[list[int]], sizes: list[int], cells: int) -> Iterator[Bools]:
    """Yield every set of observed cells with that many of each stratum; all are equally likely."""
    for chosen in itertools.product(*(itertools.combinations(s, k) for s, k in zip(strata, sizes, strict=True))):
        observed = np.zeros(cells, bool)
        observed[[cell for part in chosen for cell in part]] = True
        yield observed


def stratified_world(seed: int, imputed: Floats | None = None) -> tuple[ImputedWorld, list[list[int]], list[int]]:
    """Six pairs of stratum 0 of which two are observed, and six of stratum 1 of which three are.

    The number of observed pairs of a stratum is fixed, so the inverse chances of what is observed always add up to the
    number of candidates, and the weights that `dr` normalises are the inverse chances themselves.
    """
    rng = np.random.default_rng(seed)
    relevant = rng.random((3, 4)) < 0.5
    relevant[0, 0] = True
    strata, sizes = [list(range(6)), list(range(6, 12))], [2, 3]
    chance = np.repeat([2 / 6, 3 / 6], 6).reshape(3, 4)
    q = rng.uniform(0.1, 0.9, (3, 4)) if imputed is None else imputed
    return ImputedWorld(rng.random((3, 4)), q, chance, relevant, np.ones((3, 4), bool)), strata, sizes


@pytest.mark.parametrize("seed", range(3))
def test_dr_is_unbiased_with_the_right_chances_whatever_q_is(seed: int) -> None:
    """Numerator and denominator are, over every log that could have been observed; the ratio follows for large logs."""
    world, strata, sizes = stratified_world(seed)
    above, below, sums = [], [], []
    for observed in samples_by_stratum(strata, sizes, 12):
        seen = replace(world, observed=observed.reshape(3, 4))
        terms = terms_of(Dr(cap=np.inf), seen)
        above.append(terms.numerator.sum())
        below.append(terms.denominator.sum())
        sums.append(terms_of(Dr(cap=np.inf), seen, "sum").value)
    assert np.mean(above) == pytest.approx(world.gain[world.relevant].sum())
    assert np.mean(below) == pytest.approx(world.relevant.sum())
    assert np.mean(sums) == pytest.approx(world.gain[world.relevant].sum() / 3)  # a sum has no ratio
    assert np.std(above) > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_dr_is_the_truth_for_every_log_if_q_is_whatever_the_chances_are(seed: int) -> None:
    world, strata, sizes = stratified_world(seed)
    world = replace(
        world, imputed=world.relevant.astype(float), chance=np.random.default_rng(9).uniform(0.1, 1, (3, 4))
    )
    truth = world.gain[world.relevant].mean()
    for observed in samples_by_stratum(strata, sizes, 12):
        assert terms_of(Dr(), replace(world, observed=observed.reshape(3, 4))).value == pytest.approx(truth)


def test_dm_is_the_truth_if_q_is_and_not_otherwise() -> None:
    world, _, _ = stratified_world(0)
    truth = world.gain[world.relevant].mean()
    assert terms_of(Dm(), replace(world, imputed=world.relevant.astype(float))).value == pytest.approx(truth)
    assert terms_of(Dm(), world).value != pytest.approx(truth, abs=1e-3)


@given(seed=seeds, cap=st.floats(1, 20))
def test_the_weights_of_dr_add_up_to_the_candidates_and_are_capped(seed: int, cap: float) -> None:
    chance = np.random.default_rng(seed).uniform(0.001, 1, 15)
    weight = Dr(cap=cap).row_weights(chance, 600.0)
    assert weight.sum() == pytest.approx(600)
    assert weight.max() / np.median(weight) <= cap * (1 + 1e-12)
    uncapped = 1 / chance < cap * np.median(1 / chance)
    np.testing.assert_allclose((weight * chance)[uncapped], (weight * chance)[uncapped][:1].repeat(uncapped.sum()))
    np.testing.assert_allclose(Dr(cap=cap).row_weights(chance / 7, 600.0), weight)  # the scale does not matter


@pytest.mark.parametrize("cap", [0.0, 0.99, -1, np.nan])
def test_a_cap_below_the_median_is_refused(cap: float) -> None:
    with pytest.raises(ConfigError, match="must be at least 1; it is in medians of the weights"):
        Dr(cap=cap)


def test_rows_without_what_an_estimator_needs_are_refused() -> None:
    world = random_imputed_world(np.random.default_rng(0))
    bare = replace(world.rows("mean", positives=True), logged=None)
    with pytest.raises(DataError, match="blend needs held-out rows with propensities"):
        Blend().terms(bare, "mean")
    with pytest.raises(DataError, match="dr needs held-out rows with labels and chances"):
        Dr().terms(bare, "mean")
    with pytest.raises(DataError, match="dr needs held-out rows with labels and chances"):
        Dr().terms(world.rows("mean", positives=True), "mean")


@pytest.mark.parametrize("estimator", [Dm(), Blend(), Dr()], ids=str)
@pytest.mark.parametrize("kind", ["loss", "graded"])
def test_metrics_over_all_pairs_are_refused(estimator: Estimator, kind: str) -> None:
    world = random_imputed_world(np.random.default_rng(0))
    with pytest.raises(ConfigError, match=f"{estimator.word} cannot estimate"):
        estimator.terms(world.rows("mean", positives=estimator != Dr()), kind)  # type: ignore[arg-type]


@pytest.mark.parametrize("estimator", [Dm(), Blend(), Dr()], ids=str)
@given(seed=seeds)
def test_a_constant_gain_is_the_value(estimator: Estimator, seed: int) -> None:
    world = random_imputed_world(np.random.default_rng(seed))
    value = terms_of(estimator, world.with_gain(np.full((5, 6), 0.3))).value
    assert value is None or value == pytest.approx(0.3)


@pytest.mark.parametrize(
    "word",
    [
        "dm",
        "dr",
        "blend",
        "auto",
        "dm(q=scores(my.csv))",
        "blend(q=slice)",
        "dr(cap=5)",
        "dm(q=labels(20))",
        "blend(rows=0)",
    ],
)
def test_words_are_read_and_printed(word: str) -> None:
    assert str(Estimator.from_word(word)) == word


def test_auto_is_replaced_before_it_has_terms() -> None:
    with pytest.raises(ConfigError, match="auto is replaced by an estimator that suits the data"):
        Auto().terms(Rows(np.ones(1), np.zeros(1, int)), "mean")


@pytest.mark.parametrize("estimator", [Dm(), Blend(), Dr()], ids=str)
def test_it_says_what_it_is_about(estimator: Estimator) -> None:
    assert estimator.corrects
    assert estimator.target_of("mean") == "relevant pairs"
    assert estimator.target_of("sum") == "relevant items, mean over users"
    assert estimator.sees == "candidates"
