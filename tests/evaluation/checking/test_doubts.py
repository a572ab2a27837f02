"""A number that should not be trusted says so."""

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.estimators import Estimator
from unskew.evaluation.checking import data, models, weights
from unskew.ranking import ListScorer, MatrixScorer
from unskew.testing.worlds.long_tail import ITEMS, USERS, real_factors, skewed_split, whole_scores


def said(text: str, warnings: tuple[str, ...]) -> bool:
    return any(text in warning for warning in warnings)


def distinct_log() -> Split:
    users, items = np.divmod(np.arange(USERS * ITEMS), ITEMS)
    log = Interactions.from_arrays(users, items, n_users=USERS, n_items=ITEMS)
    part = np.random.default_rng(0).integers(0, 2, len(log)).astype(bool)
    return Split(log.take(part), log.take(~part))


def test_a_sound_run_has_no_warning() -> None:
    assert evaluate({"m": real_factors()}, distinct_log()).warnings == ()


def test_rows_also_in_train_are_warned_of_and_kept_under_all() -> None:
    split = skewed_split()
    count = int(split.test_in_train.sum())
    assert count > 0
    warnings = evaluate({"m": real_factors()}, split).warnings
    dropped = data.ROWS_IN_TRAIN.format(rows=f"{count} test rows", all_candidates='candidates="all"')
    assert dropped in warnings
    assert not said("also in train", evaluate({"m": real_factors()}, split, candidates="all").warnings)


def test_items_outside_the_catalogue_and_unknown_users_are_warned_of() -> None:
    train = Interactions.from_arrays([0, 1, 2], [10, 11, 10])
    test = Interactions.from_arrays([0, 1, 1, 3, 3], [11, 10, 99, 10, 11])
    model = MatrixScorer(np.arange(6.0).reshape(3, 2), user_ids=[0, 1, 2], item_ids=[10, 11])
    warnings = evaluate({"m": model}, Split(train, test)).warnings
    row = "1 test row is of an item that is"
    assert data.ITEMS_UNKNOWN.format(rows=row, trained='candidates="trained"') in warnings
    users = {"users": "1 test user", "rows": "2 rows"}
    assert data.USERS_LEFT_OUT.format(unknown="known to no model", **users) in warnings
    trained = evaluate({"m": model}, Split(train, test, candidates="trained")).warnings
    assert data.ITEMS_OUTSIDE.format(rows="1 test row", unseen='candidates="unseen"') in trained
    both = {"m": model, "popular": "popular"}
    common = evaluate(both, Split(train, test), users="common").warnings
    assert data.USERS_LEFT_OUT.format(unknown="unknown to at least one model", **users) in common
    unknown = {"models": "model 'm' does", "unknown": 1, "users": 3, "rows": "2 rows"}
    empty = evaluate(both, Split(train, test)).warnings
    assert models.USERS_UNKNOWN.format(effect=models.EMPTY_LISTS, **unknown) in empty
    served = evaluate(both, Split(train, test), users="served").warnings
    assert models.USERS_UNKNOWN.format(effect=models.NOT_SERVED, **unknown) in served


def test_items_a_model_does_not_know_are_counted() -> None:
    train = Interactions.from_arrays([0, 1], [10, 11])
    test = Interactions.from_arrays([0, 1], [11, 10])
    model = MatrixScorer(np.arange(4.0).reshape(2, 2), item_ids=[10, 12])
    warnings = evaluate({"m": model}, Split(train, test)).warnings
    assert models.ITEMS_UNKNOWN.format(models="model 'm' has", unknown=1, items=3) in warnings


def test_repeated_rows_are_counted() -> None:
    train = Interactions.from_arrays([0, 1, 1], [0, 1, 1], n_users=2, n_items=3)
    test = Interactions.from_arrays([0, 0, 1], [2, 2, 2], n_users=2, n_items=3)
    warnings = evaluate({"m": MatrixScorer(np.arange(6.0).reshape(2, 3))}, Split(train, test)).warnings
    for part in ("train", "test"):
        assert data.REPEATED_ROWS.format(part=part, rows="1 repeated (user, item) row") in warnings


def test_ties_are_warned_of_with_how_they_were_resolved() -> None:
    flat = MatrixScorer(np.zeros((USERS, ITEMS)))
    assert said("100% of held-out items share their score", evaluate({"m": flat}, skewed_split()).warnings)
    assert said("their ranks are averages over all orders of the ties", evaluate({"m": flat}, skewed_split()).warnings)
    optimistic = evaluate({"m": flat}, skewed_split(), ties="optimistic").warnings
    assert said("their ranks depend on the rule for ties (optimistic)", optimistic)
    assert not said("share their score", evaluate({"m": real_factors()}, skewed_split()).warnings)


def test_ties_below_a_list_are_not_ties_of_the_model() -> None:
    lists = ListScorer.from_arrays(np.tile(np.arange(8), (USERS, 1)), n_items=ITEMS)
    assert not said("share their score", evaluate({"m": lists}, skewed_split(), metrics=["recall@5"]).warnings)


