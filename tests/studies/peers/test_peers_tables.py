"""The study of other packages, on small logs: what is compared with what, and claims that can fail."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.data import Split
from unskew.evaluation import evaluate
from unskew.ranking import MatrixScorer
from unskew.studies import Context, get_study
from unskew.studies.framework.trials import Trials
from unskew.studies.peers import tables
from unskew.studies.peers.findings import DRAWN, PLAIN, SHOWN, SLICED, claims, compute, judge_all, nearest, ordered
from unskew.studies.peers.judge import Judged, means, served, top_lists, truth, untied
from unskew.studies.peers.measures import ERROR, TAU, USER_ERROR, measure
from unskew.studies.peers.methods import (
    ADG_PAIRS,
    DCG,
    HITS,
    METHODS,
    NDCG,
    PEERS,
    RECALL,
    RECALL_PAIRS,
    SNIPS_USERS,
    USERS,
    WEIGHTED,
    of_ours,
)
from unskew.studies.truth.logs import Log
from unskew.studies.truth.worlds import draw, world_case


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    """What is judged is kept, so that tests share it."""
    return Context(fast=True, cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def case():
    return world_case("mixed", 120, 80, (), (0, 0))


@pytest.fixture(scope="module")
def judged(context, case):
    (each,) = judge_all(context, [case])
    return each


@pytest.fixture(scope="module")
def findings(context, case, judged):
    return compute(context, [case])


def test_a_table_has_every_method_with_all_measures(findings):
    rows = {}
    for cell in findings.cells:
        rows.setdefault(cell.row, set()).add(cell.column)
        assert cell.ours is not None
    assert list(rows) == [str(method) for method in METHODS]
    for method in METHODS:
        measured = set(SHOWN) - ({"coverage"} if method in PEERS else set())
        assert rows[str(method)] == measured


def test_naive_averages_have_an_error_of_one_and_our_snips_is_that_of_pytorch_geometric(findings):
    errors = {cell.row: cell.ours for cell in findings.cells if cell.column == ERROR}
    assert errors["ir_measures: R@10"] == errors["ir_measures: nDCG@10"] == 1
    ours = str(of_ours(SNIPS_USERS, "recall@10", USERS))
    assert errors[ours] == pytest.approx(errors[str(WEIGHTED)], rel=1e-9)
    assert findings.claims[0].holds
    assert not findings.claims[0].needs_full
    assert all(each.needs_full for each in findings.claims[1:])


def test_the_claim_of_equality_fails_for_other_numbers(judged):
    values = judged.values.copy()
    values[METHODS.index(WEIGHTED)] += 1e-6
    assert not next(iter(claims(measure([("x", judged)]), [replace(judged, values=values)]))).holds


def test_the_cache_gives_the_same_numbers(context, case, judged):
    (again,) = judge_all(context, [case])
    assert np.array_equal(again.values, judged.values)
    assert np.array_equal(again.seconds, judged.seconds)  # a time that was measured before
    assert Judged.read(None) is None


def test_plain_averages_are_those_of_evaluate():
    parts = served(draw("mixed", 60, 50, (0, 1)).parts(np.random.default_rng(1), positives=True))
    rng = np.random.default_rng(2)
    scorer = untied(MatrixScorer(rng.integers(0, 4, parts.trained.shape)), rng)
    naive = means([top_lists(scorer.matrix, parts.trained)], parts.held)
    report = evaluate(
        {"it": scorer.matrix},
        Split(parts.train, parts.test),
        metrics=["recall@10", "adg@10", "ndcg@10", "dcg@10", "precision@10"],
        estimators=["aoa"],
        baselines=False,
    )
    user = {row.metric: row.value for row in report.estimates}
    pair = evaluate(
        {"it": scorer.matrix},
        Split(parts.train, parts.test),
        metrics=["recall@10", "adg@10"],
        estimators=["aoa(per=pair)"],
        baselines=False,
    )
    pairs = {row.metric: row.value for row in pair.estimates}
    expected = {RECALL: user["recall@10"], NDCG: user["ndcg@10"], DCG: user["dcg@10"], HITS: 10 * user["precision@10"]}
    expected |= {RECALL_PAIRS: pairs["recall@10"], ADG_PAIRS: pairs["adg@10"]}
    for target, value in expected.items():
        assert naive[target][0] == pytest.approx(value, rel=1e-9), str(target)


def test_ties_are_broken_and_the_order_is_kept():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, (4, 30)).astype(float)
    places = untied(MatrixScorer(scores), rng).matrix
    assert all(len(set(row)) == 30 for row in places)
    higher = scores[:, :, np.newaxis] > scores[:, np.newaxis]
    assert (places[:, :, np.newaxis] > places[:, np.newaxis])[higher].all()


def test_lists_have_no_training_items_and_are_ordered():
    scores = np.arange(2 * 20.0).reshape(2, 20)
    excluded = np.zeros((2, 20), dtype=bool)
    excluded[1, 19] = True
    top = top_lists(scores, excluded)
    assert top[0].tolist() == list(range(19, 9, -1))
    assert top[1].tolist() == list(range(18, 8, -1))


def test_users_without_training_rows_are_left_out():
    log = draw("self", 40, 30, (0, 0))
    parts = log.parts(np.random.default_rng(1), positives=True)
    parts.trained[[3, 7]] = False
    rest = served(parts)
    assert rest.trained.any(axis=1).all()
    assert len(rest.trained) == len(rest.held) == len(rest.log.relevant) == parts.trained.any(axis=1).sum()


def test_the_truth_of_a_sample_has_scaled_sums_and_no_ndcg():
    rng = np.random.default_rng(3)
    relevant, observed = rng.random((2000, 40)) < 0.3, rng.random((2000, 40)) < 0.1
    known, drawn = rng.random((2000, 40)) < 0.1, rng.random((2000, 40)) < 0.1
    whole = Log(observed, observed & relevant, relevant)
    parts = whole.parts(rng, positives=True)
    tops = [top_lists(rng.random((2000, 40)), parts.trained)]
    full = truth(whole, parts, tops, None)
    sampled = truth(replace(whole, known=known), parts, tops, drawn)
    assert NDCG in full
    assert NDCG not in sampled
    for target in sampled:
        assert sampled[target][0] == pytest.approx(full[target][0], rel=0.1), str(target)


def test_a_claim_fails_where_another_package_is_closer():
    numbers = dict.fromkeys(DRAWN, 0.5) | {PLAIN: 0.4, SLICED: 0.1}
    assert nearest(_trials(numbers, ERROR), PLAIN, ERROR)[0]
    worse, evidence = nearest(_trials(numbers | {WEIGHTED: 0.3}, ERROR), PLAIN, ERROR)
    assert not worse
    assert "another is as close on x" in evidence
    assert nearest(_trials(numbers | {WEIGHTED: 0.3}, USER_ERROR), SLICED, USER_ERROR)[0]


def test_a_claim_fails_where_another_package_orders_better():
    numbers = dict.fromkeys(DRAWN, 0.5) | {PLAIN: 0.46}
    assert ordered(_trials(numbers, TAU), PLAIN)[0]
    assert not ordered(_trials(numbers | {PLAIN: 0.44}, TAU), PLAIN)[0]


@pytest.mark.parametrize("run", [tables.run_coat, tables.run_kuairec, tables.run_jester])
def test_absent_data_is_noted(run, tmp_path):
    findings = run(Context(folder=tmp_path))
    assert [cell.ours for cell in findings.cells] == [None]
    assert "not here" in findings.cells[0].note
    assert findings.claims == ()


def test_the_study_is_ours_and_has_four_tables():
    study = get_study("peers")
    assert not study.of_paper
    assert [table.name for table in study.tables] == ["worlds", "coat", "kuairec", "jester"]


def test_the_logs_of_a_table_are_all_different(monkeypatch):
    seen = []
    monkeypatch.setattr(tables, "compute", lambda context, cases, *notes: seen.extend(cases))
    tables.run_worlds(Context())
    assert len({(case.data, case.seed) for case in seen}) == len(seen) == 14


def _trials(numbers, name):
    return Trials.collect(
        ("data", "method", "measure"), "log", ((("x", method, name), value) for method, value in numbers.items())
    )
