"""Names of the columns of interaction tables, and a reader of such tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unskew.data.interactions import Interactions
from unskew.data.reading import read_table
from unskew.errors import DataError


@dataclass(frozen=True)
class Columns:
    """Names of the columns of interaction files.

    Parameters
    ----------
    user, item : str
        Columns of ids.
    rating, timestamp, propensity : str, optional
        By default the columns with these names, if present.
    label : str, optional
        Column of labels 0 and 1 in exposed files; ``label`` by default.
    weight : str, optional
        Column that says how much each test row counts; none by default.
    """

    user: str = "user"
    item: str = "item"
    rating: str | None = None
    timestamp: str | None = None
    propensity: str | None = None
    label: str | None = None
    weight: str | None = None

    def read(self, path: str | Path, *, strict: bool = True, once: bool = True) -> Interactions:
        """The rows of a file; if strict, optional columns that were named must be present."""
        return self.rows(read_table(Path(path)), str(path), strict=strict, once=once)

    def rows(self, frame: pl.DataFrame, name: str, *, strict: bool = True, once: bool = True) -> Interactions:
        """The rows of a table, repeated ones only `once`; `name` is used in messages."""
        if frame.is_empty():
            raise DataError(f"{name}: has a header but no rows; check the file")
        named: dict[str, Any] = {"rating": self.rating, "timestamp": self.timestamp, "propensity": self.propensity}
        named["weight"] = self.weight
        if not strict:
            named = {key: column if column in frame.columns else None for key, column in named.items()}
        return Interactions.from_frame(frame, user=self.user, item=self.item, name=name, once=once, **named)
