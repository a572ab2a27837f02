"""`Moments`: sums over users of numerators, denominators and their products, which merge by addition."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.estimate import Terms


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Sums over users of the terms of several models, all that estimates and their comparisons need.

    With :math:`a_u, b_u` the numerator and denominator of a user, the value is :math:`v = \sum a / \sum b`, and its
    delta-method variance needs :math:`\sum (a_u - v b_u)^2`, which is a combination of :math:`\sum a^2`,
    :math:`\sum a b` and :math:`\sum b^2`. The difference of two models needs their products with each other too. So
    the moments of different users add up, and no row is kept.

    Parameters
    ----------
    users : int
        Number of users, with those who have no weight.
    idle : int
        How many have no weight.
    sums : array (2 models,)
        Sums of the numerator and denominator of the first model, then of the second, and so on.
    products : array (2 models, 2 models)
        Sums of their products.
    draws : array or None
        The same sums with the weights of each draw of a bootstrap, one row per draw.
    root : bool
        Whether values are square roots of ratios.
    """

    users: int
    idle: int
    sums: Floats
    products: Floats
    draws: Floats | None = None
    root: bool = False

    @classmethod
    def of(cls, terms: Sequence[Terms], draws: Floats | None = None) -> "Moments":
        """The moments of the terms of the same users."""
        from unskew.estimators.sums_kernel import cross_products

        columns = columns_of(terms)
        first = terms[0]
        return cls(len(columns), first.idle, columns.sum(axis=0), cross_products(columns), draws, first.root)

    @staticmethod
    def join(parts: "Sequence[Moments]") -> "Moments":
        """The moments of the users of all parts."""
        return reduce(_joined, parts)

    @property
    def size(self) -> int:
        """Number of models."""
        return len(self.sums) // 2

    def value(self, model: int) -> float | None:
        """The value of a model, or None if its denominator is 0."""
        return _value(*self.sums[2 * model : 2 * model + 2], root=self.root)

    def std_error(self, model: int) -> float | None:
        """Delta-method standard error with the user as the unit; None for fewer than two users."""
        return self._error(self._gradient(model))

    def difference(self, a: int, b: int) -> tuple[float | None, float | None]:
        """Value of a model minus that of another, and its standard error."""
        first, second = self.value(a), self.value(b)
        if first is None or second is None:
            return None, None
        return first - second, self._error(self._gradient(a) - self._gradient(b))

    def drawn(self, model: int) -> Floats:
        """The value of a model in each draw; NaN where it is not defined."""
        assert self.draws is not None
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self.draws[:, 2 * model] / self.draws[:, 2 * model + 1]
            return np.asarray(np.sqrt(ratio) if self.root else ratio)

    def _gradient(self, model: int) -> Floats:
        """The derivative of the value by the sums."""
        gradient = np.zeros(len(self.sums))
        above, below = (float(each) for each in self.sums[2 * model : 2 * model + 2])
        value = _value(above, below, root=self.root)
        if value is not None:
            slope = (0.5 / value if value else 0.0) if self.root else 1.0
            gradient[2 * model : 2 * model + 2] = slope / below, -slope * above / below / below
        return gradient

    def _error(self, gradient: Floats) -> float | None:
        if self.users < 2:
            return None
        # one product after another, because a matrix product may round in another order on another machine
        used = np.flatnonzero(gradient)
        total = sum(gradient[i] * gradient[j] * self.products[i, j] for i in used for j in used)
        return float(np.sqrt(self.users / (self.users - 1) * max(total, 0.0)))


def columns_of(terms: Sequence[Terms]) -> Floats:
    """Numerators and denominators as columns, one row per user."""
    return np.stack([column for term in terms for column in (term.numerator, term.denominator)], axis=1)


def _joined(a: Moments, b: Moments) -> Moments:
    draws = None if a.draws is None or b.draws is None else a.draws + b.draws
    return Moments(a.users + b.users, a.idle + b.idle, a.sums + b.sums, a.products + b.products, draws, a.root)


def _value(above: float, below: float, *, root: bool) -> float | None:
    if below <= 0:
        return None
    return float(np.sqrt(above / below)) if root else float(above / below)
