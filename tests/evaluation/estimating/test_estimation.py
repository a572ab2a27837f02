"""Cells in batches: the same numbers as all at once, and memory that does not grow with the number of metrics."""

import copy
import pickle
import tracemalloc
from dataclasses import replace
from itertools import combinations
from math import erfc, sqrt
from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.evaluation.estimating import estimation as module
from unskew.evaluation.estimating.cell import LaterTerms
from unskew.evaluation.estimating.estimation import Estimation
from unskew.metrics import parse_metric
from unskew.ranking import MatrixScorer

METRICS = ["recall@3", "ndcg@3", "map", "auc", "hit@2", "mrr"]  # means over items, lists, and both
SEEDED = ("a/seed0", "a/seed1", "b", "c")


def world(users: int, seed: int = 0) -> Split:
    """Each user has 4 training items and 1 to 4 test items of 20; propensities in the test; a slice without rows."""
    rng = np.random.default_rng(seed)
    chosen = rng.permuted(np.tile(np.arange(20), (users, 1)), axis=1)
    held = np.concatenate([chosen[user, 4 : 5 + user % 4] for user in range(users)])
    owner = np.repeat(np.arange(users), np.arange(users) % 4 + 1)
    train = Interactions.from_arrays(np.repeat(np.arange(users), 4), chosen[:, :4].ravel(), n_users=users, n_items=20)
    test = Interactions.from_arrays(owner, held, propensity=rng.uniform(0.2, 1, len(held)), n_users=users, n_items=20)
    return Split(train, test)


def models(users: int, names: tuple[str, ...]) -> dict[str, MatrixScorer]:
    rng = np.random.default_rng(1)
    return {name: MatrixScorer(rng.integers(0, 9, (users, 20)).astype(np.float32)) for name in names}


def judged(names: tuple[str, ...] = ("a", "b", "c"), metrics: list[str] = METRICS, **options: Any) -> Report:
    return evaluate(models(40, names), world(40), metrics=metrics, **{"propensity": "column", **options})


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each metric is a batch, because not even one number is kept."""
    monkeypatch.setattr(module, "KEPT_TERMS", 1)
    monkeypatch.setattr("unskew.evaluation.estimating.gamma_band.KEPT_TERMS", 1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"interval": "bootstrap(20)"},
        {"interval": "bootstrap(20, weights=poisson)", "propensity": "popularity"},
        {"users": "served"},
        {"names": SEEDED, "propensity": "popularity"},
        {"metrics": ["recall@3", "coverage@2", "novelty@3"]},
    ],
    ids=str,
)
def test_batches_have_the_numbers_of_all_at_once(options: dict[str, Any], request: pytest.FixtureRequest) -> None:
    whole = judged(threads=1, **options)
    assert not any(isinstance(cell.terms, LaterTerms) for cell in whole.estimated.cells)
    request.getfixturevalue("one_at_a_time")
    parts = judged(threads=1, **options)
    assert all(isinstance(cell.terms, LaterTerms) for cell in parts.estimated.cells)
    assert parts.to_json() == whole.to_json()
    if "users" not in options:
        assert parts.by("popularity").to_json() == whole.by("popularity").to_json()


@pytest.mark.usefixtures("one_at_a_time")
def test_comparisons_are_those_of_plain_numpy_with_all_pairs_at_once() -> None:
    report = judged()
    for cell in report.estimated.cells:
        names = list(cell.terms)
        above, below = (
            np.stack([getattr(cell.terms[name], part) for name in names]) for part in ("numerator", "denominator")
        )
        values = above.sum(axis=1) / below.sum(axis=1)
        influence = (above - values[:, None] * below) / below.sum(axis=1, keepdims=True)
        users = influence.shape[1]
        errors = np.sqrt(users / (users - 1) * ((influence[:, None] - influence[None]) ** 2).sum(axis=2))
        places = list(combinations(range(len(names)), 2))
        p_values = [erfc(abs(values[a] - values[b]) / errors[a, b] / sqrt(2)) for a, b in places]
        least = np.sort(p_values) * np.arange(len(places), 0, -1)
        holm = dict(zip(np.argsort(p_values, kind="stable"), np.minimum(np.maximum.accumulate(least), 1), strict=True))
        rows = [c for c in report.comparisons if (c.metric, c.estimator) == (str(cell.metric), str(cell.estimator))]
        assert [(row.a, row.b) for row in rows] == [(names[a], names[b]) for a, b in places]
        for k, (row, (a, b)) in enumerate(zip(rows, places, strict=True)):
            gap, half = values[a] - values[b], 1.959963984540054 * errors[a, b]
            expected = (gap, gap - half, gap + half, p_values[k], holm[k])
            assert (row.difference, row.low, row.high, row.p_value, row.p_value_holm) == pytest.approx(expected)


@pytest.mark.usefixtures("one_at_a_time")
def test_terms_that_were_not_kept_are_the_same_when_asked_for_again() -> None:
    report = judged(metrics=METRICS)
    values = report.per_user("ndcg@3", "aoa")
    mean = values.filter(model="b")["value"].mean()
    assert mean == pytest.approx(report.value("b", "ndcg@3", "aoa"))
    (cell,) = [each for each in report.estimated.cells if str(each.metric) == "ndcg@3"]
    assert list(cell.terms) == ["a", "b", "c"]
    with pytest.raises(KeyError):
        cell.terms["d"]
    for other in (copy.deepcopy(cell), pickle.loads(pickle.dumps(cell))):
        assert np.array_equal(other.terms["b"].numerator, cell.terms["b"].numerator)


def test_memory_does_not_grow_with_the_number_of_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the ranks, which are there before: users times models, not times metrics or pairs."""
    users, names = 2_000, tuple("abcdef")
    report = evaluate(
        models(users, names), world(users), metrics=["recall@3"], estimators=["aoa"], threads=1, baselines=False
    )
    monkeypatch.setattr(module, "KEPT_GAINS", 1)

    def peak(number: int) -> int:
        pairs = tuple(
            (parse_metric(f"{word}@{k}"), report.settings.estimators[0])
            for k in range(1, 11)
            for word in ("recall", "dcg")
        )
        settings = replace(report.settings, pairs=pairs[:number])
        Estimation(report.samples, settings, report.propensities, 1).run()  # loads and compiles
        tracemalloc.start()
        try:
            Estimation(report.samples, settings, report.propensities, 1).run()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    together = peak(20)
    one_metric = 3 * 8 * users * len(names)  # numerators, denominators and influences
    assert together > 10 * one_metric
    monkeypatch.setattr(module, "KEPT_TERMS", 1)
    assert peak(20) < 1.5 * peak(4)
    assert peak(20) < together / 3
