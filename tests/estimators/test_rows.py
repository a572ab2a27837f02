"""Estimates over all pairs: against loops, and what leaves them as they are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unskew.errors import ConfigError, DataError
from unskew.estimators import Aoa, Estimator, Ips, Places, Rows, Snips, Ure
from unskew.simulators.ratings.rating_world import observation
from unskew.testing.oracles import FORMS, estimate_by_loops, sizes_of
from unskew.testing.strategies import pair_rows
from unskew.testing.worlds.estimator_rows import reordered

few = settings(max_examples=30)
every_form = pytest.mark.parametrize("estimator", FORMS, ids=str)
SELF_NORMALISED = [form for form in FORMS if isinstance(form, Snips)]


def value(estimator: Estimator, rows: Rows) -> float:
    found = estimator.terms(rows, "loss").value
    assert found is not None
    return found


def test_four_rows_by_hand():
    """Users 0 and 1 of three have rows, each has 4 pairs; losses 1, 3 and 2 at P = 1/2, 1/4 and 1."""
    rows = Rows(
        worth=np.array([1.0, 3, 2]),
        propensity=np.array([0.5, 0.25, 1]),
        user=np.array([0, 0, 1]),
        item=np.array([0, 1, 1]),
        total=np.full(3, 4.0),
    )
    assert value(Aoa(), rows) == 2
    assert value(Aoa(per="user"), rows) == 2
    assert value(Aoa(per="item"), rows) == (1 + 2.5) / 2
    assert value(Ips(), rows) == (2 + 12 + 2) / 12
    assert value(Snips(), rows) == 16 / 7
    assert value(Snips(per="balanced"), rows) == (14 / 2 + 2) / (6 / 2 + 1)
    assert value(Snips(per="user"), rows) == (14 / 6 + 2) / 2
    assert value(Snips(per="item"), rows) == (1 + 14 / 5) / 2


@every_form
@few
@given(rows=pair_rows())
def test_the_value_is_that_of_the_loops(estimator, rows):
    assert value(estimator, rows) == pytest.approx(estimate_by_loops(estimator, rows), rel=1e-12)


@every_form
@few
@given(rows=pair_rows(), data=st.data())
def test_the_order_of_rows_changes_nothing(estimator, rows, data):
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    before, after = estimator.terms(rows, "loss"), estimator.terms(reordered(rows, order), "loss")
    np.testing.assert_allclose(after.numerator, before.numerator, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(after.denominator, before.denominator, rtol=1e-12)
    np.testing.assert_allclose(after.row_errors, before.row_errors[order], rtol=1e-9, atol=1e-12)


@every_form
@few
@given(rows=pair_rows(), factor=st.sampled_from([0.5, 3.0]), shift=st.sampled_from([0.0, 1.5]))
def test_the_value_follows_the_losses(estimator, rows, factor, shift):
    """Linear for all; a shift of every loss passes through unchanged but for ips, which does not know its own sum."""
    changed = rows.with_worth(factor * rows.worth)
    assert value(estimator, changed) == pytest.approx(factor * value(estimator, rows), rel=1e-12)
    if not isinstance(estimator, Ips):
        moved = rows.with_worth(rows.worth + shift * sizes_of(rows))
        assert value(estimator, moved) == pytest.approx(value(estimator, rows) + shift, rel=1e-9)


@pytest.mark.parametrize("estimator", SELF_NORMALISED, ids=str)
@few
@given(rows=pair_rows(), scale=st.sampled_from([0.9, 0.1, 1e-4]))
def test_snips_needs_propensities_up_to_scale_only(estimator, rows, scale):
    scaled = replace(rows, propensity=scale * rows.propensity)
    assert value(estimator, scaled) == pytest.approx(value(estimator, rows), rel=1e-9)
    assert estimator.clipped_share(scaled) == estimator.clipped_share(rows)


@few
@given(rows=pair_rows(), chance=st.sampled_from([1.0, 0.5, 0.013]))
def test_with_equal_propensities_snips_is_the_naive_mean_of_the_same_form(rows, chance):
    same = replace(rows, propensity=np.full(len(rows), chance))
    for per in ("pair", "user", "item"):
        assert value(Snips(per=per), same) == pytest.approx(value(Aoa(per=per), same), rel=1e-12)


@few
@given(rows=pair_rows(unequal=False), chance=st.sampled_from([1.0, 0.5, 0.013]))
def test_with_equal_propensities_the_balanced_form_is_the_mean_of_users_means(rows, chance):
    same = replace(rows, propensity=np.full(len(rows), chance))
    assert value(Snips(per="balanced"), same) == pytest.approx(value(Aoa(per="user"), same), rel=1e-12)


@few
@given(rows=pair_rows())
def test_clipping_at_one_makes_every_weight_the_same(rows):
    for per in ("pair", "user", "item"):
        assert value(Snips(per=per, clip=1), rows) == pytest.approx(value(Aoa(per=per), rows), rel=1e-12)


@few
@given(rows=pair_rows(unequal=False))
def test_ips_is_the_naive_mean_when_p_is_the_share_of_pairs_observed(rows):
    """Schnabel et al. 2016, section 3: the naive estimator is IPS with P = n / UI."""
    share = len(rows) / rows.total.sum()
    if share <= 1:
        known = replace(rows, propensity=np.full(len(rows), share))
        assert value(Ips(), known) == pytest.approx(value(Aoa(), rows), rel=1e-12)


def test_where_all_ratings_are_as_likely_snips_is_the_naive_mean():
    """The observation model of Schnabel et al. 2016 with alpha = 1."""
    rng = np.random.default_rng(4)
    ratings = rng.integers(1, 6, (30, 40))
    chance = observation(ratings, 1.0)
    rows = Rows.of_matrix(np.abs(ratings - 3.0), chance, rng.random(ratings.shape) < chance)
    assert value(Snips(), rows) == pytest.approx(value(Aoa(), rows), rel=1e-12)
    skewed = observation(ratings, 0.25)
    rows = Rows.of_matrix(np.abs(ratings - 3.0), skewed, rng.random(ratings.shape) < skewed)
    assert abs(value(Snips(), rows) - value(Aoa(), rows)) > 0.1


@few
@given(rows=pair_rows(), more=st.integers(1, 5))
def test_users_without_a_row_count_for_ips_alone(rows, more):
    longer = replace(rows, total=np.append(rows.total, np.full(more, rows.total[0])))
    for estimator in FORMS:
        before, after = estimator.terms(rows, "loss"), estimator.terms(longer, "loss")
        if isinstance(estimator, Ips):
            share = rows.total.sum() / longer.total.sum()
            assert after.value == pytest.approx(before.value * share, rel=1e-12)
            assert len(after.numerator) == len(before.numerator) + more
            assert not after.numerator[-more:].any()
        else:
            assert after.value == before.value
            assert len(after.numerator) == int(rows.user.max()) + 1


def test_a_graded_sum_over_users_of_different_catalogues_is_a_mean_over_users():
    """All pairs observed at P = 1: with s = 1/n, the value is the mean of the users' sums whatever their n."""
    gains = [np.array([3.0, 1]), np.array([2.0, 0, 5, 1, 1])]
    rows = Rows(
        worth=np.concatenate(gains),
        propensity=np.ones(7),
        user=np.repeat([0, 1], [2, 5]),
        item=np.array([0, 1, 0, 1, 2, 3, 4]),
        size=np.repeat([1 / 2, 1 / 5], [2, 5]),
        total=np.ones(2),
    )
    for estimator in (Ips(), Snips(), Snips(per="user"), Aoa(), Aoa(per="user")):
        assert value(estimator, rows) == pytest.approx((4 + 9) / 2, rel=1e-12)


