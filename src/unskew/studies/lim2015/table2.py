"""Table 2: a tenth against a fifth of the same users' items, which moves some measures and not others.

A user has v validation and t test items. Which of the v + t are which was decided by lot, after the model and so the
ranks were fixed by what is left to train on. So what is expected of either part follows exactly from the pool of both
(Lim et al. 2015, theorems 1 and 2; for average precision by the same argument).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.metrics.exact.size_shift import expected_move
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim, unjudged
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import LEVEL, Gap, Mean, bonferroni
from unskew.studies.framework.study import Context, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015.fits import (
    AMONG,
    MAIN,
    NAMES,
    SECOND,
    SHARED,
    SVD,
    TWO,
    Fold,
    available_folds,
    label_of,
    names_of,
)
from unskew.studies.lim2015.printed import METRICS, MODELS, TABLE2
from unskew.studies.lim2015.protocol import NEEDS, SETS, absence_of, note_of, source_of
from unskew.studies.lim2015.tuning import RULES

PRINTED = "ml-10m"
"""The data set that the paper prints Table 2 of."""
SHOWN = "mf-adg"
"""The model in the figure."""
COLUMNS = ("test", "valid", "diff %", "expected diff %", "off, s.e.")
UNBIASED, MOVED = ("atop", "adg", "recall@10"), ("map", "ndcg")
ROUNDED = 0.02
"""How far a percentage may be from what its two rounded numbers give."""
WITHIN, BEYOND = 0.5, 20.0
"""Table 2 in per cent: the largest difference of the three that agree is 0.49, the least drop of the two is 20.42."""
DIMS = ("candidates", "data", "model", "metric", "part")
PARTS = ("test", "validation", "expected test", "expected validation", "pool")

METHOD = (
    (
        "Over the users who have both validation and test items. 'valid' and 'test' are means over users, then over "
        "folds; 'diff %' is valid less test in per cent of test; 'expected diff %' is what it is on average when "
        "each user's held-out items are dealt into two parts of these sizes by lot, exactly, from the ranks of all; "
        "'off, s.e.' is how far the two differences are apart, in standard errors that are paired by user. Ranks are "
        "among all items; of MF-AUC and MF-ADG also among unseen ones."
    ),
    (
        "Within a fold the model and the ranks are fixed before the lot decides which held-out item is for "
        "validation. So the differences, less what is expected, have mean 0 for each user, and are independent "
        "between users and folds. A user's are averaged over folds and users are the units. The one exception is "
        "that the settings of the models were chosen by validation, which lifts it by a little; SVD of a given rank "
        "had nothing to choose."
    ),
    (
        f"The paper prints Table 2 for MovieLens alone, so its numbers, within {WITHIN} % and beyond {BEYOND:g} %, are "
        "asked of MovieLens alone. Chance moves a difference that is 0 on average, so one that is beyond the bound by "
        "less than two of its standard errors leaves the claim open. How much MAP and NDCG fall depends on how many "
        "items the parts have. So our own claims are about what the theorems say, that a difference is what is "
        "expected of it, for all models together: none may be further off than the largest of them is with a chance "
        f"of {100 * LEVEL:.0f} %, by Bonferroni."
    ),
)
AGREE = f"ATOP, ADG and Recall@10 of MF-AUC and MF-ADG differ by at most {WITHIN} % between validation and test"
FALL = f"MAP and NDCG of MF-AUC and MF-ADG fall by more than {BEYOND:g} % from test to validation"
UNMOVED = "ATOP, ADG and Recall@10 agree between validation and test up to chance, all models together"
EXPECTED = "MAP and NDCG fall by what the sizes of the parts say up to chance, all models together"


class Sizes:
    """A measure of a model on validation and on test, as observed and as expected from the sizes alone.

    Each of `PARTS` is an array (folds, users): NaN of users without a row in the part; what is expected is NaN but for
    users with both.
    """

    def __init__(self, parts: Mapping[str, Floats]) -> None:
        self.parts = parts

    @cached_property
    def both(self) -> Bools:
        """Users who have validation and test items, which the folds do not change."""
        missing = np.isnan(self.parts["test"]).any(axis=0) | np.isnan(self.parts["validation"]).any(axis=0)
        return np.asarray(~missing)

    def mean(self, part: str) -> Mean:
        """The mean over users with both, in each fold and over folds."""
        return Mean.of([float(mean) for mean in self.parts[part][:, self.both].mean(axis=1)])

    def gap(self, part: str, other: str) -> Gap:
        """One part less another."""
        return Gap.by_user(self.parts[part] - self.parts[other])

    @property
    def drop(self) -> Gap:
        """Validation less test."""
        return self.gap("validation", "test")

    @property
    def surprise(self) -> Gap:
        """Validation less test, less what is expected of that."""
        expected = self.parts["expected validation"] - self.parts["expected test"]
        return Gap.by_user(self.parts["validation"] - self.parts["test"] - expected)

    @property
    def percent(self) -> float:
        """Validation less test in per cent of test, as the paper defines it, of users with both."""
        return _percent(self.mean("test").value, self.mean("validation").value)

    @property
    def percent_error(self) -> float:
        """The standard error of the difference, in per cent of test."""
        return 100 * self.drop.error / self.mean("test").value

    @property
    def expected_percent(self) -> float:
        """What is expected of that."""
        return _percent(self.mean("expected test").value, self.mean("expected validation").value)

    @property
    def literal_percent(self) -> float:
        """The same over all users of either part, who need not be the same."""
        means = [float(np.nanmean(np.nanmean(self.parts[part], axis=1))) for part in ("test", "validation")]
        return _percent(*means)

    @property
    def columns(self) -> dict[str, Mean | float]:
        """The numbers of a row of the table."""
        values = (self.mean("test"), self.mean("validation"), self.percent, self.expected_percent, self.surprise.z)
        return dict(zip(COLUMNS, values, strict=True))


Table2 = Mapping[tuple[str, str], Sizes]
"""By model and metric, of one data set."""


def run(context: Context) -> Findings:
    """The table of every available data set."""
    trials = Trials(DIMS, "fold, user", {})
    cells: list[ReproducedCell] = []
    claims: list[Claim] = []
    notes = list(METHOD)
    shown: dict[str, Table2] = {}
    for data in SETS:
        folds = available_folds(context, data)
        tables = {rule: _compare_all(context, folds, rule) for rule in RULES if folds}
        cells += _cells(context, data, tables.get(MAIN))
        if not folds:
            claims += unjudged(
                [f"{data}: {text}" for text in _asked(data)], absence_of(context, data), section="Table 2"
            )
            continue
        cells += _more_cells(data, tables[SECOND])
        for rule, table in tables.items():
            groups = {(rule, data, *key, part): each.parts[part] for key, each in table.items() for part in PARTS}
            trials |= Trials(DIMS, "fold, user", groups)
            claims += judged(data, table, rule)
        shown[data] = tables[MAIN]
        notes.append(_note(data, tables[MAIN], folds))
    figures = (_figure(context, shown),) if shown else ()
    sources = tuple(form.reader for data in shown if (form := source_of(context, data)) is not None)
    return Findings(tuple(cells), tuple(claims), figures, tuple(notes), sources, trials)


def models_of(context: Context) -> tuple[str, ...]:
    """The models, each once: without those of the first table that are another choice among the same."""
    return tuple(name for name in names_of(context) if name not in {SHARED, SVD})


def _compare_all(context: Context, folds: Sequence[Fold], rule: str) -> Table2:
    """All models among all items; the two of the paper among unseen ones."""
    names = models_of(context) if rule == MAIN else MODELS
    return {(name, metric): compare_sizes(folds, name, metric, rule) for name in names for metric in METRICS}


def compare_sizes(folds: Sequence[Fold], model: str, metric: str, rule: str = MAIN) -> Sizes:
    """A measure of a model on both parts, in all folds."""
    parts = {
        part: np.array([fold.values(model, metric, part, rule) for fold in folds])
        for part in ("test", "validation", "pool")
    }
    expected = {
        f"expected {part}": np.array([_expected(fold, model, metric, part, rule) for fold in folds])
        for part in ("test", "validation")
    }
    return Sizes({**parts, **expected})


def _expected(fold: Fold, model: str, metric: str, part: str, rule: str) -> Floats:
    """What is expected of a part of its size, dealt by lot from the pool; NaN but for users with both parts."""
    pool = fold.part(model, "pool", rule)
    counts = {"test": fold.test.user_counts, "validation": fold.validation.user_counts}
    users = np.unique(pool.users)
    both = np.minimum(counts["test"], counts["validation"])[users] > 0
    values = np.full(fold.train.n_users, np.nan)
    # a user with one part only has nothing to compare; 1 is a size that is always possible
    sizes = np.where(both, counts[part][users], 1)
    values[users] = np.where(both, expected_move(metric, pool, sizes=sizes).per_user_after, np.nan)
    return values


def _percent(test: float, validation: float) -> float:
    return 100 * (validation - test) / test if test else float("nan")


def _cells(context: Context, data: str, table: Table2 | None) -> Iterator[ReproducedCell]:
    absent = absence_of(context, data)
    for name in models_of(context):
        for metric in METRICS:
            printed = _printed(name, metric) if SETS[data].paper == PRINTED else {}
            ours = {} if table is None else table[name, metric].columns
            for column in COLUMNS:
                paper, note = printed.get(column, (None, ""))
                if paper is not None or table is not None:
                    about = absent or ("" if paper is None else "; ".join(filter(None, (note_of(data), note))))
                    row = f"{label_of(name)}, {NAMES[metric]}"
                    yield cell(row, column, data, ours.get(column), paper, note=about)


def _more_cells(data: str, table: Table2) -> Iterator[ReproducedCell]:
    """The paper's models among unseen items; the paper has no such numbers."""
    for (name, metric), sizes in table.items():
        for column, value in sizes.columns.items():
            yield cell(f"{label_of(name)}{AMONG[SECOND]}, {NAMES[metric]}", column, data, value)


