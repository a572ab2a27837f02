"""Feedback loops, dislikes and strengths: their tables run, and say what their numbers are."""

import json
from dataclasses import replace

import numpy as np
import pytest

from unskew.studies import Context, Study
from unskew.studies.framework.claims import Claim
from unskew.studies.tian2020 import dislikes, dislikes_runs, dislikes_words, feedback, feedback_runs, feedback_words
from unskew.studies.tian2020.estimates import NAIVE, RECALL

CONTEXT = Context(fast=True, trials=2)


@pytest.fixture(scope="module")
def loops() -> feedback_runs.Tally:
    return feedback_runs.simulate(CONTEXT, rounds=2, replications=2)


@pytest.fixture(scope="module")
def worlds() -> dislikes_runs.Tally:
    return dislikes_runs.simulate(CONTEXT, runs=2)


def test_all_loops_of_a_replication_start_from_the_same_log(loops: feedback_runs.Tally) -> None:
    starts = [loops.rows(loop)[:, 0].tolist() for loop in feedback_runs.LOOPS]
    assert all(each == starts[0] for each in starts)
    assert starts[0][0] != starts[0][1]
    assert (loops.rounds, loops.replications) == (2, 2)


def test_the_error_is_estimate_less_truth_and_the_score_adds_up_all_rounds(loops: feedback_runs.Tally) -> None:
    loop, who, metric, how = feedback_runs.LOOPS[1], feedback_runs.LEARNT, RECALL, NAIVE
    errors = loops.error(loop, who, metric, how)
    assert errors.shape == (2, 2)
    assert errors == pytest.approx(loops.estimate(loop, who, metric, how) - loops.truth(loop, who, metric))
    assert loops.z(loop, who, metric, how) == pytest.approx(errors.sum() / np.sqrt(np.sum(errors**2)))
    assert loops.moved(errors).value == pytest.approx(np.mean(errors[:, 1] - errors[:, 0]))


def test_the_small_version_judges_nothing(
    loops: feedback_runs.Tally, worlds: dislikes_runs.Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feedback, "simulate", lambda *_: loops)
    monkeypatch.setattr(dislikes, "simulate", lambda *_: worlds)
    for found in (feedback.run(CONTEXT), dislikes.run(CONTEXT)):
        assert [claim.holds for claim in found.claims] == [None] * 6
        assert len(found.figures) == 2
        assert all(cell.ours is not None and np.isfinite(cell.ours) and cell.paper is None for cell in found.cells)
        assert len({(cell.data, cell.row, cell.column) for cell in found.cells}) == len(found.cells)
        json.dumps([figure.to_dict() for figure in found.figures], allow_nan=False)


def test_a_table_of_a_study_names_itself() -> None:
    study = Study("made", "Made", "Nobody", (feedback.TABLE, dislikes.TABLE))
    assert study.table("feedback").run is feedback.run
    assert study.table("dislikes").run is dislikes.run


def judged(tally: feedback_runs.Tally | dislikes_runs.Tally) -> dict[str, Claim]:
    if isinstance(tally, feedback_runs.Tally):
        return {claim.claim: claim for claim in feedback_words.claims(tally)}
    return {claim.claim: claim for claim in dislikes_words.claims(tally)}


def one(claims: dict[str, Claim], part: str) -> Claim:
    (found,) = [claim for text, claim in claims.items() if part in text]
    return found


def with_estimate(tally: feedback_runs.Tally, off: float) -> feedback_runs.Tally:
    """The same loops with every estimate a little beside the truth, not by the same amount everywhere."""
    rng = np.random.default_rng(0)
    runs = {}
    for loop, each in tally.runs.items():
        made = []
        for run in each:
            noise = rng.normal(scale=0.001, size=run.trials.estimate.shape)
            made.append(replace(run, trials=replace(run.trials, estimate=run.trials.truth + off + noise)))
        runs[loop] = made
    return feedback_runs.Tally(tally.world, runs)


def test_claims_follow_the_errors(loops: feedback_runs.Tally) -> None:
    """Estimates without bias: ips is right, nothing is too high. All 0.1 too high: the other way round."""
    right, wrong = judged(with_estimate(loops, 0.0)), judged(with_estimate(loops, 0.1))
    assert one(right, "ips with known P stays at the truth").holds
    assert not one(right, "is too high in every round").holds
    assert not one(right, "propensities from popularity leave").holds
    assert one(wrong, "is too high in every round").holds
    assert one(wrong, "propensities from popularity leave").holds
    assert not one(wrong, "makes the lead").holds


def test_a_direction_is_told_only_when_it_is_clear() -> None:
    clear, unclear = feedback_words.score(np.array([1.0, 1.1])), feedback_words.score(np.array([1.0, -1.1]))
    assert clear == pytest.approx(21)
    assert abs(unclear) < 1


def test_a_setting_changes_how_a_world_is_consumed() -> None:
    world = dislikes_runs.WORLDS["lda"]
    preferred = dislikes_runs.Setting(observe="preferred").of(world)
    assert (preferred.observe, preferred.graded, preferred.dislikes) == ("preferred", True, 0)
    assert dislikes_runs.Setting(0.2).of(world) == replace(world, dislikes=0.2)


def test_dislikes_take_from_the_oracle_and_not_from_the_truth(worlds: dislikes_runs.Tally) -> None:
    """The oracle lists only what is liked, so each disliked row of the test is a miss."""
    for name in dislikes_runs.WORLDS:
        few, many = (dislikes_runs.Setting(share) for share in (0.05, 0.4))
        naive = [worlds.error(name, each, "oracle", "recall@50", "aoa").mean() for each in (few, many)]
        assert naive[1] < naive[0] - 0.1
        assert worlds.truth(name, many, "oracle", "precision(of=list)@50") == pytest.approx([1, 1])
    assert worlds.better("adg@50") == 1


def test_notes_tell_the_numbers(loops: feedback_runs.Tally, worlds: dislikes_runs.Tally) -> None:
    truth = loops.truth(feedback_runs.LOOPS[0], "popular", "recall@50")[:, 0].mean()
    assert any(f"{truth:.3f} in the first round" in note for note in feedback_words.notes(loops))
    error = worlds.error("lda", dislikes_runs.Setting(), "oracle", "recall@50", "aoa").mean()
    assert any(f"naive: oracle {error:+.3f}" in note for note in dislikes_words.notes(worlds))
