"""How users' means are brought together: the bias of the published mean, and what corrects it."""

import itertools
from typing import Any

import numpy as np
import pytest
from labelled_users import Labelled, Picks

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, DataError
from unskew.estimators import BetaBinomial, Kind, Rows, Terms, Ure, chance_of_any
from unskew.estimators.exposed.beta_binomial import OfCount

# ten candidates each, two exposed: one likes the first item, the other five that the model puts last
TWO = Labelled.recall([(1, *[0] * 9), (*[0] * 5, *[1] * 5)], k=1)
SIZES = (2, 2)


class KnownCounts:
    """In the place of what the samples tell: the true numbers of positives."""

    def __init__(self, counts: Ints) -> None:
        self.counts = counts

    def expect(self, of: OfCount, positives: Ints, exposed: Ints, population: Ints) -> Floats:
        found = zip(self.counts, exposed, population, strict=True)
        return np.array([float(of(np.array([n]), int(l), int(among))[0]) for n, l, among in found])


def all_terms(estimator: Ure, *, known: bool = False) -> list[Terms]:
    def terms(picks: Picks) -> Terms:
        rows = TWO.rows(picks)
        if known:
            vars(rows)["prior"] = KnownCounts(TWO.counts)
        return estimator.terms(rows, "mean")

    return [terms(picks) for picks in TWO.draws(SIZES)]


def expected_parts(terms: list[Terms]) -> tuple[float, float]:
    return (
        float(np.mean([each.numerator.sum() for each in terms])),
        float(np.mean([each.denominator.sum() for each in terms])),
    )


def test_the_published_mean_leans_to_users_with_many_positives() -> None:
    """Recall is 1 and 0, so the mean over users is .5; the one with five positives is more often in the sample."""
    values = [each.value for each in all_terms(Ure())]
    there = [value for value in values if value is not None]
    assert len(values) == 45 * 45
    assert len(values) - len(there) == 36 * 10  # neither has a positive
    assert np.mean(there) == pytest.approx(0.14865, abs=5e-6)
    assert TWO.totals / TWO.counts == pytest.approx([1, 0])


def test_weights_with_the_true_counts_make_both_sums_those_of_all_users() -> None:
    top, bottom = expected_parts(all_terms(Ure(aggregate="ipw"), known=True))
    assert top == pytest.approx(1.0, rel=1e-12)
    assert bottom == pytest.approx(2.0, rel=1e-12)
    top, bottom = expected_parts(all_terms(Ure()))
    assert top / bottom == pytest.approx(0.2 / (0.2 + 7 / 9), rel=1e-12)


def test_pooled_sums_are_those_of_all_positive_pairs() -> None:
    top, bottom = expected_parts(all_terms(Ure(aggregate="pooled")))
    assert top == pytest.approx(TWO.totals.sum(), rel=1e-12)
    assert bottom == pytest.approx(TWO.counts.sum(), rel=1e-12)


def test_pooled_sums_are_unbiased_where_samples_and_populations_differ() -> None:
    world = Labelled.recall([(1, 0, 1, 0, 0), (0, 1, 1, 1), (0, 0, 0, 0, 0, 1)], k=2)
    terms = [world.means(picks, Ure(aggregate="pooled")) for picks in world.draws((2, 3, 1))]
    top, bottom = expected_parts(terms)
    assert top == pytest.approx(world.totals.sum(), rel=1e-12)
    assert bottom == pytest.approx(world.counts.sum(), rel=1e-12)


def many_users(users: int, seed: int) -> tuple[Labelled, Floats]:
    """Users with 1 to 12 of 40 items liked; the fewer, the nearer to the top."""
    rng = np.random.default_rng(seed)
    labels = []
    for _ in range(users):
        n = int(rng.integers(1, 13))
        tilt = np.exp(-np.arange(40) / (4 * n))
        row = np.zeros(40, dtype=int)
        row[rng.choice(40, n, replace=False, p=tilt / tilt.sum())] = 1
        labels.append(row.tolist())
    world = Labelled.recall(labels, k=5)
    return world, world.totals / world.counts


