"""Table 1: two factorisations that differ in what they optimise, and SVD, by five measures."""

from collections.abc import Iterator, Sequence

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim, unjudged
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015.fits import (
    AUC,
    CHOICE,
    DIMS,
    FACTORS,
    GAMMA,
    NAMES,
    OWN,
    PENALTIES,
    RATES,
    TWO,
    Fold,
    available_folds,
    gained,
    label_of,
    names_of,
)
from unskew.studies.lim2015.printed import COUNTS, METRICS, MODELS, TABLE1
from unskew.studies.lim2015.protocol import LAST_USER, LEAST, NEEDS, SETS, absence_of, dense_log, note_of
from unskew.studies.lim2015.table1_more import note_longer, note_wider, train_longer, train_wider

COLUMNS = (*METRICS, AUC)
FIRST = "of the first fold alone; not in the paper"
BETTER = tuple(metric for metric in METRICS if metric != "atop")
GAP = 0.001
"""|ATOP - AUC| of the paper, taken as a distance on the scale of the two, which lie between 0 and 1."""
METHOD = (
    (
        f"Of every user with at least {LEAST} relevant items a tenth is held out for validation and a fifth for the "
        "test, rounded by largest remainders; users with fewer only train. Each fold draws again. Held-out "
        "items are ranked among all items that the user has not had in training, ties averaged over exactly; "
        "validation items stay candidates in the test. Means are over users, then over folds; spread is the "
        "standard deviation over folds, and s.e. that over the root of their number, as the paper prints it."
    ),
    (
        f"MF-AUC and MF-ADG have {FACTORS} factors, begin in a fold with the same parameters and take one million "
        f"steps; gamma is {GAMMA}. Learning rate ({', '.join(f'{rate:g}' for rate in RATES.full)}) and penalty "
        f"({', '.join(f'{penalty:g}' for penalty in PENALTIES.full)}) are chosen by {NAMES[CHOICE]} on validation for "
        "both, so that neither is favoured; 'MF-AUC chosen by ATOP' has those that are best by its own aim. The "
        "paper gives neither grid nor rate."
    ),
    (
        "A difference is paired. Its standard error is the larger of two: that over users, of a user's own differences "
        "averaged over the folds, and that over folds, because the models are trained again in each fold. It counts "
        "beyond two of them, which chance alone exceeds to one side in 2.3 of 100."
    ),
)


def run(context: Context) -> Findings:
    """The blocks of all available data sets."""
    trials = Trials(DIMS, "fold, user", {})
    cells: list[ReproducedCell] = []
    extra: list[ReproducedCell] = []
    notes: list[str] = list(METHOD)
    for data in SETS:
        folds = available_folds(context, data)
        if folds:
            trials |= judge(context, data, folds)
            notes += _origin(context, data, folds)
            longer = train_longer(context, data)
            if longer is not None:
                first = Trials(DIMS, trials.unit, {key: trials[key][:1] for key in trials if key[0] == data})
                notes.append(note_longer(data, longer, first))
                extra += _more_cells(longer.trials, "five million steps", FIRST)
            if not wins(trials, data) and (wider := train_wider(context, data)) is not None:
                notes.append(note_wider(data, wider))
                extra += _more_cells(wider.trials, "tuned further", "not in the paper")
            among_all = judge(context, data, folds[:1], "among all")
            extra += _more_cells(among_all, "among all items", FIRST)
            notes.append(_note_among_all(data, among_all))
        cells += [*_sizes(context, data), *_cells(context, data, trials)]
    return Findings(
        (*cells, *extra), tuple(claims(context, trials)), notes=tuple(notes), used=trials.levels("data"), trials=trials
    )


def judge(context: Context, data: str, folds: Sequence[Fold], part: str = "test") -> Trials:
    """Every metric of every model on the test rows: one number per fold and user, NaN of users without a test row."""
    groups = {
        (data, name, metric): np.array([fold.values(name, metric, part) for fold in folds])
        for name in names_of(context)
        for metric in COLUMNS
    }
    return Trials(DIMS, "fold, user", groups)


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


