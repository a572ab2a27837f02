"""Claims of Lim et al. (2015) on values that are made to bear them out, and to fail them."""

import itertools

import numpy as np
import pytest
from made_lim2015 import N_ITEMS, fold_of_ranks

from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015 import table1_claims, table2
from unskew.studies.lim2015.fits import AUC, DIMS, FITTED, SAME, SHARED, SVD
from unskew.studies.lim2015.fits import NAMES as TITLES
from unskew.studies.lim2015.printed import METRICS
from unskew.studies.lim2015.table1_claims import AT_BEST, BEATS, BETTER, BUT_ATOP, NEAR, OWN_AIM, WORSE
from unskew.studies.lim2015.table2 import AGREE, EXPECTED, FALL, PARTS, Sizes, compare_sizes

NAMES = ("mf-auc", "mf-adg", SHARED, SVD, SAME)
FOLDS, USERS = 4, 300
DATA = "ml-100k"


def values_of(**gains):
    """Values of all models: noise that they share, and for each what it gains on MF-AUC by metric."""
    rng = np.random.default_rng(0)
    shared = {metric: 0.3 + 0.1 * rng.random((FOLDS, USERS)) for metric in (*METRICS, AUC)}
    groups = {}
    for name in NAMES:
        for metric, base in shared.items():
            gain = gains.get(name.replace("-", "_").partition("(")[0], {}).get(metric, 0.0)
            groups[DATA, name, metric] = base + gain + 0.01 * rng.standard_normal((FOLDS, USERS))
    return trials_of(groups)


def trials_of(groups):
    return Trials(DIMS, "fold, user", groups)


def sizes_of(*parts):
    return Sizes(dict(zip(PARTS, parts, strict=True)))


def paper_like():
    better = dict.fromkeys(BETTER, 0.02)
    return values_of(mf_adg={**better, "atop": -0.01}, svd=dict.fromkeys(METRICS, -0.05))


def fitted(values, gain=-0.01):
    values.groups[DATA, "mf-adg", FITTED] = values[DATA, "mf-auc", "atop"] + gain
    values.groups[DATA, "mf-auc", FITTED] = values[DATA, "mf-auc", "atop"]
    return values


def one(claims, ending):
    (each,) = [claim for claim in claims if claim.claim.endswith(ending)]
    return each


def held(claims, ending):
    return one(claims, ending).holds


@pytest.fixture(scope="module")
def fold():
    rng = np.random.default_rng(1)
    above = [rng.choice(N_ITEMS - 1, 6, replace=False) for _ in range(USERS)]
    return fold_of_ranks(above, [[0, 0, 1, 1, 1, 1]] * USERS)


def test_what_the_paper_says_holds_where_it_is_so(fold):
    claims = list(table1_claims.judged(paper_like(), DATA, fold))
    for text in (BEATS, BUT_ATOP, WORSE, AT_BEST):
        assert held(claims, text) is True
    sections = [one(claims, text).source for text in (BEATS, BUT_ATOP, WORSE, NEAR, AT_BEST)]
    assert sections == ["paper, Table 1", "paper, Table 1", "paper, Sec. 6", "paper, Sec. 6", "ours"]


def test_among_unseen_items_and_after_more_steps_the_sentences_are_ours(fold):
    unseen = list(table1_claims.judged(paper_like(), DATA, fold, "unseen"))
    longer = list(table1_claims.judged_longer(fitted(paper_like()), DATA, 5000))
    for claims in (unseen, longer):
        assert {claim.source for claim in claims} == {"ours"}
        assert [held(claims, text) for text in (BEATS, BUT_ATOP, WORSE)] == [True, True, True]


@pytest.mark.parametrize(("gain", "holds"), [(-0.01, True), (0.01, False)])
def test_the_aim_of_mf_auc_is_judged_on_the_rows_that_it_learns_from(gain, holds):
    claims = list(table1_claims.judged_longer(fitted(paper_like(), gain), DATA, 5000))
    assert held(claims, OWN_AIM) is holds
    assert not any(
        each.claim.endswith(OWN_AIM) for each in table1_claims.judged_longer(paper_like(), DATA, 5, "unseen")
    )


@pytest.mark.parametrize("metric", BETTER)
@pytest.mark.parametrize(("gain", "holds"), [(0.0002, None), (-0.0002, None), (-0.02, False)])
def test_a_gain_within_chance_leaves_the_claim_open_and_a_clear_loss_fails_it(metric, gain, holds, fold):
    better = dict.fromkeys(BETTER, 0.02)
    values = values_of(mf_adg={**better, metric: gain})
    beats = one(table1_claims.judged(values, DATA, fold), BEATS)
    assert beats.holds is holds
    assert f"not beyond two standard errors: {TITLES[metric]};" in beats.evidence


def test_mf_adg_above_by_atop_too_fails_the_claim_about_it(fold):
    values = values_of(mf_adg=dict.fromkeys(METRICS, 0.02))
    claims = list(table1_claims.judged(values, DATA, fold))
    assert [held(claims, text) for text in (BEATS, BUT_ATOP)] == [True, False]


@pytest.mark.parametrize(("model", "metric"), list(itertools.product(("mf-auc", "mf-adg"), METRICS)))
def test_svd_as_good_as_one_model_by_one_metric_fails_the_claim_about_it(fold, model, metric):
    values = paper_like()
    values.groups[DATA, SAME, metric] = values[DATA, model, metric] + 0.001
    claims = list(table1_claims.judged(values, DATA, fold))
    assert [held(claims, text) for text in (WORSE, AT_BEST)] == [False, True]
    assert TITLES[metric] in one(claims, WORSE).evidence.partition("not beyond two standard errors")[2]
    values.groups[DATA, SVD, metric] = values.groups[DATA, SAME, metric]
    assert held(table1_claims.judged(values, DATA, fold), AT_BEST) is False