@every_form
def test_of_nothing_only_ips_has_a_value_and_it_is_zero(estimator):
    rows = Rows.of_matrix(np.ones((2, 3)), np.full((2, 3), 0.5), np.zeros((2, 3), bool))
    terms = estimator.terms(rows, "loss")
    assert terms.value == (0 if isinstance(estimator, Ips) else None)
    assert terms.row_errors is not None
    assert not len(terms.row_errors)


@every_form
@few
@given(rows=pair_rows())
def test_weights_for_diagnostics_are_how_much_each_row_counts(estimator, rows):
    """Up to scale: how the value moves with a row's loss, times the row's share of a pair in per-item and per-user."""
    weights = estimator.weights(rows, "loss")
    assert (weights > 0).all()
    if isinstance(estimator, Ips) or estimator.per in ("auto", "pair", "balanced"):
        steps = []
        for row in range(len(rows)):
            moved = rows.worth.copy()
            moved[row] += 1
            steps.append(value(estimator, rows.with_worth(moved)) - value(estimator, rows))
        np.testing.assert_allclose(weights / weights.sum(), np.array(steps) / np.sum(steps), rtol=1e-6)
    else:
        group = rows.user if estimator.per == "user" else rows.item
        np.testing.assert_allclose(np.bincount(group, weights=weights), 1, rtol=1e-12)


