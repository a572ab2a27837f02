"""The band over methods: its points, the envelope, and a verdict that depends on the method."""

from functools import cache

import numpy as np
import pytest
from selected_logs import ITEMS, USERS, SelectedLog

from unskew import Report, evaluate
from unskew.evaluation.estimating.method_band import MethodBand, MethodPoint, largest
from unskew.metrics import parse_metric
from unskew.ranking import MatrixScorer

METHODS = ("popularity", "exposure", "dm", "blend")


@cache
def log() -> SelectedLog:
    return SelectedLog.of()


@cache
def report() -> Report:
    return run(estimators=["blend", "aoa"])


def run(**options: object) -> Report:
    given = {"metrics": ["adg", "auc", "dcg@5", "ndcg@5"], "positive": "rating>=1", **options}
    return evaluate(log().models, log().split(), **given)  # type: ignore[arg-type]


def point(of: Report, metric: str, method: str, model: str) -> dict[str, float]:
    (row,) = [p for p in of.to_dict()["methods"] if (p["metric"], p["method"], p["model"]) == (metric, method, model)]
    return {key: row[key] for key in ("value", "low", "high")}


def numbers(of: Report, metric: str, estimator: str, model: str) -> dict[str, float | None]:
    (row,) = [e for e in of.estimates if (e.metric, e.estimator, e.model) == (metric, estimator, model)]
    return {"value": row.value, "low": row.low, "high": row.high}


@pytest.mark.parametrize("model", ["taste", "popular", "level"])
@pytest.mark.parametrize("metric", ["adg", "auc"])
def test_the_points_are_those_of_runs_by_each_method(metric: str, model: str) -> None:
    for method, options in (
        ("popularity", {"estimators": ["snips"], "propensity": "popularity"}),
        ("exposure", {"estimators": ["snips"], "propensity": "exposure"}),
        ("dm", {"estimators": ["dm"]}),
        ("blend", {"estimators": ["blend"]}),
    ):
        word = {"popularity": "snips", "exposure": "snips"}.get(method, method)
        other = run(metrics=[metric], **options)
        assert point(report(), metric, method, model) == pytest.approx(numbers(other, metric, word, model), rel=1e-9)


@pytest.mark.parametrize("model", ["taste", "popular", "level"])
def test_a_sum_by_weights_is_its_mean_times_the_relevant_items_per_user(model: str) -> None:
    """That number is what the sum by imputation is of the mean by imputation."""
    both = run(metrics=["dcg", "adg"], estimators=["blend"])
    ratios = [point(both, "dcg", each, model)["value"] / point(both, "adg", each, model)["value"] for each in METHODS]
    np.testing.assert_allclose(ratios, ratios[2])
    assert point(both, "dcg", "blend", model) == pytest.approx(numbers(both, "dcg", "blend", model), rel=1e-9)


@pytest.mark.parametrize(
    ("word", "limit"),
    [("precision@10", 1), ("dcg@2", 1 + 1 / np.log2(3)), ("precision(of=list)@3", 1), ("auc", np.inf)],
)
def test_no_sum_exceeds_the_gains_of_all_places(word: str, limit: float) -> None:
    assert largest(parse_metric(word), 50) == pytest.approx(limit)


def test_lists_have_no_band() -> None:
    assert {row["metric"] for row in report().to_dict()["methods"]} == {"adg", "auc", "dcg@5"}
    assert tuple(dict.fromkeys(row["method"] for row in report().to_dict()["methods"])) == METHODS


def test_the_envelope_holds_all_intervals_and_only_of_what_rests_on_a_method() -> None:
    for row in report().estimates:
        if row.estimator == "blend" and row.metric != "ndcg@5":
            points = [point(report(), row.metric, method, row.model) for method in METHODS]
            assert row.assumed_low == min(p["low"] for p in points)
            assert row.assumed_high == max(p["high"] for p in points)
        else:
            assert (row.assumed_low, row.assumed_high) == (None, None)


def test_snips_by_exposure_has_a_band_without_imputation() -> None:
    weighted = run(metrics=["adg"], estimators=["snips"], propensity="exposure")
    band = weighted.estimated.methods
    assert band is not None
    assert band.methods == ("popularity", "exposure")


