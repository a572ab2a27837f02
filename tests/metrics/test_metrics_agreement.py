"""Our values beside those of scikit-learn, ir_measures and ranx, where the definitions coincide."""

import warnings

import numpy as np
import pytest
from ir_measures import AP, RR, P, R, Success, iter_calc, nDCG

from unskew.metrics import parse_metric
from unskew.testing.worlds.scored_users import ScoredUser, user_values


@pytest.fixture(scope="module")
def untied() -> list[ScoredUser]:
    rng = np.random.default_rng(1)
    users = []
    for _ in range(60):
        n = int(rng.integers(15, 60))
        flags = rng.random(n) < rng.uniform(0.03, 0.7)
        flags[rng.integers(n)] = True
        flags[0] = False
        flags[-1] = True
        users.append(ScoredUser(tuple(rng.permutation(n).tolist()), tuple(flags.tolist())))
    return users


@pytest.fixture(scope="module")
def tied() -> list[ScoredUser]:
    rng = np.random.default_rng(2)
    users = []
    for _ in range(60):
        n = int(rng.integers(3, 40))
        flags = rng.random(n) < 0.4
        flags[0], flags[-1] = True, False
        users.append(ScoredUser(tuple(rng.integers(0, 5, n).tolist()), tuple(flags.tolist())))
    return users


@pytest.mark.parametrize("k", [None, 3, 10])
def test_ndcg_is_scikit_learns_with_ties_and_without(untied, tied, k):
    from sklearn.metrics import ndcg_score

    metric = parse_metric("ndcg" if k is None else f"ndcg@{k}")
    for users in (untied, tied):
        theirs = [ndcg_score([u.relevant], [u.scores], k=k, ignore_ties=False) for u in users]
        np.testing.assert_allclose(user_values(metric, users), theirs, rtol=1e-12)


def test_map_is_scikit_learns_average_precision_without_ties(untied):
    from sklearn.metrics import average_precision_score

    theirs = [average_precision_score(u.relevant, u.scores) for u in untied]
    np.testing.assert_allclose(user_values(parse_metric("map"), untied), theirs, rtol=1e-12)


def test_auc_of_negatives_is_scikit_learns_with_ties_and_without(untied, tied):
    from sklearn.metrics import roc_auc_score

    for users in (untied, tied):
        theirs = [roc_auc_score(u.relevant, u.scores) for u in users]
        np.testing.assert_allclose(user_values(parse_metric("auc(of=negatives)"), users), theirs, rtol=1e-12)


def as_run(users: list[ScoredUser]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    qrels = {
        f"u{u}": {f"i{i}": 1 for i, relevant in enumerate(user.relevant) if relevant} for u, user in enumerate(users)
    }
    run = {f"u{u}": {f"i{i}": float(score) for i, score in enumerate(user.scores)} for u, user in enumerate(users)}
    return qrels, run


# objects, because ir_measures 0.4 cannot read its own words with a cut-off on Python 3.14
IR_MEASURES = {
    "ndcg@10": nDCG @ 10, "ndcg": nDCG, "map": AP, "map@10": AP @ 10, "mrr": RR, "mrr@10": RR @ 10,
    "precision@10": P @ 10, "recall@10": R @ 10, "hit@10": Success @ 10,
}  # fmt: skip


@pytest.mark.parametrize("word", IR_MEASURES)
def test_values_are_those_of_ir_measures(untied, word):
    qrels, run = as_run(untied)
    found = {row.query_id: row.value for row in iter_calc([IR_MEASURES[word]], qrels, run)}
    theirs = [found[f"u{u}"] for u in range(len(untied))]
    np.testing.assert_allclose(user_values(parse_metric(word), untied), theirs, rtol=1e-6)


RANX = {
    "ndcg@10": "ndcg@10", "map": "map", "map@10": "map@10", "mrr": "mrr", "precision@10": "precision@10",
    "recall@10": "recall@10", "hit@10": "hit_rate@10",
}  # fmt: skip


@pytest.mark.slow  # ranx compiles for most of a minute
def test_values_are_those_of_ranx(untied):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ranx

        qrels, run = as_run(untied)
        made = ranx.Qrels(qrels), ranx.Run(run)
        ranx.evaluate(*made, list(RANX.values()), return_mean=False)
    for word, theirs in RANX.items():
        values = [made[1].scores[theirs][f"u{u}"] for u in range(len(untied))]
        np.testing.assert_allclose(user_values(parse_metric(word), untied), values, rtol=1e-9, err_msg=word)
