"""Data for Table 3: a log that users chose, and items drawn at random for the same users."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions, Split
from unskew.data.pairs import is_among
from unskew.errors import DataError
from unskew.studies.framework.study import Context
from unskew.studies.yang2018.yahoo import LIST_SIZE, RELEVANT, BiasedSplit, biased_split, eligible_users

COAT, YAHOO = "coat", "yahoo-r3"
POSITIVE = f"rating>={RELEVANT:g}"
COAT_LIST = 96  # beside random lists of 16: recall@6 is to 96 what recall@1 is to 16


@dataclass(frozen=True)
class Comparison:
    """A metric on the biased test, and the same on the random test.

    Parameters
    ----------
    name : str
        What it is called in the table.
    biased, random : str
        The metric's words on either test.
    lists : bool
        Whether items are ranked among the user's list only, as in the paper, or in the full catalogue.
    """

    name: str
    biased: str
    random: str
    lists: bool = False


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A data set, and how it is put to the test.

    Parameters
    ----------
    name : str
    positives : Interactions
        What users chose and liked.
    random : Interactions
        Ratings of random items, of the test users.
    users : array of int
        Codes of the test users.
    size : int
        Items drawn for each of them to make the biased test.
    comparisons : tuple of Comparison
    overlap : Overlap
    """

    name: str
    positives: Interactions
    random: Interactions
    users: Ints
    size: int
    comparisons: tuple[Comparison, ...]
    overlap: "Overlap"

    def split(self, rng: np.random.Generator) -> "Tests":
        """Hold out a biased test, and leave out of the random one what is still learnt from."""
        n_items = self.positives.n_items
        parts = biased_split(self.positives, self.users, n_items, self.size, rng)
        learnt = is_among(self.random, parts.train, self.random.n_items)
        return Tests(parts, self.random.take(~learnt), int(learnt.sum()))


@dataclass(frozen=True, eq=False)
class Tests:
    """One draw of the biased test, with the random test that goes with it.

    Parameters
    ----------
    parts : BiasedSplit
    random : Interactions
        Rows of the random test that are no training positives.
    dropped : int
        Rows that are.
    """

    parts: BiasedSplit
    random: Interactions
    dropped: int

    def biased_split(self, *, lists: bool) -> Split:
        """To be judged with ``rating>=1`` as the positives."""
        held = self.parts.listed if lists else self.parts.listed.where("rating>=1")
        return Split(self.parts.train, held, candidates="listed" if lists else "unseen", origin="biased test")

    def random_split(self, *, lists: bool) -> Split:
        """To be judged with `POSITIVE`."""
        return Split(self.parts.train, self.random, candidates="listed" if lists else "unseen", origin="random test")


@dataclass(frozen=True)
class Overlap:
    """Cells that are both in what users chose and in the random test, of all users.

    Parameters
    ----------
    cells : int
    liked : int
        Of them, those rated 4 or more where users chose.
    same : int
        Of all, those with the same rating in both.
    """

    cells: int
    liked: int
    same: int

    @classmethod
    def of(cls, chosen: Interactions, random: Interactions) -> "Overlap":
        """Count them."""
        ratings = _ratings(chosen)
        inside = is_among(random, chosen, random.n_items)
        own = ratings[random.users[inside], random.items[inside]]
        assert random.values is not None
        return cls(int(inside.sum()), int((own >= RELEVANT).sum()), int((own == random.values[inside]).sum()))


COMPARISONS: Mapping[str, tuple[Comparison, ...]] = {
    COAT: (
        Comparison("AUC", "auc", "auc"),
        Comparison("Recall@30", "recall@30", "recall@30"),
        Comparison("AUC, lists", "auc", "auc", lists=True),
        Comparison("Recall, lists", "recall@6", "recall@1", lists=True),
    ),
    YAHOO: (
        Comparison("AUC, lists", "auc", "auc", lists=True),
        Comparison("Recall, lists", "recall@30", "recall@1", lists=True),
        Comparison("AUC", "auc", "auc"),
        Comparison("Recall@100", "recall@100", "recall@100"),
    ),
}
"""What is compared on each set; a cut-off is the same share of the items that are ranked on both sides."""


def find_benchmark(name: str, context: Context) -> Benchmark | None:
    """The benchmark of a data set; None when it is not at hand."""
    source = context.find(name)
    if source is None:
        return None
    split = source.read_split(context.place(name))
    size = COAT_LIST if name == COAT else LIST_SIZE
    return make_benchmark(name, split, size, COMPARISONS[name])


def make_benchmark(name: str, split: Split, size: int, comparisons: tuple[Comparison, ...]) -> Benchmark:
    """From ratings that users chose to give (train) and ratings of random items (test).

    Test users must have a relevant and an irrelevant random item that is no positive of theirs where they chose, so
    that they can be judged whichever way their positives are divided.

    Parameters
    ----------
    name : str
    split : Split
    size : int
        Items drawn for a user's biased test.
    comparisons : tuple of Comparison
    """
    chosen = split.train
    positives = chosen.where(POSITIVE)
    safe = split.test.take(~is_among(split.test, positives, split.test.n_items))
    users = eligible_users(chosen, safe)
    if not len(users):
        raise DataError(f"{name}: no user has two positives and both kinds of random items; is it the right data?")
    judged = split.test.take(np.isin(split.test.users, users))
    return Benchmark(name, positives, judged, users, size, comparisons, Overlap.of(chosen, split.test))


def _ratings(log: Interactions) -> Floats:
    ratings = np.full((log.n_users, log.n_items), np.nan)
    ratings[log.users, log.items] = np.nan if log.values is None else log.values
    return ratings
