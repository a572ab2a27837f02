"""Table 1: two factorisations that differ in what they optimise, and SVD, by five measures."""

from collections.abc import Iterator, Mapping

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.lim2015 import table1_words as words
from unskew.studies.lim2015.fits import Fold, fold_of, label_of, names_of, user_values
from unskew.studies.lim2015.longer import Longer, told_longer, train_longer
from unskew.studies.lim2015.printed import COUNTS, METRICS, TABLE1
from unskew.studies.lim2015.protocol import NEEDS, SETS, absence_of, dense_log, folds_of
from unskew.studies.lim2015.wider import Wider, told_wider, train_wider

AUC = "auc(of=negatives)"
COLUMNS = (*METRICS, AUC)
NAMES = {"atop": "ATOP", "map": "MAP", "ndcg": "NDCG", "recall@10": "Recall@10", "adg": "ADG", AUC: "AUC"}
FIRST = "of the first fold alone; not in the paper"
Values = Mapping[tuple[str, str], Floats]
"""By model and metric: one number for each fold and user, NaN of users without a test row."""


def run(context: Context) -> Findings:
    """The blocks of all data sets at hand."""
    cells: list[ReproducedCell] = []
    found: dict[str, Values] = {}
    extra: list[ReproducedCell] = []
    notes: list[str] = list(words.METHOD)
    for data in SETS:
        folds = folds_at_hand(context, data)
        if folds:
            found[data] = judge(context, folds)
            notes += words.told(context, data, folds)
            more = train_longer(context, data)
            if more is not None:
                notes.append(told_longer(data, more))
                extra += _longer_cells(data, more)
            if not words.wins(found[data]) and (tuned := train_wider(context, data)) is not None:
                notes += told_wider(data, tuned)
                extra += _wider_cells(data, tuned)
            extra += _literal_cells(context, data, folds[0])
            notes.append(words.told_among_all(data, folds[0], names_of(context)))
        cells += [*_sizes(context, data), *_cells(context, data, found.get(data))]
    claims = words.claims(context, found, {data: folds_at_hand(context, data)[0] for data in found})
    return Findings((*cells, *extra), tuple(claims), notes=tuple(notes), used=tuple(found))


def folds_at_hand(context: Context, data: str) -> list[Fold]:
    """All folds of a data set, trained where they are not yet; none when it is not at hand."""
    folds = (fold_of(context, data, number) for number in range(folds_of(context)))
    return [fold for fold in folds if fold is not None]


def judge(context: Context, folds: list[Fold]) -> dict[tuple[str, str], Floats]:
    """Every metric of every model on the test rows."""
    return {
        (name, metric): np.array([fold.values(name, metric) for fold in folds])
        for name in names_of(context)
        for metric in COLUMNS
    }


def fold_means(values: Floats) -> list[float]:
    """The mean over users in each fold."""
    return [float(mean) for mean in np.nanmean(values, axis=1)]


def _sizes(context: Context, data: str) -> Iterator[ReproducedCell]:
    """Users, items and relevant pairs, after densification."""
    dense = dense_log(context, data)
    printed = COUNTS[SETS[data].paper]
    size = None if dense is None else dense.after
    mine = (None, None, None) if size is None else (size.users, size.items, size.rows)
    note = absence_of(context, data) or (words.STANDS_IN[SETS[data].paper] if SETS[data].stands_in else words.DENSIFIED)
    for row, paper, ours in zip(("users", "items", "relevant pairs"), printed, mine, strict=True):
        yield ReproducedCell(row, "count", data, paper, ours, note=note)


def _cells(context: Context, data: str, values: Values | None) -> Iterator[ReproducedCell]:
    paper, absent = SETS[data].paper, absence_of(context, data)
    for name in names_of(context):
        printed = TABLE1[paper].get(name, {})
        if absent and not printed:
            continue
        for metric in COLUMNS:
            mean = None if values is None else Mean.of(fold_means(values[name, metric]))
            number, error = printed.get(metric, (None, None))
            note = absent or ("" if number is None else words.beside(data))
            row, column = label_of(name), NAMES[metric]
            if mean is not None or number is not None:
                ours, spread = (None, None) if mean is None else (mean.value, mean.spread)
                yield ReproducedCell(row, column, data, number, ours, spread, note=note)
            if (mean is not None and mean.error is not None) or error is not None:
                ours = None if mean is None else mean.error
                yield ReproducedCell(f"{row}, s.e.", column, data, error, ours, note=note)


def _longer_cells(data: str, longer: Longer) -> Iterator[ReproducedCell]:
    """Both models after more steps, of the first fold."""
    for (name, metric), values in longer.values.items():
        yield ReproducedCell(
            f"{label_of(name)}, five million steps", NAMES[metric], data, None, float(np.nanmean(values)), note=FIRST
        )


def _wider_cells(data: str, wider: Wider) -> Iterator[ReproducedCell]:
    """Both models after more tuning."""
    for (name, metric), values in wider.values.items():
        mean = Mean.of(fold_means(values))
        row = f"{label_of(name)}, tuned further"
        yield ReproducedCell(row, NAMES[metric], data, None, mean.value, mean.spread, note="not in the paper")


def _literal_cells(context: Context, data: str, fold: Fold) -> Iterator[ReproducedCell]:
    """All models among all items, as the paper's formulas have it."""
    for name in names_of(context):
        for metric in COLUMNS:
            values = user_values(fold.among_all[name], metric, fold.train.n_users)
            row = f"{label_of(name)}, among all items"
            yield ReproducedCell(row, NAMES[metric], data, None, float(np.nanmean(values)), note=FIRST)


TABLE = Table("table1", "MF-ADG, MF-AUC and SVD by ATOP, MAP, NDCG, Recall@10 and ADG", run, needs=NEEDS)
