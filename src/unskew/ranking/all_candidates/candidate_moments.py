"""First and second moments of the gains of several models over all candidates of all users."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints, Matrix, running_sums
from unskew.errors import ConfigError
from unskew.ranking.all_candidates.candidate_sums import Chances, as_matrix, blocks_of, check_candidates
from unskew.ranking.all_candidates.recipes import CandidateMetric, LinearGains, ListGains, PlaceGains
from unskew.ranking.block_scores import BlockScores
from unskew.ranking.contest import Contest
from unskew.ranking.engines import Engine, Threads
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.rank import Progress, binding_of, default_block_size
from unskew.ranking.ranks import Ties
from unskew.ranking.scorers import Scorer

_SMALLEST_BLOCK = 16


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over all candidates of all users, each weighted by its spread v; c is the gain of a model there.

    Parameters
    ----------
    total : float
        The sum of v.
    first : array (models,)
        The sums of v c, in the order of the models.
    second : array (models, models)
        The sums of v c c' of two models.
    """

    total: float
    first: Floats
    second: Floats


def candidate_moments(
    scorers: Mapping[str, Scorer],
    contest: Contest,
    spread: Chances,
    metrics: Sequence[CandidateMetric],
    *,
    ties: Ties = "expected",
    engine: Engine | None = None,
    block_size: int | None = None,
    unlisted: str = "zero",
    progress: Progress | None = None,
) -> dict[str, Moments]:
    """Rank all candidates of each user by each model, and sum products of gains over them.

    The ranks of all models are kept for one block of users, so the default block is smaller with more models.

    Parameters
    ----------
    scorers : mapping of Scorer
        By the names of the models in `prepare_contest`.
    contest : Contest
        From `everyone`.
    spread : callable
        From user codes to the weight of each item of the catalogue, users by items; for the variance that independent
        chances q cause it is q (1 - q).
    metrics : sequence of metrics
        Means and sums.
    ties : {"expected", "optimistic", "pessimistic"}
    engine, block_size, unlisted, progress
        As in `rank`.

    Returns
    -------
    dict
        Moments by the word of the metric.
    """
    check_candidates(contest, ties)
    job = _Job(scorers, contest, spread, metrics, ties, listed=unlisted == "zero")
    default = max(default_block_size(contest.catalogue_size) // len(scorers), _SMALLEST_BLOCK)
    blocks = blocks_of(contest, block_size or default)
    total = 0.0
    first = {word: np.zeros(len(scorers)) for word in job.recipes}
    second = {word: np.zeros((len(scorers), len(scorers))) for word in job.recipes}
    for done, (part, moments) in enumerate((engine or Threads()).map(job.add, blocks), start=1):
        total += part
        for word, (of_models, of_pairs) in moments.items():
            first[word] += of_models
            second[word] += of_pairs
        if progress is not None:
            progress(done, len(blocks))
    return {word: Moments(total, first[word], second[word]) for word in job.recipes}


class _Job:
    """What a worker needs to add up a block. Only each thread's buffers are mutable."""

    def __init__(
        self,
        scorers: Mapping[str, Scorer],
        contest: Contest,
        spread: Chances,
        metrics: Sequence[CandidateMetric],
        ties: Ties,
        *,
        listed: bool,
    ) -> None:
        self.contest, self.spread, self.ties = contest, spread, ties
        self.recipes: dict[str, PlaceGains | LinearGains] = {}
        self.sums: dict[str, Floats] = {}
        for metric in metrics:
            recipe = metric.recipe(contest.catalogue_size)
            if isinstance(recipe, ListGains):
                raise ConfigError(f"{metric} has no moments over candidates; use a mean or a sum such as adg or dcg")
            self.recipes[str(metric)] = recipe
            if isinstance(recipe, PlaceGains):
                # with twice the digits: a short group far down is a small difference of two large sums
                self.sums[str(metric)] = running_sums(recipe.table)
        self.bindings = [binding_of(contest, name) for name in scorers]
        self.listed = [listed and isinstance(scorer, ListScorer) for scorer in scorers.values()]
        self.scores = [
            BlockScores(scorer, binding, contest.user_ids, contest.catalogue_ids, name)
            for (name, scorer), binding in zip(scorers.items(), self.bindings, strict=True)
        ]

    def add(self, block: tuple[int, int]) -> tuple[float, dict[str, tuple[Floats, Floats]]]:
        """The total of a block of users, and first and second moments by metric."""
        from unskew.ranking.all_candidates import moments_kernel

        first, last = block
        contest = self.contest
        users, candidates = contest.users[first:last], contest.candidates[first:last]
        spread = as_matrix(self.spread(users), users, contest)
        above, tied, lengths = self._rank(users, candidates, contest.listed_offsets[first : last + 1])
        moments = {}
        for word, recipe in self.recipes.items():
            if isinstance(recipe, LinearGains):
                moments[word] = moments_kernel.line_moments(above, tied, spread, *recipe.line(candidates))
                continue
            divisors = np.array([np.broadcast_to(recipe.divisor(of_model), len(users)) for of_model in lengths])
            ends = lengths if recipe.cut else np.full_like(lengths, contest.catalogue_size)
            moments[word] = moments_kernel.table_moments(
                above, tied, spread, recipe.table, self.sums[word], ends, divisors.astype(np.float64)
            )
        return moments_kernel.total_of(above[0], spread), moments

    def _rank(self, users: Ints, candidates: Ints, excluded_offsets: Ints) -> tuple[Ints, Ints, Ints]:
        """Ranks of every candidate by model, ties resolved, and the lengths of the lists."""
        from unskew.ranking.all_candidates import moments_kernel

        shape = (len(self.scores), len(users), self.contest.catalogue_size)
        above, tied = np.empty(shape, np.int32), np.empty(shape, np.int32)
        lengths = np.empty(shape[:2], np.int64)
        for m, (binding, listed) in enumerate(zip(self.bindings, self.listed, strict=True)):
            scores: Matrix = self.scores[m].of(users, writable=True)
            above[m], tied[m], finite = moments_kernel.rank_rows(
                scores, excluded_offsets, self.contest.listed, candidates
            )
            lengths[m] = np.where(binding.rows[users] >= 0, finite if listed else candidates, 0)
        if self.ties == "pessimistic":
            above[above >= 0] += tied[above >= 0]
        if self.ties != "expected":
            tied[:] = 0
        return above, tied, lengths
