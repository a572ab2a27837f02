"""Propensities from covariates and from the rating."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions
from unskew.propensities.observed.covariates import hold_sides
from unskew.propensities.observed.logistic import FittedLinear, Logistic
from unskew.propensities.observed.naive_bayes import RatingRatio, RatingSample, check_smoothing
from unskew.propensities.observed.observation import Cells, FittedObservation, ObservationModel, conclude
from unskew.propensities.observed.tables import TableLike, hold

__all__ = ["Combined"]


@dataclass(frozen=True, kw_only=True)
class Combined(ObservationModel, word="combined"):
    r"""Logistic regression on covariates, times a factor for the rating (both of Schnabel et al. 2016, section 5).

    .. math:: P(O_{ui} = 1 \mid r) = P_{LR}(O_{ui} = 1) \, \frac{P(r \mid O = 1)}{P(r)}

    It assumes that the rating is independent of the covariates, among all pairs and among observed pairs. Values above
    1 are clipped and counted.

    Parameters
    ----------
    mcar : path or frame
        A random sample of ratings, as for `naive-bayes`.
    users, items : path or frame, optional
        Covariates, as for `logistic`; one of the two may be left out.
    smoothing : float
        Added to the count of each rating value in the sample.
    penalty, offsets, offset_penalty, sample, seed
        As for `logistic`.
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    """

    mcar: TableLike
    users: TableLike | None = None
    items: TableLike | None = None
    smoothing: float = 1.0
    penalty: float | None = None
    offsets: bool = False
    offset_penalty: float = 10.0
    clip: float = 0.0
    sample: int = 1_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        hold_sides(self)
        object.__setattr__(self, "mcar", hold(self.mcar))
        check_smoothing(self.smoothing)
        self._logistic()  # checks the other options

    def observe(self, observed: Interactions, *, seen: Interactions | None = None) -> FittedObservation:
        """Fit both parts to the same pairs."""
        cells = Cells.of(observed, seen)
        sample = RatingSample.read(self.mcar)
        ratio = RatingRatio.fit(cells, seen, sample, self.smoothing)
        linear, _, notes = self._logistic().learn(cells)
        raw = _Product(linear, ratio)
        return conclude(
            raw,
            cells,
            clip=self.clip,
            reliability=sample.reliability(raw, cells),
            reliability_of=RatingSample.described,
            notes=(*notes, *ratio.notes, *sample.notes(cells)),
        )

    def _logistic(self) -> Logistic:
        return Logistic(
            self.users,
            self.items,
            penalty=self.penalty,
            offsets=self.offsets,
            offset_penalty=self.offset_penalty,
            clip=self.clip,
            sample=self.sample,
            seed=self.seed,
        )


@dataclass(frozen=True, eq=False)
class _Product:
    """P by covariates, times P(r|O) / P(r)."""

    linear: FittedLinear
    ratio: RatingRatio

    def __call__(self, users: Ints, items: Ints, values: Floats | None, /) -> Floats:
        ratio = self.ratio(values)  # first, because it refuses rows without ratings
        return np.asarray(self.linear(users, items) * ratio)