@few
@given(rows=pair_rows())
def test_clipping_counts_the_rows_it_changes(rows):
    floor = 0.4 * rows.propensity.max()
    assert Snips(clip=0.4).clipped_share(rows) == np.mean(rows.propensity < floor)
    assert Snips().clipped_share(rows) == 0


def test_rows_of_a_matrix_are_its_observed_cells():
    loss = np.arange(6.0).reshape(2, 3)
    rows = Rows.of_matrix(loss, np.array([0.5, 0.2, 1]), np.array([[False, True, True], [False, True, False]]))
    assert rows.worth.tolist() == [1, 2, 4]
    assert rows.propensity.tolist() == [0.2, 1, 0.2]
    assert rows.user.tolist() == [0, 0, 1]
    assert rows.item.tolist() == [0, 1, 0]
    assert rows.total.tolist() == [3, 3]


@pytest.mark.parametrize("observed", [np.ones((3, 2), bool), np.ones(6, bool)])
def test_a_matrix_that_does_not_fit_is_refused(observed):
    with pytest.raises(DataError, match="must be matrices of the same shape"):
        Rows.of_matrix(np.ones((2, 3)), np.ones((2, 3)), observed)


def test_targets_say_what_is_averaged_over():
    assert Aoa().target_of("loss") == "observed pairs"
    assert Aoa(per="item").target_of("loss") == "observed pairs, mean over items"
    assert Snips().target_of("loss") == Ips().target_of("loss") == "all pairs"
    assert Snips(per="user").target_of("loss") == "all pairs, mean over users"
    assert Snips(per="item").target_of("graded") == "all pairs, mean over items"
    assert Ips().target_of("graded") == Snips().target_of("graded") == "all pairs, mean over users"
    assert Snips().target_of("mean") == "relevant pairs"


def test_forms_that_do_not_exist_are_refused():
    with pytest.raises(ConfigError, match="choose from"):
        Aoa(per="balanced")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="choose from"):
        Snips(per="auto")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="for metrics over all pairs"):
        Snips(per="item").terms(Rows(np.ones(2), np.arange(2), np.ones(2)), "mean")


def test_under_another_model_rows_keep_what_is_known_of_users():
    """Of a sample of four rows the second is not kept, so neither is its worth."""
    kept = np.array([True, False, True, True])
    rows = Rows(
        np.zeros(3), np.array([0, 0, 1]), total=np.array([4.0, 2]), positive=np.array([1, 0, 1]) == 1, kept=kept
    )
    counts, scale, positives = rows.counts, rows.scale, rows.positives
    known = Places(np.zeros(3), lambda numbers: np.zeros((2, len(numbers))))
    other = rows.with_worth(np.array([5.0, 6, 7, 8]), known)
    assert other.worth.tolist() == [5, 7, 8]
    assert other.places is known
    assert (other.user is rows.user, other.kept is kept) == (True, True)
    assert (other.counts is counts, other.scale is scale, other.positives is positives) == (True, True, True)
    assert (counts.tolist(), scale.tolist(), positives.tolist()) == ([2, 1], [2, 2], [1, 1])
    assert other.with_worth(np.zeros(4)).prior is rows.prior  # fitted once, whichever of them is asked first
    assert rows.worth.tolist() == [0, 0, 0]
    assert other.with_worth(np.arange(4.0)).places is None
    assert Rows(np.zeros(2), np.arange(2)).with_worth(np.array([3.0, 4])).worth.tolist() == [3, 4]


def test_what_rows_do_not_have_is_asked_for():
    rows = Rows(np.ones(2), np.arange(2))
    with pytest.raises(DataError, match="no propensities"):
        Snips().terms(rows, "mean")
    with pytest.raises(DataError, match="no labels"):
        Ure().terms(rows, "mean")
