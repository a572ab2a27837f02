"""A small randomly exposed sample that models learn from."""

from dataclasses import dataclass

from unskew.data import Interactions, Split
from unskew.data.exposed import check_labels, within
from unskew.errors import DataError


@dataclass(frozen=True, eq=False)
class UniformSample:
    """The rows as they came, and those of users and items of the split, in its codes."""

    given: Interactions
    taken: Interactions

    @classmethod
    def within(cls, uniform: Interactions, split: Split) -> "UniformSample":
        """Take the rows that the split knows.

        Raises
        ------
        DataError
            When a label is neither 0 nor 1, or no row is of a user and an item that the split knows.
        """
        check_labels(uniform.values, uniform.name)
        taken = within(uniform, split)
        if not len(taken):
            raise DataError(
                f"{uniform.name}: none of {len(uniform):,} uniform rows is of a user and an item of train or test; are "
                "the ids the same?"
            )
        return cls(uniform, taken)
