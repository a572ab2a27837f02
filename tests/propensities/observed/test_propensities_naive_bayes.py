"""Naive Bayes propensities: worked by hand, against published counts, and in a world that is known."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.errors import ConfigError, DataError, PropensityError
from unskew.propensities import FittedObservation, NaiveBayes, PropensityModel
from unskew.testing.worlds.observed_worlds import rated

DRAWN = np.array([28_417, 13_064, 7_770, 3_371, 1_378])
"""Ratings 1 to 5 in the random set of Yahoo! R3, 54,000 in all (Schnabel et al. 2016, section 6.1)."""
MARGINALS = DRAWN / DRAWN.sum()


def by_rating(fitted: FittedObservation, levels: list[int]) -> list[float]:
    n = len(levels)
    return fitted(np.zeros(n, int), np.zeros(n, int), np.array(levels, float)).tolist()


def test_a_small_case_worked_by_hand() -> None:
    """6 of 20 pairs observed, 1 of them rated 1 and 5 rated 2; the sample has three 1s and one 2.

    Plain: P(O|1) = (1/6)(6/20) / (3/4) = 1/15 and P(O|2) = (5/6)(6/20) / (1/4) = 1.
    Smoothed by one: P(1) = 4/6, P(2) = 2/6, so 3/40 and 3/4.
    """
    log = rated({1: 1, 2: 5}, 4, 5)
    assert by_rating(NaiveBayes([1, 1, 1, 2], smoothing=0).observe(log), [1, 2]) == pytest.approx([1 / 15, 1])
    assert by_rating(NaiveBayes([1, 1, 1, 2]).observe(log), [1, 2]) == pytest.approx([3 / 40, 3 / 4])


def test_values_above_one_are_clipped_and_counted() -> None:
    """As above with four 1s and one 2 sampled: P(O|2) = .25 / .2 = 1.25, for five rows."""
    fitted = NaiveBayes([1, 1, 1, 1, 2], smoothing=0).observe(rated({1: 1, 2: 5}, 4, 5))
    assert by_rating(fitted, [1, 2]) == pytest.approx([0.05 / 0.8, 1])
    assert fitted.diagnostics.clipped == 5
    assert fitted.diagnostics.largest == 1


def test_the_floor_is_relative_to_the_largest_and_counted() -> None:
    fitted = NaiveBayes([1, 1, 1, 2], smoothing=0, clip=0.5).observe(rated({1: 1, 2: 5}, 4, 5))
    assert by_rating(fitted, [1, 2]) == pytest.approx([0.5, 1])
    assert fitted.diagnostics.clipped == 1


def test_yahoo_r3_golden() -> None:
    """P(O|r) of Yahoo! R3 with its whole random set as the sample; note that it does not rise from 1 to 2.

    The counts of the log are those that its 311,704 rows and these propensities, rounded to six places, allow.
    """
    counts = {1: 97_844, 2: 39_653, 3: 49_130, 4: 48_480, 5: 76_597}
    assert sum(counts.values()) == 311_704
    log = rated(counts, 15_400, 1_000)
    fitted = NaiveBayes(np.repeat(np.arange(1, 6), DRAWN), smoothing=0).observe(log)
    golden = [0.012073, 0.010643, 0.022172, 0.050429, 0.194911]
    assert by_rating(fitted, [1, 2, 3, 4, 5]) == pytest.approx(golden, abs=6e-7)


def test_the_observation_model_of_schnabel_is_recovered_from_expected_counts() -> None:
    """alpha = .25 and 5 % observed: k = .33954, P = k alpha^(4 - r) below 4 (Schnabel et al. 2016, section 6.1)."""
    alpha, cells = 0.25, 10_000_000
    shape = np.array([alpha**3, alpha**2, alpha, 1, 1])
    k = 0.05 / np.dot(shape, MARGINALS)
    assert k == pytest.approx(0.33954, abs=5e-6)
    counts = np.round(cells * k * shape * MARGINALS).astype(int)
    log = rated(dict(zip(range(1, 6), counts.tolist(), strict=True)), 2000, 5000)
    sample = np.repeat(np.arange(1, 6), DRAWN)
    fitted = NaiveBayes(sample, smoothing=0).observe(log)
    assert by_rating(fitted, [1, 2, 3, 4, 5]) == pytest.approx([0.00531, 0.02122, 0.08488, 0.33954, 0.33954], abs=1e-5)
    assert counts / counts.sum() == pytest.approx([0.0558, 0.1027, 0.2443, 0.4239, 0.1733], abs=1e-4)


def test_pairs_seen_before_are_taken_out_with_their_ratings() -> None:
    """Of 40 pairs, 30 are rated 1 and 10 rated 2. Six 2s were seen, so 4 of the 34 pairs left are; 2 are observed."""
    seen = rated({2: 6}, 5, 8, "train.csv")
    users, items = np.array([1, 1, 2]), np.array([0, 1, 0])
    log = Interactions.from_arrays(users, items, [2, 2, 1], n_users=5, n_items=8)
    fitted = NaiveBayes([1] * 30 + [2] * 10, smoothing=0).observe(log, seen=seen)
    assert fitted.diagnostics.cells == 34
    assert by_rating(fitted, [1, 2]) == pytest.approx([1 / 30, 2 / 4])
    fit = NaiveBayes([1] * 30 + [2] * 10, smoothing=0).fit(seen, log)
    assert by_rating(fit, [1, 2]) == by_rating(fitted, [1, 2])


def test_seen_pairs_without_ratings_are_noted() -> None:
    seen = Interactions.from_arrays([4], [7], n_users=5, n_items=8, name="train.csv")
    fitted = NaiveBayes([1, 2]).observe(rated({1: 2, 2: 2}, 5, 8), seen=seen)
    assert fitted.diagnostics.cells == 39
    assert "train.csv has no ratings" in fitted.diagnostics.notes[0]


@given(
    logged=st.lists(st.integers(1, 30), min_size=2, max_size=6),
    drawn=st.lists(st.integers(1, 30), min_size=6, max_size=6),
)
def test_without_clipping_the_inverse_sum_is_the_number_of_pairs(logged: list[int], drawn: list[int]) -> None:
    """sum over r of n_r / P(O|r) = cells sum P(r), which is all cells when the log has all values."""
    levels = range(1, len(logged) + 1)
    log = rated(dict(zip(levels, logged, strict=True)), 100, 200)
    sample = np.repeat(list(levels), drawn[: len(logged)])
    fitted = NaiveBayes(sample).observe(log)
    diagnostics = fitted.diagnostics
    assert diagnostics.clipped == 0
    assert diagnostics.inverse_sum == pytest.approx(20_000)
    assert diagnostics.coverage == pytest.approx(1)
    assert diagnostics.notes == ()


def test_a_value_absent_from_the_sample_rests_on_smoothing() -> None:
    log = rated({1: 3, 2: 2, 5: 1}, 10, 10)
    fitted = NaiveBayes([1, 1, 2]).observe(log)
    assert fitted.diagnostics.notes[0].endswith("depends on smoothing alone")
    assert "rating 5" in fitted.diagnostics.notes[0]
    assert by_rating(fitted, [5]) == pytest.approx([0.01 / (1 / 6)])
    with pytest.raises(PropensityError, match=r"no sampled pair has rating 5, .*use smoothing=1"):
        NaiveBayes([1, 1, 2], smoothing=0).observe(log)


def test_a_value_the_log_does_not_have_has_no_propensity() -> None:
    fitted = NaiveBayes([1, 2, 3]).observe(rated({1: 3, 2: 2}, 10, 10))
    assert np.isnan(by_rating(fitted, [3, 4])).all()


def test_rows_without_ratings_are_refused() -> None:
    fitted = NaiveBayes([1, 2]).observe(rated({1: 3, 2: 2}, 10, 10))
    with pytest.raises(PropensityError, match="depend on the rating, but the rows have none"):
        fitted(np.array([0]), np.array([0]))
    bare = Interactions.from_arrays([0], [0], name="test.csv")
    with pytest.raises(PropensityError, match=r"test\.csv has no ratings.*name the column with rating="):
        NaiveBayes([1, 2]).observe(bare)


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(PropensityError, match="has no row"):
        NaiveBayes([1, 2]).observe(Interactions.from_arrays([], [], [], n_users=2, n_items=2))


def test_very_many_values_are_noted() -> None:
    log = rated(dict.fromkeys(range(60), 1), 10, 10)
    assert "60 distinct ratings" in NaiveBayes(np.arange(60)).observe(log).diagnostics.notes[0]


def test_the_reliability_curve_is_of_the_sampled_pairs() -> None:
    """Four sampled pairs, two of them observed; one of an unknown user and one seen before are left out."""
    log = Interactions.from_arrays([0, 0, 1], [0, 1, 0], [1, 2, 2], n_users=3, n_items=3)
    seen = Interactions.from_arrays([2], [2], [1], n_users=3, n_items=3)
    mcar = pl.DataFrame({"user": [0, 0, 1, 2, 9, 2], "item": [0, 2, 0, 1, 0, 2], "rating": [1, 1, 2, 2, 1, 1]})
    diagnostics = NaiveBayes(mcar).observe(log, seen=seen).diagnostics
    assert diagnostics.reliability_of == "pairs of the random sample"
    assert [(b.observed, b.pairs) for b in diagnostics.reliability] == [(0.5, 2), (0.5, 2)]
    without = NaiveBayes(mcar.select("rating")).observe(log).diagnostics
    assert without.reliability == ()
    assert without.reliability_of == ""


def test_a_file_a_frame_interactions_and_an_array_agree(tmp_path: Path) -> None:
    log = rated({1: 3, 2: 2}, 10, 10)
    frame = pl.DataFrame({"user": [0, 1, 2], "item": [0, 1, 2], "rating": [1, 1, 2]})
    frame.write_csv(tmp_path / "a sample.csv")
    frame.write_parquet(tmp_path / "sample.parquet")
    given = [
        tmp_path / "a sample.csv",
        str(tmp_path / "sample.parquet"),
        frame,
        frame.to_pandas(),
        frame.to_arrow(),
        Interactions.from_frame(frame),
        frame["rating"],
        [1, 1, 2],
    ]
    answers = [by_rating(NaiveBayes(each).observe(log), [1, 2]) for each in given]
    assert all(answer == answers[0] for answer in answers)


def test_the_word_round_trips_for_paths_and_prints_for_frames() -> None:
    for word in ("naive-bayes(mcar=a.csv)", 'naive-bayes(mcar="my folder/a.csv", smoothing=0.5, clip=0.1)'):
        model = PropensityModel.from_word(word)
        assert str(model) == word
        assert PropensityModel.from_word(str(model)) == model
    assert str(NaiveBayes(Path("a.csv"))) == "naive-bayes(mcar=a.csv)"
    model = NaiveBayes(pl.DataFrame({"rating": [1]}))
    assert str(model) == "naive-bayes(mcar=<DataFrame>)"
    assert len({model, model}) == 1


@pytest.mark.parametrize(
    ("mcar", "says"),
    [
        (pl.DataFrame({"user": [1], "item": [1]}), "no column 'rating'"),
        (pl.DataFrame({"rating": []}), "has no ratings"),
        (pl.DataFrame({"rating": [1.0, None]}), "row 2 has no value, expected a number"),
        (pl.DataFrame({"rating": [1.0, float("inf")]}), "row 2 has inf"),
        (pl.DataFrame({"rating": ["good"]}), "row 1 has 'good', expected a number"),
        (pl.DataFrame({"rating": [1], "user": [1]}), "no column 'item'"),
        (np.ones((2, 2)), "an array of shape"),
        (7, "int is not a table"),
        ("nowhere.csv", "nowhere.csv: no such file"),
    ],
)
def test_bad_samples_are_refused(mcar: object, says: str) -> None:
    with pytest.raises(DataError, match=says):
        NaiveBayes(mcar).observe(rated({1: 3}, 2, 3))


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("naive-bayes", "needs mcar, as in"),
        ("naive-bayes(mcar=a.csv, smoothing=-1)", "must be 0 or more"),
        ("naive-bayes(mcar=a.csv, clip=2)", "must be from 0"),
        ("naive-bayes(mcr=a.csv)", "did you mean 'mcar'"),
    ],
)
def test_bad_words_are_refused(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        PropensityModel.from_word(word)
