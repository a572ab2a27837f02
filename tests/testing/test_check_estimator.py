"""Broken estimators are refused with a sentence that names the property, and sound ones of others are not."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from unskew.arrays import Floats
from unskew.errors import ConfigError, DataError
from unskew.estimators import Aoa, Estimator, Ips, Kind, Rows, Snips, Terms, Ure
from unskew.testing import check_estimator


@dataclass(frozen=True)
class Tempered(Estimator):
    """Weights (1/P)^power."""

    power: float = 0.5

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        if kind not in self.kinds:
            raise self.refuse(kind)
        weight = self.weights(rows, kind)
        return Terms(rows.sums(weight * rows.worth), rows.sums(weight))

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        return rows.chance**-self.power


def test_a_sound_estimator_of_somebody_else_passes() -> None:
    check_estimator(Tempered())
    check_estimator(Tempered(power=1))


class WrongSign(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        terms = super().terms(rows, kind)
        return replace(terms, numerator=-terms.numerator)


class OtherWeights(Tempered):
    """The value is weighted, the diagnostics are not."""

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        return Snips().terms(rows, kind) if kind == "mean" else super().terms(rows, kind)


class NotOverOne(Tempered):
    """Weights that do not sum to the denominator: users' means of weighted gains."""

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        terms = super().terms(rows, kind)
        return replace(terms, denominator=rows.counts.astype(float))


class NegativeWeights(OtherWeights):
    def weights(self, rows: Rows, kind: Kind) -> Floats:
        return rows.chance - 0.5


class FirstRow(Tempered):
    """Counts the first row twice."""

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        weight = super().weights(rows, kind)
        weight[0] *= 2
        return weight


class Everything(Tempered):
    """Takes kinds that it does not claim."""

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        return super().terms(rows, "mean")


