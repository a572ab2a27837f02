"""Propensities by rating, estimated with a small random sample of ratings."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions
from unskew.data.frames import find_column, to_numbers
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError, Option, PropensityError
from unskew.propensities.diagnostics import ReliabilityBin, reliability_curve
from unskew.propensities.observed.observation import (
    Cells,
    FittedObservation,
    ObservationModel,
    RawPropensity,
    check_clip,
    conclude,
)
from unskew.propensities.observed.tables import TableLike, hold, open_table

__all__ = ["NaiveBayes", "RatingRatio", "RatingSample"]

_MANY_LEVELS = 50
UNLIKELY = 1e-6  # a chance that is treated as 0


@dataclass(frozen=True)
class NaiveBayes(ObservationModel, word="naive-bayes"):
    r"""P depends on the rating alone (Schnabel et al. 2016, section 5.1).

    .. math:: P(O = 1 \mid r) = \frac{P(r \mid O = 1) \, P(O = 1)}{P(r)}

    The numerator is counted in the log. :math:`P(r)` comes from ratings of pairs drawn uniformly at random (missing
    completely at random, MCAR), with `smoothing` added to the count of each rating value. If pairs were seen before,
    their ratings are subtracted from the expected number of each value, so that :math:`P(r)` is that of the remaining
    pairs. Values above 1 are clipped and counted.

    Parameters
    ----------
    mcar : path or frame
        The random sample, with a column ``rating``; columns ``user`` and ``item`` also allow a reliability curve. In
        Python also `Interactions` or an array of ratings.
    smoothing : float
        Added to the count of each rating value in the sample.
    clip : float
        Smallest propensity used, relative to the largest; 0 for no clipping.
    """

    mcar: TableLike
    smoothing: float = 1.0
    clip: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "mcar", hold(self.mcar))
        check_smoothing(self.smoothing)
        check_clip(self.clip)

    def observe(self, observed: Interactions, *, seen: Interactions | None = None) -> FittedObservation:
        """Count ratings in the log and in the sample."""
        cells = Cells.of(observed, seen)
        sample = RatingSample.read(self.mcar)
        ratio = RatingRatio.fit(cells, seen, sample, self.smoothing)
        raw = _ByRating(ratio, len(observed) / cells.count)
        curve = sample.reliability(raw, cells)
        return conclude(
            raw,
            cells,
            clip=self.clip,
            reliability=curve,
            reliability_of=RatingSample.described,
            notes=(*ratio.notes, *sample.notes(cells)),
        )


@dataclass(frozen=True, eq=False)
class _ByRating:
    """The share of all pairs that is observed, times P(r|O) / P(r)."""

    ratio: "RatingRatio"
    share: float

    def __call__(self, users: Ints, items: Ints, values: Floats | None, /) -> Floats:
        return self.share * self.ratio(values)


@dataclass(frozen=True, eq=False)
class RatingSample:
    """Ratings of pairs drawn uniformly at random.

    Parameters
    ----------
    ratings : array
        One per pair.
    users, items : polars.Series, optional
        Ids, if they are known.
    name : str
        Name of the sample in messages.
    """

    described = "pairs of the random sample"

    ratings: Floats
    users: pl.Series | None = None
    items: pl.Series | None = None
    name: str = "mcar"

    @classmethod
    def read(cls, given: TableLike) -> "RatingSample":
        """Read a file or frame with a column ``rating`` and optional columns ``user`` and ``item``."""
        frame, name = open_table(given, "mcar")
        if "rating" not in frame.columns:
            shown = ", ".join(frame.columns[:8])
            raise DataError(f"{name}: no column 'rating' (it has {shown}); a random sample for propensities needs it")
        if frame.is_empty():
            raise DataError(f"{name}: has no ratings; give a random sample of ratings")
        ratings = to_numbers(frame["rating"], f"column 'rating' of {name}", times=False)
        if not np.isfinite(ratings).all():
            row = int(np.argmin(np.isfinite(ratings)))
            raise DataError(f"column 'rating' of {name}: row {row + 1} has {ratings[row]}, expected a finite number")
        if not {"user", "item"} & set(frame.columns):
            return cls(ratings, name=name)
        ids = [
            canonical(frame[find_column(column, frame.columns, name)], f"column {column!r} of {name}")
            for column in ("user", "item")
        ]
        return cls(ratings, ids[0], ids[1], name)

    def reliability(self, propensity: RawPropensity, cells: Cells) -> tuple[ReliabilityBin, ...]:
        """Predicted P and the share of the sampled pairs that are in the log; empty without ids."""
        users, items, ratings, observed = self._among(cells)
        if not len(users) or self._drawn_from(observed, cells):
            return ()
        return reliability_curve(np.minimum(propensity(users, items, ratings), 1.0), observed)

    def notes(self, cells: Cells) -> tuple[str, ...]:
        """A reason for doubt if the sample is a part of the log."""
        *_, observed = self._among(cells)
        if not self._drawn_from(observed, cells):
            return ()
        note = (
            f"all {len(observed):,} pairs of {self.name} are among the rows with propensities to estimate; remove the "
            "random sample from these rows first"
        )
        return (note,)

    def _among(self, cells: Cells) -> tuple[Ints, Ints, Floats, Bools]:
        """Codes, ratings and outcomes of the sampled pairs that could have been observed; none without ids."""
        if self.users is None or self.items is None:
            return np.zeros(0, int), np.zeros(0, int), np.zeros(0), np.zeros(0, bool)
        users = cells.log.user_vocabulary.encode(self.users)
        items = cells.log.item_vocabulary.encode(self.items)
        known = (users >= 0) & (items >= 0)
        users, items, ratings = users[known], items[known], self.ratings[known]
        observed, possible = cells.holds(users, items)
        return users[possible], items[possible], ratings[possible], observed[possible]

    @staticmethod
    def _drawn_from(observed: Bools, cells: Cells) -> bool:
        """Whether the sample is a part of the log, although the log has far from all pairs."""
        return bool(observed.all()) and (len(cells.keys) / cells.count) ** len(observed) < UNLIKELY


@dataclass(frozen=True, eq=False)
class RatingRatio:
    """P(r|O) / P(r) by rating value; NaN for a value that the log does not have.

    Parameters
    ----------
    levels : array
        Rating values, ascending.
    ratio : array
        One per level.
    notes : tuple of str
        Reasons for doubt.
    """

    levels: Floats
    ratio: Floats
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def fit(cls, cells: Cells, seen: Interactions | None, sample: RatingSample, smoothing: float) -> "RatingRatio":
        """The ratio of counts in the log and in the sample; `smoothing` is added to each count of the sample."""
        log = cells.log
        if log.values is None:
            raise PropensityError(
                f"{log.name} has no ratings, but these propensities depend on them; name the column with "
                f"{Option('rating_col')}"
            )
        levels = np.union1d(log.values, sample.ratings)
        if seen is not None and seen.values is not None:
            levels = np.union1d(levels, seen.values)
        drawn = _count(sample.ratings, levels)
        logged = _count(log.values, levels)
        notes = _check_sample(levels, drawn, logged, sample.name, smoothing)
        marginal = (drawn + smoothing) / (drawn.sum() + smoothing * len(levels))
        left, more = _left(marginal, levels, cells, seen)
        with np.errstate(divide="ignore", invalid="ignore"):
            # a value without remaining pairs has an infinite ratio, so P is 1 after clipping
            ratio = np.where(logged > 0, (logged / logged.sum()) / left, np.nan)
        return cls(levels, ratio, (*notes, *more))

    def __call__(self, values: Floats | None) -> Floats:
        """The ratio of each row, by its rating."""
        if values is None:
            raise PropensityError("these propensities depend on the rating, but the rows have none; give their values")
        places = np.minimum(np.searchsorted(self.levels, values), len(self.levels) - 1)
        return np.where(self.levels[places] == values, self.ratio[places], np.nan)


def check_smoothing(smoothing: float) -> None:
    """Refuse a count that is negative or not finite."""
    if not 0 <= smoothing < np.inf:
        raise ConfigError(f"smoothing={smoothing:g} must be 0 or more")


def _count(ratings: Floats, levels: Floats) -> Ints:
    return np.bincount(np.searchsorted(levels, ratings), minlength=len(levels))


def _check_sample(levels: Floats, drawn: Ints, logged: Ints, name: str, smoothing: float) -> tuple[str, ...]:
    notes = []
    if not np.any((logged > 0) & (drawn > 0)):
        raise PropensityError(f"{name}: no rating of the random sample occurs in the log; are both on the same scale?")
    absent = (logged > 0) & (drawn == 0)
    if absent.any():
        which = ", ".join(f"{level:g}" for level in levels[absent][:5]) + (", ..." if absent.sum() > 5 else "")
        if smoothing == 0:
            raise PropensityError(
                f"{name}: no sampled pair has rating {which}, which the log has, so P cannot be computed; "
                "use smoothing=1 or a larger sample"
            )
        notes.append(f"the propensity of rating {which}, which {name} lacks, depends on smoothing alone")
    if len(levels) > _MANY_LEVELS:
        notes.append(f"there are {len(levels):,} distinct ratings, which are counted separately; round them to fewer")
    return tuple(notes)


def _left(marginal: Floats, levels: Floats, cells: Cells, seen: Interactions | None) -> tuple[Floats, tuple[str, ...]]:
    """P(r) among the pairs that were not seen before."""
    if seen is None or not len(cells.outside):
        return marginal, ()
    if seen.values is None:
        return marginal, (
            f"{seen.name} has no ratings, so the pairs not in it are assumed to be rated like the random sample",
        )
    _, possible = cells.holds(seen.users, seen.items)
    gone = _count(seen.values[~possible], levels)
    total = cells.log.n_users * cells.log.n_items
    return np.maximum(total * marginal - gone, 0) / cells.count, ()
