"""Broken propensities are refused with a sentence that names the property, and sound ones of others are not."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.propensities import PropensityModel
from unskew.testing import check_propensity


@dataclass(frozen=True, eq=False)
class ByItem:
    """Propensities by item code."""

    by_item: Floats
    absolute: bool = False

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        return self.by_item[items]


@dataclass(frozen=True)
class Zipf(PropensityModel):
    """One over the item's place by training count."""

    exponent: float = 1.0

    def fit(self, train: Interactions, test: Interactions) -> ByItem:
        return ByItem(self.by_item(train))

    def by_item(self, train: Interactions) -> Floats:
        place = np.empty(train.n_items)
        place[np.argsort(-train.item_counts, kind="stable")] = np.arange(1, train.n_items + 1)
        return place**-self.exponent


def test_a_sound_propensity_of_somebody_else_passes() -> None:
    check_propensity(Zipf())


def test_logs_of_ones_own_can_be_given() -> None:
    log = Interactions.from_arrays([0, 1, 2, 2], [0, 0, 0, 1], n_users=3, n_items=3)
    check_propensity(Zipf(exponent=2), logs=(log, log))


class AboveOne(Zipf):
    def by_item(self, train: Interactions) -> Floats:
        return 2 * super().by_item(train)


class Zero(Zipf):
    """0 for items without a training row."""

    def by_item(self, train: Interactions) -> Floats:
        return np.minimum(train.item_counts, 1).astype(float) * (np.arange(train.n_items) != 1)


class NotScaled(Zipf):
    def by_item(self, train: Interactions) -> Floats:
        return super().by_item(train) / 2


class Unknown(Zipf):
    def by_item(self, train: Interactions) -> Floats:
        return np.full(train.n_items, np.nan)


class SinglePrecision(Zipf):
    def by_item(self, train: Interactions) -> Floats:
        return super().by_item(train).astype(np.float32)


class OfCall(Zipf):
    """Scaled by the largest of the call."""

    def fit(self, train: Interactions, test: Interactions) -> ByItem:
        class Scaled(ByItem):
            def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
                numbers = super().__call__(users, items)
                return numbers / numbers.max()

        return Scaled(1 / (2.0 + np.arange(train.n_items)))


class InOrder(Zipf):
    """Sorted, so that numbers leave their rows."""

    def fit(self, train: Interactions, test: Interactions) -> ByItem:
        class Sorted(ByItem):
            def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
                return np.sort(super().__call__(users, items))

        return Sorted(self.by_item(train))


class ByRow(Zipf):
    """One number per item and not per row."""

    def fit(self, train: Interactions, test: Interactions) -> ByItem:
        class All(ByItem):
            def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
                return self.by_item

        return All(self.by_item(train))


@dataclass(frozen=True)
class Restless(Zipf):
    """Another number at each fit."""

    fits: list[int] = field(default_factory=list, repr=False)

    def by_item(self, train: Interactions) -> Floats:
        self.fits.append(1)
        return super().by_item(train) ** len(self.fits)

    def __str__(self) -> str:
        return "Restless"


class Lasting(Zipf):
    """Fits itself."""

    absolute = True

    def fit(self, train: Interactions, test: Interactions) -> "Lasting":  # type: ignore[override]
        return self

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        return np.ones(len(users))


@pytest.mark.parametrize(
    "broken, says",
    [
        (AboveOne, r"it gives 2, which is not in \(0, 1\]"),
        (Zero, r"it gives 0, which is not in \(0, 1\]"),
        (NotScaled, r"its largest number must be 1, not 0\.5"),
        (Unknown, "it is NaN for every row of the test"),
        (SinglePrecision, "it gives numbers of type float32, not float64"),
        (OfCall, "the other rows of the call change the number of a row"),
        (InOrder, "the order of the rows changes the number of a row"),
        (ByRow, r"it gives shape \(22,\) for \d+ rows"),
        (Restless, "a second fit on the same logs gives other numbers"),
        (Lasting, "must give a new object, not the model itself"),
    ],
)
def test_a_broken_propensity_is_refused(broken: type[PropensityModel], says: str) -> None:
    with pytest.raises(AssertionError, match=f"{broken.__name__}: .*{says}"):
        check_propensity(broken())


class Array(Zipf):
    """Gives the numbers and not an object that is called."""

    def fit(self, train: Interactions, test: Interactions) -> Any:
        return self.by_item(train)


class Function(Zipf):
    """Does not say whether it is absolute."""

    def fit(self, train: Interactions, test: Interactions) -> Any:
        return lambda users, items, values=None: self.by_item(train)[items]


class TwoArguments(Zipf):
    def fit(self, train: Interactions, test: Interactions) -> Any:
        return lambda users, items: self.by_item(train)[items]


class TrainAlone(Zipf):
    def fit(self, train: Interactions) -> ByItem:  # type: ignore[override]
        return ByItem(self.by_item(train))


class Unfinished(PropensityModel):
    """Defines nothing."""


class Listed(Zipf):
    def fit(self, train: Interactions, test: Interactions) -> Any:
        class Lists(ByItem):
            def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Any:
                return self.by_item[items].tolist()

        return Lists(self.by_item(train))


class Crash(Zipf):
    def by_item(self, train: Interactions) -> Floats:
        raise KeyError("weights")


class LateCrash(Zipf):
    def fit(self, train: Interactions, test: Interactions) -> ByItem:
        return ByItem(np.ones(1))


@pytest.mark.parametrize(
    "broken, says",
    [
        (Array(), r"Array: fit\(\) must return an object that is called with users, items and values, .*, not ndarray"),
        (Function(), "Function: what fit.. gives must say whether it is `absolute`, True or False"),
        (
            TwoArguments(),
            r"TwoArguments: what fit\(\) returns does not take .*; define it as __call__\(users, items, values=None\)",
        ),
        (TrainAlone(), r"TrainAlone: fit\(\) does not take its arguments .*; define it as fit\(train, test\)"),
        (Unfinished(), r"Unfinished: it has no method fit\(train, test\); define it"),
        (Listed(), "Listed: what a fitted propensity gives must be a numpy array of numbers, not list"),
        (Crash(), r"Crash: by_item\(\) raises KeyError \('weights'\) on valid input"),
        (LateCrash(), r"LateCrash: __call__\(\) raises IndexError .* on valid input"),
        (object(), "object: it is not an instance of PropensityModel; subclass PropensityModel"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_a_raw_error_becomes_a_sentence(broken: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_propensity(broken)


def test_a_word_is_taken_and_a_class_is_not() -> None:
    check_propensity("popularity(gamma=1.5)")
    with pytest.raises(AssertionError, match=r"^popularty: the word cannot be read: unknown propensity 'popularty'"):
        check_propensity("popularty")
    with pytest.raises(AssertionError, match=r"^Zipf is a class; give an instance, Zipf\(\)$"):
        check_propensity(Zipf)  # type: ignore[arg-type]
