"""`StandIn`: a recommender of a simulated world that resembles a model which cannot be trained there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unskew.arrays import Floats, Ints, Matrix
from unskew.errors import ConfigError
from unskew.estimators.means import sum_by
from unskew.metrics import Metric
from unskew.ranking import Ranks, Ties
from unskew.simulators import World
from unskew.trials.recommenders import RULE, Recommender
from unskew.trials.rows import JudgedRows, judged_rows

CELLS = 2_000_000
"""Number of scores in memory at a time."""
TASTES = (0.0, 0.5, 1.0, 2.0, 4.0)
LEANS = (-1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
_SHARED = 0  # stream of the noise that stand-ins have in common


@dataclass(frozen=True)
class StandIn(Recommender):
    r"""Partly knows what users like, favours popular items, and has random errors.

    The score of item i for user u is

    .. math:: t\,[u \text{ likes } i] + l\, z_i + \sqrt{r}\, s_{ui} + \sqrt{1 - r}\, e_{ui}

    with :math:`z_i` the logarithm of the item's training rows, standardised over the items that have any, and s and e
    independent normal noise; s is the same for all stand-ins.
    """

    taste: float  # t
    lean: float  # l
    shared: float = 0.0  # r: the share of the variance of the noise that stand-ins have in common
    stream: int = 1  # stream of its own noise, from 1

    def __post_init__(self) -> None:
        if not 0 <= self.shared <= 1 or self.stream <= _SHARED:
            raise ConfigError(f"stand-in with shared={self.shared:g}, stream {self.stream}: need 0 to 1, and 1 or more")

    def rank(self, judged: JudgedRows, world: World, *, ties: Ties = "expected", seed: int = 0) -> Ranks:
        """Rank by scores, some users at a time."""
        del world  # the judged rows have everything that is needed
        from unskew.audit.error.stand_in_kernel import rank_rows

        field = Field(judged, seed)
        above, tied = np.zeros(len(judged), np.int32), np.zeros(len(judged), np.int32)
        rows, items, places = np.arange(len(judged)), judged.items, field.places
        for first, scores in field.scores(self):
            block = rows[judged.offsets[first] : judged.offsets[first + len(scores)]]
            ordered = np.sort(scores, axis=1)
            rank_rows(scores, ordered, first, block, judged.user, items, places, judged.candidates, above, tied)
        return Ranks(
            judged.row_users,
            judged.items,
            above,
            tied,
            judged.candidates[judged.user],
            listed=judged.candidates[judged.user],
            ties=ties,
            candidate_rule=RULE,
        )


@dataclass(frozen=True, eq=False)
class Field:
    """The judged users of a world and the items that were trained on, with the noise of a run."""

    judged: JudgedRows
    seed: int

    @cached_property
    def known(self) -> Ints:
        """Codes of the items with a training row."""
        return np.flatnonzero(self.judged.counts)

    @cached_property
    def places(self) -> Ints:
        """Place of each item among `known`; -1 for the others."""
        places = np.full(len(self.judged.counts), -1, np.int64)
        places[self.known] = np.arange(len(self.known))
        return places

    @cached_property
    def popularity(self) -> Floats:
        """The logarithm of training rows, standardised."""
        logs = np.log(self.judged.counts[self.known].astype(float))
        spread = logs.std()
        return (logs - logs.mean()) / spread if spread > 0 else np.zeros(len(logs))

    def scores(self, stand_in: StandIn) -> Iterator[tuple[int, Matrix]]:
        """Yield first user and scores of each block of judged users."""
        from unskew.audit.error.stand_in_kernel import add_taste, leave_out

        judged, users = self.judged, len(self.judged.users)
        step = max(1, CELLS // max(len(self.known), 1))
        for first in range(0, users, step):
            size = min(step, users - first)
            weight = np.sqrt(1 - stand_in.shared)
            scores = self._noise(stand_in.stream, first, size) * np.float32(weight)
            if stand_in.shared > 0:
                scores += self._noise(_SHARED, first, size) * np.float32(np.sqrt(stand_in.shared))
            scores += (stand_in.lean * self.popularity).astype(np.float32)
            add_taste(scores, first, judged.offsets, judged.items, judged.in_truth, self.places, stand_in.taste)
            leave_out(scores, first, judged.train_offsets, judged.train_items, self.places)
            yield first, scores

    def _noise(self, stream: int, first: int, size: int) -> Matrix:
        # the number of rows separates the users of a log from the strangers of the same run
        rng = np.random.default_rng([self.seed, stream, first, len(self.judged)])
        return rng.standard_normal((size, len(self.known)), dtype=np.float32)


@dataclass(frozen=True)
class Likeness:
    """The numbers that a model and its stand-in should have in common."""

    metric: float  # naive average of a metric over held-out rows
    popularity: float  # mean of `row_places` over top-k lists: near 1 if only the most popular items are listed

    def distance(self, other: "Likeness") -> float:
        """Distance in units of a tenth: relative in the metric, absolute in the popularity."""
        off = (self.metric - other.metric) / max(abs(self.metric), 1e-3)
        return float(np.hypot(off / 0.1, (self.popularity - other.popularity) / 0.1))

    def is_near(self, other: "Likeness") -> bool:
        """Whether the metric agrees within 10 % and the popularity within 5 points."""
        near = abs(self.metric - other.metric) <= 0.1 * max(abs(self.metric), 1e-3)
        return near and abs(self.popularity - other.popularity) <= 0.05


def row_places(counts: Ints) -> Floats:
    r"""Popularity of each item as a place among the training rows, which is comparable between logs of any size.

    .. math:: q_i = \frac{\sum_{j: n_j < n_i} n_j + \tfrac12 \sum_{j: n_j = n_i} n_j}{\sum_j n_j}

    A row drawn at random has a mean place of one half.

    Examples
    --------
    >>> row_places(np.array([6, 2, 2, 0])).tolist()
    [0.7, 0.2, 0.2, 0.0]
    """
    levels, place = np.unique(counts, return_inverse=True)
    rows = np.bincount(place, weights=counts.astype(float), minlength=len(levels))
    total = max(float(rows.sum()), 1.0)
    return np.asarray(((np.cumsum(rows) - rows / 2) / total)[place])


@dataclass(frozen=True, eq=False)
class Workshop:
    """A simulated log on which stand-ins are fitted, all with the same noise."""

    judged: JudgedRows
    metric: Metric  # the metric that is matched
    k: int  # length of the lists
    seed: int = 0

    @classmethod
    def of(cls, world: World, metric: Metric, k: int, seed: int = 0, most: int = 500) -> "Workshop":
        """A workshop with the first judged users of a world; a few hundred are enough to fit two numbers."""
        return cls(_first_users(judged_rows(world), most), metric, k, seed)

    @cached_property
    def field(self) -> Field:
        """Users, items and noise."""
        return Field(self.judged, self.seed)

    @property
    def length(self) -> int:
        """Length of the lists, at most half of the items."""
        return min(self.k, max(len(self.field.known) // 2, 1))

    def measure(self, stand_in: StandIn) -> Likeness:
        """The naive metric of a stand-in, and the popularity of its lists."""
        from unskew.audit.error.stand_in_kernel import mean_listed, rank_rows

        judged, field, rows = self.judged, self.field, self.judged.test_rows
        above, tied = np.zeros(len(judged), np.int32), np.zeros(len(judged), np.int32)
        weights, total = row_places(judged.counts)[field.known], 0.0
        for first, scores in field.scores(stand_in):
            ordered = np.sort(scores, axis=1)
            rank_rows(
                scores, ordered, first, rows, judged.user, judged.items, field.places, judged.candidates, above, tied
            )
            total += mean_listed(scores, ordered[:, -self.length], weights)
        return Likeness(self._value(above, tied), total / len(judged.users))

    def overlap(self, a: StandIn, b: StandIn) -> float:
        """The mean share of one stand-in's list that is also in the other's."""
        from unskew.audit.error.stand_in_kernel import both_listed

        both = 0
        for (_, one), (_, other) in zip(self.field.scores(a), self.field.scores(b), strict=True):
            edges, others = (np.partition(scores, -self.length, axis=1)[:, -self.length] for scores in (one, other))
            both += int(both_listed(one, edges, other, others))
        return both / (len(self.judged.users) * self.length)

    def _value(self, above: Ints, tied: Ints) -> float:
        judged, rows = self.judged, self.judged.test_rows
        user = judged.user[rows]
        gains = self.metric.row_gains(above[rows], tied[rows], judged.candidates[user])
        counts = np.bincount(user, minlength=len(judged.users))
        return float(np.mean(sum_by(user, gains) / counts))

    @cached_property
    def grid(self) -> dict[tuple[float, float], Likeness]:
        """Likeness at the corners where every search begins."""
        return {(t, lean): self.measure(StandIn(t, lean)) for t in TASTES for lean in LEANS}


def fit_stand_in(workshop: Workshop, wanted: Likeness, stream: int = 1, steps: int = 24) -> tuple[StandIn, Likeness]:
    """Find the parameters for which a stand-in is most similar to a model on the user's log.

    The search starts at the best corner of a grid and takes up to `steps` steps along the axes, halved if none helps.
    """
    tried = dict(workshop.grid)
    at = min(tried, key=lambda corner: wanted.distance(tried[corner]))
    width = max(0.5, abs(at[0]) / 2), max(0.5, abs(at[1]) / 2)
    left = steps
    while left > 0:
        best = at
        for move in ((width[0], 0.0), (-width[0], 0.0), (0.0, width[1]), (0.0, -width[1])):
            there = max(at[0] + move[0], 0.0), at[1] + move[1]
            if there not in tried and left > 0:
                tried[there] = workshop.measure(StandIn(*there))
                left -= 1
            if there in tried and wanted.distance(tried[there]) < wanted.distance(tried[best]):
                best = there
        if best == at:
            width = width[0] / 2, width[1] / 2
            if max(width) < 1e-3:
                break
        at = best
    return StandIn(*at, stream=stream), tried[at]


def share_noise(
    workshop: Workshop, stand_ins: Mapping[str, StandIn], overlaps: Mapping[tuple[str, str], float]
) -> dict[str, StandIn]:
    """Give stand-ins noise in common until their lists overlap as much as those of the models, on average."""
    pairs = [pair for pair in overlaps if all(name in stand_ins for name in pair)]
    if not pairs:
        return dict(stand_ins)
    wanted = float(np.mean([overlaps[pair] for pair in pairs]))

    def reached(shared: float) -> float:
        sharing = {name: replace(each, shared=shared) for name, each in stand_ins.items()}
        return float(np.mean([workshop.overlap(sharing[a], sharing[b]) for a, b in pairs]))

    low, high = 0.0, 1.0
    for _ in range(6):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < wanted else (low, middle)
    shared = 0.0 if low == 0 else (low + high) / 2
    return {name: replace(each, shared=shared) for name, each in stand_ins.items()}


def list_overlaps(lists: Mapping[str, Ints], pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """The mean share of one model's list that is also in another's.

    A list is an array of item codes, users by places, with -1 for an empty place; all have the same users in one order.
    """
    overlaps = {}
    for a, b in pairs:
        one, other = np.sort(lists[a], axis=1), np.sort(lists[b], axis=1)
        both = sum(len(np.intersect1d(x[x >= 0], y[y >= 0])) for x, y in zip(one, other, strict=True))
        overlaps[a, b] = both / max(int(np.sum(one >= 0)), 1)
    return overlaps


def _first_users(judged: JudgedRows, most: int) -> JudgedRows:
    if len(judged.users) <= most:
        return judged
    last, trained = int(judged.offsets[most]), int(judged.train_offsets[most])
    kept = np.arange(len(judged)) < last
    return replace(
        judged,
        users=judged.users[:most],
        offsets=judged.offsets[: most + 1],
        items=judged.items[:last],
        in_truth=judged.in_truth[:last],
        in_test=judged.in_test[:last],
        propensity=None,
        strength=None if judged.strength is None else judged.strength[kept],
        train_offsets=judged.train_offsets[: most + 1],
        train_items=judged.train_items[:trained],
    )
