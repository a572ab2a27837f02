"""`slices`: every estimate by group, raw and shrunken, and the groups in which the order of two models turns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Bools, dot
from unskew.data.writing import AsJson
from unskew.errors import ConfigError, Option
from unskew.estimators import Aoa, Imputing, Rows, Snips, Terms, difference, holm, normal_quantile
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.estimate import estimate
from unskew.evaluation.estimating.estimation import Estimation, terms_of
from unskew.evaluation.estimating.seed_means import SeedMeans
from unskew.evaluation.slicing.groups import Grouping

if TYPE_CHECKING:
    import polars as pl

    from unskew.display.chart import Charts
    from unskew.evaluation.report import Report

FEW = 2
"""Users that a group needs for an interval."""
_ROUNDING = 1e-12
"""Errors up to this share of the value are those of rounding."""


@dataclass(frozen=True)
class GroupEstimate:
    """An estimate of one group; `shrunk` is drawn towards the mean of all groups, by how uncertain it is.

    None where a number is undefined.
    """

    group: str
    model: str
    metric: str
    estimator: str
    users: int
    value: float | None
    std_error: float | None
    low: float | None
    high: float | None
    shrunk: float | None = None
    shrunk_low: float | None = None
    shrunk_high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True)
class GroupComparison:
    """The difference of two models in one group; Holm's correction is over all groups and pairs of models.

    It is made for each metric and estimator by itself, as in the whole report.

    `turns` says whether the order is clearly the opposite of that over all rows.
    """

    group: str
    metric: str
    estimator: str
    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_value_holm: float | None = None
    turns: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Slices(AsJson):
    """Estimates and comparisons by group.

    Parameters
    ----------
    by : str
        What the groups are by.
    level : {"user", "item", "row"}
    estimates : tuple of GroupEstimate
    comparisons : tuple of GroupComparison
    left_out : tuple of str
        Estimates that cannot be made by these groups, and why.
    """

    by: str
    level: str
    estimates: tuple[GroupEstimate, ...]
    comparisons: tuple[GroupComparison, ...]
    left_out: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in order."""
        return tuple(dict.fromkeys(row.group for row in self.estimates))

    @property
    def turned(self) -> tuple[GroupComparison, ...]:
        """The comparisons whose order is clearly the opposite of that over all rows."""
        return tuple(row for row in self.comparisons if row.turns)

    @property
    def charts(self) -> "Charts":
        """A chart for each metric and estimator."""
        from unskew.evaluation.showing.slices_view import slice_charts

        return slice_charts(self)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "by": self.by,
            "level": self.level,
            "estimates": [row.to_dict() for row in self.estimates],
            "comparisons": [row.to_dict() for row in self.comparisons],
            "left_out": list(self.left_out),
        }

    def to_polars(self) -> "pl.DataFrame":
        """The estimates as a polars frame."""
        import polars as pl

        return pl.DataFrame([row.to_dict() for row in self.estimates], infer_schema_length=None)

    def __str__(self) -> str:
        from unskew.evaluation.showing.slices_view import as_text

        return as_text(self)


def slices(report: "Report", grouping: Grouping) -> Slices:
    r"""Estimate every metric of a report in each group, with the weights of the whole run.

    Groups of users take each user's own terms. Groups of items or rows take the rows of the group, so only means over
    rows can be made by them. With :math:`y_g` the estimate of a group, :math:`s_g` its standard error, and
    :math:`\mu` and :math:`\tau^2` the mean and the variance between groups by the method of DerSimonian and Laird
    (1986), the shrunken estimate is

    .. math:: (1 - B_g)\, y_g + B_g\, \mu, \qquad B_g = \frac{s_g^2}{s_g^2 + \tau^2}.

    Entries that differ in their seed only are one model, with the mean over seeds and both errors. Estimates with
    imputation are about all users together; for means of them, `snips` is made by group.

    Parameters
    ----------
    report : Report
    grouping : Grouping

    Raises
    ------
    ConfigError
        If the data were read part by part, or each model is judged on its own users.
    """
    if report.merged is not None:
        raise ConfigError("groups need all rows in memory; the data were read part by part, so give files instead")
    if report.settings.users == "served":
        raise ConfigError(f"groups compare models on the same users; leave out {Option('users', 'served')}")
    estimates: list[GroupEstimate] = []
    comparisons: list[GroupComparison] = []
    left_out = []
    for each in (report, *_weighted(report)):
        work = _Slicing(each, grouping)
        for cell in each.estimated.cells:
            why = work.why_not(cell)
            if why:
                left_out.append(f"{cell.metric} by {cell.estimator}: {why}")
                continue
            rows, pairs = work.by_group(cell)
            estimates += shrink(rows, each.settings.level)
            comparisons += _adjusted(pairs, each)
    return Slices(grouping.name, grouping.level, tuple(estimates), tuple(comparisons), tuple(left_out))


