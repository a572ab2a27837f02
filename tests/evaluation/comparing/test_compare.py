"""Runs side by side: the move that the size of the test explains is exact, and the rest has an honest interval."""

import json
from dataclasses import replace
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compared_worlds import ITEMS, METRICS, USERS, judge, mean_over_parts, split_of

from unskew import Interactions, Report, Split, compare, evaluate
from unskew.evaluation.comparing import notes
from unskew.evaluation.comparing.changes import CHANGED, NOT_KNOWN, UNTESTED_ONE, Change, Changes
from unskew.ranking import MatrixScorer

UNBIASED = {"adg@5", "recall@5"}


@pytest.fixture(scope="module")
def full() -> Report:
    return judge()


@pytest.fixture(scope="module")
def half() -> Report:
    return judge((0, 2))


def change(changes: Changes, metric: str) -> Change:
    return next(row for row in changes.rows if row.metric == metric)


def said(text: str, changes: Changes) -> bool:
    return any(text in note for note in changes.notes)


@pytest.mark.parametrize("metric", METRICS)
def test_the_expected_move_is_the_mean_over_all_parts_of_that_size(metric: str, full: Report, half: Report) -> None:
    whole, part = full.value("m", metric, "aoa"), mean_over_parts(metric, 2)
    assert whole is not None
    grown, shrunk = change(compare(full, half), metric), change(compare(half, full), metric)
    assert grown.expected == pytest.approx(whole - part, abs=1e-12)
    assert shrunk.expected == pytest.approx(part - whole, abs=1e-12)  # told from the larger of the two
    assert (grown.expected == 0) == (metric in UNBIASED)
    for row in (grown, shrunk):
        assert row.difference is not None
        assert row.rest == pytest.approx(row.difference - (row.expected or 0), abs=1e-15)


def test_a_report_its_json_and_its_file_say_the_same(full: Report, half: Report, tmp_path: Path) -> None:
    half.to_json(tmp_path / "half.json")
    from_file = compare(full, tmp_path / "half.json")
    assert from_file == compare(full, str(tmp_path / "half.json"))
    assert from_file.file == from_file.to_dict()["file"] == str(tmp_path / "half.json")
    assert replace(from_file, file=None) == compare(full, half.to_dict())
    from_report = compare(full, half)
    assert from_report.file is None
    assert from_file.rows == from_report.rows
    assert (from_file.same_users, from_report.same_users) == (None, True)


def test_the_metrics_that_move_are_in_one_note_with_what_to_use_instead(full: Report, half: Report) -> None:
    changes = compare(full, half)
    (moved,) = [note for note in changes.notes if "with the number of positives per user;" in note]
    metrics = "ndcg@5, ndcg, map, mrr, hit@5, precision@5 and auc(of=negatives) move"
    assert moved == notes.METRICS_MOVE.format(metrics=metrics, unknown="", instead="adg@5, adg, recall@5 and auc")
    (still,) = [note for note in changes.notes if "can be compared" in note]
    assert still == notes.METRICS_STAY.format(metrics="adg@5 and recall@5", sizes=notes.SIZES.format(before=2, after=4))


def test_what_is_not_known_is_not_guessed(full: Report, half: Report) -> None:
    changes = compare(half, full.to_dict())  # more positives than these ranks hold
    for metric in ("mrr", "hit@5"):
        row = change(changes, metric)
        assert (row.expected, row.rest, row.low, row.high, row.p_value) == (None, None, None, None, None)
        assert row.difference is not None
        assert said(notes.MOVE_UNKNOWN.format(metrics="mrr and hit@5 move"), changes)
    assert change(changes, "ndcg").expected is not None  # linear in the gains, so it can


def test_tests_of_the_same_size_move_nothing() -> None:
    changes = compare(judge((0, 1)), judge((2, 3)))
    assert {row.expected for row in changes.rows} == {0.0}
    assert not said("with the number of positives", changes)
    assert not said("can be compared", changes)