def _printed(name: str, metric: str) -> dict[str, tuple[float, str]]:
    """The paper's numbers of a row by column, with what to know of them."""
    if name not in TABLE2:
        return {}
    test, validation, percent = TABLE2[name][metric]
    printed = {"test": (test, ""), "valid": (validation, "")}
    if percent is not None:
        exact = 100 * (validation - test) / test
        off = abs(percent - exact) > ROUNDED
        printed["diff %"] = (percent, f"as printed; the two numbers next to it give {exact:.2f}" if off else "")
    return printed


def _asked(data: str) -> tuple[str, ...]:
    """What the paper says of a data set: it prints Table 2 for MovieLens alone."""
    return (AGREE, FALL) if SETS[data].paper == PRINTED else ()


def judged(data: str, table: Table2, rule: str = MAIN) -> Iterator[Claim]:
    """The claims about one data set: of the measures that should not move, and of those that should.

    The paper's are about ranks among all items, and of MovieLens; the others are ours.
    """
    section = "Table 2" if rule == MAIN else ""
    for text in _asked(data):
        verdict = _agree(table) if text == AGREE else _fall(table)
        yield claim(f"{data}{AMONG[rule]}: {text}", verdict, section=section)
    names = list(dict.fromkeys(name for name, _ in table))
    still = {(name, metric): table[name, metric].drop.z for name in names for metric in UNBIASED}
    yield claim(f"{data}{AMONG[rule]}: {UNMOVED}", _within(still, names))
    off = {(name, metric): table[name, metric].surprise.z for name in names for metric in MOVED}
    yield claim(f"{data}{AMONG[rule]}: {EXPECTED}", _within(off, names))


