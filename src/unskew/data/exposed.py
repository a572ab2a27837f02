"""Randomly exposed tests: items drawn at random for each user, each labelled positive or not."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unskew.arrays import Floats
from unskew.data.columns import LOG, Columns
from unskew.data.frames import columns_of, eager, find_column, is_frame
from unskew.data.interactions import Interactions
from unskew.data.item_list import read_catalogue, with_items
from unskew.data.pairs import row_keys
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError, Option

if TYPE_CHECKING:
    from unskew.data.split import Split

LABELLED = "rating>=1"
"""The condition for a positive, if the values are labels."""
POPULATIONS = ("all", "unseen", "auto")


def read_exposed(
    path: str | Path,
    *,
    user: str = "user",
    item: str = "item",
    label: str | None = None,
    rating: str | None = None,
    positive: str | None = None,
    check: Callable[[Interactions], None] | None = None,
) -> Interactions:
    """Read a file of exposed rows; see `exposed_from_frame`.

    Raises
    ------
    DataError
        If the file has no rows, or a label is neither 0 nor 1.
    """
    columns = Columns(user, item, rating, label=label)
    return label_rows(path, columns, positive, check)


def exposed_from_frame(
    frame: Any,
    *,
    user: str = "user",
    item: str = "item",
    label: str | None = None,
    rating: str | None = None,
    positive: str | None = None,
    name: str = "exposed",
    check: Callable[[Interactions], None] | None = None,
) -> Interactions:
    """Exposed rows with labels 1 and 0 as values, from a frame of any library that `eager` takes.

    A repeated pair counts once: the distinct pairs of a sample with replacement are a sample without replacement.

    Parameters
    ----------
    frame : frame
    user, item : str
        Columns of ids.
    label : str, optional
        Column of labels 0 and 1; by default ``label``, if present.
    rating : str, optional
        Column of ratings, if there are no labels; ``rating`` by default.
    positive : str, optional
        Which ratings are positive, as in ``rating>=4``; needed when there are no labels.
    name : str
        Name of the table in messages.
    check : callable, optional
        Called with the rated rows before they are labelled; it may raise an error.
    """
    columns = columns_of(frame, name)
    label_column = label or ("label" if "label" in columns else None)
    if label_column is None:
        given = rating or "rating"
        if given not in columns:
            raise DataError(
                f"{name}: no column 'label' of 0 and 1 (it has {', '.join(columns[:8])}); is the header line missing? "
                f"if not, rename the column of labels, or give ratings and {Option('positive')}"
            )
        if positive is None:
            raise ConfigError(
                f"{name}: has ratings but no labels; give the positive ratings, as in {Option('positive', 'rating>=4')}"
            )
    rows = Interactions.from_frame(frame, user=user, item=item, rating=label_column or rating, name=name, once=False)
    if label_column is not None:
        check_labels(rows.values, name)
    elif positive is not None:
        if check is not None:
            check(rows.distinct())
        labelled = rows.labelled(positive)
        if has_labels(rows) and not np.asarray(labelled.values).any():
            raise DataError(
                f"{name}: no row satisfies {positive}, and all values are 0 or 1; if these are labels, name their "
                "column label"
            )
        rows = labelled
    _check_conflicts(rows)
    return rows.distinct()


def check_labels(labels: Floats | None, name: str) -> None:
    """Refuse labels other than 0 and 1."""
    if labels is None:
        raise DataError(f"{name}: has no labels; add a column label with 1 for positive and 0 for other rows")
    wrong = ~np.isin(labels, (0.0, 1.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{name}: label {labels[row]:g} in row {row + 1} ({int(wrong.sum()):,} in all) is neither 0 nor 1; for "
            f"ratings name the column rating and give {Option('positive')}, as in 'rating>=4'"
        )


def has_labels(rows: Interactions) -> bool:
    """Whether the values of the rows are labels: only 0 and 1, and both occur."""
    return rows.values is not None and bool(np.array_equal(np.unique(rows.values), (0.0, 1.0)))


def _check_conflicts(rows: Interactions) -> None:
    """Refuse a pair that is positive in one row and not in another."""
    assert rows.values is not None
    keys = row_keys(rows, max(rows.n_items, 1))
    order = np.argsort(keys, kind="stable")
    keys, labels = keys[order], rows.values[order]
    clash = (keys[1:] == keys[:-1]) & (labels[1:] != labels[:-1])
    if clash.any():
        row = int(order[int(np.argmax(clash)) + 1])
        user, item = rows.user_vocabulary.ids[rows.users[row]], rows.item_vocabulary.ids[rows.items[row]]
        raise DataError(
            f"{rows.name}: user {user}, item {item} is positive in one row and not in another (row {row + 1}); keep one"
        )


@dataclass(frozen=True)
class Population:
    """Which items the exposed items were drawn from, and why this is assumed.

    `rule` is ``all`` or ``unseen``.
    """

    rule: str
    why: str


def exposed_split(
    train: Any,
    exposed: Any,
    validation: Any = None,
    *,
    catalogue: Any = None,
    population: str = "auto",
    positive: str | None = None,
    columns: Columns | None = None,
    check: Callable[[Interactions], None] | None = None,
) -> "Split":
    """The split of a randomly exposed test, from interactions, frames or files.

    If train or validation have labels and no ratings, the labels are read, so that models may learn from them.

    Parameters
    ----------
    train, exposed, validation : Interactions, frame or path
        `exposed` is read as by `exposed_from_frame`; `validation` may be left out.
    catalogue : ids, frame or path of a table, optional
        All items that could be drawn, if train lacks some.
    population : {"auto", "all", "unseen"}
        The items that models rank; see `find_population`.
    positive : str, optional
        Which ratings are positive, as in ``rating>=4``.
    columns : Columns
        Names of the columns of all tables.
    check : callable, optional
        Called with the rows of each part that has ratings; it may raise an error.

    Examples
    --------
    >>> from unskew.data import Interactions, exposed_split
    >>> train = Interactions.from_arrays(["a", "b"], ["x", "y"])
    >>> shown = Interactions.from_arrays(["a", "a", "b"], ["x", "y", "x"], [1, 0, 1])
    >>> split = exposed_split(train, shown)
    >>> str(split.rule), split.population_by
    ('unseen', '1 exposed rows are also in train and were removed')
    """
    from unskew.data.split import Split

    check_population_word(population)
    columns = columns or Columns()
    learnt, held = (
        None if part is None else _learnt_from(part, name, columns, positive)
        for part, name in ((train, "train"), (validation, "validation"))
    )
    assert learnt is not None
    for part in (learnt, held):
        if check is not None and part is not None:
            check(part)
    notes: tuple[str, ...] = ()
    if catalogue is not None:
        of_file = isinstance(catalogue, str | Path)
        if of_file or is_frame(catalogue):
            stated = read_catalogue(catalogue, item=columns.item)
        else:
            stated = canonical(catalogue, "the catalogue")
        notes = _note_lacking(learnt, stated, str(catalogue) if of_file else "catalogue")
        learnt = with_items(learnt, stated)
    rows = exposed if isinstance(exposed, Interactions) else label_rows(exposed, columns, positive, check)
    chosen = find_population(population, learnt, rows)
    return Split(learnt, rows, held, candidates=chosen.rule, exposed=True, population_by=chosen.why, notes=notes)


def _table(source: Any, name: str, columns: Columns) -> tuple[pl.DataFrame, str, Columns]:
    """The table of a file or of a frame, its name in messages, and the names of its columns."""
    if isinstance(source, str | Path):
        return columns.open(source)
    there = columns_of(source, name)
    ids = [find_column(column, there, name) for column in (columns.user, columns.item)]
    known = (*LOG, columns.rating, columns.timestamp, columns.propensity, columns.label)
    return eager(source, [*ids, *(column for column in there if column in known)], name), name, columns


def label_rows(
    source: Any, columns: Columns, positive: str | None = None, check: Callable[[Interactions], None] | None = None
) -> Interactions:
    """Exposed rows of a file or a frame, as in `exposed_from_frame`, with these names of columns."""
    frame, name, columns = _table(source, "exposed", columns)
    if frame.is_empty():
        raise DataError(f"{name}: has a header but no rows; give the exposed items as user,item,label")
    return exposed_from_frame(
        frame,
        user=columns.user,
        item=columns.item,
        label=columns.label,
        rating=columns.rating,
        positive=positive,
        name=name,
        check=check,
    )


def _learnt_from(source: Any, name: str, columns: Columns, positive: str | None) -> Interactions:
    """Rows of train or validation; if there are no ratings, labels are used."""
    if isinstance(source, Interactions):
        return source
    frame, name, columns = _table(source, name, columns)
    label = columns.label or "label"
    if label not in frame.columns or (columns.rating or "rating") in frame.columns:
        return columns.rows(frame, name, strict=False)
    if (positive or "").lstrip().startswith("rating"):
        raise ConfigError(
            f"{name}: has labels but no ratings, so {Option('positive', positive)} cannot be applied; add "
            f"ratings, or give labels in all files and leave out {Option('positive')}"
        )
    rows = replace(columns, rating=label).rows(frame, name, strict=False)
    check_labels(rows.values, name)
    return rows


def _note_lacking(train: Interactions, stated: pl.Series, name: str) -> tuple[str, ...]:
    """A warning if the catalogue lacks training items, which are candidates all the same."""
    trained = set(train.item_vocabulary.ids[train.item_counts > 0].tolist())
    lacking = len(trained - set(stated.to_list()))
    if not lacking:
        return ()
    problem = f"{name}: lacks {lacking:,} of {len(trained):,} items of train, which are candidates all the same"
    return (f"{problem}; if they could not be drawn, remove them from train",)


def check_population_word(word: str) -> None:
    """Refuse a word that is not the name of a population."""
    if word not in POPULATIONS:
        raise ConfigError(f"{Option('population', word)}: choose all, unseen or auto")


def find_population(asked: str, train: Interactions, exposed: Interactions) -> Population:
    """The requested population; ``auto`` is the items that the user does not have in train.

    A part of a random sample is a random sample of that part of the items. So the exposed rows that are not in train
    are a random sample of unseen items, whatever the items were drawn from, and rows that are in train are removed.
    With ``all`` they stay, and models may recommend items that a user already has.
    """
    from unskew.data.split import Split

    check_population_word(asked)
    if asked != "auto":
        return Population(asked, "given")
    shared = int(Split(train, exposed, candidates="all").test_in_train.sum())
    why = f"{shared:,} exposed rows are also in train and were removed" if shared else "no exposed row is in train"
    return Population("unseen", why)


def within(rows: Interactions, split: "Split") -> Interactions:
    """The rows whose user and item occur in a split, with the codes of the split."""
    users = split.user_vocabulary.encode(canonical(rows.user_vocabulary.ids, f"users of {rows.name}"))[rows.users]
    items = split.item_vocabulary.encode(canonical(rows.item_vocabulary.ids, f"items of {rows.name}"))[rows.items]
    known = (users >= 0) & (items >= 0)
    return Interactions(
        users[known].astype(np.int32),
        items[known].astype(np.int32),
        split.user_vocabulary,
        split.item_vocabulary,
        values=None if rows.values is None else rows.values[known],
        name=rows.name,
    )


def check_exposed(split: "Split") -> None:
    """Refuse a test that cannot be a random sample of the candidates."""
    from unskew.data.candidates import All, Unseen

    if not isinstance(split.rule, All | Unseen):
        raise ConfigError(f"exposed items need the candidates all or unseen, not {split.rule}; use one of them")
    test = split.sorted_test
    check_labels(test.values, test.name)


def check_slice(split: "Split") -> None:
    """Refuse a slice without labels, next to a test that is itself exposed, or under other candidates."""
    from unskew.data.candidates import All, Unseen

    assert split.slice is not None
    if split.exposed:
        raise ConfigError(f"the test is exposed already; give {Option('exposed')} next to an ordinary {Option('test')}")
    if not isinstance(split.rule, All | Unseen):
        raise ConfigError(f"a random slice needs the candidates all or unseen, not {split.rule}; use one of them")
    if not len(split.slice):
        raise DataError(f"{split.slice.name}: the slice has no rows; give random rows, or leave it out")
    check_labels(split.slice.values, split.slice.name)
