"""Figure 3 of Schnabel et al. 2016: factorisations on made worlds and on the real one."""

import os
from pathlib import Path

import numpy as np
import pytest

from unskew.simulators import relabel
from unskew.studies.framework.completed_movielens import World
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.study import Context
from unskew.studies.framework.trials import Trials
from unskew.studies.schnabel2016 import STUDY, factorisations, fig3
from unskew.studies.schnabel2016.factorisations import IPS, LEARNT, METRICS, NAIVE

SMALL = {
    factorisations.ALPHAS: (1.0, 0.25),
    factorisations.SIZES: (20, 500),
    factorisations.TRIALS: 3,
    factorisations.PENALTIES: (5.0, 1.0),
    factorisations.FOLDS: 2,
    factorisations.FACTORS: 2,
    factorisations.SHAPE: (60, 80),
    factorisations.JESTER_SHAPE: (40, 60),
}
CASES = factorisations.cases(SMALL[factorisations.ALPHAS], SMALL[factorisations.SIZES])
FAST = Context(fast=True, sizes=SMALL)
DATA = "ml-100k"


def other(seed: int = 0, **changes: object) -> Context:
    sizes = SMALL | {getattr(factorisations, name): value for name, value in changes.items()}
    return Context(seed=seed, fast=True, sizes=sizes)


@pytest.fixture(scope="module")
def world() -> World:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 80)) + rng.normal(size=(60, 1)) + rng.normal(size=80)
    return World(relabel(scores), "made", "A made world.")


@pytest.fixture(scope="module")
def errors(world):
    return factorisations.measure(world.ratings, FAST)


def test_every_case_has_an_error_in_each_trial(errors):
    assert list(errors.penalties) == CASES
    assert list(errors.trials) == [(DATA, *case, metric) for case in errors.penalties for metric in METRICS]
    assert [size for _, method, size in errors.penalties if method == LEARNT] == [20, 500]
    assert all(values.shape == (3,) and np.all(values > 0) for values in errors.trials.groups.values())
    assert set(errors.penalties.values()) <= set(SMALL[factorisations.PENALTIES])


def test_errors_do_not_depend_on_what_else_is_fitted(world, errors):
    alone = factorisations.measure(world.ratings, other(ALPHAS=(0.25,), SIZES=(500,)))
    for key, values in alone.trials.groups.items():
        np.testing.assert_array_equal(values, errors.trials[key])


def test_another_seed_draws_other_ratings(world, errors):
    again = factorisations.measure(world.ratings, other(seed=1, ALPHAS=(0.25,), SIZES=()))
    assert not np.array_equal(again.values((0.25, IPS, None), "MSE"), errors.values((0.25, IPS, None), "MSE"))


def test_known_propensities_help_where_selection_is_strong(errors):
    assert all(errors.gap((0.25, IPS, None), metric).mean > 0 for metric in METRICS)


def test_a_thinned_world_keeps_so_many_users_and_items(world):
    assert factorisations.thinned(world.ratings, other(SHAPE=(10, 20))).shape == (10, 20)
    assert factorisations.thinned(world.ratings, Context()).shape == world.ratings.shape


def test_the_figure_has_both_errors_by_alpha_and_by_size(world):
    found = fig3.compute(world, FAST)
    by_alpha, by_size = found.figures
    assert [line.name for line in by_alpha.panels[0].series] == [NAIVE, IPS]
    assert [line.name for line in by_size.panels[1].series] == [NAIVE, IPS, LEARNT]
    assert by_alpha.panels[0].series[0].x == (1.0, 0.25)
    assert by_size.panels[0].series[2].x == (20.0, 500.0)
    assert len(found.cells) == 2 * len(CASES)
    assert all("penalty" in cell.note and cell.paper is None and cell.spread is not None for cell in found.cells)
    assert [claim.section for claim in found.claims] == ["Sec. 6.3, Fig. 3", "Sec. 6.4, Fig. 3", ""]


def test_without_selection_known_propensities_change_nothing_but_the_noise_of_the_density(errors):
    # 1/P is the same for all rows, and differs from that of MF-Naive only as the number of observed cells does
    for metric in METRICS:
        gap, known = errors.gap((1.0, IPS, None), metric), errors.values((1.0, IPS, None), metric)
        assert abs(gap.mean) < 0.01 * known.mean()


