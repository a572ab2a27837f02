"""Table 1: two factorisations that differ in what they optimise, and SVD, by five measures."""

from collections.abc import Iterator, Sequence

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, unjudged
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015.fits import (
    AMONG,
    AUC,
    DIMS,
    MAIN,
    NAMES,
    SHARED,
    SVD,
    Fold,
    available_folds,
    judge,
    label_of,
    names_of,
)
from unskew.studies.lim2015.longer import ends_of, note_longer, train_longer
from unskew.studies.lim2015.printed import COUNTS, METRICS, MODELS, TABLE1
from unskew.studies.lim2015.protocol import LEAST, NEEDS, SETS, absence_of, dense_log, note_of, source_of
from unskew.studies.lim2015.table1_claims import BEATS, BUT_ATOP, NEAR, WORSE, judged, judged_longer
from unskew.studies.lim2015.tuning import FACTORS, GAMMA, GRID, RULES

COLUMNS = (*METRICS, AUC)
RULED = ("candidates", *DIMS)
METHOD = (
    (
        f"Of every user with at least {LEAST} relevant items a tenth is held out for validation and a fifth for the "
        "test, rounded by largest remainders; users with fewer only train. Each fold draws again. Held-out items are "
        "ranked among all items, those of training included, because the paper defines the rank over all other items; "
        "rows with 'unseen items' have the ranks among those that the user has not had in training. Ties are averaged "
        "over exactly. Means are over users, then over folds; spread is the standard deviation over folds, and s.e. "
        "that over the root of their number, as the paper prints it."
    ),
    (
        f"MF-AUC and MF-ADG have {FACTORS} factors, begin in a fold with the same parameters, up to their size, and "
        f"take one million steps; gamma is {GAMMA}. Learning rate, {GRID.full.rates}, penalty, {GRID.full.penalties}, "
        f"and standard deviation of the first factors, {GRID.full.starts}, are chosen on validation among the same "
        f"candidates: those of MF-ADG by {NAMES['adg']} and those of MF-AUC by {NAMES['atop']}, its own aim; "
        f"'{label_of(SHARED)}' has those that are best by the aim of the other. The paper gives neither grid nor rate "
        "nor start, nor what chooses."
    ),
    (
        f"What the paper says of SVD is judged at rank {FACTORS}, the number of factors of the others, because it "
        f"gives no other; '{label_of(SVD)}' has the rank that is best by {NAMES['adg']} on validation."
    ),
    (
        "A difference is paired. Its standard error is the larger of two: that over users, of a user's own differences "
        "averaged over the folds, and that over folds, because the models are trained again in each fold. It counts "
        "beyond two of them, which chance alone exceeds to one side in 2.3 of 100."
    ),
)


def run(context: Context) -> Findings:
    """The blocks of all available data sets."""
    trials = Trials(RULED, "fold, user", {})
    cells: list[ReproducedCell] = []
    claims: list[Claim] = []
    notes: list[str] = list(METHOD)
    for data in SETS:
        folds = available_folds(context, data)
        by_rule = {rule: judge(folds, data, names_of(context), COLUMNS, rule) for rule in RULES if folds}
        cells += [*_sizes(context, data), *_cells(context, data, by_rule.get(MAIN))]
        if not folds:
            why_not = absence_of(context, data)
            claims += unjudged([f"{data}: {text}" for text in (BEATS, BUT_ATOP)], why_not, section="Table 1")
            claims += unjudged([f"{data}: {text}" for text in (WORSE, NEAR)], why_not, section="Sec. 6")
            continue
        notes += _origin(context, data, folds)
        for rule, ruled in by_rule.items():
            trials |= _with_rule(ruled, rule)
            claims += judged(ruled, data, folds[0], rule)
            if rule != MAIN:
                cells += _more_cells(ruled, AMONG[rule])
        why = list(ends_of(context, data))
        longer = train_longer(context, data) if why else None
        if longer is not None:
            notes.append(note_longer(context, data, longer, why))
            for rule in RULES:
                cells += _more_cells(longer.trials[rule], f", {longer.steps:,} steps{AMONG[rule]}")
                claims += judged_longer(by_rule[rule] | longer.trials[rule], data, longer.steps, rule)
    sets = trials.levels("data")
    sources = tuple(form.reader for data in sets if (form := source_of(context, data)) is not None)
    return Findings(tuple(cells), tuple(claims), notes=tuple(notes), used=sources, trials=trials)