class Nothing(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        raise self.refuse(kind)


class Shifted(Tempered):
    """Adds 0.1 to the value."""

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        terms = super().terms(rows, kind)
        return replace(terms, numerator=terms.numerator + 0.1 * terms.denominator)


class Random(Tempered):
    rng: ClassVar[np.random.Generator] = np.random.default_rng(0)

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        return super().weights(rows, kind) * self.rng.uniform(0.9, 1.1, len(rows))


class ShortUsers(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        terms = super().terms(rows, kind)
        return Terms(terms.numerator.sum(keepdims=True), terms.denominator)


class RelativeIps(Ips):
    needs_absolute: ClassVar[bool] = False


class ForgetfulIps(Ips):
    counts_empty_users: ClassVar[bool] = False


class CarelessIps(Ips):
    needs_relevant: ClassVar[bool] = False

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        known = rows.total if rows.total is not None else np.ones(rows.n_users)
        return super().terms(replace(rows, total=known), kind)


class BlindSnips(Snips):
    uses_propensity: ClassVar[bool] = False

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        return (Aoa(per="pair") if rows.propensity is None else super()).terms(rows, kind)


class Unlabelled(Ure):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        return super().terms(rows, kind) if rows.positive is not None else Aoa().terms(rows, "mean")


@pytest.mark.parametrize(
    "broken, says",
    [
        (WrongSign(), "weights.. are not those of the value|rows of worth 0.3 have the value -"),
        (OtherWeights(), "weights.. are not those of the value of kind mean, even up to scale"),
        (NotOverOne(), "needs_absolute is False, but the scale of the propensities changes the value"),
        (NegativeWeights(), "a weight is below 0 or not finite"),
        (FirstRow(), "the order of rows or users changes the terms"),
        (Everything(), "terms.. accepts kind 'sum', which `kinds` does not name; raise self.refuse.kind."),
        (Nothing(), "it refuses every kind that it claims"),
        (Shifted(), "weights.. are not those of the value|twice the worth of each row is not twice the value"),
        (Random(), "terms.. gives other numbers when it is called again"),
        (ShortUsers(), "terms.. gives numerators .* and denominators"),
        (RelativeIps(), "needs_absolute is False, but the scale of the propensities changes the value"),
        (ForgetfulIps(), "counts_empty_users is False, but users without a row change the value"),
        (CarelessIps(), "needs_relevant is False, but the number of relevant items changes it"),
        (BlindSnips(), "uses_propensity is False, but the propensities change the value"),
        (Unlabelled(), "it sees exposed rows, so rows without labels must raise DataError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Estimator) else "",
)
def test_a_broken_estimator_is_refused(broken: Estimator, says: str) -> None:
    with pytest.raises(AssertionError, match=f"{type(broken).__name__}.*: ({says})"):
        check_estimator(broken)


def test_a_wrong_sign_is_refused_by_its_value_too() -> None:
    """Where the weights are not compared, the value of a constant is."""
    with pytest.raises(AssertionError, match=r"rows of worth 0.3 have the value -0.3, which must be above 0"):
        check_estimator(WrongSign(), linear=False)


@dataclass(frozen=True)
class Unfinished(Estimator):
    """Defines nothing."""


class OneArgument(Tempered):
    def terms(self, rows: Rows) -> Terms:  # type: ignore[override]
        return super().terms(rows, "mean")


class Pair(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Any:
        terms = super().terms(rows, kind)
        return terms.numerator, terms.denominator


class Lists(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Any:
        terms = super().terms(rows, kind)
        return Terms(terms.numerator.tolist(), terms.denominator)  # type: ignore[arg-type]


class Texts(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Any:
        terms = super().terms(rows, kind)
        return Terms(terms.numerator, terms.denominator.astype(str))  # type: ignore[arg-type]


class ListOfWeights(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        return Snips().terms(rows, kind)

    def weights(self, rows: Rows, kind: Kind) -> Any:
        return (1 / rows.chance).tolist()


class PerRow(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        if kind not in self.kinds:
            raise self.refuse(kind)
        weight = self.weights(rows, kind)
        return Terms(weight * rows.worth, weight)


class Crash(Tempered):
    def weights(self, rows: Rows, kind: Kind) -> Floats:
        raise KeyError(kind)


class Asserting(Tempered):
    """Its own assert is not a sentence of the contract."""

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        assert rows.size is not None
        return rows.size


class CrashOnOthers(Tempered):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        return super().terms(rows, {"mean": "mean"}[kind])  # type: ignore[arg-type]


class SilentSnips(Snips):
    uses_propensity: ClassVar[bool] = False


class SilentIps(Ips):
    needs_relevant: ClassVar[bool] = False


class RoughIps(Ips):
    def terms(self, rows: Rows, kind: Kind) -> Terms:
        if rows.total is None:
            raise TypeError
        return super().terms(rows, kind)


@pytest.mark.parametrize(
    "broken, says, cause",
    [
        (Unfinished(), r"it has no method terms\(rows, kind\); define it", None),
        (OneArgument(), r"terms\(\) does not take its arguments .*; define it as terms\(rows, kind\)", TypeError),
        (Pair(), r"terms\(\) must return Terms\(numerator, denominator\), not tuple", None),
        (Lists(), r"the numerator of terms\(\) must be a numpy array of numbers, not list", None),
        (Texts(), r"the denominator of terms\(\) must be a numpy array of numbers, not of type <U32", None),
        (ListOfWeights(), r"the result of weights\(\) must be a numpy array of numbers, not list", None),
        (PerRow(), r"terms\(\) has \d+ numbers for \d users; sum them by user with rows.sums", None),
        (Crash(), r"weights\(\) raises KeyError \('mean'\) on valid input; the traceback of the cause", KeyError),
        (Asserting(), r"weights\(\) raises AssertionError", AssertionError),
        (CrashOnOthers(), r"terms\(\) raises KeyError for kind 'sum'.*; raise self.refuse\(kind\)", KeyError),
        (SilentSnips(), "uses_propensity is False, but the propensities change the value; set it to True", DataError),
        (SilentIps(), "needs_relevant is False, but .*; set it to True", ConfigError),
        (RoughIps(), "needs_relevant is True, so a mean without .* must raise ConfigError", TypeError),
        (object(), "it is not an instance of Estimator; subclass Estimator", None),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str | type | None) else "",
)
def test_a_raw_error_becomes_a_sentence(broken: Any, says: str, cause: type[Exception] | None) -> None:
    with pytest.raises(AssertionError, match=f"^(.*:)?{type(broken).__name__}: {says}") as caught:
        check_estimator(broken)
    assert "\n" not in str(caught.value)
    assert type(caught.value.__cause__) is (cause or type(None))


def test_a_word_is_taken_and_a_class_is_not() -> None:
    check_estimator("snips(clip=0.1)")
    with pytest.raises(AssertionError, match=r"^snipz: the word cannot be read: unknown estimator 'snipz'"):
        check_estimator("snipz")
    with pytest.raises(AssertionError, match=r"^Tempered is a class; give an instance, Tempered\(\)$"):
        check_estimator(Tempered)  # type: ignore[arg-type]


def test_a_form_that_does_not_use_its_propensity_passes() -> None:
    """Class attributes are of the class: clipping everything leaves a plain average."""
    check_estimator(Snips(clip=1))
    check_estimator(Tempered(power=0))
