"""Frames of recommendations with any column names: users, items, and a score, a rank or a predicted rating."""

import difflib
import re
from typing import Any

import polars as pl

from unskew.errors import DataError
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
    """The lists of a frame of pandas, Polars, Arrow or any library that narwhals knows."""
    name = f"model {given.name!r}"
    frame = _unnested(_eager(given.model), name)
    columns = find_roles(list(frame.columns), name)
    picked = frame.select(list(columns.values())).rename({column: role for role, column in columns.items()})
    return scores_from_frame(picked.to_native(), name=name)


def find_roles(columns: list[str], name: str) -> dict[str, str]:
    """The columns of users, items and values, by role.

    A column named as its role is taken; else the only one with another name of that role. Of a score, a rank and a
    prediction, the first is taken.

    Examples
    --------
    >>> find_roles(["user_id", "item_id", "score", "rank"], "model 'mine'")
    {'user': 'user_id', 'item': 'item_id', 'score': 'score'}
    """
    named = {role: _column_of(role, columns, name) for role in ALIASES}
    missing = [role for role in ("user", "item") if named[role] is None]
    value = next((role for role in VALUES if named[role] is not None), None)
    if missing or value is None:
        role = missing[0] if missing else "score"
        raise DataError(f"{name}: no column {_wanted(role)} (it has {_shown(columns)}){_hint(role, columns)}")
    return {role: column for role in ("user", "item", value) if (column := named[role]) is not None}


def is_frame(model: Any) -> bool:
    """Whether this is a data frame."""
    import narwhals as nw

    return isinstance(nw.from_native(model, pass_through=True), nw.DataFrame | nw.LazyFrame)


def _eager(model: Any) -> Any:
    import narwhals as nw

    frame = nw.from_native(model)
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _unnested(frame: Any, name: str) -> Any:
    """The frame with one row per item, if a column holds lists of items or of records of items."""
    import narwhals as nw

    nested = [column for column, kind in frame.schema.items() if isinstance(kind, nw.List | nw.Array)]
    if not nested:
        return frame
    if len(nested) > 1:
        raise DataError(f"{name}: the columns {', '.join(nested)} all hold lists; keep one, or one row per item")
    table = pl.DataFrame(frame.to_arrow()) if not isinstance(frame.to_native(), pl.DataFrame) else frame.to_native()
    (column,) = nested
    kind: Any = table.schema[column]
    if isinstance(kind.inner, pl.Struct):
        return nw.from_native(table.explode(column).drop_nulls(column).unnest(column))
    places = pl.int_ranges(1, pl.col(column).list.len() + 1).alias("rank")
    table = table.drop("rank", strict=False).with_columns(places).explode(column, "rank").drop_nulls(column)
    return nw.from_native(table.rename({column: "item"}))


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


def _hint(role: str, columns: list[str]) -> str:
    """What to rename: an unclear column, the nearest to a known name, or whatever it is."""
    roles = VALUES if role == "score" else (role,)
    for column in columns if role == "score" else ():
        if _plain(column) in UNCLEAR:
            return f"; is {column!r} {UNCLEAR[_plain(column)]}? rename it to 'score' or 'prediction'"
    known = {_plain(alias) for each in roles for alias in ALIASES[each]}
    others = {_plain(alias) for each in ALIASES if each not in roles for alias in ALIASES[each]}
    nearest = [
        column
        for column in columns
        if _plain(column) not in others and difflib.get_close_matches(_plain(column), known, n=1, cutoff=0.7)
    ]
    if nearest:
        return f"; did you mean {nearest[0]!r}? rename it to {role!r}"
    some = [alias for each in roles for alias in ALIASES[each][:4]]
    return f"; rename it, known names are {', '.join(some)} and so on"


FRAME = Family(
    "a frame of recommendations",
    "pandas, Polars, Arrow and others, with columns for users, items and a score, a rank or a prediction",
    ("columns",),
    read_frame,
    ("pandas", "polars", "pyarrow", "narwhals"),
    is_frame,
)
