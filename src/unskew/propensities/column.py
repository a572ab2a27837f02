"""Propensities that come with the test rows."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.data.pairs import look_up, pair_keys, row_keys
from unskew.errors import Option, PropensityError
from unskew.propensities.propensity import PropensityModel


@dataclass(frozen=True)
class Column(PropensityModel, word="column"):
    """The column ``propensity`` of the test: P(this row is in the test | it is a candidate)."""

    def fit(self, train: Interactions, test: Interactions) -> "FittedColumn":
        """The column, for look-up by (user, item)."""
        if test.propensity is None:
            raise PropensityError(
                f"{test.name} has no column 'propensity', which the propensity 'column' needs; "
                f"name it with {Option('propensity_col')}"
            )
        width = max(test.n_items, 1)
        keys = row_keys(test, width)
        order = np.argsort(keys, kind="stable")
        return FittedColumn(keys[order], test.propensity[order], width)


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """Propensities by (user, item)."""

    keys: Ints
    propensity: Floats
    width: int
    absolute: bool = True

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """The propensity of each row; NaN for a row that is not in the test."""
        return look_up(self.keys, self.propensity, pair_keys(users, items, self.width))
