"""`Estimation`: computes estimates and comparisons from samples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
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
    holm,
)
from unskew.evaluation.collecting.imputed import Imputed
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.cell import Cell, LaterTerms, WeightSpread, as_share, make_cell, weight_spread
from unskew.evaluation.estimating.slice_report import SliceReport, report_slice, shrink_all
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric, ContentMetric, ListMetric, RatingLoss, TopItems
from unskew.ranking import Engine, Threads
from unskew.ranking.engines.threads import usable_cores

MANY_ROWS = 2**18  # below, threads wait for one another longer than they save
KEPT_GAINS = 2**23  # numbers
KEPT_TERMS = 2**23  # numbers; the terms of more metrics than fit are computed batch by batch

Work: TypeAlias = tuple[Sample, str, tuple[tuple[AnyMetric, tuple[Estimator, ...]], ...]]
"""A sample, a model, and its metrics with the estimators of each."""
Unit: TypeAlias = tuple[Sample, AnyMetric, list[Estimator]]
"""A sample, and a metric with its estimators: what is computed together."""
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
        """Compute all cells with their intervals, some cells at a time, so that not all terms are in memory at once.

        If they do not fit together, a cell that is returned computes its terms again when they are asked for. A
        bootstrap draws the same users for every batch of cells, so its numbers do not depend on the batches.
        """
        batches = self._batches()
        cells: dict[int, Cell] = {}
        estimates: dict[tuple[int, str], Estimate] = {}
        comparisons: dict[tuple[int, str, str], Comparison] = {}
        for batch in batches:
            fresh = self._cells(batch)
            for group in self._groups(fresh):
                self._intervals(fresh, group, estimates, comparisons)
            cells |= fresh if len(batches) == 1 else {k: self._released(cell) for k, cell in fresh.items()}
            del fresh
        in_order = [cells[k] for k in range(len(self.settings.pairs))]
        return (
            in_order,
            [estimates[k, model] for k, cell in enumerate(in_order) for model in cell.terms],
            [comparisons[k, a, b] for k, cell in enumerate(in_order) for a, b in combinations(cell.terms, 2)],
        )

    def cells(self) -> Iterator[Cell]:
        """Yield the numerators and denominators per user of each metric and estimator, without intervals."""
        for batch in self._batches():
            yield from self._cells(batch).values()

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

    def _cell(self, sample: Sample, metric: AnyMetric, estimator: Estimator, terms: dict[Key, Terms]) -> Cell:
        by_model = {model: terms[str(metric), str(estimator), model] for model in sample.judged_by(metric)}
        chances = self.chances_of(sample) if estimator.uses_propensity else None
        rows = self.rows_of(metric, estimator)
        spread = self._spreads[id(rows), str(estimator), metric.kind]
        return make_cell(sample, metric, estimator, rows, chances, by_model, spread)

    def _units(self) -> list[Unit]:
        """The metrics with their estimators, those of lists first, because they take longest."""
        asked: dict[tuple[int, str], Unit] = {}
        for metric, estimator in self.settings.pairs:
            sample = self.samples.of(metric, estimator)
            self.rows_of(metric, estimator)  # made before the threads start, each once
            unit = asked.setdefault((id(sample), str(metric)), (sample, metric, []))
            unit[2].append(estimator)
        return sorted(asked.values(), key=lambda unit: not unit[0].by_list(unit[1]))

    def _batches(self) -> list[list[Unit]]:
        """The metrics in batches whose terms fit together; each batch has work for all threads."""
        batches: list[list[Unit]] = []
        size = jobs = 0
        for unit in self._units():
            sample, metric, estimators = unit
            models = len(sample.judged_by(metric))
            if not batches or (size >= KEPT_TERMS and jobs >= (self.engine.n or usable_cores())):
                batches.append([])
                size = jobs = 0
            batches[-1].append(unit)
            jobs += models
            for estimator in estimators:
                rows = self.rows_of(metric, estimator)
                # numerator, denominator and influence, and what each row adds to an error where that is known
                size += models * (3 * rows.n_users + (len(rows) if metric.kind in OVER_ALL_PAIRS else 0))
        return batches

    def _cells(self, batch: list[Unit]) -> dict[int, Cell]:
        """The cells of a batch, by their places in the settings."""
        wanted = [(sample, metric, each) for sample, metric, estimators in batch for each in estimators]
        spreads = {  # metrics of a kind share them
            key: partial(weight_spread, estimator, rows, metric.kind)
            for _, metric, estimator in wanted
            for rows in [self.rows_of(metric, estimator)]
            if (key := (id(rows), str(estimator), metric.kind)) not in self._spreads
        }
        terms, done = self._terms(batch, list(spreads.values()))
        self._spreads.update(zip(spreads, done, strict=True))
        places = {(str(metric), str(estimator)): k for k, (metric, estimator) in enumerate(self.settings.pairs)}
        cells = {
            places[str(metric), str(estimator)]: self._cell(sample, metric, estimator, terms)
            for sample, metric, estimator in wanted
        }
        return dict(sorted(cells.items()))

    def _terms(self, batch: list[Unit], also: Sequence[Callable[[], Any]] = ()) -> tuple[dict[Key, Terms], list[Any]]:
        """Terms of a batch by metric, estimator and model, and the results of further jobs.

        Jobs run in parallel and hold the gains of one model and metric at a time, so memory stays small.
        """
        jobs = list(self._jobs(batch))
        terms = dict(self._joint)
        work: list[Callable[[], Any]] = [*(partial(self._job, job) for job in jobs), *also]
        done: list[Any] = list(self.engine.map(lambda each: each(), work))
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
        return terms, done[len(jobs) :]

    def _released(self, cell: Cell) -> Cell:
        """The cell without its terms, which are computed again when they are asked for."""
        first = next(iter(cell.terms.values()))
        if first.units != "users":  # few numbers, of all models together
            return cell
        return replace(cell, terms=LaterTerms(tuple(cell.terms), partial(self._again, cell.metric, cell.estimator)))

    def _again(self, metric: AnyMetric, estimator: Estimator) -> Mapping[str, Terms]:
        """The terms of one cell; those of the last one are kept, because a reader asks for one model after another."""
        words, sample = (str(metric), str(estimator)), self.samples.of(metric, estimator)
        known = self._last.get(words)
        if known is None:
            self._last.clear()
            terms, _ = self._terms([(sample, metric, [estimator])])
            known = self._last[words] = {model: terms[*words, model] for model in sample.judged_by(metric)}
        return known

    @cached_property
    def _joint(self) -> dict[Key, Terms]:
        """Terms of imputation of all models together, shrunk towards the slice, or with the error of its fit."""
        sample, joined = self.samples.imputed, dict[Key, Terms]()
        if sample is None or sample.drawn is None:
            return joined
        compared = {}
        for metric, estimator in self.settings.pairs:
            if not isinstance(estimator, Imputing):
                continue
            words = str(metric), str(estimator)
            shrinks = isinstance(estimator, Blend) and sample.shrinks(metric, estimator)
            if not shrinks and not sample.fitted(metric, estimator):
                continue
            alone = self.engine.map(partial(self._imputed, sample, metric, estimator), list(sample.ranks))
            direct = dict(zip(sample.ranks, alone, strict=True))
            if shrinks:
                assert isinstance(estimator, Blend)
                compared[words] = metric, sample.sliced(metric, estimator, direct)
                continue
            for model, each in zip(direct, sample.with_fit(metric, estimator, direct), strict=True):
                joined[*words, model] = each
        if not compared:
            return joined
        shrunk = shrink_all(compared)
        for (metric_word, estimator_word), joint in shrunk.items():
            for model, each in zip(sample.ranks, joint.terms, strict=True):
                joined[metric_word, estimator_word, model] = each
        self._reports.append(report_slice(sample, compared, shrunk))
        return joined

    @property
    def slice_report(self) -> SliceReport | None:
        """What the slice says, once the estimates are computed; None without one."""
        return self._reports[-1] if self._reports else None

    @cached_property
    def _reports(self) -> list[SliceReport]:
        return []

    @staticmethod
    def _jobs(batch: list[Unit]) -> Iterator[Work]:
        """Yield the jobs: all list metrics of a model together, because they share its lists, or one metric."""
        groups: dict[tuple[int, str], tuple[Sample, list[tuple[AnyMetric, tuple[Estimator, ...]]]]] = {}
        for sample, metric, estimators in batch:
            _, asked = groups.setdefault((id(sample), "" if sample.by_list(metric) else str(metric)), (sample, []))
            asked.append((metric, tuple(estimators)))
        for sample, asked in groups.values():
            for model in sample.judged_by(asked[0][0]):
                yield sample, model, tuple(asked)

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
                    if (str(metric), str(estimator), model) not in self._joint:
                        terms[str(metric), str(estimator), model] = self._imputed(sample, metric, estimator, model)
                    continue
                miss, rows = estimator.misses_ties, self.rows_of(metric, estimator)
                gains = self.gains_of(sample, model, metric, misses_ties=miss)
                rows = rows.with_worth(gains, sample.places(model, metric, misses_ties=miss))
                share = as_share(terms_of(rows, metric, estimator), sample, metric)
                terms[str(metric), str(estimator), model] = self.keyed(share, rows)
        return terms, {}

    def _imputed(self, sample: Imputed, metric: AnyMetric, estimator: Estimator, model: str) -> Terms:
        """Terms of a model alone; with a slice, imputation is all of them that is needed before models are joined."""
        filled = sample.fill(self.rows_of(metric, estimator), model, metric, estimator)
        return (Dm() if sample.shrinks(metric, estimator) else estimator).terms(filled, metric.kind)

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
    def _groups(cells: Mapping[int, Cell]) -> Iterator[list[int]]:
        """Yield places of cells whose terms have the same users in the same order."""
        by_size: dict[tuple[int, str, int, bool], list[int]] = {}
        for k, cell in cells.items():
            first = next(iter(cell.terms.values()))
            key = (len(first.numerator), first.units, cell.dropped_users, cell.metric.kind in OVER_ALL_PAIRS)
            by_size.setdefault(key, []).append(k)
        yield from by_size.values()

    def _intervals(
        self,
        cells: Mapping[int, Cell],
        group: list[int],
        estimates: dict[tuple[int, str], Estimate],
        comparisons: dict[tuple[int, str, str], Comparison],
    ) -> None:
        keys = [(k, model) for k in group for model in cells[k].terms]
        terms = [cells[k].terms[model] for k, model in keys]
        place = {key: index for index, key in enumerate(keys)}
        pairs = [(k, a, b) for k in group for a, b in combinations(cells[k].terms, 2)]
        settings = self.settings
        bounds, gaps = settings.interval.compare(
            terms,
            [(place[k, a], place[k, b]) for k, a, b in pairs],
            settings.level,
            np.random.default_rng([settings.seed, 1]),
            self.cluster or Threads(self.threads),
        )
        for (k, model), term, (low, high) in zip(keys, terms, bounds, strict=True):
            estimates[k, model] = self._estimate(cells[k], model, term, low, high)
        for (k, a, b), gap in zip(pairs, gaps, strict=True):
            names = str(cells[k].metric), str(cells[k].estimator)
            comparisons[k, a, b] = Comparison(*names, a, b, gap.value, gap.low, gap.high, gap.p_value, None)
        for k in group:
            compared = [(k, a, b) for a, b in combinations(cells[k].terms, 2)]
            for key, adjusted in holm({key: comparisons[key].p_value for key in compared}).items():
                comparisons[key] = replace(comparisons[key], p_value_holm=adjusted)

    def _estimate(self, cell: Cell, model: str, terms: Terms, low: float | None, high: float | None) -> Estimate:
        definition = self.samples.of(cell.metric, cell.estimator).definition(cell.metric, model)
        unranked = cell.metric.kind in {"loss", "content"}  # no rank of a held-out row is used
        tied_share = 0.0 if unranked else self.samples.observed(cell.metric).ranks[model].tied_share
        error = self.settings.interval.std_error(terms)
        numbers = {"value": terms.value, "std_error": error, "low": low, "high": high}
        return cell.estimate(model, definition, self.settings.level, tied_share, **numbers)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached, which is known by the identity of objects of this process."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _last(self) -> dict[tuple[str, str], Mapping[str, Terms]]:
        return {}

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


def terms_of(rows: Rows, metric: AnyMetric, estimator: Estimator) -> Terms:
    """The terms of a metric; for a root, the terms under the root."""
    terms = estimator.terms(rows, metric.kind)
    return replace(terms, root=True) if isinstance(metric, RatingLoss) and metric.root else terms