def _agree(table: Table2) -> Verdict:
    """Whether each of the three differs by no more than in print, for both of the paper's models."""
    sizes = {(name, metric): table[name, metric] for name in MODELS for metric in UNBIASED}
    return _bounded({key: abs(each.percent) - WITHIN for key, each in sizes.items()}, sizes)


def _fall(table: Table2) -> Verdict:
    """Whether both fall by more than in print, for both of the paper's models."""
    sizes = {(name, metric): table[name, metric] for name in MODELS for metric in MOVED}
    return _bounded({key: each.percent + BEYOND for key, each in sizes.items()}, sizes)


def _bounded(excess: Mapping[tuple[str, str], float], sizes: Table2) -> Verdict:
    """Whether none exceeds its bound; None where one does, but none by more than two standard errors."""
    shown = ", ".join(
        f"{_named(key)} {each.percent:+.2f} % (s.e. {each.percent_error:.2f}; by size {each.expected_percent:+.2f})"
        for key, each in sizes.items()
    )
    off = [key for key, by in excess.items() if not by <= 0]
    clear = [key for key in off if excess[key] > TWO * sizes[key].percent_error]
    if off and not clear:
        return None, f"{shown}; beyond the bound, but not by two standard errors: {', '.join(map(_named, off))}"
    return not off, f"{shown}; clearly beyond the bound: {', '.join(map(_named, clear))}" if clear else shown


