"""`Auto`: a word for the estimator that suits the data, which an evaluation replaces before any work."""

from dataclasses import dataclass
from typing import ClassVar

from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Estimator
from unskew.estimators.rows import Kind, Rows


@dataclass(frozen=True)
class Auto(Estimator, word="auto"):
    """The estimator that suits the data: `blend` with labels or random rows, else `snips` by exposure.

    With a slice of random rows, or with rows that are not positive, it is `blend`. With positives only it is `snips`
    with the propensity ``exposure(power=0.5)``. With a named propensity it is `snips` with that. If nothing can be
    learnt it is the naive average. The report says which one was taken, and why.
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "list", "loss", "graded"})

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """Not possible: it stands for another estimator until the data are known."""
        raise ConfigError("auto is replaced by an estimator that suits the data; call evaluate, or name one")
