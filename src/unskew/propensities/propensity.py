"""Propensities: how likely a relevant item was observed."""

from abc import abstractmethod
from typing import ClassVar, Protocol

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.notation import Named


class Propensity(Protocol):
    """A fitted propensity; one that is known only up to scale has a maximum of 1."""

    @property
    def absolute(self) -> bool:
        """Whether it is a probability, or known only up to scale."""
        ...

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """P of each row, in (0, 1]; NaN if the model has none, and the row is then dropped and counted."""
        ...


class PropensityModel(Named, family="propensity"):
    """Settings from which a propensity is fitted."""

    uses_test: ClassVar[bool] = True
    """Whether `fit` looks at the test rows; if not, they need not be prepared."""

    @abstractmethod
    def fit(self, train: Interactions, test: Interactions) -> Propensity:
        """Fit on the training log.

        Parameters
        ----------
        train : Interactions
            The training positives.
        test : Interactions
            The test rows, for a propensity that is a column of them.
        """
