"""Data of Table 3, Yahoo! R3 and Coat: test users, a biased test from what they chose, and a test of random items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unskew.arrays import Bools, Ints
from unskew.data import Interactions, Split
from unskew.data.pairs import is_among
from unskew.errors import ConfigError, DataError
from unskew.studies.framework.study import Context

COAT, YAHOO = "coat", "yahoo-r3"
RELEVANT = 4.0
POSITIVE = f"rating>={RELEVANT:g}"
LIST_SIZE = {YAHOO: 300, COAT: 96}
"""Items drawn for the biased test. The random lists of Coat have 16 items: recall@6 is to 96 what recall@1 is to 16."""
ATTEMPTS = 20


def eligible_users(train: Interactions, random: Interactions, *, relevant: float = RELEVANT, least: int = 2) -> Ints:
    """Codes of the users that both tests can judge (Yang et al. 2018, Table 3), ascending.

    They have a relevant and an irrelevant item in the random test, and `least` relevant ones in training, so that one
    can be held out and one be learnt from. In Yahoo! R3 there are 2,296. Items rated `relevant` or more are relevant.
    """
    if train.user_vocabulary != random.user_vocabulary:
        raise DataError(f"{train.name} and {random.name}: users are coded differently; put both into one Split")
    learnt, good = (log.where(f"rating>={relevant:g}").user_counts for log in (train, random))
    return np.flatnonzero((learnt >= least) & (good > 0) & (random.user_counts > good)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class BiasedSplit:
    """Training positives in two parts: what is left to learn from, and a test as biased as training is.

    `train` has all positives of users without a test. `listed` has the drawn items of each user, value 1 for those in
    `test` and 0 for the others: what they are ranked among under the candidate rule ``listed``, with ``rating>=1`` as
    the positives. `redrawn` counts the users whose first draw left a part without a positive, `moved` those for whom
    no draw was good, so that one positive was put into the empty part.
    """

    train: Interactions
    test: Interactions
    listed: Interactions
    redrawn: int
    moved: int


def biased_split(positives: Interactions, users: Ints, size: int, rng: np.random.Generator) -> BiasedSplit:
    """Hold out, for each user, the positives among `size` items drawn uniformly from all.

    The paper holds out "300 songs per user" of 1,000 and does not say how. Here they are drawn uniformly, whether the
    user has them or not, so the test is as skewed as training. Both parts must have a positive: the draw is repeated
    up to 20 times. Then one positive, drawn at random, changes place with an item that is not a positive. The users,
    given by their codes, have at least two of the positives, the relevant rows of training, each.
    """
    n_items = positives.n_items
    if not 0 < size < n_items:
        raise ConfigError(f"{size} of {n_items} items cannot be held out; draw at least 1, and fewer than there are")
    few = users[positives.user_counts[users] < 2]
    if len(few):
        first = positives.user_vocabulary.decode(few[:1]).tolist()[0]
        raise DataError(
            f"{positives.name}: user {first!r} ({len(few)} such) has fewer than 2 positives; one is to be held out and "
            "one to be learnt from, see eligible_users"
        )
    relevant = np.zeros((positives.n_users, positives.n_items), dtype=bool)
    relevant[positives.users, positives.items] = True
    draws = [_draw(relevant[user], size, rng) for user in users.tolist()]
    inside = np.zeros_like(relevant)
    for user, (items, _, _) in zip(users.tolist(), draws, strict=True):
        inside[user, items] = True
    owners, items = (codes.astype(np.int32) for codes in np.nonzero(inside))
    vocabularies = positives.user_vocabulary, positives.item_vocabulary
    values = relevant[owners, items].astype(np.float64)
    listed = Interactions(owners, items, *vocabularies, values=values, name="biased lists")
    held = inside[positives.users, positives.items]
    redrawn, moved = sum(attempts > 1 for _, attempts, _ in draws), sum(swapped for _, _, swapped in draws)
    return BiasedSplit(positives.take(~held), positives.take(held), listed, redrawn, moved)


def _draw(positive: Bools, size: int, rng: np.random.Generator) -> tuple[Ints, int, bool]:
    """Items of a user, ascending; how many draws it took; whether a positive had to be moved."""
    total = int(positive.sum())
    for attempt in range(1, ATTEMPTS + 1):
        drawn = np.sort(rng.permutation(len(positive))[:size])
        if 0 < positive[drawn].sum() < total:
            return drawn, attempt, False
    inside = np.zeros(len(positive), dtype=bool)
    inside[drawn] = True
    held = bool(positive[drawn].any())  # then all are in the list, and one leaves it; else one enters
    inside[rng.choice(np.flatnonzero(positive))] = not held
    inside[rng.choice(np.flatnonzero(~positive & (inside != held)))] = held
    return np.flatnonzero(inside), ATTEMPTS, True


@dataclass(frozen=True)
class Comparison:
    """A metric, by its word on the biased test and its word on the random test.

    With `lists` items are ranked among the user's list only, as in the paper; else in the full catalogue.
    """

    name: str
    biased: str
    random: str
    lists: bool = False

    @property
    def kind(self) -> str:
        """The metric without its cut-off."""
        return self.biased.partition("@")[0]


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


class Overlap(NamedTuple):
    """Cells of all users in both tests: all, those rated 4 or more where users chose, those with the same rating."""

    cells: int
    liked: int
    same: int

    @classmethod
    def of(cls, chosen: Interactions, random: Interactions) -> "Overlap":
        """Count them."""
        ratings = np.full((chosen.n_users, chosen.n_items), np.nan)
        ratings[chosen.users, chosen.items] = np.nan if chosen.values is None else chosen.values
        inside = random.take(is_among(random, chosen, random.n_items))
        given = ratings[inside.users, inside.items]
        return cls(len(inside), int((given >= RELEVANT).sum()), int((given == inside.values).sum()))


@dataclass(frozen=True, eq=False)
class Tests:
    """One draw of the biased test; the rows of the random test that are not training positives; how many are."""

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


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A data set: what users chose and liked, and ratings of random items by the test users, given by their codes.

    `size` items are drawn for each test user to make the biased test.
    """

    name: str
    positives: Interactions
    random: Interactions
    users: Ints
    size: int
    comparisons: tuple[Comparison, ...]
    overlap: Overlap

    @classmethod
    def of(cls, name: str, split: Split, size: int, comparisons: tuple[Comparison, ...]) -> "Benchmark":
        """From ratings that users chose to give (train) and ratings of random items (test).

        Test users must have a relevant and an irrelevant random item that is not a positive of theirs where they
        chose, so that they can be judged whichever way their positives are divided.
        """
        positives = split.train.where(POSITIVE)
        safe = split.test.take(~is_among(split.test, positives, split.test.n_items))
        users = eligible_users(split.train, safe)
        if not len(users):
            raise DataError(f"{name}: no user has two positives and both kinds of random items; is it the right data?")
        random = split.test.take(np.isin(split.test.users, users))
        return cls(name, positives, random, users, size, comparisons, Overlap.of(split.train, split.test))

    @classmethod
    def find(cls, name: str, context: Context) -> "Benchmark | None":
        """The benchmark of a data set; None when it is not available."""
        source = context.find(name)
        if source is None:
            return None
        return cls.of(name, source.read_split(context.place(name)), LIST_SIZE[name], COMPARISONS[name])

    def split(self, rng: np.random.Generator) -> Tests:
        """Hold out a biased test, and exclude from the random one what is still learnt from."""
        parts = biased_split(self.positives, self.users, self.size, rng)
        learnt = is_among(self.random, parts.train, self.random.n_items)
        return Tests(parts, self.random.take(~learnt), int(learnt.sum()))
