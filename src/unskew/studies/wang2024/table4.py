"""Table 4: recall inside the sample, over all candidates, and as the sample estimates it."""

from collections.abc import Iterator, Sequence

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024 import entrapment
from unskew.studies.wang2024 import table3_words as shared
from unskew.studies.wang2024 import table4_words as words
from unskew.studies.wang2024.coat import YAHOO_R3, JudgedTest, judged_tests
from unskew.studies.wang2024.judged import (
    FORMS,
    POOLED,
    PUBLISHED,
    SMALL,
    TRADITIONAL,
    Judged,
    JudgedWorld,
    judged_worlds,
)
from unskew.studies.wang2024.printed import TABLE4_KUAIREC, TABLE4_YAHOO
from unskew.studies.wang2024.settings import ENTRIES, VARIANTS, Entry
from unskew.studies.wang2024.table3 import NEEDS
from unskew.studies.wang2024.worlds import KUAIREC as SMALL_MATRIX


def run(context: Context) -> Findings:
    """All numbers, their figures, and the claims one by one."""
    worlds, tests = judged_worlds(context), judged_tests(context)
    cells = [cell for world in worlds for cell in _world_cells(world)]
    cells += [cell for test in tests for cell in _test_cells(test)]
    claims = [*words.claims(worlds), *entrapment.claims(worlds), *words.test_claims(tests)]
    return Findings(
        (*cells, *_absent(context)),
        shared.soften(context, claims),
        (*(_figure(world) for world in worlds), *entrapment.figures(worlds)),
        (
            words.COLUMNS,
            entrapment.RULE,
            *shared.method(worlds),
            *shared.sampled_notes(tests),
            *shared.settings_notes(worlds, tests),
        ),
        used=shared.used(context),
    )


def _world_cells(world: JudgedWorld) -> Iterator[ReproducedCell]:
    small, large = world.ks
    note = shared.beside(world.name)
    for entry in (*ENTRIES, *VARIANTS):
        row = world.rows[entry]
        printed = _printed(entry)
        for column, values in _columns(row, small, large).items():
            paper = printed.get(column)
            found = Mean.of(values)
            yield ReproducedCell(
                str(entry), column, world.name, paper, found.value, found.spread, note="" if paper is None else note
            )


def _printed(entry: Entry) -> dict[str, float]:
    """The paper's numbers on KuaiRec by column."""
    if entry.printed is None:
        return {}
    row = TABLE4_KUAIREC[entry.printed]
    return {
        TRADITIONAL: row.traditional,
        "full@5": row.full_5,
        f"{PUBLISHED}@5": row.ure_5,
        f"{PUBLISHED}@500": row.ure_500,
        "full@500": row.full_500,
    }


def _columns(row: Judged, small: int, large: int) -> dict[str, Floats]:
    """One value a draw, or the one there is."""
    found = {TRADITIONAL: row.draws[TRADITIONAL]}
    for k in (small, large):
        found |= {
            f"full@{k}": np.array([row.full(k)]),
            f"{PUBLISHED}@{k}": row.draws[f"{PUBLISHED}@{k}"],
            f"full micro@{k}": np.array([row.full_micro(k)]),
            f"{POOLED}@{k}": row.draws[f"{POOLED}@{k}"],
        }
    return found


def _test_cells(test: JudgedTest) -> Iterator[ReproducedCell]:
    for entry in (*ENTRIES, *VARIANTS):
        printed = {} if entry.printed is None else words.printed_yahoo(TABLE4_YAHOO[entry.printed])
        for column, terms in test.rows[entry].items():
            paper = printed.get(column)
            notes = (shared.ONE,) if paper is None else (shared.beside(test.name), shared.ONE)
            yield ReproducedCell(
                str(entry), column, test.name, paper, terms.value, terms.std_error, note="; ".join(notes)
            )


def _absent(context: Context) -> Iterator[ReproducedCell]:
    """The paper's own data sets, where they are not at hand."""
    for name in (SMALL_MATRIX, YAHOO_R3):
        if context.find(name) is None:
            for entry in ENTRIES:
                own = entry.backbone, entry.method
                printed = _printed(entry) if name == SMALL_MATRIX else words.printed_yahoo(TABLE4_YAHOO[own])
                for column, paper in printed.items():
                    yield ReproducedCell(str(entry), column, name, paper, None, note=context.absence(name))


def _figure(world: JudgedWorld) -> Figure:
    """Full recall beside its estimates."""
    return Figure(
        f"{world.name}: full recall and its estimates from random draws",
        "method",
        tuple(
            Panel(f"{backbone}, recall@{k}", _series([row for row in world.ten if row.entry.backbone == backbone], k))
            for k in world.ks
            for backbone in dict.fromkeys(row.entry.backbone for row in world.ten)
        ),
        note=(
            "At each method from left to right: full recall, URE, full recall over positive pairs ('full micro'), and "
            "pooled URE, which estimates that. Points are means over random draws; intervals hold the middle 95 % of "
            "the draws, and of full recall they are its 95 % interval over users."
        ),
        categories=tuple(dict.fromkeys(row.entry.method for row in world.ten)),
    )


def _series(rows: Sequence[Judged], k: int) -> tuple[Series, ...]:
    places = [float(place) for place in range(len(rows))]
    means = [row.full(k) for row in rows]
    errors = [float(row.users(k).std(ddof=1)) / len(row.users(k)) ** 0.5 for row in rows]
    micro = tuple(row.full_micro(k) for row in rows)
    series = [Series.of("full", places, means, errors, naive=True)]
    for form in FORMS:
        values = [row.draws[f"{form}@{k}"] for row in rows]
        low, high = (tuple(float(np.percentile(each, share)) for each in values) for share in (2.5, 97.5))
        series.append(Series(form, tuple(places), tuple(float(each.mean()) for each in values), low, high))
    return (*series[:2], Series("full micro", tuple(places), micro, micro, micro, naive=True), *series[2:])


TABLE = Table(
    "table4", f"Recall@{SMALL} inside the sample, over all candidates, and as estimated by URE", run, needs=NEEDS
)
