"""Report: exactly the promised JSON, tables and frames; names are shown, never run."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.errors import ConfigError, DataError
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.long_tail import skewed_split, whole_scores

Number = (int, float)
ESTIMATE = {
    "model": str,
    "metric": str,
    "definition": str,
    "estimator": str,
    "target": str,
    "value": float,
    "std_error": float,
    "low": float,
    "high": float,
    "level": float,
    "assumed_low": float,
    "assumed_high": float,
    "users": int,
    "dropped_users": int,
    "dropped_items": int,
    "effective_sample_size": float,
    "effective_rows": float,
    "max_weight_share": float,
    "clipped_share": float,
    "tied_share": float,
}
COMPARISON = {
    "metric": str,
    "estimator": str,
    "a": str,
    "b": str,
    "difference": float,
    "low": float,
    "high": float,
    "p_value": float,
    "p_value_holm": float,
}
NULLABLE = {
    "value",
    "std_error",
    "low",
    "high",
    "assumed_low",
    "assumed_high",
    "effective_sample_size",
    "effective_rows",
    "max_weight_share",
    "difference",
    "p_value",
    "p_value_holm",
}


def some_report(**options: object) -> Report:
    models = {"a": whole_scores(), "b": whole_scores(1)}
    options = {"metrics": ["recall@5", "auc", "ndcg@5"], "propensity": "popularity", **options}
    return evaluate(models, skewed_split(), **options)  # type: ignore[arg-type]


def strict(text: str) -> dict[str, list[dict[str, object]]]:
    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    read: dict[str, list[dict[str, object]]] = json.loads(text, parse_constant=refuse)
    return read


@pytest.mark.usefixtures("passed_check")
@pytest.mark.parametrize(("propensity", "band"), [(None, "methods"), ("popularity", "sensitivity")])
@pytest.mark.parametrize("interval", ["delta", "bootstrap(50)"])
def test_the_json_has_exactly_the_keys_and_types_of_the_design(
    interval: str, propensity: str | None, band: str
) -> None:
    read = strict(some_report(interval=interval, propensity=propensity).to_json())
    assert list(read) == ["unskew", "run", "estimates", "verdict", "comparisons", "baselines", band, "warnings"]
    assert isinstance(read["unskew"], str)
    assert all(isinstance(text, str) for text in read["warnings"])
    for rows, shape in ((read["estimates"], ESTIMATE), (read["comparisons"], COMPARISON)):
        assert rows
        for row in rows:
            corrected = row["estimator"] == "snips" or shape is COMPARISON
            absent = set() if corrected else {"assumed_low", "assumed_high"}  # a naive number assumes nothing
            assert {key: type(value) for key, value in row.items() if key not in absent} == {
                key: kind for key, kind in shape.items() if key not in absent
            }
            assert all(row[key] is None for key in absent)
            assert list(row) == list(shape)
    verdict: dict[str, object] = read["verdict"]  # type: ignore[assignment]
    assert list(verdict) == ["sentence", "summary", "metrics"]
    for answer in verdict["metrics"]:  # type: ignore[attr-defined]
        assert list(answer)[:4] == ["metric", "estimator", "may_be_best", "naive_estimator"]
        assert {"naive_may_be_best", "robust", "flip_gamma", "holds_over"} < set(answer)


def test_what_is_undefined_is_null_and_the_json_stays_strict() -> None:
    split = skewed_split()
    one = Split(split.train, split.test.take(split.test.users == split.test.users[0]))
    read = strict(evaluate({"a": whole_scores(), "b": whole_scores(1)}, one, propensity="popularity").to_json())
    for rows, shape in ((read["estimates"], ESTIMATE), (read["comparisons"], COMPARISON)):
        for row in rows:
            assert list(row) == list(shape)
            for key, value in row.items():
                assert type(value) is shape[key] or (value is None and key in NULLABLE), key
    assert read["estimates"][0]["std_error"] is None


def test_a_metric_defined_for_no_user_is_null() -> None:
    """Every candidate is a positive, so the auc of negatives has no pair to compare."""
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=2)
    test = Interactions.from_arrays([0, 1], [1, 1], n_users=2, n_items=2)
    model = {"m": MatrixScorer(np.zeros((2, 2)))}
    for interval in ("delta", "bootstrap(50)"):
        report = evaluate(
            model, Split(train, test), metrics=["auc(of=negatives)"], interval=interval, propensity="popularity"
        )
        row = report.estimate("m", "auc(of=negatives)", "aoa")
        assert (row.value, row.std_error, row.low, row.users, row.dropped_users) == (None, None, None, 0, 2)
        strict(report.to_json())
        assert "undefined" in str(report)


def test_comparisons_are_there_and_empty_for_one_model() -> None:
    read = strict(evaluate({"a": whole_scores()}, skewed_split(), propensity="popularity").to_json())
    assert read["comparisons"] == []


def test_the_run_says_all_that_decides_the_numbers_and_nothing_else() -> None:
    run = some_report(seed=3, threads=2).run
    decides = "data split models metrics estimators propensity candidates ties unlisted positive relevant_counts level"
    assert set(f"{decides} interval seed block_size judged versions".split()) <= set(run)
    assert not {"threads", "engine", "path", "time", "date", "seconds"} & set(run)
    assert run["seed"] == 3
    assert run["models"] == {"a": "MatrixScorer", "b": "MatrixScorer"}
    assert set(run["data"]) == {"train", "test"}
    assert all(len(part["sha256"]) == 64 for part in run["data"].values())


def test_the_run_tells_other_data_apart() -> None:
    one, other = (
        evaluate({"a": whole_scores()}, skewed_split(seed), propensity="popularity").run["data"] for seed in (0, 1)
    )
    assert one["train"]["sha256"] != other["train"]["sha256"]
    assert one["test"]["sha256"] != other["test"]["sha256"]


def test_the_definition_travels_with_the_number() -> None:
    row = some_report().estimate("a", "recall@5", "snips")
    assert row.definition == "hits / all relevant; ties expected; unseen"
    assert row.target == "relevant pairs"


def test_intervals_hold_their_value() -> None:
    for row in some_report().estimates:
        assert row.low is not None
        assert row.high is not None
        assert row.value is not None
        assert row.low <= row.value <= row.high


def test_a_higher_level_gives_a_wider_interval() -> None:
    for interval in ("delta", "bootstrap(200)"):
        narrow, wide = (some_report(level=level, interval=interval).estimates for level in (0.8, 0.99))
        for one, other in zip(narrow, wide, strict=True):
            assert (other.low or 0) < (one.low or 0)
            assert (one.high or 0) < (other.high or 0)


def test_the_interval_does_not_depend_on_the_other_metrics_asked_for() -> None:
    models = {"a": whole_scores(), "b": whole_scores(1)}
    alone = evaluate(models, skewed_split(), metrics=["auc"], interval="bootstrap(100)", propensity="popularity")
    row, other = (report.estimate("a", "auc", "snips") for report in (alone, some_report(interval="bootstrap(100)")))
    assert (row.low, row.high) == pytest.approx((other.low, other.high), rel=1e-12)


def test_frames_have_a_row_an_estimate() -> None:
    report = some_report()
    polars, pandas = report.to_polars(), report.to_pandas()
    assert polars.columns == list(pandas.columns) == list(ESTIMATE)
    assert polars["value"].to_list() == pandas["value"].tolist() == [row.value for row in report.estimates]


def test_frames_hold_nulls_where_nothing_is_defined() -> None:
    split = skewed_split()
    one = Split(split.train, split.test.take(split.test.users == split.test.users[0]))
    report = evaluate({"a": whole_scores()}, one, propensity="popularity")
    assert report.to_polars()["std_error"].null_count() == len(report.estimates)
    assert all(value is None or math.isnan(value) for value in report.to_pandas()["std_error"])


def test_estimates_are_found_by_words_and_the_nearest_is_suggested() -> None:
    report = some_report()
    assert report.value("a", "auc", "snips") == report.estimate("a", "auc", "snips").value
    with pytest.raises(ConfigError, match="did you mean 'a auc snips'"):
        report.value("a", "auk", "snips")


NASTY = '<script>alert(1)</script> & "quotes" [bold]x[/bold]'


def test_the_notebook_table_escapes_names() -> None:
    report = evaluate({NASTY: whole_scores(top=1)}, skewed_split(), propensity="popularity")
    page = report._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in page
    assert any(NASTY in text for text in report.warnings)
    assert report.baselines is not None
    assert page.count("<tr>") == 1 + len(report.estimates) + len(report.baselines.estimates)


def test_the_printed_table_shows_names_as_they_are() -> None:
    text = str(evaluate({NASTY: whole_scores(), "b": whole_scores(1)}, skewed_split(), propensity="popularity"))
    assert "[bold]x[/bold]" in text.replace("\n", "").replace(" ", "") or "[bold]" in text
    assert "\x1b" not in text


def test_the_printed_table_holds_values_targets_and_warnings() -> None:
    report = some_report()
    text = str(report)
    for row in report.estimates:
        assert f"{row.value:.4f}" in text
    assert "relevant pairs" in text
    assert all(warning in text for warning in report.warnings)
    assert repr(report) == f"Report(2 models, {len(report.estimates)} estimates, {len(report.warnings)} warnings)"


def test_the_json_file_is_the_text_and_is_whole_or_not_there(tmp_path: Path) -> None:
    report = some_report()
    text = report.to_json(tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text(encoding="utf-8") == text == report.to_json()
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    with pytest.raises(DataError, match="does not exist; create it first"):
        report.to_json(tmp_path / "no" / "r.json")


def test_names_in_any_script_are_written_as_they_are(tmp_path: Path) -> None:
    report = evaluate({"modèle 模型": whole_scores()}, skewed_split(), propensity="popularity")
    report.to_json(tmp_path / "r.json")
    assert "modèle 模型" in (tmp_path / "r.json").read_text(encoding="utf-8")


def test_the_same_run_gives_the_same_bytes() -> None:
    assert some_report(interval="bootstrap(50)").to_json() == some_report(interval="bootstrap(50)").to_json()


def test_the_seed_decides_the_draws_of_the_bootstrap() -> None:
    one, other = (some_report(interval="bootstrap(50)", seed=seed).estimates for seed in (0, 1))
    assert [row.value for row in one] == [row.value for row in other]
    assert all(a.low != b.low for a, b in zip(one, other, strict=True))