def _cells(context: Context, data: str, trials: Trials) -> Iterator[ReproducedCell]:
    absent = absence_of(context, data)
    for name in names_of(context):
        printed = TABLE1[SETS[data].paper].get(name, {})
        for metric in COLUMNS:
            values = trials.get(data, name, metric)
            mean = None if values is None else fold_means(values)
            paper, error = printed.get(metric, (None, None))
            note = absent or ("" if paper is None else note_of(data))
            row, column = label_of(name), NAMES[metric]
            if mean is not None or paper is not None:
                yield cell(row, column, data, mean, paper, note=note)
            if (mean is not None and mean.error is not None) or error is not None:
                yield cell(f"{row}, s.e.", column, data, None if mean is None else mean.error, error, note=note)


def _more_cells(trials: Trials, what: str, note: str) -> Iterator[ReproducedCell]:
    """Models after more steps or more tuning, or among all items."""
    for (data, name, metric), values in trials.groups.items():
        yield cell(f"{label_of(name)}, {what}", NAMES[metric], data, fold_means(values), note=note)


def claims(context: Context, trials: Trials) -> Iterator[Claim]:
    """The paper's claims for each data set, then over all of them."""
    for data in SETS:
        absent = absence_of(context, data)
        if absent:
            yield from unjudged([f"{data}: MF-ADG is above MF-AUC by all but ATOP, and SVD is worse"], absent)
        else:
            yield from judged(trials, data, available_folds(context, data)[0])
    if len(trials):
        yield from overall(trials)


def judged(trials: Trials, data: str, fold: Fold) -> Iterator[Claim]:
    """The claims about one data set; the fold has the numbers of test items and candidates per user."""
    for metric in BETTER:
        gain = gained(trials, data, metric)
        text = f"{data}: MF-ADG is above MF-AUC by {NAMES[metric]}"
        yield claim(text, (gain.z > TWO, _evidence(gain, trials, data, metric)))
    gain = gained(trials, data, "atop")
    aim = f"against {label_of(OWN)} {gained(trials, data, 'atop', OWN).plus_minus}"
    evidence = f"{_evidence(gain, trials, data, 'atop')}; {aim}"
    yield claim(f"{data}: MF-ADG is not above MF-AUC by ATOP", (not gain.z > TWO, evidence))
    margins = {name: gained(trials, data, "adg", name) for name in _svds(trials)}
    least = min((gained(trials, data, "adg", name, "mf-auc") for name in margins), key=lambda margin: margin.mean)
    shown = ", ".join(f"{label_of(name)} {margin.plus_minus}" for name, margin in margins.items())
    yield claim(
        f"{data}: SVD is worse than MF-ADG at every rank, by ADG",
        (
            all(margin.z > TWO for margin in margins.values()),
            f"MF-ADG less {shown}; MF-AUC's least margin {least.plus_minus}",
        ),
    )
    yield from gap_claims(trials, data, fold)


def gap_claims(trials: Trials, data: str, fold: Fold) -> Iterator[Claim]:
    """|ATOP - AUC| as the paper defines it, and by (k - 1)(ATOP - 1/2)/(n - k) of each user."""
    k, n = fold.test.user_counts.astype(float), fold.train.n_items - fold.train.user_counts.astype(float)
    gaps, errors = {}, []
    for name in MODELS:
        atop, auc = trials[data, name, "atop"], trials[data, name, AUC]
        gaps[name] = abs(fold_means(auc - atop).value)
        with np.errstate(invalid="ignore"):
            predicted = (k - 1) * (atop - 0.5) / (n - k)
        errors.append(float(np.nanmax(np.abs(auc - atop - predicted))))
    size = f"{k[k > 0].mean():.1f} test items per user among {n[k > 0].mean():,.0f} candidates"
    shown = ", ".join(f"{label_of(name)} {100 * gap:.3f} %" for name, gap in gaps.items())
    yield claim(
        f"{data}: ATOP and AUC differ by less than 0.1 %",
        (
            max(gaps.values()) < GAP,
            f"{shown}; it is about (k - 1)(ATOP - 1/2)/(n - k), with {size}, so it is a matter of their numbers",
        ),
    )
    yield claim(
        f"{data}: ATOP and AUC differ by what the number of held-out items and of candidates says",
        (max(errors) < 1e-9, f"no user is further off than {max(errors):.1e}"),
    )


