"""Ranks made before: whether they belong to this split, and which of their rows are asked for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.arrays import Bools, Ints
from unskew.data import Split
from unskew.data.split import Sampled, Trained, Unseen
from unskew.errors import DataError
from unskew.evaluation.settings import Settings
from unskew.ranking import Ranks


def admit(name: str, ranks: Ranks, split: Split, settings: Settings) -> Ranks:
    """The rows of saved ranks that this run asks for.

    Parameters
    ----------
    name : str
        What the model is called.
    ranks : Ranks
    split : Split
    settings : Settings

    Raises
    ------
    DataError
        When they were made on other rows, another train, another candidate rule or other ties.
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
    asked = _is_in(ranks, positive.users, positive.items, len(split.item_vocabulary))
    if isinstance(split.rule, Sampled) and not asked.all():
        raise DataError(
            f"ranks of {name!r} hold rows that are no positives under {settings.positive!r}, and sampled candidates "
            "depend on which are; make the ranks with this condition"
        )
    if not asked.any():
        raise DataError(f"ranks of {name!r} hold no row that is positive under {settings.positive!r}")
    return ranks if asked.all() else take_ranks(ranks, asked)


def check_alike(ranks: Mapping[str, Ranks]) -> None:
    """Refuse models that were not judged on the same rows among the same candidates."""
    names = list(ranks)
    first = ranks[names[0]]
    for name, other in ranks.items():
        same = np.array_equal(first.users, other.users) and np.array_equal(first.items, other.items)
        if not same or not np.array_equal(first.candidates, other.candidates):
            raise DataError(
                f"ranks of {names[0]!r} and {name!r} are of different rows or candidates; "
                "make them with one prepare_contest that is given all models"
            )


def _check_rows(name: str, ranks: Ranks, split: Split) -> None:
    width = max(len(split.item_vocabulary), int(ranks.items.max(initial=0)) + 1)
    if (np.diff(ranks.users.astype(np.int64) * width + ranks.items) <= 0).any():
        raise DataError(f"ranks of {name!r} repeat rows, or are not sorted by user and item")
    if ((ranks.above < 0) | (ranks.tied < 0) | (ranks.above + ranks.spread >= ranks.candidates)).any():
        raise DataError(f"ranks of {name!r} hold places outside the user's candidates")
    strange = int(np.sum(~_is_in(ranks, split.test.users, split.test.items, width)))
    if strange or not len(ranks):
        raise DataError(
            f"ranks of {name!r} do not belong to this split: {strange} of {len(ranks)} rows are not in its test"
        )


def _check_train(name: str, ranks: Ranks, split: Split) -> None:
    """Candidates and training items of a user add up to the catalogue, which is the same for all users."""
    if not isinstance(split.rule, Unseen | Trained):
        return
    catalogue = ranks.candidates + split.train.seen_counts[ranks.users]
    seen = _is_in(ranks, split.train.users, split.train.items, len(split.item_vocabulary))
    if seen.any() or (catalogue != catalogue[0]).any():
        raise DataError(
            f"ranks of {name!r} were made with another train: their numbers of candidates do not fit this one"
        )


def _is_in(ranks: Ranks, users: Ints, items: Ints, width: int) -> Bools:
    return np.isin(ranks.users.astype(np.int64) * width + ranks.items, users.astype(np.int64) * width + items)


def take_ranks(ranks: Ranks, rows: Bools) -> Ranks:
    """The given rows of ranks."""
    columns = ("users", "items", "above", "tied", "candidates", "values", "listed", "pool")
    taken: dict[str, Any] = {
        column: getattr(ranks, column)[rows] for column in columns if getattr(ranks, column) is not None
    }
    return replace(ranks, **taken)