@pytest.mark.parametrize(("cutoff", "warned"), [(8, False), (9, True)])
def test_a_cut_off_beyond_the_lists_is_warned_of(cutoff: int, *, warned: bool) -> None:
    lists = ListScorer.from_arrays(np.tile(np.arange(8), (USERS, 1)), n_items=ITEMS)
    report = evaluate({"m": lists}, skewed_split(candidates="all"), metrics=[f"recall@{cutoff}"])
    assert said("lists at most 8 candidates per user", report.warnings) == warned


def test_few_rows_that_carry_the_estimate_are_warned_of() -> None:
    """One item is a hundred times rarer than the others, and its weight decides."""
    rng = np.random.default_rng(0)
    train = Interactions.from_arrays(np.tile(np.arange(200), 3), np.repeat([0, 1, 2], 200), n_users=400, n_items=5)
    users = np.arange(200, 400)
    test = Interactions.from_arrays(users, np.append(rng.integers(0, 3, 199), 4), n_users=400, n_items=5)
    model = MatrixScorer(rng.normal(size=(400, 5)))
    report = evaluate({"m": model}, Split(train, test), metrics=["auc"], propensity="popularity(gamma=1)")
    assert said("snips: the estimate depends on few rows", report.warnings)
    assert said("do not trust its interval, and consider snips(clip=0.01)", report.warnings)
    fine = evaluate({"m": model}, Split(train, test), metrics=["auc"], propensity="uniform")
    assert not said("depends on few rows", fine.warnings)


@pytest.mark.parametrize(
    ("word", "clipped"),
    [
        ("snips", "snips(clip=0.01)"),
        ("ips", "ips(clip=0.01)"),
        ("snips(clip=0.001)", "snips(clip=0.01)"),
        ("snips(per=user)", "snips(clip=0.01, per=user)"),
    ],
)
def test_the_advice_on_heavy_weights_keeps_the_other_options(word: str, clipped: str) -> None:
    assert weights.advise(Estimator.from_word(word)) == weights.CONSIDER.format(clipped=clipped)
    assert str(Estimator.from_word(clipped)) == clipped


@pytest.mark.parametrize("word", ["snips(clip=0.05)", "snips(clip=0.01)", "aoa"])
def test_clipping_is_not_offered_to_an_estimator_that_clips_as_much_or_cannot_clip(word: str) -> None:
    assert weights.advise(Estimator.from_word(word)) == weights.VARY_LESS


def test_snips_per_user_with_few_rows_per_user_is_warned_of() -> None:
    options = {"metrics": ["auc"], "estimators": ["snips(per=user)"]}
    assert said("this form hardly corrects", evaluate({"m": real_factors()}, skewed_split(), **options).warnings)  # type: ignore[arg-type]
    assert not said("this form hardly corrects", evaluate({"m": real_factors()}, distinct_log(), **options).warnings)  # type: ignore[arg-type]


def test_rows_without_a_propensity_are_warned_of() -> None:
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 1], n_users=3, n_items=4)
    test = Interactions.from_arrays([0, 0, 1], [1, 2, 3], n_users=3, n_items=4)
    model = {"m": MatrixScorer(np.arange(12.0).reshape(3, 4))}
    dropped = evaluate(model, Split(train, test), propensity="popularity(smoothing=0)").warnings
    assert weights.NEVER_IN_TRAINING.format(missing=2, rows=3, kind="held-out") in dropped
    assert not said("no propensity", evaluate(model, Split(train, test)).warnings)


def test_a_warning_names_the_model_it_is_about() -> None:
    report = evaluate({"flat": MatrixScorer(np.zeros((USERS, ITEMS))), "fine": real_factors()}, skewed_split())
    about = [text for text in report.warnings if "share their score" in text]
    assert len(about) == 1
    assert "'flat'" in about[0]


def test_warnings_are_single_lines() -> None:
    report = evaluate(
        {"m": whole_scores(top=1)}, skewed_split(), estimators=["aoa", "snips(per=user)"], metrics=["auc"]
    )
    assert report.warnings
    assert all("\n" not in text for text in report.warnings)


def test_a_cut_off_beyond_the_catalogue_is_warned_of() -> None:
    split = Split(Interactions.from_arrays([0, 1], [0, 1], n_items=6), Interactions.from_arrays([0, 1], [2, 3]))
    model = MatrixScorer(np.arange(12.0).reshape(2, 6))
    report = evaluate({"m": model}, split, metrics=["recall@5", "ndcg@9", "recall@4", "adg"], propensity="popularity")
    assert data.NO_EFFECT.format(metrics="recall@5 and ndcg@9", most="5 candidates") in report.warnings
    assert report.value("m", "recall@5", "snips") == 1
    assert not said("has no effect", evaluate({"m": model}, split, metrics=["recall@4", "adg"]).warnings)