def overall(trials: Trials) -> Iterator[Claim]:
    """The claims over all available data sets."""
    sets = trials.levels("data")
    gains = {(data, metric): gained(trials, data, metric) for data in sets for metric in BETTER}
    missed = [
        f"{data} by {NAMES[metric]} ({gain.plus_minus})" for (data, metric), gain in gains.items() if not gain.z > TWO
    ]
    ahead = f"in {len(gains) - len(missed)} of {len(gains)} beyond two standard errors"
    yield claim(
        "On every available data set MF-ADG is above MF-AUC by MAP, NDCG, Recall@10 and ADG",
        (not missed, f"{ahead}; not on {', '.join(missed)}" if missed else ahead),
    )
    atop = {data: gained(trials, data, "atop") for data in sets}
    above = [f"{data} ({gain.plus_minus})" for data, gain in atop.items() if gain.z > TWO]
    all_gains = "; ".join(f"{data} {gain.plus_minus}" for data, gain in atop.items())
    yield claim(
        "On no available data set is MF-ADG above MF-AUC by ATOP",
        (not above, f"above on {', '.join(above)}" if above else all_gains),
    )
    lost = [
        f"{label_of(name)} on {data}"
        for data in sets
        for name in _svds(trials)
        if not gained(trials, data, "adg", name).z > TWO
    ]
    yield claim(
        "On every available data set SVD is worse than MF-ADG at every rank, by ADG",
        (not lost, f"not beyond two standard errors: {', '.join(lost)}" if lost else "at all ranks"),
    )


def wins(trials: Trials, data: str) -> bool:
    """Whether MF-ADG is beyond chance above MF-AUC by all that the paper says."""
    return all(gained(trials, data, metric).z > TWO for metric in BETTER)


def _svds(trials: Trials) -> list[str]:
    return [name for name in trials.levels("model") if name.startswith("svd")]


def _evidence(gain: Gap, trials: Trials, data: str, metric: str) -> str:
    auc, adg = (trials[data, name, metric] for name in MODELS)
    folds = np.nanmean(adg - auc, axis=1)
    return (
        f"{fold_means(auc).value:.4f} to {fold_means(adg).value:.4f}, difference {gain.plus_minus}, {gain.z:+.1f} "
        f"s.e.; above in {int(np.sum(folds > 0))} of {len(folds)} folds"
    )


def _origin(context: Context, data: str, folds: Sequence[Fold]) -> Iterator[str]:
    """How the numbers of a data set came about."""
    dense = dense_log(context, data)
    assert dense is not None
    first = folds[0]
    part = f", users 1 to {LAST_USER}, even where there are more" if data == "ml-1m" else ""
    relevant = f"rows with {SETS[data].positive}" if SETS[data].positive else "all rows, because it has no ratings"
    yield (
        f"{data}{part}: relevant are {relevant}: {dense.before}. Kept: {dense.rule}: {dense.after}. A fold has "
        f"{len(first.train):,}, {len(first.validation):,}, {len(first.test):,} of them in train, validation and test; "
        f"{np.count_nonzero(first.test.user_counts):,} users have a test item and "
        f"{np.count_nonzero(first.validation.user_counts):,} a validation item; {first.train_only:,} only train."
    )
    picks = "; ".join(f"{label_of(name)} {', '.join(fold.settings[name] for fold in folds)}" for name in (*MODELS, OWN))
    yield f"{data}: learning rate/penalty chosen in the folds: {picks}."


def _note_among_all(data: str, trials: Trials) -> str:
    """The claims once more, with the items of training among the candidates."""
    gains = ", ".join(f"{metric} {gained(trials, data, metric).plus_minus}" for metric in METRICS)
    margins = ", ".join(f"{label_of(name)} {gained(trials, data, 'adg', name).plus_minus}" for name in _svds(trials))
    return (
        f"{data}, first fold, ranked among all items, those that the user had in training included, as the paper's "
        f"formulas define it: MF-ADG less MF-AUC: {gains}. MF-ADG less SVD, by adg: {margins}."
    )


TABLE = Table("table1", "MF-ADG, MF-AUC and SVD by ATOP, MAP, NDCG, Recall@10 and ADG", run, needs=NEEDS)
