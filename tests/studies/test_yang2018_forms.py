"""The simulation of the forms of SNIPS (Yang et al. 2018): its world, its scores and what it says."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.errors import ConfigError
from unskew.metrics import AUC, Metric, Recall
from unskew.studies import Context
from unskew.studies.framework.trials import Trials
from unskew.studies.yang2018 import STUDY
from unskew.studies.yang2018.forms import (
    ASSUMPTIONS,
    DRAWS,
    FORMS,
    NAIVE,
    PAIR,
    RIGHT,
    USER,
    USERS,
    Assumption,
    Grid,
    World,
    claims,
    notes,
    score,
    simulate,
)

METRIC = AUC()


def world(gamma: float = 1.0, n_users: int = 200, n_items: int = 300, metric: Metric = METRIC) -> World:
    return World.draw(gamma, n_users, n_items, metric, np.random.default_rng(0))


def scores(
    made: World, positives: float, assumptions: tuple[Assumption, ...], draws: int
) -> dict[tuple[Assumption, str], dict[str, float]]:
    estimates = made.estimates(positives, assumptions, draws, np.random.default_rng(0))
    return {key: score(values, made.truth) for key, values in estimates.items()}


def test_propensities_give_the_positives_asked_for_and_follow_the_exponent() -> None:
    made = world(gamma=1.0)
    P = made.propensity(2.0)
    assert P.sum() / made.n_users == pytest.approx(2.0)
    slopes = np.diff(np.log(P)) / np.where(np.diff(made.items) == 0, np.nan, np.diff(np.log(made.expected[made.items])))
    assert np.nanmin(slopes) == pytest.approx((made.gamma + 1) / 2)
    assert np.nanmax(slopes) == pytest.approx((made.gamma + 1) / 2)


def test_more_positives_than_can_be_observed_are_refused() -> None:
    with pytest.raises(ConfigError, match="positives per user need a propensity of"):
        world().propensity(59.0)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0])
def test_what_is_observed_follows_the_expected_counts(gamma: float) -> None:
    """Liked times observed is proportional to n*; a z test of the head's share fails wrongly 1 time in 10,000."""
    made = world(gamma, n_users=1000)
    P = made.propensity(2.0)
    head = made.items < 50
    expected = made.expected[:50].sum() / made.expected.sum()
    counts = np.bincount(made.users[head], weights=P[head], minlength=1000)
    totals = np.bincount(made.users, weights=P, minlength=1000)
    off = counts - expected * totals
    assert abs(off.mean()) < 3.9 * off.std() / 1000**0.5


def test_the_truth_is_the_mean_over_users_of_the_mean_over_what_they_like() -> None:
    made = world(n_users=20)
    by_user = [made.gains[:, made.users == user].mean(axis=1) for user in np.unique(made.users)]
    assert made.truth == pytest.approx(np.mean(by_user, axis=0))


def test_assumed_propensities_are_those_of_the_counts() -> None:
    made = replace(world(), counts=np.arange(300))
    assert np.isnan(made.assumed(1.0, 0.0)[made.items == 0]).all()
    expected = ((made.items + 1) / 300) ** 0.5
    assert made.assumed(0.0, 1.0) == pytest.approx(expected)


def test_a_score_by_hand() -> None:
    """Model a is best; the first draw puts b first. Relative errors: a -0.5 and 0.1, b 0.5 and 0."""
    scored = score(np.array([[0.5, 0.75], [1.1, 0.5]]), np.array([1.0, 0.5]))
    assert scored["right"] == 0.5
    assert scored["bias"] == pytest.approx((0.2 + 0.25) / 2)
    assert scored["rmse"] == pytest.approx((np.sqrt((0.25 + 0.01) / 2) + np.sqrt(0.125)) / 2)


def test_gamma_of_minus_1_is_aoa_for_the_published_form() -> None:
    """Yang et al. 2018, eq. 14: the exponent is 0."""
    each = Assumption(-1.0)
    estimates = world(gamma=0.0, metric=Recall() @ 30).estimates(2.0, (each,), 5, np.random.default_rng(0))
    assert estimates[each, USER] == pytest.approx(estimates[each, NAIVE])


def test_with_known_propensities_the_pair_form_is_nearly_unbiased_and_the_published_one_is_not() -> None:
    """Two positives per user: the bias over 60 draws is within 4 standard errors; 1 in 10,000 fails wrongly."""
    known = Assumption(None)
    by_form = scores(world(gamma=1.0, n_users=400), 2.0, (known,), 60)
    pair, user, naive = (by_form[known, form] for form in (PAIR, USER, NAIVE))
    assert pair["bias"] < 4 * pair["rmse"] / 60**0.5
    assert 0.4 * naive["bias"] < user["bias"] < naive["bias"]


def test_rows_without_a_propensity_are_dropped_unless_the_form_needs_none() -> None:
    made = replace(world(), counts=np.where(np.arange(300) < 150, 5, 0))
    each = Assumption(0.0, 0.0)
    by_form = scores(made, 5.0, (each, RIGHT), 10)
    assert by_form[each, NAIVE] == by_form[RIGHT, NAIVE]
    assert by_form[each, PAIR] != by_form[RIGHT, PAIR]


def graded(worst: str) -> Grid:
    """A grid in which one form is always worst, and the others equal."""
    truth = np.array([1.0, 0.5])
    good, bad = np.array([truth * 1.1] * 2), np.array([truth[::-1] * 1.5] * 2)
    groups = {
        (gamma, n, each, form): bad if form == worst else good
        for gamma in (0.0, 1.0)
        for n in (1.0, 2.0)
        for each in ASSUMPTIONS
        for form in FORMS
    }
    trials = Trials(("gamma", "positives", "assumption", "form"), "draw, model", groups)
    return Grid(trials, dict.fromkeys((0.0, 1.0), truth))


def test_conclusions_follow_the_numbers() -> None:
    naive, pair = (" ".join(notes(graded(worst))) for worst in (NAIVE, PAIR))
    assert "above AOA's: never" in naive
    assert "above AOA's: snips 4" in pair
    bad, good = (graded(NAIVE).scores[0.0, 1.0, RIGHT, form]["bias"] for form in (NAIVE, USER))
    assert graded(NAIVE).removed(USER, 1.0) == pytest.approx(1 - good / bad)
    assert graded(PAIR).worse(RIGHT, PAIR) == 4
    assert graded(PAIR).mean("right", PAIR) == 0
    assert next(iter(claims(graded(PAIR)))).holds is False


def test_a_small_grid_has_all_cells_and_is_not_judged() -> None:
    context = Context(fast=True, sizes={USERS: 40, DRAWS: 3})
    assert len(simulate(context).scores) == 12 * len(ASSUMPTIONS) * len(FORMS)
    (table,) = STUDY.run(context, ["forms"]).tables
    assert {claim.holds for claim in table.claims} == {None}
    assert len(table.cells) == (12 * len(FORMS) - 6) * 3  # aoa assumes nothing
    assert all(cell.ours is not None for cell in table.cells)
    assert table.findings.notes[-1].startswith("In short")


@pytest.mark.slow
def test_the_claims_hold_with_another_seed() -> None:
    judged = claims(simulate(Context(seed=1, sizes={DRAWS: 60})))
    assert {claim.claim: claim.holds for claim in judged if not claim.holds} == {}
