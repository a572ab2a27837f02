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
ROWS = (
    Learner("MF-Naive"),
    Learner("MF-IPS", "naive-bayes"),
    Learner("HL-MAR", kind="hl-mar"),
    Learner("CPT-v", kind="cpt"),
    Learner("MF-Naive, paper's penalties", printed_grid=True),
)


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
    assert set(ours) == both | {(learner.row, ABSOLUTE) for learner in ROWS[:3]}
    assert "penalty" in ours["MF-IPS", "MSE"].note
    assert ours["HL-MAR", "MSE"].note.startswith("2 factors, the mean of the rating")
    assert ours["HL-MAR", ABSOLUTE].note.startswith("2 factors, the median of the rating")
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


def test_a_printed_number_has_that_of_penalised_offsets_next_to_it(benchmark):
    rows = (Learner("MF-Naive"), Learner("MF-Naive, penalised offsets", offsets="regularised"))
    cells = {
        (cell.row, cell.column): cell for cell in table2._cells(learn(replace(benchmark, learners=rows), FAST), FAST)
    }
    other = cells["MF-Naive, penalised offsets", "MSE"]
    assert f"with penalised offsets {other.ours:.4f}" in cells["MF-Naive", "MSE"].note
    assert "with penalised" not in other.note


def test_a_grid_that_ends_at_the_best_penalty_is_noted(learned):
    assert (
        learned.rows["MF-Naive, paper's penalties", "MSE"].settings
        == "2 factors, penalty 1, the largest that was tried"
    )
    assert ("MF-Naive, paper's penalties", "MAE") not in learned.rows


def test_ordinal_factors_are_chosen_by_validation_and_the_best_on_the_test_is_noted(benchmark):
    two = learn(replace(benchmark, learners=ROWS[2:3], factors=(1, 2)), FAST)
    test, learnt = benchmark.split.sorted_test, two.rows["HL-MAR", "MSE"]
    error = float(np.mean((test.values - learnt.predicted) ** 2))
    least = float(learnt.settings.rsplit(" ", 1)[1])
    assert "best on the test" in learnt.settings
    assert least <= error + 1e-4
    assert set(two.rows) == {("HL-MAR", "MSE"), ("HL-MAR", "MAE")}


def test_numbers_that_were_not_computed_show_the_papers_alone(found):
    cells = [cell for cell in found.cells if cell.row == "HL-MNAR"]
    assert [cell.paper for cell in cells] == [0.884, 1.214]
    assert all(cell.ours is None and not cell.comparable and cell.note for cell in cells)


def test_the_papers_claims_are_judged_at_its_level_and_marked(learned):
    claims = list(table2._claims(learned, Context()))
    papers = [claim for claim in claims if claim.section]
    assert len(papers) == 6
    assert all(claim.section == "Sec. 6.5" and "p < 0.001" in claim.claim for claim in papers)
    assert [claim.holds for claim in papers[:2]] == [True, True]
    assert "paired test" in papers[0].evidence
    assert "bootstrap" in papers[0].evidence
    # the rows of HL-MNAR are not here
    assert [claim.holds for claim in papers if "HL-MNAR" in claim.claim] == [None, None]
    assert all(claim.needs_full for claim in papers if claim.holds is not None)


def test_a_method_that_is_no_better_fails_the_claim(benchmark, learned):
    same = {(row, metric): learned.rows["MF-Naive", metric] for row, metric in learned.rows if "paper" not in row}
    judged = [claim.holds for claim in table2._claims(Learned(benchmark, same), FAST) if claim.holds is not None]
    assert judged == [False] * 5


