"""Frames of recommendations with any column names: users, items, and a score, a rank or a predicted rating."""

import difflib
import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

import polars as pl

from unskew.data.frames import columns_of, eager, is_frame
from unskew.data.vocabulary import canonical
from unskew.errors import DataError, did_you_mean
from unskew.integrations.family import Family, Given
from unskew.ranking import ListScorer, scores_from_frame

_ALIASES = {
    "user": """
        user user_id user_idx user_index uid u customer customer_id member member_id visitor visitor_id client client_id
        account account_id profile_id query query_id qid
    """,
    "item": """
        item item_id item_idx item_index iid i product product_id movie movie_id article article_id track track_id
        song song_id book book_id video video_id artist artist_id sku asin doc doc_id docno document_id
    """,
    "score": "score scores relevance_score ranking_score model_score item_score similarity",
    "rank": "rank ranking position pos place",
    "prediction": "prediction predicted predicted_rating rating_pred pred_rating est estimate",
}
ALIASES = {role: words.split() for role, words in _ALIASES.items()}
"""Column names that are taken for each role; upper case, spaces, dots, dashes and underscores do not matter."""
VALUES = ("score", "rank", "prediction")
UNCLEAR = {"rating": "rated or predicted", "value": "a score or a rating", "weight": "a score or a weight"}
"""Column names that may be something else, and are never guessed."""


def read_frame(given: Given) -> ListScorer:
    """The lists of a frame of any library; see `unskew.data.eager`."""
    name = f"model {given.name!r}"
    columns, named = columns_of(given.model, name), _checked(given.columns, name)
    roles = _roles(columns, name, named)
    if {"user", "item"} <= set(roles) and set(VALUES) & set(roles) and set(roles.values()) <= set(columns):
        roles = find_roles(columns, name, named)
        table = eager(given.model, roles.values(), name)
    else:  # a column of lists may hold what is missing
        table = _unnested(eager(given.model, None, name), name)
        gone = set(columns) - set(table.columns)  # lists, whose items are in other columns now
        roles = find_roles(table.columns, name, {role: column for role, column in named.items() if column not in gone})
    table = table.select(pl.col(column).alias(role) for role, column in roles.items())
    for axis in ("user", "item"):
        if getattr(given, f"{axis}_ids") is not None:
            table = table.with_columns(given.named(axis, canonical(table[axis], f"{axis}s of {name}")).alias(axis))
    return scores_from_frame(table, name=name)


def _checked(columns: Mapping[str, str] | None, name: str) -> dict[str, str]:
    """The columns that were named, by role."""
    if columns is not None and not isinstance(columns, Mapping):
        raise DataError(
            f"{name}: columns must be a mapping, as in {_example(('user', 'item', 'score'), [])}, not {columns!r}"
        )
    named: dict[str, str] = {}
    for role, column in (columns or {}).items():
        if role not in ALIASES:
            raise DataError(f"{name}: columns has the unknown key {role!r}{did_you_mean(str(role), ALIASES)}")
        if column in named.values():
            raise DataError(f"{name}: columns has {column!r} for two roles; name one column for each")
        named[role] = column
    return named


def find_roles(columns: list[str], name: str, named: Mapping[str, str] | None = None) -> dict[str, str]:
    """The columns of users, items and values, by role.

    A column that is `named` is taken; else one named as its role; else the only one with another name of that role. Of
    a score, a rank and a prediction, the first is taken.

    Examples
    --------
    >>> find_roles(["user_id", "item_id", "score", "rank"], "model 'mine'")
    {'user': 'user_id', 'item': 'item_id', 'score': 'score'}
    """
    roles = _roles(columns, name, named or {})
    for role, column in roles.items():
        if column not in columns:
            near = did_you_mean(str(column), columns)
            raise DataError(f"{name}: no column {column!r}, which columns names as the {role}{near}")
    value = next((role for role in VALUES if role in roles), None)
    missing = [role for role in ("user", "item") if role not in roles] + ["score"] * (value is None)
    if value is None or missing:
        free = [column for column in columns if column not in roles.values()]
        hint = _hint(missing, free)
        raise DataError(f"{name}: no column {_wanted(missing[0])} (it has {_shown(columns)}){hint}")
    return {role: roles[role] for role in ("user", "item", value)}


