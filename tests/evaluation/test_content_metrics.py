"""Coverage, Gini, novelty, popularity and the head in a run: on the judged users, with intervals, without a winner."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError
from unskew.evaluation import choose
from unskew.evaluation.partitioned.mergeable import check_mergeable
from unskew.evaluation.settings.settings import resolve
from unskew.evaluation.showing.text import as_text
from unskew.models import Model
from unskew.ranking import FactorScorer, MatrixScorer, prepare_contest, rank
from unskew.ranking.shown_lists import shown_lists
from unskew.testing.oracles import content_value

USERS, ITEMS, DEPTH = 50, 24, 4
WORDS = [f"{word}@{DEPTH}" for word in ("coverage", "gini", "novelty", "popularity", "head")]


def split_of(**more: Any) -> Split:
    """A log in which low item numbers are popular."""
    rng = np.random.default_rng(1)
    seen = rng.random((USERS, ITEMS)) < np.linspace(0.6, 0.05, ITEMS)
    held = seen & (rng.random((USERS, ITEMS)) < 0.3)
    train, test = (
        Interactions.from_arrays(*np.nonzero(rows), n_users=USERS, n_items=ITEMS) for rows in (seen & ~held, held)
    )
    return Split(train, test, **more)


def scores(seed: int = 0) -> np.ndarray:
    """Scores without ties."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(ITEMS, dtype=float), (USERS, 1)), axis=1)


def judged(models: dict[str, Any], **settings: Any) -> Report:
    """The report by all five metrics."""
    return evaluate(models, settings.pop("split", None) or split_of(), **{"metrics": WORDS, **settings})


def test_values_are_those_of_plain_loops_over_the_judged_users() -> None:
    split = split_of()
    report = judged({"one": MatrixScorer(scores())}, split=split)
    users = np.unique(split.test.users)
    seen = split.train.to_sparse().toarray() > 0
    lists = [np.argsort(-np.where(seen[u], -np.inf, scores()[u]))[:DEPTH].tolist() for u in users]
    counts, n_users = split.train.item_counts.tolist(), int(np.count_nonzero(split.train.user_counts))
    for word in WORDS:
        row = report.estimate("one", word, "aoa")
        assert row.value == pytest.approx(content_value(word, lists, counts, n_users))
        assert (row.users, row.target) == (len(users), "lists of the judged users")
        assert row.dropped_items == 0
        assert row.low is not None
        assert row.low <= row.value  # type: ignore[operator]
        assert "ties drawn by the seed; unseen" in row.definition


def test_factors_lists_and_matrices_have_the_same_lists() -> None:
    rng = np.random.default_rng(4)
    factors = FactorScorer(rng.integers(0, 9, (USERS, 3)).astype(float), rng.normal(size=(ITEMS, 3)))
    dense = factors.score(np.arange(USERS))
    rows = [(u, i, dense[u, i]) for u in range(USERS) for i in range(ITEMS)]
    models = {
        "factors": factors,
        "matrix": MatrixScorer(dense),
        "table": pl.DataFrame(rows, schema=["user", "item", "score"], orient="row"),
    }
    report = judged(models)
    for word in WORDS:
        values = {report.value(name, word, "aoa") for name in models}
        assert max(values) - min(values) < 1e-12  # type: ignore[operator,type-var]


def test_two_models_are_compared_by_user() -> None:
    report = judged({"one": MatrixScorer(scores()), "two": MatrixScorer(scores(1)), "same": MatrixScorer(scores())})
    pairs = {(c.metric, c.a, c.b): c for c in report.comparisons}
    for word in WORDS:
        assert pairs[word, "one", "same"].p_value == 1
        gap = pairs[word, "one", "two"]
        assert gap.difference == pytest.approx(report.value("one", word, "aoa") - report.value("two", word, "aoa"))  # type: ignore[operator]
        assert gap.low <= gap.difference <= gap.high  # type: ignore[operator]


def test_the_interval_of_a_share_ends_at_the_share() -> None:
    """The list of one of six users has five of twelve items that no other list has, so the interval would exceed 1."""
    n = 6
    users = np.arange(n)
    parts = (Interactions.from_arrays(users, users + start, n_users=n, n_items=2 * n) for start in (0, n))
    lists = {user: [n + user, 0] if user else [n, *range(1, n)] for user in range(n)}
    report = evaluate({"m": lists}, Split(*parts), metrics=["coverage@6", "gini@6", "head@6"], estimators=["aoa"])
    for row in report.estimates:
        assert 0 <= row.low <= row.value <= row.high <= 1  # type: ignore[operator]
    coverage = report.estimate("m", "coverage@6", "aoa")
    assert (coverage.value, coverage.high) == (1, 1)
    assert coverage.std_error > 0.3  # type: ignore[operator]


