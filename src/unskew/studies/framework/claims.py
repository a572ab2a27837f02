"""`Claim`: a sentence of a paper with its verdict; and the rules that give verdicts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from unskew.errors import first_of
from unskew.studies.framework.stats import LEVEL, Gap, clear_signs

SMALL_VERSION = "not judged in the small version; seen: "
MANY = 6
"""Names in a list before the rest is only counted."""
Verdict = tuple[bool | None, str]
"""Whether something holds, None where that cannot be decided, and the numbers that decide."""


@dataclass(frozen=True)
class Claim:
    """A sentence, and whether this run bears it out.

    Parameters
    ----------
    claim : str
    holds : bool or None
        None when it could not be judged.
    evidence : str
        The numbers that decide.
    needs_full : bool
        Whether only the full run may judge it. In the small version such a claim has its evidence alone.
    section : str
        Where the paper says so, as in ``Sec. 4.2``; empty for a sentence of ours, which is counted apart.
    cause : str
        Why a sentence of the paper fails, and the command that shows it; empty where it does not, or nobody knows.
    judged : bool
        Whether there was anything to judge it by; not where the data is absent, nor in the small version.
    """

    claim: str
    holds: bool | None
    evidence: str
    needs_full: bool = False
    section: str = ""
    cause: str = ""
    judged: bool = True

    def __post_init__(self) -> None:
        if self.holds is not None:  # numpy's False is not False
            object.__setattr__(self, "holds", bool(self.holds))

    @property
    def source(self) -> str:
        """Whose sentence it is: of the paper, with the section, or ours."""
        return f"paper, {self.section}" if self.section else "ours"

    @property
    def left_open(self) -> bool:
        """Whether it was judged, and the numbers do not decide."""
        return self.judged and self.holds is None

    def to_dict(self) -> dict[str, Any]:
        """The claim as plain data."""
        plain = {"claim": self.claim, "holds": self.holds, "evidence": self.evidence, "source": self.source}
        more = {"cause": self.cause, "left_open": self.left_open}
        return plain | {name: value for name, value in more.items() if value}


def claim(text: str, verdict: Verdict, *, section: str = "", needs_full: bool = True) -> Claim:
    """A claim from what a rule says about it; by default only the full run may judge it.

    `section` is where the paper says it; a claim without one is ours.
    """
    holds, evidence = verdict
    return Claim(text, holds, evidence, needs_full, section)


def unjudged(texts: Iterable[str], why: str, *, section: str = "") -> tuple[Claim, ...]:
    """Claims about data that is not available."""
    return tuple(Claim(text, None, why, section=section, judged=False) for text in texts)


def in_small_version(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims as a small version has them: those that need the full run keep their evidence alone."""
    return tuple(
        replace(each, holds=None, evidence=f"{SMALL_VERSION}{each.evidence}", judged=False) if each.needs_full else each
        for each in claims
    )


def none_clear(gaps: Mapping[str, Gap], things: str = "mean errors over draws") -> Verdict:
    """Whether no gap is clearly off 0, all tested together by Holm's correction."""
    off = [name for name, sign in clear_signs(gaps).items() if sign]
    worst = max(gaps, key=lambda name: abs(gaps[name].z))
    return not off, (
        f"{len(gaps)} {things}, tested together at {LEVEL:.0%} (Holm); clearly off: {first_of(off, MANY)}; furthest "
        f"{worst} {gaps[worst]}"
    )


def all_above(gaps: Mapping[Any, Gap]) -> bool | None:
    """Whether all gaps are clearly above 0; None where some are not clear and none is clearly below."""
    signs = clear_signs(gaps).values()
    if any(sign < 0 for sign in signs):
        return False
    return True if all(sign > 0 for sign in signs) else None
