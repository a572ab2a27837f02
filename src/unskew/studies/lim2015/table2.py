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
from unskew.studies.lim2015.fits import NAMES, TWO, Fold, available_folds, label_of, names_of
from unskew.studies.lim2015.printed import METRICS, MODELS, TABLE2
from unskew.studies.lim2015.protocol import NEEDS, SETS, absence_of, note_of

PRINTED = "ml-10m"
"""The data set that the paper prints Table 2 of."""
SHOWN = "mf-adg"
"""The model in the figure."""
COLUMNS = ("test", "valid", "diff %", "expected diff %", "off, s.e.")
UNBIASED, MOVED = ("atop", "adg", "recall@10"), ("map", "ndcg")
ROUNDED = 0.02
"""How far a percentage may be from what its two rounded numbers give."""
DIMS = ("data", "model", "metric", "part")
PARTS = ("test", "validation", "expected test", "expected validation", "pool")

METHOD = (
    (
        "Over the users who have both validation and test items. 'valid' and 'test' are means over users, then over "
        "folds; 'diff %' is valid less test in per cent of test; 'expected diff %' is what it is on average when "
        "each user's held-out items are dealt into two parts of these sizes by lot, exactly, from the ranks of all; "
        "'off, s.e.' is how far the two differences are apart, in standard errors that are paired by user."
    ),
    (
        "Within a fold the model and the ranks are fixed before the lot decides which held-out item is for "
        "validation. So the differences, less what is expected, have mean 0 for each user, and are independent "
        "between users and folds. A user's are averaged over folds and users are the units. The one exception is "
        "that the settings of MF-AUC and MF-ADG were chosen by validation, which lifts it by a little; SVD had "
        "nothing to choose."
    ),
    (
        "By chance alone 4.6 of 100 differences are beyond two standard errors, so a claim that six are each within "
        "two fails about one time in four if all is right (less often, because they go together). In addition, a claim "
        "about all models is held to what the largest of them exceeds with a chance of at most "
        f"{100 * LEVEL:.0f} %, by Bonferroni. That MAP and NDCG fall is asked only where the drop expected is two "
        "standard errors beyond that, because it would hardly be seen otherwise; this was added after MAP of "
        "amazon-video-games, with one or two items per user, had been seen."
    ),
)
_TWO = "within two paired standard errors, each of MF-AUC and MF-ADG"
_AGREE = "ATOP, ADG and Recall@10 agree between validation and test"
_EXPECTED = "MAP and NDCG fall by what the sizes of the parts say"


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
    tables: dict[str, Table2] = {}
    cells: list[ReproducedCell] = []
    notes = list(METHOD)
    for data in SETS:
        folds = available_folds(context, data)
        if folds:
            pairs = [(name, metric) for name in names_of(context) for metric in METRICS]
            tables[data] = {(name, metric): compare_sizes(folds, name, metric) for name, metric in pairs}
            groups = {(data, *key, part): each.parts[part] for key, each in tables[data].items() for part in PARTS}
            trials |= Trials(DIMS, "fold, user", groups)
            notes.append(_note(data, tables[data], folds))
        cells += _cells(context, data, tables.get(data))
    figures = (_figure(context, tables),) if tables else ()
    return Findings(tuple(cells), tuple(claims(context, tables)), figures, tuple(notes), tuple(tables), trials)


def compare_sizes(folds: Sequence[Fold], model: str, metric: str) -> Sizes:
    """A measure of a model on both parts, in all folds."""
    parts = {part: np.array([fold.values(model, metric, part) for fold in folds]) for part in ("test", "validation")}
    expected = {
        f"expected {part}": np.array([_expected(fold, model, metric, part) for fold in folds]) for part in parts
    }
    return Sizes({**parts, **expected, "pool": np.array([fold.values(model, metric, "pool") for fold in folds])})


