"""`shown_lists`: the top k of the judged users of a contest, among their candidates."""

import numpy as np

from unskew.arrays import Ints
from unskew.ranking.block_scores import BlockScores
from unskew.ranking.contest import Contest
from unskew.ranking.engines import Engine, Threads
from unskew.ranking.rank import Progress, binding_of, default_block_size
from unskew.ranking.ranks import Ties
from unskew.ranking.scorers import Scorer


def shown_lists(
    scorer: Scorer,
    contest: Contest,
    k: int,
    *,
    name: str,
    ties: Ties = "expected",
    seed: int = 0,
    engine: Engine | None = None,
    block_size: int | None = None,
    progress: Progress | None = None,
) -> Ints:
    """The k best candidates of each user of a contest, as places in the catalogue; -1 where there are fewer.

    Items that the model does not know, and items outside a top-N list, are never shown; a user whom it does not know
    has an empty list. Lists are best first. Ties are in a random order that depends on the seed, the user and the item
    alone; with ``ordinal`` ties, in the order of the catalogue.

    Parameters
    ----------
    scorer : Scorer
    contest : Contest
    k : int
    name : str
        Name of the model in the contest.
    ties : str
    seed : int
    engine : Engine, optional
        `Threads` by default.
    block_size : int, optional
        Users scored at a time.
    progress : callable, optional
        Called with the number of blocks done and the number of all blocks.
    """
    size = block_size or default_block_size(contest.catalogue_size)
    starts = range(0, len(contest.users), size)
    blocks = [(start, min(start + size, len(contest.users))) for start in starts]
    job = _Job(scorer, contest, k, name, ties, seed)
    parts: list[Ints] = [np.empty((0, k), np.int32)]
    for part in (engine or Threads()).map(job.list, blocks):
        parts.append(part)
        if progress is not None:
            progress(len(parts) - 1, len(blocks))
    return np.concatenate(parts)


class _Job:
    """What a worker needs to list the best candidates of a block of users."""

    def __init__(self, scorer: Scorer, contest: Contest, k: int, name: str, ties: Ties, seed: int) -> None:
        self.contest, self.k, self.ties, self.seed = contest, k, ties, seed
        binding = binding_of(contest, name)
        self.scores = BlockScores(scorer, binding, contest.user_ids, contest.catalogue_ids, name)

    def list(self, block: tuple[int, int]) -> Ints:
        """Places of the best candidates of a block of users."""
        from unskew.ranking import top_kernel

        first, last = block
        contest, users = self.contest, self.contest.users[first:last]
        scores = self.scores.of(users, writable=True)
        offsets, listed = contest.listed_offsets[first : last + 1], contest.listed
        if contest.among:
            owner = np.repeat(np.arange(last - first), np.diff(offsets))
            places = listed[offsets[0] : offsets[-1]]
            among = np.full_like(scores, -np.inf)
            among[owner, places] = scores[owner, places]
            scores, offsets, listed = among, np.zeros(last - first + 1, np.int64), listed[:0]
        if self.ties == "ordinal":
            best: Ints = top_kernel.list_top(scores, offsets, listed, self.k)
        else:
            best = top_kernel.draw_top(scores, offsets, listed, self.k, self.seed, users)
        return best
