"""Less variance: what is subtracted has mean 0, shares that fall are isotonic regression, and errors are honest."""

from typing import Any

import numpy as np
import pytest
from exposed_loops import World, controlled, deviation, falling, pooled, published, summed
from labelled_users import Labelled

from unskew.estimators import Kind, Places, Rows, Terms, Ure

POOLED = Ure(aggregate="pooled")
CONTROL = Ure(aggregate="pooled", reduce="control")
MONOTONE = Ure(aggregate="pooled", reduce="monotone")


@pytest.mark.parametrize("cutoff", [None, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_every_form_is_what_plain_loops_give(seed: int, cutoff: int | None) -> None:
    world = World.random(seed, cutoff=cutoff)
    assert world.users.means(world.picks, Ure()).value == pytest.approx(published(world), rel=1e-12)
    assert world.users.means(world.picks, POOLED).value == pytest.approx(pooled(world), rel=1e-12)
    assert world.users.sums(world.picks, POOLED).value == pytest.approx(summed(world), rel=1e-12)
    assert world.users.means(world.picks, CONTROL).value == pytest.approx(controlled(world), rel=1e-10)
    gains, positives = falling(world)
    assert world.users.means(world.picks, MONOTONE).value == pytest.approx(gains / positives, rel=1e-10)
    assert world.users.sums(world.picks, MONOTONE).value == pytest.approx(gains / len(world.picks), rel=1e-10)


@pytest.mark.parametrize("cutoff", [None, 2])
def test_what_the_control_subtracts_has_mean_0(cutoff: int | None) -> None:
    world = World.random(3, users=1, cutoff=cutoff)
    labels, gains = [list(each[0])[:9] for each in (world.users.labels, world.users.gains)]
    one = Labelled([labels], [gains], cutoff)
    found = [deviation(World(one, picks), 0) for picks in one.draws([4])]
    assert max(found) > 0.1
    assert np.mean(found) == pytest.approx(0, abs=1e-12)


def test_a_control_that_never_varies_changes_nothing() -> None:
    """All items exposed, or a metric that gains everywhere the same."""
    world = World.random(0)
    everything = [range(len(row)) for row in world.users.labels]
    assert world.users.means(everything, CONTROL).value == world.users.means(everything, POOLED).value
    flat = Labelled(world.users.labels, [[1.0] * len(row) for row in world.users.labels])
    assert flat.means(world.picks, CONTROL).value == pytest.approx(1, rel=1e-12)


def test_all_items_exposed_leave_nothing_to_a_falling_share_that_falls() -> None:
    """Two users, five ranks: the strata are ranks 1, 2, 3 and the last two, and their shares are 1, 1/2, 1/2 and 0."""
    world = Labelled.recall([(1, 1, 0, 0, 0), (1, 0, 1, 0, 0)], k=2)
    everything = [range(5), range(5)]
    assert world.means(everything, MONOTONE).value == pytest.approx(3 / 4)
    assert world.means(everything, MONOTONE).value == world.means(everything, POOLED).value


def test_shares_that_rise_are_pooled_with_their_neighbours() -> None:
    """Ranks 1 and 2 hold no and two positives of two users: together 1/2, so recall@1 is 1/2, not 0."""
    world = Labelled.recall([(0, 1, 0, 0), (0, 1, 0, 0)], k=1)
    everything = [range(4), range(4)]
    assert world.means(everything, POOLED).value == 0
    assert world.means(everything, MONOTONE).value == pytest.approx(1 / 2)


def redraw(world: World, estimator: Ure, draws: int, seed: int) -> tuple[np.ndarray, list[Terms]]:
    rng = np.random.default_rng(seed)
    terms = []
    for _ in range(draws):
        picks = [
            rng.permutation(len(row))[: len(own)].tolist()
            for row, own in zip(world.users.labels, world.picks, strict=True)
        ]
        terms.append(world.users.means(picks, estimator))
    return np.array([each.value for each in terms]), terms


def test_reduced_forms_have_the_same_target_where_shares_fall_and_less_variance() -> None:
    """300 users, 12 of 60 exposed, 150 draws: each mean within 4 standard errors of the truth, which falls with rank.

    The ratio of variances is paired by the draws; its own error is below a tenth, the ratios are below .9.
    """
    world = World.random(7, users=300, cutoff=5, alike=True)
    truth = world.users.totals.sum() / world.users.counts.sum()
    plain, _ = redraw(world, POOLED, 150, 1)
    for estimator in (CONTROL, MONOTONE):
        values, _ = redraw(world, estimator, 150, 1)
        assert abs(values.mean() - truth) < 4 * values.std() / np.sqrt(150)
        assert values.var() < 0.9 * plain.var()


def whole_users(rows: Rows, drawn: np.ndarray) -> Rows:
    """The same users, some several times, others not at all."""
    starts = np.searchsorted(rows.user, np.arange(rows.n_users + 1))
    which = np.concatenate([np.arange(starts[u], starts[u + 1]) for u in drawn])
    known = rows.places
    assert known is not None
    return Rows(
        rows.worth[which],
        np.repeat(np.arange(len(drawn)), rows.counts[drawn]),
        total=rows.population[drawn].astype(float),
        positive=rows.labels[which],
        places=Places(known.above[which], lambda n: known.up_to(n)[drawn], known.cutoff),
    )


@pytest.mark.parametrize("reduce", ["none", "control", "monotone"])
@pytest.mark.parametrize("alike", [True, False])
def test_the_delta_error_is_that_of_users_drawn_again(alike: bool, reduce: Any) -> None:
    """400 draws of 300 users know a standard error to 3.5 %; 15 % are more than four times that.

    Everything is computed anew in a draw, the slope of the control and the blocks of falling shares too.
    """
    world = World.random(11, users=300, cutoff=5, alike=alike)
    estimator = Ure(aggregate="pooled", reduce=reduce)
    rows = world.users.rows(world.picks)
    rng = np.random.default_rng(0)
    kinds: tuple[Kind, ...] = ("mean", "sum")
    for kind in kinds:
        drawn = [estimator.terms(whole_users(rows, rng.integers(0, 300, 300)), kind).value for _ in range(400)]
        assert estimator.terms(rows, kind).std_error == pytest.approx(np.std(drawn), rel=0.15), kind