def _unnested(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """The frame with one row per item, if a column holds lists of items or of records of items."""
    nested = [column for column, kind in table.schema.items() if isinstance(kind, pl.List | pl.Array)]
    if not nested:
        return table
    if len(nested) > 1:
        raise DataError(f"{name}: the columns {', '.join(nested)} all hold lists; keep one, or one row per item")
    (column,) = nested
    kind: Any = table.schema[column]
    if isinstance(kind.inner, pl.Struct):
        return table.explode(column).drop_nulls(column).unnest(column)
    places = pl.int_ranges(1, pl.col(column).list.len() + 1).alias("rank")
    table = table.drop("rank", strict=False).with_columns(places).explode(column, "rank").drop_nulls(column)
    return table.rename({column: "item"})


def _roles(columns: list[str], name: str, named: Mapping[str, str]) -> dict[str, str]:
    """The columns that have a role; a value that is named leaves no other."""
    free = [column for column in columns if column not in named.values()]
    valued = bool(set(VALUES) & set(named))
    sought = [role for role in ALIASES if role not in named and not (valued and role in VALUES)]
    by_name = {role: column for role in sought if (column := _column_of(role, free, name)) is not None}
    return {**named, **by_name}


def _column_of(role: str, columns: list[str], name: str) -> str | None:
    if role in columns:
        return role
    known = {_plain(alias) for alias in ALIASES[role]}
    fit = [column for column in columns if _plain(column) in known]
    if len(fit) > 1:
        quoted = " and ".join(repr(column) for column in fit)
        raise DataError(f"{name}: the columns {quoted} may both be the {role}; rename one of them to {role!r}")
    return fit[0] if fit else None


def _plain(column: str) -> str:
    return re.sub(r"[\s._-]", "", str(column)).lower()


def _wanted(role: str) -> str:
    return "'score', 'rank' or 'prediction'" if role == "score" else repr(role)


def _shown(columns: list[str]) -> str:
    return ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "") if columns else "none"


def _hint(missing: list[str], columns: list[str]) -> str:
    """What to name or rename, of the columns without a role: an unclear one, the nearest, or whatever it is."""
    role = missing[0]
    roles = VALUES if role == "score" else (role,)
    if role == "score" and not columns:
        return "; if its rows are in the order of the lists, add a column rank, 1 for the best, or give {user: [items]}"
    for column in columns if role == "score" else ():
        if _plain(column) in UNCLEAR:
            return f"; is {column!r} {UNCLEAR[_plain(column)]}? rename it to 'score' or 'prediction'"
    known = {_plain(alias) for each in roles for alias in ALIASES[each]}
    nearest = [column for column in columns if difflib.get_close_matches(_plain(column), known, n=1, cutoff=0.7)]
    if nearest:
        return f"; did you mean {nearest[0]!r}? rename it to {role!r}, or give {_example([role], nearest)}"
    some = [alias for each in roles for alias in ALIASES[each][:4]]
    ordered = ", or a column rank if its rows are in the order of the lists" if role == "score" else ""
    example = _example(missing, columns)
    return f"; give {example}{ordered}, or rename it: known names are {', '.join(some)} and so on"


def _example(roles: Iterable[str], columns: list[str]) -> str:
    """A call that names the columns of these roles; with too few columns, some are left open."""
    pairs = zip_longest(roles, columns)
    shown = ", ".join(f'"{role}": "{column or "..."}"' for role, column in pairs if role)
    return f"unskew.integrations.with_ids(frame, columns={{{shown}}})"


FRAME = Family(
    "a frame of recommendations",
    "pandas, Polars, Arrow and others, with columns for users, items and a score, a rank or a prediction",
    (),
    read_frame,
    ("pandas", "polars", "pyarrow", "narwhals"),
    is_frame,
)
