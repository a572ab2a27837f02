"""`Anytime`: confidence sequences, which hold at every number of users at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.intervals import Bounds, Interval, around
from unskew.ranking.engines import Engine

_REFERENCE = 0.05  # the error rate for which the sequence is narrowest at its number of users


@dataclass(frozen=True)
class Anytime(Interval, word="anytime"):
    r"""Value plus and minus a multiple of the standard error that grows slowly with the number of users n.

    .. math::

       \sqrt{\frac{2 (n \rho^2 + 1)}{n \rho^2} \log \frac{\sqrt{n \rho^2 + 1}}{\alpha}}, \qquad
       \rho^2 = \frac{-2 \log 0.05 + \log(1 - 2 \log 0.05)}{n^*}

    With probability :math:`1 - \alpha` all intervals of the sequence hold the truth, whenever one stops to look, if the
    first look is at many users (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024). An interval for one look fixed
    beforehand has 1.96 in its place for 95 %; this one has 3.0 at :math:`n^*` users.

    Parameters
    ----------
    at : int
        :math:`n^*`, the number of users at which it is narrowest compared with an interval for one look.
    """

    at: int = 1000
    positional = ("at",)

    def __post_init__(self) -> None:
        if self.at < 1:
            raise ConfigError(f"anytime({self.at}): the number of users must be at least 1")

    def bounds(
        self,
        terms: Sequence[Terms],
        pairs: Sequence[tuple[int, int]],
        level: float,
        rng: np.random.Generator,
        engine: Engine | None = None,
        errors: Sequence[float | None] | None = None,
    ) -> tuple[list[Bounds], list[Bounds]]:
        """Low and high of each estimate and difference."""
        gaps = self.gaps(terms, pairs, errors)
        return (
            [around(term.value, term.std_error, self.factor(len(term.numerator), level)) for term in terms],
            [
                around(*gap, self.factor(len(terms[a].numerator), level))
                for (a, _), gap in zip(pairs, gaps, strict=True)
            ],
        )

    def factor(self, n: int, level: float) -> float:
        """How many standard errors wide a side of the interval is, at n users."""
        scaled = self._scaled(n)
        return sqrt(2 * (scaled + 1) / scaled * log(sqrt(scaled + 1) / (1 - level)))

    def p_of(self, gap: float | None, error: float | None, users: int) -> float | None:
        """The smallest error rate at which the interval of the difference does not hold 0."""
        if gap is None or error is None:
            return None
        if error == 0:
            return 1.0 if gap == 0 else 0.0
        scaled = self._scaled(users)
        return min(1.0, sqrt(scaled + 1) * exp(-((gap / error) ** 2) * scaled / (2 * (scaled + 1))))

    def _scaled(self, n: int) -> float:
        best = -2 * log(_REFERENCE) + log(1 - 2 * log(_REFERENCE))
        return max(n, 1) * best / self.at
