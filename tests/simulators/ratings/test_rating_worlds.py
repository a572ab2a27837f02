"""The semi-synthetic world of Schnabel et al. 2016: its parts by hand, and the numbers that its marginals give."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schnabel_goldens import MAE, MSE

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, DataError, PropensityError, UnskewError
from unskew.estimators import Aoa, Ips, Rows, Snips, ips_variance
from unskew.simulators import (
    MARGINALS,
    MovieLovers,
    RatingWorld,
    draw_observed,
    observation,
    prediction_matrices,
    relabel,
)

STARS = np.arange(1, 6)
NAMES = ["REC_ONES", "REC_FOURS", "ROTATE", "SKEWED", "COARSENED"]
ALPHAS = [1, 0.5, 0.25, 0.125, 0.0625, 0.03125]

# deviations of IPS and SNIPS of the squared error
MSE_DEVIATIONS = {
    0.25: [(0.0278, 0.0273), (0.0002, 0.0003), (0.1262, 0.0604), (0.0520, 0.0446), (0.0317, 0.0136)],
    0.03125: [(0.5002, 0.4907), (0.0001, 0.0037), (2.2715, 1.0179), (0.9122, 0.7866), (0.5681, 0.2323)],
}


@cache
def full() -> tuple[Ints, dict[str, Floats]]:
    """Ratings in the size of MovieLens 100K, whatever their order in the matrix, and the five predictions."""
    ratings = relabel(np.random.default_rng(0).normal(size=(943, 1682)))
    return ratings, prediction_matrices(ratings, rng=1)


def skewed_power(stars: int, power: int) -> float:
    """E |clip(N(y, ((6 - y) / 2)^2), 0, 6) - y|^power, by quadrature."""
    from scipy.integrate import quad
    from scipy.stats import norm

    spread = (6 - stars) / 2
    inside, _ = quad(lambda x: abs(x - stars) ** power * norm.pdf(x, stars, spread), 0, 6, points=[stars])
    below, above = norm.cdf(0, stars, spread), norm.sf(6, stars, spread)
    return float(inside + stars**power * below + (6 - stars) ** power * above)


def mean_power(name: str, power: int) -> Floats:
    """E[|error|^power | rating], by the definition of the matrices, for ratings 1 to 5."""
    ones, _, _, fours, fives = MARGINALS
    wrong = {
        "REC_ONES": [4**power * fives / ones, 0, 0, 0, 0],
        "REC_FOURS": [0, 0, 0, fives / fours, 0],
        "ROTATE": [4**power, 1, 1, 1, 1],
        "COARSENED": [2**power, 1, 0, 0, 1],
    }
    return np.array(wrong[name] if name in wrong else [skewed_power(stars, power) for stars in STARS.tolist()])


def weights(alpha: float) -> Floats:
    """P of ratings 1 to 5 at an expected density of 5 %."""
    relative = alpha ** np.maximum(4.0 - STARS, 0)
    return np.asarray(0.05 * relative / (relative @ MARGINALS))


def test_relabelling_by_hand() -> None:
    """Eight cells at 50, 25 and 25 %: four ones, two twos, two threes; of equal cells the first gets the less."""
    completed = np.array([[0.3, 0.1, 0.3, 0.3], [9.0, 0.2, 0.3, -5.0]])
    assert relabel(completed, (0.5, 0.25, 0.25)).tolist() == [[1, 1, 2, 2], [3, 1, 3, 1]]


def test_counts_are_differences_of_rounded_cumulative_counts() -> None:
    """Seven cells at .3, .3 and .4 end at 2.1, 4.2 and 7: two, two and three of them."""
    assert np.bincount(relabel([np.arange(7)], (0.3, 0.3, 0.4)).ravel()).tolist() == [0, 2, 2, 3]


@given(rows=st.integers(1, 12), columns=st.integers(1, 12), seed=st.integers(0, 1000))
def test_relabelled_counts_are_within_one_of_the_marginals_and_keep_the_order(
    rows: int, columns: int, seed: int
) -> None:
    # few values, so that ties are common
    completed = np.random.default_rng(seed).integers(0, 6, (rows, columns)).astype(float)
    ratings = relabel(completed)
    counts = np.bincount(ratings.ravel(), minlength=6)[1:]
    assert counts.sum() == rows * columns
    assert np.abs(counts - np.array(MARGINALS) * rows * columns).max() <= 1
    in_order = np.lexsort((np.arange(rows * columns), completed.ravel()))
    assert (np.diff(ratings.ravel()[in_order]) >= 0).all()


def test_only_the_order_of_the_completed_matrix_matters() -> None:
    completed = np.random.default_rng(0).normal(size=(30, 40))
    assert np.array_equal(relabel(completed), relabel(np.exp(completed) * 100 - 3))


def test_the_full_matrix_has_the_marginals_of_yahoo() -> None:
    shares = np.bincount(full()[0].ravel())[1:] / (943 * 1682)
    assert shares == pytest.approx([0.52624, 0.24193, 0.14389, 0.06243, 0.02552], abs=6e-6)


def test_the_observation_model_has_the_paper_s_numbers() -> None:
    ratings, _ = full()
    propensity = observation(ratings, 0.25)
    assert propensity.mean() == pytest.approx(0.05, rel=1e-12)
    each = [float(propensity[ratings == stars][0]) for stars in STARS]
    assert each == pytest.approx([0.00531, 0.02122, 0.08488, 0.33954, 0.33954], abs=5e-6)
    observed = np.bincount(ratings.ravel(), weights=propensity.ravel())[1:] / propensity.sum()
    assert observed == pytest.approx([0.0558, 0.1027, 0.2443, 0.4239, 0.1733], abs=5e-5)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_density_is_met_on_the_very_ratings_given(alpha: float) -> None:
    ratings = np.random.default_rng(0).integers(1, 6, (20, 30))
    propensity = observation(ratings, alpha, density=0.1)
    assert propensity.mean() == pytest.approx(0.1, rel=1e-12)
    assert observation(full()[0], alpha).max() < 1
    fours = propensity[ratings == 4][0]
    assert propensity[ratings == 5][0] == fours
    assert propensity[ratings == 1][0] == pytest.approx(fours * alpha**3)


def test_cells_are_observed_as_often_as_their_propensity_says() -> None:
    """Each of five groups of 4000 cells within 5 standard deviations: wrong for one seed in 300,000."""
    ratings = np.repeat(STARS, 4000)[None, :]
    propensity = observation(ratings, 0.5, density=0.3)
    seen = draw_observed(propensity, rng=4)
    chance = propensity[0, ::4000]
    counts = seen.reshape(5, 4000).sum(axis=1)
    assert (np.abs(counts - 4000 * chance) < 5 * np.sqrt(4000 * chance * (1 - chance))).all()


def test_what_is_certain_is_always_observed() -> None:
    assert draw_observed(np.array([[0.0, 1.0]] * 500), rng=0).sum(axis=0).tolist() == [0, 500]


def test_the_five_predictions_by_hand() -> None:
    ratings = np.array([[1, 1, 1, 2, 3], [4, 4, 5, 5, 4]])
    matrices = prediction_matrices(ratings, rng=0)
    assert list(matrices) == NAMES
    assert matrices["ROTATE"].tolist() == [[5, 5, 5, 1, 2], [3, 3, 4, 4, 3]]
    assert matrices["COARSENED"].tolist() == [[3, 3, 3, 3, 3], [4, 4, 4, 4, 4]]
    for name, stars in (("REC_ONES", 1), ("REC_FOURS", 4)):
        turned = matrices[name] != ratings
        assert turned.sum() == 2
        assert (ratings[turned] == stars).all()
        assert (matrices[name][turned] == 5).all()


def test_the_cells_that_become_fives_are_picked_anew_by_each_seed() -> None:
    ratings, matrices = full()
    again, other = prediction_matrices(ratings, rng=1), prediction_matrices(ratings, rng=2)
    for name in NAMES:
        assert np.array_equal(matrices[name], again[name])
        assert np.array_equal(matrices[name], other[name]) == (name in {"ROTATE", "COARSENED"})


def test_skewed_predictions_are_clipped_normals() -> None:
    """Means of error and squared error for each rating within 5 standard errors: wrong for one seed in 170,000."""
    ratings, matrices = full()
    predicted = matrices["SKEWED"]
    assert (predicted.min(), predicted.max()) == (0, 6)
    for stars in STARS.tolist():
        error = np.abs(predicted[ratings == stars] - stars)
        for power in (1, 2):
            close = 5 * np.std(error**power) / np.sqrt(len(error))
            assert np.mean(error**power) == pytest.approx(skewed_power(stars, power), abs=close)


@pytest.mark.parametrize("name", NAMES)
def test_table_1_follows_from_the_marginals(name: str) -> None:
    """True and naive MAE, and the deviations of IPS and SNIPS over draws of what is observed."""
    chance, share, loss, square = weights(0.25), np.array(MARGINALS), mean_power(name, 1), mean_power(name, 2)
    true, naive = loss @ share, loss @ (share * chance) / 0.05
    variance = share * (1 - chance) / chance / (943 * 1682)
    ips = np.sqrt(square @ variance)
    snips = np.sqrt((square - 2 * true * loss + true**2) @ variance)
    assert (true, naive, ips, snips) == pytest.approx(MAE[name], abs=5.1e-5)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "SKEWED"])
def test_the_world_has_the_numbers_of_table_1_to_the_last_digit(name: str) -> None:
    ratings, matrices = full()
    loss, propensity = np.abs(matrices[name] - ratings), observation(ratings, 0.25)
    naive = (loss * propensity).sum() / propensity.sum()
    ips, snips = (np.sqrt(ips_variance(x, propensity)) for x in (loss, loss - loss.mean()))
    # the naive loss of REC_ONES and the like is as random as the cells turned, but all ones have the same P
    assert (loss.mean(), naive, ips, snips) == pytest.approx(MAE[name], abs=5.5e-5)


def test_the_world_has_the_numbers_of_table_1_for_skewed_but_for_its_noise() -> None:
    """Means within 5 standard errors of the noise, deviations within 1 %; about one seed in 10^6 fails wrongly."""
    ratings, matrices = full()
    loss, propensity = np.abs(matrices["SKEWED"] - ratings), observation(ratings, 0.25)
    true, naive, ips, snips = MAE["SKEWED"]
    noise = 5 * np.std(loss)
    few = np.sqrt(np.sum(propensity**2)) / np.sum(propensity)
    assert loss.mean() == pytest.approx(true, abs=5.5e-5 + noise / np.sqrt(loss.size))
    assert (loss * propensity).sum() / propensity.sum() == pytest.approx(naive, abs=5.5e-5 + noise * few)
    found = [np.sqrt(ips_variance(x, propensity)) for x in (loss, loss - loss.mean())]
    assert found == pytest.approx([ips, snips], rel=0.01)


def test_the_closed_forms_of_the_true_error() -> None:
    ratings, matrices = full()
    p1, p2, _, _, p5 = np.bincount(ratings.ravel())[1:] / ratings.size
    errors = {name: float(np.abs(matrices[name] - ratings).mean()) for name in NAMES}
    assert errors["REC_ONES"] == pytest.approx(4 * p5, rel=1e-12)
    assert errors["REC_FOURS"] == pytest.approx(p5, rel=1e-12)
    assert errors["ROTATE"] == pytest.approx(1 + 3 * p1, rel=1e-12)
    assert errors["COARSENED"] == pytest.approx(2 * p1 + p2 + p5, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_naive_squared_error_for_each_alpha(name: str) -> None:
    square, share = mean_power(name, 2), np.array(MARGINALS)
    found = [float(square @ (share * weights(alpha)) / 0.05) for alpha in ALPHAS]
    assert found == pytest.approx(MSE[name], abs=5.1e-5)
    assert found[0] == pytest.approx(float(square @ share))


@pytest.mark.parametrize("alpha", MSE_DEVIATIONS)
def test_the_deviations_of_the_squared_error(alpha: float) -> None:
    """SNIPS varies less for four of the five, but not for REC_FOURS."""
    chance, share = weights(alpha), np.array(MARGINALS)
    variance = share * (1 - chance) / chance / (943 * 1682)
    for name, expected in zip(NAMES, MSE_DEVIATIONS[alpha], strict=True):
        loss, square = mean_power(name, 2), mean_power(name, 4)
        true = loss @ share
        ips, snips = np.sqrt(square @ variance), np.sqrt((square - 2 * true * loss + true**2) @ variance)
        assert (ips, snips) == pytest.approx(expected, abs=5.1e-5)
        assert (snips < ips) == (name != "REC_FOURS")


def small(alpha: float = 0.25) -> RatingWorld:
    return RatingWorld.skewed(relabel(np.random.default_rng(0).normal(size=(60, 80))), alpha)


def test_a_draw_has_the_value_and_propensity_of_its_cells() -> None:
    world = small()
    log = world.draw(rng=3)
    assert log.values is not None
    assert log.propensity is not None
    assert (log.n_users, log.n_items) == (world.n_users, world.n_items) == (60, 80)
    assert np.array_equal(log.values, world.ratings[log.users, log.items])
    assert np.array_equal(log.propensity, world.propensity[log.users, log.items])
    assert np.array_equal(
        np.sort(log.users.astype(int) * 80 + log.items), np.flatnonzero(draw_observed(world.propensity, 3))
    )
    assert (log.sha256, log.sha256 == world.draw(rng=4).sha256) == (world.draw(rng=3).sha256, False)


def test_users_and_items_are_declared_even_when_nothing_is_observed() -> None:
    world = RatingWorld(np.ones((3, 4), dtype=int), np.full((3, 4), 1e-12), alpha=1)
    log = world.draw(0)
    assert (len(log), log.n_users, log.n_items) == (0, 3, 4)


def test_at_alpha_one_snips_is_the_naive_average_and_ips_nearly() -> None:
    world = small(alpha=1)
    loss = np.abs(prediction_matrices(world.ratings, rng=2)["SKEWED"] - world.ratings)
    rows = Rows.of_matrix(loss, world.propensity, draw_observed(world.propensity, 5))
    naive = Aoa().terms(rows, "loss").value
    assert Snips().terms(rows, "loss").value == pytest.approx(naive, rel=1e-12)
    # with P put at the density that was drawn, IPS is the naive average too
    drawn = Rows.of_matrix(loss, np.array(len(rows) / loss.size), draw_observed(world.propensity, 5))
    assert Ips().terms(drawn, "loss").value == pytest.approx(naive, rel=1e-12)


def test_movie_lovers_by_hand() -> None:
    world = MovieLovers(p=0.4, lovers=(1, 2), films=(1, 2, 1))
    assert world.ratings.tolist() == [[5, 1, 1, 3], [1, 5, 5, 3], [1, 5, 5, 3]]
    assert world.propensity == pytest.approx(np.array([[0.4, 0.04, 0.04, 0.2], *([[0.04, 0.4, 0.4, 0.2]] * 2)]))
    better, worse = world.predictions
    assert np.abs(better - world.ratings).tolist() == [[0, 0, 0, 2]] * 3
    assert np.abs(worse - world.ratings).tolist() == [[0, 4, 4, 0], [4, 0, 0, 0], [4, 0, 0, 0]]


SOME = np.array([[1, 4], [4, 5]])


@pytest.mark.parametrize(
    "call, error, hint",
    [
        (lambda: relabel([1.0, 2.0]), DataError, "users by items"),
        (lambda: relabel(np.empty((0, 3))), DataError, "at least one"),
        (lambda: relabel([[1.0, np.nan]]), DataError, "user 0, item 1 is nan"),
        (lambda: relabel([["a"]]), DataError, "expected numbers"),
        (lambda: relabel([[1.0]], (0.5, 0.4)), ConfigError, "add up to 1"),
        (lambda: relabel([[1.0]], (1.5, -0.5)), ConfigError, "0 or more"),
        (lambda: relabel([[1.0]], ()), ConfigError, "add up to 1"),
        (lambda: observation(SOME, 0), ConfigError, "alpha=0: expected"),
        (lambda: observation(SOME, 1.5), ConfigError, "alpha=1.5: expected"),
        (lambda: observation(SOME, 0.5, density=0), ConfigError, "density=0: expected"),
        (lambda: observation([[0, 3]], 0.5), DataError, "0 of user 0, item 0"),
        (lambda: observation([[1, 3.5]], 0.5), DataError, "3.5 of user 0, item 1"),
        # ones alone at alpha = 1/4 reach 1/64 at most
        (lambda: observation([[1, 1]], 0.25), PropensityError, "needs P = 3.2 .* a density of at most 0.0156"),
        (lambda: draw_observed(np.array([[1.2]])), PropensityError, "1.2 .* not a probability"),
        (lambda: draw_observed(np.array([[np.nan]])), PropensityError, "nan .* not a probability"),
        (lambda: prediction_matrices([[5, 5, 1, 4, 4]]), DataError, "only 1 have 1"),
        (lambda: prediction_matrices([[5, 5, 1, 1, 4]]), DataError, "only 1 have 4"),
        (lambda: RatingWorld(SOME, np.ones((1, 2)), 1), DataError, "every cell needs a P"),
        (lambda: RatingWorld(SOME, np.zeros((2, 2)), 1), PropensityError, "needs a chance above 0"),
        (lambda: MovieLovers(p=0), ConfigError, "p=0: expected"),
        (lambda: MovieLovers(lovers=(1, -1)), ConfigError, "counts of 0 or more"),
        (lambda: MovieLovers(films=(0, 0, 0)), ConfigError, "at least one user and one film"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(call: Any, error: type[UnskewError], hint: str) -> None:
    with pytest.raises(error, match=hint) as caught:
        call()
    assert "\n" not in str(caught.value)
