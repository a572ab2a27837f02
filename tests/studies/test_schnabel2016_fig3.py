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
from unskew.studies.schnabel2016 import STUDY, fig3
from unskew.studies.schnabel2016.fig3 import IPS, LEARNT, METRICS, NAIVE

SMALL = {
    fig3.ALPHAS: (1.0, 0.25),
    fig3.SIZES: (20, 500),
    fig3.TRIALS: 3,
    fig3.PENALTIES: (5.0, 1.0),
    fig3.FOLDS: 2,
    fig3.FACTORS: 2,
    fig3.SHAPE: (60, 80),
}
CASES = fig3.cases(SMALL[fig3.ALPHAS], SMALL[fig3.SIZES])
FAST = Context(fast=True, sizes=SMALL)


def other(seed: int = 0, **changes: object) -> Context:
    return Context(seed=seed, fast=True, sizes=SMALL | {getattr(fig3, name): value for name, value in changes.items()})


@pytest.fixture(scope="module")
def world() -> World:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 80)) + rng.normal(size=(60, 1)) + rng.normal(size=80)
    return World(relabel(scores), "made", "A made world.")


@pytest.fixture(scope="module")
def errors(world):
    return fig3.measure(world.ratings, FAST)


def test_every_case_has_an_error_in_each_trial(errors):
    assert list(errors.penalties) == CASES
    assert list(errors.trials) == [(*case, metric) for case in errors.penalties for metric in METRICS]
    assert [size for _, method, size in errors.penalties if method == LEARNT] == [20, 500]
    assert all(values.shape == (3,) and np.all(values > 0) for values in errors.trials.groups.values())
    assert set(errors.penalties.values()) <= set(SMALL[fig3.PENALTIES])


def test_errors_do_not_depend_on_what_else_is_fitted(world, errors):
    alone = fig3.measure(world.ratings, other(ALPHAS=(0.25,), SIZES=(500,)))
    for key, values in alone.trials.groups.items():
        np.testing.assert_array_equal(values, errors.trials[key])


def test_another_seed_draws_other_ratings(world, errors):
    again = fig3.measure(world.ratings, other(seed=1, ALPHAS=(0.25,), SIZES=()))
    assert not np.array_equal(again.trials[0.25, IPS, None, "MSE"], errors.trials[0.25, IPS, None, "MSE"])


def test_known_propensities_help_where_selection_is_strong(errors):
    assert all(errors.gap((0.25, IPS, None), metric).mean() > 0 for metric in METRICS)


def test_a_thinned_world_keeps_so_many_users_and_items(world):
    assert fig3._thinned(world.ratings, other(SHAPE=(10, 20))).shape == (10, 20)
    assert fig3._thinned(world.ratings, Context()).shape == world.ratings.shape


def test_the_figure_has_both_errors_by_alpha_and_by_size(world):
    found = fig3.compute(world, FAST)
    by_alpha, by_size = found.figures
    assert [line.name for line in by_alpha.panels[0].series] == [NAIVE, IPS]
    assert [line.name for line in by_size.panels[1].series] == [NAIVE, IPS, LEARNT]
    assert by_alpha.panels[0].series[0].x == (1.0, 0.25)
    assert by_size.panels[0].series[2].x == (20.0, 500.0)
    assert len(found.cells) == 2 * len(CASES)
    assert all("penalty" in cell.note and cell.paper is None and cell.spread is not None for cell in found.cells)
    assert len(found.claims) == 3
    assert all(claim.holds is not None for claim in found.claims)


def test_the_claim_on_learnt_propensities_fails_when_they_are_worse():
    noise = np.random.default_rng(0).normal(scale=0.01, size=(3, 2))
    groups = {
        (*case, metric): noise[:, place] * (k + 1) + (2.0 if case[2] == 20 else 1.0)
        for k, case in enumerate(CASES)
        for place, metric in enumerate(METRICS)
    }
    trials = Trials(("alpha", "method", "size", "metric"), "trial", groups)
    claims = {claim.claim: claim for claim in fig3._claims(fig3.Errors(trials, dict.fromkeys(CASES, 1.0)))}
    assert claims[fig3._LEARNT].holds is False
    assert "Sizes with a worse mean: 20" in claims[fig3._LEARNT].evidence
    assert claims[fig3._BETTER].holds is False


def test_without_data_the_figure_is_empty_and_says_what_to_do(tmp_path):
    found = fig3.TABLE.run(Context(folder=tmp_path))
    assert all(cell.ours is None and "unskew datasets get ml-100k" in cell.note for cell in found.cells)
    assert [claim.holds for claim in found.claims] == [None] * 3
    assert not found.figures


@pytest.mark.slow
def test_processes_give_the_numbers_of_one(world, errors):
    many = fig3.measure(world.ratings, Context(sizes=SMALL | {fig3.ALPHAS: (0.25,), fig3.SIZES: (20,)}))
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
    assert [claim.holds for claim in result.claims] == [True] * 3
    assert [part.name for part in result.data] == ["ml-100k"]
