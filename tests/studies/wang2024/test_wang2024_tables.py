"""Tables 3 and 4 of Wang et al. 2024: as printed, and on a tiny world."""

from dataclasses import replace

import numpy as np
import pytest
from made_wang2024 import tiny_log, tiny_split

from unskew.studies import Context
from unskew.studies.framework.claims import in_small_version
from unskew.studies.wang2024 import table3, table4
from unskew.studies.wang2024.hardness import best_ks
from unskew.studies.wang2024.judge import DRAWS, judge, judge_test
from unskew.studies.wang2024.models import ENTRIES, EPOCHS
from unskew.studies.wang2024.printed import KUAIREC, ROWS, TABLE3, TABLE4, YAHOO, furthest
from unskew.studies.wang2024.random_tests import split_test


def test_every_table_has_five_methods_on_two_backbones():
    assert list(map(str, ENTRIES)) == list(ROWS)
    assert {row for row, _ in TABLE4[KUAIREC]} == {row for row, _ in TABLE4[YAHOO]} == set(ROWS)
    assert list(TABLE3[KUAIREC]) == list(TABLE3[YAHOO]) == [(entry.method, entry.backbone) for entry in ENTRIES]


def test_all_printed_numbers_are_recalls_that_grow_with_k():
    for row in ROWS:
        full_5, full_500, inside = (TABLE4[KUAIREC][row, name] for name in ("full@5", "full@500", "traditional@5"))
        assert 0 < full_5 < full_500 < inside < 1
        for data in (KUAIREC, YAHOO):
            ure_5, ure_500, inside = (TABLE4[data][row, name] for name in ("URE@5", "URE@500", "traditional@5"))
            assert 0 < ure_5 < ure_500 < inside < 1


def test_the_columns_are_in_the_order_in_which_estimates_follow_full_recall():
    numbers = TABLE4[KUAIREC]
    for row in ROWS:
        assert abs(numbers[row, "URE@5"] - numbers[row, "full@5"]) < 0.002
        assert 0 < numbers[row, "URE@500"] - numbers[row, "full@500"] < 0.005  # one-sided in all ten rows


def test_table_3_is_the_first_column_of_table_4():
    assert TABLE3[KUAIREC]["Bias", "MF"] == TABLE4[KUAIREC]["MF Bias", "traditional@5"] == 0.3546
    assert TABLE3[YAHOO]["NegS", "LightGCN"] == 0.8141


def test_the_furthest_deviations_are_those_of_mf_ips_and_mf_bias():
    assert furthest(5) == pytest.approx(0.0230 / 0.0213 - 1)
    assert furthest(500) == pytest.approx(0.3280 / 0.3237 - 1)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """One tiny world and one tiny random test, with one epoch per model, and their context."""
    pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    context = Context(fast=True, folder=tmp_path_factory.mktemp("empty"), sizes={EPOCHS: 1, DRAWS: 3})
    worlds = [judge(context, tiny_log(60, 120))]
    return context, worlds, [judge_test(context, split_test("coat", tiny_split(), np.random.default_rng(1)))]


@pytest.fixture(scope="module")
def findings(judged):
    context, worlds, tests = judged
    return [table.run(context, (worlds, tests)) for table in (table3, table4)]


def test_both_tables_have_cells_of_worlds_tests_and_absent_data(findings):
    third, fourth = findings
    by_data = {name: [cell for cell in third.cells if cell.data == name] for name in ("tiny", "coat", "kuairec")}
    assert [len(cells) for cells in by_data.values()] == [10, 10, 10]
    assert all(cell.ours is None for cell in by_data["kuairec"])
    assert not any(cell.comparable for each in findings for cell in each.cells)
    columns = {cell.column for cell in fourth.cells if cell.data == "tiny"}
    names = ("full", "URE", "full micro", "pooled URE")
    assert columns == {"traditional@5", *(f"{name}@{k}" for name in names for k in (5, 50))}
    assert len({cell.row for cell in fourth.cells if cell.data == "tiny"}) == 16
    assert not any(cell.paper for cell in fourth.cells if cell.data in {"tiny", "coat"})  # the paper has neither
    assert [len(figure.panels) for figure in fourth.figures] == [4, 2]
    assert fourth.trials.frame.columns == ["data", "model", "number", "draw", "value"]


def test_claims_are_judged_in_full_and_not_in_the_small_version(findings):
    third, fourth = (each.claims for each in findings)
    assert {claim.section for claim in (*third, *fourth)} == {""}  # this data is not the paper's
    assert any(claim.holds is not None for claim in fourth)
    assert all(claim.needs_full for claim in (*third, *fourth))
    assert {claim.holds for claim in in_small_version(fourth)} == {None}


def test_on_the_paper_s_data_its_sentences_are_its(judged):
    context, (world,), tests = judged
    of_paper = replace(world.log.world, differs="the order of the videos")
    worlds = [replace(world, log=replace(world.log, world=of_paper))]
    tables = [table.run(context, (worlds, tests)) for table in (table3, table4)]
    third, fourth = ([each.section for each in table.claims] for table in tables)
    assert third == ["Table 3", "Tables 3 and 4", "", ""]  # the last is about Coat
    assert fourth == ["Table 4"] * 4 + [""] * 6 + ["Sec. 4"] * 4 + [""]


KS = (1, 5, 20, 100)


def test_the_best_k_is_where_a_model_gains_most_on_the_better_of_the_others():
    recall = {
        10: np.array([0.04, 0.10, 0.20, 0.50]),  # relative: 2, 1.25, 0.67, 0.63
        50: np.array([0.02, 0.08, 0.30, 0.60]),  # 0.5, 0.8, 1.2, 0.75
        100: np.array([0.01, 0.05, 0.25, 0.80]),  # 0.25, 0.5, 0.83, 1.33
    }
    assert best_ks(recall, KS) == {10: 1, 50: 20, 100: 100}


def test_of_equals_the_smallest_is_taken():
    same = np.array([0.1, 0.2, 0.3, 0.4])
    assert best_ks({10: same, 50: same, 100: same}, KS) == {10: 1, 50: 1, 100: 1}


def test_nothing_in_the_lists_of_the_others_counts_as_no_gain():
    recall = {10: np.array([0.1, 0.2]), 50: np.array([0.0, 0.1]), 100: np.array([0.0, 0.1])}
    assert best_ks(recall, (1, 5))[10] == 5


def test_the_level_of_the_papers_numbers_is_compared_with_both_means():
    """On KuaiRec alone; here a world is made to say that it is."""
    pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    context = Context(fast=True, sizes={EPOCHS: 1, DRAWS: 3})
    log = tiny_log(60, 120)
    judged = judge(context, replace(log, world=replace(log.world, differs="made for a test")))
    (level,) = (claim for claim in table4._claims([judged]) if "at the level" in claim.claim)
    users, pairs = ([judged.full(entry, 5, mean) for entry in ENTRIES] for mean in ("full", "full micro"))
    printed = np.mean([TABLE4[KUAIREC][row, "full@5"] for row in ROWS])
    assert f"rows {printed:.4f} on average, ours over users {np.mean(users):.4f}" in level.evidence
    assert f"pairs {np.mean(pairs):.4f}" in level.evidence
    assert level.section == ""
    cells = [cell for cell in table4.run(context, ([judged], [])).cells if cell.data == "tiny" and cell.paper]
    assert {(cell.row, cell.column) for cell in cells} == {key for key in TABLE4[KUAIREC] if "500" not in key[1]}
    assert not any(cell.comparable for cell in cells)
