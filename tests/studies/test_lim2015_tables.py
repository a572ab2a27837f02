"""Tables 1 and 2 of Lim et al. (2015) on a small made data set."""

import json

import numpy as np
import pytest

from unskew.evaluation import evaluate
from unskew.models import Svd
from unskew.studies import Context, get_study
from unskew.studies.lim2015 import fits, table2, tuning
from unskew.studies.lim2015.printed import METRICS, MODELS, TABLE1, TABLE2
from unskew.studies.lim2015.protocol import NEEDS, SETS, split_of
from unskew.studies.showing.page import render_study

HERE = "ml-100k"
TABLES = ["table1", "table2"]


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """Two tastes: half of the users like the first half of the items, and popular ones more."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(5)
    chances = 1 / np.arange(1, 61) ** 0.5
    (folder / HERE).mkdir()
    with (folder / HERE / "u.data").open("w") as stream:
        for user in range(150):
            for item in rng.choice(60, 18, replace=False, p=chances / chances.sum()):
                stream.write(f"{user}\t{item + 60 * (user % 2)}\t{rng.integers(3, 6)}\t1\n")
    return Context(fast=True, folder=folder, sizes={fits.STEPS: 20_000})


@pytest.fixture(scope="module")
def result(context):
    return get_study("lim2015").run(context, TABLES)


def cells_of(table, **wanted):
    return [cell for cell in table.cells if all(getattr(cell, key) == value for key, value in wanted.items())]


def test_the_numbers_are_those_that_evaluate_gives(context, result):
    split = split_of(context, HERE, 0)
    fold, second = fits.available_folds(context, HERE)
    options = {"metrics": [*METRICS, fits.AUC], "estimators": ["aoa"], "seed": 0}
    for rule in ("all", "unseen"):
        report = evaluate({"svd": Svd(rank=10)}, split, candidates=rule, **options)
        for metric in (*METRICS, fits.AUC):
            ours = np.nanmean(fold.values("svd(10)", metric, rule=rule))
            assert ours == pytest.approx(report.value("svd", metric, "aoa"), abs=1e-6)
    (cell,) = cells_of(result.tables[0], data=HERE, row="SVD rank 10", column="ADG")
    folds = [np.nanmean(each.values("svd(10)", "adg")) for each in (fold, second)]
    assert cell.ours == pytest.approx(np.mean(folds))
    assert cell.spread == pytest.approx(np.std(folds, ddof=1))


def test_the_standard_error_has_a_row_of_its_own(result):
    mean, error = (cells_of(result.tables[0], data=HERE, row=f"MF-ADG{end}", column="MAP")[0] for end in ("", ", s.e."))
    assert (mean.paper, error.paper) == TABLE1["ml-10m"]["mf-adg"]["map"]
    assert error.ours == pytest.approx(mean.spread / np.sqrt(2))


def test_validation_values_are_of_the_same_ranks(context):
    fold, split = fits.available_folds(context, HERE)[0], split_of(context, HERE, 0)
    pool = fold.ranks["all"]["mf-adg"]
    assert len(pool) == len(split.test) + len(split.validation)
    assert int(fold.in_test.sum()) == len(split.test)
    assert np.array_equal(
        np.bincount(fold.part("mf-adg", "validation").users, minlength=150), fold.validation.user_counts
    )


def test_both_models_begin_with_the_same_parameters_and_differ_in_their_aim():
    auc, adg = (tuning.learner(name, 1000, 0.05, 0.1) for name in MODELS)
    assert (auc.factors, auc.init, auc.iterations) == (adg.factors, adg.init, adg.iterations) == (50, 0.1, 1000)
    assert adg.gamma == 100
    assert fits.STEPS.full == 1_000_000


def test_nothing_is_trained_twice(context, result, monkeypatch):
    monkeypatch.setattr(fits, "tune", None)
    assert table2.run(context).cells == result.tables[1].findings.cells


def test_what_is_not_at_hand_is_said_and_has_only_the_papers_numbers(result):
    for table in result.tables:
        absent = cells_of(table, data="ml-10m")
        assert absent
        assert all(
            cell.ours is None and cell.paper is not None and "ml-10m is not here" in cell.note for cell in absent
        )
        assert not any(cell.comparable for cell in table.cells)
    printed = {(cell.row, cell.column): cell.paper for cell in cells_of(result.tables[0], data="msd-challenge")}
    assert printed["MF-AUC", "ADG"] == TABLE1["msd-challenge"]["mf-auc"]["adg"][0]
    assert printed["users", "count"] == 10_000


def test_a_stand_in_has_the_numbers_of_what_it_stands_for_beside_it(result):
    (cell,) = cells_of(result.tables[1], data=HERE, row="MF-AUC, NDCG", column="valid")
    assert cell.paper == TABLE2["mf-auc"]["ndcg"][1]
    assert "which this set replaces" in cell.note
    assert not cells_of(result.tables[1], data=HERE, row="MF-AUC, unseen items, NDCG", column="valid")[0].paper
    (odd,) = cells_of(result.tables[1], data=HERE, row="MF-ADG, NDCG", column="diff %")
    assert "-20.26" in odd.note


def test_the_small_version_judges_nothing(result):
    assert {claim.holds for claim in result.claims} == {None}
    assert any("not judged in the small version" in claim.evidence for claim in result.claims)
    assert result.status == 0


def test_counts_settings_and_who_only_trains_are_told(result):
    notes = " ".join(result.tables[0].findings.notes)
    assert "only train" in notes
    assert "all items as candidates: learning rate/penalty/first deviation chosen in the folds: MF-AUC 0.1/" in notes
    assert "unseen items as candidates" in notes
    assert "users with at least 5 and items with at least 5" in notes


def test_the_json_is_plain_and_the_page_draws_the_figure(result):
    record = json.loads(result.to_json())
    assert [table["table"] for table in record["tables"]] == TABLES
    panels = record["tables"][1]["figures"][0]["panels"]
    assert [(panel["title"], len(panel["series"])) for panel in panels] == [(HERE, 7)]
    drawn = {line["name"]: line["mean"] for line in panels[0]["series"]}
    assert all(values[-1] == 100 for values in drawn.values())
    assert drawn["NDCG, expected"] == sorted(drawn["NDCG, expected"])
    assert drawn["NDCG"][0] < 90 < drawn["ADG"][0]
    page = render_study(result)
    assert page.count("<svg") >= 1
    assert "MF-ADG" in page


def test_without_any_data_nothing_runs(tmp_path):
    result = get_study("lim2015").run(Context(folder=tmp_path), TABLES)
    assert result.status == 2
    assert all(cell.ours is None for cell in result.cells)
    assert {cell.data for cell in result.cells} == set(SETS) == set(NEEDS) - {"ml-1m-rel"}


def test_only_printed_numbers_are_in_the_column_of_the_paper(result):
    printed = {number for model in MODELS for row in TABLE2[model].values() for number in row if number is not None}
    cells = result.tables[1].cells
    assert {cell.paper for cell in cells if cell.paper is not None} == printed
    (unprinted,) = cells_of(result.tables[1], data=HERE, row="MF-ADG, ATOP", column="diff %")
    assert unprinted.paper is None
    assert not any(cell.reference is not None for cell in result.cells)


def test_claims_of_the_paper_name_their_place(result):
    assert {claim.section for claim in result.claims} == {"", "Table 1", "Sec. 6", "Table 2"}
    assert all(not claim.section for claim in result.claims if "unseen" in claim.claim)
