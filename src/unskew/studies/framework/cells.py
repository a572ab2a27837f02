"""`ReproducedCell`: a printed number next to ours, with its tolerance; and how trials become cells."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unskew.arrays import Floats
from unskew.studies.framework.figures import plain
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.trials import Trials

Printed = Mapping[tuple[str, str], float]
"""Numbers of a paper by row and column, as the cells name them."""
Limits = tuple[float, str]
"""A tolerance, and the reason for it."""


@dataclass(frozen=True)
class ReproducedCell:
    """A number of the paper, and the same number computed in this run.

    Parameters
    ----------
    row, column : str
        Its place in the paper's table.
    data : str
        The data set that ours comes from.
    paper : float or None
        As printed; None for a number that the paper does not print.
    ours : float or None
        From this run; None where the data is absent.
    spread : float or None
        Standard deviation of ours over the trials.
    comparable : bool
        Whether both mean the same thing. On a stand-in data set, or where the paper leaves out what decides the
        number, they do not.
    tolerance : float or None
        How far apart they may be; a comparable cell needs one.
    reason : str
        Why that tolerance.
    note : str
        What else to know.
    reference : float or None
        What ours should be where the paper prints nothing: a closed form, a number of the authors' archived results or
        code, or a value from the literature. It is compared like a printed number, and counted apart.
    """

    row: str
    column: str
    data: str
    paper: float | None
    ours: float | None
    spread: float | None = None
    comparable: bool = False
    tolerance: float | None = None
    reason: str = ""
    note: str = ""
    reference: float | None = None

    def __post_init__(self) -> None:
        if self.paper is not None and self.reference is not None:
            raise TypeError(f"{self.row}, {self.column}: a printed number needs no reference")
        if self.comparable and (self.expected is None or self.tolerance is None or not self.reason):
            raise TypeError(
                f"{self.row}, {self.column}: a comparable cell needs a number of the paper or a reference, and a "
                "reasoned tolerance"
            )

    @property
    def expected(self) -> float | None:
        """The printed number, else the reference."""
        return self.reference if self.paper is None else self.paper

    @property
    def difference(self) -> float | None:
        """Ours minus the expected number."""
        return None if self.expected is None or self.ours is None else self.ours - self.expected

    @property
    def agrees(self) -> bool | None:
        """Whether the two are within the tolerance; None when that cannot be asked."""
        if not self.comparable or self.difference is None or self.tolerance is None:
            return None
        # a difference of exactly the tolerance agrees, whatever the last bit of the subtraction
        return bool(abs(self.difference) <= self.tolerance * (1 + 1e-9) + 1e-15)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """The note, and the reason of the tolerance."""
        reason = f"tolerance: {self.reason}" if self.reason else ""
        return tuple(text for text in (self.note, reason) if text)

    def to_dict(self) -> dict[str, Any]:
        """The cell as plain data; the reason of the tolerance is in the note."""
        return {
            "row": self.row,
            "column": self.column,
            "data": self.data,
            "paper": plain(self.paper),
            "reference": plain(self.reference),
            "ours": plain(self.ours),
            "spread": plain(self.spread),
            "comparable": self.comparable,
            "tolerance": plain(self.tolerance),
            "agrees": self.agrees,
            "note": "; ".join(self.footnotes),
        }


def cell(
    row: str,
    column: str,
    data: str,
    ours: Mean | Floats | float | None,
    paper: float | None = None,
    *,
    limits: Limits | None = None,
    note: str = "",
    reference: float | None = None,
) -> ReproducedCell:
    """A cell from a mean, from one number per trial, from one number, or from None where the data is absent.

    The spread of a mean, or of trials, becomes that of the cell. Without limits, how far the two numbers may be apart
    and why, they are not comparable.
    """
    tolerance, reason = (None, "") if limits is None else (float(limits[0]), limits[1])
    if ours is None or isinstance(ours, int | float):
        value, spread = (None if ours is None else float(ours)), None
    else:
        mean = ours if isinstance(ours, Mean) else Mean.of(ours)
        value, spread = mean.value, mean.spread
    return ReproducedCell(
        row, column, data, paper, value, spread, limits is not None, tolerance, reason, note, reference
    )


def cells(
    trials: Trials,
    row: str | Callable[..., str],
    column: str | Callable[..., str],
    data: str | Callable[..., str],
    *,
    printed: Printed | Callable[..., float | None] | None = None,
    note: str = "",
    printed_note: str = "",
) -> Iterator[ReproducedCell]:
    """One cell per group of trials, in the order of the trials: the mean, its spread, and the printed number.

    Row, column and data are what to call a group: a template over the dimensions, as in ``"{model}"`` or
    ``"{estimator}@{k}"``, or a function of them as keywords. The paper's numbers are by row and column, or a function
    of the dimensions as keywords. `printed_note` is of cells with a printed number, `note` of the others.
    """
    for key in trials:
        names = trials.named(key)
        place = (_name(row, names), _name(column, names))
        paper = printed.get(place) if isinstance(printed, Mapping) else printed and printed(**names)
        yield cell(*place, _name(data, names), trials[key], paper, note=note if paper is None else printed_note)


def absent_cells(printed: Printed, data: str, why: str) -> Iterator[ReproducedCell]:
    """The printed numbers of a data set that is not available, without ours; the note says what to do about it."""
    return (cell(row, column, data, None, paper, note=why) for (row, column), paper in printed.items())


def _name(template: str | Callable[..., str], names: dict[str, Any]) -> str:
    return template.format(**names) if isinstance(template, str) else template(**names)
