"""Feedback loops, dislikes and strengths: their tables run, and their claims follow the numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest

from unskew.studies import Context, Study
from unskew.studies.framework.trials import Trials
from unskew.studies.tian2020 import dislikes, feedback
from unskew.studies.tian2020.runs import COLUMNS, NAIVE, TRUTH

RECALL = "recall@50"
CONTEXT = Context(fast=True, trials=2, sizes={feedback.ROUNDS: 2})


@pytest.fixture(scope="module")
def loops() -> Trials:
    return feedback.simulate(CONTEXT)


@pytest.fixture(scope="module")
def worlds() -> Trials:
    return dislikes.simulate(CONTEXT)


def test_all_loops_of_a_replication_start_from_the_same_log(loops: Trials) -> None:
    rows = [loops[loop, "log", feedback.ROWS, "log"] for loop in feedback.LOOPS]
    assert all(each.shape == (2, 3) for each in rows)
    assert all(each[:, 0].tolist() == rows[0][:, 0].tolist() for each in rows)
    assert rows[0][0, 0] != rows[0][1, 0]


def test_the_error_is_estimate_less_truth_and_the_score_adds_up_all_rounds(loops: Trials) -> None:
    loop, recommender = feedback.LOOPS[1], feedback.LEARNT
    errors = feedback.error_of(loops, loop, NAIVE)
    assert errors.shape == (2, 2)
    assert errors == pytest.approx(loops[loop, recommender, RECALL, NAIVE] - loops[loop, recommender, RECALL, TRUTH])
    assert feedback.score(errors) == pytest.approx(errors.sum() / np.sqrt(np.sum(errors**2)))
    assert feedback.moved_in(errors).value == pytest.approx(np.mean(errors[:, 1] - errors[:, 0]))


def test_all_cells_have_a_number_and_a_place_of_their_own(loops: Trials, worlds: Trials) -> None:
    tables = (
        feedback.findings(loops, CONTEXT.size(feedback.WORLD)),
        dislikes.findings(worlds, dislikes.WORLDS),
    )
    for table in tables:
        assert [claim.needs_full for claim in table.claims] == [True] * 6
        assert len(table.figures) == 2
        assert all(cell.ours is not None and np.isfinite(cell.ours) and cell.paper is None for cell in table.cells)
        assert len({(cell.data, cell.row, cell.column) for cell in table.cells}) == len(table.cells)
        json.dumps([figure.to_dict() for figure in table.figures], allow_nan=False)


def test_a_table_of_a_study_names_itself() -> None:
    study = Study("made", "Made", "Nobody", (feedback.TABLE, dislikes.TABLE))
    assert study.table("feedback").run is feedback.run
    assert study.table("dislikes").run is dislikes.run


def with_estimate(loops: Trials, off: float) -> Trials:
    """The same loops with every estimate this far off the truth, and a little noise."""
    rng = np.random.default_rng(0)
    groups = dict(loops.groups)
    for loop, recommender, metric, column in loops:
        if column in COLUMNS and column != TRUTH:
            truth = loops[loop, recommender, metric, TRUTH]
            noise = rng.normal(scale=0.001, size=truth.shape)
            groups[loop, recommender, metric, column] = truth + off + noise
    return replace(loops, groups=groups)


def test_claims_follow_the_errors(loops: Trials) -> None:
    """Estimates without bias: ips is right, nothing is too high. All 0.1 too high: the other way round."""

    def holds(values: Trials, part: str) -> bool | None:
        (one,) = [claim for claim in feedback.claims(values) if part in claim.claim]
        return one.holds

    right, wrong = with_estimate(loops, 0.0), with_estimate(loops, 0.1)
    assert holds(right, "ips with known P stays at the truth")
    assert not holds(right, "is too high in every round")
    assert not holds(right, "Propensities from popularity leave")
    assert holds(wrong, "is too high in every round")
    assert holds(wrong, "Propensities from popularity leave")
    assert not holds(wrong, "makes the lead")


def test_a_setting_changes_how_a_world_is_consumed() -> None:
    world = dislikes.WORLDS["lda"]
    preferred = dislikes.Setting(observe="preferred").of(world)
    assert (preferred.observe, preferred.graded, preferred.dislikes) == ("preferred", True, 0)
    assert dislikes.Setting(0.2).of(world) == replace(world, dislikes=0.2)


def test_dislikes_take_from_the_oracle_and_not_from_the_truth(worlds: Trials) -> None:
    """The oracle lists only what is liked, so each disliked row of the test is a miss."""
    for name in dislikes.WORLDS:
        few, many = (dislikes.Setting(share) for share in (0.05, 0.4))
        naive = [worlds[name, each, RECALL, "oracle", NAIVE].mean() for each in (few, many)]
        assert naive[1] < naive[0] - 0.1
        assert worlds[name, many, "precision(of=list)@50", "oracle", TRUTH] == pytest.approx([1, 1])
    assert dislikes.better(worlds) == 1


def test_claims_of_dislikes_follow_the_errors(worlds: Trials) -> None:
    """Estimates without bias in all settings: dislikes change nothing, and nothing is too high or too low."""
    rng = np.random.default_rng(0)
    groups = {
        key: values if key[3] == dislikes.FIRST or key[4] == TRUTH else rng.normal(scale=0.001, size=50)
        for key, values in worlds.groups.items()
    }
    unbiased, falls, _, high, half, low = dislikes.claims(replace(worlds, groups=groups))
    assert unbiased.holds is True
    assert [claim.holds for claim in (falls, high, half, low)] == [False] * 4


def test_notes_have_the_numbers(loops: Trials, worlds: Trials) -> None:
    truth = loops[feedback.LOOPS[0], "popular", RECALL, TRUTH][:, 0].mean()
    notes = feedback.notes(loops, CONTEXT.size(feedback.WORLD))
    assert any(f"{truth:.3f} in the first round" in note for note in notes)
    error = worlds["lda", dislikes.Setting(), RECALL, "oracle", NAIVE].mean()
    assert any(f"naive: oracle {error:+.3f}" in note for note in dislikes.notes(worlds, dislikes.WORLDS))
