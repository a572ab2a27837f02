"""`evaluate_parts`: judge models on a data set larger than memory, part by part."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from unskew.arrays import offsets_of
from unskew.data import Split
from unskew.data.locks import held
from unskew.data.partitions import PartitionedSplit, prepare_work, user_keys
from unskew.data.partitions.locations import version_of
from unskew.data.vocabulary import Vocabulary, canonical
from unskew.errors import DataError, Option
from unskew.evaluation.checking import PART_CHECKS, warn
from unskew.evaluation.collecting.collect import Collector
from unskew.evaluation.collecting.relevant_counts import counts_frame, with_relevant_counts
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.propensity_sum import diagnosed_propensity, is_diagnosed, sum_inverses
from unskew.evaluation.estimating.tally import Tally, known_to_all, tally_samples
from unskew.evaluation.fitting.models import Contenders, Fitted
from unskew.evaluation.fitting.propensities import Propensities, fit_propensities
from unskew.evaluation.partitioned.counting import Counter, Counts, check_counts
from unskew.evaluation.partitioned.memory import check_memory
from unskew.evaluation.partitioned.mergeable import check_mergeable
from unskew.evaluation.partitioned.merging import Merged
from unskew.evaluation.partitioned.part_models import PartModel, PartTable, part_models
from unskew.evaluation.partitioned.reduction import Reduction, reduce_samples
from unskew.evaluation.record import digests_of, versions
from unskew.evaluation.report import Report
from unskew.evaluation.run import Run
from unskew.evaluation.settings.admissible import check_candidates, check_models, check_needs
from unskew.evaluation.settings.settings import Settings
from unskew.progress import Stage, counting
from unskew.propensities import InverseSums, Popularity
from unskew.ranking import Engine, Threads, default_block_size

_T = TypeVar("_T")


def evaluate_parts(
    models: Mapping[str, Any],
    split: PartitionedSplit,
    settings: Settings,
    *,
    engine: Engine,
    threads: int | None = None,
    relevant: Any = None,
    work: str | Path | None = None,
    memory: str | None = None,
    progress: Stage | None = None,
) -> Report:
    """Judge models part by part; the numbers are those of `evaluate` with all rows in memory.

    Parameters
    ----------
    models : mapping
        From `check_part_models`.
    split : PartitionedSplit
    settings : Settings
    engine : Engine
        A part is a task.
    threads : int, optional
    relevant : mapping or frame, optional
        Each user's number of relevant items.
    work : str or Path, optional
        A folder that keeps finished parts, so that a run that was stopped goes on.
    memory : str, optional
        A limit, as in ``4GiB``; a run that needs more is refused before it starts.
    progress : callable, optional
    """
    check_mergeable(settings, split.rule)
    if work is not None:
        with held(prepare_work(work)):
            return _evaluate(models, split, settings, engine, threads, relevant, Path(work), memory, progress)
    return _evaluate(models, split, settings, engine, threads, relevant, None, memory, progress)


def _evaluate(
    models: Mapping[str, Any],
    split: PartitionedSplit,
    settings: Settings,
    engine: Engine,
    threads: int | None,
    relevant: Any,
    folder: Path | None,
    memory: str | None,
    progress: Stage | None,
) -> Report:
    parts = list(range(len(split)))
    counter = Counter(split, settings.positive)
    counts = Counts.join(_mapped(engine, counter.count, parts, progress, "counting rows"))
    check_counts(counts, split)
    tables = {
        name: reduce(Vocabulary.union, _mapped(engine, model.items, parts, progress, f"reading items of {name}"))
        for name, model in models.items()
        if isinstance(model, PartTable)
    }
    of_parts = part_models(models, counts.items, counts.positives, tables)
    check_memory(memory, counts, models, engine, threads, settings.block_size)
    empty = counts.without_rows(settings.positive, split.rule)
    run, propensities = fit_propensities(Run(empty, settings, engine, threads, progress, partial=True))
    check_mergeable(run.settings, split.rule)
    check_needs(run.settings, propensities.positives, counted=relevant is not None)
    check_candidates(split.rule, run.settings.metrics, len(counts.items))
    nobody = Vocabulary(np.empty(0, dtype=np.int64))
    contenders = Contenders({name: model.of(0, nobody) for name, model in of_parts.items()})
    check_models(contenders.models, run.settings)
    reducer = Reducer(split, of_parts, run.settings, counts, _by_part(relevant, len(split)))
    done = _reduce_all(reducer, engine, folder, _run_key(models, reducer), progress)
    tally = Tally.join([part.tally for part in done])
    if not tally.rows:
        raise _nothing_judged(tally)
    merged = Merged.join(run.settings, done, counts.data)
    block = run.settings.block_size or default_block_size(tally.catalogue_size)
    ranked = any(metric.kind != "loss" for metric in run.settings.metrics)
    samples = Samples(_no_rows(empty, run, relevant=relevant is not None), block_size=block if ranked else None)
    report = Report(run, contenders, propensities, samples, merged.estimated(), merged=merged)
    return replace(report, warnings=warn(report, PART_CHECKS))


@dataclass(frozen=True, eq=False)
class Reducer:
    """Reads, ranks and reduces a part; all that a worker needs."""

    split: PartitionedSplit
    models: Mapping[str, PartModel]
    settings: Settings
    counts: Counts
    relevant: Sequence[Any]

    def reduce(self, part: int) -> Reduction:
        """The sums of a part."""
        settings = self.settings
        train, test = self.split.train.read(part, strict=False), self.split.test.read(part)
        split = self.counts.split(train, test, settings.positive, self.split.rule)
        models = {name: model.of(part, split.user_vocabulary) for name, model in self.models.items()}
        run, propensities = fit_propensities(Run(split, settings, Threads(1), 1, partial=True))
        samples = Collector(run, models).samples()
        if self.relevant and samples.judged is not samples.ratings:
            counted = with_relevant_counts(samples.judged, self.relevant[part], models, settings.users)
            samples = replace(samples, judged=counted)
        arrays, band = reduce_samples(settings, samples, propensities)
        shared, rest = self._on_common_users(samples)
        return Reduction(
            tally=self._tally(samples, models, propensities),
            arrays=arrays,
            common=None if shared is None else reduce_samples(rest, shared, propensities)[0],
            common_tally=None if shared is None else self._tally(shared, models, propensities),
            models={str(metric): samples.observed(metric).judged_by(metric) for metric in settings.metrics},
            definitions={
                f"{metric}|{model}": samples.observed(metric).definition(metric, model)
                for metric in settings.metrics
                for model in samples.observed(metric).judged_by(metric)
            },
            band=band,
            digests=digests_of(samples),
            inverses=self._inverses(samples, propensities),
        )

    def _on_common_users(self, samples: Samples) -> tuple[Samples | None, Settings]:
        """The rows of users whom all models know; None if these are all rows."""
        sample, settings = samples.judged, self.settings
        pairs = tuple(pair for pair in settings.pairs if pair[0].kind not in {"loss", "graded"})
        if settings.users != "any" or len(sample.ranks) < 2 or not pairs:
            return None, settings
        known = known_to_all(sample)
        if known.all():
            return None, settings
        users = np.zeros(len(sample.known_users), dtype=bool)
        users[sample.row_users[known]] = True
        common = replace(samples, judged=sample.of_users(users, sample.ranks), ratings=None)
        return common, replace(settings, pairs=pairs, users="common")

    def _inverses(self, samples: Samples, propensities: Propensities) -> InverseSums:
        if not is_diagnosed(self.settings):
            return InverseSums()
        return sum_inverses(samples, diagnosed_propensity(self.settings, propensities, samples.judged.kind))

    def _tally(self, samples: Samples, models: Mapping[str, Fitted], propensities: Propensities) -> Tally:
        weighted = isinstance(self.settings.propensity, Popularity) and any(
            estimator.uses_propensity for estimator in self.settings.estimators
        )
        return tally_samples(
            samples,
            self.settings.positive,
            models,
            propensities.of(samples.judged.kind) if weighted else None,
            first_test=self.counts.first_test,
        )


def _reduce_all(
    reducer: Reducer, engine: Engine, work: Path | None, key: str, progress: Stage | None
) -> list[Reduction]:
    """Reduce all parts; those that `work` has from a run that was stopped are read."""
    parts = len(reducer.split)
    done: dict[int, Reduction] = {}
    if work is not None:
        kept = {part: Reduction.load(_kept_in(work, part), key) for part in range(parts)}
        done = {part: reduction for part, reduction in kept.items() if reduction is not None}
    left = [part for part in range(parts) if part not in done]
    advance = counting(progress, "ranking parts", len(done), parts)
    for part, reduction in zip(left, engine.map(reducer.reduce, left), strict=True):
        done[part] = reduction
        if work is not None:
            reduction.save(_kept_in(work, part), key)
        advance()
    return [done[part] for part in range(parts)]


def _kept_in(work: Path, part: int) -> Path:
    return work / f"part-{part:05d}.npz"


def _mapped(
    engine: Engine, task: Callable[[int], _T], parts: Sequence[int], progress: Stage | None, stage: str
) -> Iterator[_T]:
    """Yield the result of each part, in order, and report how many are done."""
    advance = counting(progress, stage, 0, len(parts))
    for result in engine.map(task, parts):
        yield result
        advance()


def _by_part(relevant: Any, parts: int) -> list[Any]:
    """The numbers of relevant items of the users of each part; empty without numbers."""
    if relevant is None:
        return []
    frame = counts_frame(relevant)
    part_of = user_keys(canonical(frame["user"], "users of the relevant counts")) % np.uint64(parts)
    return [frame.filter(pl.Series(part_of == part)) for part in range(parts)]


def _no_rows(split: Split, run: Run, *, relevant: bool) -> Sample:
    """A sample without rows, for a report whose numbers come from sums."""
    nothing = np.empty(0, dtype=np.int32)
    return Sample(
        split=split,
        train=run.positives,
        users=nothing,
        offsets=offsets_of([]),
        items=nothing,
        ranks={},
        known_users=np.zeros(0, dtype=bool),
        dropped={},
        relevant=np.empty(0) if relevant else None,
        unlisted=run.settings.unlisted,
    )


def _nothing_judged(tally: Tally) -> DataError:
    dropped = tally.dropped
    if dropped.get("rows_of_unknown_users"):
        return DataError(
            f"no test user is left: {dropped['unknown_users']:,} are known to no model; are the user ids of the models "
            "those of the test?"
        )
    if dropped.get("items_in_train"):
        return DataError(
            f"no test row is left: {dropped['items_in_train']:,} are also in train; use {Option('candidates', 'all')} "
            "to keep them"
        )
    return DataError(f"the test has no positive row; check {Option('positive')} and the rating column")


def _run_key(models: Mapping[str, Any], reducer: Reducer) -> str:
    """A fingerprint of everything that decides the sums of a part."""
    digest = hashlib.sha256()
    for word in (repr(reducer.settings), str(reducer.split.rule), repr(reducer.counts.data), repr(versions())):
        digest.update(word.encode())
    digest.update(repr([frame.rows() for frame in reducer.relevant]).encode())
    for name, model in models.items():
        digest.update(f"{name} {type(model).__name__}".encode())
        _add_model(digest, model)
    return digest.hexdigest()


def _add_model(digest: Any, model: Any) -> None:
    if isinstance(model, PartTable):
        for file in model.parts.files:
            digest.update(f"{file} {version_of(file)}".encode())
        return
    for name, value in getattr(model, "__dict__", {}).items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            for start in range(0, len(value), 65536):  # a memory map is read in pieces
                digest.update(np.ascontiguousarray(value[start : start + 65536]).tobytes())
        elif isinstance(value, str | int | float | bool | None):
            digest.update(f"{name} {value}".encode())
        else:  # a function is known by its name alone, because what it computes cannot be compared
            digest.update(f"{name} {getattr(value, '__qualname__', type(value).__name__)}".encode())
