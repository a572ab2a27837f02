"""The question of Tian & Ekstrand (2020) with real likes: Jester, on made ratings and, where available, real ones."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unskew.arrays import Floats
from unskew.data.sources import get_source, status_of
from unskew.errors import DataError
from unskew.studies import Context, get_study
from unskew.studies.framework.trials import Trials
from unskew.studies.tian2020 import jester
from unskew.studies.tian2020.jester import METRICS, POPULAR, UNIFORM

PRECISION, RECALL, MRR, _ = METRICS


def made_ratings(users: int = 60) -> Floats:
    """Jokes of unequal quality, rated by all but the last five people, who leave the first joke out."""
    rng = np.random.default_rng(0)
    ratings = np.clip(rng.normal(np.linspace(7, -3, 100), 4, size=(users, 100)), -10, 10).round(2)
    ratings[-5:, 0] = 99
    return ratings


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """A context in which Jester is a small file."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "jester").mkdir()
    ratings = made_ratings()
    lines = (f"{(row != 99).sum()},{','.join(f'{value:g}' for value in row)}\n" for row in ratings)
    (folder / "jester" / "jester-data-1.csv").write_text("".join(lines))
    return Context(trials=6, folder=folder, cache=folder / "cache")


@pytest.fixture(scope="module")
def values(context: Context) -> Trials:
    likes = jester.likes_of(context)
    assert likes is not None
    return jester.naive_values({world: jester.simulate(context, likes, world) for world in jester.WORLDS})


def test_likes_are_the_high_ratings_of_the_people_who_rated_all(context: Context) -> None:
    likes = jester.likes_of(context)
    assert likes is not None
    complete = made_ratings()[:-5]
    liked = [np.flatnonzero(row >= 5) for row in complete if (row >= 5).any()]
    assert likes.n_users == len(liked) == 55
    for user, items in enumerate(liked):
        rows = slice(likes.offsets[user], likes.offsets[user + 1])
        assert likes.items[rows].tolist() == items.tolist()
        assert likes.strength is not None
        assert likes.strength[rows].tolist() == complete[user, items].tolist()


def test_a_file_in_which_nobody_rated_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jester").mkdir()
    (tmp_path / "jester" / "jester-data-1.csv").write_text(f"99,99{',5' * 99}\n")
    with pytest.raises(DataError, match="none of 1 users rated all 100 jokes"):
        jester.likes_of(Context(folder=tmp_path))


def test_a_person_who_likes_nothing_is_left_out() -> None:
    likes = jester.preferences(np.array([[5.0, 4.9], [-10.0, 4.99], [7.0, 9.0]]))
    assert (likes.n_users, likes.counts.tolist(), likes.items.tolist()) == (2, [1, 2], [0, 0, 1])


def test_the_oracle_is_perfect_in_truth(values: Trials) -> None:
    for world in jester.WORLDS:
        for metric in (PRECISION, MRR):
            assert values[world, "oracle", metric, "truth"] == pytest.approx(np.ones(6))


def test_the_oracle_ranks_by_the_rating_so_what_is_observed_matters(values: Trials) -> None:
    for world in jester.WORLDS:
        error = values[world, "oracle", RECALL, "observed"] - values[world, "oracle", RECALL, "truth"]
        assert np.abs(error).max() > 1e-4


def test_runs_are_fixed_by_the_seed(context: Context, values: Trials) -> None:
    likes = jester.likes_of(context)
    assert likes is not None
    again, other = (
        jester.naive_values({UNIFORM: jester.simulate(replace(context, cache=None, seed=seed), likes, UNIFORM)})
        for seed in (0, 1)
    )
    key = (UNIFORM, "popular", RECALL, "observed")
    assert np.array_equal(again[key], values[key])
    assert not np.array_equal(other[key], values[key])


def test_the_table_runs_with_claims_of_ours_alone(context: Context) -> None:
    result = get_study("tian2020").run(context, ["jester"])
    (table,) = result.tables
    assert len(table.cells) == 2 * 3 * 4 * 2 + 2 * 4
    assert all(cell.ours is not None and cell.paper is None and cell.reference is None for cell in table.cells)
    assert {claim.source for claim in table.claims} == {"ours"}
    assert len(table.claims) == 7
    assert len(table.figures[0].panels) == 4


def test_without_the_data_every_cell_says_so(tmp_path: Path) -> None:
    result = get_study("tian2020").run(Context(folder=tmp_path), ["jester"])
    assert result.status == 2
    assert all(cell.ours is None and "jester is not here" in cell.note for cell in result.cells)


def shifted(values: Trials, key: tuple[str, ...], value: float) -> Trials:
    """The same with another observed value in all runs, and a little noise."""
    noise = np.linspace(-1e-4, 1e-4, 6)
    return replace(values, groups={**values.groups, (*key, "observed"): value + noise})


def test_claims_follow_the_numbers(values: Trials) -> None:
    def holds(changed: Trials, part: str) -> bool | None:
        (one,) = [claim for claim in jester.claims(changed) if part in claim.claim]
        return one.holds

    biased = shifted(values, (UNIFORM, "oracle", RECALL), 0.99)
    assert holds(biased, "without bias") is False
    low = shifted(values, (POPULAR, "popular", RECALL), 0.0)
    assert holds(low, "recall is overestimated") is False
    high = shifted(values, (UNIFORM, "random", PRECISION), 0.99)
    assert holds(high, "underestimated for all") is False
    inverted = shifted(values, (POPULAR, "oracle", MRR), 0.0)
    assert holds(inverted, "observed by popularity: popular is ranked above") is False
    assert holds(inverted, "observed by equal chances: popular is ranked above") is True


FOLDER = Path(os.environ.get("UNSKEW_DATA", ""))


@pytest.mark.skipif(
    "UNSKEW_DATA" not in os.environ or status_of(get_source("jester"), FOLDER / "jester").presence != "present",
    reason="jester is not in the folder that UNSKEW_DATA names",
)
def test_7200_people_rated_all_jokes_and_most_of_them_like_some() -> None:
    likes = jester.likes_of(Context(folder=FOLDER))
    assert likes is not None
    assert (likes.n_users, likes.n_items) == (7200 - 297, 100)
