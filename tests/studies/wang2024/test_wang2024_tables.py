"""Tables 3 and 4 of Wang et al. 2024 on a tiny world, and what their numbers are."""

import numpy as np
import pytest
from made_wang2024 import tiny_log, tiny_split

from unskew.studies import Context
from unskew.studies.wang2024 import coat, judged, settings, table3, table4
from unskew.studies.wang2024.coat import split_test
from unskew.studies.wang2024.draws import chances_of
from unskew.studies.wang2024.judged import EXPOSED, LARGE_OF_FEW, SMALL, judged_worlds, k_grid, large_k
from unskew.studies.wang2024.rankings import full_recall, places
from unskew.studies.wang2024.settings import ENTRIES, VARIANTS, Entry, grid_of

pytest.importorskip("torch")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """One tiny world and one tiny random test; one epoch a model."""
    log, test = tiny_log(60, 120), split_test("coat", tiny_split(), np.random.default_rng(1))
    monkeypatch.setattr(judged, "logs", lambda context: [log])
    monkeypatch.setattr(coat, "random_test", lambda context, name: test if name == "coat" else None)
    monkeypatch.setattr(settings, "FAST_EPOCHS", 1)
    monkeypatch.setattr(judged, "FAST_DRAWS", 3)
    return Context(fast=True, folder=tmp_path)


def test_both_tables_run_tiny_and_twice_alike(tiny):
    found = [table.TABLE.run(tiny) for table in (table3, table4)]
    again = [table.TABLE.run(Context(fast=True, folder=tiny.folder)) for table in (table3, table4)]
    assert [each.cells for each in found] == [each.cells for each in again]
    assert [each.claims for each in found] == [each.claims for each in again]
    third, fourth = found
    by_data = {name: [cell for cell in third.cells if cell.data == name] for name in ("tiny", "coat", "kuairec")}
    assert [len(cells) for cells in by_data.values()] == [10, 10, 10]
    assert all(cell.ours is None for cell in by_data["kuairec"])
    assert not any(cell.comparable for each in found for cell in each.cells)
    assert all(claim.holds is None for each in found for claim in each.claims)
    columns = {cell.column for cell in fourth.cells if cell.data == "tiny"}
    assert columns == {
        "traditional@5",
        *(f"{name}@{k}" for name in ("full", "URE", "full micro", "pooled URE") for k in (SMALL, LARGE_OF_FEW)),
    }
    assert len({cell.row for cell in fourth.cells if cell.data == "tiny"}) == 16
    assert [len(figure.panels) for figure in fourth.figures] == [4, 2]


def test_full_claims_are_judged(tiny):
    full = Context(fast=False, folder=tiny.folder, trials=3)
    kept = {f"wang2024 judged {name}": value for name, value in _judged(tiny).items()}
    full._kept.update(kept)
    claims = table4.TABLE.run(full).claims
    assert any(claim.holds is not None for claim in claims)
    assert len(claims) == 7 + 4 + 1


def _judged(context):
    return {each.name: each for each in (*judged_worlds(context), *coat.judged_tests(context))}


def test_full_recall_and_expected_values_are_those_of_the_ranks(tiny):
    (world,) = judged_worlds(tiny)
    row = world.rows[Entry("MF", "IPS")]
    ranks = places(row.choice.fit.scorer, world.log.held)
    macro, micro = full_recall(ranks, world.log, [5, 50])
    assert [row.full(5), row.full(50)] == pytest.approx(list(macro))
    assert [row.full_micro(5), row.full_micro(50)] == pytest.approx(list(micro))
    chances = chances_of(world.log, EXPOSED)
    relevant = world.log.relevant
    assert ((chances > 0) == relevant.any(axis=1)).all()
    shares = [(relevant[user] & (ranks[user] < 5)).sum() / relevant[user].sum() for user in np.flatnonzero(chances > 0)]
    assert row.expected[5] == pytest.approx(np.average(shares, weights=chances[chances > 0]))


def test_a_chosen_negs_is_one_of_its_variants(tiny):
    (world,) = judged_worlds(tiny)
    for backbone in ("MF", "LightGCN"):
        own = [world.rows[entry] for entry in VARIANTS if entry.backbone == backbone]
        chosen = world.rows[Entry(backbone, "NegS")]
        assert chosen.choice.fit.auc == max(row.choice.fit.auc for row in own)
        assert chosen.full(5) in [row.full(5) for row in own]


def test_at_most_four_settings_are_tried_and_three_h():
    full = Context()
    assert {len(grid_of(full, entry)) for entry in ENTRIES if entry.method != "NegS"} == {4}
    assert [model.hardest for model in grid_of(full, Entry("MF", "NegS"))] == [10, 50, 100]
    assert {model.drawn for entry in VARIANTS for model in grid_of(full, entry)} == {100}


def test_the_larger_k_suits_the_population():
    assert large_k(np.array([968, 985])) == 500
    assert large_k(np.array([294, 300])) == 50
    grid = k_grid(985, 5, 500)
    assert {1, 5, 500} <= set(grid.tolist())
    assert (np.diff(grid) > 0).all()
