"""Pass 1 over parts: how many rows each item has, and what all parts must agree on."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Candidates, Interactions, Split
from unskew.data.partitions import PartitionedSplit
from unskew.data.vocabulary import Vocabulary
from unskew.errors import DataError, Option


@dataclass(frozen=True)
class PartFacts:
    """What is kept of each part: numbers and fingerprints, first of train and then of the test."""

    rows: tuple[int, int]
    duplicates: tuple[int, int]
    digests: tuple[str, str]
    columns: tuple[bool, bool, bool, bool]  # whether train has values and times, and the test values and propensities
    first_test: float  # time of the first test row; infinity without times


@dataclass(frozen=True, eq=False)
class PartCounts:
    """How many rows each item has in one part."""

    facts: PartFacts
    items: Vocabulary
    train: Ints
    positives: Ints  # training rows that are positive
    test: Ints


@dataclass(frozen=True, eq=False)
class Counts:
    """How many rows each item has in all parts."""

    items: Vocabulary
    train: Ints
    positives: Ints
    test: Ints
    parts: tuple[PartFacts, ...]

    @classmethod
    def join(cls, parts: Iterable[PartCounts]) -> "Counts":
        """Add up the counts of parts, as they come; only the sums are kept."""
        facts, items = [], Vocabulary(np.empty(0, dtype=np.int64))
        sums = {name: np.zeros(0, dtype=np.int64) for name in ("train", "positives", "test")}
        for part in parts:
            facts.append(part.facts)
            known, items = items, items.union(part.items)
            before, places = known.codes_in(items), part.items.codes_in(items)
            for name, total in sums.items():
                sums[name] = np.zeros(len(items), dtype=np.int64)
                sums[name][before] = total
                sums[name][places] += getattr(part, name)
        return cls(items, sums["train"], sums["positives"], sums["test"], tuple(facts))

    @property
    def first_test(self) -> float | None:
        """The time of the first test row."""
        first = min(part.first_test for part in self.parts)
        return first if np.isfinite(first) else None

    @cached_property
    def data(self) -> dict[str, dict[str, Any]]:
        """Number of rows and a fingerprint of train and test, as in the JSON."""
        return {
            name: {
                "rows": sum(part.rows[k] for part in self.parts),
                "duplicates": sum(part.duplicates[k] for part in self.parts),
                "sha256": joint_digest(part.digests[k] for part in self.parts),
                "partitions": len(self.parts),
            }
            for k, name in enumerate(("train", "test"))
        }

    def split(self, train: Interactions, test: Interactions, positive: str | None, rule: Candidates) -> Split:
        """The split of a part, with the items and counts of the whole log."""
        whole: dict[str | None, Ints] = {None: self.train}
        if positive is not None:
            whole[positive] = self.positives
        return Split(
            replace(train.recode(train.user_vocabulary, self.items), whole=whole),
            replace(test.recode(test.user_vocabulary, self.items), whole={None: self.test}),
            candidates=rule,
            origin="by user, part by part",
        )

    def without_rows(self, positive: str | None, rule: Candidates) -> Split:
        """The split without rows, with the columns, items and counts of the whole log."""
        train_values, train_times, test_values, test_propensity = self.parts[0].columns
        train = Interactions.from_arrays([], [], n_users=0, n_items=0)
        nothing: Floats = np.empty(0)
        test = replace(train, values=nothing if test_values else None, propensity=nothing if test_propensity else None)
        train = replace(train, values=nothing if train_values else None, times=nothing if train_times else None)
        return self.split(train, test, positive, rule)


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts the rows of a part."""

    split: PartitionedSplit
    positive: str | None

    def count(self, part: int) -> PartCounts:
        """Read a part, and count."""
        train, test = self.split.train.read(part, strict=False), self.split.test.read(part)
        positives = train
        if self.positive is not None:
            try:
                positives = train.where(self.positive)
            except DataError:  # train lacks that column, so all its rows are positives
                positives = train
        items = train.item_vocabulary.union(test.item_vocabulary)
        places = train.item_vocabulary.codes_in(items), test.item_vocabulary.codes_in(items)
        size = len(items)
        facts = PartFacts(
            (len(train), len(test)),
            (train.duplicates, test.duplicates),
            (train.sha256, test.sha256),
            (
                train.values is not None,
                train.times is not None,
                test.values is not None,
                test.propensity is not None,
            ),
            float(test.times.min()) if test.times is not None and len(test) else np.inf,
        )
        return PartCounts(
            facts,
            items,
            np.bincount(places[0][train.items], minlength=size),
            np.bincount(places[0][positives.items], minlength=size),
            np.bincount(places[1][test.items], minlength=size),
        )


def check_counts(counts: Counts, split: PartitionedSplit) -> None:
    """Refuse data sets without rows."""
    for name, parts in (("train", split.train), ("test", split.test)):
        if not counts.data[name]["rows"]:
            raise DataError(f"{parts.location}: has no rows; check {Option(name)}")


def joint_digest(digests: Iterable[str]) -> str:
    """One fingerprint of those of all parts, in order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
