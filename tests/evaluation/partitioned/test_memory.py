"""The memory that a run over parts needs, and what a limit that is too small says."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.data import Vocabulary
from unskew.errors import ConfigError
from unskew.evaluation.partitioned.counting import Counts, PartFacts
from unskew.evaluation.partitioned.memory import TEST_ROW, TRAIN_ROW, check_memory, parse_size
from unskew.ranking import Threads


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 2**32), ("500MB", 5 * 10**8), ("1.5 GiB", 3 * 2**29), ("1024", 1024), ("2kib", 2048), ("1TB", 10**12)],
)
def test_sizes_have_the_usual_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "4 gigs", "-1GB", "4GiBB", "1e9"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected a size, as in 4GiB"):
        parse_size(text)


def make_counts(parts: int, train: int, test: int) -> Counts:
    """Counts of a log of 1,000 items with these rows per part."""
    items, zeros = Vocabulary(np.arange(1000)), np.zeros(1000, dtype=np.int64)
    part = PartFacts((train, test), (0, 0), ("a", "b"), (False, False, False, False), np.inf)
    return Counts(items, zeros, zeros, zeros, (part,) * parts)


def test_a_limit_that_is_too_small_says_how_many_parts_would_do_and_they_do() -> None:
    counts, rest = make_counts(4, 50_000_000, 5_000_000), ({"m": None}, Threads(2), 2, None)
    with pytest.raises(ConfigError, match=r"2 of 4 parts at a time need about [\d.]+ GiB; (\d+) parts would") as e:
        check_memory("8GiB", counts, *rest)
    parts = int(str(e.value).split("GiB; ")[1].split()[0])
    assert parts > 4
    check_memory("8GiB", make_counts(parts, 200_000_000 // parts, 20_000_000 // parts), *rest)
    needed = 2 * (TRAIN_ROW * 50_000_000 + TEST_ROW * 5_000_000)
    check_memory(f"{needed + 2**30}", counts, *rest)


def test_a_limit_below_the_catalogue_names_what_else_would_help() -> None:
    counts = replace(make_counts(4, 10, 10))
    with pytest.raises(ConfigError, match="use a smaller block_size"):
        check_memory("100MB", counts, {"m": None}, Threads(2), 2, None)
