"""Differences of two models on the same users or the same random draws, and verdicts over several of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.intervals import holm

LEVEL = 0.05
"""Chance that one of several true hypotheses is rejected, by Holm's correction."""
Key = TypeVar("Key")


@dataclass(frozen=True)
class Gap:
    """A mean difference and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, first: Floats, second: Floats | float) -> "Gap":
        """Of two values a user or a draw."""
        gaps = np.asarray(first - second)
        return cls(float(gaps.mean()), float(gaps.std(ddof=1)) / len(gaps) ** 0.5)

    @property
    def z(self) -> float:
        """The mean in standard errors; 0 where all are alike."""
        return self.mean / self.error if self.error > 0 else 0.0

    @property
    def p_value(self) -> float:
        """How likely chance alone is to make one as large, on either side."""
        from scipy.special import ndtr

        return float(2 * ndtr(-abs(self.z)))

    def __str__(self) -> str:
        return f"{self.mean:+.4f} (z {self.z:+.1f})"


def clear(gaps: Mapping[Key, Gap]) -> dict[Key, int]:
    """The sign of each difference that is clear by Holm's correction over all of them, 0 for the others."""
    adjusted = holm({key: gap.p_value for key, gap in gaps.items()})
    return {
        key: int(np.sign(gap.mean)) if (adjusted[key] or 0.0) < LEVEL and gap.error > 0 else 0
        for key, gap in gaps.items()
    }


def all_above(gaps: Mapping[Key, Gap]) -> bool | None:
    """Whether all differences are clearly above 0; None where some cannot be told and none is clearly below."""
    signs = clear(gaps).values()
    if any(sign < 0 for sign in signs):
        return False
    return True if all(sign > 0 for sign in signs) else None
