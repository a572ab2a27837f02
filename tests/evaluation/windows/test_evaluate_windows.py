"""One report over several test windows."""

import csv
import io
import json
import re

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate, evaluate_windows
from unskew.data import rolling
from unskew.errors import ConfigError, DataError
from unskew.evaluation.windows.averaging import average_windows
from unskew.ranking import MatrixScorer

WORDS = {"metrics": ["recall@3"], "estimators": ["aoa"]}


def log(rows: int = 900, users: int = 40, items: int = 30) -> Interactions:
    rng = np.random.default_rng(0)
    popular = 1 / np.arange(1, items + 1)
    return Interactions.from_arrays(
        rng.integers(0, users, rows), rng.choice(items, rows, p=popular / popular.sum()), times=np.arange(rows)
    )


@pytest.fixture(scope="module")
def windows() -> tuple[Split, ...]:
    return rolling(log(), 4, 60)


def test_the_mean_over_windows_is_that_of_single_evaluations(windows):
    report = evaluate_windows({"popular": "popular"}, windows, **WORDS)
    alone = [evaluate({"popular": "popular"}, split, **WORDS).value("popular", "recall@3", "aoa") for split in windows]
    row = report.estimate("popular", "recall@3", "aoa")
    assert list(row.values) == alone
    assert row.value == pytest.approx(np.mean(alone))
    assert list(report.reports) == ["window-1", "window-2", "window-3", "window-4"]


def test_errors_by_a_plain_loop_over_users(windows):
    """Users of several windows are joined by id, and the two errors add up."""
    report = evaluate_windows({"popular": "popular"}, windows, **WORDS)
    influence: dict[object, float] = {}
    within = []
    for each in report.reports.values():
        sample, split = each.samples.judged, each.inputs.split
        gains = sample.gains("popular", each.settings.metrics[0])
        means = np.array([gains[sample.user == k].mean() for k in range(len(sample.users))])
        m = len(means)
        parts = (means - means.mean()) / m * np.sqrt(m / (m - 1))
        within.append(np.sum(parts**2))
        for code, part in zip(sample.users, parts, strict=True):
            name = split.user_vocabulary.ids[code]
            influence[name] = influence.get(name, 0.0) + part / len(windows)
    users = sum(part**2 for part in influence.values())
    row = report.estimates[0]
    n = len(windows)
    shared = (n * users - np.mean(within)) / (n - 1)
    whole = max(users, np.var(row.values, ddof=1) / n + shared)
    assert row.users_error == pytest.approx(np.sqrt(users))
    assert row.std_error == pytest.approx(np.sqrt(whole))


def test_windows_with_other_vocabularies_join_users_by_id(windows):
    def read_again(part: Interactions) -> Interactions:
        return Interactions.from_frame(part.to_polars())

    again = [Split(read_again(split.train), read_again(split.test)) for split in windows]
    first, second = (evaluate_windows({"popular": "popular"}, each, **WORDS).estimates[0] for each in (windows, again))
    assert first.users_error == pytest.approx(second.users_error)
    assert first.values == second.values


def test_models_that_change_places_are_reported():
    """In the first two windows one model ranks every test item first, in the last two the other."""
    users, items = 30, 4
    train = Interactions.from_arrays(np.arange(users), [0] * users, n_users=users, n_items=items)
    tests = [
        Interactions.from_arrays(np.arange(users), [k] * users, n_users=users, n_items=items) for k in (1, 1, 2, 2)
    ]
    models = {name: MatrixScorer(np.tile(np.eye(items)[k], (users, 1))) for name, k in (("early", 1), ("late", 2))}
    splits = [Split(train, test) for test in tests]
    report = evaluate_windows(models, splits, metrics=["recall@1"], estimators=["aoa"])
    (pair,), (order,) = report.comparisons, report.orders
    assert pair.differences == (1.0, 1.0, -1.0, -1.0)
    assert (pair.better, pair.turns, pair.turn_shown) == (2, True, True)
    assert order.first == {"early": 2, "late": 2}
    assert order.turns
    assert pair.difference == 0
    assert report.sentences[0].startswith("recall@1 by aoa: the best model turns over 4 windows")
    assert "change places" in report.sentences[0]


