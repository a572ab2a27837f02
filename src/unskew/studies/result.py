"""What a study found: a paper's numbers beside ours, its claims, and its figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unskew.data.writing import AsJson
from unskew.studies.figure import Figure, plain

DONE, DISAGREES, NOTHING_RAN = 0, 1, 2


@dataclass(frozen=True)
class ReproducedCell:
    """A number of the paper, and the same number computed in this run.

    Parameters
    ----------
    row, column : str
        Where it stands in the paper's table.
    data : str
        The data set that ours comes from.
    paper : float or None
        As printed; None for a number that the paper does not give.
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

    def __post_init__(self) -> None:
        if self.comparable and (self.paper is None or self.tolerance is None or not self.reason):
            raise TypeError(
                f"{self.row}, {self.column}: a comparable cell needs a paper's number and a reasoned tolerance"
            )

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None or self.ours is None else self.ours - self.paper

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
            "ours": plain(self.ours),
            "spread": plain(self.spread),
            "comparable": self.comparable,
            "tolerance": plain(self.tolerance),
            "agrees": self.agrees,
            "note": "; ".join(self.footnotes),
        }


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether this run bears it out.

    Parameters
    ----------
    claim : str
    holds : bool or None
        None when it could not be judged.
    evidence : str
        The numbers that decide.
    """

    claim: str
    holds: bool | None
    evidence: str

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain data."""
        holds = None if self.holds is None else bool(self.holds)  # numpy has a truth of its own
        return {"claim": self.claim, "holds": holds, "evidence": self.evidence}


@dataclass(frozen=True)
class Findings:
    """What the function of a table gives back: cells, claims and figures; notes are told on the page.

    Parameters
    ----------
    cells : tuple of ReproducedCell
    claims : tuple of Claim
    figures : tuple of Figure
    notes : tuple of str
        How the table was computed, in sentences.
    used : tuple of str, optional
        The data sets it was computed from, where not all that are at hand.
    """

    cells: tuple[ReproducedCell, ...] = ()
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    used: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Fingerprint:
    """A data set that a table was computed from, and the sha256 of its content."""

    name: str
    sha256: str


@dataclass(frozen=True)
class TableResult(AsJson):
    """A table or figure of a paper, computed anew.

    Parameters
    ----------
    study, table, title : str
    fast : bool
        Whether this was the small version.
    seed : int
    seconds : float
    data : tuple of Fingerprint
    findings : Findings
    """

    study: str
    table: str
    title: str
    fast: bool
    seed: int
    seconds: float
    data: tuple[Fingerprint, ...]
    findings: Findings

    @property
    def cells(self) -> tuple[ReproducedCell, ...]:
        """The numbers."""
        return self.findings.cells

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The sentences."""
        return self.findings.claims

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The pictures."""
        return self.findings.figures

    @property
    def ran(self) -> bool:
        """Whether anything of it could be computed."""
        some = any(cell.ours is not None for cell in self.cells)
        return some or any(claim.holds is not None for claim in self.claims) or bool(self.figures)

    @property
    def footnotes(self) -> tuple[str, ...]:
        """What the notes of the cells and the reasons of their tolerances say, each once."""
        return tuple(dict.fromkeys(note for cell in self.cells for note in cell.footnotes))

    def marks(self, cell: ReproducedCell) -> tuple[int, ...]:
        """Which of the footnotes belong to a cell, counted from 1."""
        return tuple(1 + self.footnotes.index(note) for note in cell.footnotes)

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        return {
            "study": self.study,
            "table": self.table,
            "fast": self.fast,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "data": [{"name": part.name, "sha256": part.sha256} for part in self.data],
            "cells": [cell.to_dict() for cell in self.cells],
            "claims": [claim.to_dict() for claim in self.claims],
            "figures": [figure.to_dict() for figure in self.figures],
            "notes": list(self.findings.notes),
        }


@dataclass(frozen=True)
class StudyResult(AsJson):
    """A study, or those of its tables that were asked for."""

    study: str
    title: str
    reference: str
    fast: bool
    seed: int
    tables: tuple[TableResult, ...]

    @property
    def seconds(self) -> float:
        """Time that the tables took together."""
        return sum(table.seconds for table in self.tables)

    @property
    def cells(self) -> tuple[ReproducedCell, ...]:
        """The numbers of all tables."""
        return tuple(cell for table in self.tables for cell in table.cells)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The sentences of all tables."""
        return tuple(claim for table in self.tables for claim in table.claims)

    @property
    def status(self) -> int:
        """0 when nothing disagrees, 1 when a comparable cell or a claim fails, 2 when nothing could run."""
        if not any(table.ran for table in self.tables):
            return NOTHING_RAN
        fails = any(cell.agrees is False for cell in self.cells) or any(claim.holds is False for claim in self.claims)
        return DISAGREES if fails else DONE

    @property
    def verdict(self) -> str:
        """How many numbers agree and how many claims hold, in a sentence."""
        if self.status == NOTHING_RAN:
            return "Nothing could be computed: the data is not here."
        parts = [
            _counted("comparable number", "agree", "agrees", [cell.agrees for cell in self.cells]),
            _counted("claim", "hold", "holds", [claim.holds for claim in self.claims]),
        ]
        told = ", and ".join(part for part in parts if part) or "there was nothing to compare"
        told = told[0].upper() + told[1:]
        absent = sum(cell.ours is None for cell in self.cells)
        if not absent:
            return f"{told}."
        which = "1 number needs" if absent == 1 else f"{absent} numbers need"
        return f"{told}; {which} data that is not here{', or the full run' if self.fast else ''}."

    def to_dict(self) -> dict[str, Any]:
        """The study as plain data."""
        return {
            "study": self.study,
            "fast": self.fast,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "tables": [table.to_dict() for table in self.tables],
        }


def _counted(thing: str, many: str, one: str, judged: Sequence[bool | None]) -> str:
    known = [bool(good) for good in judged if good is not None]
    if not known:
        return ""
    if len(known) == 1:
        return f"the one {thing} {one if known[0] else f'does not {many}'}"
    return f"{sum(known)} of {len(known)} {thing}s {many}"
