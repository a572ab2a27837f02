"""The tables and figures of Schnabel et al. 2016, on made worlds and on the real one."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from schnabel_goldens import MAE, MSE

from unskew.data import Interactions
from unskew.data.sources import get_source, status_of
from unskew.simulators import MARGINALS, relabel
from unskew.studies import Context
from unskew.studies.framework import completed_movielens as completion
from unskew.studies.framework.completed_movielens import World
from unskew.studies.schnabel2016 import STUDY, fig1, fig2, fig4, table1
from unskew.studies.schnabel2016.closed_forms import limit
from unskew.studies.schnabel2016.printed import MATRICES

SIZE = 943 * 1682


@pytest.fixture(scope="module")
def world():
    return World(relabel(np.random.default_rng(5).random((60, 400))), "made", "A made world.")


def by_name(findings):
    return {(cell.row, cell.column): cell for cell in findings.cells}


def test_movie_lovers_has_the_golden_values():
    findings = fig1.run(Context())
    cells = by_name(findings)
    found = {column: (cells["Ŷ1", column].ours, cells["Ŷ2", column].ours) for column in fig1.PAPER}
    assert found["MAE true"] == pytest.approx((2 / 3, 4 / 3))
    assert found["MAE naive, limit"] == pytest.approx((0.625, 0.25))
    assert found["MAE naive, drawn sample"] == pytest.approx((0.5926, 0.4444), abs=5e-5)
    assert found["MAE snips, drawn sample"] == pytest.approx((0.5161, 1.9355), abs=5e-5)
    assert sum(fig1.SAMPLE) == 27
    assert all(cell.agrees is not False for cell in findings.cells)
    assert [claim.holds for claim in findings.claims] == [True, True]


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


def test_the_printed_numbers_of_table_1_agree_with_the_closed_forms_without_any_data(tmp_path):
    findings = table1.TABLE.run(Context(folder=tmp_path))
    forms = [cell for cell in findings.cells if cell.column.endswith("closed form")]
    assert len(forms) == 20
    assert all(cell.agrees for cell in forms)
    others = [cell for cell in findings.cells if not cell.column.endswith("closed form")]
    assert all(cell.ours is None and "unskew datasets get ml-100k" in cell.note for cell in others)
    assert {claim.holds for claim in findings.claims} == {None}


def test_a_wrong_closed_form_would_be_seen(tmp_path):
    cells = by_name(table1.TABLE.run(Context(folder=tmp_path)))
    for (_, column), cell in cells.items():
        if column in {"MAE true, closed form", "MAE Naive, closed form"}:
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


def test_table_1_compares_every_number_that_the_paper_makes_comparable(world):
    cells = by_name(table1.compute(world, Context(fast=True, trials=2)))
    comparable = {key for key, cell in cells.items() if cell.comparable and not key[1].endswith("closed form")}
    mae = {(m, c) for m in MATRICES for c in ("MAE true", "MAE IPS, sd", "MAE SNIPS, sd", "MAE Naive")}
    dcg = {"true", *(f"{e}{sd}" for e in ("IPS", "SNIPS", "Naive") for sd in ("", ", sd"))}
    assert comparable == mae | {("ROTATE", f"DCG@50 {column}") for column in dcg}
    assert len(cells) == 5 * 17


def test_figure_2_does_not_bear_out_its_claim_in_a_world_too_small_for_the_strongest_selection(world):
    # at alpha = 1/32 the standard deviation of the IPS estimate of ROTATE is 18 in 24,000 cells, against a bias of 8
    assert [claim.holds for claim in fig2.compute(world, Context(fast=True)).claims] == [False, True, True]


def test_figure_2_bears_out_its_claims_where_selection_is_moderate(world):
    alphas = (1.0, 0.5, 0.25)
    findings = fig2.compute(world, Context(fast=True, sizes={fig2.ALPHAS: alphas}))
    assert [claim.holds for claim in findings.claims] == [True, True, True]
    (figure,) = findings.figures
    assert [panel.title for panel in figure.panels] == ["Estimates of MSE", "Estimates of DCG@50"]
    for panel in figure.panels:
        assert [line.name for line in panel.series] == ["Naive", "IPS", "SNIPS"]
        assert [line.naive for line in panel.series] == [True, False, False]
        naive, _, snips = panel.series
        assert naive.x == alphas
        assert naive.mean[0] == pytest.approx(snips.mean[0])  # alpha = 1
        assert all(low <= mean <= high for low, mean, high in zip(snips.low, snips.mean, snips.high, strict=True))


def test_figure_4_bears_out_its_claim_on_a_made_world(world):
    findings = fig4.compute(world, Context(fast=True))
    (claim,) = findings.claims
    assert claim.holds is True
    (figure,) = findings.figures
    for panel in figure.panels:
        lines = {line.name: line for line in panel.series}
        assert list(lines) == ["Naive", "IPS", "SNIPS", "IPS-NB", "SNIPS-NB"]
        assert lines["IPS-NB"].x == tuple(map(float, fig4.SIZES))
        assert lines["IPS-NB"].mean[-1] < lines["IPS-NB"].mean[0]  # a larger sample helps
        assert len(set(lines["Naive"].mean)) == 1


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
    assert [part.name for part in result.tables[0].data] == ["ml-100k"]


@pytest.mark.slow
def test_the_recorded_settings_are_those_that_the_search_finds(real):
    log = get_source("ml-100k").read(real.place("ml-100k"))
    assert completion.search(log, replace(real, seed=0)) == completion.CHOSEN
