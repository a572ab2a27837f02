"""Trials: one long table of numbers, by dimensions such as data set, model and metric, with one value per unit."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.stats import Gap, Mean

if TYPE_CHECKING:
    import polars as pl

Key = tuple[Any, ...]
Row = tuple[Key, Floats | float | None]
"""A number, or an array, with the key of its group."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Numbers of repeated trials.

    A group is one combination of the dimensions. It has one value per unit: per draw, fold, run or user. Groups may
    have different numbers of units; paired differences need the same.

    Parameters
    ----------
    dims : tuple of str
        Names of the dimensions, as in ``("data", "model", "metric")``.
    unit : str
        What a value is of, as in ``draw``; of several axes, separated by commas, as in ``fold, user``.
    groups : mapping
        One array per group, by the values of the dimensions. An array has one axis per unit.

    Examples
    --------
    >>> import numpy as np
    >>> trials = Trials(("model",), "draw", {("a",): np.array([1.0, 3.0]), ("b",): np.array([0.0, 1.0])})
    >>> trials.gap({"model": "a"}, {"model": "b"}).mean
    1.5
    """

    dims: tuple[str, ...]
    unit: str
    groups: Mapping[Key, Floats]

    @classmethod
    def collect(cls, dims: tuple[str, ...], unit: str, rows: Iterable[Row]) -> "Trials":
        """Trials from single numbers or arrays with their keys; those of one key follow in the order of units."""
        lists: dict[Key, list[Floats | float]] = {}
        for key, value in rows:
            lists.setdefault(key, []).append(np.nan if value is None else value)
        return cls(dims, unit, {key: np.array(values, dtype=float) for key, values in lists.items()})

    def __repr__(self) -> str:
        return f"Trials of {len(self)} groups by {', '.join(self.dims)}; one value per {self.unit}"

    def __getitem__(self, key: Key) -> Floats:
        """The values of a group, by its dimensions in their order."""
        return self.groups[key]

    def get(self, *key: Hashable) -> Floats | None:
        """The values of a group, by its dimensions in their order; None of a group that is absent."""
        return self.groups.get(key)

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Key]:
        """The keys of the groups, in their order."""
        return iter(self.groups)

    def named(self, key: Key) -> dict[str, Any]:
        """The dimensions of a group by name."""
        return dict(zip(self.dims, key, strict=True))

    def levels(self, dim: str) -> tuple[Any, ...]:
        """The values of a dimension, each once, in the order of the groups."""
        place = self.dims.index(dim)
        return tuple(dict.fromkeys(key[place] for key in self.groups))

    def where(self, **fixed: Hashable) -> "Trials":
        """The groups in which these dimensions have these values."""
        places = {self.dims.index(dim): value for dim, value in fixed.items()}
        kept = {
            key: values
            for key, values in self.groups.items()
            if all(key[place] == value for place, value in places.items())
        }
        return Trials(self.dims, self.unit, kept)

    def at(self, **fixed: Hashable) -> "Trials":
        """The groups in which these dimensions have these values, without these dimensions.

        Examples
        --------
        >>> trials = Trials(("data", "model"), "draw", {("x", "a"): np.array([1.0]), ("y", "a"): np.array([2.0])})
        >>> trials.at(data="y")["a",]
        array([2.])
        """
        places = [place for place, dim in enumerate(self.dims) if dim not in fixed]
        groups = {tuple(key[place] for place in places): values for key, values in self.where(**fixed).groups.items()}
        return Trials(tuple(self.dims[place] for place in places), self.unit, groups)

    def values(self, **fixed: Hashable) -> Floats:
        """The values of the one group that these dimensions single out.

        Raises
        ------
        KeyError
            When no group, or more than one, is singled out.
        """
        if len(fixed) == len(self.dims):
            return self.groups[tuple(fixed[dim] for dim in self.dims)]
        groups = list(self.where(**fixed).groups.values())
        if len(groups) != 1:
            raise KeyError(f"{len(groups)} groups have {fixed}; the dimensions are {', '.join(self.dims)}")
        return groups[0]

    def mean(self, **fixed: Hashable) -> Mean:
        """The mean of a group over its units, with spread and standard error."""
        return Mean.of(self.values(**fixed).ravel())

    def gap(self, a: Mapping[str, Hashable], b: Mapping[str, Hashable] | float, **fixed: Hashable) -> Gap:
        """The mean difference of two groups, paired by unit, or of a group from a number.

        `a` and `b` are the dimensions in which the two differ, `fixed` those that they share.
        """
        second = b if isinstance(b, int | float) else self.values(**fixed, **b)
        return Gap.of(self.values(**fixed, **a), second)

    def __or__(self, other: "Trials") -> "Trials":
        """The groups of both; they must have the same dimensions."""
        if other.dims != self.dims:
            raise ValueError(f"dimensions differ: {', '.join(self.dims)} and {', '.join(other.dims)}")
        return Trials(self.dims, self.unit, {**self.groups, **other.groups})

    @property
    def frame(self) -> "pl.DataFrame":
        """The trials as one tidy frame: a column per dimension, the number of the unit, and the value."""
        import polars as pl

        units = [name.strip() for name in self.unit.split(",")]
        numbers = {dim for dim in self.dims if all(isinstance(level, int | float) for level in self.levels(dim))}
        parts = []
        for key, values in self.groups.items():
            counters = np.indices(values.shape).reshape(values.ndim, -1)
            columns: dict[str, Any] = {
                dim: [level if dim in numbers else str(level)] * values.size for dim, level in self.named(key).items()
            }
            columns |= dict(zip(units, counters, strict=True))
            parts.append(pl.DataFrame({**columns, "value": values.ravel()}))
        return (
            pl.concat(parts, how="vertical_relaxed")
            if parts
            else pl.DataFrame({name: [] for name in (*self.dims, *units, "value")})
        )
