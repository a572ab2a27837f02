"""Stand-ins: they rank as their scores say, and can be made like a model."""

import numpy as np
import pytest

from unskew.audit.error.stand_ins import (
    Field,
    Likeness,
    StandIn,
    Workshop,
    fit_stand_in,
    list_overlaps,
    row_places,
    share_noise,
)
from unskew.errors import ConfigError
from unskew.metrics import parse_metric
from unskew.simulators import Ibp
from unskew.trials import judged_rows, run_trials

WORLD = Ibp(users=80, alpha=20, c=1, sigma=0.2, sizes="pareto(scale=6, shape=1, upper=40)")


@pytest.fixture(scope="module")
def workshop():
    return Workshop.of(WORLD.draw(1), parse_metric("recall@5"), k=10)


def test_ranks_are_those_of_the_scores():
    world = WORLD.draw(2)
    judged = judged_rows(world)
    stand_in = StandIn(taste=1.0, lean=0.5)
    ranks = stand_in.rank(judged, world, seed=4)
    ((first, scores),) = Field(judged, 4).scores(stand_in)
    assert first == 0
    places = Field(judged, 4).places
    for row in range(len(judged)):
        own = scores[judged.user[row]]
        place = places[judged.items[row]]
        if place < 0:
            assert (ranks.above[row], ranks.tied[row]) == (ranks.candidates[row], 0)
        else:
            assert ranks.above[row] == np.sum(own > own[place])
            assert ranks.tied[row] == np.sum(own == own[place]) - 1
    assert ranks.above.max() <= judged.candidates.max()


def test_without_noise_to_speak_of_taste_makes_an_oracle_and_lean_the_popular_list():
    trials = run_trials(
        WORLD,
        2,
        {"taste": StandIn(1e4, 0.0), "lean": StandIn(0.0, 1e6), "oracle": "oracle", "popular": "popular"},
        metrics=["recall@5", "auc"],
        threads=1,
    )
    truth = trials.truth[:, :, 0, 0]
    assert truth[:, 0] == pytest.approx(truth[:, 2], rel=0.02)  # the oracle's ties are in expectation, not by noise
    assert truth[:, 1] == pytest.approx(truth[:, 3], rel=0.05)


def test_a_run_is_the_same_again_and_strangers_are_ranked():
    cast = {"a": StandIn(1.0, 1.0, 0.3, 1), "b": StandIn(1.0, 1.0, 0.3, 2)}
    first, again = (run_trials(WORLD, 2, cast, metrics=["auc"], panel=True, threads=n) for n in (1, 2))
    assert np.array_equal(first.estimate, again.estimate, equal_nan=True)
    assert np.isfinite(first.population).all()
    assert (first.estimate[:, 0] != first.estimate[:, 1]).all()


def test_a_stand_in_is_found_again_by_what_it_does(workshop):
    wanted = workshop.measure(StandIn(1.3, 0.8))
    found, reached = fit_stand_in(workshop, wanted)
    assert wanted.is_near(reached)
    assert workshop.measure(found) == reached
    assert fit_stand_in(workshop, wanted) == (found, reached)


def test_more_lean_means_more_popular_lists_and_more_taste_a_better_metric(workshop):
    lists = [workshop.measure(StandIn(0.0, lean)).popularity for lean in (-1.0, 0.0, 1.0, 4.0)]
    assert lists == sorted(lists)
    values = [workshop.measure(StandIn(taste, 0.0)).metric for taste in (0.0, 1.0, 3.0)]
    assert values == sorted(values)


def test_what_no_stand_in_reaches_is_not_called_near(workshop):
    wanted = Likeness(metric=0.99, popularity=0.05)
    _, reached = fit_stand_in(workshop, wanted, steps=8)
    assert not wanted.is_near(reached)


def test_places_among_rows_worked_by_hand():
    # 10 rows: the items with 2 have 4 rows together, half of them below: 2/10; the one with 6 has 4 + 3 below
    assert row_places(np.array([6, 2, 2, 0])) == pytest.approx([0.7, 0.2, 0.2, 0.0])


def test_shared_noise_makes_lists_overlap_as_wanted(workshop):
    pair = {"a": StandIn(1.0, 0.5, stream=1), "b": StandIn(1.0, 0.5, stream=2)}
    apart = workshop.overlap(pair["a"], pair["b"])
    assert apart < 0.9
    same = share_noise(workshop, pair, {("a", "b"): (apart + 1) / 2})
    assert workshop.overlap(same["a"], same["b"]) == pytest.approx((apart + 1) / 2, abs=0.03)
    assert share_noise(workshop, pair, {("a", "b"): 0.0})["a"].shared == 0.0
    assert share_noise(workshop, pair, {}) == pair


def test_overlaps_of_lists_by_hand():
    lists = {"a": np.array([[1, 2], [3, -1]]), "b": np.array([[2, 5], [3, 4]])}
    assert list_overlaps(lists, [("a", "b")]) == {("a", "b"): 2 / 3}


@pytest.mark.parametrize("options", [{"shared": 1.5}, {"shared": -0.1}, {"stream": 0}])
def test_noise_outside_its_range_is_refused(options):
    with pytest.raises(ConfigError, match="stand-in"):
        StandIn(1.0, 1.0, **options)
