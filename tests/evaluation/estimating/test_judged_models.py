"""Models that were trained several times are one model each, wherever a decision is made."""

import json

import numpy as np
import pytest
from selected_logs import SelectedLog

from unskew import Interactions, Split, evaluate
from unskew.errors import ConfigError
from unskew.evaluation.showing.text import as_text
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.exposed_worlds import POOLED, exposed_world

WORDS = {"metrics": ["recall@3", "auc"], "estimators": ["snips", "aoa"]}
USERS, ITEMS = 60, 12
NAMES = [f"{model}/seed{k}" for model in "abcd" for k in range(3)]


def world():
    rng = np.random.default_rng(0)
    chance = np.linspace(0.1, 0.6, ITEMS)
    seen = rng.random((USERS, ITEMS)) < chance
    held = ~seen & (rng.random((USERS, ITEMS)) < 0.4)
    train, test = (Interactions.from_arrays(*np.nonzero(part), n_users=USERS, n_items=ITEMS) for part in (seen, held))
    return Split(train, test), held


def report_of(names, strength=0.05, **words):
    """Later names are better; every name has its own noise."""
    split, held = world()
    rng = np.random.default_rng(1)
    scores = {name: rng.random((USERS, ITEMS)) for name in names}
    groups = list(dict.fromkeys(name.split("/")[0] for name in names))
    models = {
        name: MatrixScorer(each + strength * groups.index(name.split("/")[0]) * held) for name, each in scores.items()
    }
    return evaluate(models, split, **{**WORDS, **words})


@pytest.fixture(scope="module")
def report():
    return report_of([*NAMES, "ease"])


def row_of(rows, model, metric="recall@3", estimator="snips"):
    return next(row for row in rows if (row.model, row.metric, row.estimator) == (model, metric, estimator))


def test_thirteen_entries_are_five_models(report):
    assert list(report.judged.members) == ["a", "b", "c", "d", "ease"]
    assert len(report.estimates) == 4 * 13
    assert len(report.judged.estimates) == 4 * 5
    assert len(report.judged.comparisons) == 4 * 10
    assert repr(report).startswith("Report(5 models")


def test_the_mean_over_seeds_by_a_plain_loop(report):
    row = row_of(report.seeds.estimates, "b", estimator="aoa")
    values = [report.value(name, "recall@3", "aoa") for name in row.members]
    assert row.members == ("b/seed0", "b/seed1", "b/seed2")
    assert list(row.values) == values
    assert row.value == pytest.approx(np.mean(values))
    assert row.spread == pytest.approx(np.std(values, ddof=1))
    sample, metric = report.samples.judged, report.settings.metrics[0]
    means = np.stack([np.bincount(sample.user, sample.gains(name, metric)) for name in row.members])
    means = means / np.bincount(sample.user)
    m = means.shape[1]
    psi = (means - means.mean(axis=1, keepdims=True)) / m * np.sqrt(m / (m - 1))
    covariance = psi @ psi.T
    users, shared = covariance.sum() / 9, (covariance.sum() - np.trace(covariance)) / 6
    spread = np.var(values, ddof=1) / 3
    assert row.users_error == pytest.approx(np.sqrt(users))
    assert row.std_error == pytest.approx(np.sqrt(max(users, shared + spread)))
    assert row.seeds_error == pytest.approx(np.sqrt(max(0.0, shared + spread - users)), abs=1e-9)
    half = np.sqrt(max(1.959964**2 * users, 1.959964**2 * max(shared, 0) + 4.302653**2 * spread))  # t, 2 degrees
    assert (row.low, row.high) == pytest.approx((row.value - half, row.value + half), rel=1e-5)


def test_a_model_alone_keeps_its_numbers(report):
    for metric in WORDS["metrics"]:
        own, judged = report.estimate("ease", metric, "snips"), row_of(report.judged.estimates, "ease", metric)
        assert {**own.to_dict()} == {key: judged.to_dict()[key] for key in own.to_dict()}
        assert (judged.users_error, judged.seeds_error, judged.spread) == (own.std_error, None, None)


