"""`rank_shared`: the ranks of held-out items by scores that are the same for all users, without a loop over pairs."""

from dataclasses import replace

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.ranking.catalogue import Binding
from unskew.ranking.contest import Contest
from unskew.ranking.engines import Engine
from unskew.ranking.rank import rank
from unskew.ranking.ranks import Ranks, Ties
from unskew.ranking.scorers import FactorScorer


def shared_scorer(scores: Floats, contest: Contest, name: str) -> tuple[FactorScorer, Contest]:
    """A scorer that gives every user the same scores, and the contest with its place in it.

    Parameters
    ----------
    scores : array
        By place in the catalogue of the contest.
    contest : Contest
    name : str
    """
    size = contest.catalogue_size
    scorer = FactorScorer(np.ones((1, 1)), np.asarray(scores, dtype=np.float64)[:, None], name=name)
    binding = Binding(np.zeros(len(contest.user_ids), np.int32), np.arange(size, dtype=np.int32), size)
    return scorer, replace(contest, bindings={**contest.bindings, name: binding})


def rank_shared(
    scores: Floats,
    contest: Contest,
    *,
    name: str,
    ties: Ties = "expected",
    engine: Engine | None = None,
    seed: int = 0,
) -> Ranks:
    r"""Rank the rows of a contest by scores that are the same for all users.

    The items above a row are those above it in the catalogue, less the user's excluded items above it:

    .. math:: a_{ui} = \#\{j: s_j > s_i\} - \#\{j \in X_u: s_j > s_i\}

    so the time grows with the rows of train and test, not with users times items.

    Parameters
    ----------
    scores : array
        By place in the catalogue of the contest.
    contest : Contest
    name : str
    ties : str
    engine : Engine, optional
        Only where the tie policy gives tied items an order.
    seed : int
        Seed of random ties.
    """
    if ties in {"random", "ordinal"}:
        scorer, joined = shared_scorer(scores, contest, name)
        return rank(scorer, joined, name=name, ties=ties, engine=engine, seed=seed)
    levels = np.unique(scores, return_inverse=True)[1].reshape(-1).astype(np.int64)
    width = int(levels.max(initial=0)) + 1
    user = np.repeat(np.arange(len(contest.users)), np.diff(contest.offsets))
    owner = np.repeat(np.arange(len(contest.users)), np.diff(contest.listed_offsets))
    keys = np.sort(owner * width + levels[contest.listed])
    asked = user * width + levels[contest.columns]
    upper = np.searchsorted(keys, asked, side="right")
    above = contest.listed_offsets[1:][user] - upper
    same = upper - np.searchsorted(keys, asked, side="left")
    if not contest.among:
        at_most = np.cumsum(np.bincount(levels, minlength=width))[levels[contest.columns]]
        above = contest.catalogue_size - at_most - above
        same = np.bincount(levels, minlength=width)[levels[contest.columns]] - same
    tied = same - 1  # without the row itself
    if ties == "pessimistic":
        above = above + tied
    return Ranks(
        contest.row_users.astype(np.int32),
        contest.items,
        _int32(above),
        _int32(tied),
        np.repeat(contest.candidates, np.diff(contest.offsets)),
        values=contest.values,
        pool=contest.row_pool,
        ties=ties,
        candidate_rule=str(contest.rule),
    )


def _int32(counts: Ints) -> Ints:
    return counts.astype(np.int32)