@pytest.mark.parametrize(
    "options",
    [
        {"estimators": ["snips"], "propensity": "popularity"},
        {"estimators": ["aoa(per=pair)"]},
        {"estimators": ["snips(per=user)"], "propensity": "exposure"},
    ],
)
def test_other_estimates_have_no_band(options: dict[str, object]) -> None:
    plain = run(metrics=["adg"], **options)
    assert plain.estimated.methods is None
    assert "methods" not in plain.to_dict()


def disagreeing() -> Report:
    """A model of popularity that is first by the weighted log, and another that is first by imputation.

    Rows are observed by relevance itself, so taste is first by weights; the other model orders by the true quality,
    which imputation prefers.
    """
    world = log()
    q = report().propensities.relevance.chances["labels"].block(np.arange(USERS), np.arange(ITEMS)).astype(float)
    held_out = (world.in_test & world.drawn.relevant).astype(float)
    noise = np.random.default_rng(0).random((USERS, ITEMS))
    models = {"imputed": MatrixScorer(q), "weighted": MatrixScorer(held_out + noise / 10)}
    return evaluate(models, world.split(), metrics=["adg"], estimators=["blend"], positive="rating>=1")


def test_the_verdict_depends_where_methods_disagree() -> None:
    drawn = disagreeing()
    (answer,) = drawn.answers
    firsts = dict(answer.by_method)
    assert firsts["dm"] == ("imputed",)
    assert firsts["exposure"] == firsts["popularity"] == ("weighted",)
    assert answer.kind == "depends"
    assert answer.robust is False
    (record,) = drawn.to_dict()["verdict"]["metrics"]
    assert record["answer"] == "depends"
    assert record["by_method"]["dm"] == ["imputed"]
    texts = [text for finding in drawn.verdict.findings for text in finding.sentences]
    (text,) = [text for text in texts if text.startswith("Which model is first depends on the method")]
    assert "“imputed” by dm" in text
    assert text.endswith("A slice of random rows would decide.")


def test_the_verdict_says_where_methods_agree() -> None:
    logits = log().drawn.relevance_logit.astype(float)
    models = {"good": MatrixScorer(logits), "bad": MatrixScorer(-logits)}
    drawn = evaluate(models, log().split(), metrics=["adg"], estimators=["blend"], positive="rating>=1")
    (answer,) = drawn.answers
    assert {first for _, first in answer.by_method} == {("good",)}
    assert (answer.kind, answer.robust) == ("best", True)
    texts = [text for finding in drawn.verdict.findings for text in finding.sentences]
    assert [text for text in texts if text.startswith("“good” is first by every method: popular")]


def test_the_doubts_say_that_nothing_checks_it() -> None:
    assert [text for text in report().verdict.doubts if "without random rows nothing can check it" in text]


def test_a_model_that_the_chances_resemble_is_warned_of() -> None:
    drawn = disagreeing()
    (text,) = [text for text in drawn.warnings if "much like model 'imputed'" in text]
    assert "dm and blend favour it" in text
    assert not [text for text in drawn.warnings if "much like model 'weighted'" in text]


def band(*values: tuple[str, str, float | None]) -> MethodBand:
    points = tuple(MethodPoint("adg", method, model, value, value, value) for method, model, value in values)
    return MethodBand(points, frozenset({"blend"}))


def test_the_first_models_are_all_that_are_equal() -> None:
    some = band(("dm", "a", 0.5), ("dm", "b", 0.5), ("blend", "a", 0.4), ("blend", "b", None))
    assert some.firsts("adg", lower=False) == (("dm", ("a", "b")), ("blend", ("a",)))
    assert some.firsts("auc", lower=False) == ()
    assert band(("dm", "a", 0.5), ("dm", "b", 0.7)).firsts("adg", lower=True) == (("dm", ("a",)),)


def test_an_estimate_without_all_points_is_not_widened() -> None:
    row = next(e for e in report().estimates if e.estimator == "blend" and e.metric == "adg")
    lacking = band(("dm", row.model, None), ("blend", row.model, 0.4))
    assert lacking.widen(row) is row