def test_equal_seeds_are_the_same_as_one_entry():
    split, _ = world()
    scores = np.random.default_rng(5).random((2, USERS, ITEMS))
    names = {"a/seed0": 0, "a/seed1": 0, "a/seed2": 0, "b": 0, "c": 1}
    report = evaluate({name: MatrixScorer(scores[k]) for name, k in names.items()}, split, **WORDS)
    a, b = (row_of(report.judged.estimates, name) for name in "ab")
    same = ("value", "std_error", "low", "high", "assumed_low", "assumed_high")
    assert [getattr(a, name) for name in same] == pytest.approx([getattr(b, name) for name in same])
    assert a.seeds_error == pytest.approx(0, abs=1e-9)
    gaps = {(row.a, row.b): row for row in report.judged.comparisons if (row.metric, row.estimator) == ("auc", "snips")}
    assert gaps["a", "c"].p_value == pytest.approx(gaps["b", "c"].p_value)
    assert gaps["a", "b"].p_value_holm == 1
    few = {"a/seed0": 0, "a/seed1": 0, "c": 1}
    grouped = evaluate({name: MatrixScorer(scores[k]) for name, k in few.items()}, split, **WORDS)
    alone = evaluate({"a": MatrixScorer(scores[0]), "c": MatrixScorer(scores[1])}, split, **WORDS)
    for mine, other in zip(grouped.answers, alone.answers, strict=True):
        assert (mine.flip_gamma, mine.flips_to) == (pytest.approx(other.flip_gamma), other.flips_to)
        assert (mine.spans, mine.kind) == (other.spans, other.kind)
    assert grouped.verdict.sentence == alone.verdict.sentence


def test_verdict_and_holm_are_about_models(report):
    rows = [row for row in report.judged.comparisons if (row.metric, row.estimator) == ("auc", "snips")]
    smallest = min(rows, key=lambda row: row.p_value)
    assert smallest.p_value_holm == pytest.approx(10 * smallest.p_value)
    (answer, _) = report.answers
    assert answer.models == 5
    assert set(answer.may_be_best) <= set(report.judged.members)
    assert not any("seed" in name for name in (*answer.leaders, answer.flips_to or ""))
    text = json.dumps(report.to_dict()["verdict"])
    assert "/seed" not in text
    assert '"leaders": ["d"]' in text


def test_a_far_better_model_is_best_and_its_seeds_do_not_compete():
    names = ["a/seed0", "a/seed1", "a/seed2", "a/seed3", "b/seed0", "b/seed1", "b/seed2", "b/seed3"]
    report = report_of(names, strength=1.0, metrics=["auc"])
    assert "“b” is best of 2 models on auc" in report.verdict.sentence
    apart = report_of(names, strength=1.0, metrics=["auc"], group_seeds=False)
    assert "is best" not in apart.verdict.sentence
    assert apart.answers[0].models == 8


def test_the_band_has_the_means_at_each_gamma(report):
    of_entries, of_models = report.band.by_key, report.judged.band.by_key
    key = ("recall@3", "snips")
    for place, point in enumerate(of_models[*key, "c"]):
        values = [of_entries[*key, f"c/seed{k}"][place].value for k in range(3)]
        assert point.value == pytest.approx(np.mean(values))
        assert point.low < point.value < point.high
    used = report.band.gammas.index(report.band.used)
    row = row_of(report.judged.estimates, "c")
    assert (of_models[*key, "c"][used].low, of_models[*key, "c"][used].high) == pytest.approx((row.low, row.high))
    assert row.assumed_low == min(point.low for point in of_models[*key, "c"])
    assert of_models[*key, "ease"] == of_entries[*key, "ease"]
    assert {name for _, _, name in of_models} == set(report.judged.members)


def test_sweeps_and_charts_have_models(report):
    for sweep in report.sweeps:
        assert list(sweep.values) == ["a", "b", "c", "d", "ease"]
    chart = report.charts["estimates auc"].svg
    assert "seed" not in chart


def test_entries_are_in_the_json_and_models_under_seeds(report):
    record = json.loads(report.to_json())
    assert [row["model"] for row in record["seeds"]["estimates"][:5]] == ["a", "b", "c", "d", "ease"]
    assert record["seeds"]["estimates"][0]["members"] == ["a/seed0", "a/seed1", "a/seed2"]
    assert {row["model"] for row in record["estimates"]} == {*NAMES, "ease"}
    assert {row["model"] for row in record["sensitivity"]} == {*NAMES, "ease"}
    assert {row["model"] for row in record["seeds"]["sensitivity"]} == set("abcd") | {"ease"}
    assert {row["a"] for row in record["baselines"]["comparisons"]} == {"a", "b", "c", "d", "ease"}
    assert report.to_csv().count("a/seed0") == 4
    assert "group_seeds" not in record["run"]