def test_lower_is_better_for_losses():
    rng = np.random.default_rng(0)
    splits = []
    for _ in range(3):
        users, items = np.divmod(rng.permutation(200), 10)
        values = rng.integers(1, 6, 200).astype(float)
        parts = [
            Interactions.from_arrays(users[k], items[k], values[k], n_users=20, n_items=10)
            for k in (slice(0, 120), slice(120, 200))
        ]
        splits.append(Split(*parts))
    models = {
        name: MatrixScorer(np.full((20, 10), level), ratings=True) for name, level in (("low", 0.0), ("mid", 3.0))
    }
    report = evaluate_windows(models, splits, metrics=["mae"], estimators=["aoa"])
    assert report.orders[0].over_all == ("mid", "low")
    assert report.comparisons[0].better == 0  # low is never better


def test_models_of_each_window_are_given_as_a_list_or_by_a_function(windows):
    direct = evaluate_windows({"popular": "popular"}, windows, **WORDS).estimates
    listed = evaluate_windows([{"popular": "popular"}] * 4, windows, **WORDS).estimates
    made = evaluate_windows(lambda split: {"popular": "popular"}, windows, **WORDS).estimates
    assert direct == listed == made


def test_windows_may_have_names_and_come_one_at_a_time(windows):
    named = {"june": windows[0], "july": windows[1]}
    assert list(evaluate_windows({"popular": "popular"}, named, **WORDS).reports) == ["june", "july"]
    assert list(evaluate_windows({"popular": "popular"}, iter(named.items()), **WORDS).reports) == ["june", "july"]
    assert len(evaluate_windows({"popular": "popular"}, iter(windows), **WORDS).reports) == 4


def test_without_words_every_window_has_the_same_estimators(windows):
    report = evaluate_windows({"popular": "popular"}, windows, metrics=["recall@3", "ndcg@3"])
    words = [(row.metric, row.estimator) for row in report.estimates]
    assert words == [("recall@3", "aoa(per=pair)"), ("recall@3", "snips"), ("ndcg@3", "aoa")]


def test_one_window_has_no_error_over_windows_and_says_so(windows):
    report = evaluate_windows({"popular": "popular"}, windows[:1], **WORDS)
    row = report.estimates[0]
    single = report.reports["window-1"].estimates[0]
    assert (row.value, row.windows_error) == (single.value, None)
    assert row.std_error == pytest.approx(single.std_error)
    assert "with 1 windows the error over windows is hardly known" in report.warnings[0]


def test_text_json_and_page_have_the_numbers(windows):
    report = evaluate_windows({"popular": "popular", "random": "random"}, windows, **WORDS)
    value = report.estimates[0].value
    assert f"{value:.4f}" in str(report)
    record = json.loads(report.to_json())
    assert record["estimates"][0]["value"] == value
    assert [each["window"] for each in record["windows"]] == list(report.reports)
    assert record["windows"][0]["report"]["run"]["split"] == windows[0].origin
    page = report.to_html()
    assert f"{value:.4f}" in page
    assert page == report.to_html()
    assert "<svg" in page
    assert len(report.to_polars()) == 8
    assert "window-4" in report._repr_html_()


def test_baselines_have_their_means_below_the_models(windows):
    report = evaluate_windows({"als": "als(factors=2)"}, windows, **WORDS)
    assert {row.model for row in report.baselines} == {"popular", "random"}
    row = report.baselines[0]
    values = [each.baselines.estimates[0].value for each in report.reports.values()]
    assert list(row.values) == values
    assert row.value == pytest.approx(np.mean(values))
    assert row.windows_error == pytest.approx(np.std(values, ddof=1) / len(values) ** 0.5)
    lines = [line for line in str(report).splitlines() if "popular (baseline)" in line]
    assert len(lines) == 2  # the means and the windows
    assert json.loads(report.to_json())["baselines"][0]["value"] == row.value
    assert {row.model for row in report.estimates} == {"als"}
    without = evaluate_windows({"als": "als(factors=2)"}, windows, baselines=False, **WORDS)
    assert without.baselines == ()
    assert "(baseline)" not in str(without)