def _with_rule(trials: Trials, rule: str) -> Trials:
    return Trials(RULED, trials.unit, {(rule, *key): values for key, values in trials.groups.items()})


def fold_means(values: Floats) -> Mean:
    """The mean over users in each fold, then over folds."""
    return Mean.of([float(mean) for mean in np.nanmean(values, axis=1)])


def _sizes(context: Context, data: str) -> Iterator[ReproducedCell]:
    """Users, items and relevant pairs, after densification."""
    dense = dense_log(context, data)
    ours = (None, None, None) if dense is None else (dense.after.users, dense.after.items, dense.after.rows)
    note = absence_of(context, data) or note_of(data)
    for row, value, paper in zip(("users", "items", "relevant pairs"), ours, COUNTS[SETS[data].paper], strict=True):
        yield ReproducedCell(row, "count", data, paper, value, note=note)


def _cells(context: Context, data: str, trials: Trials | None) -> Iterator[ReproducedCell]:
    """Every model among all items, next to the paper's numbers."""
    why = absence_of(context, data)
    for name in names_of(context):
        printed = TABLE1[SETS[data].paper].get(name, {})
        for metric in COLUMNS:
            mean = None if trials is None else fold_means(trials[data, name, metric])
            paper, error = printed.get(metric, (None, None))
            note = why or ("" if paper is None else note_of(data))
            row, column = label_of(name), NAMES[metric]
            if mean is not None or paper is not None:
                yield cell(row, column, data, mean, paper, note=note)
            if (mean is not None and mean.error is not None) or error is not None:
                yield cell(f"{row}, s.e.", column, data, None if mean is None else mean.error, error, note=note)


def _more_cells(trials: Trials, what: str) -> Iterator[ReproducedCell]:
    """Models after more steps, or among other candidates; the paper has no such numbers."""
    for (data, name, metric), values in trials.groups.items():
        yield cell(f"{label_of(name)}{what}", NAMES[metric], data, fold_means(values))


def _origin(context: Context, data: str, folds: Sequence[Fold]) -> Iterator[str]:
    """How the numbers of a data set came about."""
    dense, form, first = dense_log(context, data), source_of(context, data), folds[0]
    assert dense is not None
    assert form is not None
    relevant = f"rows with {SETS[data].positive}" if form.positive else "all rows, because it has no ratings"
    origin = data if form.reader == data else f"{data}, read from {form.reader}, where that is {form.positive}"
    yield (
        f"{origin}: relevant are {relevant}: {dense.before}. Kept: {dense.rule}: {dense.after}. A fold has "
        f"{len(first.train):,}, {len(first.validation):,}, {len(first.test):,} of them in train, validation and test; "
        f"{np.count_nonzero(first.test.user_counts):,} users have a test item and "
        f"{np.count_nonzero(first.validation.user_counts):,} a validation item; {first.train_only:,} only train."
    )
    for rule in RULES:
        picks = "; ".join(
            f"{label_of(name)} {', '.join(fold.settings[rule][name] for fold in folds)}" for name in (*MODELS, SHARED)
        )
        ranks = ", ".join(fold.settings[rule][SVD] for fold in folds)
        yield (
            f"{data}, {rule} items as candidates: learning rate/penalty/first deviation chosen in the folds: {picks}; "
            f"rank of SVD {ranks}."
        )


TABLE = Table("table1", "MF-ADG, MF-AUC and SVD by ATOP, MAP, NDCG, Recall@10 and ADG", run, needs=NEEDS)
