"""Options that say what a file's columns are called."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from unskew.data import Interactions

UserCol = Annotated[str | None, typer.Option("--user-col", help="Column of user ids [default: user].")]
ItemCol = Annotated[str | None, typer.Option("--item-col", help="Column of item ids [default: item].")]
RatingCol = Annotated[str | None, typer.Option("--rating-col", help="Column of ratings [default: rating, if there].")]
TimestampCol = Annotated[
    str | None, typer.Option("--timestamp-col", help="Column of times [default: timestamp, if there].")
]
PropensityCol = Annotated[
    str | None, typer.Option("--propensity-col", help="Column of propensities [default: propensity, if there].")
]


@dataclass(frozen=True)
class Columns:
    """Names of the columns of interaction files."""

    user: str = "user"
    item: str = "item"
    rating: str | None = None
    timestamp: str | None = None
    propensity: str | None = None

    def read(self, path: Path, *, strict: bool = True) -> Interactions:
        """Read a file; optional columns that are named must be there when strict."""
        named = {"rating": self.rating, "timestamp": self.timestamp, "propensity": self.propensity}
        if not strict:
            from unskew.data.reading import read_table

            present = read_table(path).columns
            named = {key: name if name in present else None for key, name in named.items()}
        return Interactions.read(path, user=self.user, item=self.item, **named)