def test_no_model_wins_by_what_it_shows() -> None:
    models = {"one": MatrixScorer(scores()), "two": MatrixScorer(scores(1))}
    report = evaluate(models, split_of(), metrics=["recall@4", *WORDS], propensity="popularity")
    assert [answer.metric for answer in report.answers] == ["recall@4"]
    text = as_text(report)
    assert f"no value is the better one: {', '.join(WORDS)}" in text.replace("\n", " ")
    assert not any(f"{word} " in line and "one - two" in line for line in text.splitlines() for word in WORDS)
    assert not any("*" in line for line in text[text.index("coverage@4") :].splitlines()[:3])
    assert "no value is the better one" in report.to_html()
    with pytest.raises(ConfigError, match="coverage@4 describes the lists, so it cannot decide"):
        report.gate("one", "two", metric="coverage@4")
    alone = judged(models)
    assert alone.verdict.sentence.endswith("none of them says which model is better.")
    assert alone.to_dict()["verdict"]["metrics"] == []
    assert "coverage@4" in alone.to_html()


def test_baselines_have_lists_too() -> None:
    report = judged({"one": MatrixScorer(scores())})
    flat = judged({"flat": MatrixScorer(np.zeros((USERS, ITEMS))), "popular": "popular"})
    for word in WORDS:
        assert report.value("random", word, "aoa") == pytest.approx(flat.value("flat", word, "aoa"))
        assert report.value("popular", word, "aoa") == pytest.approx(flat.value("popular", word, "aoa"))
    assert report.value("popular", "head@4", "aoa") > report.value("random", "head@4", "aoa")  # type: ignore[operator]


def test_a_constant_scorer_shows_random_items() -> None:
    report = judged({"flat": MatrixScorer(np.zeros((USERS, ITEMS)))}, metrics=["coverage@4", "head@4", "popularity@4"])
    assert report.value("flat", "coverage@4", "aoa") == 1  # 200 places for 24 items
    seen = split_of().train.to_sparse().toarray() > 0
    counts = split_of().train.item_counts
    users = np.unique(split_of().test.users)
    expected = np.mean([counts[~seen[u]].mean() for u in users])
    row = report.estimate("flat", "popularity@4", "aoa")
    assert abs(row.value - expected) < 4 * row.std_error  # type: ignore[operator]


def test_ties_depend_on_seed_user_and_item_alone() -> None:
    model, split = MatrixScorer(np.random.default_rng(2).integers(0, 2, (USERS, ITEMS)).astype(float)), split_of()
    contest = prepare_contest({"m": model}, split)
    whole = shown_lists(model, contest, 6, name="m", seed=5)
    np.testing.assert_array_equal(shown_lists(model, contest, 6, name="m", seed=5, block_size=7), whole)
    np.testing.assert_array_equal(shown_lists(model, contest, 3, name="m", seed=5), whole[:, :3])
    assert (shown_lists(model, contest, 6, name="m", seed=6) != whole).any()
    ordinal = shown_lists(model, contest, 6, name="m", ties="ordinal")
    best = np.take_along_axis(model.matrix[contest.users], ordinal, axis=1)
    assert (np.diff(best, axis=1) <= 0).all()
    assert (np.diff(ordinal, axis=1) > 0)[np.diff(best, axis=1) == 0].all()
    seen = split.train.to_sparse().toarray()[contest.users] > 0
    assert not np.take_along_axis(seen, whole, axis=1).any()


def test_users_whom_a_model_does_not_know_have_no_list() -> None:
    known = np.arange(0, USERS, 2)
    half = MatrixScorer(scores()[known], user_ids=known, item_ids=np.arange(ITEMS))
    report = judged({"half": half, "whole": MatrixScorer(scores(), user_ids=range(USERS), item_ids=range(ITEMS))})
    judged_users = np.unique(split_of().test.users)
    assert report.estimate("whole", "novelty@4", "aoa").users == np.isin(judged_users, known).sum()
    assert report.estimate("whole", "coverage@4", "aoa").users == len(judged_users)
    served = judged({"half": half, "whole": MatrixScorer(scores())}, users="served", metrics=["coverage@4"])
    assert served.estimate("half", "coverage@4", "aoa").users == np.isin(judged_users, known).sum()


@pytest.mark.parametrize("estimator", ["snips", "aoa(per=pair)", "ips", "dm", "blend"])
def test_nothing_corrects_them(estimator: str) -> None:
    with pytest.raises(ConfigError, match=r"coverage@4: it describes the lists.*use aoa|cannot estimate coverage@4"):
        judged({"one": MatrixScorer(scores())}, metrics=["coverage@4"], estimators=[estimator])


def test_what_has_no_lists_is_refused_by_name() -> None:
    split, model = split_of(), MatrixScorer(scores())
    ranks = rank(model, prepare_contest({"one": model}, split), name="one")
    with pytest.raises(ConfigError, match="novelty@4 needs the lists of every model, and saved has only saved ranks"):
        evaluate({"saved": ranks, "one": model}, split, metrics=["novelty@4"])
    with pytest.raises(ConfigError, match=r"coverage@4 is about the lists that users see, not about sampled\(5\)"):
        judged({"one": model}, candidates="sampled(5)")
    with pytest.raises(ConfigError, match="until"):
        judged({"one": model, "two": model}, until="decided")
    with pytest.raises(ConfigError, match=r"gini@4 cannot be merged over parts"):
        check_mergeable(resolve(metrics=["gini@4"]), split.rule)
    with pytest.raises(ConfigError, match="gini@4 is not estimated from exposed rows"):
        resolve(metrics=["gini@4"], exposed=True)
    with pytest.raises(ConfigError, match="cannot choose a model"):
        choose(Model.from_word("bpr"), split, ["novelty@4"])  # type: ignore[arg-type]