def test_a_difference_that_is_clear_but_not_at_the_papers_level_fails(benchmark, learned):
    # noise of one size for both, and a gain that makes p about .01
    test = benchmark.split.sorted_test
    rng = np.random.default_rng(0)
    noise = rng.normal(size=len(test.values))
    gain = 2.6 / len(noise) ** 0.5
    signs = np.where(rng.permutation(len(noise)) % 2, 1.0, -1.0)
    worse = learned.rows["MF-Naive", "MSE"]._replace(predicted=test.values + 1.0)
    # squared errors 1 and 1 - d, where d has mean `gain` and deviation 1
    drops = np.clip(gain + 0.5 * signs, None, 0.99)
    better = worse._replace(predicted=test.values + np.sqrt(1 - drops))
    rows = {("MF-Naive", "MSE"): worse, ("MF-IPS", "MSE"): better}
    contest = table2.Contest("MF-IPS", "MF-Naive", table2.COLUMNS[1], "Sec. 6.5")
    two = Learned(replace(benchmark, learners=ROWS[:2]), rows)
    clear, _ = table2._judge(two, contest, FAST)
    assert clear is True
    drops = np.clip(gain / 2 + 0.5 * signs, None, 0.99)
    rows["MF-IPS", "MSE"] = worse._replace(predicted=test.values + np.sqrt(1 - drops))
    unclear, evidence = table2._judge(two, contest, FAST)
    assert unclear is False
    assert 0.001 < float(evidence.split("rows: p ")[1].split(";")[0]) < 0.05


def test_only_a_full_run_is_compared_and_each_printed_number_once(learned, found):
    assert not any(cell.comparable for cell in found.cells)
    cells = {(cell.row, cell.column): cell for cell in table2._cells(learned, Context())}
    compared = [key for key, cell in cells.items() if cell.comparable]
    assert compared == [(row, metric) for row in ("MF-Naive", "MF-IPS", "HL-MAR") for metric in ("MAE", "MSE")]
    assert [key for key, cell in cells.items() if cell.paper is not None] == compared
    assert cells["MF-IPS", "MSE"].tolerance == table2.TOLERANCE["MSE"]


def test_without_data_the_papers_numbers_stand_alone(tmp_path):
    found = table2.run(Context(folder=tmp_path))
    assert all(cell.ours is None and cell.note for cell in found.cells)
    assert {(cell.data, cell.row, cell.column) for cell in found.cells} == set(TABLE2)
    assert {claim.holds for claim in found.claims} == {None}
    assert sum(claim.source == "paper, Sec. 6.5" for claim in found.claims) == 6 + 7
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
        (f"{row}, penalised offsets", metric)
        for row in ("MF-Naive", "MF-IPS, naive-bayes")
        for metric in ("MAE", "MSE", ABSOLUTE)
    ]
    assert not any(cell.comparable or cell.paper for cell in ours)
    assert [cell.paper for cell in found.cells if cell.row == "MF-Naive"] == [1.154, 1.891]
    full = benchmarks.yahoo(Context(folder=tmp_path))
    assert full is not None
    rows = ["MF-Naive", "MF-IPS", "MF-Naive, penalised offsets", "MF-IPS, penalised offsets"]
    assert [learner.row for learner in full.learners] == [*rows, "HL-MNAR", "HL-MAR", "CPT-v"]


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
    rows = {learner.row: learner for learner in made.learners}
    assert len(rows) == len(made.learners) == 17
    assert sum(learner.offsets == "regularised" for learner in made.learners) == 6
    assert [row for row, learner in rows.items() if learner.printed_grid] == [
        "MF-Naive, paper's penalties",
        "MF-IPS, paper's penalties",
    ]
    assert (rows["MF-IPS"].propensity, rows["MF-IPS"].offsets) == ("logistic", "free")


@pytest.mark.slow
def test_the_small_version_shows_a_gain_on_coat_and_judges_none_of_the_papers_claims():
    context = real(fast=True)
    result = STUDY.run(context, ["table2"]).tables[0]
    judged = [claim for claim in result.claims if claim.holds is not None]
    assert [(claim.source, claim.holds) for claim in judged] == [("ours", True)]
    assert "coat" in {part.name for part in result.data}
