"""`Seeds`: models that were trained several times, such as ``als/seed0`` and ``als/seed1``, as one model each."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from unskew.arrays import Floats
from unskew.estimators import Mean, difference_of_means, holm, influence_of, mean_of_replicates
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.order import lower_is_better

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

_MEMBER = re.compile(r"(.+)/seed[-_]?\w+")


@dataclass(frozen=True)
class SeedEstimate:
    """One metric of one model by one estimator: the mean over its seeds.

    `users_error` is the standard error over users, `seeds_error` that over seeds, None for a model with one entry;
    `std_error` and the interval have both.
    """

    model: str
    metric: str
    estimator: str
    value: float | None
    std_error: float | None
    low: float | None
    high: float | None
    level: float
    users_error: float | None
    seeds_error: float | None
    members: tuple[str, ...]
    values: tuple[float | None, ...]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {**asdict(self), "members": list(self.members), "values": list(self.values)}


@dataclass(frozen=True)
class SeedComparison:
    """The difference of two models, each the mean over its seeds, on the same users."""

    metric: str
    estimator: str
    a: str
    b: str
    difference: float | None
    std_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_value_holm: float | None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Seeds:
    """Estimates and comparisons of models, where entries that differ in their seed only are one model.

    Parameters
    ----------
    estimates : tuple of SeedEstimate
    comparisons : tuple of SeedComparison
        With Holm's correction over the pairs of models, not of entries.
    may_be_best : mapping
        For each metric and estimator, the models that no other one beats beyond chance, from best to worst.
    """

    estimates: tuple[SeedEstimate, ...]
    comparisons: tuple[SeedComparison, ...]
    may_be_best: Mapping[tuple[str, str], tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        best = [
            {"metric": metric, "estimator": estimator, "may_be_best": list(models)}
            for (metric, estimator), models in self.may_be_best.items()
        ]
        return {
            "estimates": [row.to_dict() for row in self.estimates],
            "comparisons": [row.to_dict() for row in self.comparisons],
            "may_be_best": best,
        }


def seed_groups(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The members of each model: entries called ``MODEL/seedN``, or an entry alone.

    Examples
    --------
    >>> seed_groups(["als/seed0", "popular", "als/seed1", "bpr/seed0"])
    {'als': ('als/seed0', 'als/seed1'), 'popular': ('popular',), 'bpr/seed0': ('bpr/seed0',)}
    """
    given = list(names)
    groups: dict[str, list[str]] = {}
    for name in given:
        match = _MEMBER.fullmatch(name)
        groups.setdefault(match[1] if match and match[1] not in given else name, []).append(name)
    return {model if len(members) > 1 else members[0]: tuple(members) for model, members in groups.items()}


def group_seeds(report: "Report") -> Seeds | None:
    r"""The means over seeds of a report; None if no model has several seeds, or if models have other users each.

    Members are on the same users, so :math:`\psi_{us}`, what user u adds to the error of seed s, is known for all. The
    variance is the one of `Mean`: that over users of the mean over seeds, and that of the mean over seeds drawn again.
    """
    if report.merged is not None or report.settings.users == "served":
        return None
    estimates: list[SeedEstimate] = []
    comparisons: list[SeedComparison] = []
    best: dict[tuple[str, str], tuple[str, ...]] = {}
    several = False
    for cell in report.estimated.cells:
        groups = seed_groups(cell.terms)
        several |= len(groups) < len(cell.terms)
        means = {model: _mean(cell, members) for model, members in groups.items()}
        rows = [_estimate(report, cell, model, groups[model], mean) for model, (mean, _) in means.items()]
        compared = _compare(report, cell, means)
        estimates += rows
        comparisons += compared
        best[str(cell.metric), str(cell.estimator)] = _may_be_best(report, rows, compared)
    return Seeds(tuple(estimates), tuple(comparisons), best) if several else None


def _mean(cell: Cell, members: tuple[str, ...]) -> tuple[Mean, list[Floats]]:
    terms = [cell.terms[name] for name in members]
    influences = [each for each in map(influence_of, terms) if each is not None]
    values = [term.value for term in terms]
    if len(influences) < len(terms):  # one user
        return Mean(values[0] if len(values) == 1 else None, None, None, float("inf"), len(values)), []
    return mean_of_replicates(values, influences), influences


def _estimate(report: "Report", cell: Cell, model: str, members: tuple[str, ...], mean: Mean) -> SeedEstimate:
    level = report.settings.level
    low, high = mean.bounds(level)
    return SeedEstimate(
        model=model,
        metric=str(cell.metric),
        estimator=str(cell.estimator),
        value=mean.value,
        std_error=mean.std_error,
        low=low,
        high=high,
        level=level,
        users_error=mean.users_error,
        seeds_error=mean.replicates_error,
        members=members,
        values=tuple(cell.terms[name].value for name in members),
    )


def _compare(report: "Report", cell: Cell, means: Mapping[str, tuple[Mean, list[Floats]]]) -> list[SeedComparison]:
    rows = []
    for a, b in combinations(means, 2):
        gap = difference_of_means(means[a][0], means[b][0], (means[a][1], means[b][1]))
        low, high = gap.bounds(report.settings.level)
        numbers = gap.value, gap.std_error, low, high, gap.p_value, None
        rows.append(SeedComparison(str(cell.metric), str(cell.estimator), a, b, *numbers))
    adjusted = holm({(row.a, row.b): row.p_value for row in rows})
    return [replace(row, p_value_holm=adjusted[row.a, row.b]) for row in rows]


def _may_be_best(report: "Report", rows: list[SeedEstimate], compared: list[SeedComparison]) -> tuple[str, ...]:
    """The models that no other one beats beyond chance, from best to worst."""
    sign = -1.0 if rows and lower_is_better(report.settings, rows[0].metric) else 1.0
    worse = {
        row.b if sign * row.difference > 0 else row.a
        for row in compared
        if row.difference and row.p_value_holm is not None and row.p_value_holm < 1 - report.settings.level
    }
    ordered = sorted((row for row in rows if row.value is not None), key=lambda row: -sign * (row.value or 0.0))
    return tuple(row.model for row in ordered if row.model not in worse)
