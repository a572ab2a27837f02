"""Broken metrics are refused with a sentence that names the property, and sound ones of others are not."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from unskew.arrays import Floats, Ints
from unskew.metrics import MRR, NDCG, ListMetric, Metric, Recall, UserLists
from unskew.metrics.losses import MAE, MSE, RMSE, RatingLoss
from unskew.testing import check_metric


@dataclass(frozen=True)
class Patience(Metric):
    """Mean chance that a user who goes on with probability 0.8 looks at a relevant item."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return 0.8**above


@dataclass(frozen=True)
class MeanRank(Metric):
    """Mean number of candidates above a relevant item."""

    lower_is_better: ClassVar[bool] = True

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return above.astype(float)


@pytest.mark.parametrize("metric", [Patience(), Patience() @ 3, MeanRank()], ids=str)
def test_a_sound_metric_of_somebody_else_passes(metric: Metric) -> None:
    check_metric(metric)


class WrongSign(Patience):
    """Gains below 0."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return -(0.8**above)


class Rising(Patience):
    """The last place is the best."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return 1 - 0.8**above


class Relative(Patience):
    """Uses the number of candidates and does not say so."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return 1 - above / candidates


class OfBlock(Patience):
    """Divides by the largest of the call."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return 1 / (1 + above) / np.max(1 / (1 + above), initial=1e-9)


class Infinite(Patience):
    """Infinite at the top."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        with np.errstate(divide="ignore"):
            return 1 / above


class OneNumber(Patience):
    """One number for all rows."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return np.array(1.0)