def made_errors(level):
    noise = np.random.default_rng(0).normal(scale=0.01, size=(len(CASES), len(METRICS), 30))
    groups = {
        (DATA, *case, metric): noise[k, m] + level(*case)
        for k, case in enumerate(CASES)
        for m, metric in enumerate(METRICS)
    }
    trials = Trials(("data", "alpha", "method", "size", "metric"), "trial", groups)
    return factorisations.Errors(DATA, trials, dict.fromkeys(CASES, 1.0))


def test_the_claim_on_learnt_propensities_fails_when_they_are_worse_once():
    errors = made_errors(lambda alpha, method, size: {20: 2.0, 500: 0.5}.get(size, 0.5 if method == IPS else 1.0))
    better, learnt, absolute = fig3._claims(errors)
    assert (better.holds, learnt.holds, absolute.holds) == (True, False, True)
    assert "clearly better in 1 of 2 (Holm), worse in 1" in learnt.evidence


def test_being_equal_is_not_outperforming():
    assert [claim.holds for claim in fig3._claims(made_errors(lambda *_: 1.0))] == [None] * 3
    assert next(fig3._claims(made_errors(lambda alpha, method, size: 2.0 if method == IPS else 1.0))).holds is False


def test_jester_has_known_propensities_alone_and_its_claim_is_ours(world):
    jokes = relabel(np.random.default_rng(3).random((60, 80)), (0.2, 0.2, 0.2, 0.2, 0.2))
    found = fig3.compute(World(jokes, "jester", "Made jokes."), FAST, factorisations.JESTER)
    assert {cell.data for cell in found.cells} == {"jester"}
    assert not any("random ratings" in cell.column for cell in found.cells)
    (claim,) = found.claims
    assert (claim.section, len(found.figures)) == ("", 1)
    assert "40 users and 60 items" in " ".join(found.notes)
    assert found.trials.dims == fig3.compute(world, FAST).trials.dims


def test_fits_are_kept_and_read_back(world, tmp_path, monkeypatch):
    small = SMALL | {factorisations.ALPHAS: (0.25,), factorisations.SIZES: (), factorisations.TRIALS: 6}
    kept = Context(fast=True, sizes=small, cache=tmp_path)
    first = factorisations.measure(world.ratings, kept)
    assert len(list(tmp_path.rglob("errors-*.npz"))) == 2  # five trials, and one
    assert len(list(tmp_path.rglob("penalties-*.npz"))) == 1
    monkeypatch.setattr(factorisations, "run_all", lambda *_: pytest.fail("fitted again"))
    again = factorisations.measure(world.ratings, kept)
    assert again.penalties == first.penalties
    for key, values in first.trials.groups.items():
        np.testing.assert_array_equal(values, again.trials[key])
    with pytest.raises(pytest.fail.Exception):
        factorisations.measure(world.ratings, Context(fast=True, sizes=small, cache=tmp_path, seed=1))


def test_without_data_the_figure_is_empty_and_says_what_to_do(tmp_path):
    found = fig3.TABLE.run(Context(folder=tmp_path))
    notes = {"ml-100k": "unskew datasets get ml-100k", "jester": "jester is not here"}
    assert all(cell.ours is None and notes[cell.data] in cell.note for cell in found.cells)
    assert [claim.holds for claim in found.claims] == [None] * 4
    assert [bool(claim.section) for claim in found.claims] == [True, True, False, False]
    assert not found.figures


@pytest.mark.slow
def test_processes_give_the_numbers_of_one(world, errors):
    many = factorisations.measure(
        world.ratings, Context(sizes=SMALL | {factorisations.ALPHAS: (0.25,), factorisations.SIZES: (20,)})
    )
    for key, values in many.trials.groups.items():
        np.testing.assert_array_equal(values, errors.trials[key])


def test_tasks_are_reported_and_kept_in_order():
    steps = []
    context = Context(fast=True, progress=lambda stage, done, total: steps.append((stage, done, total)))
    assert run_all((lambda k=k: k for k in range(3)), 3, "counting", context) == [0, 1, 2]
    assert steps == [("counting", done, 3) for done in range(4)]


@pytest.mark.slow
def test_the_small_version_bears_the_paper_out_on_real_data():
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    context = Context(fast=True, folder=Path(os.environ["UNSKEW_DATA"]))
    if context.find("ml-100k") is None:
        pytest.skip("real data: ml-100k is not in the folder UNSKEW_DATA")
    result = STUDY.run(context, ["fig3"]).tables[0]
    assert all("clearly better in" in claim.evidence and "worse in 0" in claim.evidence for claim in result.claims[:3])
    assert next(part.name for part in result.data) == "ml-100k"
