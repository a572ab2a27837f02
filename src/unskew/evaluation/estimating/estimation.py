"""`Estimation`: computes estimates and comparisons from samples."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data.partitions import user_keys
from unskew.data.vocabulary import canonical
from unskew.estimators import (
    OVER_ALL_PAIRS,
    Blend,
    Bootstrap,
    Comparison,
    Dm,
    Estimate,
    Estimator,
    Imputing,
    Rows,
    Terms,
    difference,
    holm,
)
from unskew.evaluation.collecting.imputed import Imputed
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.cell import Cell, WeightSpread, make_cell, weight_spread
from unskew.evaluation.estimating.slice_report import SliceReport, report_slice, shrink_all
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric, ContentMetric, ListMetric, RatingLoss, TopItems, scored_of
from unskew.ranking import Engine, Threads

MANY_ROWS = 2**18  # below, threads wait for one another longer than they save
KEPT_GAINS = 2**23  # numbers

Work: TypeAlias = tuple[Sample, str, tuple[tuple[AnyMetric, tuple[Estimator, ...]], ...]]
"""A sample, a model, and its metrics with the estimators of each."""
Key: TypeAlias = tuple[str, str, str]
"""Words of metric and estimator, and the model's name."""


@dataclass(frozen=True, eq=False)
class Estimation:
    """Computes the estimates of samples under given settings."""

    samples: Samples
    settings: Settings
    propensities: Propensities
    threads: int | None = None
    cluster: Engine | None = None  # where draws of a bootstrap are made, if not on these threads

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
        """Numerators and denominators per user of each metric and estimator, without intervals."""
        terms = self._terms()
        return [self._cell(metric, estimator, terms) for metric, estimator in self.settings.pairs]

    def rows_of(self, metric: AnyMetric, estimator: Estimator) -> Rows:
        """The rows that an estimator of a metric uses, without their gains."""
        sample = self.samples.of(metric, estimator)
        counted = metric.kind == "mean" or metric.kind in OVER_ALL_PAIRS
        form = str(estimator) if isinstance(sample, Imputed) else ""
        counted = counted or isinstance(sample, Imputed)
        key = id(sample), estimator.uses_propensity, estimator.counts_empty_users, metric.kind if counted else "", form
        if key not in self._rows:
            chances = self.chances_of(sample) if estimator.uses_propensity else None
            self._rows[key] = sample.to_rows(metric.kind, estimator, chances)
        return self._rows[key]

    def chances_of(self, sample: Sample) -> Floats:
        """The propensity of each row of a sample; NaN where it has none."""
        if id(sample) not in self._chances:
            self._chances[id(sample)] = sample.chances(self.propensities.of(sample.kind))
        return self._chances[id(sample)]

    @property
    def engine(self) -> Threads:
        """The threads on which models and metrics are computed."""
        return Threads(self.threads if self.samples.judged.rows > MANY_ROWS else 1)

    def _cell(self, metric: AnyMetric, estimator: Estimator, terms: dict[Key, Terms]) -> Cell:
        sample = self.samples.of(metric, estimator)
        by_model = {model: terms[str(metric), str(estimator), model] for model in sample.judged_by(metric)}
        chances = self.chances_of(sample) if estimator.uses_propensity else None
        rows = self.rows_of(metric, estimator)
        spread = self._spreads[id(rows), str(estimator), metric.kind]
        return make_cell(sample, metric, estimator, rows, chances, by_model, spread)

    def _terms(self) -> dict[Key, Terms]:
        """Terms by metric, estimator and model.

        Jobs run in parallel and hold the gains of one model and metric at a time, so memory stays small.
        """
        jobs = list(self._jobs())
        spreads = {  # metrics of a kind share them
            (id(rows), str(estimator), metric.kind): partial(weight_spread, estimator, rows, metric.kind)
            for metric, estimator in self.settings.pairs
            for rows in [self.rows_of(metric, estimator)]
        }
        work: list[Any] = [*(partial(self._job, job) for job in jobs), *spreads.values()]
        done: list[Any] = list(self.engine.map(lambda each: each(), work))
        self._spreads.update(zip(spreads, done[len(jobs) :], strict=True))
        terms: dict[Key, Terms] = {}
        lists: dict[tuple[Sample, AnyMetric, tuple[Estimator, ...]], dict[str, Floats]] = {}
        for (sample, model, group), (job_terms, values) in zip(jobs, done, strict=False):
            terms |= job_terms
            for metric, estimators in group:
                if str(metric) in values:
                    lists.setdefault((sample, metric, estimators), {})[model] = values[str(metric)]
        for (sample, metric, estimators), columns in lists.items():
            defined = ~np.any([np.isnan(column) for column in columns.values()], axis=0)
            users = np.arange(int(defined.sum()))
            for model, column in columns.items():
                for estimator in estimators:
                    rows = Rows(column[defined], users, who=sample.users[defined])
                    terms[str(metric), str(estimator), model] = self.keyed(estimator.terms(rows, "list"), rows)
        self._shrink(terms)
        return terms

    def _shrink(self, terms: dict[Key, Terms]) -> None:
        """Replace the terms of imputation by those of all models together, shrunk towards the slice."""
        sample = self.samples.imputed
        if sample is None or sample.drawn is None:
            return
        compared = {}
        for metric, estimator in self.settings.pairs:
            if not isinstance(estimator, Imputing):
                continue
            words = str(metric), str(estimator)
            if isinstance(estimator, Blend) and sample.shrinks(metric, estimator):
                direct = {model: terms[*words, model] for model in sample.ranks}
                compared[words] = metric, sample.sliced(metric, estimator, direct)
            elif sample.fitted(metric, estimator):
                direct = {model: terms[*words, model] for model in sample.ranks}
                for model, each in zip(direct, sample.with_fit(metric, estimator, direct), strict=True):
                    terms[*words, model] = each
        if not compared:
            return
        shrunk = shrink_all(compared)
        for (metric_word, estimator_word), joint in shrunk.items():
            for model, each in zip(sample.ranks, joint.terms, strict=True):
                terms[metric_word, estimator_word, model] = each
        self._reports.append(report_slice(sample, compared, shrunk))

    @property
    def slice_report(self) -> SliceReport | None:
        """What the slice says, once the estimates are computed; None without one."""
        return self._reports[-1] if self._reports else None

    @cached_property
    def _reports(self) -> list[SliceReport]:
        return []

    def _jobs(self) -> Iterator[Work]:
        """Yield the jobs: all list metrics of a model together, because they share its lists, or one metric."""
        groups: dict[tuple[int, str], tuple[Sample, dict[str, tuple[AnyMetric, list[Estimator]]]]] = {}
        for metric, estimator in self.settings.pairs:
            sample = self.samples.of(metric, estimator)
            self.rows_of(metric, estimator)  # made before the threads start, each once
            _, asked = groups.setdefault((id(sample), "" if sample.by_list(metric) else str(metric)), (sample, {}))
            asked.setdefault(str(metric), (metric, []))[1].append(estimator)
        for key in sorted(groups, key=lambda key: key[1] != ""):  # lists take longest, so they come first
            sample, asked = groups[key]
            work = tuple((metric, tuple(estimators)) for metric, estimators in asked.values())
            for model in sample.judged_by(work[0][0]):
                yield sample, model, work

    def _job(self, work: Work) -> tuple[dict[Key, Terms], dict[str, Floats]]:
        """Terms of a model, or the values of its list metrics."""
        sample, model, group = work
        if sample.by_list(group[0][0]):
            lists: Any = sample.lists(model) if sample.weights is None else None
            metrics = [metric for metric, _ in group if isinstance(metric, ListMetric | ContentMetric)]
            alone = len(sample.judged_by(metrics[0])) == 1  # with several models, each has a thread
            engine = self.engine if alone else Threads(1)
            values = engine.map(
                lambda metric: (
                    sample.list_values(model, metric, lists)
                    if isinstance(metric, ListMetric)
                    else metric.values(_cut(lists, metric))
                ),
                metrics,
            )
            return {}, {str(metric): each for metric, each in zip(metrics, values, strict=True)}
        terms: dict[Key, Terms] = {}
        for metric, estimators in group:
            for estimator in estimators:
                if isinstance(sample, Imputed):
                    filled = sample.fill(self.rows_of(metric, estimator), model, metric, estimator)
                    # with a slice, imputation is all that a model needs alone; `_shrink` joins the models
                    shrinks = sample.shrinks(metric, estimator)
                    terms[str(metric), str(estimator), model] = (Dm() if shrinks else estimator).terms(
                        filled, metric.kind
                    )
                    continue
                miss, rows = estimator.misses_ties, self.rows_of(metric, estimator)
                gains = self.gains_of(sample, model, metric, misses_ties=miss)
                rows = rows.with_worth(gains, sample.places(model, metric, misses_ties=miss))
                share = as_share(terms_of(rows, metric, estimator), sample, metric)
                terms[str(metric), str(estimator), model] = self.keyed(share, rows)
        return terms, {}

    def gains_of(self, sample: Sample, model: str, metric: AnyMetric, *, misses_ties: bool = False) -> Floats:
        """The gain of each row; as many as fit are kept, because estimates and their band at all gammas share them."""
        key = id(sample), model, str(metric), misses_ties
        gains = self._gains.get(key)
        if gains is None:
            gains = sample.gains(model, metric, misses_ties=misses_ties)
            if (len(self._gains) + 1) * sample.rows <= KEPT_GAINS:
                self._gains[key] = gains
        return gains

    def keyed(self, terms: Terms, rows: Rows) -> Terms:
        """The terms with the codes of their users, and with keys if the interval draws users by key."""
        interval = self.settings.interval
        if not isinstance(interval, Bootstrap) or not interval.merges:
            return replace(terms, who=rows.who)
        assert rows.who is not None
        return replace(terms, who=rows.who, keys=self._user_keys[rows.who])

    @cached_property
    def _user_keys(self) -> Ints:
        ids = self.samples.judged.split.user_vocabulary.ids
        return user_keys(canonical(ids, "users"))

    @staticmethod
    def _groups(cells: list[Cell]) -> Iterator[list[int]]:
        """Yield places of cells whose terms have the same users in the same order."""
        by_size: dict[tuple[int, str, int, bool], list[int]] = {}
        for k, cell in enumerate(cells):
            first = next(iter(cell.terms.values()))
            key = (len(first.numerator), first.units, cell.dropped_users, cell.metric.kind in OVER_ALL_PAIRS)
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
            self.cluster or Threads(self.threads),
        )
        for (k, model), term, (low, high) in zip(keys, terms, bounds, strict=True):
            estimates[k, model] = self._estimate(cells[k], model, term, low, high)
        for (k, a, b), (low, high) in zip(pairs, gaps, strict=True):
            first, second = cells[k].terms[a], cells[k].terms[b]
            names, p = (str(cells[k].metric), str(cells[k].estimator)), settings.interval.p_value(first, second)
            comparisons[k, a, b] = Comparison(*names, a, b, difference(first, second)[0], low, high, p, None)
        for k in group:
            compared = [key for key in pairs if key[0] == k]
            for key, adjusted in holm({key: comparisons[key].p_value for key in compared}).items():
                comparisons[key] = replace(comparisons[key], p_value_holm=adjusted)

    def _estimate(self, cell: Cell, model: str, terms: Terms, low: float | None, high: float | None) -> Estimate:
        definition = self.samples.of(cell.metric, cell.estimator).definition(cell.metric, model)
        unranked = cell.metric.kind in {"loss", "content"}  # no rank of a held-out row is used
        tied_share = 0.0 if unranked else self.samples.observed(cell.metric).ranks[model].tied_share
        error = self.settings.interval.std_error(terms)
        numbers = {"value": terms.value, "std_error": error, "low": low, "high": high}
        return cell.estimate(model, definition, self.settings.level, tied_share, **numbers)

    @cached_property
    def _rows(self) -> dict[tuple[int, bool, bool, str, str], Rows]:
        return {}

    @cached_property
    def _gains(self) -> dict[tuple[int, str, str, bool], Floats]:
        return {}

    @cached_property
    def _spreads(self) -> dict[tuple[int, str, str], WeightSpread]:
        return {}

    @cached_property
    def _chances(self) -> dict[int, Floats]:
        return {}


def _cut(lists: Any, metric: AnyMetric) -> Any:
    """The lists that a metric uses: of top lists, as many places as its cut-off."""
    return lists.cut(metric.cutoff or 1) if isinstance(lists, TopItems) else lists


def as_share(terms: Terms, sample: Sample, metric: AnyMetric) -> Terms:
    """The terms of a propensity-scored metric as a share of the best possible; others as they are."""
    scored = scored_of(metric)
    if scored is None:
        return terms
    cutoff = metric.cutoff or 1
    divisors = scored.divisors(np.diff(sample.offsets), cutoff)
    best = scored.best(sample.rarity(metric), sample.offsets, cutoff)
    return replace(terms, numerator=terms.numerator / divisors, denominator=best / divisors)


def terms_of(rows: Rows, metric: AnyMetric, estimator: Estimator) -> Terms:
    """The terms of a metric; for a root, the terms under the root."""
    terms = estimator.terms(rows, metric.kind)
    return replace(terms, root=True) if isinstance(metric, RatingLoss) and metric.root else terms
