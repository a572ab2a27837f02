"""Claims of Lim et al. (2015) on values that are made to bear them out, and to fail them."""

import itertools

import numpy as np
import pytest
from made_lim2015 import N_ITEMS, fold_of_ranks

from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015 import table1, table2
from unskew.studies.lim2015.fits import AUC, OWN
from unskew.studies.lim2015.fits import NAMES as TITLES
from unskew.studies.lim2015.printed import METRICS
from unskew.studies.lim2015.table1 import BETTER
from unskew.studies.lim2015.table2 import PARTS, Sizes, compare_sizes

NAMES = ("mf-auc", "mf-adg", OWN, "svd(5)", "svd(10)")
FOLDS, USERS = 4, 300


def values_of(**gains):
    """Values of all models: noise that they share, and for each what it gains on MF-AUC by metric."""
    rng = np.random.default_rng(0)
    shared = {metric: 0.3 + 0.1 * rng.random((FOLDS, USERS)) for metric in (*METRICS, AUC)}
    groups = {}
    for name in NAMES:
        for metric, base in shared.items():
            gain = gains.get(name.replace("-", "_").partition("(")[0], {}).get(metric, 0.0)
            groups["made", name, metric] = base + gain + 0.01 * rng.standard_normal((FOLDS, USERS))
    return trials_of(groups)


def trials_of(groups):
    return Trials(table1.DIMS, "fold, user", groups)


def sizes_of(*parts):
    return Sizes(dict(zip(PARTS, parts, strict=True)))


def paper_like():
    better = dict.fromkeys(BETTER, 0.02)
    return values_of(mf_adg={**better, "atop": -0.01}, svd=dict.fromkeys(METRICS, -0.05))


def held(claims, ending):
    (found,) = [claim for claim in claims if claim.claim.endswith(ending)]
    return found.holds


@pytest.fixture(scope="module")
def fold():
    rng = np.random.default_rng(1)
    above = [rng.choice(N_ITEMS - 1, 6, replace=False) for _ in range(USERS)]
    return fold_of_ranks(above, [[0, 0, 1, 1, 1, 1]] * USERS)


def test_what_the_paper_says_holds_where_it_is_so(fold):
    claims = list(table1.judged(paper_like(), "made", fold))
    for metric in ("MAP", "NDCG", "Recall@10", "ADG"):
        assert held(claims, f"above MF-AUC by {metric}") is True
    assert held(claims, "not above MF-AUC by ATOP") is True
    assert held(claims, "at every rank, by ADG") is True
    assert [claim.holds for claim in table1.overall(paper_like())] == [True, True, True]


@pytest.mark.parametrize("metric", BETTER)
def test_a_gain_within_chance_is_no_gain(metric, fold):
    better = dict.fromkeys(BETTER, 0.02)
    values = values_of(mf_adg={**better, metric: -0.001})
    claims = list(table1.judged(values, "made", fold))
    assert held(claims, f"above MF-AUC by {TITLES[metric]}") is False
    first = next(iter(table1.overall(values)))
    assert first.holds is False
    assert TITLES[metric] in first.evidence


def test_mf_adg_above_by_atop_too_fails_the_claim_about_it(fold):
    values = values_of(mf_adg=dict.fromkeys(METRICS, 0.02))
    assert held(table1.judged(values, "made", fold), "not above MF-AUC by ATOP") is False
    assert [claim.holds for claim in table1.overall(values)] == [True, False, True]


def test_one_rank_of_svd_that_is_as_good_fails_the_claim_about_it(fold):
    values = paper_like()
    values.groups["made", "svd(10)", "adg"] = values["made", "mf-adg", "adg"] + 0.001
    claims = list(table1.judged(values, "made", fold))
    assert held(claims, "at every rank, by ADG") is False
    last = list(table1.overall(values))[-1]
    assert last.holds is False
    assert "SVD rank 10 on made" in last.evidence
    assert "rank 5 on" not in last.evidence


