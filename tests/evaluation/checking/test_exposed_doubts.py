"""Warnings of runs on randomly exposed items."""

import re

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.evaluation.checking import exposed
from unskew.evaluation.collecting.exposed import count_hits
from unskew.ranking import MatrixScorer, Ranks
from unskew.testing.worlds.exposed_worlds import POOLED, exposed_world, judge_exposed


def warned(report, words: str) -> list[str]:
    return [text for text in report.warnings if words in text]


def test_users_without_a_positive_are_counted_with_what_each_aggregate_does():
    report = judge_exposed(
        metrics=("recall@2", "precision@2"),
        estimators=("traditional", "ure", POOLED, "ure(aggregate=ipw)", "aoa"),
        share=0.1,
    )
    without = int(np.sum(report.samples.exposed.drawn.positives == 0))
    (warning,) = warned(report, "no positive in the sample")
    assert warning.startswith(
        f"{without} of 60 users have no positive in the sample. They are excluded from traditional"
    )
    assert "recall@2 by ure" in warning.split(", a bias towards users with many positives")[0]
    assert exposed.NOT_AFFECTED.format(cells=f"recall@2 by {POOLED}") in warning
    assert exposed.WEIGHTED_UP.format(cells="recall@2 by ure(aggregate=ipw)") in warning
    assert f"they count as 0 in precision@2 by ure, precision@2 by {POOLED}" in warning


def test_each_estimator_with_one_effect_is_named_once():
    report = judge_exposed(metrics=("recall@2", "recall@5"), share=0.1)
    (warning,) = warned(report, "no positive in the sample")
    without = int(np.sum(report.samples.exposed.drawn.positives == 0))
    assert warning == (
        f"{without} of 60 users have no positive in the sample. They are excluded from traditional, a bias towards "
        f"users with many positives; they have no effect on {POOLED}, where the mean is over pairs"
    )


def test_users_without_a_positive_have_no_effect_on_means_over_pairs():
    means = ("snips", "aoa(per=pair)", POOLED)
    report = judge_exposed(metrics=("recall@2",), estimators=(*means, "snips(per=user)", "aoa"), share=0.1)
    (warning,) = warned(report, "no positive in the sample")
    assert exposed.NOT_AFFECTED.format(cells=f"snips, aoa(per=pair) and {POOLED}") in warning.replace("They", "they")
    assert exposed.EXCLUDED.format(cells="snips(per=user) and aoa") in warning


def test_few_positives_at_the_top_are_counted_by_model():
    report = judge_exposed(metrics=("recall@1", "recall@20"), share=0.1)
    hits = {name: count_hits(ranks, 1) for name, ranks in report.samples.judged.ranks.items()}
    few = [name for name, number in hits.items() if number < 10]
    (warning,) = warned(report, "exposed positives are in the top")
    assert few
    assert "in the top 1 of" in warning
    assert "intervals of recall@1 are rough" in warning
    assert [name for name in hits if repr(name) in warning] == few


def test_of_many_models_with_few_positives_the_worst_are_named():
    split, _ = exposed_world(share=0.1)
    shifts = {f"m{k}": MatrixScorer(np.tile(np.roll(np.arange(40.0), k), (60, 1))) for k in range(7)}
    report = evaluate(shifts, split, metrics=["recall@1"], estimators=[POOLED])
    (warning,) = warned(report, "exposed positives are in the top")
    assert len(re.findall(r"'m\d' \d", warning)) == 4
    assert "and 3 more)" in warning


def test_one_model_with_few_positives_is_named_alone():
    split, _ = exposed_world(share=0.1)
    same_order = MatrixScorer(np.tile(np.arange(40.0), (60, 1)))
    report = evaluate({"m": same_order}, split, metrics=["recall@1"], estimators=[POOLED])
    (warning,) = warned(report, "exposed positives are in the top")
    sample = report.samples.judged
    assert warning == exposed.HITS_ARE_FEW_IN_ONE.format(
        hits=round(count_hits(sample.ranks["m"], 1)),
        rows=sample.rows,
        cutoff=1,
        model="m",
        least=10,
        metrics="recall@1",
    )


