"""`Cause`: why a sentence of a paper fails here, or a printed number is another one, as an experiment showed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unskew.studies.framework.result import Findings


@dataclass(frozen=True)
class Cause:
    """Why something of a paper does not come out, and the command that shows it.

    Parameters
    ----------
    table : str
        The table of the study.
    of : str
        A part of the claim, or of ``row, column, data`` of a cell; all that contain it have this cause.
    why : str
        The cause, in a sentence.
    command : str
        What to run to see it.
    """

    table: str
    of: str
    why: str
    command: str

    def __str__(self) -> str:
        return f"{self.why} ({self.command})"


def with_causes(findings: Findings, causes: Sequence[Cause]) -> Findings:
    """The findings of a table, with causes for what fails or disagrees.

    These are claims of the paper that fail and printed numbers that disagree; the first cause that fits is taken.
    """

    def cause_of(text: str) -> str:
        return next((str(cause) for cause in causes if cause.of in text), "")

    claims = tuple(
        replace(each, cause=cause_of(each.claim)) if each.holds is False and each.section else each
        for each in findings.claims
    )
    cells = tuple(
        replace(each, note="; ".join(filter(None, (each.note, f"cause: {why}"))))
        if each.agrees is False
        and each.paper is not None
        and (why := cause_of(f"{each.row}, {each.column}, {each.data}"))
        else each
        for each in findings.cells
    )
    return replace(findings, claims=claims, cells=cells)
