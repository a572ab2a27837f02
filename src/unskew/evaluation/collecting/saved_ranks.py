"""Saved ranks: check that they belong to a split, and align those of several models."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from unskew.arrays import Bools, Ints
from unskew.data import Split
from unskew.data.candidates import Sampled, Trained, Unseen
from unskew.data.pairs import is_among, row_keys
from unskew.errors import DataError, Option
from unskew.evaluation.settings.settings import Settings
from unskew.ranking import Ranks


def admit(name: str, ranks: Ranks, split: Split, settings: Settings) -> Ranks:
    """Return the rows of saved ranks that this run asks for.

    Ranks with other rows, another train, another candidate rule or other ties are refused.
    """
    if ranks.ties != settings.ties or ranks.candidate_rule != str(split.rule):
        raise DataError(
            f"ranks of {name!r} were made with ties {ranks.ties} among {ranks.candidate_rule} candidates; "
            f"ask for the same here, not {settings.ties} and {split.rule}"
        )
    _check_rows(name, ranks, split)
    _check_train(name, ranks, split)
    if settings.positive is None:
        return ranks
    positive = split.test.where(settings.positive)
    asked = is_among(ranks, positive, len(split.item_vocabulary))
    if isinstance(split.rule, Sampled) and not asked.all():
        raise DataError(
            f"ranks of {name!r} hold rows that are not positive under {settings.positive!r}, and sampled candidates "
            "depend on which rows are positive; make the ranks with this condition"
        )
    if not asked.any():
        raise DataError(f"ranks of {name!r} hold no row that is positive under {settings.positive!r}")
    return ranks if asked.all() else ranks.take(asked)


def align(ranks: Mapping[str, Ranks], users: str) -> dict[str, Ranks]:
    """Return the ranks of all models on the same rows among the same candidates; `users` is the rule of the run.

    Unless only common users are judged, a user who is missing from some ranks is unknown to their model and gets an
    empty list there. The rows and the number of candidates of that user come from the other models.
    """
    names = list(ranks)
    together = ranks[names[0]]
    if users != "common":
        for other in ranks.values():
            lacking = ~_is_in(other.users, together.users)
            if lacking.any():
                whole = [replace(part, listed=None, known=None) for part in (together, other.take(lacking))]
                together = Ranks.concat(whole)
    aligned = {}
    for name, given in ranks.items():
        has = _is_in(together.users, given.users)
        here = together if has.all() else together.take(has)
        same = np.array_equal(here.users, given.users) and np.array_equal(here.items, given.items)
        if not same or not np.array_equal(here.candidates, given.candidates) or (users == "common" and not has.all()):
            raise DataError(
                f"ranks of {names[0]!r} and {name!r} are of different rows or candidates; "
                "make them with one prepare_contest that is given all models"
            )
        aligned[name] = given if has.all() else _fill(name, given, together, has)
    return aligned


def _is_in(users: Ints, others: Ints) -> Bools:
    """Whether each user is among the others, who are mostly the same."""
    return np.ones(len(users), bool) if np.array_equal(users, others) else np.isin(users, others)


def _fill(name: str, ranks: Ranks, together: Ranks, has: Bools) -> Ranks:
    """Return the ranks with an empty list, where all candidates tie, for each user whom they lack."""
    if ranks.ties in {"random", "ordinal"}:
        raise DataError(
            f"ranks of {name!r} lack {len(np.unique(together.users[~has])):,} users whom other models know, and under "
            f"ties={ranks.ties} the places of an empty list are not known; make the ranks with one prepare_contest "
            f"that is given all models, or use {Option('users', 'common')}"
        )
    others = (together.candidates - 1).astype(np.int32)
    above = np.where(has, 0, others if ranks.ties == "pessimistic" else 0).astype(np.int32)
    tied, known = others.copy(), has.copy()
    above[has], tied[has] = ranks.above, ranks.tied
    known[has] = True if ranks.known is None else ranks.known
    listed = None
    if ranks.listed is not None:
        listed = np.zeros(len(together), dtype=np.int32)
        listed[has] = ranks.listed
    return replace(
        together,
        above=above,
        tied=tied,
        listed=listed,
        known=known,
        ties=ranks.ties,
        candidate_rule=ranks.candidate_rule,
    )


def _check_rows(name: str, ranks: Ranks, split: Split) -> None:
    width = max(len(split.item_vocabulary), int(ranks.items.max(initial=0)) + 1)
    if (np.diff(row_keys(ranks, width)) <= 0).any():
        raise DataError(f"ranks of {name!r} repeat rows, or are not sorted by user and item")
    if ((ranks.above < 0) | (ranks.tied < 0) | (ranks.above + ranks.spread >= ranks.candidates)).any():
        raise DataError(f"ranks of {name!r} hold places outside the user's candidates")
    if ranks.ties == "expected" and not _is_an_order(ranks):
        raise DataError(f"ranks of {name!r} have two items of a user in one place that are not tied")
    strange = int(np.sum(~is_among(ranks, split.test, width)))
    if strange or not len(ranks):
        raise DataError(
            f"ranks of {name!r} do not belong to this split: {strange} of {len(ranks)} rows are not in its test"
        )


def _is_an_order(ranks: Ranks) -> bool:
    """Whether the items of each user have different places, or are tied with each other."""
    order = np.lexsort((ranks.above, ranks.users))
    users, above, tied = (column[order].astype(np.int64) for column in (ranks.users, ranks.above, ranks.tied))
    same_user, same_place = users[1:] == users[:-1], above[1:] == above[:-1]
    after = above[1:] > above[:-1] + tied[:-1]
    fits = np.where(same_place, tied[1:] == tied[:-1], after) | ~same_user
    starts = np.flatnonzero(np.append(True, ~(same_user & same_place)))[: len(users)]
    sizes = np.diff(np.append(starts, len(users)))
    return bool(fits.all() and (sizes <= tied[starts] + 1).all())


def _check_train(name: str, ranks: Ranks, split: Split) -> None:
    """Refuse ranks of another train: a user's candidates and training items must add up to one catalogue.

    What sampled candidates were drawn from lacks a user's test items too, so there the sums may differ by their number.
    """
    if ranks.pool is not None:
        drawn_from = ranks.pool.astype(np.int64) + split.train.seen_counts[ranks.users]
        if np.ptp(drawn_from) > split.test.user_counts.max():
            raise DataError(
                f"ranks of {name!r} were made with another train: what their candidates were drawn from does not fit it"
            )
    if not isinstance(split.rule, Unseen | Trained):
        return
    catalogue = ranks.candidates + split.train.seen_counts[ranks.users]
    seen = is_among(ranks, split.train, len(split.item_vocabulary))
    if seen.any() or (catalogue != catalogue[0]).any():
        raise DataError(
            f"ranks of {name!r} were made with another train: their numbers of candidates do not fit this one"
        )
