"""What the strategies draw, and what happens without Hypothesis."""

import subprocess
import sys

import numpy as np
from hypothesis import find, given

from unskew.arrays import Floats
from unskew.estimators import Rows
from unskew.ranking import Ranks
from unskew.testing import strategies
from unskew.testing.worlds import IntegerWorld

HIDDEN = "import sys\nsys.modules['hypothesis'] = None\nsys.modules['pytest'] = None\n"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HIDDEN + code], capture_output=True, text=True, check=False)


def test_contracts_worlds_and_oracles_need_no_hypothesis_and_no_pytest() -> None:
    code = "import unskew.testing.worlds, unskew.testing.oracles\nfrom unskew.testing import check_metric\n"
    done = run(f"{code}check_metric('recall@3')")
    assert done.returncode == 0, done.stderr


def test_strategies_say_what_to_install() -> None:
    message = "unskew.testing.strategies needs hypothesis, which is not installed; pip install 'unskew[testing]'"
    assert message in run("import unskew.testing.strategies").stderr


@given(scores=strategies.score_matrices())
def test_score_matrices_are_small_and_whole(scores: Floats) -> None:
    assert scores.ndim == 2
    assert np.array_equal(scores, np.round(scores))
    assert np.abs(scores).max() <= 3


def test_ties_are_drawn() -> None:
    find(strategies.score_matrices(), lambda scores: len(np.unique(scores[0])) < scores.shape[1])
    find(strategies.ranks(), lambda ranks: bool(ranks.tied.any()))


@given(ranks=strategies.ranks())
def test_ranks_lie_within_their_candidates(ranks: Ranks) -> None:
    assert (ranks.above + ranks.tied < ranks.candidates).all()


@given(world=strategies.integer_worlds())
def test_a_world_has_a_test_row_and_a_score_for_every_pair(world: IntegerWorld) -> None:
    assert len(world.split("all").test) == len(world.test) > 0
    assert world.matrix.shape == (world.n_users, world.n_items)


@given(rows=strategies.observed_rows())
def test_observed_rows_have_propensities_and_more_relevant_items_than_rows(rows: Rows) -> None:
    assert ((rows.chance > 0) & (rows.chance <= 1)).all()
    assert rows.total is not None
    assert (rows.total > rows.counts).all()


@given(rows=strategies.exposed_rows())
def test_exposed_rows_have_a_positive_and_fit_their_population(rows: Rows) -> None:
    assert rows.labels.any()
    assert (rows.counts <= rows.population).all()


@given(rows=strategies.pair_rows())
def test_rows_over_all_pairs_count_users_without_a_row(rows: Rows) -> None:
    assert rows.total is not None
    assert len(rows.total) >= rows.n_users
