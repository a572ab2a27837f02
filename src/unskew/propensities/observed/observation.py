"""The base of propensity models that predict which pairs are observed, out of all possible pairs."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions
from unskew.data.pairs import contains, pair_keys, row_keys
from unskew.errors import ConfigError, PropensityError
from unskew.propensities.diagnostics import Diagnostics, ReliabilityBin, diagnose
from unskew.propensities.observed.tables import Held
from unskew.propensities.propensity import PropensityModel

__all__ = ["CellSample", "Cells", "FittedObservation", "ObservationModel", "RawPropensity", "check_clip", "conclude"]

SMALLEST = 1e-12
"""The smallest probability used, so that every weight is finite."""


class RawPropensity(Protocol):
    """Predicts P before it is clipped to (0, 1]; NaN if the model has none."""

    def __call__(self, users: Ints, items: Ints, values: Floats | None, /) -> Floats:
        """P of each row."""
        ...


@dataclass(frozen=True, eq=False)
class FittedObservation:
    """P(the pair is observed), with diagnostics.

    Parameters
    ----------
    raw : RawPropensity
        The unclipped predictions of the model.
    floor : float
        Smallest propensity; smaller predictions are raised to it, and those above 1 are cut to 1.
    diagnostics : Diagnostics
        Diagnostics on the observed rows.
    absolute : bool
        Always true, because it is a probability.
    """

    raw: RawPropensity
    floor: float
    diagnostics: Diagnostics
    absolute: bool = True

    def __call__(self, users: Ints, items: Ints, values: Floats | None = None, /) -> Floats:
        """P of each row, in (0, 1]."""
        return np.clip(self.raw(users, items, values), self.floor, 1.0)


class ObservationModel(PropensityModel):
    """A model that predicts which pairs are observed, out of all pairs that could have been."""

    @property
    def tables(self) -> dict[str, "str | Held"]:
        """The tables that the model reads, files or frames, by option."""
        named = {option: getattr(self, option, None) for option in ("mcar", "users", "items")}
        return {option: table for option, table in named.items() if isinstance(table, str | Held)}

    @abstractmethod
    def observe(self, observed: Interactions, *, seen: Interactions | None = None) -> FittedObservation:
        """Fit to a log.

        Parameters
        ----------
        observed : Interactions
            The observed rows, out of all pairs of its users and items.
        seen : Interactions, optional
            Pairs that could not be observed, because they were seen before, in the same vocabularies. A pair that is in
            both counts as observed.
        """

    def fit(self, train: Interactions, test: Interactions) -> FittedObservation:
        """Fit to the test rows, out of all pairs that are not in training."""
        return self.observe(test, seen=train)


@dataclass(frozen=True, eq=False)
class CellSample:
    """Pairs that could have been observed: all of them, or a sample in which each pair represents several.

    Parameters
    ----------
    users, items : array of int
        Codes.
    observed : array of bool
        Whether the pair was observed.
    weight : array
        How many pairs the pair represents.
    """

    users: Ints
    items: Ints
    observed: Bools
    weight: Floats


@dataclass(frozen=True, eq=False)
class Cells:
    """All pairs that could have been observed.

    Parameters
    ----------
    log : Interactions
        The observed rows.
    keys : array of int64
        User code times number of items plus item code of the observed rows, ascending.
    outside : array of int64
        The keys of the pairs that could not be observed, ascending.
    """

    log: Interactions
    keys: Ints
    outside: Ints

    @classmethod
    def of(cls, observed: Interactions, seen: Interactions | None = None) -> "Cells":
        """All pairs of the vocabularies minus those seen before."""
        if not len(observed):
            raise PropensityError(f"{observed.name} has no rows to learn propensities from; give observed rows")
        keys = np.unique(row_keys(observed, observed.n_items))
        outside = np.zeros(0, np.int64)
        if seen is not None:
            if (seen.n_users, seen.n_items) != (observed.n_users, observed.n_items):
                raise PropensityError(f"{seen.name} and {observed.name} must share their users and items; use Split")
            outside = np.setdiff1d(row_keys(seen, seen.n_items), keys)
        return cls(observed, keys, outside)

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return self.log.n_users * self.log.n_items - len(self.outside)

    def holds(self, users: Ints, items: Ints) -> tuple[Bools, Bools]:
        """Whether each pair was observed, and whether it could have been."""
        keys = pair_keys(users, items, self.log.n_items)
        return contains(self.keys, keys), ~contains(self.outside, keys)

    def sample(self, most: int, rng: np.random.Generator) -> CellSample:
        """All pairs if there are at most `most`, else the observed ones and a random sample of the others.

        If more than half of the sample would be observed rows, these are sampled too.
        """
        width = self.log.n_items
        if self.count <= most:
            keys = np.setdiff1d(np.arange(self.log.n_users * width), self.outside, assume_unique=True)
            observed = contains(self.keys, keys)
            return CellSample(keys // width, keys % width, observed, np.ones(len(keys)))
        kept = self.keys
        if len(kept) > most // 2:
            kept = np.sort(rng.choice(kept, most // 2, replace=False))
        others = self.count - len(self.keys)
        rest = self._draw_unobserved(min(most - len(kept), others), rng)
        keys = np.concatenate([kept, rest])
        observed = np.arange(len(keys)) < len(kept)
        weight = np.where(observed, len(self.keys) / len(kept), others / max(len(rest), 1))
        return CellSample(keys // width, keys % width, observed, weight)

    def _draw_unobserved(self, n: int, rng: np.random.Generator) -> Ints:
        """Distinct pairs, uniform among those neither observed nor outside."""
        total = self.log.n_users * self.log.n_items
        kept = np.zeros(0, np.int64)
        if total <= 4 * (n + len(self.keys) + len(self.outside)):  # rejection would rarely succeed
            free = np.setdiff1d(np.arange(total), np.union1d(self.keys, self.outside), assume_unique=True)
            return np.sort(rng.choice(free, n, replace=False))
        while len(kept) < n:
            drawn = rng.integers(0, total, n - len(kept) + n // 8 + 8)
            drawn = drawn[~contains(self.keys, drawn) & ~contains(self.outside, drawn)]
            both = np.concatenate([kept, drawn])
            _, first = np.unique(both, return_index=True)
            kept = both[np.sort(first)]  # in the order drawn, so that a cut leaves a uniform sample
        return np.sort(kept[:n])


def conclude(
    raw: RawPropensity,
    cells: Cells,
    *,
    clip: float = 0.0,
    reliability: tuple[ReliabilityBin, ...] = (),
    reliability_of: str = "",
    notes: tuple[str, ...] = (),
) -> FittedObservation:
    """The fitted propensity: predictions clipped to (0, 1], with diagnostics on the observed rows.

    Parameters
    ----------
    raw : RawPropensity
        The model's predictions.
    cells : Cells
        The pairs it was fitted to.
    clip : float
        The floor, relative to the largest P of an observed row.
    reliability, reliability_of, notes
        As in `Diagnostics`.
    """
    log = cells.log
    plain = raw(log.users, log.items, log.values)
    largest = min(float(np.nanmax(plain)), 1.0)
    floor = max(clip * largest, SMALLEST)
    clipped = int(np.sum((plain > 1) | (plain < floor)))
    diagnostics = diagnose(
        np.clip(plain, floor, 1.0),
        cells.count,
        clipped=clipped,
        reliability=reliability,
        reliability_of=reliability_of,
        notes=notes,
    )
    return FittedObservation(raw, floor, diagnostics)


def check_clip(clip: float) -> None:
    """Refuse a floor that is not a share of the largest propensity."""
    if not 0 <= clip <= 1:
        raise ConfigError(f"clip={clip:g} must be from 0 (off) to 1; it is a share of the largest propensity")