def test_tables_have_models_with_their_number_of_seeds_in_80_columns(report):
    text = as_text(report, 80)
    tables = text[: text.index("warning:")]
    assert "d (3 seeds)" in tables
    assert "/seed" not in tables
    assert max(len(line) for line in tables.splitlines() if not line.startswith(("note", "targets"))) <= 80
    assert "standard errors by users and by seeds" in tables
    assert "| d (3 seeds) |" in report.to_markdown()
    assert "d (3 seeds)" in report.to_latex()


def test_the_page_has_a_section_on_seeds(report):
    page = report.to_html()
    assert '<section id="seeds">' in page
    section = page[page.index('<section id="seeds">') :]
    section = section[: section.index("</section>")]
    assert section.count("<circle") == 4 * 4 * 3  # metrics and estimators, models, seeds
    assert "<h2>Seeds" not in report_of(["a", "b"]).to_html()


def test_a_model_is_found_by_its_name_and_so_is_an_entry(report):
    assert report.value("b", "auc", "snips") == pytest.approx(
        np.mean([report.value(f"b/seed{k}", "auc", "snips") for k in range(3)])
    )
    with pytest.raises(ConfigError, match="did you mean"):
        report.value("b/seed9", "auc", "snips")


def test_the_switch_keeps_entries_and_is_recorded():
    report = report_of(NAMES[:6], group_seeds=False, metrics=["auc"])
    assert report.seeds is None
    assert report.judged.estimated is report.estimated
    assert report.to_dict()["run"]["group_seeds"] is False
    assert "seeds" not in report.to_dict()
    assert not any("seed" in text for text in report.warnings)


def test_lower_is_better_for_losses():
    rng = np.random.default_rng(0)
    users, items = np.divmod(rng.permutation(200), 10)
    values = rng.integers(1, 6, 200).astype(float)
    parts = [
        Interactions.from_arrays(users[k], items[k], values[k], n_users=20, n_items=10)
        for k in (slice(0, 120), slice(120, 200))
    ]
    levels = {"low/seed0": 0.0, "low/seed1": 0.1, "mid/seed0": 3.0, "mid/seed1": 3.1}
    models = {name: MatrixScorer(np.full((20, 10), level), ratings=True) for name, level in levels.items()}
    report = evaluate(models, Split(*parts), metrics=["mae", "rmse"], estimators=["aoa"], interval="observation")
    assert report.answers[0].judging.order[0].model == "mid"
    row = row_of(report.judged.estimates, "mid", "rmse", "aoa")
    assert row.value == pytest.approx(np.mean([report.value(f"mid/seed{k}", "rmse", "aoa") for k in range(2)]))
    assert row.low < row.value < row.high


def test_what_cannot_be_grouped_is_said_in_one_line():
    served = report_of(NAMES[:3], users="served", metrics=["auc"])
    assert served.seeds is None
    assert any("are judged as 3 models, because each model has its own users" in text for text in served.warnings)
    taken = report_of(["a", "a/seed0", "a/seed1"], metrics=["auc"])
    assert list(taken.judged.members) == ["a", "a/seed0", "a/seed1"]
    assert any("because an entry is called 'a'" in text for text in taken.warnings)
    plain = report_of(["a", "b/seed0"], metrics=["auc"])
    assert plain.seeds is None
    assert not any("seed" in text for text in plain.warnings)


def test_few_seeds_and_one_seed_are_warned_of():
    report = report_of(["a/seed0", "a/seed1", "b/seed0", *(f"c/seed{k}" for k in range(4))], metrics=["auc"])
    texts = [text for text in report.warnings if "seed" in text]
    assert len(texts) == 2
    assert texts[0].startswith("model 'a' has only 2 seeds")
    assert texts[1].startswith("model 'b/seed0' has one seed")
    assert list(report.judged.members) == ["a", "b/seed0", "c"]


