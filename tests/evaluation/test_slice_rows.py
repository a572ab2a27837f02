"""Rows of a slice: which are refused, left out or warned of."""

from dataclasses import replace

import numpy as np
import pytest
from selected_logs import ITEMS, USERS, selected_by_popularity
from sliced_runs import ROWS, WORDS, log, report, run, values

from unskew import Interactions, Split, evaluate
from unskew.errors import ConfigError, DataError


def test_few_positives_are_warned_of_and_decide_nothing() -> None:
    drawn = run(log().split(slice_rows=15))
    positives = drawn.to_dict()["slice"]["positives"]
    assert positives < 10
    assert [text for text in drawn.warnings if text.startswith(f"the slice has {positives} positive")]
    assert drawn.estimated.methods is not None  # the methods still have to agree
    assert "methods" in drawn.to_dict()
    assert report().estimated.methods is None
    assert "methods" not in report().to_dict()
    assert not [text for text in report().warnings if "fewer than 10" in text]


def slice_of_one_label(rows: int, *, relevant: bool) -> Interactions:
    world = log()
    free = np.argwhere(world.candidates & (world.drawn.relevant == relevant))
    chosen = free[np.random.default_rng(0).choice(len(free), rows, replace=False)]
    return world.slice_of(chosen[:, 0], chosen[:, 1])


def test_a_slice_without_a_positive_has_wide_intervals_and_decides_nothing() -> None:
    """No positive among 40 rows: at most about 4 in 40 candidates are relevant, and not none."""
    sliced = replace(log().split(), slice=slice_of_one_label(40, relevant=False))
    drawn = run(sliced, metrics=[*WORDS, "precision@5", "ndcg@5"], estimators=["blend", "dm"])
    bare = run(log().split(), metrics=[*WORDS])
    for row, other in zip(
        [row for row in drawn.estimates if row.metric in WORDS and row.estimator == "blend"],
        bare.estimates,
        strict=True,
    ):
        assert row.std_error is not None
        assert other.std_error is not None
        assert row.std_error > other.std_error  # the log alone may be off
    for row in drawn.estimates:
        if row.metric == "precision@5":
            assert row.value is not None
            assert row.std_error is not None
            assert 0.001 < row.value < 0.1
            assert 0.3 < row.std_error / row.value < 10
    assert all(row.p_value_holm is None or row.p_value_holm > 0.05 for row in drawn.comparisons)


def test_a_slice_without_rows_is_refused() -> None:
    rows = log().random_slice(5)
    with pytest.raises(DataError, match="the slice has no rows; give random rows, or leave it out"):
        replace(log().split(), slice=rows.take(np.zeros(5, bool)))


def test_a_slice_of_positives_alone_is_refused() -> None:
    with pytest.raises(
        DataError, match=r"slice: every row of the slice is positive, .*; keep all rows that were drawn"
    ):
        run(replace(log().split(), slice=slice_of_one_label(40, relevant=True)))


def test_a_slice_that_no_estimator_uses_is_warned_of() -> None:
    text = "the slice is not used, because no estimator of this run is corrected by it; use blend"
    assert text in run(log().split(slice_rows=ROWS), estimators=["aoa(per=pair)"]).warnings
    assert text not in report().warnings


def test_metrics_of_ratings_alone_cannot_use_a_slice_of_labels() -> None:
    split = log().split(slice_rows=ROWS)
    rated = replace(split, train=rated_rows(split.train), test=rated_rows(split.test))
    report = evaluate({"mf": "mf-naive(factors=2)"}, rated, metrics=["mae"], estimators=["snips"])
    (text,) = (text for text in report.warnings if "slice" in text)
    assert 'propensity="naive-bayes(mcar=FILE)"' in text


def rated_rows(rows: Interactions) -> Interactions:
    return replace(rows, values=1.0 + (rows.users + rows.items) % 5)


def test_dr_needs_negatives_in_the_log_even_with_a_slice() -> None:
    with pytest.raises(DataError, match="rows are positive, so the chance of relevance cannot be learnt"):
        run(log().split(positives=True, slice_rows=ROWS), positive=None, estimators=["dr(q=slice)"])


