"""Table 2 of Schnabel et al. 2016: learnt propensities on made data, in the format of Yahoo!, and on Coat."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unskew.data import Interactions, Split
from unskew.models import CptV
from unskew.propensities import NaiveBayes
from unskew.simulators import RatingWorld, relabel
from unskew.studies.framework.study import Context
from unskew.studies.schnabel2016 import STUDY, benchmarks, table2
from unskew.studies.schnabel2016.benchmarks import COAT, YAHOO, Benchmark, Learned, Learner, hold_out, learn
from unskew.studies.schnabel2016.printed import TABLE2

FAST = Context(fast=True)
ABSOLUTE = "MAE, fit of the absolute error"
USERS, ITEMS, RANDOM = 60, 50, 10
ROWS = (Learner("MF-Naive"), Learner("MF-IPS", "naive-bayes"), Learner("CPT-v", mixture=True))


@pytest.fixture(scope="module")
def split() -> Split:
    rng = np.random.default_rng(5)
    ratings = relabel(rng.normal(size=(USERS, 1)) + rng.normal(size=ITEMS) + 0.5 * rng.normal(size=(USERS, ITEMS)))
    train = RatingWorld.skewed(ratings, alpha=0.25, density=0.13).draw(rng)
    users = np.repeat(np.arange(USERS), RANDOM)
    items = np.concatenate([rng.choice(ITEMS, RANDOM, replace=False) for _ in range(USERS)])
    test = Interactions.from_arrays(users, items, ratings[users, items], n_users=USERS, n_items=ITEMS)
    return Split(train, test, candidates="all")


@pytest.fixture(scope="module")
def benchmark(split) -> Benchmark:
    rest, sample = hold_out(split, FAST)
    return Benchmark(COAT, rest, sample, {"naive-bayes": NaiveBayes(sample)}, ROWS, (2,), (5.0, 1.0))


@pytest.fixture(scope="module")
def learned(benchmark) -> Learned:
    return learn(benchmark, FAST)


@pytest.fixture(scope="module")
def found(benchmark):
    return table2.compute(COAT, benchmark, FAST)


def test_the_random_sample_leaves_the_test(split, benchmark):
    assert len(benchmark.sample) == round(0.05 * len(split.test))
    keys = [set(zip(part.users, part.items, strict=True)) for part in (benchmark.sample, benchmark.split.test)]
    assert not keys[0] & keys[1]
    assert len(keys[0] | keys[1]) == len(split.test)


def test_every_row_has_both_errors_and_says_its_settings(found):
    ours = {(cell.row, cell.column): cell for cell in found.cells if cell.ours is not None}
    both = {(learner.row, metric) for learner in ROWS for metric in ("MAE", "MSE")}
    assert set(ours) == both | {(learner.row, ABSOLUTE) for learner in ROWS[:2]}
    assert "penalty" in ours["MF-IPS", "MSE"].note
    assert ours["CPT-v", "MAE"].note.startswith(f"{CptV.classes} classes")
    assert all(0 < cell.ours < 4 for cell in ours.values())


def test_errors_are_those_of_the_predictions(benchmark, learned, found):
    test = benchmark.split.sorted_test
    ours = {cell.column: cell.ours for cell in found.cells if cell.row == "MF-IPS"}
    squared = test.values - learned.rows["MF-IPS", "MSE"].predicted
    absolute = test.values - learned.rows["MF-IPS", "MAE"].predicted
    assert ours["MSE"] == pytest.approx(np.mean(squared**2), rel=1e-12)
    assert ours["MAE"] == pytest.approx(np.mean(np.abs(squared)), rel=1e-12)
    assert ours[ABSOLUTE] == pytest.approx(np.mean(np.abs(absolute)), rel=1e-12)


def test_a_row_is_the_same_again_and_by_itself(benchmark, learned):
    alone = learn(replace(benchmark, learners=ROWS[1:2]), FAST)
    for key, learnt in alone.rows.items():
        np.testing.assert_array_equal(learnt.predicted, learned.rows[key].predicted)


def test_baselines_that_are_not_here_show_the_papers_numbers_alone(found):
    cells = [cell for cell in found.cells if cell.row.startswith("HL")]
    assert [cell.paper for cell in cells] == [0.884, 1.214, 0.892, 1.220]
    assert all(cell.ours is None and not cell.comparable and cell.note for cell in cells)


def test_propensities_help_on_made_data(found):
    assert [claim.holds for claim in found.claims] == [True] * 3
    assert "paired test" in found.claims[0].evidence
    assert "bootstrap" in found.claims[0].evidence


def test_a_method_that_is_no_better_fails_the_claim(benchmark, learned):
    same = {(row, metric): learned.rows["MF-Naive", metric] for row, metric in learned.rows}
    assert not any(claim.holds for claim in table2._claims(Learned(benchmark, same), FAST))


def test_only_a_full_run_on_coat_is_compared(learned, found):
    assert not any(cell.comparable for cell in found.cells)
    cells = {(cell.row, cell.column): cell for cell in table2._cells(learned, Context())}
    assert [key for key, cell in cells.items() if cell.comparable] == [
        (row, metric) for row in ("MF-Naive", "MF-IPS") for metric in ("MAE", "MSE")
    ]
    assert cells["MF-IPS", "MSE"].tolerance == table2.TOLERANCE["MSE"]
    assert cells["CPT-v", "MSE"].paper is None
    assert "not known" in cells["MF-IPS", ABSOLUTE].note


def test_without_data_the_papers_numbers_stand_alone(tmp_path):
    found = table2.run(Context(folder=tmp_path))
    assert all(cell.ours is None and cell.note for cell in found.cells)
    assert {(cell.data, cell.row, cell.column) for cell in found.cells} == set(TABLE2)
    assert [claim.holds for claim in found.claims] == [None] * 6
    assert any("put its files into" in cell.note for cell in found.cells if cell.data == YAHOO)


def test_files_in_the_format_of_yahoo_fill_its_part_of_the_table(split, tmp_path):
    folder = tmp_path / YAHOO
    folder.mkdir()
    for part, name in ((split.train, "train"), (split.test, "test")):
        lines = (f"{u + 1}\t{i + 1}\t{v:.0f}\n" for u, i, v in zip(part.users, part.items, part.values, strict=True))
        (folder / f"ydata-ymusic-rating-study-v1_0-{name}.txt").write_text("".join(lines))
    context = Context(fast=True, folder=tmp_path)
    found = table2.compute(YAHOO, benchmarks.yahoo(context), context)
    ours = [cell for cell in found.cells if cell.ours is not None]
    assert [(cell.row, cell.column) for cell in ours] == [
        (row, metric) for row in ("MF-Naive", "MF-IPS, naive-bayes") for metric in ("MAE", "MSE", ABSOLUTE)
    ]
    assert [cell.paper for cell in ours] == [1.154, 1.891, 1.154, None, None, None]
    assert not any(cell.comparable for cell in found.cells)
    full = benchmarks.yahoo(Context(folder=tmp_path))
    assert full is not None
    assert [learner.row for learner in full.learners] == ["MF-Naive", "MF-IPS", "CPT-v"]


def real(*, fast: bool) -> Context:
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    context = Context(fast=fast, folder=Path(os.environ["UNSKEW_DATA"]))
    if context.find(COAT) is None:
        pytest.skip("real data: coat is not in the folder UNSKEW_DATA")
    return context


def test_coat_has_a_row_for_each_propensity_and_each_kind_of_offsets():
    made = benchmarks.coat(real(fast=False))
    assert made is not None
    assert (len(made.sample), len(made.split.test)) == (232, 4_408)
    assert list(made.propensities) == ["logistic", "naive-bayes", "combined", "boosted", "published"]
    assert len({learner.row for learner in made.learners}) == 13
    assert sum(learner.offsets == "free" for learner in made.learners) == 6


@pytest.mark.slow
def test_the_small_version_bears_the_paper_out_on_coat():
    context = real(fast=True)
    result = STUDY.run(context, ["table2"]).tables[0]
    assert [claim.holds for claim in result.claims if "coat" in claim.claim] == [True] * 3
    assert "coat" in {part.name for part in result.data}