def test_seeds_without_a_metric_are_left_out_of_its_mean():
    rng = np.random.default_rng(0)
    users, items = np.divmod(rng.permutation(200), 10)
    values = rng.integers(1, 6, 200).astype(float)
    train, test = (
        Interactions.from_arrays(users[k], items[k], values[k], n_users=20, n_items=10)
        for k in (slice(0, 120), slice(120, 200))
    )
    models = {f"a/seed{k}": MatrixScorer(rng.random((20, 10)), ratings=k < 2) for k in range(3)}
    models["b"] = MatrixScorer(rng.random((20, 10)), ratings=True)
    report = evaluate(models, Split(train, test), metrics=["auc", "mae"], estimators=["aoa"])
    assert row_of(report.judged.estimates, "a", "mae", "aoa").members == ("a/seed0", "a/seed1")
    assert len(row_of(report.judged.estimates, "a", "auc", "aoa").members) == 3
    assert any("mae of model 'a' is over 2 of 3 seeds, because a/seed2" in text for text in report.warnings)


def test_a_gate_takes_models_or_entries(report):
    decided = report.gate("d", "a", metric="auc", margin=0.01)
    row = next(r for r in report.judged.comparisons if (r.metric, r.estimator, r.a, r.b) == ("auc", "snips", "a", "d"))
    assert decided.difference.value == pytest.approx(-row.difference)
    assert decided.difference.low == pytest.approx(-row.high)
    at_gamma = next(each for each in decided.assumed if each.assumption == f"gamma {report.band.used:g}")
    assert (at_gamma.low, at_gamma.high) == pytest.approx((decided.difference.low, decided.difference.high))
    assert [check.name for check in decided.checks if check.name.startswith("repeats")] == ["repeats: d", "repeats: a"]
    entries = report.gate("d/seed0", "a/seed0", metric="auc")
    assert entries.difference.value == pytest.approx(
        report.value("d/seed0", "auc", "snips") - report.value("a/seed0", "auc", "snips")
    )
    with pytest.raises(ConfigError, match="one of the seeds of the other model"):
        report.gate("d", "d/seed1")
    with pytest.raises(ConfigError, match="did you mean"):
        report.gate("d/seed7", "a")


def test_groups_of_rows_have_models(report):
    slices = report.by("popularity")
    assert {row.model for row in slices.estimates} == set(report.judged.members)
    assert {(row.a, row.b) for row in slices.comparisons} == {
        (row.a, row.b) for row in report.judged.comparisons if row.metric == "auc"
    }
    head = next(row for row in slices.estimates if (row.model, row.metric) == ("a", "auc"))
    apart = report_of([*NAMES, "ease"], group_seeds=False).by("popularity")
    values = [
        row.value
        for row in apart.estimates
        if row.model.startswith("a/") and (row.group, row.metric, row.estimator) == (head.group, "auc", head.estimator)
    ]
    assert head.value == pytest.approx(np.mean(values))


def test_the_band_over_methods_has_the_means_by_each_method():
    log = SelectedLog.of()
    taste, noise = log.scores["taste"], np.random.default_rng(0).normal(size=(3, *log.scores["taste"].shape))
    models = {f"taste/seed{k}": MatrixScorer(taste + each) for k, each in enumerate(noise)}
    models["popular"] = log.models["popular"]
    report = evaluate(models, log.split(), metrics=["auc"], estimators=["blend"], positive="rating>=1")
    of_entries, of_models = (band.by_metric["auc"] for band in (report.estimated.methods, report.judged.methods))
    assert list(of_models) == list(of_entries)
    for method, points in of_models.items():
        values = [each.value for each in of_entries[method] if each.model.startswith("taste")]
        mean, popular = points
        assert (mean.model, popular.model) == ("taste", "popular")
        assert mean.value == pytest.approx(np.mean(values))
        assert popular.low == pytest.approx(of_entries[method][3].low)
    row = row_of(report.judged.estimates, "taste", "auc", "blend")
    assert row.assumed_low == min(points[0].low for points in of_models.values())
    assert {name for _, first in report.answers[0].by_method for name in first} <= {"taste", "popular"}
    assert "/seed" not in report.verdict.sentence


def test_an_exposed_sample_has_models_in_its_page():
    split, models = exposed_world()
    shifted = np.roll(models["sharp"].score(np.arange(split.test.n_users)), 1, axis=0)
    entries = {"sharp/seed0": models["sharp"], "sharp/seed1": MatrixScorer(shifted), "broad": models["broad"]}
    report = evaluate(entries, split, metrics=["recall@2"], estimators=["traditional", POOLED])
    page = report.to_html()
    words = page[page.index('<section id="sample">') :]
    words = words[: words.index("</section>")]
    assert "“sharp”" in words
    assert "/seed" not in words
    assert row_of(report.judged.estimates, "sharp", "recall@2", POOLED).seeds_error is not None
