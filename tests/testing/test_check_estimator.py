"""Broken estimators are refused with a sentence that names the property, and sound ones of others are not."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from unskew.arrays import Floats
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
        (Everything(), "kinds does not name .*, which terms.. must refuse: ConfigError"),
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
