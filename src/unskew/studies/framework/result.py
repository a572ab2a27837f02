"""Results of a study: cells, claims, figures and notes of each table, and the verdict over all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from unskew.data.writing import AsJson
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure
from unskew.studies.framework.trials import Trials

DONE, DISAGREES, NOTHING_RAN = 0, 1, 2


@dataclass(frozen=True)
class Findings:
    """What the function of a table returns: cells, claims, figures, and notes for the page.

    Parameters
    ----------
    cells : tuple of ReproducedCell
    claims : tuple of Claim
    figures : tuple of Figure
    notes : tuple of str
        How the table was computed, in sentences.
    used : tuple of str, optional
        The data sets it was computed from, where not all that are available.
    trials : Trials, optional
        The single numbers that the cells are means of.
    """

    cells: tuple[ReproducedCell, ...] = ()
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    used: tuple[str, ...] | None = None
    trials: Trials | None = None

    @classmethod
    def joined(cls, parts: Iterable["Findings"], *notes: str) -> "Findings":
        """The findings of several data sets as those of one table, with notes that come before theirs."""
        parts = list(parts)
        trials = [part.trials for part in parts if part.trials is not None]
        return cls(
            cells=tuple(each for part in parts for each in part.cells),
            claims=tuple(each for part in parts for each in part.claims),
            figures=tuple(each for part in parts for each in part.figures),
            notes=(*notes, *(each for part in parts for each in part.notes)),
            trials=reduce(or_, trials) if trials else None,
        )


@dataclass(frozen=True)
class Fingerprint:
    """A data set that a table was computed from, and the sha256 of its content."""

    name: str
    sha256: str


@dataclass(frozen=True)
class TableResult(AsJson):
    """A table or figure of a paper, computed again.

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
    of_paper: bool = True  # else its claims are all ours, and decide

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
        """0 when nothing of the paper disagrees, 1 when a printed number or a claim does, 2 when nothing could run."""
        if not any(table.ran for table in self.tables):
            return NOTHING_RAN
        decides = [count for count in self.counts if count.of_paper == self.of_paper]
        return DISAGREES if any(count.good < count.judged for count in decides) else DONE

    @property
    def counts(self) -> tuple["Count", ...]:
        """What was compared and judged: printed numbers and the paper's claims, then references and our claims."""
        return counts_of(self.tables)

    @property
    def verdict(self) -> str:
        """How many printed numbers agree and how many of the paper's claims hold, in a sentence; ours in another."""
        if self.status == NOTHING_RAN:
            return "Nothing could be computed: the data is not here."
        counts = [count for count in self.counts if count.judged or count.left_open]
        first = [count.words for count in counts if count.of_paper == self.of_paper]
        ours = [count.words for count in counts if count.of_paper != self.of_paper]
        sentence = ", and ".join(first) or (
            "nothing of the paper was judged" if ours else "there was nothing to compare"
        )
        sentence = sentence[0].upper() + sentence[1:]
        absent = sum(cell.ours is None for cell in self.cells)
        if absent:
            which = "1 number needs" if absent == 1 else f"{absent} numbers need"
            sentence += f"; {which} data that is not here{', or the full run' if self.fast else ''}"
        return f"{sentence}. Ours: {', and '.join(ours)}." if ours else f"{sentence}."

    def to_dict(self) -> dict[str, Any]:
        """The study as plain data."""
        return {
            "study": self.study,
            "fast": self.fast,
            "seed": self.seed,
            "seconds": round(self.seconds, 1),
            "counts": {count.name: count.to_dict() for count in self.counts},
            "tables": [table.to_dict() for table in self.tables],
        }


@dataclass(frozen=True)
class Count:
    """How many of some numbers were compared and agree, or how many of some claims were judged and hold."""

    name: str
    judged: int
    good: int
    of_paper: bool
    left_open: int = 0  # claims that the numbers do not decide; they are not among those that were judged

    def to_dict(self) -> dict[str, int]:
        """The numbers, without a 0 for what is left open."""
        left = {"left open": self.left_open} if self.left_open else {}
        return {"judged": self.judged, "good": self.good} | left

    @property
    def words(self) -> str:
        """The count in words."""
        one, many, verb = _WORDS[self.name]
        left = f" ({self.left_open} left open)" if self.left_open else ""
        if not self.judged:
            return f"0 {many} could be decided{left}"
        if self.judged == 1:
            return f"the one {one} {verb}s{left}" if self.good else f"the one {one} does not {verb}{left}"
        return f"{self.good} of {self.judged} {many} {verb}{left}"


_WORDS = {
    "printed numbers": ("comparable printed number", "comparable printed numbers", "agree"),
    "claims of the paper": ("claim of the paper", "claims of the paper", "hold"),
    "references": ("reference number", "reference numbers", "agree"),
    "claims of ours": ("claim", "claims", "hold"),
}


def counts_of(tables: Sequence[TableResult]) -> tuple[Count, ...]:
    """The counts of some tables, in the order of `StudyResult.counts`."""
    cells = [cell for table in tables for cell in table.cells if cell.agrees is not None]
    claims = [each for table in tables for each in table.claims if each.judged]
    judged: tuple[list[bool | None], ...] = (
        [cell.agrees for cell in cells if cell.paper is not None],
        [each.holds for each in claims if each.section],
        [cell.agrees for cell in cells if cell.paper is None],
        [each.holds for each in claims if not each.section],
    )
    return tuple(
        Count(name, results.count(True) + results.count(False), results.count(True), k < 2, results.count(None))
        for k, (name, results) in enumerate(zip(_WORDS, judged, strict=True))
    )
