"""Table 3: recall@5 inside a random sample of five methods on two backbones.

The paper reads the table as progress: debiasing methods are better than Bias. We ask whether that holds on KuaiRec and
our worlds, and whether the order of the ten models inside the sample is that at a small or at a large K of the full
list.
"""

from collections.abc import Iterator, Mapping, Sequence

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, all_above, claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, tau
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.judge import (
    LEFT_OUT,
    NEEDS,
    ONE,
    PAIRS,
    PUBLISHED,
    TARGETS,
    Average,
    Judged,
    JudgedTest,
    JudgedWorld,
    findings,
    judge_all,
)
from unskew.studies.wang2024.models import ENTRIES, Entry
from unskew.studies.wang2024.printed import BACKBONES, KUAIREC, ROWS, TABLE3, TABLE4, TRADITIONAL, YAHOO
from unskew.studies.wang2024.random_tests import YAHOO_R3


def run(context: Context, judged: Judged | None = None) -> Findings:
    """The means over random draws on each world, and the one sample of each test; by default of all available data."""
    judged = judge_all(context) if judged is None else judged
    return findings(context, judged, TABLE3, _cells(*judged), _claims(*judged))


def _cells(worlds: Sequence[JudgedWorld], tests: Sequence[JudgedTest]) -> Iterator[ReproducedCell]:
    for world in worlds:
        differs = world.log.world.differs
        for entry in ENTRIES:
            place = (entry.method, entry.backbone)
            paper = TABLE3[KUAIREC][place] if differs else None
            yield cell(*place, world.name, world.numbers[entry, TRADITIONAL], paper, note=differs)
    for test in tests:
        for entry in ENTRIES:
            place, terms = (entry.method, entry.backbone), test.terms[entry, TRADITIONAL]
            paper, note = (TABLE3[YAHOO][place], f"{LEFT_OUT}; {ONE}") if test.name == YAHOO_R3 else (None, ONE)
            yield ReproducedCell(*place, test.name, paper, terms.value, terms.std_error, note=note)


def _claims(worlds: Sequence[JudgedWorld], tests: Sequence[JudgedTest]) -> Iterator[Claim]:
    for world in worlds:
        section = world.log.world.section("Table 3")
        drawn = {entry: world.numbers[entry, TRADITIONAL] for entry in ENTRIES}
        yield _better(world.name, drawn, "random draws", section)
        yield from (_nearer(world, mean) for mean in TARGETS.values())
    for test in tests:
        section = "Table 3" if test.name == YAHOO_R3 else ""
        sampled = {entry: test.terms[entry, TRADITIONAL].numerator for entry in ENTRIES}
        yield _better(test.name, sampled, "users", section)


def _better(data: str, recall: Mapping[Entry, Floats], unit: str, section: str) -> Claim:
    gaps = {
        f"{backbone} {method}": Gap.of(recall[Entry(backbone, method)], recall[Entry(backbone, "Bias")])
        for backbone in BACKBONES
        for method in ("AutoDebias", "NegS")
    }
    listed = "; ".join(f"{name} {gap}" for name, gap in gaps.items())
    evidence = f"differences from Bias, paired over {unit}, four tests with Holm's correction: {listed}"
    text = f"{data}: inside the sample AutoDebias and NegS are better than Bias, with both backbones"
    return claim(text, (all_above(gaps), evidence), section=section)


def _nearer(world: JudgedWorld, mean: Average) -> Claim:
    """Whether the sample orders models as a large K does; the paper asks by the mean over users."""
    small, large = world.both_ks
    inside = [float(world.numbers[entry, TRADITIONAL].mean()) for entry in ENTRIES]
    near, far = (tau(inside, [world.full(entry, k, mean) for entry in ENTRIES]) for k in (large, small))
    paper_inside, *paper = (
        [TABLE4[KUAIREC][row, column] for row in ROWS] for column in (TRADITIONAL, "full@500", "full@5")
    )
    paper_near, paper_far = (tau(paper_inside, full) for full in paper)
    evidence = (
        f"Kendall's tau {near:.2f} against {far:.2f}; in the paper's KuaiRec numbers {paper_near:.2f} against "
        f"{paper_far:.2f}"
    )
    published = mean == TARGETS[PUBLISHED]
    text = (
        f"{world.name}: recall@5 inside the sample orders the ten models more like full recall@{large} than like full "
        f"recall@{small}{'' if published else f', {PAIRS}'}"
    )
    return claim(text, (near > far, evidence), section=world.log.world.section("Tables 3 and 4") if published else "")


TABLE = Table("table3", "Recall@5 inside a random sample: five methods, two backbones", run, needs=NEEDS)