def test_weighting_takes_away_a_part_of_the_bias_and_pooled_has_a_target_of_its_own() -> None:
    """300 users, 8 of 40 exposed, 60 draws; all comparisons are at more than 4 standard errors of the mean of 60."""
    world, recalls = many_users(300, 1)
    rng = np.random.default_rng(2)
    words = {"mean": Ure(), "ipw": Ure(aggregate="ipw"), "pooled": Ure(aggregate="pooled")}
    found: dict[str, list[float]] = {name: [] for name in words}
    for _ in range(60):
        picks = [rng.choice(40, 8, replace=False).tolist() for _ in range(300)]
        for name, estimator in words.items():
            found[name].append(world.means(picks, estimator).value or 0.0)
    means = {name: float(np.mean(values)) for name, values in found.items()}
    errors = {name: float(np.std(values) / np.sqrt(60)) for name, values in found.items()}
    macro, micro = float(recalls.mean()), float(world.totals.sum() / world.counts.sum())
    assert means["mean"] < macro - 4 * errors["mean"]
    gap = np.subtract(found["ipw"], found["mean"])  # on the same draws
    assert gap.mean() > 4 * gap.std() / np.sqrt(60)
    assert means["ipw"] < macro - 4 * errors["ipw"]  # and another part stays
    assert abs(means["pooled"] - micro) < 4 * errors["pooled"]
    assert abs(means["pooled"] - macro) > 4 * errors["pooled"]


def test_weights_are_those_of_the_counts_that_are_asked_for() -> None:
    """Plug-in: (L / l) n = 4 of 8 with one of two exposed: P = 1 - C(4, 2) / C(8, 2) = 22 / 28."""
    world = Labelled.recall([(1, 0, 0, 1, 0, 0, 1, 0), (0, 0, 0, 0, 0, 0, 0, 1)], k=2)
    picks = [(0, 1), (0, 1)]
    terms = world.means(picks, Ure(aggregate="ipw", counts="plug-in"))
    assert terms.denominator == pytest.approx([28 / 22, 0])
    assert terms.numerator == pytest.approx([28 / 22, 0])
    rows = world.rows(picks)
    prior = BetaBinomial.fit(rows.positives, rows.counts)
    numbers, chances = prior.posterior(1, 2, 8)
    weight = sum(p / float(chance_of_any(np.array([n]), 2, 8)[0]) for n, p in zip(numbers, chances, strict=True))
    assert world.means(picks, Ure(aggregate="ipw")).denominator == pytest.approx([weight, 0])


def test_users_without_a_positive_count_for_sums_and_pooled_alone() -> None:
    world = Labelled.recall([(1, 0, 0), (0, 1, 0)], k=1)
    rows = world.rows([(0, 1), (0, 2)])
    kinds: tuple[Kind, ...] = ("mean", "sum")
    counted = {
        (kind, each.aggregate): each.terms(rows, kind).n_users
        for kind, each in itertools.product(kinds, (Ure(), Ure(aggregate="ipw"), Ure(aggregate="pooled")))
    }
    assert counted == {
        ("mean", "mean"): 1, ("mean", "ipw"): 1, ("mean", "pooled"): 2,
        ("sum", "mean"): 2, ("sum", "ipw"): 2, ("sum", "pooled"): 2,
    }  # fmt: skip


@pytest.mark.parametrize("aggregate", ["mean", "ipw", "pooled"])
def test_nobody_with_a_positive_is_no_value_and_no_error(aggregate: Any) -> None:
    world = Labelled.recall([(0, 0, 1), (0, 0, 1)], k=1)
    assert world.means([(0, 1), (0, 1)], Ure(aggregate=aggregate)).value is None
    assert world.sums([(0, 1), (0, 1)], Ure(aggregate=aggregate)).value == 0


def test_all_items_exposed_give_the_metric_itself() -> None:
    world = Labelled.recall([(1, 0, 1, 0), (0, 1, 1, 1)], k=2)
    everything = [range(4), range(4)]
    assert world.means(everything, Ure()).value == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert world.means(everything, Ure(aggregate="ipw")).value == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert world.means(everything, Ure(aggregate="pooled")).value == pytest.approx(2 / 5)


@pytest.mark.parametrize("words", ["reduce=control", "aggregate=ipw, reduce=monotone", "aggregate=some", "counts=x"])
def test_options_that_do_not_go_together_are_refused(words: str) -> None:
    from unskew.estimators import Estimator

    with pytest.raises(ConfigError):
        Estimator.from_word(f"ure({words})")


@pytest.mark.parametrize(
    ("user", "positive", "population", "says"),
    [
        ([0, 0], [True], [5], "2 exposed rows but 1 labels"),
        ([0, 2], [True, False], [5, 5, 5], "at least one exposed row"),
        ([0, 0], [True, False], [5, 5], "at least one exposed row"),
        ([0, 0, 0], [True, False, True], [2], "3 exposed rows of a population of 2"),
    ],
)
def test_rows_that_do_not_fit_the_population_are_refused(
    user: list[int], positive: list[bool], population: list[int], says: str
) -> None:
    with pytest.raises(DataError, match=says):
        Rows(np.zeros(len(user)), np.array(user), total=np.array(population) * 1.0, positive=np.array(positive))
