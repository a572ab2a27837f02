"""Randomly exposed tests: items drawn for each user by chance, each labelled positive or not."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Floats
from unskew.data.pairs import row_keys
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError

if TYPE_CHECKING:
    from unskew.data.interactions import Interactions
    from unskew.data.split import Split

LABELLED = "rating>=1"
"""The condition for a positive where values are labels."""
POPULATIONS = ("all", "unseen", "auto")


def read_exposed(
    path: str | Path,
    *,
    user: str = "user",
    item: str = "item",
    label: str | None = None,
    rating: str | None = None,
    positive: str | None = None,
) -> "Interactions":
    """Read a file of exposed rows; see `exposed_from_frame`.

    Raises
    ------
    DataError
        When the file has no row, or a label is neither 0 nor 1.
    """
    from unskew.data.reading import read_table

    frame = read_table(Path(path))
    if frame.is_empty():
        raise DataError(f"{path}: there is a header but no row; give the exposed items as user,item,label")
    return exposed_from_frame(
        frame, user=user, item=item, label=label, rating=rating, positive=positive, name=str(path)
    )


def exposed_from_frame(
    frame: Any,
    *,
    user: str = "user",
    item: str = "item",
    label: str | None = None,
    rating: str | None = None,
    positive: str | None = None,
    name: str = "exposed",
) -> "Interactions":
    """Exposed rows with labels 1 and 0 as values, from a pandas, polars or Arrow frame.

    A pair that stands there twice counts once: what is left of a sample drawn with replacement is one drawn without.

    Parameters
    ----------
    frame : frame
    user, item : str
        Columns of ids.
    label : str, optional
        Column of labels 0 and 1; by default ``label``, where there is one.
    rating : str, optional
        Column of ratings, where there are no labels; ``rating`` by default.
    positive : str, optional
        Which ratings are positive, as in ``rating>=4``; needed when there are no labels.
    name : str
        What to call it in messages.
    """
    import narwhals as nw

    from unskew.data.interactions import Interactions

    columns = nw.from_native(frame, eager_only=True).columns
    found = label or ("label" if "label" in columns else None)
    if found is None:
        given = rating or "rating"
        if given not in columns:
            raise DataError(
                f"{name}: no column 'label' of 0 and 1 (it has {', '.join(columns[:8])}); is the header line missing? "
                "if not, rename the column so, or give ratings and --positive"
            )
        if positive is None:
            raise ConfigError(
                f"{name}: has ratings and no labels; say which are positive, as in --positive 'rating>=4'"
            )
    rows = Interactions.from_frame(frame, user=user, item=item, rating=found or rating, name=name, once=False)
    if found is not None:
        check_labels(rows.values, name)
    elif positive is not None:
        rows = rows.labelled(positive)
    _check_conflicts(rows)
    return rows.distinct()


def check_labels(labels: Floats | None, name: str) -> None:
    """Refuse labels other than 0 and 1."""
    if labels is None:
        raise DataError(f"{name}: has no labels; an exposed row says whether it is positive, 1, or not, 0")
    wrong = ~np.isin(labels, (0.0, 1.0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{name}: label {labels[row]:g} in row {row + 1} ({int(wrong.sum()):,} such) is neither 0 nor 1; for "
            "ratings name the column rating and give --positive, as in 'rating>=4'"
        )


def has_labels(rows: "Interactions") -> bool:
    """Whether the values of the rows are labels: 0 and 1, and both of them."""
    return rows.values is not None and bool(np.array_equal(np.unique(rows.values), (0.0, 1.0)))


def _check_conflicts(rows: "Interactions") -> None:
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
    """Which items the exposed ones were drawn from, and how that is known.

    Parameters
    ----------
    rule : {"all", "unseen"}
    why : str
    """

    rule: str
    why: str


def find_population(asked: str, train: "Interactions", exposed: "Interactions") -> Population:
    """The population asked for; for ``auto``, what the user does not have in train.

    A part of a random sample is a random sample of that part of the items. So exposed rows that are also in train
    leave the sample, whatever the items were drawn from, and the others are a random sample of unseen items. With
    ``all`` they stay: then models may recommend what a user has already.

    Parameters
    ----------
    asked : {"all", "unseen", "auto"}
    train, exposed : Interactions
    """
    from unskew.data.split import Split

    if asked not in POPULATIONS:
        raise ConfigError(f"--population {asked}: choose all, unseen or auto")
    if asked != "auto":
        return Population(asked, "given")
    shared = int(Split(train, exposed, candidates="all").test_in_train.sum())
    why = f"{shared:,} exposed rows are also in train and leave the sample" if shared else "no exposed row is in train"
    return Population("unseen", why)


def within(rows: "Interactions", split: "Split") -> "Interactions":
    """The rows whose user and item a split knows, coded as in it."""
    from unskew.data.interactions import Interactions

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
        raise ConfigError(f"exposed items were drawn from all or unseen items, not from {split.rule}; use one of them")
    test = split.sorted_test
    check_labels(test.values, test.name)
