"""evaluate(), end to end: counts, rules, errors with hints, the same bytes however it is run."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.metrics import MetricWord, parse_metric
from unskew.ranking import FactorScorer, MatrixScorer
from unskew.testing.worlds.long_tail import ITEMS, USERS, real_factors, skewed_split, whole_scores

METRICS = ["recall@5", "adg@5", "auc", "dcg@5", "precision@5", "ndcg@5", "map", "mrr", "hit@5", "auc(of=negatives)"]


def values_of(report: Report) -> list[tuple[object, ...]]:
    return [(e.model, e.metric, e.estimator, e.value, e.std_error, e.low, e.high) for e in report.estimates]


@pytest.mark.usefixtures("passed_check")
def test_defaults_are_those_of_the_design() -> None:
    report = evaluate({"m": whole_scores()}, skewed_split())
    assert [(e.metric, e.estimator) for e in report.estimates] == [
        (metric, estimator) for metric in ("recall@10", "adg@10", "auc") for estimator in ("aoa(per=pair)", "snips")
    ]
    assert report.run["propensity"] == "exposure(power=0.5)"
    assert report.run["auto"]["estimator"] == "snips"  # the log has positives only
    assert report.run["candidates"] == "unseen"
    assert report.run["ties"] == "expected"
    assert report.run["level"] == 0.95


def test_default_estimators_are_those_that_apply_to_the_metric() -> None:
    report = evaluate(
        {"m": whole_scores()}, skewed_split(), metrics=["recall@5", "dcg@5", "ndcg@5"], propensity="popularity"
    )
    assert [(e.metric, e.estimator) for e in report.estimates] == [
        ("recall@5", "aoa(per=pair)"),
        ("recall@5", "snips"),
        ("dcg@5", "aoa"),
        ("ndcg@5", "aoa"),
    ]


def test_the_order_of_rows_does_not_matter() -> None:
    split = skewed_split()
    rng = np.random.default_rng(1)
    mixed = Split(*(part.take(rng.permutation(len(part))) for part in (split.train, split.test)))
    models = {"m": real_factors(), "popular": "popular", "als": "als(factors=3)"}
    one, other = (evaluate(models, s, metrics=METRICS, propensity="popularity") for s in (split, mixed))  # type: ignore[arg-type]
    assert values_of(one) == values_of(other)
    assert one.comparisons == other.comparisons
    # a part that was taken from another has no repeated rows of its own
    assert tuple(text for text in one.warnings if "repeated" not in text) == other.warnings


@pytest.mark.parametrize("interval", ["delta", "bootstrap(100)"])
@pytest.mark.parametrize("rule", ["unseen", "sampled(7)"])
def test_the_number_of_threads_does_not_change_a_byte(rule: str, interval: str) -> None:
    split = skewed_split(candidates=rule)
    models = {"m": real_factors(), "other": real_factors(1), "als": "als(factors=3)", "random": "random"}
    options = {"metrics": METRICS, "propensity": "popularity", "block_size": 16, "interval": interval, "ties": "random"}
    texts = {evaluate(models, split, threads=n, **options).to_json() for n in (1, 2, 4)}  # type: ignore[arg-type]
    assert len(texts) == 1


def test_blocks_do_not_matter_for_whole_scores() -> None:
    models = {"m": whole_scores(), "n": whole_scores(1)}
    one, other = (
        evaluate(models, skewed_split(), metrics=METRICS, block_size=b, propensity="popularity") for b in (7, 64)
    )
    assert values_of(one) == values_of(other)
    assert (one.run["block_size"], other.run["block_size"]) == (7, 64)


def test_users_and_dropped_users_and_items_are_counted() -> None:
    """A row in train is dropped; items that no model knows are misses; user 3 is unknown to one model, 4 to both."""
    train = Interactions.from_arrays([0, 1, 2, 3], [10, 11, 12, 10])
    test = Interactions.from_arrays([0, 1, 1, 2, 2, 3, 4], [11, 10, 99, 12, 98, 12, 10])
    model = MatrixScorer(np.zeros((3, 3)), user_ids=[0, 1, 2], item_ids=[10, 11, 12])
    report = evaluate(
        {"m": model, "als": "als(factors=2)"}, Split(train, test), metrics=["auc"], propensity="popularity"
    )
    for row in report.estimates:
        assert (row.users, row.dropped_users, row.dropped_items) == (4, 1, 1)
    assert report.run["judged"] == {"users": 4, "rows": 5, "rows_a_user": {"1": 3, "2": 1}}
    assert report.run["users"] == "any"


def test_smoothing_zero_drops_and_counts_items_never_seen_in_training() -> None:
    """For snips only: aoa needs no propensity. A user left without rows is dropped from both sums."""
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 1], n_users=3, n_items=4)
    test = Interactions.from_arrays([0, 0, 1], [1, 2, 3], n_users=3, n_items=4)
    scorer = MatrixScorer(np.tile([4.0, 3, 2, 1], (3, 1)))
    report = evaluate({"m": scorer}, Split(train, test), metrics=["recall@1"], propensity="popularity(smoothing=0)")
    naive, corrected = (report.estimate("m", "recall@1", e) for e in ("aoa(per=pair)", "snips"))
    assert (naive.users, naive.dropped_users, naive.dropped_items) == (2, 0, 0)
    assert (corrected.users, corrected.dropped_users, corrected.dropped_items) == (1, 1, 2)
    assert corrected.value == 1.0
    smoothed = evaluate({"m": scorer}, Split(train, test), metrics=["recall@1"], estimators=["snips"])
    assert smoothed.estimate("m", "recall@1", "snips").users == 2


@pytest.mark.parametrize(
    "word", [*METRICS, "recall(of=min)@5", "ndcg(ideal=all)@5", "precision(of=list)@5", "atop", "auc(literal)"]
)
@pytest.mark.parametrize("rule", ["unseen", "all"])
def test_a_constant_scorer_gets_chance_level(word: str, rule: str) -> None:
    """The mean over many random scorers without ties, within 4 standard errors."""
    split = skewed_split(candidates=rule)
    rng = np.random.default_rng(0)
    options = {"metrics": [word], "estimators": ["aoa"]}
    chance = evaluate({"m": MatrixScorer(np.zeros((USERS, ITEMS)))}, split, **options)  # type: ignore[arg-type]
    models = {f"r{k}": MatrixScorer(rng.permuted(np.tile(np.arange(ITEMS), (USERS, 1)), axis=1)) for k in range(60)}
    values = np.array([row.value for row in evaluate(models, split, **options).estimates], dtype=float)  # type: ignore[arg-type]
    constant = chance.value("m", word, "aoa")
    assert constant == pytest.approx(values.mean(), abs=4 * values.std(ddof=1) / np.sqrt(60) + 1e-12)


def test_chance_level_in_closed_form() -> None:
    """K / n for recall, 1/2 + 1/(2n) for auc, 1/2 for the auc of negatives."""
    split = skewed_split(candidates="all")
    metrics = ["recall@5", "auc", "auc(of=negatives)"]
    report = evaluate({"m": MatrixScorer(np.ones((USERS, ITEMS)))}, split, metrics=metrics, propensity="popularity")
    for estimator in ("aoa(per=pair)", "snips"):
        assert report.value("m", "recall@5", estimator) == pytest.approx(5 / ITEMS)
        assert report.value("m", "auc", estimator) == pytest.approx(0.5 + 0.5 / ITEMS)
    assert report.value("m", "auc(of=negatives)", "aoa") == pytest.approx(0.5)
    assert report.estimate("m", "auc", "snips").tied_share == 1.0


def test_an_other_candidate_rule_may_be_asked_for() -> None:
    split = skewed_split()
    asked = evaluate({"m": whole_scores()}, split, candidates="all", propensity="popularity")
    made = evaluate({"m": whole_scores()}, skewed_split(candidates="all"), propensity="popularity")
    assert asked.to_json() == made.to_json()


def test_estimates_are_the_formulas() -> None:
    """SNIPS over pairs and AOA over users, recomputed with loops from ranks and training counts."""
    split = skewed_split()
    options = {"estimators": ["aoa", "aoa(per=pair)", "snips"], "propensity": "popularity(gamma=1)"}
    report = evaluate({"m": whole_scores()}, split, metrics=["auc"], **options)  # type: ignore[arg-type]
    ranks = report.samples.judged.ranks["m"]
    counts = split.train.item_counts + 1
    weighted = weights = 0.0
    by_user: dict[int, list[float]] = {}
    for user, item, above, tied, n in zip(
        ranks.users, ranks.items, ranks.above, ranks.tied, ranks.candidates, strict=True
    ):
        gain = 1 - (above + tied / 2) / n
        weight = counts.max() / counts[item]
        weighted, weights = weighted + weight * gain, weights + weight
        by_user.setdefault(int(user), []).append(gain)
    assert report.value("m", "auc", "snips") == pytest.approx(weighted / weights, rel=1e-12)
    means = [sum(gains) / len(gains) for gains in by_user.values()]
    assert report.value("m", "auc", "aoa") == pytest.approx(sum(means) / len(means), rel=1e-12)
    rows = [gain for gains in by_user.values() for gain in gains]
    assert report.value("m", "auc", "aoa(per=pair)") == pytest.approx(sum(rows) / len(rows), rel=1e-12)


def test_diagnostics_are_the_formulas() -> None:
    split = skewed_split()
    report = evaluate({"m": whole_scores()}, split, metrics=["auc"], estimators=["snips", "snips(clip=0.5)"])
    ranks = report.samples.judged.ranks["m"]
    p = report.propensities.positives(ranks.users, ranks.items)
    plain, clipped = (report.estimate("m", "auc", e) for e in ("snips", "snips(clip=0.5)"))
    w = 1 / p
    assert plain.effective_rows == pytest.approx(w.sum() ** 2 / (w**2).sum())
    of_users = np.bincount(ranks.users, weights=w)
    assert plain.effective_sample_size == pytest.approx(w.sum() ** 2 / (of_users**2).sum())
    assert plain.max_weight_share == pytest.approx(w.max() / w.sum())
    assert plain.clipped_share == 0
    assert clipped.clipped_share == pytest.approx(np.mean(p < 0.5 * p.max()))
    assert (clipped.effective_rows or 0) > (plain.effective_rows or 0)
    assert plain.tied_share == pytest.approx(np.mean(ranks.tied > 0))


def test_one_user_has_null_errors_and_a_warning() -> None:
    split = skewed_split()
    alone = Split(split.train, split.test.take(split.test.users == split.test.users[0]))
    for interval in ("delta", "bootstrap(50)"):
        report = evaluate(
            {"m": whole_scores(), "n": whole_scores(1)}, alone, interval=interval, propensity="popularity"
        )
        for row in report.estimates:
            assert row.value is not None
            assert (row.std_error, row.low, row.high) == (None, None, None)
        for pair in report.comparisons:
            assert (pair.low, pair.high, pair.p_value, pair.p_value_holm) == (None, None, None, None)
        assert any("only one user is judged" in text for text in report.warnings)


def test_comparisons_are_of_every_pair_and_corrected_within_metric_and_estimator() -> None:
    models = {name: whole_scores(seed) for seed, name in enumerate("abc")}
    report = evaluate(models, skewed_split(), metrics=["auc", "recall@5"], estimators=["aoa", "snips"])
    assert len(report.comparisons) == 4 * 3
    for metric, estimator in itertools.product(["auc", "recall@5"], ["aoa", "snips"]):
        own = [c for c in report.comparisons if (c.metric, c.estimator) == (metric, estimator)]
        assert [(c.a, c.b) for c in own] == [("a", "b"), ("a", "c"), ("b", "c")]
        smallest = min(own, key=lambda c: c.p_value or 0)
        assert smallest.p_value_holm == pytest.approx(min(1, 3 * (smallest.p_value or 0)))
        for pair in own:
            values = [report.value(m, metric, estimator) for m in (pair.a, pair.b)]
            assert pair.difference == pytest.approx((values[0] or 0) - (values[1] or 0))


def test_the_same_model_twice_differs_by_nothing() -> None:
    report = evaluate({"a": whole_scores(), "b": whole_scores()}, skewed_split(), propensity="popularity")
    for pair in report.comparisons:
        assert (pair.difference, pair.low, pair.high, pair.p_value, pair.p_value_holm) == (0, 0, 0, 1, 1)


def test_every_metric_runs_under_every_tie_policy() -> None:
    words = []
    for member in MetricWord.members():
        word = str(member())
        words.append(word if member.takes_cutoff == "never" else f"{word}@4")
    for ties in ("expected", "optimistic", "pessimistic", "random", "ordinal"):
        model = replace(whole_scores(), ratings=True)
        report = evaluate({"m": model}, skewed_split(values=True), metrics=words, ties=ties, propensity="popularity")
        assert {row.metric for row in report.estimates} == set(words)
        for row in report.estimates:
            kind = parse_metric(row.metric).kind
            assert row.value is not None
            # errors of ratings from 1 to 5 predicted as 0 to 4, and a rating of 5 at the top of 25 candidates
            assert 0 <= row.value <= {"sum": 10, "loss": 25, "graded": 125, "content": 100}.get(kind, 1), row
            drawn = kind == "content" and ties != "ordinal"
            assert (f"ties {ties}" in row.definition) == (kind != "loss" and not drawn)


def test_optimistic_is_above_expected_is_above_pessimistic() -> None:
    values = {}
    for ties in ("optimistic", "expected", "pessimistic"):
        report = evaluate({"m": whole_scores(top=3)}, skewed_split(), metrics=METRICS, estimators=["aoa"], ties=ties)
        values[ties] = np.array([row.value for row in report.estimates])
    assert (values["optimistic"] >= values["expected"]).all()
    assert (values["expected"] >= values["pessimistic"]).all()


def test_the_example_of_the_readme_works_with_ids(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "train.csv").write_text("user,item\nann,tea\nann,jam\nbob,tea\ncat,jam\ncat,tea\n")
    (tmp_path / "test.csv").write_text("user,item\nann,nut\nbob,jam\ncat,nut\ndan,tea\n")
    split = Split(Interactions.read(tmp_path / "train.csv"), Interactions.read(tmp_path / "test.csv"))
    model = FactorScorer(
        rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), user_ids=["cat", "bob", "ann"], item_ids=["jam", "nut", "tea"]
    )
    report = evaluate(
        {"mf": model},
        split,
        metrics=["recall@10", "adg@10", "auc"],
        estimators=["aoa", "snips"],
        propensity="popularity(gamma=0.5)",
        threads=2,
        seed=0,
    )
    assert "mf" in str(report)
    assert report.to_dict()["run"]["propensity"] == "popularity(gamma=0.5)"
    assert len(report.to_polars()) == len(report.to_pandas()) == 6
    assert report.estimate("mf", "auc", "aoa").users == 3
    assert report.estimate("mf", "auc", "aoa").dropped_users == 1
    assert report.value("mf", "recall@10", "snips") == 1


def test_progress_is_told_by_stage() -> None:
    told: list[tuple[str, int, int]] = []
    evaluate(
        {"m": whole_scores(), "p": "popular"},
        skewed_split(),
        progress=lambda *step: told.append(step),
        propensity="popularity",
    )
    assert {stage for stage, _, _ in told} == {"ranking m", "ranking p", "training p"}
    assert told[-1][1] == told[-1][2]


def test_the_split_given_is_not_changed() -> None:
    split = skewed_split()
    before = replace(split).train.sha256, split.test.sha256, str(split.rule)
    evaluate({"m": whole_scores()}, split, candidates="all", positive=None, propensity="popularity")
    assert (split.train.sha256, split.test.sha256, str(split.rule)) == before