def _within(z: Mapping[tuple[str, str], float], names: Sequence[str]) -> Verdict:
    """Whether none is further from 0 than chance allows, and how many are within two standard errors."""
    if not np.isfinite(list(z.values())).all():
        return None, "undefined for some model"
    bound = bonferroni(len(z))
    worst = max(z, key=lambda key: abs(z[key]))
    close = sum(abs(z[key]) <= TWO for key in z)
    return abs(z[worst]) <= bound, (
        f"of {len(names)} models {close} of {len(z)} within two standard errors, furthest {_named(worst)} "
        f"{z[worst]:+.1f} of {bound:.1f} allowed"
    )


def _named(key: tuple[str, str]) -> str:
    return f"{label_of(key[0])} {NAMES[key[1]]}"


def _note(data: str, table: Table2, folds: Sequence[Fold]) -> str:
    """Who was judged, and what the numbers are without the restriction to users with both."""
    sizes = table[MODELS[0], "adg"]
    counts = [part.user_counts[sizes.both].mean() for part in (folds[0].validation, folds[0].test)]
    literal = "; ".join(
        f"{label_of(name)} "
        + ", ".join(f"{NAMES[metric]} {table[name, metric].literal_percent:+.2f}" for metric in (*UNBIASED, *MOVED))
        for name in MODELS
    )
    alone = int(np.sum(~np.isnan(sizes.parts["test"]).any(axis=0) & ~sizes.both))
    return (
        f"{data}: {int(sizes.both.sum()):,} users with both, with {counts[0]:.2f} validation and {counts[1]:.2f} test "
        f"items on average; {alone:,} have test items only. Diff % over all users of a part, as the paper defines it: "
        f"{literal}."
    )


def _figure(context: Context, tables: Mapping[str, Table2]) -> Figure:
    """Every measure on validation, on test and on both, in per cent of the last, with what is expected of it."""
    panels = []
    for data, table in tables.items():
        fold = available_folds(context, data)[0]
        both = table[SHOWN, "adg"].both
        counts = [float(part.user_counts[both].mean()) for part in (fold.validation, fold.test)]
        x = (round(counts[0], 2), round(counts[1], 2), round(sum(counts), 2))
        lines = [_series(NAMES[metric], x, table[SHOWN, metric]) for metric in METRICS]
        lines += [_series(NAMES[metric], x, table[SHOWN, metric], expected=True) for metric in MOVED]
        panels.append(Panel(data, tuple(lines)))
    return Figure(
        f"What {label_of(SHOWN)} gets on validation, on test and on both, in per cent of what it gets on both",
        "held-out items per user",
        tuple(panels),
        note=(
            "The same users, the same ranks. Grey: what is expected from the number of items, for the two measures "
            "that move; for the others it is 100. Bands are 1.96 standard errors, paired by user, to both sides."
        ),
    )


def _series(name: str, x: tuple[float, ...], sizes: Sizes, *, expected: bool = False) -> Series:
    whole, which = sizes.mean("pool").value / 100, "expected " if expected else ""
    means = [sizes.mean(f"{which}{part}").value / whole for part in ("validation", "test")]
    errors = [0.0 if expected else sizes.gap(part, f"expected {part}").error / whole for part in ("validation", "test")]
    title = f"{name}, expected" if expected else name
    return Series.of(title, x, (*means, 100.0), (*errors, 0.0), naive=expected)


TABLE = Table(
    "table2", "A tenth against a fifth of the same users' items: what moves, and by how much", run, needs=NEEDS
)