def test_the_interval_of_the_rest_takes_the_two_errors_as_independent(full: Report, half: Report) -> None:
    row = change(compare(full, half), "adg@5")
    errors = [report.estimate("m", "adg@5", "aoa").std_error for report in (full, half)]
    assert None not in errors
    reach = 1.959963984540054 * hypot(*errors)  # type: ignore[arg-type]
    assert row.rest is not None
    assert (row.low, row.high) == pytest.approx((row.rest - reach, row.rest + reach))
    changes = compare(full, half)
    assert notes.INTERVALS.format(users=notes.SAME_USERS) in changes.notes


def test_the_same_test_rows_get_no_interval(full: Report) -> None:
    changes = compare(full, judge())
    assert changes.same_test
    assert all(row.low is None and row.p_value is None and row.rest == 0 for row in changes.rows)
    assert said("judge both in one run", changes)


def test_chance_alone_is_seldom_called_a_change() -> None:
    """P-values of the rest of NDCG between other users with twice the positives, the same scorer for all.

    At the 5 % level the number of alarms among 200 lies within 2 and 22 with chance 99.9 %; taken as it is, the
    difference would alarm nearly always.
    """
    rng = np.random.default_rng(0)
    alarms = naive = 0
    train = Interactions.from_arrays([0], [0], n_users=150, n_items=30)
    model = {"m": MatrixScorer(np.tile(-np.arange(30.0), (150, 1)))}

    def run(size: int) -> Report:
        items = 1 + rng.permuted(np.tile(np.arange(29), (150, 1)), axis=1)[:, :size]
        test = Interactions.from_arrays(np.repeat(np.arange(150), size), items.ravel(), n_users=150, n_items=30)
        return evaluate(model, Split(train, test), metrics=["ndcg"], estimators=["aoa"], threads=1)

    for _ in range(200):
        small, large = run(3), run(6)
        (row,) = compare(large, small.to_dict()).rows
        assert row.p_value is not None
        assert row.difference is not None
        alarms += row.p_value < 0.05
        errors = [report.estimates[0].std_error or 0 for report in (small, large)]
        naive += abs(row.difference) > 1.96 * hypot(*errors)
    assert 2 <= alarms <= 22
    assert naive > 190


def test_what_makes_the_words_mean_other_things_is_noted(full: Report) -> None:
    changes = compare(full, judge(candidates="all", ties="optimistic"))
    for setting, before, now in (("candidate rule", "all", "unseen"), ("tie policy", "optimistic", "expected")):
        assert notes.SETTING_DIFFERS.format(setting=f"the {setting}", before=before, now=now) in changes.notes
    earlier = json.loads(full.to_json())
    for row in earlier["estimates"]:
        row["definition"] = row["definition"].replace("log2", "log")
    assert notes.DEFINITION_DIFFERS.format(metrics="adg@5, ndcg@5 and ndcg") in compare(full, earlier).notes


def test_other_training_rows_and_other_models_are_noted(full: Report) -> None:
    earlier = json.loads(full.to_json())
    earlier["run"]["data"]["train"]["sha256"] = "0"
    earlier["run"]["models"]["m"] = "als"
    changes = compare(full, earlier)
    assert not changes.same_train
    assert notes.TRAIN_DIFFERS in changes.notes
    assert notes.MODEL_DIFFERS.format(model="m", before="als", now="MatrixScorer") in changes.notes


def test_what_only_one_run_has_is_listed(full: Report) -> None:
    changes = compare(full, judge(metrics=["adg@5", "auc"]))
    assert changes.only_before == ("m auc aoa",)
    assert changes.only_after[:2] == ("m recall@5 aoa", "m ndcg@5 aoa")
    assert len(changes.only_after) == len(METRICS) - 1
    assert said("only before: m auc aoa", changes)
    estimates = "m recall@5 aoa, m ndcg@5 aoa, m ndcg aoa and 5 more"
    assert notes.UNMATCHED.format(when="now", estimates=estimates) in changes.notes


