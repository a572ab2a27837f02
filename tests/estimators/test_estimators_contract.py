"""What every estimator owes, Yang et al. (2018): identities with the naive average, scale, clipping, order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators import Aoa, Estimator, ExposedEstimator, Exposure, Ips, Snips, Traditional, Ure, Worth
from unskew.propensities import Popularity

SNIPS = [Snips(per="pair"), Snips(per="balanced"), Snips(per="user")]
# each form of snips against the average it becomes when all propensities are equal
NAIVE = {"pair": Aoa(per="pair"), "balanced": Aoa(), "user": Aoa()}
EVERY = [Aoa(), Aoa(per="pair"), Ips(), Ips(clip=0.3), *SNIPS, *(Snips(per=s.per, clip=0.3) for s in SNIPS)]
# these start from items drawn at random, and have another way in
PLAIN_URE = [Ure(), Ure(aggregate="pooled"), Ure(aggregate="ipw"), Ure(aggregate="ipw", counts="plug-in")]
URE = [*PLAIN_URE, Ure(literal=True), *(Ure(aggregate="pooled", reduce=how) for how in ("control", "monotone"))]
EXPOSED: list[ExposedEstimator] = [Traditional(), *URE]

Rows = tuple[Floats, Floats, Ints]


@st.composite
def observed(draw: st.DrawFn) -> Rows:
    """Gains, propensities and users of a few rows."""
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = sum(counts)
    return rng.uniform(0, 1, n), rng.uniform(0.01, 1, n), np.repeat(np.arange(len(counts)), counts)


@st.composite
def exposed(draw: st.DrawFn) -> tuple[Exposure, Worth]:
    """A few users with some items drawn, at least one positive, and gains that fall with rank."""
    sizes = np.array(draw(st.lists(st.integers(1, 9), min_size=1, max_size=6)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    drawn = [rng.choice(size, rng.integers(1, size + 1), replace=False) for size in sizes]
    user = np.repeat(np.arange(len(sizes)), [len(ranks) for ranks in drawn])
    positive = rng.random(len(user)) < 0.5
    positive[rng.integers(len(user))] = True
    return Exposure(user, positive, sizes), worth_of(np.concatenate(drawn), sizes, 1 / np.arange(1, 10))


def worth_of(ranks: Ints, sizes: Ints, gains: Floats) -> Worth:
    sums = np.append(0.0, np.cumsum(gains))
    return Worth(gains[ranks], ranks.astype(float), lambda numbers: sums[np.minimum(numbers[None], sizes[:, None])])


def value(estimator: Estimator, rows: Rows) -> float:
    relevant = np.bincount(rows[2]) + 2.0
    numerator, denominator = estimator.terms(*rows, relevant)
    return float(numerator.sum() / denominator.sum())


def test_every_registered_estimator_is_tried_here() -> None:
    assert {type(estimator) for estimator in (*EVERY, *EXPOSED)} == set(Estimator.members())


@pytest.mark.parametrize("snips", SNIPS, ids=str)
@given(rows=observed(), p=st.floats(0.001, 1))
def test_snips_with_equal_propensities_is_the_naive_average_of_its_own_form(snips: Snips, rows: Rows, p: float) -> None:
    gains, _, user = rows
    equal = gains, np.full(len(gains), p), user
    assert value(snips, equal) == pytest.approx(value(NAIVE[snips.per], rows), rel=1e-12)


@pytest.mark.parametrize("snips", SNIPS, ids=str)
@given(rows=observed(), seed=st.integers(0, 100))
def test_snips_at_gamma_minus_one_is_the_naive_average_on_the_same_rows(snips: Snips, rows: Rows, seed: int) -> None:
    """Yang et al. (2018): gamma = -1 makes the exponent 0, whatever the counts."""
    gains, _, user = rows
    rng = np.random.default_rng(seed)
    train = Interactions.from_arrays(np.arange(200) % 50, rng.integers(0, 6, 200), n_users=50, n_items=8)
    items = rng.integers(0, 8, len(gains))
    propensity = Popularity(gamma=-1).fit(train, train)(user, items)
    assert value(snips, (gains, propensity, user)) == pytest.approx(value(NAIVE[snips.per], rows), rel=1e-12)


@pytest.mark.parametrize("snips", [*SNIPS, *(Snips(per=s.per, clip=0.2) for s in SNIPS)], ids=str)
@given(rows=observed(), scale=st.floats(0.001, 1))
def test_snips_does_not_depend_on_the_scale_of_the_propensities(snips: Snips, rows: Rows, scale: float) -> None:
    """Clipping included: it is relative to the largest propensity."""
    gains, propensity, user = rows
    assert value(snips, (gains, scale * propensity, user)) == pytest.approx(value(snips, rows), rel=1e-9)


@given(rows=observed(), seed=st.integers(0, 100))
def test_snips_per_user_takes_another_scale_for_each_user(rows: Rows, seed: int) -> None:
    """The first two forms need one scale across users, the third does not."""
    gains, propensity, user = rows
    scale = np.random.default_rng(seed).uniform(0.1, 1, user.max() + 1)[user]
    assert value(Snips(per="user"), (gains, scale * propensity, user)) == pytest.approx(
        value(Snips(per="user"), rows), rel=1e-9
    )


@pytest.mark.parametrize("estimator", EVERY, ids=str)
@given(rows=observed(), seed=st.integers(0, 100))
def test_the_order_of_rows_and_users_does_not_matter(estimator: Estimator, rows: Rows, seed: int) -> None:
    gains, propensity, user = rows
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(user)), rng.permutation(user.max() + 1)
    relevant = rng.integers(5, 9, user.max() + 1).astype(float)
    one = estimator.terms(gains, propensity, user, relevant)
    moved = np.empty_like(relevant)
    moved[names] = relevant
    other = estimator.terms(gains[order], propensity[order], names[user][order], moved)
    for a, b in zip(one, other, strict=True):
        assert b[names] == pytest.approx(a, rel=1e-12)


@pytest.mark.parametrize("estimator", EVERY, ids=str)
@given(rows=observed())
def test_the_weights_are_those_of_the_estimate(estimator: Estimator, rows: Rows) -> None:
    """Up to one factor, the value is the weighted sum of gains; diagnostics are made from these weights."""
    gains, propensity, user = rows
    relevant = np.bincount(user) + 2.0
    weights = estimator.weights(propensity, user, relevant)
    ones = np.ones(len(gains))
    assert value(estimator, rows) / value(estimator, (ones, propensity, user)) == pytest.approx(
        float(weights @ gains / weights.sum()), rel=1e-9
    )


@pytest.mark.parametrize("snips", SNIPS, ids=str)
@given(rows=observed())
def test_snips_of_a_constant_is_the_constant(snips: Snips, rows: Rows) -> None:
    _, propensity, user = rows
    assert value(snips, (np.full(len(user), 0.3), propensity, user)) == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize("ure", URE, ids=str)
@given(drawn=exposed(), seed=st.integers(0, 100))
def test_the_order_of_exposed_rows_and_users_does_not_matter(
    ure: Ure, drawn: tuple[Exposure, Worth], seed: int
) -> None:
    exposure, worth = drawn
    rng = np.random.default_rng(seed)
    names = rng.permutation(exposure.n_users)
    shuffled = rng.permutation(len(exposure.user))
    order = shuffled[np.argsort(names[exposure.user[shuffled]], kind="stable")]
    sizes = np.empty_like(exposure.population)
    sizes[names] = exposure.population
    other = Exposure(names[exposure.user][order], exposure.positive[order], sizes)
    moved = worth_of(worth.above[order].astype(int), sizes, 1 / np.arange(1, 10))
    for one, two in ((ure.means(worth, exposure), ure.means(moved, other)),
                     (ure.sums(worth, exposure), ure.sums(moved, other))):  # fmt: skip
        assert two.numerator[names] == pytest.approx(one.numerator, rel=1e-9, abs=1e-12)
        assert two.denominator[names] == pytest.approx(one.denominator, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("ure", PLAIN_URE, ids=str)
@given(drawn=exposed())
def test_the_weights_of_exposed_positives_are_those_of_the_estimate(ure: Ure, drawn: tuple[Exposure, Worth]) -> None:
    exposure, worth = drawn
    weights = ure.row_weights_of(exposure, "mean")
    gains = worth.gains[exposure.positive]
    assert ure.means(worth, exposure).value == pytest.approx(float(weights @ gains / weights.sum()), rel=1e-9)


@pytest.mark.parametrize("ure", URE, ids=str)
@given(drawn=exposed())
def test_ure_of_a_constant_is_the_constant(ure: Ure, drawn: tuple[Exposure, Worth]) -> None:
    exposure, worth = drawn
    constant = worth_of(worth.above.astype(int), exposure.population, np.full(9, 0.3))
    assert ure.means(constant, exposure).value == pytest.approx(0.3, rel=1e-9)


@pytest.mark.parametrize("estimator", EXPOSED, ids=str)
def test_what_is_for_exposed_items_refuses_held_out_positives(estimator: ExposedEstimator) -> None:
    with pytest.raises(ConfigError, match="drawn at random and labelled; give them with exposed_split"):
        estimator.terms(np.ones(1), np.ones(1), np.zeros(1, int))


def test_the_forms_of_snips_by_hand() -> None:
    """Users A with gains 1, 0 and P 1/2, 1/4; B with gain 1 and P 1: weights 2, 4 and 1."""
    rows = np.array([1.0, 0, 1]), np.array([1 / 2, 1 / 4, 1]), np.array([0, 0, 1])
    assert value(Snips(), rows) == pytest.approx(3 / 7)
    assert value(Snips(per="balanced"), rows) == pytest.approx((2 / 2 + 1) / (6 / 2 + 1))
    assert value(Snips(per="user"), rows) == pytest.approx((2 / 6 + 1) / 2)
    assert value(Aoa(), rows) == pytest.approx((1 / 2 + 1) / 2)
    assert value(Aoa(per="pair"), rows) == pytest.approx(2 / 3)
    numerator, denominator = Ips().terms(*rows, np.array([8.0, 2.0]))
    assert (numerator.tolist(), denominator.tolist()) == ([2 / 8, 1 / 2], [1, 1])


def test_sums_by_hand() -> None:
    rows = np.array([1.0, 0, 1]), np.array([1 / 2, 1 / 4, 1]), np.array([0, 0, 1])
    assert [column.tolist() for column in Aoa().totals(*rows)] == [[1, 1], [1, 1]]
    assert [column.tolist() for column in Ips().totals(*rows)] == [[2, 1], [1, 1]]
    for estimator in (Snips(), Aoa(per="pair")):
        with pytest.raises(ConfigError, match="sum"):
            estimator.totals(*rows)


@pytest.mark.parametrize("kind", [Snips, Ips])
def test_clipping_raises_small_propensities_to_a_share_of_the_largest(kind: type[Snips] | type[Ips]) -> None:
    propensity = np.array([0.5, 0.1, 0.05, 0.04])
    estimator = kind(clip=0.1)
    assert estimator.inverse(propensity).tolist() == pytest.approx([2, 10, 20, 20])
    assert estimator.clipped_share(propensity) == 0.25
    assert kind().clipped_share(propensity) == 0
    assert kind().inverse(propensity).tolist() == pytest.approx([2, 10, 20, 25])


@pytest.mark.parametrize("per", ["pair", "balanced", "user"])
@given(rows=observed())
def test_clipping_everything_leaves_the_naive_average(per: str, rows: Rows) -> None:
    snips = Snips(clip=1, per=per)  # type: ignore[arg-type]
    assert value(snips, rows) == pytest.approx(value(NAIVE[per], rows), rel=1e-12)


@pytest.mark.parametrize("word", ["snips(clip=-0.1)", "snips(clip=1.1)", "ips(clip=nan)", "snips(clip=2)"])
def test_impossible_clips_are_refused(word: str) -> None:
    with pytest.raises(ConfigError, match="must lie between 0 and 1: it is relative to the largest propensity"):
        Estimator.from_word(word)


def test_ips_of_a_mean_needs_the_numbers_of_relevant_items() -> None:
    with pytest.raises(ConfigError, match="number of relevant items"):
        Ips().terms(np.ones(1), np.ones(1), np.zeros(1, int))


def test_each_estimator_says_what_it_estimates() -> None:
    """The target is printed with the number."""
    assert Snips().target == "relevant pairs"
    assert Snips(per="user").target == Ips().target == "relevant items, mean over users"
    assert "nearly" in Snips(per="balanced").target
    assert Aoa().target.startswith("observed items")
    assert Aoa(per="pair").target == "observed pairs"
