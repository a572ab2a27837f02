"""The popularity propensity: popular items are more likely to be observed."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints, powers_of
from unskew.data import Interactions
from unskew.errors import ConfigError, PropensityError
from unskew.notation import Named
from unskew.propensities.propensity import PropensityModel


class GammaSource(Named, family="gamma"):
    """Where gamma comes from if it is not a number."""


@dataclass(frozen=True)
class Auto(GammaSource, word="auto"):
    """Models trained on the log."""


@dataclass(frozen=True)
class From(GammaSource, word="from"):
    """The model that produced the log: a file of factors, of scores or of top-N lists."""

    file: str
    positional = ("file",)


@dataclass(frozen=True)
class Popularity(PropensityModel, word="popularity"):
    r"""A power of the item's count in training (Yang et al. 2018, with the exponent derived, not as printed).

    .. math:: P_i = \left(\frac{n^*_i + s}{\max_j n^*_j + s}\right)^{(\gamma+1)/2}

    Known only up to scale.

    Parameters
    ----------
    gamma : float or str
        How strongly the logging system favoured popular items; -1 means no correction. ``auto`` fits it to the
        recommendations of models trained on the log, ``from(FILE)`` to those of the model in a file, ideally the one
        that produced the log.
    smoothing : float
        Added to each count, so that items without training rows have a propensity; with 0 their rows are dropped and
        counted, as in the code of the paper.
    """

    gamma: float | str = 0.0
    smoothing: float = 1.0
    uses_test = False

    def __post_init__(self) -> None:
        if isinstance(self.gamma, str):
            object.__setattr__(self, "gamma", str(_parse_source(self.gamma)))
        elif not np.isfinite(self.gamma):
            raise ConfigError(f"gamma={self.gamma} must be a finite number")
        if not 0 <= self.smoothing < np.inf:
            raise ConfigError(f"smoothing={self.smoothing:g} must be 0 or more")

    @property
    def source(self) -> GammaSource | None:
        """Where gamma comes from; None if it is a number."""
        return _parse_source(self.gamma) if isinstance(self.gamma, str) else None

    @property
    def known_gamma(self) -> float:
        """Gamma as a number.

        Raises
        ------
        ConfigError
            If it has not been fitted yet.
        """
        if isinstance(self.gamma, str):
            raise ConfigError(
                f"{self}: gamma is fitted only during an evaluation; give a number here, as in popularity(gamma=1)"
            )
        return self.gamma

    def fit(self, train: Interactions, test: Interactions) -> "FittedPopularity":
        """The propensities, from the number of training rows of each item."""
        gamma, counts = self.known_gamma, train.item_counts + self.smoothing
        if not counts.any():
            raise PropensityError("popularity needs training rows, and there are none")
        relative = counts / counts.max()
        by_item = powers_of(relative, (gamma + 1) / 2)
        tiny = (by_item <= 0) & (counts > 0)
        if tiny.any():
            raise PropensityError(
                f"gamma={gamma:g} makes the propensity of rare items vanish in floating point; use a smaller gamma"
            )
        by_item[counts == 0] = np.nan
        return FittedPopularity(by_item / np.nanmax(by_item))


@dataclass(frozen=True, eq=False)
class FittedPopularity:
    """Propensities by item code."""

    by_item: Floats
    absolute: bool = False

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """The propensity of each row's item."""
        return self.by_item[items]


def _parse_source(text: str) -> GammaSource:
    try:
        return GammaSource.from_word(text)
    except ConfigError as error:
        raise ConfigError(f"gamma={text}: expected a number, auto or from(FILE); {error}") from None
