"""Hostile inputs of a fixed seed, and those that once failed, are accepted or refused, and nothing else."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from families import FAMILIES
from families.family import Family, HalfWritten, Recipe, Silent
from judging import BAD, Judge, Kept, corpus
from run import planned

from unskew.errors import DataError

INPUTS, SEED = 2000, 1
PLANNED = list(planned(INPUTS, SEED))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    one = Judge()
    yield one
    one.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_no_input_of_a_fixed_seed_has_a_bad_outcome(judge: Judge, family: str) -> None:
    bad = []
    for case in PLANNED:
        if case.family == family:
            outcome, words = judge.judge(family, judge.recipe(case))
            if outcome in BAD:
                bad.append(f"{outcome}: {words}\n{case.command}")
    assert not bad, "\n\n".join(bad)


@pytest.mark.parametrize("kept", corpus(), ids=lambda kept: kept.name)
def test_what_once_failed_is_accepted_or_refused(judge: Judge, kept: Kept) -> None:
    outcome, words = judge.judge(kept.family, kept.recipe)
    assert outcome not in BAD, words
    assert kept.outcome in {"", outcome}, words


def test_an_input_is_made_from_its_name_alone(judge: Judge) -> None:
    for case in PLANNED[::50]:
        assert repr(judge.recipe(case)) == repr(judge.recipe(case))
    assert len({repr(judge.recipe(case)) for case in PLANNED[:20]}) > 10


class Toy(Family):
    """Does what its recipe says."""

    def make(self, rng: random.Random) -> Recipe:
        return {}

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        if "warning" in recipe:
            import numpy as np

            np.float32(1e38) * np.float32(10)
        if "error" in recipe:
            raise recipe["error"]


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("recipe", "outcome"),
    [
        ({}, "accepted"),
        ({"error": DataError("no")}, "refused"),
        ({"error": ValueError("no")}, "traceback"),
        ({"error": BaseException("a panic")}, "traceback"),
        ({"warning": True}, "traceback"),
        ({"error": MemoryError()}, "memory"),
        ({"error": caused(DataError("no"), MemoryError())}, "memory"),
        ({"error": Silent("other numbers")}, "silent"),
        ({"error": HalfWritten("a file")}, "half-written"),
    ],
)
def test_outcomes_are_classed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recipe: dict[str, Any], outcome: str
) -> None:
    monkeypatch.setitem(FAMILIES, "toy", Toy)
    one = Judge()
    assert one.judge("toy", recipe)[0] == outcome
    one.close()
