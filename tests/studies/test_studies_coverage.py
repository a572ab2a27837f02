import numpy as np
import pytest

from unskew.estimators import Aoa, Ips, Snips
from unskew.studies import CoverageRow, compare_forms, measure_coverage
from unskew.studies.coverage import FORMS, POSITIVES, Population, as_table, simulate


def by_level(rows: list[CoverageRow]) -> list[dict[str, CoverageRow]]:
    size = len(FORMS)
    return [{row.estimator: row for row in rows[k : k + size]} for k in range(0, len(rows), size)]


def assert_the_default_hardly_errs(rows: list[CoverageRow]) -> None:
    for level in by_level(rows):
        naive = min(abs(level["aoa"].bias), abs(level["aoa(per=pair)"].bias))
        assert abs(level["snips"].bias) < naive / 10


def show(capsys: pytest.CaptureFixture[str], rows: list[CoverageRow]) -> None:
    with capsys.disabled():
        print(f"\n{rows[0].worlds} worlds of {rows[0].users} users\n{as_table(rows)}")  # noqa: T201


def test_the_population_is_observed_as_it_says() -> None:
    rng = np.random.default_rng(0)
    population = Population.of_topics(60, 4, 15, np.linspace(0.1, 0.9, 60), rng=rng)
    draw = population.draw(20_000, rng)
    assert draw.relevant.mean() == pytest.approx(15, abs=0.2)
    # each observed row stands for 1 / P relevant ones
    assert np.sum(1 / draw.propensity) == pytest.approx(draw.relevant.sum(), rel=0.02)
    assert np.sum(draw.gains / draw.propensity) == pytest.approx(draw.total.sum(), rel=0.02)


def test_a_world_has_the_terms_of_its_own_users() -> None:
    rng = np.random.default_rng(0)
    population = Population.of_topics(20, 4, 3, np.full(20, 0.2), rng=rng)
    draw = population.draw(300, rng)
    for estimator in (Snips(), Ips(), Aoa()):
        worlds = list(draw.terms(estimator, 3))
        whole = next(iter(draw.terms(estimator, 1)))
        assert np.array_equal(np.concatenate([world.numerator for world in worlds]), whole.numerator)
        users = np.flatnonzero(draw.relevant) if isinstance(estimator, Ips) else np.unique(draw.user)
        assert [len(world.numerator) for world in worlds] == np.bincount(users // 100, minlength=3).tolist()


def test_when_all_is_observed_every_form_is_the_truth() -> None:
    rng = np.random.default_rng(0)
    population = Population.of_topics(50, 5, 10, np.ones(50), rng=rng)
    for row in simulate(population, [*FORMS, Ips()], worlds=1, users=300, rng=rng):
        assert row.bias == pytest.approx(0, abs=1e-12)
        assert row.coverage == 1


def test_a_few_worlds_tell_the_default_from_the_naive_average() -> None:
    rows = compare_forms(worlds=8)
    assert_the_default_hardly_errs(rows)
    assert [level["aoa"].positives for level in by_level(rows)] == pytest.approx(list(POSITIVES), rel=0.05)
    assert len(as_table(rows).splitlines()) == 2 + len(rows)


@pytest.mark.slow
def test_intervals_hold_their_target_in_93_to_97_of_100_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    rows = measure_coverage(worlds=4000)
    show(capsys, rows)
    assert [row.estimator for row in rows] == ["aoa(per=pair)", "ips", "snips"]
    for row in rows:
        assert row.worlds == 4000
        assert 0.93 <= row.coverage <= 0.97
        assert row.std_error == pytest.approx(row.spread, rel=0.05)


@pytest.mark.slow
def test_the_default_corrects_and_the_published_form_hardly(capsys: pytest.CaptureFixture[str]) -> None:
    rows = compare_forms(worlds=200)
    show(capsys, rows)
    assert_the_default_hardly_errs(rows)
    levels = by_level(rows)
    # with one positive a user the published form keeps most of the naive error; it fades as positives grow
    left = [level["snips(per=user)"].bias / level["aoa"].bias for level in levels]
    assert left[0] > 0.5
    assert left == sorted(left, reverse=True)
