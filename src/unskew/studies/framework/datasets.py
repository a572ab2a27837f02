"""Data sets of a study, and which of the paper's each one is or replaces."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class DataSet:
    """A data set of a study.

    Parameters
    ----------
    name : str
    paper : str
        The paper's data set whose numbers appear next to ours: itself, or the one that it replaces.
    stands_in : bool
        Whether it is not the paper's own, so that the numbers are not comparable.
    source : str
        The source that reads it; by default that of its name.
    positive : str
        Which rows are relevant; all if empty.
    """

    name: str
    paper: str
    stands_in: bool = False
    source: str = ""
    positive: str = ""

    @property
    def reader(self) -> str:
        """The name of the source that reads it."""
        return self.source or self.name


def by_name(sets: Iterable[DataSet]) -> dict[str, DataSet]:
    """The data sets by their names, in their order."""
    return {each.name: each for each in sets}
