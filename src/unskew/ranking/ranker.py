"""Run the kernel over blocks of users."""

import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np

from unskew.arrays import Bools, Ints, Matrix
from unskew.errors import ConfigError, DataError, did_you_mean
from unskew.ranking.contest import Binding, Contest
from unskew.ranking.engines import Engine, Threads
from unskew.ranking.lists import ListScorer
from unskew.ranking.ranks import TIE_POLICIES, Ranks, Ties
from unskew.ranking.scorers import AlignedFactors, FactorScorer, Scorer

Progress = Callable[[int, int], None]
_LIST_BLOCK = 4096


class _Source(Protocol):
    """Scores of a contest's catalogue."""

    def score(self, rows: Ints) -> Matrix:
        """Scores of these rows of the model, which the caller may write to until the next call of its thread."""
        ...


def default_block_size(n_items: int) -> int:
    """Users in a block: enough for the product, few enough for the cache, and never over 128 MiB of scores."""
    return int(min(np.clip(2**20 // max(n_items, 1) // 64 * 64, 128, 256), max(2**25 // max(n_items, 1), 1)))


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
    """Find where each held-out item of a contest stands for one model.

    Parameters
    ----------
    scorer : Scorer
    contest : Contest
        From `prepare_contest`, which was told of this model under this name.
    name : str
    ties : {"expected", "optimistic", "pessimistic", "random", "ordinal"}
        ``ordinal`` puts tied items in the order of their ids, ``random`` in a seeded order of each user's own.
    engine : Engine, optional
        `Threads` by default.
    block_size : int, optional
        Users in a block. Float32 products differ in the last bit between block sizes, so this belongs to the run.
    unlisted : {"zero", "tied"}
        Whether items outside a top-N list gain nothing under a cut-off, or stand tied below the list.
    seed : int
        For random ties.
    progress : callable, optional
        Called with the number of blocks done and in all.

    Raises
    ------
    DataError
        When a score is NaN or infinite; it names the user and the item.
    """
    if ties not in TIE_POLICIES:
        raise ConfigError(f"unknown tie policy {ties!r}{did_you_mean(ties, TIE_POLICIES)}")
    job = _Job(scorer, contest, name, ties, seed)
    as_lists = isinstance(scorer, ListScorer) and not contest.among and ties not in {"random", "ordinal"}
    size = _LIST_BLOCK if as_lists else block_size or default_block_size(contest.catalogue_size)
    starts = range(0, len(contest.users), size)
    blocks = [(start, min(start + size, len(contest.users))) for start in starts]
    task = job.rank_lists if as_lists else job.rank_scores
    parts = []
    for part in (engine or Threads()).map(task, blocks):
        parts.append(part)
        if progress is not None:
            progress(len(parts), len(blocks))
    above, tied, listed = (np.concatenate(columns) for columns in zip(*parts, strict=True))
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
        ties=ties,
        candidate_rule=str(contest.rule),
    )


class _Job:
    """What a worker needs to rank a block; nothing in it changes but each thread's own buffer."""

    def __init__(self, scorer: Scorer, contest: Contest, name: str, ties: Ties, seed: int) -> None:
        self.scorer, self.contest, self.name = scorer, contest, name
        self.ties, self.seed = ties, seed
        self.binding = contest.bindings[name]
        self.unknown = np.flatnonzero(self.binding.columns < 0)
        self.source: _Source
        if isinstance(scorer, FactorScorer):
            aligned = scorer.align(self.binding.columns)
            self.source, self.unchecked = _Products(aligned), aligned.finite
        else:
            self.source, self.unchecked = _Gathered(scorer, self.binding), isinstance(scorer, ListScorer)

    def rank_scores(self, block: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
        """Score a block of users and count."""
        from unskew.ranking import kernel

        first, last = block
        contest = self.contest
        scores = self._scores(contest.users[first:last])
        offsets = contest.offsets[first : last + 1]
        listed_offsets = contest.listed_offsets[first : last + 1]
        count = kernel.count_ranks_among if contest.among else kernel.count_ranks
        above, tied = count(scores, offsets, contest.columns, listed_offsets, contest.listed)
        if self.ties in {"random", "ordinal"} and tied.any():
            above += self._before(scores, contest.users[first:last], offsets, listed_offsets)
        listed = above
        if isinstance(self.scorer, ListScorer):
            candidates = self._is_candidate(scores.shape, listed_offsets)
            listed = np.repeat((candidates & (scores > -np.inf)).sum(axis=1), np.diff(offsets)).astype(np.int32)
        return above, tied, listed

    def rank_lists(self, block: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
        """Count inside the lists of a block of users."""
        from unskew.ranking import kernel

        first, last = block
        contest, scorer = self.contest, self.scorer
        assert isinstance(scorer, ListScorer)
        offsets, columns, scores = scorer.lists_of(self.binding.rows[contest.users[first:last]])
        assert isinstance(self.source, _Gathered)
        columns = self.source.places[columns]
        if (columns < 0).any():  # listed, but no candidate under this rule
            owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[columns >= 0]
            scores, columns = scores[columns >= 0], columns[columns >= 0]
            counts = np.bincount(owners, minlength=len(offsets) - 1)
            offsets = np.concatenate([[0], np.cumsum(counts)])
        above, tied, listed = kernel.count_list_ranks(
            offsets,
            columns,
            scores,
            contest.offsets[first : last + 1],
            contest.columns,
            contest.listed_offsets[first : last + 1],
            contest.listed,
            contest.candidates[first:last],
            contest.catalogue_size,
        )
        return above, tied, listed

    def _scores(self, users: Ints) -> Matrix:
        from unskew.ranking import kernel

        scores = self.source.score(self.binding.rows[users])
        if not self.unchecked:
            row, column = kernel.first_not_finite(scores)
            if row >= 0:
                user, item = self.contest.user_ids[users[row]], self.contest.catalogue_ids[column]
                raise DataError(
                    f"model {self.name!r} gives user {user}, item {item} the score {scores[row, column]}; "
                    "scores must be finite numbers"
                )
        if len(self.unknown):
            scores[:, self.unknown] = -np.inf
        return scores

    def _is_candidate(self, shape: tuple[int, ...], listed_offsets: Ints) -> Bools:
        mask = np.full(shape, not self.contest.among)
        rows = np.repeat(np.arange(shape[0]), np.diff(listed_offsets))
        mask[rows, self.contest.listed[listed_offsets[0] : listed_offsets[-1]]] = self.contest.among
        return mask

    def _before(self, scores: Matrix, users: Ints, offsets: Ints, listed_offsets: Ints) -> Ints:
        from unskew.ranking import kernel, sampling

        if self.ties == "random":
            keys = sampling.random_keys(self.seed, users, scores.shape[1])
        else:
            keys = np.broadcast_to(np.arange(scores.shape[1], dtype=np.uint64), scores.shape)
        candidates = self._is_candidate(scores.shape, listed_offsets)
        before: Ints = kernel.count_before(scores, candidates, offsets, self.contest.columns, keys)
        return before


class _Products:
    """Products of factors, written into one buffer a thread."""

    def __init__(self, factors: AlignedFactors) -> None:
        self.factors = factors
        self.own = threading.local()

    def score(self, rows: Ints) -> Matrix:
        """The product, in this thread's buffer."""
        buffer = getattr(self.own, "buffer", None)
        if buffer is None or len(buffer) < len(rows):
            buffer = self.own.buffer = np.empty((len(rows), self.factors.n_items), self.factors.columns.dtype)
        scores: Matrix = buffer[: len(rows)]
        self.factors.score_into(rows, scores)
        return scores


class _Gathered:
    """Any scorer, its columns brought into the order of the catalogue."""

    def __init__(self, scorer: Scorer, binding: Binding) -> None:
        self.scorer = scorer
        self.columns = binding.columns
        self.width = binding.width
        self.in_order = bool(np.array_equal(binding.columns, np.arange(binding.width)))
        self.places = np.full(self.width, -1, dtype=np.int32)
        self.places[binding.columns[binding.columns >= 0]] = np.flatnonzero(binding.columns >= 0)

    def score(self, rows: Ints) -> Matrix:
        """The scorer's own array where its columns fit, else a copy."""
        scores = np.asarray(self.scorer.score(rows))
        if scores.shape != (len(rows), self.width):
            raise DataError(
                f"a scorer gave {scores.shape} scores for {len(rows)} users and {self.width} items; "
                "it must return one row a user and one column an item"
            )
        if scores.dtype not in (np.float32, np.float64):
            scores = scores.astype(np.float64)
        if not self.in_order:  # always so when an item is unknown, so nobody else's array is written to
            scores = np.take(scores, np.maximum(self.columns, 0), axis=1)
            scores[:, self.columns < 0] = 0
        return np.ascontiguousarray(scores)