def test_sampled_candidates_move_every_metric() -> None:
    runs = [judge(part, metrics=["adg@5", "ndcg"], candidates="sampled(5)") for part in ((0, 1), (0, 1, 2, 3))]
    changes = compare(runs[1], runs[0])
    assert change(changes, "adg@5").expected is None
    sizes, unseen = notes.SIZES.format(before=2, after=4), 'candidates="unseen"'
    assert notes.ALL_MOVE.format(rule="sampled(5)", sizes=sizes, unseen=unseen) in changes.notes
    assert not said("can be compared", changes)
    assert not said("compare by", changes)  # what is named instead would move as well


def test_other_users_are_seen_in_reports_and_those_in_one_only_get_a_size_by_rank(full: Report) -> None:
    model = {"m": MatrixScorer(np.tile(np.arange(float(ITEMS)), (USERS, 1)))}
    fewer = evaluate(model, split_of((0, 1), range(2, 6)), metrics=["ndcg"], estimators=["aoa"])
    changes = compare(full, fewer)
    assert changes.same_users is False
    assert notes.MATCHED_BY_RANK.format(users=4, total=8) in changes.notes
    assert (changes.before.users, changes.before.rows, changes.before.positives_a_user) == (4, 8, 2.0)
    assert change(changes, "ndcg").expected == pytest.approx(
        full.value("m", "ndcg", "aoa") - mean_over_parts("ndcg", 2)  # type: ignore[operator]
    )


def test_printing_shows_the_table_and_the_notes(full: Report, half: Report) -> None:
    changes = compare(full, half)
    text = str(replace(changes, file="runs/half.json"))
    assert "earlier run: runs/half.json" in text
    assert "Against the earlier run" in text
    assert f"test before: {changes.before.describe()}" in text
    assert f"test now: {changes.after.describe()}" in text
    assert changes.after.describe() == "8 users, 32 held-out rows, 4.00 per user"
    assert all(f"note: {note}" in text for note in changes.notes)
    assert "\x1b" not in text


def test_the_json_of_a_report_has_it_only_when_asked(full: Report, half: Report) -> None:
    assert "against" not in full.to_dict()
    changes = compare(full, half)
    asked = replace(full, against=changes)
    read: dict[str, Any] = json.loads(asked.to_json())
    assert read["against"] == changes.to_dict()
    assert read["against"]["before"]["positives_a_user"] == 2.0
    assert {key: value for key, value in read.items() if key != "against"} == full.to_dict()
    assert "Against the earlier run" in str(asked)


def test_the_page_has_a_section_only_when_asked_and_runs_no_names(half: Report) -> None:
    evil = "<script>alert(1)</script>"
    runs = [
        evaluate({evil: MatrixScorer(np.eye(USERS, ITEMS))}, split_of(part), metrics=["ndcg"])
        for part in ((0, 1), (0, 1, 2))
    ]
    changes = replace(compare(runs[1], runs[0]), file="<script>alert(2)</script>.json")
    page = replace(runs[1], against=changes).to_html()
    assert '<section id="against">' in page
    assert evil not in page
    assert "alert(2)" in page
    assert "<script" not in page
    assert "1 estimate is in both runs" in page[: page.index('<section id="estimates">')]  # in the summary
    assert "compare by adg instead" in page
    assert 'id="against"' not in half.to_html()


def test_the_sentence_counts_what_moved_beyond_chance_and_size(full: Report, half: Report) -> None:
    changes = compare(full, half)
    rows = tuple(replace(row, p_value=p) for row, p in zip(changes.rows[:3], (0.01, 0.2, None), strict=True))
    where = " (the earlier one is half.json)"
    sentence = CHANGED.format(
        estimates="3 estimates are", where=where, beyond=1, them="2 that can be tested", p=0.05, rest=UNTESTED_ONE
    )
    assert replace(changes, rows=rows, file="half.json").describe() == sentence
    assert "none of 1 that can be tested changed" in replace(changes, rows=rows[1:]).describe()
    assert "none of them changed" in replace(changes, rows=rows[1:2]).describe()
    same = compare(full, judge())
    assert same.describe() == NOT_KNOWN.format(estimates=f"{len(same.rows)} estimates are", where="")
