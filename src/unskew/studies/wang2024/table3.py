"""Table 3: recall@5 inside a random sample of five methods on two backbones."""

from collections.abc import Iterator

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.completed_movielens import DATA as MOVIELENS
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024 import table3_words as words
from unskew.studies.wang2024.coat import NAMES, YAHOO_R3, JudgedTest, judged_tests
from unskew.studies.wang2024.judged import TRADITIONAL, JudgedWorld, judged_worlds
from unskew.studies.wang2024.printed import KUAIREC, TABLE3, YAHOO
from unskew.studies.wang2024.settings import ENTRIES
from unskew.studies.wang2024.worlds import KUAIREC as SMALL_MATRIX

NEEDS = (MOVIELENS, *NAMES, SMALL_MATRIX)


def run(context: Context) -> Findings:
    """The means over random draws on each world, and the one sample of data that has no more."""
    worlds, tests = judged_worlds(context), judged_tests(context)
    cells = [cell for world in worlds for cell in _world_cells(world)]
    cells += [cell for test in tests for cell in _test_cells(test)]
    return Findings(
        (*cells, *_absent(context)),
        words.soften(context, (*words.world_claims(worlds), *words.test_claims(tests))),
        notes=(*words.method(worlds), *words.sampled_notes(tests), *words.settings_notes(worlds, tests)),
        used=words.used(context),
    )


def _world_cells(world: JudgedWorld) -> Iterator[ReproducedCell]:
    for entry in ENTRIES:
        found = Mean.of(world.rows[entry].draws[TRADITIONAL])
        paper = TABLE3[KUAIREC][entry.backbone, entry.method]
        note = words.beside(world.name)
        yield ReproducedCell(entry.method, entry.backbone, world.name, paper, found.value, found.spread, note=note)


def _test_cells(test: JudgedTest) -> Iterator[ReproducedCell]:
    for entry in ENTRIES:
        terms = test.rows[entry][TRADITIONAL]
        paper = TABLE3[YAHOO][entry.backbone, entry.method]
        note = words.beside(test.name)
        yield ReproducedCell(
            entry.method, entry.backbone, test.name, paper, terms.value, terms.std_error, note=f"{note}; {words.ONE}"
        )


def _absent(context: Context) -> Iterator[ReproducedCell]:
    """The paper's own data sets, where they are not at hand."""
    for name, paper in ((SMALL_MATRIX, KUAIREC), (YAHOO_R3, YAHOO)):
        if context.find(name) is None:
            for entry in ENTRIES:
                printed = TABLE3[paper][entry.backbone, entry.method]
                yield ReproducedCell(entry.method, entry.backbone, name, printed, None, note=context.absence(name))


TABLE = Table("table3", "Recall@5 inside a random sample: five methods, two backbones", run, needs=NEEDS)
