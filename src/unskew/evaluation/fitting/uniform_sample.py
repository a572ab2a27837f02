"""`UniformSample`: randomly exposed rows that models learn from."""

from dataclasses import dataclass

from unskew.data import Interactions, Split
from unskew.data.exposed import check_labels, within
from unskew.errors import DataError


@dataclass(frozen=True, eq=False)
class UniformSample:
    """Rows as they were given, and those with a user and an item of the split, in its codes."""

    given: Interactions
    known: Interactions

    @classmethod
    def within(cls, uniform: Interactions, split: Split) -> "UniformSample":
        """Return the rows that the split knows; refuse labels other than 0 and 1, and a sample without such a row."""
        check_labels(uniform.values, uniform.name)
        known = within(uniform, split)
        if not len(known):
            raise DataError(
                f"{uniform.name}: none of {len(uniform):,} uniform rows has a user and an item of train or test; are "
                "the ids the same?"
            )
        return cls(uniform, known)
