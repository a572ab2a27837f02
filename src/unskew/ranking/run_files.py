"""`write_run`: write a model's lists as a TREC run, for other programs that judge rankings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unskew.arrays import Ints
from unskew.data import Interactions, Split
from unskew.data.formats.trec import check_fields
from unskew.data.frames import FRAMES, is_frame
from unskew.data.writing import written
from unskew.errors import ConfigError, DataError
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.model_files import scores_from_frame
from unskew.ranking.scorers import Scorer
from unskew.ranking.top import top_lists


def write_run(
    model: Scorer | Any,
    path: str | Path,
    *,
    train: Interactions | Split | None = None,
    k: int = 100,
    tag: str = "unskew",
) -> None:
    """Write lists as a TREC run: lines ``user Q0 item rank score tag``, best first.

    Tables of scores and top-N lists are written with their scores. For other models the top k of each user is made,
    without the user's training items, and the score is ``k + 1 - rank``, so that programs that sort by score keep the
    order.

    Parameters
    ----------
    model : ListScorer, frame or Scorer
        A frame has columns ``user``, ``item`` and ``score`` or ``rank``.
    path : str or Path
    train : Interactions or Split, optional
        The users and the items that they already have; needed unless the model is a table.
    k : int
        Length of the lists that are made; tables are written whole.
    tag : str
        Name of the run.

    Raises
    ------
    DataError
        If an id has a blank in it, which separates fields, or a table has no ids.

    Examples
    --------
    >>> import polars as pl
    >>> from unskew import write_run
    >>> lists = pl.DataFrame({"user": ["ann", "ann"], "item": ["tea", "jam"], "score": [0.9, 0.4]})
    >>> write_run(lists, "mine.run", tag="mine")  # doctest: +SKIP
    """
    if not tag or tag.split() != [tag]:
        raise ConfigError(f"tag {tag!r}: give a name without blanks")
    table = scores_from_frame(model, name=tag) if is_frame(model) else model
    if isinstance(table, ListScorer):
        lines = _table_lines(table, tag)
    elif not hasattr(model, "score"):
        raise DataError(
            f"{type(model).__name__} is not a model that ranks; give a trained model, a table of scores or {FRAMES}"
        )
    elif train is None:
        raise ConfigError(f"{type(model).__name__} is not a table of scores; give train=, so that lists can be made")
    else:
        lines = _top_lines(table, train, k, tag)
    with written(Path(path)) as stream:
        stream.writelines(lines)


def _table_lines(table: ListScorer, tag: str) -> Iterator[str]:
    """The lines of a table: each user's rows, by score."""
    if table.user_ids is None or table.item_ids is None:
        raise DataError(f"{table.name}: has no user_ids or no item_ids, which a run names; give both")
    users = check_fields(np.asarray(table.user_ids).tolist(), f"user of {table.name}")
    items = check_fields(np.asarray(table.item_ids).tolist(), f"item of {table.name}")
    scores = np.asarray(table.scores, dtype=np.float64)
    rows = np.repeat(np.arange(len(users)), np.diff(table.offsets))
    order = np.lexsort((-scores, rows))
    ranks = np.arange(1, len(rows) + 1) - table.offsets[rows]
    lines = zip(rows.tolist(), table.columns[order].tolist(), ranks.tolist(), scores[order].tolist(), strict=True)
    return (f"{users[row]} Q0 {items[column]} {rank} {score!r} {tag}\n" for row, column, rank, score in lines)


def _top_lines(model: Scorer, train: Interactions | Split, k: int, tag: str) -> Iterator[str]:
    """The lines of the top k of each user."""
    lists = top_lists(model, train, k, name=tag)
    rows = train.train if isinstance(train, Split) else train
    users = check_fields(rows.user_vocabulary.decode(lists.users).tolist(), "user of train")
    items = check_fields(rows.item_vocabulary.ids.tolist(), "item of train")
    for user, listed in zip(users, _known(lists.items), strict=True):
        for rank, item in enumerate(listed, start=1):
            yield f"{user} Q0 {items[item]} {rank} {k + 1 - rank} {tag}\n"


def _known(lists: Ints) -> Iterator[Ints]:
    """The items of each list, without the places that are empty."""
    return (listed[listed >= 0] for listed in lists)