def test_rows_in_a_tie_across_the_cutoff_count_in_part():
    """Two others tie with the second row: of places 1 to 3 it has one each a third of the time."""
    ones = np.zeros(2, dtype=np.int32)
    ranks = Ranks(ones, np.arange(2, dtype=np.int32), np.array([0, 1], np.int32), np.array([0, 2], np.int32), ones + 9)
    assert count_hits(ranks, 1) == pytest.approx(1)
    assert count_hits(ranks, 2) == pytest.approx(1 + 1 / 3)
    assert count_hits(ranks, 9) == pytest.approx(2)


def test_a_cutoff_as_long_as_the_sample_cuts_nothing_inside_it():
    report = judge_exposed(metrics=("recall@9", "recall@10"))
    (warning,) = warned(report, "inside the sample the cut-off")
    assert warning == exposed.NO_EFFECT_INSIDE.format(metrics="recall@10", most="10 exposed rows")
    assert report.value("sharp", "recall@10", "traditional") == 1
    assert not warned(judge_exposed(metrics=("recall@10",), estimators=(POOLED,)), "inside the sample the cut-off")


def test_reduced_forms_want_users():
    reduced = "ure(aggregate=pooled, reduce=control)"
    warning = exposed.REDUCTION_UNSURE.format(estimator=reduced, users=20, least=30)
    assert warned(judge_exposed(estimators=(reduced,), users=20), warning)
    assert not warned(judge_exposed(estimators=(reduced,), users=30), "variance reduction")


def test_weights_by_popularity_do_not_suit_items_drawn_with_equal_chances():
    assert warned(judge_exposed(estimators=("snips",)), "drawn with equal chances")
    split, models = exposed_world()
    even = evaluate(models, split, metrics=["recall@2"], estimators=["snips"], propensity="uniform")
    assert not warned(even, "equal chances")


def test_validation_is_of_another_kind_so_its_size_is_not_compared():
    split, models = exposed_world()
    rows = split.test.take(np.arange(50))
    held = Interactions(rows.users, rows.items, rows.user_vocabulary, rows.item_vocabulary)
    other = type(split)(split.train, split.test, held, candidates="all", exposed=True)
    assert not warned(evaluate(models, other, metrics=["precision@2"]), "validation has")


def test_ndcg_of_each_user_by_itself_is_too_high_unless_all_is_exposed():
    words = "too many positives in all"
    forms = ("traditional", "ure", "ure(aggregate=ipw)", POOLED)
    report = judge_exposed(metrics=("ndcg@2", "ndcg@5", "recall@2"), estimators=forms)
    first, second = warned(report, words)
    assert first.startswith("ndcg@2 and ndcg@5 by ure: ")
    assert second.startswith("ndcg@2 and ndcg@5 by ure(aggregate=ipw): ")
    assert not warned(judge_exposed(metrics=("ndcg@2",), estimators=forms, drawn=40), words)
    assert not warned(judge_exposed(metrics=("recall@2",), estimators=forms), words)


def test_rows_that_models_could_learn_are_counted():
    split, _ = exposed_world()
    shared = int(split.test_in_train.sum())
    assert shared > 0
    (warning,) = warned(judge_exposed(), "also in train")
    assert warning == exposed.ROWS_KEPT.format(
        shared=shared, rows="600 exposed rows", all_items='population="all"', unseen_items='population="unseen"'
    )
    assert not warned(judge_exposed(unseen=True), "also in train")


def test_more_rows_in_train_than_by_chance_are_no_random_draw():
    """Users have 10 of 40 items in train, so of 600 rows drawn by chance 150 would be there; here all are."""
    split, models = exposed_world()
    same = Split(split.test, split.test, candidates="all", exposed=True)
    report = evaluate(models, same, metrics=["recall@2"], estimators=[POOLED], positive="rating>=1")
    assert warned(report, exposed.NOT_RANDOM.format(shared=600, rows="600 exposed rows", expected=150))
