"""`JudgedModels`: the models of a report as decisions take them, entries that differ in their seed only as one."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Floats
from unskew.estimators import Comparison, Estimate
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.estimate import Estimated
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.gamma_band import GammaBand, band_of_models
from unskew.evaluation.estimating.method_band import MethodBand, methods_of_models
from unskew.evaluation.estimating.seed_means import SeedMeans, corrected, seed_groups
from unskew.evaluation.settings.settings import Settings

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

IN_PARTS = "the data are read part by part"
OWN_USERS = "each model has its own users"
STOPPED = "ranking may stop early, by a rule about entries"


@dataclass(frozen=True)
class SeedEstimate(Estimate):
    """One metric of one model by one estimator: the mean over its seeds.

    `users_error` is the standard error over users, `seeds_error` that over seeds, None for a model with one entry;
    `std_error` and the interval have both. `members` are the entries and `values` theirs.
    """

    users_error: float | None
    seeds_error: float | None
    members: tuple[str, ...]
    values: tuple[float | None, ...]

    @property
    def spread(self) -> float | None:
        """The standard deviation over seeds; None for one seed."""
        known = [value for value in self.values if value is not None]
        return float(np.std(known, ddof=1)) if len(known) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {**asdict(self), "members": list(self.members), "values": list(self.values)}


class JudgedModels:
    """The models of a report: its entries, or the means of those that differ in their seed only.

    Verdicts, tables and pages are about these. A model with one entry is that entry, with its own numbers.

    Parameters
    ----------
    report : Report
    """

    def __init__(self, report: "Report") -> None:
        self.report = report

    @cached_property
    def members(self) -> Mapping[str, tuple[str, ...]]:
        """The entries of each model."""
        names = self.report.models
        if not self.report.groups_seeds or why_not_grouped(self.report):
            return {name: (name,) for name in names}
        return seed_groups(names)

    @cached_property
    def several(self) -> Mapping[str, tuple[str, ...]]:
        """The models with several entries."""
        return {model: names for model, names in self.members.items() if len(names) > 1}

    def entries(self, name: str) -> tuple[str, ...]:
        """The entries of a model; an entry is its own."""
        return self.members.get(name, (name,))

    def names(self, entries: Collection[str]) -> list[str]:
        """The names of some entries; a model whose entries are all among them has only its own."""
        given = set(entries)
        whole = {entry: model for model, names in self.several.items() if given.issuperset(names) for entry in names}
        return list(dict.fromkeys(whole.get(entry, entry) for entry in entries))

    def mean(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """The means over the entries of each model, of numbers that each entry has; entries without are left out."""
        if not self.several:
            return dict(values)
        judged = {model: [values[name] for name in names if name in values] for model, names in self.members.items()}
        return {model: np.mean(some, axis=0) for model, some in judged.items() if some}

    @cached_property
    def estimated(self) -> Estimated:
        """The numbers of the models, with Holm's correction over pairs of models."""
        report = self.report
        if not self.several:
            return report.estimated
        settings, given = report.settings, report.estimated
        estimation = Estimation(report.samples, settings, report.propensities, report.inputs.threads)
        band = None if given.band is None else band_of_models(given.band, estimation, self.members)
        methods = None if given.methods is None else methods_of_models(given.methods, estimation, self.members)
        grouped = _group(given, self.members, settings)
        rows: list[Estimate] = list(grouped.estimates)
        for each in (band, methods):
            rows = rows if each is None else [each.widen(row) for row in rows]
        return replace(grouped, estimates=tuple(rows), band=band, methods=methods, slice_report=given.slice_report)

    @cached_property
    def twins(self) -> Estimated:
        """Naive estimates on the targets of the corrected ones, if they were not asked for."""
        twins = self.report.twins
        return _group(twins, self.members, self.report.settings) if self.several else twins

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every metric of every model by every estimator."""
        return self.estimated.estimates

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The differences between every two models."""
        return self.estimated.comparisons

    @property
    def band(self) -> GammaBand | None:
        """Every weighted estimate at each gamma that may be assumed."""
        return self.estimated.band

    @property
    def methods(self) -> MethodBand | None:
        """Every mean and sum by each method without random rows."""
        return self.estimated.methods

    @property
    def of_seeds(self) -> tuple[SeedEstimate, ...]:
        """The estimates of the models with several entries."""
        return tuple(row for row in self.estimates if isinstance(row, SeedEstimate) and row.model in self.several)

    def label(self, model: str) -> str:
        """The name of a model in a table, with its number of seeds if there are several."""
        names = self.several.get(model)
        return model if names is None else f"{model} ({len(names)} seeds)"

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "estimates": [row.to_dict() for row in self.estimates],
            "comparisons": [row.to_dict() for row in self.comparisons],
            **({} if self.band is None else {"sensitivity": [point.to_dict() for point in self.band.points]}),
            **({} if self.methods is None else {"methods": [point.to_dict() for point in self.methods.points]}),
        }


