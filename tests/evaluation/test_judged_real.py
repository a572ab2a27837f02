"""Recall on a real log cut by time, next to ir_measures: cold items and cold users are misses."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unskew import Report, Split, evaluate
from unskew.data import split_temporal
from unskew.data.sources import get_source
from unskew.ranking import FactorScorer, ListScorer, Scorer


@cache
def split() -> Split:
    folder = Path(os.environ.get("UNSKEW_DATA", "nowhere")) / "ml-100k"
    if not folder.is_dir():
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds ml-100k")
    return split_temporal(get_source("ml-100k").read(folder), 0.2)


@cache
def alone() -> Report:
    return evaluate({"als": "als"}, split(), metrics=["recall@10"], estimators=["aoa"])


def trained() -> FactorScorer:
    scorer = alone().contenders.models["als"].ranker
    assert isinstance(scorer, FactorScorer)
    return scorer


def lists() -> dict[str, dict[str, float]]:
    """All scores of unseen items, by code, for the users whom the model knows."""
    scorer, parts = trained(), split()
    items = parts.item_vocabulary.encode(pl.Series(scorer.item_ids))
    rows = parts.user_vocabulary.encode(pl.Series(scorer.user_ids))
    offsets, seen = parts.train.by_user
    run = {}
    for row, user in enumerate(rows.tolist()):
        if not parts.test.user_counts[user]:
            continue
        scores = scorer.score(np.array([row]))[0]
        fresh = ~np.isin(items, seen[offsets[user] : offsets[user + 1]])
        best = np.sort(scores[fresh])[::-1]
        assert best[9] > best[10]  # no tie across the cut-off, which ir_measures would break by name
        run[str(user)] = dict(zip(map(str, items[fresh].tolist()), scores[fresh].tolist(), strict=True))
    return run


def relevant(users: set[str] | None = None) -> dict[str, dict[str, int]]:
    rows: dict[str, dict[str, int]] = {}
    for user, item in zip(split().test.users.tolist(), split().test.items.tolist(), strict=True):
        if users is None or str(user) in users:
            rows.setdefault(str(user), {})[str(item)] = 1
    return rows


def recall(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> float:
    import ir_measures

    measure = ir_measures.R @ 10
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])


def test_items_that_no_model_knows_stay_in_the_denominator_as_in_ir_measures() -> None:
    run = lists()
    (row,) = alone().estimates
    assert (row.users, row.dropped_items) == (len(run), 0)
    assert row.value == pytest.approx(recall(relevant(set(run)), run), abs=1e-12)


def test_users_whom_a_model_does_not_know_are_misses_as_in_ir_measures() -> None:
    report = evaluate({"als": trained(), "popular": "popular"}, split(), metrics=["recall@10"], estimators=["aoa"])
    assert report.value("als", "recall@10", "aoa") == pytest.approx(recall(relevant(), lists()), abs=1e-12)


def test_a_model_that_answers_its_twelve_best_users_moves_nobody_else() -> None:
    (row,) = alone().estimates
    parts, ranks = split(), alone().samples.judged.ranks["als"]
    hits = np.bincount(ranks.users, weights=ranks.above < 10) / np.maximum(np.bincount(ranks.users), 1)
    best = np.argsort(-hits, kind="stable")[:12]
    run = lists()
    top = {user: sorted(run[str(user)], key=run[str(user)].__getitem__)[-10:] for user in best.tolist()}
    table = [(user, int(item), score) for user, items in top.items() for score, item in enumerate(items)]
    users, items, scores = zip(*table, strict=True)
    few = ListScorer.from_table(parts.user_vocabulary.ids[list(users)], parts.item_vocabulary.ids[list(items)], scores)
    models: dict[str, Scorer] = {"als": trained(), "few": few}
    report = evaluate(models, parts, metrics=["recall@10"], estimators=["aoa"])
    assert report.value("als", "recall@10", "aoa") == row.value
    assert report.value("few", "recall@10", "aoa") < row.value  # type: ignore[operator]
    assert report.comparisons[0].p_value < 0.05  # type: ignore[operator]
    common = evaluate(models, parts, metrics=["recall@10"], estimators=["aoa"], users="common")
    assert common.value("als", "recall@10", "aoa") > 2 * row.value  # type: ignore[operator]