def test_atop_and_auc_are_apart_by_what_their_identity_says(fold):
    """AUC = ((n - 1) ATOP - (k - 1)/2) / (n - k) of each user, with 4 test items among 39 candidates."""
    atop, auc = (fold.values("mf-adg", metric) for metric in ("atop", AUC))
    k, n = 4, N_ITEMS - 1
    assert auc == pytest.approx(((n - 1) * atop - (k - 1) / 2) / (n - k), abs=1e-12)
    assert auc - atop == pytest.approx((k - 1) * (atop - 0.5) / (n - k), abs=1e-12)


def test_the_claim_that_atop_and_auc_are_close_can_hold_and_fail(fold):
    atop = fold.values("mf-adg", "atop")[None]
    names = ("mf-auc", "mf-adg")

    def verdict(apart):
        groups = {(DATA, name, m): atop + apart * (m == AUC) for name in names for m in ("atop", AUC)}
        return table1_claims.near(trials_of(groups), DATA, fold)

    assert verdict(0.0009)[0] is True
    holds, evidence = verdict(-0.002)
    assert holds is False
    assert "MF-AUC 0.200 %" in evidence
    assert "k = 4.0 test items" in evidence


def dealt(rng, *, lifted=0.0):
    """All models on users whose items are dealt by lot; `lifted` of the users have theirs put first in validation."""
    tables = {}
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
        tables |= {(name, metric): compare_sizes([fold], name, metric) for metric in METRICS}
    return tables


def test_on_parts_dealt_by_lot_the_claims_about_all_models_hold():
    claims = list(table2.judged(DATA, dealt(np.random.default_rng(2))))
    assert [held(claims, text) for text in (table2.UNMOVED, EXPECTED)] == [True, True]
    assert "15 within two" in one(claims, table2.UNMOVED).evidence


def test_a_model_that_has_seen_the_validation_items_fails_the_claims_about_sizes():
    claims = list(table2.judged(DATA, dealt(np.random.default_rng(2), lifted=0.5)))
    assert [claim.holds for claim in claims] == [False] * 4


def table_of(still, moved, noise=0.0):
    """Every model with validation lower than test by these shares, and by noise of each user."""
    rng = np.random.default_rng(0)
    test = np.full((FOLDS, USERS), 0.3) + 0.01 * rng.standard_normal((FOLDS, USERS))
    wiggle = noise * rng.standard_normal((FOLDS, USERS))
    wiggle -= wiggle.mean()
    drops = {metric: still if metric in table2.UNBIASED else moved for metric in METRICS}
    return {
        (name, metric): sizes_of(test, test * (1 - drop) + wiggle, test, test * (1 - drop), test)
        for name in NAMES
        for metric, drop in drops.items()
    }


@pytest.mark.parametrize(
    ("still", "moved", "noise", "verdicts"),
    [
        (0.0049, 0.205, 0.0, [True, True]),
        (0.0052, 0.205, 0.0, [False, True]),
        (-0.0049, 0.195, 0.0, [True, False]),
        (-0.0052, 0.195, 0.0, [False, False]),
        (0.0049, 0.205, 0.3, [True, True]),
        (0.0052, 0.195, 0.3, [None, None]),  # the standard error is 2.9 %
        (0.1, 0.1, 0.3, [False, False]),
    ],
)
def test_the_papers_percentages_hold_fail_clearly_or_are_left_open(still, moved, noise, verdicts):
    claims = list(table2.judged(DATA, table_of(still, moved, noise)))
    assert [held(claims, text) for text in (AGREE, FALL)] == verdicts
    assert [one(claims, text).source for text in (AGREE, FALL)] == ["paper, Table 2"] * 2
    assert one(table2.judged(DATA, table_of(still, moved), "unseen"), AGREE).source == "ours"


def test_one_model_and_measure_off_is_enough_to_fail_the_papers_percentages():
    table, far = table_of(0.0, 0.21), table_of(0.01, 0.19)
    for key in itertools.product(("mf-auc", "mf-adg"), METRICS):
        claims = list(table2.judged(DATA, {**table, key: far[key]}))
        wrong = AGREE if key[1] in table2.UNBIASED else FALL
        assert {text: held(claims, text) for text in (AGREE, FALL)} == {AGREE: True, FALL: True, wrong: False}


def test_the_papers_percentages_are_of_movielens_alone():
    for data, asked in (("ml-1m", 2), ("ml-10m", 2), ("lastfm-hetrec2011", 0), ("amazon-games", 0)):
        claims = list(table2.judged(data, table_of(0.0, 0.25)))
        assert sum(bool(claim.section) for claim in claims) == asked
        assert len(claims) == asked + 2


def test_a_measure_that_does_not_drop_as_the_sizes_say_fails_our_claim():
    flat = np.full((FOLDS, USERS), 0.3) + 0.01 * np.random.default_rng(0).standard_normal((FOLDS, USERS))
    due = sizes_of(flat, flat[:, ::-1], flat, flat - 0.05, flat)
    claims = list(table2.judged(DATA, dict.fromkeys(itertools.product(NAMES, METRICS), due)))
    assert [held(claims, text) for text in (table2.UNMOVED, EXPECTED)] == [True, False]


def test_what_is_undefined_is_not_judged():
    names = ["mf-auc", "mf-adg", "svd"]
    near = dict.fromkeys(itertools.product(names, ["adg"]), 1.9)
    assert table2._within(near, names)[0] is True
    assert table2._within({**near, ("svd", "adg"): -9.0}, names)[0] is False
    for place in near:
        assert table2._within({**near, place: float("nan")}, names)[0] is None
