"""Who is judged: users with a test row, or all who like something outside train."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.errors import ConfigError
from unskew.simulators import World
from unskew.trials import Method, Trial, judged_rows, run_trial, run_trials

N = {"n_users": 4, "n_items": 4}
WORLD = World(
    train=Interactions.from_arrays([0, 0, 0, 1, 2, 2, 3, 3], [0, 1, 2, 0, 3, 0, 0, 1], **N),
    test=Interactions.from_arrays([0, 3], [3, 2], propensity=[0.5, 0.25], **N),
    offsets=np.array([0, 1, 3, 4, 4]),
    items=np.array([3, 1, 2, 1], dtype=np.int32),
)
"""Relevant outside train: item 3 of user 0; 1 and 2 of user 1; 1 of user 2. User 3 likes nothing more.

Items 0 to 3 have 4, 2, 1, 1 training rows. For popular, item 3 is the one candidate of user 0 and first; user 1 has 1
first and 2 tied with 3 for the second place; user 2 has 1 first.
"""
WANTED = (Method(), Method("ips", "true"), Method("ips", "estimated", "uniform"))


def judge(population: str) -> Trial:
    return run_trial(
        WORLD, ("popular",), metrics=("recall@1", "precision@1", "mrr"), methods=WANTED, population=population
    )


def test_the_tested_are_judged_by_default() -> None:
    assert judged_rows(WORLD).users.tolist() == [0]
    trial = judge("tested")
    assert trial.users == 1
    assert trial.dropped == 1
    assert trial.truth[0, :, 0] == pytest.approx([1, 1, 1])
    assert trial.estimate[0, 0] == pytest.approx([1, 2, 1])


def test_all_who_like_something_outside_train_can_be_judged() -> None:
    """Recall at 1 is 1, 1/2 and 1; ips has 1/0.5 for user 0 and 0 for the others, the naive average sees user 0 alone.

    With propensities known up to scale, the one row stands for all 4 relevant pairs.
    """
    assert judged_rows(WORLD, population="all").users.tolist() == [0, 1, 2]
    trial = judge("all")
    assert trial.users == 3
    assert trial.dropped == 1
    assert trial.truth[0, :, 0] == pytest.approx([2.5 / 3, 1, 1])
    assert trial.estimate[0, 0] == pytest.approx([1, 2 / 3, 4 / 3])
    assert trial.estimate[0, 1] == pytest.approx([1, 2 / 3, 4 / 3])
    assert trial.estimate[0, 2, 0] == 1


def test_ips_is_without_bias_over_all_where_each_row_is_held_out_by_a_toss() -> None:
    """300 worlds with one or two relevant items a user: |z| < 4. Over the tested alone it is far too large."""
    relevant = np.zeros((30, 12), dtype=bool)
    relevant[np.arange(30), np.arange(30) % 12] = True
    relevant[::2, 5] = True

    def draw(rng: np.random.Generator) -> World:
        observed = np.linspace(0.2, 0.9, 12)
        return World.hide(relevant, observed, 0.5, rng=rng)

    off = {}
    for population in ("tested", "all"):
        trials = run_trials(
            draw,
            300,
            ("popular",),
            metrics=("recall@3",),
            methods=(Method("ips", "true"),),
            population=population,
        )
        errors = trials.error[:, 0, 0, 0]
        off[population] = errors.mean() / (errors.std() / np.sqrt(300))
    assert abs(off["all"]) < 4
    assert off["tested"] > 10


def test_an_unknown_population_is_refused() -> None:
    for call in (lambda: judge("some"), lambda: judged_rows(WORLD, population="some")):
        with pytest.raises(ConfigError, match="population='some': choose from tested, all"):
            call()


def test_where_nobody_judged_has_a_test_row_ips_is_0_and_the_others_are_undefined() -> None:
    # only user 3 has a test row, and likes nothing more
    world = replace(WORLD, test=Interactions.from_arrays([3], [2], propensity=[0.25], **N))
    wanted = (Method(), Method("ips", "true"), Method("ips", "estimated"), Method("snips", "estimated"))
    trial = run_trial(world, ("popular",), metrics=("recall@1",), methods=wanted, population="all")
    assert trial.users == 3
    assert trial.estimate[0, 0] == pytest.approx([np.nan, 0, 0, np.nan], nan_ok=True)