def test_atop_and_auc_are_apart_by_what_their_identity_says(fold):
    """AUC = ((n - 1) ATOP - (k - 1)/2) / (n - k), with 4 test items among 39 candidates."""
    values = {("made", name, m): fold.values("mf-adg", m)[None] for name in ("mf-auc", "mf-adg") for m in ("atop", AUC)}
    literal, identity = table1.gap_claims(trials_of(values), "made", fold)
    assert identity.holds is True
    far = {key: value + 0.01 * (key[2] == AUC) for key, value in values.items()}
    assert [claim.holds for claim in table1.gap_claims(trials_of(far), "made", fold)] == [False, False]
    near = {key: np.full_like(value, 0.5) for key, value in values.items()}
    assert [claim.holds for claim in table1.gap_claims(trials_of(near), "made", fold)] == [True, True]
    assert literal.evidence.startswith("MF-AUC")


def dealt(rng, *, lifted=0.0):
    """All models on users whose items are dealt by lot; `lifted` of the users have theirs put first in validation."""
    found = {}
    for name in NAMES:
        above, lots = [], []
        for user in range(USERS):
            lot = rng.permutation([0, 0, 0, 1, 1, 1, 1, 1, 1])
            places = rng.choice(N_ITEMS - 1, 9, replace=False)
            if user < lifted * USERS:
                places = np.sort(places)[np.argsort(np.argsort(lot, kind="stable"))]
            above.append(places)
            lots.append(lot)
        fold = fold_of_ranks(above, lots, name)
        found |= {(name, metric): compare_sizes([fold], name, metric) for metric in METRICS}
    return found


def test_on_parts_dealt_by_lot_the_claims_about_all_models_hold():
    claims = list(table2.judged("made", dealt(np.random.default_rng(2))))
    # the first and fourth ask for two standard errors of several numbers, which chance alone exceeds now and then
    assert [claims[place].holds for place in (1, 2, 4)] == [True, True, True]
    assert "15 within two" in claims[1].evidence


def test_a_model_that_has_seen_the_validation_items_fails_the_claims_about_sizes():
    claims = list(table2.judged("made", dealt(np.random.default_rng(2), lifted=0.5)))
    assert [claim.holds for claim in claims] == [False] * 5


def test_a_measure_that_does_not_drop_fails_the_claim_that_it_does():
    flat = np.full((FOLDS, USERS), 0.3) + 0.01 * np.random.default_rng(0).standard_normal((FOLDS, USERS))
    due = sizes_of(flat, flat[:, ::-1], flat, flat - 0.05, flat)
    claims = table2.judged("made", dict.fromkeys(itertools.product(NAMES, METRICS), due))
    assert [claim.holds for claim in claims] == [True, True, False, False, False]


def test_two_standard_errors_are_for_the_papers_models_and_what_is_undefined_is_not_judged():
    names = ["mf-auc", "mf-adg", "svd"]
    near = dict.fromkeys(itertools.product(names, ["adg"]), 1.9)
    assert table2._within_two(near)[0] is True
    assert table2._within_two({**near, ("mf-adg", "adg"): -2.1})[0] is False
    assert table2._within_two({**near, ("svd", "adg"): -9.0})[0] is True
    assert table2._within({**near, ("svd", "adg"): -9.0}, names)[0] is False
    for place in near:
        gap = {**near, place: float("nan")}
        assert table2._within(gap, names)[0] is None
        assert table2._within_two(gap)[0] is (True if place[0] == "svd" else None)


def test_a_drop_too_small_to_be_seen_is_not_asked_for():
    """Where the sizes let NDCG fall by much and MAP by next to nothing, only NDCG is judged."""
    flat = np.full((FOLDS, USERS), 0.3) + 0.01 * np.random.default_rng(0).standard_normal((FOLDS, USERS))
    falls = sizes_of(flat, flat[:, ::-1] - 0.05, flat, flat - 0.05, flat)
    stays = sizes_of(flat, flat[:, ::-1], flat, flat - 1e-5, flat)
    found = {(name, metric): falls if metric == "ndcg" else stays for name in NAMES for metric in METRICS}
    drop = list(table2.judged("made", found))[2]
    assert drop.holds is True
    assert "in 5 of 5" in drop.evidence
    assert "too small to be distinguished from chance for MF-AUC MAP" in drop.evidence
    nothing = dict.fromkeys(itertools.product(NAMES, METRICS), stays)
    assert list(table2.judged("made", nothing))[2].holds is None
