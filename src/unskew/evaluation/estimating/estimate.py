"""From evidence to estimates and comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.errors import ConfigError, Option, PropensityError
from unskew.estimators import (
    Comparison,
    Estimate,
    Estimator,
    ExposedEstimator,
    Terms,
    Traditional,
    Ure,
    difference,
    holm,
    p_value,
)
from unskew.estimators.estimator import sum_by
from unskew.evaluation.collecting.exposed import Exposures, inside_settings
from unskew.evaluation.collecting.sample import Evidence
from unskew.evaluation.estimating.cell import Cell, Risks, kish
from unskew.evaluation.settings.settings import OVER_ALL_PAIRS, Settings
from unskew.metrics import AnyMetric, ListMetric, UserLists
from unskew.propensities import Propensity
from unskew.ranking import Ranks, Threads

MANY_ROWS = 2**18

Values: TypeAlias = dict[tuple[str, str, str], tuple[Floats, ...]]


@dataclass(frozen=True, eq=False)
class Basis:
    """The rows an estimator uses, and their propensities.

    `user` numbers the users that have such a row; `has` tells the rows, None for all.
    """

    propensity: Floats
    user: Ints
    has: Bools | None
    relevant: Floats | None

    @property
    def without_propensity(self) -> int:
        """How many rows were left out for want of a propensity."""
        return 0 if self.has is None else int(np.sum(~self.has))


@dataclass(frozen=True, eq=False)
class Estimation:
    """Turns evidence into estimates under given settings."""

    evidence: Evidence
    settings: Settings
    propensity: Propensity
    threads: int | None = None
    rated: Evidence | None = None
    rated_propensity: Propensity | None = None
    exposures: Exposures | None = None

    def run(self) -> tuple[list[Cell], list[Estimate], list[Comparison]]:
        """Compute all cells, then all intervals, sharing the bootstrap's draws where users are the same."""
        cells = self.cells()
        estimates: dict[tuple[int, str], Estimate] = {}
        comparisons: dict[tuple[int, str, str], Comparison] = {}
        for group in self._groups(cells):
            self._intervals(cells, group, estimates, comparisons)
        return (
            cells,
            [estimates[k, model] for k, cell in enumerate(cells) for model in cell.terms],
            [comparisons[k, a, b] for k, cell in enumerate(cells) for a, b in combinations(cell.terms, 2)],
        )

    def cells(self) -> list[Cell]:
        """Numerators and denominators a user of each metric and estimator, without intervals."""
        plain = [pair for pair in self.settings.pairs if not isinstance(pair[1], ExposedEstimator)]
        values = self._values(plain)
        risks = None if self.rated is None else Risks(self.rated, self.rated_propensity or self.propensity)
        inside = self._inside_cells()
        cells = []
        for metric, estimator in self.settings.pairs:
            if risks is not None and metric.kind in OVER_ALL_PAIRS:
                cells.append(risks.cell(metric, estimator))
            elif isinstance(estimator, Ure):
                assert self.exposures is not None
                cells.append(self.exposures.cell(metric, estimator))
            elif isinstance(estimator, Traditional):
                cells.append(replace(inside[str(metric)], estimator=estimator))
            else:
                cells.append(self._cell(metric, estimator, values))
        return cells

    def _inside_cells(self) -> dict[str, Cell]:
        """The plain averages among the exposed rows alone, by metric."""
        settings = inside_settings(self.settings)
        if not settings.pairs or self.exposures is None:
            return {}
        cells = Estimation(self.exposures.inside, settings, self.propensity, self.threads).cells()
        return {str(cell.metric): cell for cell in cells}

    @staticmethod
    def _groups(cells: list[Cell]) -> Iterator[list[int]]:
        """Places of the cells whose terms are of the same number of users in the same order."""
        by_size: dict[tuple[int, int, bool], list[int]] = {}
        for k, cell in enumerate(cells):
            size = len(next(iter(cell.terms.values())).numerator)
            key = (size, cell.dropped_users, cell.metric.kind in OVER_ALL_PAIRS)
            by_size.setdefault(key, []).append(k)
        yield from by_size.values()

    def _intervals(
        self,
        cells: list[Cell],
        group: list[int],
        estimates: dict[tuple[int, str], Estimate],
        comparisons: dict[tuple[int, str, str], Comparison],
    ) -> None:
        keys = [(k, model) for k in group for model in cells[k].terms]
        terms = [cells[k].terms[model] for k, model in keys]
        place = {key: index for index, key in enumerate(keys)}
        pairs = [(k, a, b) for k in group for a, b in combinations(cells[k].terms, 2)]
        settings = self.settings
        bounds, gaps = settings.interval.bounds(
            terms,
            [(place[k, a], place[k, b]) for k, a, b in pairs],
            settings.level,
            np.random.default_rng([settings.seed, 1]),
        )
        for (k, model), term, (low, high) in zip(keys, terms, bounds, strict=True):
            estimates[k, model] = self._estimate(cells[k], model, term, low, high)
        for (k, a, b), (low, high) in zip(pairs, gaps, strict=True):
            gap, _ = difference(cells[k].terms[a], cells[k].terms[b])
            error = None if gap is None else settings.interval.gap_error(cells[k].terms[a], cells[k].terms[b])
            names = str(cells[k].metric), str(cells[k].estimator)
            comparisons[k, a, b] = Comparison(*names, a, b, gap, low, high, p_value(gap, error), None)
        for k in group:
            own = [key for key in pairs if key[0] == k]
            for key, adjusted in holm({key: comparisons[key].p_value for key in own}).items():
                comparisons[key] = replace(comparisons[key], p_value_holm=adjusted)

    def _estimate(self, cell: Cell, model: str, terms: Terms, low: float | None, high: float | None) -> Estimate:
        if terms.value is not None and not np.isfinite(terms.value):
            raise ConfigError(f"{cell.metric} by {cell.estimator} of model {model!r} is {terms.value}; check its gains")
        return Estimate(
            model=model,
            metric=str(cell.metric),
            definition=self._definition(cell, model),
            estimator=str(cell.estimator),
            target=cell.estimator.target_of(cell.metric.kind),
            value=terms.value,
            std_error=self.settings.interval.std_error(terms),
            low=low,
            high=high,
            level=self.settings.level,
            assumed_low=None,
            assumed_high=None,
            users=cell.users,
            dropped_users=cell.dropped_users,
            dropped_items=cell.dropped_items,
            effective_sample_size=cell.effective_sample_size,
            effective_rows=cell.effective_rows,
            max_weight_share=cell.max_weight_share,
            clipped_share=cell.clipped_share,
            tied_share=0.0 if cell.metric.kind == "loss" else self._ranks(cell.metric)[model].tied_share,
        )

    def _ranks(self, metric: AnyMetric) -> Mapping[str, Ranks]:
        evidence = self.evidence if self.rated is None or metric.kind not in OVER_ALL_PAIRS else self.rated
        return evidence.ranks

    def _definition(self, cell: Cell, model: str) -> str:
        metric = cell.metric
        if metric.kind == "loss":
            return f"{metric.definition}; {self.evidence.split.rule}"
        if isinstance(cell.estimator, Traditional):
            return f"{metric.definition}; ties {self.evidence.ranks[model].ties}; listed"
        evidence = self.evidence if self.rated is None or metric.kind not in OVER_ALL_PAIRS else self.rated
        return f"{metric.definition}; ties {evidence.ranks[model].ties}; {evidence.candidates_in_words(model)}"

    @cached_property
    def _rows(self) -> tuple[Floats, Bools | None]:
        """Propensity of each row, and which rows have one (None for all)."""
        return self.evidence.propensities(self.propensity)

    def _cell(self, metric: AnyMetric, estimator: Estimator, values: Values) -> Cell:
        evidence, dropped = self.evidence, self.evidence.dropped
        basis = self._basis(estimator, counted=metric.kind == "mean")
        if isinstance(metric, ListMetric):
            terms = self._list_terms(metric, values)
        else:
            sums = {model: values[str(metric), str(estimator), model] for model in evidence.ranks}
            terms = {model: Terms(above, below) for model, (above, below) in sums.items()}
        users = len(next(iter(terms.values())).numerator)
        dropped_users = dropped["users"] + len(evidence.users) - users
        if estimator.counts_empty_users:  # the whole population is in the sums, if only as 0
            population = evidence.population(mean=metric.kind == "mean")
            dropped_users = int(np.sum((evidence.split.test.user_counts > 0) & ~population))
        weights = estimator.weights(basis.propensity, basis.user, basis.relevant)
        return Cell(
            metric=metric,
            estimator=estimator,
            users=users,
            dropped_users=dropped_users,
            dropped_items=evidence.dropped_items + basis.without_propensity,
            without_propensity=basis.without_propensity,
            effective_sample_size=kish(sum_by(basis.user, weights)),
            effective_rows=kish(weights),
            max_weight_share=float(weights.max() / weights.sum()),
            clipped_share=estimator.clipped_share(basis.propensity),
            terms=terms,
        )

    def _basis(self, estimator: Estimator, *, counted: bool) -> Basis:
        """What an estimator rests on, the same for all metrics of a kind."""
        key = (estimator.uses_propensity, counted)
        if key not in self._bases:
            propensities = self._rows if estimator.uses_propensity else (np.ones(self.evidence.rows), None)
            self._bases[key] = self.basis_of(*propensities, counted=counted)
        return self._bases[key]

    def basis_of(self, propensity: Floats, has: Bools | None, *, counted: bool = True) -> Basis:
        """The rows that have a propensity, their users numbered from 0.

        Parameters
        ----------
        propensity : array
            Of each row.
        has : array of bool or None
            Which rows have one; None for all.
        counted : bool
            Whether numbers of relevant items matter, as they do for a mean.
        """
        evidence, user, users = self.evidence, self.evidence.user, self.evidence.users
        if has is not None:
            judged = np.bincount(user[has], minlength=len(users)) > 0
            user = (np.cumsum(judged) - 1)[user[has]]
            propensity, users = propensity[has], users[judged]
        relevant = None if evidence.relevant is None or not counted else evidence.relevant[users]
        return Basis(propensity, user, has, relevant)

    def _list_terms(self, metric: ListMetric, values: Values) -> dict[str, Terms]:
        columns = {model: values[str(metric), "", model][0] for model in self.evidence.ranks}
        defined = ~np.any([np.isnan(column) for column in columns.values()], axis=0)
        return {model: Terms(column[defined], np.ones(int(defined.sum()))) for model, column in columns.items()}

    def _values(self, pairs: Sequence[tuple[AnyMetric, Estimator]]) -> Values:
        """Numerators and denominators a user by metric, estimator and model; values alone for list metrics.

        Jobs run side by side and hold the gains of one model and metric at a time, so memory stays small.
        """
        ranked = list({str(m): m for m, _ in pairs if m.kind not in OVER_ALL_PAIRS}.values())
        for metric, estimator in pairs:
            if metric.kind not in OVER_ALL_PAIRS:
                self._basis(estimator, counted=metric.kind == "mean")
        lists: tuple[AnyMetric, ...] = tuple(m for m in ranked if isinstance(m, ListMetric))
        groups = [group for group in (lists, *((m,) for m in ranked if m not in lists)) if group]
        jobs = [(model, group) for group in groups for model in self.evidence.ranks]
        values: Values = {}
        for made in self.engine.map(self._job, jobs):
            values |= made
        return values

    @property
    def engine(self) -> Threads:
        """Where models and metrics are worked on side by side."""
        # on few rows the threads would spend more time waiting for one another than they save
        return Threads(self.threads if self.evidence.rows > MANY_ROWS else 1)

    def _job(self, job: tuple[str, tuple[AnyMetric, ...]]) -> Values:
        model, metrics = job
        values: Values = {}
        lists: UserLists | None = None
        for metric in metrics:
            if isinstance(metric, ListMetric):
                lists = lists or self.evidence.lists(model)
                values[str(metric), "", model] = (metric.values(lists),)
                continue
            gains = self.evidence.gains(model, metric)
            for other, estimator in self.settings.pairs:
                if other is metric and not isinstance(estimator, ExposedEstimator):
                    values[str(metric), str(estimator), model] = self.sums_of(metric, estimator, gains)
        return values

    def sums_of(
        self, metric: AnyMetric, estimator: Estimator, gains: Floats, basis: Basis | None = None
    ) -> tuple[Floats, Floats]:
        """Numerator and denominator of each user, from the gains of all rows."""
        mean = metric.kind == "mean"
        basis = self._basis(estimator, counted=mean) if basis is None else basis
        gains = gains if basis.has is None else gains[basis.has]
        if mean:
            pair = estimator.terms(gains, basis.propensity, basis.user, basis.relevant)
        else:
            pair = estimator.totals(gains, basis.propensity, basis.user)
        empty = self.evidence.empty_users(len(pair[0]), mean=mean) if estimator.counts_empty_users else 0
        if empty:
            pair = np.append(pair[0], np.zeros(empty)), np.append(pair[1], np.ones(empty))
        return pair

    @cached_property
    def _bases(self) -> dict[tuple[bool, bool], Basis]:
        return {}


def check_needs(settings: Settings, propensity: Propensity, *, counted: bool) -> None:
    """Refuse estimators that lack what they need, before the long work.

    Parameters
    ----------
    settings : Settings
    propensity : Propensity
    counted : bool
        Whether each user's number of relevant items is given.
    """
    for metric, estimator in settings.pairs:
        if estimator.needs_absolute and not propensity.absolute:
            raise PropensityError(
                f"{estimator} needs absolute propensities, but {settings.propensity} is known only up to scale; "
                f"use {Option('propensity', 'column')}, naive-bayes or logistic, or snips"
            )
        if estimator.needs_relevant and metric.kind == "mean" and not counted:
            raise ConfigError(
                f"{estimator} of {metric} needs each user's number of relevant items; "
                f"give {Option('relevant_counts')}, or use snips"
            )
