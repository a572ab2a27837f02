"""The tables of the study, on small logs."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.simulators import SELECTION_WORLDS, SelectionWorld
from unskew.studies import Context
from unskew.studies.truth import coat, complete, large, worlds
from unskew.studies.truth.findings import Case, compute, judge_all
from unskew.studies.truth.forms import LABELLED, MODELS, POSITIVE, Form
from unskew.studies.truth.judge import TRUTH
from unskew.studies.truth.logs import Selection
from unskew.studies.truth.targets import claims

SIZES = {large.GRID: (150, 120), large.SHARES: (0.1,)}


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """Everything that is judged is kept, so that tests share it."""
    return Context(fast=True, cache=tmp_path_factory.mktemp("cache"), sizes=SIZES)


@pytest.fixture(scope="module")
def findings(context):
    return large.run(context)


def test_a_table_has_every_form_with_all_measures(findings):
    rows = {}
    for cell in findings.cells:
        rows.setdefault(cell.row, set()).add(cell.column)
        assert cell.paper is None
        assert cell.ours is not None
    shared = {"error", "tau", "winner", "bias", "coverage", "significant"}
    assert all(shared <= columns for columns in rows.values())
    plain = {"naive", "snips, popularity", "snips, exposure", "snips, true chance", "dm", "dr", "auto"}
    assert {*plain, "blend", "ure, 10 % slice", "blend, 10 % slice", "positives: naive", "positives: auto"} <= set(rows)
    assert "positives: blend(q=slice), 10 % slice" in rows
    assert all(("width" in columns) == ("slice" in row.split(",")[-1]) for row, columns in rows.items())


def test_only_the_full_version_judges_targets(findings):
    assert len(findings.claims) == 9  # there is no limit for the error with this slice
    assert all(claim.needs_full and claim.claim.startswith("target: ") for claim in findings.claims)


def test_the_cache_gives_the_same_numbers(context, findings):
    files = sorted(path.stat().st_mtime_ns for path in (context.cache / "truth").iterdir())
    again = large.run(context)
    assert again.cells == findings.cells
    assert files == sorted(path.stat().st_mtime_ns for path in (context.cache / "truth").iterdir())


def test_the_naive_average_of_a_world_is_too_high_and_blend_is_nearer(findings):
    error = {cell.row: cell.ours for cell in findings.cells if cell.column == "error"}
    bias = {cell.row: cell.ours for cell in findings.cells if cell.column == "bias"}
    assert bias["naive"] > 0.2
    assert error["naive"] == 1
    assert max(error["blend"], error["blend, 10 % slice"], error["snips, true chance"]) < 0.6


def test_the_default_is_the_estimator_that_suits_the_log(findings):
    numbers = {}
    for cell in findings.cells:
        numbers.setdefault(cell.row, {})[cell.column] = cell.ours
    assert numbers["auto"] == numbers["blend"]
    assert numbers["positives: auto"] in (numbers["positives: snips, exposure"], numbers["positives: naive"])
    assert not any(row.startswith("auto, ") for row in numbers)


def test_without_labels_the_candidates_and_the_truth_differ(context):
    users, items = context.size(large.GRID)
    (judged,) = judge_all(context, [worlds.world_case(large.WORLD, users, items, (0.1,), (0, 0))])
    first, second = (judged.values[judged.place(Form(given, 0.0, TRUTH))] for given in (LABELLED, POSITIVE))
    assert first.shape == second.shape == (len(MODELS), 6)
    assert not np.array_equal(first, second)


def test_the_worlds_are_those_of_the_simulator():
    draws = [worlds.draw(name, 20, 30, (0, 1)) for name in SELECTION_WORLDS]
    assert all(np.array_equal(log.relevant, draws[0].relevant) for log in draws)
    assert {case.data for case in (worlds.world_case(name, 20, 30, (), (0, 1)) for name in worlds.SELECTIVE)} == {
        *SELECTION_WORLDS
    } - {"mar"}


def test_coat_is_judged_by_a_sample_without_the_slice(context):
    drawn = SelectionWorld.preset("self", users=150, items=120).draw(1)
    log = coat.log_of(_ratings(drawn.observed, drawn.relevant), _ratings(_random(drawn), drawn.relevant))
    assert log.known is not None
    case = Case("coat", partial(_same, log), ("made",), (0.05,), (0, 0))
    sampled = compute(context, [case], partial(claims, limits={0.05: 0.16}), sampled=True)
    columns = {cell.column for cell in sampled.cells}
    assert {"coverage, truth's error", "wrong, clear truth"} <= columns
    (judged,) = judge_all(context, [case])
    whole, rest = (judged.values[judged.place(Form(LABELLED, share, TRUTH))] for share in (0.0, 0.05))
    assert not np.array_equal(whole, rest)


def test_features_add_rows_of_their_own(context):
    polars = pytest.importorskip("polars")
    drawn = SelectionWorld.preset("self", users=150, items=120).draw(1)
    log = coat.log_of(_ratings(drawn.observed, drawn.relevant), _ratings(_random(drawn), drawn.relevant))
    rng = np.random.default_rng(1)
    users = polars.DataFrame({"user": np.arange(150), "a": rng.integers(0, 2, 150), "b": rng.integers(0, 2, 150)})
    items = polars.DataFrame({"item": np.arange(120), "c": rng.integers(0, 2, 120)})
    case = Case("coat", partial(_same, replace(log, features=(users, items))), ("features",), (0.05,), (0, 0))
    (judged,) = judge_all(context, [case])
    names = {(form.name, form.share) for form in judged.forms}
    assert {("snips, exposure by features", 0.0), ("blend by features", 0.0), ("blend by features", 0.05)} <= names


def test_complete_labels_are_drawn_by_each_rule(context):
    relevant = SelectionWorld(users=60, items=50).draw(1).relevant
    rules = {"popularity": Selection(1.5), "relevance": Selection(0.7, relevance=1.5)}
    cases = complete.drawn_cases("x", relevant, rules, 0.2, (0.1,), 2, context)
    assert [case.data for case in cases] == ["x, popularity"] * 2 + ["x, relevance"] * 2
    logs = [case.make() for case in cases]
    assert all(log.observed.mean() == pytest.approx(0.2, abs=0.03) for log in logs)
    assert len({log.observed.tobytes() for log in logs}) == 4
    assert len({(case.data, case.identity, case.seed) for case in cases}) == 4


def test_a_part_of_a_grid_keeps_its_order():
    labels = np.arange(20).reshape(4, 5) % 3 == 0
    part = complete.within(labels, 3, 9, np.random.default_rng(1))
    assert part.shape == (3, 5)
    assert np.array_equal(complete.within(labels, 4, 5, np.random.default_rng(1)), labels)


@pytest.mark.parametrize("run", [coat.run, complete.run_kuairec, complete.run_jester])
def test_absent_data_is_noted(run, tmp_path):
    findings = run(Context(folder=tmp_path))
    assert [cell.ours for cell in findings.cells] == [None]
    assert "not here" in findings.cells[0].note
    assert findings.claims == ()


def _same(log):
    return log


def _random(drawn):
    return np.random.default_rng(7).random(drawn.relevant.shape) < 0.2


def _ratings(mask, relevant):
    users, items = np.nonzero(mask)
    ratings = np.where(relevant[users, items], 5.0, 2.0)
    return Interactions.from_arrays(users, items, ratings, n_users=len(mask), n_items=len(mask.T))