def test_a_slice_by_popularity_is_refused_and_a_weaker_one_warned_of() -> None:
    world = log()
    with pytest.raises(DataError, match=r"its items are more popular .* so it is not random"):
        run(replace(world.split(), slice=selected_by_popularity(world, 600, 1.5)))
    texts = []
    for seed in range(10):  # one that is doubtful but not surely selected
        sliced = replace(world.split(), slice=selected_by_popularity(world, 200, 0.6, seed))
        try:
            drawn = run(sliced, metrics=["auc"])
        except DataError:
            continue
        texts += [text for text in drawn.warnings if "more popular than the candidates" in text]
    assert texts
    assert not [text for text in report().warnings if "drawn" in text and "popular than" in text]


def test_items_and_users_of_a_slice_must_be_known() -> None:
    world = log()
    train, test = world.rows(world.in_train, "train"), world.rows(world.in_test, "test")
    unknown = Interactions.from_arrays([0, 1], [3, ITEMS + 7], [1.0, 0.0])
    with pytest.raises(DataError, match=r"is neither in train nor known to a model; name all items .*catalogue"):
        run(Split(train, test, slice=unknown))
    nobody = Interactions.from_arrays([USERS + 5, USERS + 6], [3, 4], [1.0, 0.0])
    with pytest.raises(DataError, match="no user of the slice is judged"):
        run(Split(train, test, slice=nobody))
    with pytest.raises(DataError, match=r"no user of the slice is in train or test; are the user ids those of train\?"):
        evaluate({"popular": "popular"}, Split(train, test, slice=nobody), estimators=["blend"], positive="rating>=1")


def test_rows_of_a_slice_that_are_in_train_are_not_candidates() -> None:
    world = log()
    users, items = (part[:5] for part in np.nonzero(world.in_train))
    with pytest.raises(DataError, match="every row is also in train, so no candidate was drawn"):
        run(replace(world.split(), slice=world.slice_of(users, items)))
    more = world.random_slice(ROWS)
    both = world.slice_of(np.concatenate([more.users, users]), np.concatenate([more.items, items]))
    drawn = run(replace(world.split(), slice=both))
    assert drawn.to_dict()["slice"]["rows"] == ROWS
    (text,) = [text for text in drawn.warnings if "of the slice are also in train" in text]
    assert text.startswith(f"5 of {ROWS + 5} rows of the slice are also in train and left out")
    assert not [text for text in report().warnings if "of the slice are also in train" in text]
    np.testing.assert_allclose(values(drawn, "auc"), values(run(world.split(slice_rows=ROWS)), "auc"))


@pytest.mark.parametrize("rule", ["listed", "trained", "sampled(5)"])
def test_other_candidates_are_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match="a random slice needs the candidates all or unseen"):
        log().split(slice_rows=50, candidates=rule)
    with pytest.raises(ConfigError, match="a random slice needs the candidates all or unseen"):
        run(log().split(slice_rows=50), candidates=rule)


def test_a_slice_next_to_an_exposed_test_and_one_without_labels_are_refused() -> None:
    world = log()
    train = world.rows(world.in_train, "train")
    with pytest.raises(ConfigError, match="the test is exposed already"):
        Split(train, world.random_slice(50), exposed=True, slice=world.random_slice(20, 1))
    with pytest.raises(DataError, match="label"):
        Split(train, world.rows(world.in_test, "test"), slice=world.rows(world.in_test, "s", positives=True))
    with pytest.raises(DataError, match="slice must be Interactions, not list"):
        Split(train, world.rows(world.in_test, "test"), slice=[1])  # type: ignore[arg-type]


def test_a_slice_of_all_candidates_works_under_all() -> None:
    world = log()
    sliced = world.drawn.random_slice(ROWS, 0, outside=np.zeros((USERS, ITEMS), bool))
    drawn = run(replace(world.split(candidates="all"), slice=sliced))
    assert drawn.to_dict()["slice"]["rows"] == ROWS


def test_a_slice_with_few_positives_leaves_the_log_alone() -> None:
    """Its own estimate has a variance that is large next to that of users."""
    world = log()
    few, none = slice_of_one_label(1, relevant=True), slice_of_one_label(150, relevant=False)
    users, items = np.concatenate([few.users, none.users]), np.concatenate([few.items, none.items])
    drawn = run(replace(world.split(), slice=world.slice_of(users, items)))
    for row in drawn.to_dict()["slice"]["estimates"]:
        assert row["level_weights"][-1] == pytest.approx(0, abs=0.05)
        assert row["difference_weights"][-1] == pytest.approx(0, abs=0.05)