def why_not_grouped(report: "Report") -> str:
    """Why entries with seeds cannot be grouped in this run; empty if they can."""
    reasons = {
        IN_PARTS: report.merged is not None,
        OWN_USERS: report.settings.users == "served",
        STOPPED: report.stop is not None,
    }
    return next((why for why, holds in reasons.items() if holds), "")


def _group(given: Estimated, members: Mapping[str, tuple[str, ...]], settings: Settings) -> Estimated:
    """The estimates and comparisons of models from those of their entries."""
    rows = {(row.metric, row.estimator, row.model): row for row in given.estimates}
    pairs = {(row.metric, row.estimator, row.a, row.b): row for row in given.comparisons}
    estimates: list[Estimate] = []
    comparisons: list[Comparison] = []
    for cell in given.cells:
        means = SeedMeans(cell.terms, members, settings.interval)
        estimates += [_estimate(cell, means, model, rows, settings.level) for model in means.members]
        comparisons += _compare(cell, means, pairs, settings.level)
    return Estimated(tuple(estimates), tuple(comparisons))


def _estimate(
    cell: Cell, means: SeedMeans, model: str, rows: Mapping[tuple[str, str, str], Estimate], level: float
) -> SeedEstimate:
    words, names = (str(cell.metric), str(cell.estimator)), means.members[model]
    entries = [rows[*words, name] for name in names]
    mean, first = means.mean(model), entries[0]
    changed: dict[str, Any] = {"users_error": first.std_error}
    if len(names) > 1:
        low, high = mean.bounds(level)
        changed = {
            "definition": " · ".join(dict.fromkeys(row.definition for row in entries)),
            "value": mean.value,
            "std_error": mean.std_error,
            "low": low,
            "high": high,
            "assumed_low": None,
            "assumed_high": None,
            "tied_share": float(np.mean([row.tied_share for row in entries])),
            "users_error": mean.users_error,
        }
    seeds = {"seeds_error": mean.replicates_error, "members": names, "values": means.values(model)}
    return SeedEstimate(**{**vars(first), **changed, **seeds, "model": model})


def _compare(
    cell: Cell, means: SeedMeans, pairs: Mapping[tuple[str, str, str, str], Comparison], level: float
) -> list[Comparison]:
    """The comparisons of one metric and estimator; two models of one entry each keep theirs, but for the correction."""
    words = str(cell.metric), str(cell.estimator)
    rows = means.compare(combinations(means.members, 2), words, level)
    for place, row in enumerate(rows):
        (a, *more), (b, *others) = means.members[row.a], means.members[row.b]
        if not more and not others:
            known = pairs[*words, a, b] if (*words, a, b) in pairs else pairs[*words, b, a].reversed()
            rows[place] = replace(known, a=row.a, b=row.b)
    return corrected(rows)
