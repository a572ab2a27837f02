"""A made study for the tests of the framework, its page and its command."""

from unskew.studies import Claim, Context, Figure, Findings, Panel, ReproducedCell, Series, Study, Table
from unskew.studies.framework.claims import unjudged

EVIL = "<script>alert(1)</script>"


def cell(ours: float | None = 1.0, **changed) -> ReproducedCell:
    settings = {"paper": 1.0, "comparable": True, "tolerance": 0.1, "reason": "rounding"} | changed
    return ReproducedCell("a", "x", "made", ours=ours, **settings)


def figure(title: str = "A figure", **axes) -> Figure:
    lines = (
        Series.of("plain", [1, 2, 4], [3, 2, 1], [0.1, 0.1, 2.0], naive=True),
        Series.of("better", [1, 2, 4], [1.5, 1, 0.5], [0.1, 0.1, 0.1]),
    )
    return Figure(title, "x", (Panel("left", lines), Panel("right", lines)), **axes)


def study(*findings: Findings, name: str = "made") -> Study:
    """Each of the findings is a table: t1, t2 and so on."""
    tables = tuple(Table(f"t{k}", f"Table {k}", lambda _, found=found: found) for k, found in enumerate(findings, 1))
    return Study(name, "A made paper", "N. N. (2000). A made paper", tables)


def result(*findings: Findings):
    return study(*findings).run(Context())


GOOD = Findings((cell(),), (Claim("It holds", True, "seen", section="Sec. 2"),), (figure(),), ("How it was done.",))
BAD_CELL = Findings((cell(2.0),))
BAD_CLAIM = Findings((cell(),), (Claim("It holds", False, "not seen", section="Sec. 2"),))
OURS = Findings(
    (cell(2.0, paper=None, reference=1.0),), (Claim("It does", True, "seen"), Claim("It does not", False, "not seen"))
)
ABSENT = Findings((cell(None, note="get it elsewhere"),), unjudged(["It holds"], "no data", section="Sec. 2"))
EVIL_FINDINGS = Findings(
    (ReproducedCell(EVIL, EVIL, EVIL, None, 1.0, note=EVIL),),
    (Claim(EVIL, True, EVIL),),
    (Figure(EVIL, EVIL, (Panel(EVIL, (Series.of(EVIL, [1, 2], [1, 2], [0, 0]),)),), note=EVIL),),
    (EVIL,),
)
