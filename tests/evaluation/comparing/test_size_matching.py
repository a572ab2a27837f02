"""The sizes of another run: of each user where they are known, by rank from JSON, in proportion from a mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions, Report, Split, compare, evaluate
from unskew.arrays import Ints
from unskew.evaluation.comparing import notes
from unskew.evaluation.comparing.size_matching import couple, in_proportion, match_ranks
from unskew.evaluation.record import count_sizes
from unskew.ranking import MatrixScorer

SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=40)
METRICS = ["adg", "ndcg", "map", "mrr", "hit@5"]
ITEMS = 60


def histogram(sizes: Ints) -> dict[int, int]:
    return {int(size): users for size, users in count_sizes(sizes).items()}


def run(sizes: Ints, *, seed: int = 0, users: Ints | None = None) -> Report:
    """So many random positives for each user, all users scored alike."""
    n = len(sizes)
    rng = np.random.default_rng(seed)
    items = np.concatenate([1 + rng.choice(ITEMS - 1, size, replace=False) for size in sizes])
    codes = np.arange(n) if users is None else users
    test = Interactions.from_arrays(np.repeat(codes, sizes), items, n_users=400, n_items=ITEMS)
    train = Interactions.from_arrays([0], [0], n_users=400, n_items=ITEMS)
    model = {"m": MatrixScorer(np.tile(-np.arange(float(ITEMS)), (400, 1)))}
    return evaluate(model, Split(train, test), metrics=METRICS, estimators=["aoa"])


def expected(report: Report, other: object) -> list[float | None]:
    return [row.expected for row in compare(report, other).rows]  # type: ignore[arg-type]


def test_users_of_one_size_share_the_sizes_beside_them() -> None:
    mix = match_ranks(np.array([3, 1, 2, 2, 5]), {1: 2, 2: 2, 9: 1})
    np.testing.assert_allclose(mix.means, [2, 1, 1.5, 1.5, 9])
    np.testing.assert_array_equal(mix.sizes[:, 2], [1, 2])
    np.testing.assert_allclose(mix.weights[:, 2], [0.5, 0.5])


def test_other_numbers_of_users_are_laid_on_one_length() -> None:
    mix = match_ranks(np.array([4, 7]), {1: 1, 2: 1, 3: 1})
    np.testing.assert_allclose(mix.weights[:, 0], [2 / 3, 1 / 3])
    np.testing.assert_array_equal(mix.sizes, [[1, 2], [2, 3]])
    np.testing.assert_allclose(mix.weights[:, 1], [1 / 3, 2 / 3])


@given(SIZES, SIZES)
def test_matched_sizes_have_the_distribution_of_the_other_and_keep_the_order(here: list[int], there: list[int]) -> None:
    sizes = np.array(here)
    mix = match_ranks(sizes, histogram(np.array(there)))
    np.testing.assert_allclose(mix.weights.sum(axis=0), 1, rtol=1e-12)
    for size, users in histogram(np.array(there)).items():
        share = mix.weights[mix.sizes == size].sum() / len(here)
        assert share == pytest.approx(users / len(there), abs=1e-12)
    means = mix.means[np.argsort(sizes, kind="stable")]
    assert np.all(np.diff(means) >= -1e-12)
    assert all(np.ptp(mix.means[sizes == size]) == 0 for size in here)  # nobody is favoured


@given(SIZES, st.floats(1, 60))
def test_sizes_in_proportion_have_the_wanted_mean_and_are_not_rounded(here: list[int], mean: float) -> None:
    sizes = np.array(here)
    made = in_proportion(sizes, mean)
    assert made.mean() == pytest.approx(mean, rel=1e-9)
    assert made.min() >= 1
    above = made > 1
    np.testing.assert_allclose(made[above] / sizes[above], (made / sizes)[above].min() if above.any() else 1, rtol=1e-9)


def test_a_part_of_each_user_is_told_from_json_as_well_as_from_the_reports() -> None:
    """Sizes then are the tenth of a log of which those now are the fifth, so who had more has more."""
    log = np.random.default_rng(5).integers(10, 200, 400)
    now, before = run(np.round(0.2 * log).astype(int)), run(np.round(0.1 * log).astype(int), seed=1)
    exact, from_json = expected(now, before), expected(now, before.to_dict())
    np.testing.assert_allclose(np.array(from_json, dtype=float), np.array(exact, dtype=float), rtol=0.01, atol=0)
    assert exact[0] == 0
    assert min(number or 0 for number in exact[1:]) > 0.05


def test_json_without_the_sizes_is_spread_in_proportion_with_a_note() -> None:
    log = np.random.default_rng(5).integers(10, 200, 400)
    now, before = run(np.round(0.2 * log).astype(int)), run(np.round(0.1 * log).astype(int), seed=1)
    older = before.to_dict()
    older["run"] = {**older["run"], "judged": {"users": 400, "rows": older["run"]["judged"]["rows"]}}
    exact, spread = expected(now, before), expected(now, older)
    np.testing.assert_allclose(np.array(spread, dtype=float), np.array(exact, dtype=float), rtol=0.02, atol=0)
    assert notes.ONLY_MEAN.format(run="the other run") in compare(now, older).notes
    assert not any("approximation" in note for note in compare(now, before.to_dict()).notes)


def test_users_in_both_keep_their_own_size_when_some_are_in_one_only() -> None:
    now = run(np.tile([2, 6], 10))
    before = run(np.tile([1, 5], 10)[:18][::-1], seed=1, users=np.arange(2, 20))  # the one of few had many, and back
    coupling = couple(now.samples.judged, before.run, before)
    assert coupling.by_rank == 2
    np.testing.assert_allclose(
        coupling.mix.means[2:], before.samples.judged.offsets[1:] - before.samples.judged.offsets[:-1]
    )
    np.testing.assert_allclose(coupling.mix.means[:2], [1, 5])  # by rank
    assert notes.MATCHED_BY_RANK.format(users=2, total=20) in compare(now, before).notes
    back = couple(before.samples.judged, now.run, now)  # all of these are in the other
    assert back.by_rank == 0
    assert back.mix.sizes.shape == (1, 18)


def test_the_json_counts_users_by_their_rows() -> None:
    report = run(np.array([3, 1, 1, 12]))
    assert report.to_dict()["run"]["judged"] == {"users": 4, "rows": 17, "rows_a_user": {"1": 2, "3": 1, "12": 1}}
