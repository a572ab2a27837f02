"""Jester: the ratings that 24,983 people gave 100 jokes, from -10 to 10."""

from pathlib import Path

import numpy as np
import polars as pl

from unskew.arrays import Bools, Floats
from unskew.data.interactions import Interactions
from unskew.data.reading import read_content
from unskew.data.sources.source import Form, Source
from unskew.data.sources.text import locate, read_columns
from unskew.data.vocabulary import Vocabulary
from unskew.errors import DataError

_FILE = "jester-data-1.csv"
_JOKES = 100
_LARGEST, _UNRATED = 10, 99
_COLUMNS = dict.fromkeys(["rated", *(f"joke {joke}" for joke in range(1, _JOKES + 1))], pl.Float64)


def read(folder: Path) -> Interactions:
    """Read ``jester-data-1.csv``, all ratings: a line per user, with the number of ratings and then 100 jokes.

    Ids are the numbers of line and joke, from 1; all users and jokes are declared.
    """
    path = locate(folder, _FILE, "jester")
    table = read_columns(read_content(path), path, _COLUMNS, separator=",").to_numpy()
    ratings = table[:, 1:]
    rated = ratings != _UNRATED
    _check(ratings, rated, table[:, 0], path)
    users, jokes = np.nonzero(rated)
    return Interactions(  # constructed directly, because the rows are distinct and the ids start at 1
        users.astype(np.int32),
        jokes.astype(np.int32),
        Vocabulary(np.arange(1, len(ratings) + 1), declared=True),
        Vocabulary(np.arange(1, _JOKES + 1), declared=True),
        values=ratings[rated],
        name="jester",
    )


def read_complete(folder: Path) -> Floats:
    """The ratings of the users who rated all jokes, users by jokes: a truth without holes."""
    rows = read(folder)
    ratings = np.full((rows.n_users, rows.n_items), np.nan)
    ratings[rows.users, rows.items] = np.asarray(rows.values)
    complete = ratings[~np.isnan(ratings).any(axis=1)]
    if not len(complete):
        raise DataError(
            f"{folder / _FILE}: none of {rows.n_users:,} users rated all {_JOKES} jokes; is it the original file?"
        )
    return np.asarray(complete)


def _check(ratings: Floats, rated: Bools, counts: Floats, path: Path) -> None:
    """Refuse ratings outside the scale, and lines whose first column is not their number of ratings."""
    outside = rated & ~(np.abs(ratings) <= _LARGEST)
    if outside.any():
        line, joke = np.argwhere(outside)[0].tolist()
        raise DataError(
            f"{path}: line {line + 1} has {ratings[line, joke]:g} for joke {joke + 1}, not a rating from -10 to 10 or "
            "99 for none; is it the original file?"
        )
    wrong = rated.sum(axis=1) != counts
    if wrong.any():
        line = int(np.argmax(wrong))
        raise DataError(
            f"{path}: line {line + 1} has {int(rated[line].sum())} ratings, but its first column says "
            f"{counts[line]:g}; was the file cut or changed?"
        )


JESTER = Source(
    name="jester",
    title="Jester, Dataset 1, part 1",
    licence="Free for research use when the paper is cited; no right to redistribute is stated",
    citation=(
        "K. Goldberg, T. Roeder, D. Gupta and C. Perkins (2001). Eigentaste: A Constant Time Collaborative Filtering "
        "Algorithm. Information Retrieval 4(2), 133-151"
    ),
    home="https://goldberg.berkeley.edu/jester-data/",
    # Not pinned: the owner offers a spreadsheet, and programs write the same numbers as different text.
    forms=(Form({_FILE: None}),),
    reader=read,
    how_to_get=(
        "Download jester-data-1.zip from the official home, save the sheet of its Excel file as jester-data-1.csv "
        "(separated by commas, no header) and put that into the folder"
    ),
)
