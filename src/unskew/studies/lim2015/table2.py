"""Table 2: a tenth against a fifth of the same users' items, which some measures feel and others do not."""

from collections.abc import Iterator, Mapping

from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.lim2015 import table2_words as words
from unskew.studies.lim2015.fits import label_of, names_of
from unskew.studies.lim2015.printed import METRICS, TABLE2
from unskew.studies.lim2015.protocol import NEEDS, SETS, absence_of
from unskew.studies.lim2015.sizes import Sizes, compare_sizes
from unskew.studies.lim2015.table1 import NAMES, folds_at_hand
from unskew.studies.lim2015.table1_words import beside

PRINTED = "ml-10m"
"""The data set that the paper prints Table 2 of."""
SHOWN = "mf-adg"
"""The model in the figure."""
COLUMNS = ("test", "valid", "diff %", "expected diff %", "off, s.e.")
Found = Mapping[tuple[str, str], Sizes]
"""By model and metric."""


def run(context: Context) -> Findings:
    """The table of every data set at hand."""
    cells: list[ReproducedCell] = []
    found: dict[str, Found] = {}
    notes = list(words.METHOD)
    for data in SETS:
        folds = folds_at_hand(context, data)
        if folds:
            pairs = [(name, metric) for name in names_of(context) for metric in METRICS]
            found[data] = {(name, metric): compare_sizes(folds, name, metric) for name, metric in pairs}
            notes.append(words.told(data, found[data], folds))
        cells += _cells(context, data, found.get(data))
    figures = (_figure(context, found),) if found else ()
    return Findings(tuple(cells), tuple(words.claims(context, found)), figures, tuple(notes), used=tuple(found))


def _cells(context: Context, data: str, found: Found | None) -> Iterator[ReproducedCell]:
    absent = absence_of(context, data)
    for name in names_of(context):
        for metric in METRICS:
            row = f"{label_of(name)}, {NAMES[metric]}"
            printed = _printed(name, metric) if SETS[data].paper == PRINTED else {}
            ours, spreads = ({}, {}) if found is None else _ours(found[name, metric])
            for column in COLUMNS:
                paper, note = printed.get(column, (None, ""))
                if paper is None and found is None:
                    continue
                told = absent or ("" if paper is None else "; ".join(filter(None, (beside(data), note))))
                mine = ours.get(column)
                yield ReproducedCell(row, column, data, paper, mine, spreads.get(column), note=told)


def _printed(name: str, metric: str) -> dict[str, tuple[float, str]]:
    """The paper's numbers of a row by column, with what to know of them."""
    if name not in TABLE2:
        return {}
    test, validation, percent = TABLE2[name][metric]
    exact = 100 * (validation - test) / test
    note = "worked out from the two numbers beside it" if percent is None else ""
    if percent is not None and abs(percent - exact) > words.ROUNDED:
        note = f"as printed; the two numbers beside it give {exact:.2f}"
    return {"test": (test, ""), "valid": (validation, ""), "diff %": (exact if percent is None else percent, note)}


def _ours(sizes: Sizes) -> tuple[dict[str, float], dict[str, float | None]]:
    test, validation = sizes.mean("test"), sizes.mean("validation")
    values = (test.value, validation.value, sizes.percent, sizes.expected_percent, sizes.surprise.z)
    spreads = (test.spread, validation.spread)
    return dict(zip(COLUMNS, values, strict=True)), dict(zip(COLUMNS, spreads, strict=False))


def _figure(context: Context, found: Mapping[str, Found]) -> Figure:
    """Every measure on validation, on test and on both, in per cent of the last, with what is expected of it."""
    panels = []
    for data, each in found.items():
        fold = folds_at_hand(context, data)[0]
        both = each[SHOWN, "adg"].both
        counts = [float(part.user_counts[both].mean()) for part in (fold.validation, fold.test)]
        x = (round(counts[0], 2), round(counts[1], 2), round(sum(counts), 2))
        lines = [_observed(NAMES[metric], x, each[SHOWN, metric]) for metric in METRICS]
        lines += [_expected(NAMES[metric], x, each[SHOWN, metric]) for metric in words.MOVED]
        panels.append(Panel(data, tuple(lines)))
    return Figure(
        f"What {label_of(SHOWN)} gets on validation, on test and on both, in per cent of what it gets on both",
        "held-out items a user",
        tuple(panels),
        note=(
            "The same users, the same ranks. Grey: what is expected of so many of the items, for the two measures "
            "that move; of the others 100 is. Bands are 1.96 standard errors, paired by user, to both sides."
        ),
    )


def _observed(name: str, x: tuple[float, ...], sizes: Sizes) -> Series:
    whole = sizes.mean("pool").value / 100
    means = [sizes.mean(part).value / whole for part in ("validation", "test")]
    errors = [sizes.error(part) / whole for part in ("validation", "test")]
    return Series.of(name, x, (*means, 100.0), (*errors, 0.0))


def _expected(name: str, x: tuple[float, ...], sizes: Sizes) -> Series:
    whole = sizes.mean("pool").value / 100
    means = [sizes.mean(f"expected_{part}").value / whole for part in ("validation", "test")]
    return Series.of(f"{name}, expected", x, (*means, 100.0), (0.0, 0.0, 0.0), naive=True)


TABLE = Table(
    "table2", "A tenth against a fifth of the same users' items: what moves, and by how much", run, needs=NEEDS
)
