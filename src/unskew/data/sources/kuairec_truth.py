"""KuaiRec's small matrix as a complete grid of labels: 1,411 people, 3,327 videos, 1 for a video watched over twice."""

import warnings
from pathlib import Path

import numpy as np

from unskew.arrays import Bools, Ints
from unskew.data.interactions import Interactions
from unskew.data.sources.kuairec import (
    EXTRAS,
    KUAIREC,
    LISTS_FORM,
    POSITIVE_RATIO,
    RATIOS_FORM,
    SMALL_MATRIX,
    grid_of,
    read_labels,
    read_ratios,
)
from unskew.data.sources.source import Source
from unskew.data.sources.text import find
from unskew.data.vocabulary import Vocabulary
from unskew.errors import DataError, UnskewWarning, first_of

_NAME = "kuairec-truth"
MOST_MISSING = 0.01
"""The share of pairs that a small matrix may lack: 0.4 % of the original were never shown."""
_NAMED = 5


def read(folder: Path) -> Interactions:
    """Read every pair of the grid, 4.7 million rows; the value is 1 for a positive and 0 for any other pair.

    From the three lists, see `unskew.data.sources.kuairec.read_labels`, else from ``small_matrix.csv``, where the few
    pairs that were never shown are negative, with a warning that names the users and items that lack most.
    """
    if any(find(folder, name) for name in LISTS_FORM.files) or find(folder, SMALL_MATRIX) is None:
        return read_labels(folder, _NAME)
    log = read_ratios(folder)
    labels = np.zeros((log.n_users, log.n_items), dtype=bool)
    known = np.zeros_like(labels)
    known[log.users, log.items] = True
    labels[log.users, log.items] = np.asarray(log.values) > POSITIVE_RATIO
    path = folder / SMALL_MATRIX
    check_complete(known, log, str(path))
    if not known.all():
        warnings.warn(
            f"{path}: {_missing(known, log)}; their labels are not known and count as negative; where that matters, "
            "leave these users or items out",
            UnskewWarning,
            stacklevel=2,
        )
    users, items = (Vocabulary(each.ids, declared=True) for each in _vocabularies(log))
    return grid_of(labels, users, items, _NAME)


def check_complete(known: Bools, log: Interactions, what: str) -> None:
    """Refuse a matrix that lacks more pairs than the original, and name the users and items that lack most."""
    if known.mean() >= 1 - MOST_MISSING:
        return
    raise DataError(f"{what}: the grid is not complete: {_missing(known, log)}; is it the original file?")


def _missing(known: Bools, log: Interactions) -> str:
    """How many cells are missing, and the users and items that lack most."""
    users, items = _vocabularies(log)
    lacking = {
        "users": _most(users, known.shape[1] - known.sum(axis=1)),
        "items": _most(items, known.shape[0] - known.sum(axis=0)),
    }
    listed = "; ".join(f"{kind} {names}" for kind, names in lacking.items())
    return f"{1 - known.mean():.1%} of {known.shape[0]:,} x {known.shape[1]:,} cells are missing, of {listed}"


def _vocabularies(log: Interactions) -> tuple[Vocabulary, Vocabulary]:
    return log.user_vocabulary, log.item_vocabulary


def _most(ids: Vocabulary, missing: Ints) -> str:
    order = [place for place in np.argsort(-missing, kind="stable") if missing[place]]
    return first_of([f"{ids.ids[int(place)]} ({int(missing[place])} cells)" for place in order], _NAMED)


KUAIREC_TRUTH = Source(
    name=_NAME,
    title="KuaiRec, small matrix as complete labels",
    licence="CC BY-SA 4.0, that of KuaiRec; the derived lists have no statement of their own",
    citation=KUAIREC.citation,
    home=KUAIREC.home,
    forms=(LISTS_FORM, RATIOS_FORM),
    reader=read,
    extras=EXTRAS,
    how_to_get=(
        "Put small_matrix.csv of KuaiRec.zip, which the official home offers, into the folder; or make the files from "
        "it: truth_positives.csv has the columns user_id and video_id of the rows with a watch_ratio above 2, sorted, "
        "with a header; small_matrix_users.txt and small_matrix_items.txt have all user ids and video ids, sorted, one "
        "per line. biased_log_positives.csv, which studies use if it is here, has user_id, video_id and count of the "
        "pairs of big_matrix.csv with such a ratio"
    ),
)
