"""The range of popularity biases that an evaluation assumes."""

import math
import re
from dataclasses import dataclass

from unskew.errors import ConfigError

STEP = 0.25
"""Largest distance of two neighbouring gammas."""
_WORD = re.compile(r"\s*gamma\s*=\s*(\S+?)\s*\.\.\s*(\S+?)\s*")


@dataclass(frozen=True)
class GammaRange:
    """The assumed gammas of ``popularity``, from `low` to `high`; printed as ``gamma=-0.5..1.5``."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise ConfigError(f"{self}: expected two finite numbers, the smaller one first, as in gamma=0..1")

    @classmethod
    def parse(cls, word: str) -> "GammaRange":
        """Parse ``gamma=LOW..HIGH``."""
        parts = _WORD.fullmatch(word)
        try:
            low, high = map(float, parts.groups() if parts else ())
        except ValueError:
            raise ConfigError(
                f"cannot read the assumed bias {word!r}; write gamma=LOW..HIGH, as in gamma=0..1"
            ) from None
        return cls(low, high)

    def __str__(self) -> str:
        return f"gamma={_shown(self.low)}..{_shown(self.high)}"

    def __contains__(self, gamma: float) -> bool:
        return self.low <= gamma <= self.high

    def including(self, gamma: float) -> "GammaRange":
        """The same range, widened to include a gamma."""
        return GammaRange(min(self.low, gamma), max(self.high, gamma))

    def gammas(self, *others: float) -> tuple[float, ...]:
        """Evenly spaced gammas from end to end, at most 0.25 apart, together with the given ones; ascending."""
        steps = max(1, math.ceil(round((self.high - self.low) / STEP, 9)))
        within = (self.low + (self.high - self.low) * k / steps for k in range(1, steps))
        return tuple(sorted({self.low, *within, self.high, *others}))


POSSIBLE = GammaRange(-0.5, 1.5)
"""The default range, around the default gamma of 0: exponents from 0.25 to 1.25."""


def _shown(gamma: float) -> str:
    """The number, short where that is exact."""
    return f"{gamma:g}" if float(f"{gamma:g}") == gamma else repr(gamma)
