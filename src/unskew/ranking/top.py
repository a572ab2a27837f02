"""The k best items of each user, and how often each item is among them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from unskew.arrays import Floats, Ints, Matrix
from unskew.data import Interactions, Split
from unskew.data.pairs import pair_keys
from unskew.errors import ConfigError, DataError, did_you_mean
from unskew.ranking.block_scores import BlockScores
from unskew.ranking.catalogue import JoinedCatalogue, join_catalogue
from unskew.ranking.contest import rows_of
from unskew.ranking.engines import Engine, Threads
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.rank import LIST_BLOCK, Progress, default_block_size
from unskew.ranking.scorers import Scorer

CATALOGUES = ("trained", "all")
Catalogue = Literal["trained", "all"]


@dataclass(frozen=True, eq=False)
class TopCounts:
    """How many users have each item in their top k.

    Parameters
    ----------
    k : int
    n_users : int
        Users with a training row whom the model knows.
    counts : array
        By item code of train: the expected number of users with the item in their top k. Items tied for the last places
        share them evenly.
    outside : float
        Places that went to items without a code in train.
    catalogue : array
        Codes of the ranked items.
    """

    k: int
    n_users: int
    counts: Floats
    outside: float
    catalogue: Ints


@dataclass(frozen=True, eq=False)
class TopLists:
    """The top k of each user.

    Parameters
    ----------
    users : array
        User codes, ascending: those with a training row whom the model knows.
    items : array (users, k)
        Item codes, best first; -1 where there are fewer candidates, or for an item without a code in train.
    """

    users: Ints
    items: Ints


def count_top(
    scorer: Scorer,
    train: Interactions | Split,
    k: int = 50,
    *,
    name: str = "model",
    catalogue: Catalogue = "trained",
    engine: Engine | None = None,
    block_size: int | None = None,
    progress: Progress | None = None,
) -> TopCounts:
    r"""Count in how many users' top k each item is, over the full catalogue (Yang et al. 2018, section 4.2).

    .. math:: N_i = \sum_u P(i \in \text{top-}k(u))

    where the probability is over the orders of tied items. A user's training items, items that the model does not know
    and items outside a top-N list are excluded.

    Parameters
    ----------
    scorer : Scorer
    train : Interactions or Split
        The users and the items that they already have. A split gives its training part, and its test identifies the
        rows of a scorer without ids.
    k : int
    name : str
        Name of the model in messages.
    catalogue : {"trained", "all"}
        Items that occur in training, or those and all that the model knows.
    engine : Engine, optional
        `Threads` by default.
    block_size : int, optional
        Users in a block.
    progress : callable, optional
        Called with the number of blocks done and the number of all blocks.

    Raises
    ------
    DataError
        If a score is NaN or infinite, or the model knows no user of train.
    """
    job = _Job(scorer, train, k, name, catalogue)
    size = len(job.joined)
    sure, shared = np.zeros(size, np.int64), np.zeros(size)
    blocks = job.blocks(block_size)
    for done, part in enumerate((engine or Threads()).map(job.count, blocks), start=1):
        sure += part[0]
        shared += part[1]
        if progress is not None:
            progress(done, len(blocks))
    ranked = job.joined.places >= 0
    counts = np.zeros(len(ranked))
    counts[ranked] = (sure + shared)[job.joined.places[ranked]]
    outside = np.ones(size, dtype=bool)
    outside[job.joined.places[ranked]] = False
    return TopCounts(k, len(job.users), counts, float((sure + shared)[outside].sum()), np.flatnonzero(ranked))


def top_lists(
    scorer: Scorer,
    train: Interactions | Split,
    k: int,
    *,
    name: str = "model",
    catalogue: Catalogue = "trained",
    engine: Engine | None = None,
    block_size: int | None = None,
    progress: Progress | None = None,
) -> TopLists:
    """The top k of each user over the full catalogue; ties are in the order of the catalogue.

    Parameters are those of `count_top`.
    """
    job = _Job(scorer, train, k, name, catalogue)
    blocks, parts = job.blocks(block_size), []
    for part in (engine or Threads()).map(job.list, blocks):
        parts.append(part)
        if progress is not None:
            progress(len(parts), len(blocks))
    return TopLists(job.users, job.codes[np.concatenate(parts)])


class _Job:
    """What a worker needs to pick the best items of a block of users."""

    def __init__(self, scorer: Scorer, train: Interactions | Split, k: int, name: str, catalogue: Catalogue) -> None:
        if k < 1:
            raise ConfigError(f"top {k}: must be at least 1")
        if catalogue not in CATALOGUES:
            raise ConfigError(f"unknown catalogue {catalogue!r}{did_you_mean(catalogue, CATALOGUES)}")
        split = train if isinstance(train, Split) else Split(train, train)
        self.joined: JoinedCatalogue = join_catalogue({name: scorer}, split, trained=catalogue == "trained")
        self.binding = self.joined.bindings[name]
        self.users = np.flatnonzero((split.train.user_counts > 0) & (self.binding.rows >= 0)).astype(np.int32)
        if not len(self.users):
            raise DataError(f"model {name!r} knows no user of train; are its user ids those of train?")
        self.hidden_offsets, self.hidden = rows_of(split.train.by_user, self.users, self.joined.places)
        self.scorer, self.k = scorer, k
        self.scores = BlockScores(scorer, self.binding, split.user_vocabulary.ids, self.joined.ids, name)

    @cached_property
    def codes(self) -> Ints:
        """Item code of each place; -1 if it has none, and -1 at the end, which means no item."""
        codes = np.full(len(self.joined) + 1, -1, dtype=np.int32)
        ranked = self.joined.places >= 0
        codes[self.joined.places[ranked]] = np.flatnonzero(ranked)
        return codes

    def blocks(self, size: int | None) -> list[tuple[int, int]]:
        """First and last user of each block."""
        size = size or (LIST_BLOCK if isinstance(self.scorer, ListScorer) else default_block_size(len(self.joined)))
        return [(start, min(start + size, len(self.users))) for start in range(0, len(self.users), size)]

    def count(self, block: tuple[int, int]) -> tuple[Ints, Floats]:
        """By place, how many users of a block have the item for certain, and the sum of its shares in ties."""
        from unskew.ranking import top_kernel

        first, last = block
        if isinstance(self.scorer, ListScorer):
            return self._count_listed(*self._listed(self.scorer, first, last))
        scores = self.scores.of(self.users[first:last], writable=True)
        sure, shared = top_kernel.count_top(scores, self.hidden_offsets[first : last + 1], self.hidden, self.k)
        return sure, shared

    def list(self, block: tuple[int, int]) -> Ints:
        """Places of the best items of a block of users; -1 if there are fewer."""
        from unskew.ranking import top_kernel

        first, last = block
        if isinstance(self.scorer, ListScorer):
            owners, places, _, position = self._listed(self.scorer, first, last)
            best = np.full((last - first, self.k), -1, dtype=np.int32)
            kept = position < self.k
            best[owners[kept], position[kept]] = places[kept]
            return best
        scores = self.scores.of(self.users[first:last], writable=True)
        listed: Ints = top_kernel.list_top(scores, self.hidden_offsets[first : last + 1], self.hidden, self.k)
        return listed

    def _listed(self, scorer: ListScorer, first: int, last: int) -> tuple[Ints, Ints, Matrix, Ints]:
        """The listed unseen items: owner, place, score and position in the list, best first."""
        offsets, columns, scores = scorer.lists_of(self.binding.rows[self.users[first:last]])
        owners, places = np.repeat(np.arange(last - first), np.diff(offsets)), self.binding.places[columns]
        hidden = slice(self.hidden_offsets[first], self.hidden_offsets[last])
        hidden_owners = np.repeat(np.arange(last - first), np.diff(self.hidden_offsets[first : last + 1]))
        width = len(self.joined)
        keys = pair_keys(owners, places, width)
        kept = (places >= 0) & ~np.isin(keys, pair_keys(hidden_owners, self.hidden[hidden], width))
        original = np.flatnonzero(kept)
        original = original[np.unique(keys[kept], return_index=True)[1]]  # listed twice: first position
        owners, places, scores = owners[original], places[original], scores[original]
        order = np.lexsort((places, -scores, owners))
        owners, places, scores = owners[order], places[order], scores[order]
        starts = np.searchsorted(owners, np.arange(last - first))
        return owners, places, scores, np.arange(len(owners)) - starts[owners]

    def _count_listed(self, owners: Ints, places: Ints, scores: Matrix, position: Ints) -> tuple[Ints, Floats]:
        n = int(owners.max(initial=-1)) + 1
        edges = np.full(n, -np.inf)
        last = position == self.k - 1
        edges[owners[last]] = scores[last]
        level = scores == edges[owners]
        above = scores > edges[owners]
        room = self.k - np.bincount(owners[above], minlength=n)
        share = (room / np.maximum(np.bincount(owners[level], minlength=n), 1))[owners]
        sure, tied = above | (level & (share == 1)), level & (share < 1)
        width = len(self.joined)
        shared: Floats = np.bincount(places[tied], weights=share[tied], minlength=width).astype(np.float64)
        return np.bincount(places[sure], minlength=width), shared
