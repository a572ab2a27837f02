"""The tables and figures of Schnabel et al. 2016, on made worlds and on the real one."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from schnabel_goldens import MAE, MSE, MSE_DEVIATIONS

from unskew.data import Interactions
from unskew.data.sources import get_source, status_of
from unskew.errors import DataError
from unskew.simulators import MARGINALS, relabel
from unskew.studies import Context
from unskew.studies.framework import completed_movielens as completion
from unskew.studies.framework.completed_movielens import World
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016 import STUDY, fig1, fig2, fig4, jester, table1
from unskew.studies.schnabel2016.closed_forms import Limit, limit, rmse_limits
from unskew.studies.schnabel2016.printed import MATRICES, TABLE1

SIZE = 943 * 1682


@pytest.fixture(scope="module")
def world():
    return World(relabel(np.random.default_rng(5).random((60, 400))), "made", "A made world.")


def by_name(findings):
    return {(cell.row, cell.column): cell for cell in findings.cells}


def test_movie_lovers_has_the_golden_values():
    findings = fig1.run(Context())
    cells = by_name(findings)
    found = {column: (cells["Ŷ1", column].ours, cells["Ŷ2", column].ours) for column in fig1.WORKED_OUT}
    assert found["MAE true"] == pytest.approx((2 / 3, 4 / 3))
    assert found["MAE naive, limit"] == pytest.approx((0.625, 0.25))
    assert found["MAE naive, drawn sample"] == pytest.approx((0.5926, 0.4444), abs=5e-5)
    assert found["MAE snips, drawn sample"] == pytest.approx((0.5161, 1.9355), abs=5e-5)
    assert sum(fig1.SAMPLE) == 27
    assert all(cell.paper is None and cell.agrees is True for cell in findings.cells)
    assert [(claim.holds, claim.section) for claim in findings.claims] == [(True, "Sec. 3.1, Fig. 1"), (True, "")]


def test_movie_lovers_whose_naive_average_prefers_the_better_refute_the_claim():
    groups = {
        (name, prediction): np.array([0.6, 0.7, 0.65]) + (0.6 if prediction == "Ŷ2" else 0.0)
        for name in fig1.ESTIMATORS
        for prediction in fig1.NAMES
    }
    noise = np.random.default_rng(0).normal(scale=0.01, size=3)
    groups = {key: values + noise * (k + 1) for k, (key, values) in enumerate(groups.items())}
    naive, corrected = fig1._claims([2 / 3, 4 / 3], Trials(("estimator", "prediction"), "draw", groups))
    assert (naive.holds, corrected.holds) == (False, True)


@pytest.mark.parametrize("matrix", MATRICES)
def test_closed_forms_have_the_golden_values(matrix):
    form = limit(matrix, "MAE", 0.25, SIZE)
    assert (form.true, form.naive, form.sd_ips, form.sd_snips) == pytest.approx(MAE[matrix], abs=5.1e-5)
    naive = [limit(matrix, "MSE", alpha, SIZE).naive for alpha in fig2.ALPHAS.full]
    assert naive == pytest.approx(MSE[matrix], abs=5.1e-5)
    assert limit(matrix, "MSE", 1.0, SIZE).true == pytest.approx(MSE[matrix][0], abs=5.1e-5)


def test_closed_forms_of_the_simple_predictions_are_sums_of_shares():
    p1, p2, _, _, p5 = np.array(MARGINALS) / sum(MARGINALS)
    true = {name: limit(name, "MAE", 0.25, SIZE).true for name in MATRICES}
    assert true["REC_ONES"] == pytest.approx(4 * p5)
    assert true["REC_FOURS"] == pytest.approx(p5)
    assert true["ROTATE"] == pytest.approx(1 + 3 * p1)
    assert true["COARSENED"] == pytest.approx(2 * p1 + p2 + p5)


def test_without_data_the_printed_numbers_of_table_1_agree_with_the_closed_forms(tmp_path):
    findings = table1.TABLE.run(Context(folder=tmp_path))
    forms = [cell for cell in findings.cells if cell.data == "none"]
    assert len(forms) == 35
    assert all(cell.paper is not None and cell.agrees for cell in forms)
    others = [cell for cell in findings.cells if cell.data != "none"]
    assert all(cell.ours is None and "unskew datasets get ml-100k" in cell.note for cell in others)
    assert {claim.holds for claim in findings.claims} == {None}
    assert {claim.section for claim in findings.claims} == {"Sec. 6.2, Table 1"}


def test_a_wrong_closed_form_would_be_seen(tmp_path):
    cells = by_name(table1.TABLE.run(Context(folder=tmp_path)))
    for (_, column), cell in cells.items():
        if column in {"MAE true", "MAE Naive"}:
            assert replace(cell, ours=cell.ours + 0.01).agrees is False


def test_table_1_of_a_made_world_has_its_truth_and_its_claims(world):
    findings = table1.compute(world, Context(fast=True))
    cells = by_name(findings)
    for matrix in MATRICES:
        slack = 4 * limit(matrix, "MAE", 0.25, world.ratings.size).sd_prediction + 1e-3
        assert cells[matrix, "MAE true"].ours == pytest.approx(MAE[matrix][0], abs=slack)
        assert cells[matrix, "MAE IPS"].spread > 0
    assert cells["ROTATE", "DCG@50 true"].agrees is True
    assert cells["REC_ONES", "DCG@50 true"].comparable is False
    assert "completed" in cells["REC_ONES", "DCG@50 true"].note
    assert [claim.holds for claim in findings.claims] == [True, True, True]
    assert findings.notes == ("A made world.",)


def test_table_1_compares_each_printed_number_once(world):
    findings = table1.compute(world, Context(fast=True, trials=2))
    cells = by_name(findings)
    assert len(cells) == len(findings.cells) == 5 * 14
    columns = {"true", *(f"{e}{sd}" for e in ("IPS", "SNIPS", "Naive") for sd in ("", ", sd"))}
    printed = {key for key, cell in cells.items() if cell.comparable and cell.paper is not None}
    assert printed == {
        *((matrix, f"MAE {column}") for matrix in MATRICES for column in columns),
        *(("ROTATE", f"DCG@50 {column}") for column in columns),
    }
    assert {key for key, cell in cells.items() if cell.paper is not None} == set(cells) == set(TABLE1)


def test_a_biased_estimate_refutes_table_1(world):
    simulated = table1.simulate(world, Context(fast=True))
    key = ("MAE", "IPS", "REC_FOURS")
    groups = dict(simulated.estimates.groups) | {key: simulated.estimates[key] + 10 * simulated.exact_sd[key]}
    biased = replace(simulated, estimates=replace(simulated.estimates, groups=groups))
    unbiased, far, _ = table1._claims(biased)
    assert (unbiased.holds, far.holds) == (False, True)
    assert "MAE IPS REC_FOURS" in unbiased.evidence


def test_a_naive_average_that_is_right_once_is_not_severely_biased(world):
    simulated = table1.simulate(world, Context(fast=True))
    key = ("MAE", "Naive", "SKEWED")
    values = simulated.estimates[key]
    groups = dict(simulated.estimates.groups) | {key: values - values.mean() + simulated.truth["MAE", "SKEWED"]}
    right = replace(simulated, estimates=replace(simulated.estimates, groups=groups))
    assert [claim.holds for claim in table1._claims(right)] == [True, False, True]


def test_figure_2_does_not_bear_out_its_claim_in_a_world_too_small_for_the_strongest_selection(world):
    # at alpha = 1/32 the standard deviation of the IPS estimate of ROTATE is 18 in 24,000 cells, against a bias of 8
    orders, better, _ = fig2.compute(world, Context(fast=True)).claims
    assert orders.holds is False
    assert better.holds is not True


def test_figure_2_bears_out_its_claims_where_selection_is_moderate(world):
    alphas = (1.0, 0.5, 0.25)
    findings = fig2.compute(world, Context(sizes={fig2.ALPHAS: alphas}))
    assert [claim.holds for claim in findings.claims][1:] == [True, True]
    assert {claim.section for claim in findings.claims} == {"Sec. 6.2, Fig. 2"}
    (figure,) = findings.figures
    assert [panel.title for panel in figure.panels] == ["Estimates of MSE", "Estimates of DCG@50"]
    for panel in figure.panels:
        assert [line.name for line in panel.series] == ["Naive", "IPS", "SNIPS"]
        assert [line.naive for line in panel.series] == [True, False, False]
        naive, _, snips = panel.series
        assert naive.x == alphas
        assert all(low <= mean <= high for low, mean, high in zip(snips.low, snips.mean, snips.high, strict=True))


def test_at_alpha_1_snips_is_the_naive_average(world):
    trials = fig2.measure(world, Context(fast=True, sizes={fig2.ALPHAS: (1.0,)})).at(data=fig2.DATA)
    for metric in ("MSE", "DCG"):
        assert trials[metric, "SNIPS", 1.0] == pytest.approx(trials[metric, "Naive", 1.0], rel=1e-6)


def test_the_errors_of_figure_2_are_at_their_closed_forms(world):
    findings = fig2.compute(world, Context())
    referred = [cell for cell in findings.cells if cell.reference is not None]
    assert len(referred) == 3 * len(fig2.ALPHAS.full)
    assert all(cell.agrees for cell in referred)
    assert all(cell.paper is None for cell in findings.cells)


@pytest.mark.parametrize("matrix", MATRICES)
def test_closed_forms_have_the_golden_deviations_of_mse(matrix):
    found = [limit(matrix, "MSE", alpha, SIZE) for alpha in (0.25, 0.03125)]
    assert [(form.sd_ips, form.sd_snips) for form in found] == [
        pytest.approx(each, abs=5.1e-5) for each in MSE_DEVIATIONS[matrix]
    ]


def test_the_error_over_predictions_is_the_root_of_squared_biases_and_variances():
    one = Limit(1.0, 3.0, sd_ips=0.3, sd_snips=0.1, sd_naive=0.0, sd_prediction=0.0, sd_prediction_naive=0.0)
    two = replace(one, naive=1.0, sd_ips=0.4)
    found = rmse_limits([one, two], 50)
    assert found["Naive"] == pytest.approx((np.sqrt(2), 0.0))
    assert found["IPS"][0] == pytest.approx(np.sqrt((0.09 + 0.16) / 2))
    assert found["SNIPS"] == pytest.approx((0.1, 0.1 / np.sqrt(2 * 50)))


def test_an_estimator_that_is_less_than_ten_times_better_is_not_by_orders_of_magnitude():
    rng = np.random.default_rng(0)
    scale = {"Naive": 1.0, "IPS": 0.2, "SNIPS": 0.2}
    groups = {
        (metric, name, alpha): scale[name] ** 2 * rng.chisquare(5, 50) / 5
        for metric in ("MSE", "DCG")
        for name in scale
        for alpha in (0.5, 0.25)
    }
    trials = Trials(("metric", "estimator", "alpha"), "draw", groups)
    assert [claim.holds for claim in fig2._claims(trials, "", "")][:2] == [False, True]
    better = replace(trials, groups={key: v / 16 if key[1] != "Naive" else v for key, v in groups.items()})
    assert next(fig2._claims(better, "", "")).holds is True


def test_figure_4_bears_out_its_claims_on_a_made_world(world):
    findings = fig4.compute(world, Context())
    never, _ = findings.claims
    assert never.holds is True
    assert {claim.section for claim in findings.claims} == {"Sec. 6.4, Fig. 4"}
    (figure,) = findings.figures
    for panel in figure.panels:
        lines = {line.name: line for line in panel.series}
        assert list(lines) == ["Naive", "IPS", "SNIPS", "IPS-NB", "SNIPS-NB"]
        assert lines["IPS-NB"].x == tuple(map(float, fig4.SIZES))
        assert lines["IPS-NB"].mean[-1] < lines["IPS-NB"].mean[0]  # a larger sample helps
        assert len(set(lines["Naive"].mean)) == 1


def test_estimated_propensities_that_are_worse_once_refute_figure_4(world):
    trials = fig4.measure(world, Context(fast=True))
    worse = dict(trials.groups) | {("MSE", "IPS-NB", 10): 4 * trials["MSE", "Naive", 10]}
    never, beats = fig4._claims(replace(trials, groups=worse))
    assert never.holds is False
    nowhere = {key: 2 * trials[key[0], "IPS", key[2]] if "NB" in key[1] else v for key, v in trials.groups.items()}
    _, beats = fig4._claims(replace(trials, groups=nowhere))
    assert beats.holds is False
    assert "nowhere" in beats.evidence


def test_the_same_seed_gives_the_same_numbers_and_another_gives_others(world):
    first, again, other = (table1.compute(world, Context(fast=True, seed=seed)) for seed in (0, 0, 1))
    assert first.cells == again.cells
    assert first.cells != other.cells


def test_the_completion_finds_a_low_rank_matrix_from_a_part_of_it():
    rng = np.random.default_rng(0)
    truth = 3 + rng.normal(size=(60, 2)) @ rng.normal(size=(2, 80))
    users, items = np.nonzero(rng.random(truth.shape) < 0.4)
    log = Interactions.from_arrays(users, items, truth[users, items], n_users=61, n_items=80)
    found = completion.complete(log, 3, 0.1, rng)
    assert np.sqrt(np.mean((found[:60] - truth) ** 2)) < 0.2
    assert np.isfinite(found).all()  # the last user has no rating


def test_the_search_prefers_settings_that_predict_better():
    rng = np.random.default_rng(1)
    truth = np.clip(np.rint(3 + rng.normal(size=(60, 2)) @ rng.normal(size=(2, 80))), 1, 5)
    users, items = np.nonzero(rng.random(truth.shape) < 0.5)
    log = Interactions.from_arrays(users, items, truth[users, items], n_users=60, n_items=80)
    sizes = {completion.FACTORS: (1, 3), completion.PENALTIES: (1.0, 1000.0)}
    steps = []
    assert completion.search(log, Context(sizes=sizes, progress=lambda *step: steps.append(step))) == (3, 1.0)
    assert steps[-1] == ("choosing the completion", 4, 4)


def test_without_jester_its_part_of_figure_2_is_empty_and_says_what_to_do(world, tmp_path):
    findings = fig2.compute(None, Context(folder=tmp_path), "jester")
    assert all(cell.ours is None and "jester is not here" in cell.note for cell in findings.cells)
    assert [(claim.holds, claim.section) for claim in findings.claims] == [(None, "")] * 3
    assert jester.jester_world(Context(folder=tmp_path)) is None


def test_jester_in_stars_has_the_people_who_rated_all_jokes(tmp_path):
    rng = np.random.default_rng(0)
    ratings = np.round(rng.uniform(-10, 10, (5, 100)), 2)
    ratings[0, :5] = (-10.0, -5.0, -4.99, 7.0, 7.01)
    ratings[3, 7] = 99
    folder = tmp_path / "jester"
    folder.mkdir()
    lines = [[int((row != 99).sum()), *row] for row in ratings]
    (folder / "jester-data-1.csv").write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    found = jester.jester_world(Context(folder=tmp_path))
    assert found.ratings.shape == (4, 100)
    assert found.ratings[0, :5].tolist() == [1, 1, 2, 4, 5]
    assert set(np.unique(found.ratings)) <= {1, 2, 3, 4, 5}
    assert "4 people who rated all 100 jokes" in found.origin


def test_jester_without_a_complete_user_is_refused(tmp_path):
    folder = tmp_path / "jester"
    folder.mkdir()
    (folder / "jester-data-1.csv").write_text(",".join(["99", "99", *["1.5"] * 99]) + "\n")
    with pytest.raises(DataError, match="none of 1 users rated all 100 jokes"):
        jester.jester_world(Context(folder=tmp_path))


@pytest.fixture(scope="module")
def real():
    """One context for all tests on the real data: the world is made once."""
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"])
    if status_of(get_source("ml-100k"), folder / "ml-100k").presence == "absent":
        pytest.skip("real data: ml-100k is not in the folder UNSKEW_DATA")
    return Context(fast=True, folder=folder)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table1", "fig2", "fig4"])
def test_the_real_world_agrees_with_the_paper(real, table):
    result = STUDY.run(real, [table])
    assert result.status == 0, [cell for cell in result.cells if cell.agrees is False]
    assert next(part.name for part in result.tables[0].data) == "ml-100k"


@pytest.mark.slow
def test_the_recorded_settings_are_those_that_the_search_finds(real):
    log = get_source("ml-100k").read(real.place("ml-100k"))
    assert completion.search(log, replace(real, seed=0)) == completion.CHOSEN
