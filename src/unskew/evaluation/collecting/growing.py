"""`GrowingSample`: judged rows of ever more users, in a random order; each user is ranked once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from unskew.arrays import Ints
from unskew.data import Split
from unskew.evaluation.collecting.collect import Collector
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.fitting.models import Fitted
from unskew.evaluation.run import Run
from unskew.ranking import Ranks, Scorer, default_block_size

_MOST_AT_ONCE = 4  # draws, as a multiple of the users that are wanted


@dataclass(eq=False)
class GrowingSample:
    """The test users in a seeded random order. Those who come first are drawn, prepared and ranked.

    Nothing here takes time that grows with the number of users who are not drawn, except arrays with one entry per user
    and what the split counts and sorts once.
    """

    run: Run
    models: Mapping[str, Fitted]
    judged: int = 0
    _parts: dict[str, list[Ranks]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        positive = self.run.settings.positive
        self._collector = Collector(self.run, self.models)
        self._scorers: dict[str, Scorer] = self._collector.scorers(positive)
        self._plan = self._collector.plan(positive, self._scorers)
        self._order = RandomOrder(len(self.run.split.tested_users), [self.run.settings.seed, 23])
        self._block = self.run.settings.block_size or default_block_size(len(self._plan.joined))

    @property
    def drawn(self) -> int:
        """Number of test users who have been drawn; some cannot be judged."""
        return len(self._order.drawn)

    @property
    def total(self) -> int:
        """Number of all test users."""
        return self._order.total

    def grow(self, users: int) -> Samples:
        """Draw test users until this many can be judged, or all are drawn, and return the rows of all so far."""
        while self.judged < users and self.drawn < self.total:
            rate = max(self.judged / max(self.drawn, 1), 1 / _MOST_AT_ONCE) if self.drawn else 1.0
            self._rank(self._order.draw(int(np.ceil((users - self.judged) / rate))))
        contest = self._plan.contest(None if self.drawn == self.total else self.users)
        joined = {name: Ranks.concat(parts) for name, parts in self._parts.items()}
        self._parts = {name: [ranks] for name, ranks in joined.items()}
        return Samples(self._collector.ranked(Sample, contest, joined), contest=contest, block_size=self._block)

    def _rank(self, drawn: Ints) -> None:
        """Rank the users that were drawn, given as numbers among the test users."""
        new = self._plan.contest(self.run.split.tested_users[np.sort(drawn)])
        self.judged += len(new.users)
        if not len(new):
            return
        for name, scorer in self._scorers.items():
            ranks = self._collector.place("ranking", name, scorer, new, self._block)
            self._parts.setdefault(name, []).append(ranks)

    @property
    def users(self) -> Ints:
        """Codes of the users who have been drawn, ascending."""
        return self.run.split.tested_users[np.sort(self._order.drawn)]

    @property
    def split(self) -> Split:
        """The split with the test rows of the drawn users alone."""
        return self.run.split if self.drawn == self.total else self.run.split.with_test_of(self.users)


class RandomOrder:
    """The numbers below `total` in a seeded random order, drawn as far as they are needed.

    This is the shuffle of Fisher and Yates, in which only the places that differ from their number are kept.
    """

    def __init__(self, total: int, seed: list[int]) -> None:
        self.total, self.drawn = total, np.empty(0, dtype=np.int64)
        self._rng = np.random.default_rng(seed)
        self._moved: dict[int, int] = {}

    def draw(self, n: int) -> Ints:
        """The next n numbers, or the rest."""
        first = len(self.drawn)
        last = min(first + n, self.total)
        moved, new = self._moved, []
        for place, other in enumerate(self._rng.integers(np.arange(first, last), self.total).tolist(), start=first):
            new.append(moved.get(other, other))
            moved[other] = moved.pop(place, place)
        self.drawn = np.append(self.drawn, np.array(new, dtype=np.int64))
        return self.drawn[first:]
