"""`GrowingSample`: judged rows of ever more users, in a random order; each user is ranked once."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from unskew.arrays import Ints, offsets_of, spans
from unskew.data import Split
from unskew.evaluation.collecting.collect import Collector
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.fitting.models import Fitted
from unskew.evaluation.run import Run
from unskew.ranking import Contest, Ranks, Scorer, default_block_size


@dataclass(eq=False)
class GrowingSample:
    """The users of a contest in a seeded random order. Those who come first are ranked."""

    run: Run
    models: Mapping[str, Fitted]
    ranked: int = 0
    _parts: dict[str, list[Ranks]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        positive = self.run.settings.positive
        self._collector = Collector(self.run, self.models)
        self._scorers: dict[str, Scorer] = self._collector.scorers(positive)
        self._contest = self._collector.contest(positive, self._scorers)
        self._order = np.random.default_rng([self.run.settings.seed, 23]).permutation(self.total)
        self._block = self.run.settings.block_size or default_block_size(self._contest.catalogue_size)

    @property
    def total(self) -> int:
        """Number of all users who could be ranked."""
        return len(self._contest.users)

    def grow(self, users: int) -> Samples:
        """Rank users until there are this many, and return all rows so far."""
        new = of_users(self._contest, np.sort(self._order[self.ranked : users]))
        for name, scorer in self._scorers.items():
            ranks = self._collector.place("ranking", name, scorer, new, self._block)
            self._parts.setdefault(name, []).append(ranks)
        self.ranked = users
        contest = of_users(self._contest, np.sort(self._order[:users]))
        joined = {name: Ranks.concat(parts) for name, parts in self._parts.items()}
        self._parts = {name: [ranks] for name, ranks in joined.items()}
        return Samples(self._collector.ranked(Sample, contest, joined), contest=contest, block_size=self._block)

    def split_of(self, samples: Samples) -> Split:
        """The split with the test rows of these users alone, and of users who are not judged at all."""
        split, judged = self.run.split, samples.judged.users
        left = np.setdiff1d(self._contest.users, judged)
        return replace(split, test=split.test.take(~np.isin(split.test.users, left)))


def of_users(contest: Contest, chosen: Ints) -> Contest:
    """The contest of some judged users, given as numbers from 0, ascending."""
    counts, excluded = np.diff(contest.offsets)[chosen], np.diff(contest.listed_offsets)[chosen]
    rows = spans(contest.offsets[chosen], counts)
    return replace(
        contest,
        users=contest.users[chosen],
        offsets=offsets_of(counts),
        items=contest.items[rows],
        columns=contest.columns[rows],
        listed_offsets=offsets_of(excluded),
        listed=contest.listed[spans(contest.listed_offsets[chosen], excluded)],
        candidates=contest.candidates[chosen],
        values=None if contest.values is None else contest.values[rows],
    )