def _weighted(report: "Report") -> Iterator["Report"]:
    """Yield a report with `snips` of the means that are imputed only, which is corrected and can be made by group."""
    pairs = {str(m): (m, Snips()) for m, e in report.settings.pairs if m.kind == "mean" and isinstance(e, Imputing)}
    for metric, estimator in report.settings.pairs:
        if isinstance(estimator, Snips):
            pairs.pop(str(metric), None)
    if pairs:
        settings = replace(report.settings, pairs=tuple(pairs.values()))
        estimated = estimate(settings, report.samples, report.propensities, band=False)
        yield replace(report, inputs=replace(report.inputs, settings=settings), estimated=estimated)


class _Slicing:
    """Computes the terms of each group."""

    def __init__(self, report: "Report", grouping: Grouping) -> None:
        self.report, self.grouping = report, grouping
        self.estimation = Estimation(report.samples, report.settings, report.propensities)

    def why_not(self, cell: Cell) -> str:
        """Why an estimate cannot be made by group; empty if it can."""
        first = next(iter(cell.terms.values()))
        if self.grouping.level == "user":
            if first.units != "users" or first.who is None or len(first.who) != len(first.numerator):
                return f"it is about all users together{_instead(cell)}"
            return ""
        if cell.metric.kind not in {"mean", "loss"} or not isinstance(cell.estimator, Aoa | Snips):
            return f"it is not a mean over rows, so it cannot be made by {self.grouping.level}s{_instead(cell)}"
        return ""

    def by_group(self, cell: Cell) -> tuple[list[GroupEstimate], list[GroupComparison]]:
        """The estimates of all groups and models, and their comparisons."""
        estimates: list[GroupEstimate] = []
        comparisons: list[GroupComparison] = []
        words = str(cell.metric), str(cell.estimator)
        several = self.report.judged.several
        for group, terms in self._terms(cell):
            if several:
                rows, pairs = self._over_seeds(group, terms, words)
                estimates += rows
                comparisons += pairs
                continue
            models = list(terms)
            places = list(combinations(range(len(models)), 2))
            known = all(len(each.numerator) >= FEW for each in terms.values())
            settings = self.report.settings
            bounds, gaps = (
                settings.interval.bounds(
                    list(terms.values()), places, settings.level, np.random.default_rng([settings.seed, 1])
                )
                if known
                else ([(None, None)] * len(models), [(None, None)] * len(places))
            )
            for (model, each), (low, high) in zip(terms.items(), bounds, strict=True):
                users, error = len(each.numerator), settings.interval.std_error(each) if known else None
                value = each.value if users else None
                estimates.append(GroupEstimate(group, model, *words, users, value, error, low, high))
            for (a, b), (low, high) in zip(places, gaps, strict=True):
                first, second = terms[models[a]], terms[models[b]]
                gap = difference(first, second)[0] if len(first.numerator) else None
                p = settings.interval.p_value(first, second) if known else None
                comparisons.append(GroupComparison(group, *words, models[a], models[b], gap, low, high, p))
        return estimates, comparisons

    def _over_seeds(
        self, group: str, terms: Mapping[str, Terms], words: tuple[str, str]
    ) -> tuple[list[GroupEstimate], list[GroupComparison]]:
        """The same of one group, for models that are means over seeds."""
        settings = self.report.settings
        means = SeedMeans(terms, self.report.judged.members, settings.interval)
        users = {model: len(terms[names[0]].numerator) for model, names in means.members.items()}
        known = {model for model, n in users.items() if n >= FEW}
        estimates = []
        for model, n in users.items():
            mean = means.mean(model)
            low, high = mean.bounds(settings.level) if model in known else (None, None)
            error = mean.std_error if model in known else None
            estimates.append(GroupEstimate(group, model, *words, n, mean.value, error, low, high))
        comparisons = []
        for row in means.compare(combinations(users, 2), words, settings.level):
            low, high, p = (row.low, row.high, row.p_value) if {row.a, row.b} <= known else (None, None, None)
            comparisons.append(GroupComparison(group, *words, row.a, row.b, row.difference, low, high, p))
        return estimates, comparisons

    def _terms(self, cell: Cell) -> Iterator[tuple[str, Mapping[str, Terms]]]:
        if self.grouping.level == "user":
            who = next(iter(cell.terms.values())).who
            assert who is not None
            for group, member in self.grouping.groups.items():
                inside = member[who]
                yield group, {model: _some_users(terms, inside) for model, terms in cell.terms.items()}
            return
        sample = self.report.samples.of(cell.metric, cell.estimator)
        rows = self.estimation.rows_of(cell.metric, cell.estimator)
        members = self.grouping.rows_of(sample.row_users, sample.items, sample.split)
        for group, member in members.items():
            inside = member if rows.kept is None else member[rows.kept]
            terms = {}
            for model in cell.terms:
                gains = self.estimation.gains_of(sample, model, cell.metric)
                terms[model] = terms_of(_some_rows(rows.with_worth(gains), inside), cell.metric, cell.estimator)
            yield group, terms