def _expected(fold: Fold, model: str, metric: str, part: str) -> Floats:
    """What is expected of a part of its size, dealt by lot from the pool; NaN but for users with both parts."""
    pool = fold.part(model, "pool")
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
    for name in names_of(context):
        for metric in METRICS:
            printed = _printed(name, metric) if SETS[data].paper == PRINTED else {}
            ours = {} if table is None else table[name, metric].columns
            for column in COLUMNS:
                paper, note = printed.get(column, (None, ""))
                if paper is not None or table is not None:
                    about = absent or ("" if paper is None else "; ".join(filter(None, (note_of(data), note))))
                    row = f"{label_of(name)}, {NAMES[metric]}"
                    yield cell(row, column, data, ours.get(column), paper, note=about)


def _printed(name: str, metric: str) -> dict[str, tuple[float, str]]:
    """The paper's numbers of a row by column, with what to know of them."""
    if name not in TABLE2:
        return {}
    test, validation, percent = TABLE2[name][metric]
    exact = 100 * (validation - test) / test
    note = "worked out from the two numbers next to it" if percent is None else ""
    if percent is not None and abs(percent - exact) > ROUNDED:
        note = f"as printed; the two numbers next to it give {exact:.2f}"
    return {"test": (test, ""), "valid": (validation, ""), "diff %": (exact if percent is None else percent, note)}


def claims(context: Context, tables: Mapping[str, Table2]) -> Iterator[Claim]:
    """The paper's claims for each data set."""
    for data in SETS:
        absent = absence_of(context, data)
        if absent:
            yield from unjudged([f"{data}: {_AGREE}, and MAP and NDCG do not"], absent)
        else:
            yield from judged(data, tables[data])


def judged(data: str, table: Table2) -> Iterator[Claim]:
    """The claims about one data set: of the measures that should not move, and of those that should."""
    names = list(dict.fromkeys(name for name, _ in table))
    still = {(name, metric): table[name, metric].drop.z for name in names for metric in UNBIASED}
    yield claim(f"{data}: {_AGREE} {_TWO}", _within_two(still))
    yield claim(f"{data}: {_AGREE}, all models together", _within(still, names))
    moved = {(name, metric): table[name, metric] for name in names for metric in MOVED}
    yield claim(f"{data}: MAP and NDCG fall from test to validation", _falls(moved))
    off = {key: each.surprise.z for key, each in moved.items()}
    holds, evidence = _within_two(off)
    yield claim(f"{data}: {_EXPECTED}, {_TWO}", (holds, f"{_drops(table)}; {evidence}"))
    yield claim(f"{data}: {_EXPECTED}, all models together", _within(off, names))


def _within_two(z: Mapping[tuple[str, str], float]) -> Verdict:
    """Whether each of the paper's models is within two standard errors; chance alone is not in 4.6 of 100."""
    papers = {key: value for key, value in z.items() if key[0] in MODELS}
    evidence = f"in standard errors {', '.join(f'{_named(key)} {value:+.1f}' for key, value in papers.items())}"
    if not np.isfinite(list(papers.values())).all():
        return None, evidence
    return all(abs(value) <= TWO for value in papers.values()), evidence


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


def _falls(moved: Table2) -> Verdict:
    """Whether all fall by more than chance; a drop that would hardly be seen if it were there is not asked for."""
    bound = bonferroni(len(moved))
    due = {key: -each.gap("expected validation", "expected test").mean / each.drop.error for key, each in moved.items()}
    seen = {key: each for key, each in moved.items() if due[key] > bound + 2}
    small = [f"{_named(key)} ({due[key]:.1f} s.e.)" for key in moved if key not in seen]
    left = f"the drop expected is too small to be distinguished from chance for {', '.join(small)}" if small else ""
    if not seen:
        return None, left
    least = max(seen, key=lambda key: seen[key].drop.z)
    evidence = (
        f"in {sum(each.drop.z < -bound for each in seen.values())} of {len(seen)} by more than {bound:.1f} s.e., "
        f"least {_named(least)} {seen[least].percent:+.1f} %, {seen[least].drop.z:+.1f} s.e."
    )
    return all(each.drop.z < -bound for each in seen.values()), f"{evidence}; {left}" if left else evidence


def _drops(table: Table2) -> str:
    return ", ".join(
        f"{_named(key)} {table[key].percent:+.2f} % (expected {table[key].expected_percent:+.2f} %)"
        for key in ((name, metric) for name in MODELS for metric in MOVED)
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
