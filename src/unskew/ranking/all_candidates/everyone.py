"""The contest of all users: their candidates, without held-out rows."""

from dataclasses import replace

import numpy as np

from unskew.arrays import Ints
from unskew.data.candidates import All, Candidates, Listed, Sampled
from unskew.data.split import Split
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError, Option
from unskew.ranking.contest import Contest, rows_of


def everyone(contest: Contest, split: Split) -> Contest:
    """The same contest without held-out rows, for all users of train, test or slice whom a model knows.

    A slice is drawn over all users, also over those without a row in the log; without them the slice would be compared
    with sums over other users.

    Parameters
    ----------
    contest : Contest
        From `prepare_contest`.
    split : Split
        The split in that call.

    Raises
    ------
    ConfigError
        Under the rules ``listed`` and ``sampled``, which leave out candidates.
    """
    check_rule(contest.rule)
    parts = (split.train, split.test, *(() if split.slice is None else (split.slice,)))
    occurs = np.any([part.user_counts > 0 for part in parts], axis=0)
    users = np.flatnonzero(occurs & contest.known_users).astype(contest.users.dtype)
    if not len(users):
        raise DataError("no user of train or test is known to a model; are the user ids of the models those of train?")
    excluded_offsets, excluded = _exclude(contest, split, users)
    return replace(
        contest,
        users=users,
        offsets=np.zeros(len(users) + 1, np.int64),
        items=contest.items[:0],
        columns=contest.columns[:0],
        listed_offsets=excluded_offsets,
        listed=excluded,
        candidates=(contest.catalogue_size - np.diff(excluded_offsets)).astype(np.int32),
        values=None,
        touched=None,
    )


def check_rule(rule: Candidates) -> None:
    """Refuse a rule that leaves out candidates."""
    if isinstance(rule, Listed | Sampled):
        raise ConfigError(
            f"candidates {rule}: sums over all candidates need all of them; use {Option('candidates', 'unseen')}"
        )


def _exclude(contest: Contest, split: Split, users: Ints) -> tuple[Ints, Ints]:
    """Offsets and catalogue places of the items that are not candidates of these users."""
    if isinstance(contest.rule, All):
        return np.zeros(len(users) + 1, np.int64), np.empty(0, np.int32)
    codes = split.item_vocabulary.encode(canonical(contest.catalogue_ids, "items of the catalogue"))
    places = np.full(len(split.item_vocabulary), -1, dtype=np.int32)
    places[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
    return rows_of(split.train.by_user, users, places)