def _instead(cell: Cell) -> str:
    """A note on what is there in the place of an estimate that cannot be made by group."""
    return "; snips is there instead" if isinstance(cell.estimator, Imputing) and cell.metric.kind == "mean" else ""


def _some_users(terms: Terms, inside: Bools) -> Terms:
    """The terms of some of the users."""
    assert terms.who is not None
    keys = None if terms.keys is None else terms.keys[inside]
    return replace(
        terms,
        numerator=terms.numerator[inside],
        denominator=terms.denominator[inside],
        who=terms.who[inside],
        keys=keys,
        rows=None,
    )


def _some_rows(rows: Rows, inside: Bools) -> Rows:
    """Some of the rows, and their users."""
    users, user = np.unique(rows.user[inside], return_inverse=True)
    columns = {
        name: None if (column := getattr(rows, name)) is None else column[inside]
        for name in ("worth", "propensity", "item", "size")
    }
    who = None if rows.who is None else rows.who[users]
    return Rows(user=user, who=who, **columns)  # type: ignore[arg-type]


def shrink(rows: Sequence[GroupEstimate], level: float) -> list[GroupEstimate]:
    """The estimates of one metric and estimator with shrunken ones next to them, each model by itself."""
    z = normal_quantile(level)
    shrunken: dict[tuple[str, str], tuple[float, float]] = {}
    for model in dict.fromkeys(row.model for row in rows):
        of_model = [row for row in rows if row.model == model and row.value is not None and row.std_error is not None]
        known = [row for row in of_model if not _is_exact(row)]
        shrunken |= {(row.group, model): (float(row.value or 0.0), 0.0) for row in of_model if _is_exact(row)}
        if len(known) < 2:
            continue
        values = np.array([row.value for row in known], dtype=float)
        variances = np.array([row.std_error for row in known], dtype=float) ** 2
        weights = 1 / variances
        spread = dot(weights, (values - dot(weights, values) / weights.sum()) ** 2) - (len(known) - 1)
        between = max(0.0, spread / float(weights.sum() - (weights**2).sum() / weights.sum()))
        weights = 1 / (variances + between)
        mean, error = dot(weights, values) / float(weights.sum()), float(1 / weights.sum())
        pull = variances / (variances + between)
        centres = (1 - pull) * values + pull * mean
        errors = np.sqrt((1 - pull) * variances + pull**2 * error)
        shrunken |= {
            (row.group, model): (float(centre), float(e)) for row, centre, e in zip(known, centres, errors, strict=True)
        }
    result = []
    for row in rows:
        if (row.group, row.model) not in shrunken:
            result.append(row)
            continue
        centre, e = shrunken[row.group, row.model]
        result.append(replace(row, shrunk=centre, shrunk_low=centre - z * e, shrunk_high=centre + z * e))
    return result


def _is_exact(row: GroupEstimate) -> bool:
    """Whether the estimate has no error but that of rounding, as the coverage of one list for all has."""
    return (row.std_error or 0.0) <= _ROUNDING * abs(row.value or 0.0)


def _adjusted(rows: Sequence[GroupComparison], report: "Report") -> list[GroupComparison]:
    """The comparisons of one metric and estimator with p-values by Holm over all, and whether they turn the order."""
    adjusted = holm({(row.group, row.a, row.b): row.p_value for row in rows})
    overall = {(c.metric, c.estimator, c.a, c.b): c.difference for c in report.judged.comparisons}
    alpha = 1 - report.settings.level
    result = []
    for row in rows:
        p, whole = adjusted[row.group, row.a, row.b], overall.get((row.metric, row.estimator, row.a, row.b))
        clear = p is not None and p < alpha and row.difference is not None and whole is not None
        turns = clear and row.difference * whole < 0  # type: ignore[operator]
        result.append(replace(row, p_value_holm=p, turns=bool(turns)))
    return result
