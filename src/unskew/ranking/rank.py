"""Rank the held-out items of a contest, block by block."""

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from unskew.arrays import Bools, Ints, Matrix, offsets_of
from unskew.compiling import is_short
from unskew.errors import ConfigError, did_you_mean
from unskew.ranking import tensor_counts
from unskew.ranking.block_scores import BlockScores
from unskew.ranking.catalogue import Binding
from unskew.ranking.contest import Contest
from unskew.ranking.engines import Engine, Threads
from unskew.ranking.factors import PackedFactors
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.ranks import TIE_POLICIES, Ranks, Ties
from unskew.ranking.scorers import FactorScorer, Scorer

Progress = Callable[[int, int], None]
LIST_BLOCK = 4096
_PLAIN_STEPS = 10  # of NumPy per factor, to get the bits of a fused product


def default_block_size(n_items: int) -> int:
    """Number of users in a block: large for the product, small for the cache, and at most 128 MiB of scores."""
    return int(min(np.clip(2**20 // max(n_items, 1) // 64 * 64, 128, 256), max(2**25 // max(n_items, 1), 1)))


def _factor_block(n_items: int) -> int:
    """Number of users in a block whose scores are never all in memory: enough to keep the processor busy."""
    return int(np.clip(2**20 // max(n_items, 1) // 12, 20, 200)) * 12


def rank(
    scorer: Scorer,
    contest: Contest,
    *,
    name: str = "model",
    ties: Ties = "expected",
    engine: Engine | None = None,
    block_size: int | None = None,
    unlisted: str = "zero",
    seed: int = 0,
    progress: Progress | None = None,
) -> Ranks:
    """The ranks of the held-out items of a contest for one model.

    Parameters
    ----------
    scorer : Scorer
    contest : Contest
        From `prepare_contest`, called with this model.
    name : str
        The name of the model in that call; needed if there are several.
    ties : {"expected", "optimistic", "pessimistic", "random", "ordinal"}
        ``ordinal`` orders tied items by their ids, ``random`` in a seeded order per user.
    engine : Engine, optional
        `Threads` by default.
    block_size : int, optional
        Users in a block. Matrix products may differ in the last bit between block sizes, so this belongs to the run.
        Lists and factors of 32 bits have blocks of their own size, which changes no rank.
    unlisted : {"zero", "tied"}
        Whether items outside a top-N list gain nothing under a cut-off, or are tied below the list.
    seed : int
        Seed of random ties.
    progress : callable, optional
        Called with the number of blocks done and the number of all blocks.

    Raises
    ------
    DataError
        If a score is NaN or infinite; the message names the user and the item.
    """
    if ties not in TIE_POLICIES:
        raise ConfigError(f"unknown tie policy {ties!r}{did_you_mean(ties, TIE_POLICIES)}")
    job = _Job(scorer, contest, name, ties, seed)
    as_lists = isinstance(scorer, ListScorer) and not contest.among and ties not in {"random", "ordinal"}
    as_factors = job.factors is not None and not contest.among and ties not in {"random", "ordinal"}
    size = block_size or default_block_size(contest.catalogue_size)
    if as_lists or as_factors:  # the size changes nothing
        size = LIST_BLOCK if as_lists else _factor_block(contest.catalogue_size)
    starts = range(0, len(contest.users), size)
    blocks = [(start, min(start + size, len(contest.users))) for start in starts]
    task = job.rank_lists if as_lists else job.rank_factors if as_factors else job.rank_scores
    parts = []
    for part in (engine or Threads()).map(task, blocks):
        parts.append(part)
        if progress is not None:
            progress(len(parts), len(blocks))
    nothing = (np.empty(0, np.int32),) * 3
    above, tied, listed = (np.concatenate(columns) for columns in zip(*(parts or [nothing]), strict=True))
    if ties == "pessimistic":
        above = above + tied
    return Ranks(
        contest.row_users.astype(np.int32),
        contest.items,
        above,
        tied,
        np.repeat(contest.candidates, np.diff(contest.offsets)),
        values=contest.values,
        listed=listed if isinstance(scorer, ListScorer) and unlisted == "zero" else None,
        pool=contest.row_pool,
        known=job.known_rows(),
        ties=ties,
        candidate_rule=str(contest.rule),
    )


def binding_of(contest: Contest, name: str) -> Binding:
    """The binding of the model with this name; a single model may have any name."""
    known = contest.bindings
    if name not in known and len(known) != 1:
        raise ConfigError(f"the contest has no model {name!r}{did_you_mean(name, known)}")
    return known[name] if name in known else next(iter(known.values()))


class _Job:
    """What a worker needs to rank a block. Only each thread's buffer is mutable."""

    def __init__(self, scorer: Scorer, contest: Contest, name: str, ties: Ties, seed: int) -> None:
        self.scorer, self.contest, self.name = scorer, contest, name
        self.ties, self.seed = ties, seed
        self.binding = binding_of(contest, name)
        width = scorer.user_factors.shape[1] if isinstance(scorer, FactorScorer) else 1
        self.short = is_short((len(contest) + _PLAIN_STEPS * width * len(contest.users)) * contest.catalogue_size)
        ids = contest.user_ids, contest.catalogue_ids
        self.scores = BlockScores(scorer, self.binding, *ids, name, plain=self.short)

    @property
    def factors(self) -> PackedFactors | None:
        """The factors of the model, if its scores may be counted while they are made."""
        source = self.scores.source
        return source if isinstance(source, PackedFactors) and source.finite and not source.plain else None

    def known_rows(self) -> Bools | None:
        """Whether the model knows the user of each row; None if it knows all."""
        known = self.binding.rows[self.contest.users] >= 0
        return None if known.all() else np.repeat(known, np.diff(self.contest.offsets))

    def rank_scores(self, block: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
        """The ranks of a block of users, from their scores."""
        loops: Any = import_module(f"unskew.ranking.{'plain_loops' if self.short else 'kernel'}")
        first, last = block
        contest = self.contest
        scores = self.scores.where_they_are(contest.users[first:last])
        offsets = contest.offsets[first : last + 1]
        listed_offsets = contest.listed_offsets[first : last + 1]
        if tensor_counts.is_tensor(scores):
            if self.ties not in {"random", "ordinal"}:
                counted = tensor_counts.count_ranks(
                    scores, offsets, contest.columns, listed_offsets, contest.listed, among=contest.among
                )
                return *counted, counted[0]
            scores = np.ascontiguousarray(tensor_counts.as_array(scores))  # keys of ties are here
        count = loops.count_ranks_among if contest.among else loops.count_ranks
        above, tied = count(scores, offsets, contest.columns, listed_offsets, contest.listed)
        if self.ties in {"random", "ordinal"} and tied.any():
            above += self._before(scores, contest.users[first:last], offsets, listed_offsets)
        listed = above
        if isinstance(self.scorer, ListScorer):
            candidates = self._is_candidate(scores.shape, listed_offsets)
            listed = np.repeat((candidates & (scores > -np.inf)).sum(axis=1), np.diff(offsets)).astype(np.int32)
        return above, tied, listed

    def rank_factors(self, block: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
        """The ranks of a block of users, from their factors."""
        first, last = block
        contest, factors = self.contest, self.factors
        assert factors is not None
        rows = self.binding.rows[contest.users[first:last]]
        offsets = contest.offsets[first : last + 1]
        above, tied = factors.count(
            rows, offsets, contest.columns, contest.listed_offsets[first : last + 1], contest.listed
        )
        if (rows < 0).any():  # all candidates of an unknown user are tied
            unknown = np.repeat(rows < 0, np.diff(offsets))
            above[unknown] = 0
            tied[unknown] = np.repeat(contest.candidates[first:last], np.diff(offsets))[unknown] - 1
        return above, tied, above

    def rank_lists(self, block: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
        """The ranks of a block of users, from their lists."""
        from unskew.ranking import kernel

        first, last = block
        contest, scorer = self.contest, self.scorer
        assert isinstance(scorer, ListScorer)
        rows = self.binding.rows[contest.users[first:last]]
        offsets, columns, scores = scorer.lists_of(rows[rows >= 0])
        if (rows < 0).any():  # the list of a user whom the model does not know is empty
            lengths = np.zeros(len(rows), dtype=np.int64)
            lengths[rows >= 0] = np.diff(offsets)
            offsets = offsets_of(lengths)
        above, tied, listed = kernel.count_list_ranks(
            offsets,
            columns,
            scores,
            self._moved,
            contest.offsets[first : last + 1],
            contest.columns,
            contest.listed_offsets[first : last + 1],
            contest.listed,
            contest.candidates[first:last],
            contest.catalogue_size,
        )
        return above, tied, listed

    @cached_property
    def _moved(self) -> Ints:
        """The places of the columns of the model; empty if they are the columns."""
        places = self.binding.places
        return places[:0] if np.array_equal(places, np.arange(self.contest.catalogue_size)) else places

    def _is_candidate(self, shape: tuple[int, ...], listed_offsets: Ints) -> Bools:
        mask = np.full(shape, not self.contest.among)
        rows = np.repeat(np.arange(shape[0]), np.diff(listed_offsets))
        mask[rows, self.contest.listed[listed_offsets[0] : listed_offsets[-1]]] = self.contest.among
        return mask

    def _before(self, scores: Matrix, users: Ints, offsets: Ints, listed_offsets: Ints) -> Ints:
        from unskew.ranking import kernel, seeded_draws

        if self.ties == "random":
            keys = seeded_draws.random_keys(self.seed, users, scores.shape[1])
        else:
            keys = np.broadcast_to(np.arange(scores.shape[1], dtype=np.uint64), scores.shape)
        candidates = self._is_candidate(scores.shape, listed_offsets)
        before: Ints = kernel.count_before(scores, candidates, offsets, self.contest.columns, keys)
        return before