def test_many_windows_are_rows_of_the_table():
    report = evaluate_windows({"popular": "popular"}, rolling(log(), 10, 40), **WORDS)
    assert "window-10" in str(report)
    assert next(iter(report.reports)) == "window-01"


def test_a_name_in_the_data_is_escaped(windows):
    page = evaluate_windows({"<b>x": "popular", "y": "random"}, windows, **WORDS).to_html()
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page


@pytest.mark.parametrize(
    "models, says",
    [([{"a": "popular"}] * 3, "3 mappings"), ([{"a": "popular"}] * 5, "5 mappings"), (3, "not int")],
)
def test_models_that_do_not_fit_are_refused(windows, models, says):
    with pytest.raises((ConfigError, DataError), match=says):
        evaluate_windows(models, windows, **WORDS)


def test_what_is_not_several_splits_is_refused(windows):
    with pytest.raises(DataError, match="got one"):
        evaluate_windows({"popular": "popular"}, windows[0], **WORDS)
    with pytest.raises(DataError, match="no windows"):
        evaluate_windows({"popular": "popular"}, [], **WORDS)
    with pytest.raises(ConfigError, match="for one split"):
        evaluate_windows({"popular": "popular"}, windows, until="decided")


def test_windows_with_other_models_are_refused(windows):
    reports = {name: evaluate({name: "popular"}, split, **WORDS) for name, split in zip("ab", windows[:2], strict=True)}
    with pytest.raises(ConfigError, match="do not have the same estimates"):
        average_windows(reports)


def test_an_unknown_estimate_is_named(windows):
    report = evaluate_windows({"popular": "popular"}, windows[:1], **WORDS)
    with pytest.raises(ConfigError, match="did you mean 'popular recall@3 aoa'"):
        report.estimate("popular", "recall@3", "snips")


@pytest.fixture(scope="module")
def pair(windows):
    return evaluate_windows({"popular": "popular", "=a|b_c": "random"}, windows, **WORDS)


def test_a_report_over_windows_is_written_in_all_forms_of_a_report(pair, tmp_path):
    for to, name in ((pair.to_markdown, "w.md"), (pair.to_latex, "w.tex"), (pair.to_csv, "w.csv")):
        text = to(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text == to()


def test_the_csv_of_windows_has_the_means_and_each_window(pair):
    rows = list(csv.DictReader(io.StringIO(pair.to_csv())))
    assert [row["model"] for row in rows] == ["popular", "'=a|b_c"]
    for row, estimate in zip(rows, pair.estimates, strict=True):
        assert float(row["value"]) == estimate.value
        for name, value, users in zip(pair.reports, estimate.values, estimate.users, strict=True):
            assert (float(row[f"value {name}"]), int(row[f"users {name}"])) == (value, users)


def test_markdown_and_latex_of_windows_have_the_tables_and_escape_names(pair):
    markdown, latex = pair.to_markdown(), pair.to_latex()
    shown = f"{pair.estimates[1].value:.4f}"
    assert markdown.startswith("**recall@3 by aoa")
    lines = [line for line in markdown.splitlines() if r"| =a\|b\_c |" in line]
    assert len(lines) == 2  # the means and the windows
    assert all(shown in line for line in lines[:1])
    assert markdown.count(" test rows after ") == 4  # the spans
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 3
    assert rf"=a\textbar{{}}b\_c & {shown}" in latex


def test_a_notebook_shows_the_verdict_and_the_chart_of_the_windows(pair, windows):
    shown = pair._repr_html_()
    assert shown.startswith("<p><strong>recall@3 by aoa")
    assert "<img" in shown
    assert re.findall("<caption>(.*?)</caption>", shown) == [
        "Means over 4 windows",
        "Differences, paired by user and window",
        "By window",
    ]
    alone = evaluate_windows({"popular": "popular"}, windows[:2], **WORDS)
    assert alone._repr_html_().startswith("<p><strong>One model over 2 windows</strong>")
