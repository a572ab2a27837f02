"""Two runs on randomly exposed items side by side."""

import pytest

from unskew.estimators import Estimator
from unskew.evaluation import compare
from unskew.evaluation.comparing import notes
from unskew.evaluation.comparing.notes import same_sample_sizes
from unskew.evaluation.estimating.size_effects import moves_with_sample
from unskew.metrics import parse_metric
from unskew.testing.worlds.exposed_worlds import POOLED, judge_exposed

METRICS = ("recall@2", "precision@2")
WORDS = ("traditional", "ure", POOLED)


@pytest.fixture(scope="module")
def runs():
    return [judge_exposed(metrics=METRICS, estimators=WORDS, drawn=drawn) for drawn in (10, 20)]


def test_what_is_unbiased_is_not_expected_to_move_with_the_sample(runs):
    before, after = runs
    changes = compare(after, before)
    expected = {(row.metric, row.estimator): row.expected for row in changes.rows}
    assert expected["recall@2", POOLED] == expected["precision@2", POOLED] == expected["precision@2", "ure"] == 0
    assert expected["recall@2", "ure"] is None
    assert expected["recall@2", "traditional"] is expected["precision@2", "traditional"] is None


def test_notes_name_what_moves_and_what_does_not(runs):
    before, after = runs
    found = compare(after, before.to_dict()).notes
    (moved,) = [note for note in found if "the samples differ in size" in note]
    assert "exposed rows per user 10 before, 20 now" in moved
    assert "recall@2 by traditional, recall@2 by ure and precision@2 by traditional move" in moved
    (still,) = [note for note in found if "can be compared" in note]
    assert f"recall@2 by {POOLED}" in still
    assert not [note for note in found if "defined differently" in note or "number of positives per user" in note]


def test_samples_of_one_size_move_nothing(runs):
    before = runs[0]
    other = judge_exposed(metrics=METRICS, estimators=WORDS, share=0.3)
    assert same_sample_sizes(before.run, other.run)
    changes = compare(other, before)
    assert {row.expected for row in changes.rows} == {0.0}
    assert not [note for note in changes.notes if "size" in note]


def test_an_exposed_run_is_not_compared_with_another_kind(runs):
    shared = judge_exposed(metrics=METRICS, estimators=(*WORDS, "aoa"))
    plain = {**shared.to_dict(), "run": {key: value for key, value in shared.run.items() if key != "exposed"}}
    assert notes.ONE_EXPOSED in compare(shared, plain).notes
    assert not same_sample_sizes(plain["run"], shared.run)


@pytest.mark.parametrize(
    ("metric", "word", "moves"),
    [
        ("recall@5", "ure(aggregate=pooled, reduce=control)", False),
        ("recall@5", "ure(aggregate=ipw)", True),
        ("dcg@5", "ure(aggregate=ipw)", False),
        ("ndcg@5", POOLED, True),
        ("recall@5", "traditional", True),
    ],
)
def test_which_forms_move(metric, word, moves):
    assert moves_with_sample(parse_metric(metric), Estimator.from_word(word)) is moves


def test_what_was_drawn_from_other_items_is_not_said_to_be_comparable(runs):
    other = judge_exposed(metrics=METRICS, estimators=WORDS, unseen=True)
    found = compare(other, runs[0]).notes
    assert notes.SETTING_DIFFERS.format(setting="the candidate rule", before="all", now="unseen") in found
    assert not [note for note in found if "can be compared" in note]


def test_one_number_that_moves_is_said_in_the_singular():
    runs = [judge_exposed(estimators=("traditional",), drawn=size) for size in (10, 20)]
    (moved,) = [note for note in compare(*runs).notes if "the samples differ in size" in note]
    assert moved.endswith("recall@2 by traditional moves with that size")
