"""What every estimator owes, Yang et al. (2018): identities with the naive average, scale, clipping, order."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.errors import ConfigError
from unskew.estimators import (
    OVER_ALL_PAIRS,
    Aoa,
    Auto,
    Blend,
    Dm,
    Dr,
    Estimator,
    Ips,
    Kind,
    Rows,
    Snips,
    Traditional,
    Ure,
)
from unskew.propensities import Popularity
from unskew.testing import check_estimator
from unskew.testing.contracts.estimator_contract import random_rows
from unskew.testing.strategies import exposed_rows, observed_rows
from unskew.testing.worlds.estimator_rows import at_ranks, ranks_of

SNIPS = [Snips(per="pair"), Snips(per="balanced"), Snips(per="user")]
# each form of snips against the average it becomes when all propensities are equal
NAIVE = {"pair": Aoa(per="pair"), "balanced": Aoa(), "user": Aoa()}
EVERY = [Aoa(), Aoa(per="pair"), Ips(), Ips(clip=0.3), *SNIPS, *(Snips(per=s.per, clip=0.3) for s in SNIPS)]
OF_ITEMS = [Aoa(per="item"), Snips(per="item")]
REDUCED = [Ure(aggregate="pooled", reduce="control"), Ure(aggregate="pooled", reduce="monotone")]
PLAIN_URE = [Ure(), Ure(aggregate="pooled"), Ure(aggregate="ipw"), Ure(aggregate="ipw", counts="plug-in")]
URE = [*PLAIN_URE, Ure(literal=True), *REDUCED]
IMPUTING = [Dm(), Dr(), Dr(cap=2), Blend()]
ALL: list[Estimator] = [*EVERY, *OF_ITEMS, Traditional(), *URE, *IMPUTING]


def value(estimator: Estimator, rows: Rows) -> float:
    found = estimator.terms(rows, "mean").value
    assert found is not None
    return found


def test_every_registered_estimator_is_tried_here() -> None:
    assert {type(estimator) for estimator in ALL} == set(Estimator.members()) - {Auto}


def test_auto_is_replaced_before_any_row_is_estimated() -> None:
    with pytest.raises(ConfigError, match="auto is replaced by an estimator that suits the data"):
        Auto().terms(Rows(np.ones(1), np.zeros(1, int)), "mean")


@pytest.mark.parametrize("estimator", ALL, ids=str)
def test_every_estimator_keeps_the_contract(estimator: Estimator) -> None:
    check_estimator(estimator, linear=estimator not in REDUCED)


def claims(estimator: Estimator, kind: Kind) -> bool:
    """Whether the form claims this kind: means over items are of all pairs, and a sum is not a mean over pairs."""
    if kind not in estimator.kinds or (estimator in OF_ITEMS and kind not in OVER_ALL_PAIRS):
        return False
    return estimator != Aoa(per="pair") or kind not in {"sum", "scored"}


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("estimator", ALL, ids=str)
def test_every_form_has_the_kinds_that_it_claims_and_the_errors_of_rows_over_all_pairs(
    estimator: Estimator, kind: Kind
) -> None:
    rows = random_rows(estimator, kind, np.random.default_rng(0))
    if not claims(estimator, kind):
        with pytest.raises(ConfigError):
            estimator.terms(rows, kind)
        return
    errors = estimator.terms(rows, kind).row_errors
    assert errors is not None or kind not in OVER_ALL_PAIRS


@pytest.mark.parametrize("snips", SNIPS, ids=str)
@given(rows=observed_rows(), p=st.floats(0.001, 1))
def test_snips_with_equal_propensities_is_the_naive_average_of_its_own_form(snips: Snips, rows: Rows, p: float) -> None:
    equal = replace(rows, propensity=np.full(len(rows), p))
    assert value(snips, equal) == pytest.approx(value(NAIVE[snips.per], rows), rel=1e-12)


@pytest.mark.parametrize("snips", SNIPS, ids=str)
@given(rows=observed_rows(), seed=st.integers(0, 100))
def test_snips_at_gamma_minus_one_is_the_naive_average_on_the_same_rows(snips: Snips, rows: Rows, seed: int) -> None:
    """Yang et al. (2018): gamma = -1 makes the exponent 0, whatever the counts."""
    rng = np.random.default_rng(seed)
    train = Interactions.from_arrays(np.arange(200) % 50, rng.integers(0, 6, 200), n_users=50, n_items=8)
    propensity = Popularity(gamma=-1).fit(train, train)(rows.user, rng.integers(0, 8, len(rows)))
    found = value(snips, replace(rows, propensity=propensity))
    assert found == pytest.approx(value(NAIVE[snips.per], rows), rel=1e-12)


@given(rows=observed_rows(), seed=st.integers(0, 100))
def test_snips_per_user_takes_another_scale_for_each_user(rows: Rows, seed: int) -> None:
    """The first two forms need one scale across users, the third does not."""
    scale = np.random.default_rng(seed).uniform(0.1, 1, rows.n_users)[rows.user]
    scaled = replace(rows, propensity=scale * rows.chance)
    assert value(Snips(per="user"), scaled) == pytest.approx(value(Snips(per="user"), rows), rel=1e-9)


@pytest.mark.parametrize("snips", SNIPS, ids=str)
@given(rows=observed_rows())
def test_snips_of_a_constant_is_the_constant(snips: Snips, rows: Rows) -> None:
    assert value(snips, rows.with_worth(np.full(len(rows), 0.3))) == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize("ure", URE, ids=str)
@given(rows=exposed_rows())
def test_ure_of_a_constant_is_the_constant(ure: Ure, rows: Rows) -> None:
    assert value(ure, at_ranks(rows, ranks_of(rows), np.full(9, 0.3))) == pytest.approx(0.3, rel=1e-9)


def test_the_average_inside_the_sample_is_the_naive_one() -> None:
    """Of rows ranked among the exposed alone; which rows these are, `sees` says."""
    rows = Rows(np.array([1.0, 0, 1]), np.array([0, 0, 1]))
    assert (Traditional().sees, Aoa().sees) == ("inside", "observed")
    assert value(Traditional(), rows) == value(Aoa(), rows) == 3 / 4


def test_the_forms_of_snips_by_hand() -> None:
    """Users A with gains 1, 0 and P 1/2, 1/4; B with gain 1 and P 1: weights 2, 4 and 1."""
    rows = Rows(np.array([1.0, 0, 1]), np.array([0, 0, 1]), np.array([1 / 2, 1 / 4, 1]), total=np.array([8.0, 2]))
    assert value(Snips(), rows) == pytest.approx(3 / 7)
    assert value(Snips(per="balanced"), rows) == pytest.approx((2 / 2 + 1) / (6 / 2 + 1))
    assert value(Snips(per="user"), rows) == pytest.approx((2 / 6 + 1) / 2)
    assert value(Aoa(), rows) == pytest.approx((1 / 2 + 1) / 2)
    assert value(Aoa(per="pair"), rows) == pytest.approx(2 / 3)
    assert columns(Ips(), rows, "mean") == [[2 / 8, 1 / 2], [1, 1]]
    assert columns(Ips(), replace(rows, empty=2), "mean") == [[2 / 8, 1 / 2, 0, 0], [1, 1, 1, 1]]


def test_sums_by_hand() -> None:
    rows = Rows(np.array([1.0, 0, 1]), np.array([0, 0, 1]), np.array([1 / 2, 1 / 4, 1]))
    assert columns(Aoa(), rows, "sum") == [[1, 1], [1, 1]]
    assert columns(Ips(), rows, "sum") == [[2, 1], [1, 1]]
    for estimator in (Snips(), Aoa(per="pair")):
        with pytest.raises(ConfigError, match="sum"):
            estimator.terms(rows, "sum")


def columns(estimator: Estimator, rows: Rows, kind: Kind) -> list[list[float]]:
    terms = estimator.terms(rows, kind)
    return [terms.numerator.tolist(), terms.denominator.tolist()]


@pytest.mark.parametrize("kind", [Snips, Ips])
def test_clipping_raises_small_propensities_to_a_share_of_the_largest(kind: type[Snips] | type[Ips]) -> None:
    propensity = np.array([0.5, 0.1, 0.05, 0.04])
    rows = Rows(np.ones(4), np.arange(4), propensity)
    estimator = kind(clip=0.1)
    assert estimator.inverse(propensity).tolist() == pytest.approx([2, 10, 20, 20])
    assert estimator.clipped_share(rows) == 0.25
    assert kind().clipped_share(rows) == 0
    assert kind().inverse(propensity).tolist() == pytest.approx([2, 10, 20, 25])


@pytest.mark.parametrize("per", ["pair", "balanced", "user"])
@given(rows=observed_rows())
def test_clipping_everything_leaves_the_naive_average(per: str, rows: Rows) -> None:
    snips = Snips(clip=1, per=per)  # type: ignore[arg-type]
    assert value(snips, rows) == pytest.approx(value(NAIVE[per], rows), rel=1e-12)


@pytest.mark.parametrize("word", ["snips(clip=-0.1)", "snips(clip=1.1)", "ips(clip=nan)", "snips(clip=2)"])
def test_impossible_clips_are_refused(word: str) -> None:
    with pytest.raises(ConfigError, match="must be between 0 and 1; it is relative"):
        Estimator.from_word(word)


def test_ips_of_a_mean_needs_the_numbers_of_relevant_items() -> None:
    with pytest.raises(ConfigError, match="number of relevant items"):
        Ips().terms(Rows(np.ones(1), np.zeros(1, int), np.ones(1)), "mean")


def test_each_estimator_says_what_it_estimates() -> None:
    """The target is printed with the number."""
    assert Snips().target == "relevant pairs"
    assert Snips(per="user").target == Ips().target == "relevant items, mean over users"
    assert "nearly" in Snips(per="balanced").target
    assert Aoa().target.startswith("observed items")
    assert Aoa(per="pair").target == "observed pairs"
