"""The base of imputations, and what a fitted one gives: the chance of relevance of any pair."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Protocol

from unskew.arrays import Floats, Ints, Matrix
from unskew.errors import DataError, Option
from unskew.notation import Named


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of a log with labels.

    Parameters
    ----------
    users, items : array of int
        Codes.
    label : array
        1 for relevant, 0 for not.
    n_users, n_items : int
        Size of the vocabularies.
    name : str
        Name of the log in messages.
    """

    users: Ints
    items: Ints
    label: Floats
    n_users: int
    n_items: int
    name: str = "the log"

    def require_both(self) -> None:
        """Refuse rows that are all positive or all negative."""
        positives = int(self.label.sum())
        if 0 < positives < len(self.label):
            return
        kind = "positive" if positives else "negative"
        raise DataError(
            f"{self.name}: all {len(self.label):,} rows are {kind}, so the chance of relevance cannot be learnt from "
            f"labels; {Option('positive')} needs the other rows too, so pass all rows, or use snips"
        )


class FittedImputation(Protocol):
    """The chance that a pair is relevant, q."""

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Chance of each pair, by codes."""
        ...

    def block(self, users: Ints, items: Ints, /) -> Matrix:
        """Chance of these users with these items, (users, items); an item that the log does not have is -1.

        The caller may write to it. 32 bits are enough, and are summed faster.
        """
        ...

    def block_logits(self, users: Ints, items: Ints, /) -> Floats:
        """Log-odds of these users with these items, (users, items), as of `log_odds`."""
        ...


class Imputation(Named, family="imputation"):
    """Settings from which chances of relevance are fitted."""

    @abstractmethod
    def fit(self, log: LabelledRows) -> FittedImputation:
        """Fit to the labels of a log."""