class Writing(Patience):
    """Changes what it is given."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        above += 1
        return 1 / above


class BestOfTies(Patience):
    """Takes the best place of a tie."""

    def expected(self, above: Ints, tied: Ints, candidates: Ints) -> Floats:
        return self.gain(above, candidates)


class NotUnbiased(Patience):
    """Says that a mean moves with the number of positives."""

    @property
    def unbiased_to_missing(self) -> bool:
        return False


class NoText(Patience):
    __doc__ = ""


@dataclass(frozen=True)
class NoDocstring(Metric):
    persistence: float = 0.8

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return self.persistence**above


class NoCandidates(Patience):
    """Takes one argument."""

    def gain(self, above: Ints) -> Floats:  # type: ignore[override]
        return 0.8**above


class Crash(Patience):
    """Divides by zero."""

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        return np.array([1 / int(np.min(above, initial=0))])


@pytest.mark.parametrize(
    "broken, says",
    [
        (WrongSign, "a user has the value -.*, below 0"),
        (Rising, "moving a relevant item up makes the value worse"),
        (Relative, "gain.. depends on the number of candidates; set uses_candidates = True"),
        (OfBlock, "the gain of a row depends on the other rows of the call"),
        (Infinite, "gain.. gives a number that is not finite"),
        (OneNumber, "gain.. gives shape"),
        (Writing, "gain.. changes its arguments"),
        (BestOfTies, "the expected gain of a tied item is not the mean gain over its places"),
        (NotUnbiased, "unbiased_to_missing is False, but random parts of the positives have the same mean"),
        (NoText, "its definition must be one line; give the class a docstring"),
        (NoDocstring, "its definition must be one line; give the class a docstring"),
        (NoCandidates, r"gain.. does not take its arguments .*; define it as gain\(above, candidates\)"),
        (Crash, r"gain.. raises ZeroDivisionError \(division by zero\) on valid input"),
    ],
)
def test_a_broken_metric_of_items_is_refused(broken: type[Metric], says: str) -> None:
    with pytest.raises(AssertionError, match=f"{broken.__name__}: {says}"):
        check_metric(broken())


class Summed(NDCG):
    """Adds up over users."""

    def values(self, lists: UserLists) -> Floats:
        return np.cumsum(np.nan_to_num(super().values(lists)))


class ZeroForNobody(NDCG):
    """Gives users without a positive 0."""

    def values(self, lists: UserLists) -> Floats:
        return np.nan_to_num(super().values(lists))


class SwappedPolicies(MRR):
    """Best and worst place of a tie exchanged."""

    def values(self, lists: UserLists) -> Floats:
        worst = np.asarray(lists.above + lists.tied)
        moved = UserLists(lists.offsets, worst, np.zeros_like(lists.tied), lists.candidates, lists.listed)
        return super().values(moved)


class Biased(NDCG):
    """Says that NDCG keeps its value when positives are missing."""

    unbiased_to_missing: ClassVar[bool] = True  # type: ignore[assignment,misc]


class ListOfValues(NDCG):
    """Gives a list."""

    def values(self, lists: UserLists) -> Any:
        return super().values(lists).tolist()


class WrongPart(NDCG):
    """Says that a part of the positives has half the value."""

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        return super().expected_values(lists, sizes) / 2


@pytest.mark.parametrize(
    "broken, says",
    [
        (Summed, "a user without a positive must have the value NaN"),
        (ZeroForNobody, "a user without a positive must have the value NaN"),
        (SwappedPolicies, "the value under ties is not the mean over all their orders"),
        (Biased, "unbiased_to_missing is True, but random parts of the positives have another mean value"),
        (ListOfValues, "the result of values.. must be a numpy array of numbers, not list"),
        (WrongPart, "its expected value on a part of the positives is not the mean over all parts"),
    ],
)
def test_a_broken_metric_of_lists_is_refused(broken: type[ListMetric], says: str) -> None:
    with pytest.raises(AssertionError, match=f"{broken.__name__}: {says}"):
        check_metric(broken())


class Negative(MAE):
    """Losses below 0."""

    def loss(self, values: Floats, predicted: Floats) -> Floats:
        return -super().loss(values, predicted)


class Reversed(MAE):
    """Lower is better, and far is low."""

    def loss(self, values: Floats, predicted: Floats) -> Floats:
        return np.exp(-super().loss(values, predicted))


class Centred(MSE):
    """Subtracts the mean of the call."""

    def loss(self, values: Floats, predicted: Floats) -> Floats:
        return np.square(values - predicted - np.mean(values - predicted) if len(values) else values)


class ListOfLosses(MAE):
    """Gives a list."""

    def loss(self, values: Floats, predicted: Floats) -> Any:
        return super().loss(values, predicted).tolist()


class UnbiasedRoot(RMSE):
    """Says that a root is a mean."""

    unbiased_to_missing: ClassVar[bool] = True  # type: ignore[assignment,misc]


@pytest.mark.parametrize(
    "broken, says",
    [
        (Negative, "a row has the loss -.*, below 0"),
        (Reversed, "a prediction nearer to the rating is worse"),
        (Centred, "the loss of a row depends on the other rows of the call"),
        (ListOfLosses, "the result of loss.. must be a numpy array of numbers, not list"),
        (UnbiasedRoot, "unbiased_to_missing is True, but random parts of the rows say otherwise"),
    ],
)
def test_a_broken_loss_is_refused(broken: type[RatingLoss], says: str) -> None:
    with pytest.raises(AssertionError, match=f"{broken.__name__}: {says}"):
        check_metric(broken())


def test_bounds_are_those_that_are_asked_for() -> None:
    check_metric(Recall() @ 3, high=1)
    with pytest.raises(AssertionError, match=r"recall@3: a user has the value 1, above 0\.5"):
        check_metric(Recall() @ 3, high=0.5)
    check_metric("dcg", high=math.inf)


def test_a_cut_off_metric_without_a_docstring_is_refused() -> None:
    with pytest.raises(AssertionError, match="its definition must be one line; give the class a docstring"):
        check_metric(NoDocstring() @ 3)


@pytest.mark.parametrize(
    "given, says",
    [
        (Patience, r"^Patience is a class; give an instance, Patience\(\)$"),
        ("recal@3", "^recal@3: it cannot be used as a metric: unknown metric 'recal'"),
        ("precision", "^precision: it cannot be used as a metric: precision needs a cut-off"),
        (7, "^int: it cannot be used as a metric: 7 is not a metric; subclass Metric"),
    ],
)
def test_what_is_not_a_metric_is_refused(given: Any, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_metric(given)
