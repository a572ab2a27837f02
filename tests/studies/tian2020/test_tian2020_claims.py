"""What the study says of runs that are made by hand (Tian & Ekstrand 2020)."""

from dataclasses import replace

import numpy as np
import pytest
from made_tian2020 import MRR, PRECISION, RECALL, all_worlds, made_runs, usual

from unskew.studies import Context
from unskew.studies.framework.claims import Claim
from unskew.studies.tian2020 import fig2, fig2_words, table1, table3, words
from unskew.studies.tian2020.fig2_words import Tally
from unskew.studies.tian2020.printed import DATA
from unskew.studies.tian2020.runs import EXPECTED
from unskew.studies.tian2020.table1 import Closeness


def holds(claims) -> list[bool | None]:
    return [each.holds for each in claims]


def inverted(metric: str) -> dict:
    return usual() | {("oracle", metric): (0.05, 1.0), ("popular", metric): (0.07, 0.8)}


def test_inversions_are_allowed_in_ibp_worlds_observed_by_popularity_alone():
    usual_claims = list(table3.claims(all_worlds("ml-1m")))
    assert holds(usual_claims) == [True, True, True]
    assert holds(table3.claims(all_worlds("ml-1m", {"ibp-pop": inverted(MRR)}))) == [True, True, True]
    found = list(table3.claims(all_worlds("ml-1m", {"lda-unif": inverted(MRR)})))
    assert holds(found) == [False, False, True]
    assert "lda-unif mrr 0 %" in found[0].evidence
    assert [claim.claim.partition(" (")[2] for claim in found[:2]] == ["as the authors' program)", "ties expected)"]


def test_a_near_tie_is_named_but_is_no_inversion():
    near = usual() | {("oracle", MRR): (0.06, 1.0), ("popular", MRR): (0.06, 0.999)}
    runs = [made_runs("ml-1m", "ibp-unif", near, noise=0.01)]
    found = next(table3.claims(runs))
    assert found.holds is True
    assert "near-ties" in found.evidence
    assert "ibp-unif mrr" in found.evidence.split("near-ties")[1]


def test_a_tie_counts_for_the_oracle():
    tied = usual() | {("oracle", RECALL): (0.5, 1.0), ("popular", RECALL): (0.5, 0.8)}
    assert table3.chosen(made_runs("ml-1m", "ibp-unif", tied, noise=0.0), RECALL, EXPECTED) == 1.0


def test_the_shapes_of_the_paper_hold_in_its_archived_means():
    for paper in DATA:
        values = fig2_words.printed_values(paper)
        for sentence, shape in fig2_words._SHAPES.items():
            assert Tally.of(shape(values)).against == (), (paper, sentence)


def test_shapes_hold_in_usual_worlds_and_fail_where_they_do_not():
    assert holds(fig2_words.claims(all_worlds("ml-1m"))) == [True] * 4
    low_recall = usual(recall_error=-0.05)
    assert holds(fig2_words.claims(all_worlds("ml-1m", {"lda-pop": low_recall}))) == [False, True, True, True]
    too_high = usual(0.05) | {("random", PRECISION): (0.2, 0.1)}
    assert holds(fig2_words.claims(all_worlds("ml-1m", {"ibp-pop": too_high}))) == [True, False, True, True]
    less = usual() | {("oracle", MRR): (0.9, 1.0)}
    assert holds(fig2_words.claims(all_worlds("ml-1m", {"lda-unif": less}))) == [True, True, False, True]
    smaller = usual() | {("popular", MRR): (0.6, 0.8)}
    assert holds(fig2_words.claims(all_worlds("ml-1m", {"ibp-unif": smaller})))[3] is False


def test_what_is_within_the_noise_is_neither_for_nor_against():
    found = Tally.of([("a", np.array([1.0, -1.2, 1.1, -1.0])), ("b", np.array([-1.0, -1.1])), ("c", np.array([0.5]))])
    assert (found.good, found.against, found.unsure) == (("c",), ("b",), ("a",))
    assert found.told == "in 1 of 3, not for b, within 3 s.e. of no difference a"


def test_identities_are_broken_by_a_true_precision_below_one_and_by_a_biased_recall():
    assert holds(fig2_words.identities(all_worlds("ml-1m"))) == [True, True]
    imperfect = usual() | {("oracle", PRECISION): (0.1, 0.999)}
    assert holds(fig2_words.identities(all_worlds("ml-1m", {"ibp-pop": imperfect}))) == [False, True]
    assert holds(fig2_words.identities(all_worlds("ml-1m", {"lda-unif": usual(0.01)}))) == [True, False]


@pytest.mark.parametrize("runs", [3, 8, 100])
def test_few_runs_are_allowed_as_many_standard_errors_as_chance_takes(runs):
    """Unbiased errors of 18 recommenders, in two ways, are refused in fewer than 1 of 400 studies."""
    from scipy.stats import t

    assert 36 * 2 * t.sf(fig2_words.allowed(runs), runs - 1) < 1 / 400


def test_gaps_are_told_both_ways():
    told = next(fig2_words.gap_notes(all_worlds("ml-1m")))
    assert "ibp-unif precision 1.67 (1.25), +0.0400 (+0.2000)" in told
    assert "in 8 of 16, the difference in 0." in told


def test_the_printed_losses_follow_from_the_printed_divergences():
    assert holds(table1.golden()) == [True]


@pytest.mark.parametrize(("closest", "expected"), [("lda-unif", True), ("ibp-pop", False)])
def test_the_family_that_comes_closest_is_compared_with_the_papers(closest, expected):
    best = dict.fromkeys(table1.STATISTICS, 0.1)
    found = {
        world: Closeness({name: np.array([0.2, 0.4]) / (2 if world == closest else 1) for name in best}, best, best)
        for world in table1.WORLDS
    }
    assert found[closest].loss == pytest.approx(50)
    assert found[closest].ratio("item-item") == pytest.approx(1.5)
    assert holds(table1.claims({"ml-1m": found}))[1:] == [expected]


@pytest.mark.parametrize(("new", "expected"), [(0.19, True), (0.21, False), (0.04, False)])
def test_parameters_chosen_by_a_lucky_log_are_told(new, expected):
    """Chosen by a log with 0.1 in each, twice the smallest seen; new logs may have 0.05 to 0.2 on average."""
    best, chosen = dict.fromkeys(table1.STATISTICS, 0.05), dict.fromkeys(table1.STATISTICS, 0.1)
    found = {
        world: Closeness(
            {name: np.array([0.8, 1.2]) * (new if world == "ibp-pop" else 0.1) for name in best}, best, chosen
        )
        for world in table1.WORLDS
    }
    claim = next(table1.claims({"ml-1m": found}))
    assert claim.holds is expected
    assert f"ibp-unif 1.00, ibp-pop {10 * new:.2f}" in claim.evidence


def test_the_small_version_judges_no_claim_but_tells_what_it_saw():
    claim = Claim("It rains", False, "dry")
    assert words.soften(Context(), [claim]) == (claim,)
    assert words.soften(Context(fast=True), [claim]) == (
        replace(claim, holds=None, evidence="a small version judges nothing; seen: dry"),
    )


def test_worlds_may_have_unequal_numbers_of_runs():
    cheap, *others = all_worlds("ml-1m")
    more = made_runs("ml-1m", cheap.world, usual(), seed=7, runs=2 * len(cheap))
    drawn = fig2._figure("ml-1m", [more, *others], EXPECTED)
    assert [len(series.x) for series in drawn.panels[0].series[:3]] == [4, 4, 4]
