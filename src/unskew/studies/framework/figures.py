"""Figures of a study: lines with bands, or points with intervals, in panels; and how trials become them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.stats import Mean


@dataclass(frozen=True)
class Series:
    """A line of a figure with its band.

    Parameters
    ----------
    name : str
    x, mean, low, high : tuple of float
        One per point; `low` and `high` bound the band.
    naive : bool
        Whether this is what one would do without a correction; drawn grey.
    """

    name: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    naive: bool = False

    def __post_init__(self) -> None:
        if len({len(self.x), len(self.mean), len(self.low), len(self.high)}) != 1:
            raise TypeError(f"{self.name}: x, mean, low and high must be of one length")

    @classmethod
    def of(
        cls, name: str, x: Sequence[float], mean: Sequence[float], error: Sequence[float], *, naive: bool = False
    ) -> "Series":
        """A line with a 95 % band of 1.96 standard errors to both sides."""
        ends = [(m - 1.96 * e, m + 1.96 * e) for m, e in zip(mean, error, strict=True)]
        low, high = zip(*ends, strict=True) if ends else ((), ())
        return cls(name, _floats(x), _floats(mean), _floats(low), _floats(high), naive=naive)

    @classmethod
    def over(cls, name: str, x: Sequence[float], trials: Sequence[Floats], *, naive: bool = False) -> "Series":
        """A line of means over trials, one array per point, with a 95 % band of 1.96 standard errors."""
        means = [Mean.of(values) for values in trials]
        errors = [np.nan if mean.error is None else mean.error for mean in means]
        return cls.of(name, x, [mean.value for mean in means], errors, naive=naive)

    @classmethod
    def middle(cls, name: str, x: Sequence[float], trials: Sequence[Floats], *, naive: bool = False) -> "Series":
        """Means over trials, one array per point, with the interval that holds the middle 95 % of the trials."""
        low, high = ([float(np.percentile(values, share)) for values in trials] for share in (2.5, 97.5))
        means = [float(np.mean(values)) for values in trials]
        return cls(name, _floats(x), tuple(means), tuple(low), tuple(high), naive=naive)

    @classmethod
    def exact(cls, name: str, x: Sequence[float], values: Sequence[float], *, naive: bool = False) -> "Series":
        """A line without a band."""
        return cls(name, _floats(x), _floats(values), _floats(values), _floats(values), naive=naive)

    def to_dict(self) -> dict[str, Any]:
        """The line as plain data."""
        points = {key: [plain(value) for value in getattr(self, key)] for key in ("x", "mean", "low", "high")}
        return {"name": self.name, "naive": self.naive, **points}


@dataclass(frozen=True)
class Panel:
    """One picture of a figure: lines over a shared x."""

    title: str
    series: tuple[Series, ...]

    @classmethod
    def over(cls, title: str, x: Sequence[float], lines: Mapping[str, Sequence[Floats]], naive: str = "") -> "Panel":
        """Lines of means over trials by their names, with one array per point; the naive one is drawn grey."""
        return cls(title, tuple(Series.over(name, x, each, naive=name == naive) for name, each in lines.items()))

    def to_dict(self) -> dict[str, Any]:
        """The panel as plain data."""
        return {"title": self.title, "series": [line.to_dict() for line in self.series]}


@dataclass(frozen=True)
class Figure:
    """Panels side by side.

    Parameters
    ----------
    title : str
    x_label : str
    panels : tuple of Panel
    log_x, log_y : bool
        Whether an axis is logarithmic; then its values must be above zero, and what is not is left out of the picture.
    note : str
        What the bands are, and what else to know.
    categories : tuple of str
        Names of the places 0, 1, ... on the x axis. Then series are points with intervals, side by side at each place,
        instead of lines with bands.
    """

    title: str
    x_label: str
    panels: tuple[Panel, ...]
    log_x: bool = False
    log_y: bool = False
    note: str = ""
    categories: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        places = set(range(len(self.categories)))
        if places and any(set(line.x) - places for panel in self.panels for line in panel.series):
            raise TypeError(f"{self.title}: with categories, x is their place, from 0 to {len(places) - 1}")

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain data."""
        named = {"categories": list(self.categories)} if self.categories else {}
        return {
            "title": self.title,
            "x_label": self.x_label,
            **named,
            "log_x": self.log_x,
            "log_y": self.log_y,
            "note": self.note,
            "panels": [panel.to_dict() for panel in self.panels],
        }


def _floats(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def plain(value: float | None) -> float | None:
    """A number that JSON can hold; what is not finite is undefined."""
    return None if value is None or not math.isfinite(value) else float(value)
