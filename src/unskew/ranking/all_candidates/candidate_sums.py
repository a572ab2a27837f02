"""Sums of chance times gain over all candidates of each user, and expected values of list metrics."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from unskew.arrays import Floats, Ints, Matrix, offsets_of
from unskew.errors import ConfigError, DataError, Option, did_you_mean
from unskew.ranking.all_candidates.everyone import check_rule
from unskew.ranking.all_candidates.recipes import CandidateMetric, LinearGains, ListGains, PlaceGains, Recipe
from unskew.ranking.block_scores import BlockScores
from unskew.ranking.contest import Contest
from unskew.ranking.engines import Engine, Threads
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.rank import Progress, binding_of, default_block_size
from unskew.ranking.ranks import TIE_POLICIES, Ties
from unskew.ranking.scorers import Scorer

Chances: TypeAlias = Callable[[Ints], Matrix]
"""From user codes to a matrix of users by items of the catalogue; the caller may write to it."""
SeveralChances: TypeAlias = Callable[[Ints], Sequence[Matrix]]
"""From user codes to several such matrices."""
POLICIES: tuple[Ties, ...] = ("expected", "optimistic", "pessimistic")
_COUNTS = ("each", "hits", "first")
Wanted = TypeVar("Wanted", PlaceGains, LinearGains, ListGains)


@dataclass(frozen=True, eq=False)
class CandidateSums:
    """Sums over all candidates of each user, each weighted by the chance that it is relevant.

    Parameters
    ----------
    users : array
        User codes.
    mass : array
        The sum of the chances: the expected number of relevant items.
    gains : dict
        By word of a mean or sum metric, per user the sum of chance times gain.
    values : dict
        By word of a list metric, per user its expected value, where a user without a relevant item counts as 0.
    any_relevant : array
        Per user, the chance that at least one item is relevant.
    """

    users: Ints
    mass: Floats
    gains: dict[str, Floats]
    values: dict[str, Floats]
    any_relevant: Floats


def sum_candidates(
    scorer: Scorer,
    contest: Contest,
    chances: Chances,
    metrics: Sequence[CandidateMetric],
    *,
    name: str = "model",
    ties: Ties = "expected",
    engine: Engine | None = None,
    block_size: int | None = None,
    unlisted: str = "zero",
    progress: Progress | None = None,
) -> CandidateSums:
    """Rank all candidates of each user of a contest by one model, and sum chance times gain over them.

    Parameters
    ----------
    scorer : Scorer
    contest : Contest
        From `everyone`.
    chances : callable
        From user codes to the chance that each item of the catalogue is relevant, users by items. What it returns is
        overwritten.
    metrics : sequence of metrics
        Means, sums and list metrics; list metrics need a cut-off of at most 200.
    name : str
        The name of the model in `prepare_contest`; needed if there are several.
    ties : {"expected", "optimistic", "pessimistic"}
        List metrics need ``expected``, and approximate ties of unequal chances; see `list_expectation`.
    engine, block_size, unlisted, progress
        As in `rank`.

    Raises
    ------
    ConfigError
        For metrics and tie policies that have no sum over all candidates.
    DataError
        If a score is not finite, or a chance is not in [0, 1].
    """
    sums = sum_models(
        {name: scorer},
        contest,
        lambda users: [chances(users)],
        metrics,
        ties=ties,
        engine=engine,
        block_size=block_size,
        unlisted=unlisted,
        progress=progress,
    )
    return sums[name][0]


def sum_models(
    scorers: Mapping[str, Scorer],
    contest: Contest,
    chances: SeveralChances,
    metrics: Sequence[CandidateMetric],
    *,
    ties: Ties = "expected",
    engine: Engine | None = None,
    block_size: int | None = None,
    unlisted: str = "zero",
    progress: Progress | None = None,
) -> dict[str, tuple[CandidateSums, ...]]:
    """`sum_candidates` of several models with several chances; each block is made once, and sorted once per model.

    Parameters
    ----------
    scorers : mapping of Scorer
        By the names of the models in `prepare_contest`.
    contest : Contest
        From `everyone`.
    chances : callable
        From user codes to a sequence of chances, each users by items. What it returns is overwritten.
    metrics : sequence of metrics
        As in `sum_candidates`, with each of the chances.
    ties, engine, block_size, unlisted, progress
        As in `sum_candidates`.

    Returns
    -------
    dict
        By model, the sums with each of the chances.
    """
    check_candidates(contest, ties)
    recipes = {str(metric): metric.recipe(contest.catalogue_size) for metric in metrics}
    job = _Job(scorers, contest, chances, recipes, ties, listed=unlisted == "zero")
    blocks = blocks_of(contest, block_size or default_block_size(contest.catalogue_size))
    parts = []
    for part in (engine or Threads()).map(job.sum, blocks):
        parts.append(part)
        if progress is not None:
            progress(len(parts), len(blocks))
    return {name: job.joined([part[name] for part in parts]) for name in scorers}


def check_candidates(contest: Contest, ties: str) -> None:
    """Refuse a contest without all candidates, and tie policies that order each tie group."""
    check_rule(contest.rule)
    if ties not in TIE_POLICIES:
        raise ConfigError(f"unknown tie policy {ties!r}{did_you_mean(ties, TIE_POLICIES)}")
    if ties not in POLICIES:
        raise ConfigError(f"ties {ties}: sums over all candidates have no such order; use {Option('ties', 'expected')}")


def blocks_of(contest: Contest, size: int) -> list[tuple[int, int]]:
    """The first user of each block, and the one after its last."""
    return [(start, min(start + size, len(contest.users))) for start in range(0, len(contest.users), size)]


def as_matrix(matrix: Matrix, users: Ints, contest: Contest) -> Matrix:
    """The matrix as an array that loops can read; an error if it has another shape."""
    matrix = np.asarray(matrix)
    if matrix.shape != (len(users), contest.catalogue_size):
        raise DataError(
            f"chances have shape {matrix.shape} for {len(users)} users and {contest.catalogue_size} items; "
            "give one row per user and one column per item of the catalogue"
        )
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    matrix = np.ascontiguousarray(matrix)
    return matrix if matrix.flags.writeable else matrix.copy()


def chosen(recipes: dict[str, Recipe], form: type[Wanted]) -> dict[str, Wanted]:
    """The recipes of one form."""
    return {word: recipe for word, recipe in recipes.items() if isinstance(recipe, form)}


_Part: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats, Ints]
"""Of a block of users: masses, chances of any relevant item, sums of places and of gains and values of lists with each
of the chances, and lengths of lists."""


class _Job:
    """What a worker needs to sum over the candidates of a block. Only each thread's buffers are mutable."""

    def __init__(
        self,
        scorers: Mapping[str, Scorer],
        contest: Contest,
        chances: SeveralChances,
        recipes: dict[str, Recipe],
        ties: Ties,
        *,
        listed: bool,
    ) -> None:
        self.contest, self.chances = contest, chances
        self.bindings = {name: binding_of(contest, name) for name in scorers}
        self.listed = {name: listed and isinstance(scorer, ListScorer) for name, scorer in scorers.items()}
        self.scores = {
            name: BlockScores(scorer, self.bindings[name], contest.user_ids, contest.catalogue_ids, name)
            for name, scorer in scorers.items()
        }
        self.policy = POLICIES.index(ties)
        self.by_place, self.linear = chosen(recipes, PlaceGains), chosen(recipes, LinearGains)
        self.by_list = chosen(recipes, ListGains)
        if self.by_list and ties != "expected":
            raise ConfigError(
                f"ties {ties}: {next(iter(self.by_list))} over all candidates needs {Option('ties', 'expected')}"
            )
        tables = [recipe.table for recipe in self.by_place.values()]
        cut = [recipe.cut for recipe in self.by_place.values()]
        cut_offs = [len(table) for table in tables] + [len(recipe.gains) for recipe in self.by_list.values()]
        self.depth = max(cut_offs, default=1) if all(cut) and not self.linear else 0
        self.tables = (*_joined(tables), np.array(cut, dtype=bool))
        self.lists = (
            *_joined([recipe.gains for recipe in self.by_list.values()]),
            np.array([_COUNTS.index(recipe.counts) for recipe in self.by_list.values()], dtype=np.int64),
            *_joined([recipe.weights for recipe in self.by_list.values()]),
        )

    def sum(self, block: tuple[int, int]) -> dict[str, _Part]:
        """The sums of a block by model, with each of the chances."""
        from unskew.ranking.all_candidates import candidate_kernel

        first, last = block
        contest = self.contest
        users = contest.users[first:last]
        # excluded candidates are overwritten, which are the same for all models
        several = [as_matrix(each, users, contest) for each in self.chances(users)]
        chances = several[0][None] if len(several) == 1 else np.stack(several)
        parts = {}
        for name, source in self.scores.items():
            mass, some, places, sums, values, lengths, outside = candidate_kernel.sum_rows(
                source.of(users, writable=True),
                chances,
                contest.listed_offsets[first : last + 1],
                contest.listed,
                contest.candidates[first:last],
                self.bindings[name].rows[users] >= 0,
                self.listed[name],
                self.policy,
                self.depth,
                bool(self.linear),
                self.tables,
                self.lists,
            )
            if outside.any():
                row = int(np.argmax(outside.any(axis=0)))
                raise DataError(
                    f"{outside[:, row].max()} chances of user {contest.user_ids[users[row]]} are not in [0, 1]; "
                    "give the probability that each item is relevant"
                )
            parts[name] = mass, some, places, sums, values, lengths
        return parts

    def joined(self, parts: Sequence[_Part]) -> tuple[CandidateSums, ...]:
        """The sums of all blocks, with each of the chances."""
        *of_chances, by_block = zip(*parts, strict=True)
        mass, some, places, sums, values = (np.concatenate(blocks, axis=1) for blocks in of_chances)
        lengths = np.concatenate(by_block)
        return tuple(
            CandidateSums(
                self.contest.users,
                mass[c],
                self.gains(mass[c], places[c], sums[c], lengths),
                self.values(values[c]),
                some[c],
            )
            for c in range(len(mass))
        )

    def gains(self, mass: Floats, places: Floats, sums: Floats, lengths: Ints) -> dict[str, Floats]:
        """Sums of chance times gain by word, from the sums of places and by table."""
        gains = {word: sums[:, t] / recipe.divisor(lengths) for t, (word, recipe) in enumerate(self.by_place.items())}
        for word, recipe in self.linear.items():
            top, step = recipe.line(self.contest.candidates)
            gains[word] = top * mass + step * places
        return gains

    def values(self, values: Floats) -> dict[str, Floats]:
        """Expected values by word."""
        return {word: values[:, m].copy() for m, word in enumerate(self.by_list)}


def _joined(arrays: Sequence[Floats]) -> tuple[Floats, Ints]:
    """The arrays one after another, and their offsets."""
    return np.concatenate([np.empty(0), *arrays]), offsets_of([len(array) for array in arrays])
