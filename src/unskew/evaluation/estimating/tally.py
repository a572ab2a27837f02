"""`Tally`: the numbers of rows, users and items that warnings and the record of a run need."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.data import Split
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.fitting.models import Fitted
from unskew.propensities import Popularity, Propensity
from unskew.ranking import Contest, ListScorer, Ranks

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

_T = TypeVar("_T", "ModelTally", "Tally")
_LARGEST = {"unknown_items", "most_candidates", "longest_list", "catalogue_size"}
"""Numbers that merge by the largest one; all others are added up."""
SCALE = 20
"""Most distinct values that a column of ratings has; more are counts or durations."""


@dataclass(frozen=True)
class ModelTally:
    """Numbers that depend on the model."""

    unknown_users: int = 0  # judged users whom it does not know
    unknown_rows: int = 0  # their rows
    most_candidates: int = 0  # the largest number of candidates of a user
    longest_list: int = -1  # the largest number of listed candidates of a user; -1 if all items are scored
    tied: int = 0  # rows that are tied with another candidate
    tied_in_list: int = 0  # those of them that are in the list
    skipped: int = 0  # listed items that are not candidates
    listed: int = 0  # all listed items of judged users
    unfilled: int = 0  # users whose list has fewer items than there are candidates


@dataclass(frozen=True)
class Tally:
    """Numbers of rows, users and items of a run. Those of several partitions are merged by `join`."""

    asked: int = 0  # test rows that should be judged: the positive ones, for metrics over positives
    judged: int = 0  # those that are
    reasons: Mapping[str, int] = field(default_factory=dict)  # why others are not
    users: int = 0  # judged users
    rows: int = 0  # their rows
    dropped: Mapping[str, int] = field(default_factory=dict)  # rows and users that are left out, by reason
    sizes: Mapping[str, int] = field(default_factory=dict)  # users by number of rows
    unknown_rows: int = 0  # rows of items that are neither in train nor known to a model
    catalogue_size: int = 0
    unknown_items: Mapping[str, int] = field(default_factory=dict)  # items of the catalogue that a model does not know
    train: int = 0
    positives: int = 0  # training rows that are positive
    repeated_in_train: int = 0
    repeated_in_test: int = 0
    cold: int = 0  # judged users without a training row
    shared_rows: int = 0  # rows of users whom all models know
    new_rows: int = 0  # rows of items without a positive training row
    new_weight: float = 0.0  # their weight
    weight: float = 0.0  # that of all rows
    timed: int = 0  # test rows with a time, if train has times too
    older: int = 0  # those that are older than their user's last training row
    later: int = 0  # those that are later
    dated: int = 0  # those whose user has a training row
    late: int = 0  # training rows that are later than the first test row
    rated: int = 0  # rows with a rating, for metrics over all pairs
    rated_users: int = 0
    rated_pairs: int = 0  # the pairs that they represent
    rated_dropped: Mapping[str, int] = field(default_factory=dict)
    rated_tied: Mapping[str, int] = field(default_factory=dict)  # by model, those that are tied
    levels: Mapping[str, int] = field(default_factory=dict)  # test rows by rating, if few ratings occur
    models: Mapping[str, ModelTally] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Tally":
        """The inverse of `to_dict`."""
        models = {name: ModelTally(**numbers) for name, numbers in given["models"].items()}
        return cls(**{**given, "models": models})

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers."""
        return asdict(self)

    @staticmethod
    def join(parts: "Sequence[Tally]") -> "Tally":
        """The tally of rows that are in several parts; no user is in two."""
        joined = reduce(_joined, parts)
        return replace(joined, sizes={size: joined.sizes[size] for size in sorted(joined.sizes, key=int)})


def _joined(a: _T, b: _T) -> _T:
    joined: dict[str, Any] = {}
    for name in (each.name for each in fields(a)):
        one, other = getattr(a, name), getattr(b, name)
        if isinstance(one, Mapping):
            both = {key: _merge(name, one[key], other[key]) for key in one if key in other}
            joined[name] = {**one, **other, **both}
        else:
            joined[name] = _merge(name, one, other)
    return type(a)(**joined)


def _merge(name: str, one: Any, other: Any) -> Any:
    if isinstance(one, ModelTally):
        return _joined(one, other)
    return max(one, other) if name in _LARGEST else one + other


def tally_report(report: "Report") -> Tally:
    """The tally of a report from its rows."""
    sample, settings = report.samples.judged, report.settings
    weighted = isinstance(settings.propensity, Popularity) and any(e.uses_propensity for e in settings.estimators)
    return tally_samples(
        report.samples,
        settings.positive,
        report.contenders.models,
        report.propensities.of(sample.kind) if weighted and report.samples.exposed is None else None,
        first_test=first_time(sample.split),
    )


def first_time(split: Split) -> float | None:
    """The time of the first test row; None if there are no times."""
    times = split.test.times
    return None if times is None or not len(times) else float(times.min())


def tally_samples(
    samples: Samples,
    positive: str | None,
    models: Mapping[str, Fitted],
    propensity: Propensity | None,
    *,
    first_test: float | None,
) -> Tally:
    """The tally of judged rows.

    Parameters
    ----------
    samples : Samples
    positive : str or None
        The condition for positive rows.
    models : mapping
    propensity : Propensity or None
        That of popularity, if an estimate is weighted by it.
    first_test : float or None
        The time of the first test row of all.
    """
    whole, sample, ratings = samples.whole, samples.judged, samples.ratings
    split = sample.split
    asked = len(split.test) if positive is None or whole.kind != "positives" else int(split.test.holds(positive).sum())
    counts, users = np.unique(np.diff(sample.offsets), return_counts=True)
    return Tally(
        asked=asked,
        judged=whole.rows - whole.dropped.get("rows_without_prediction", 0),
        reasons=dict(whole.dropped),
        users=len(sample.users),
        rows=sample.rows,
        dropped=dict(sample.dropped),
        sizes={str(n): int(of) for n, of in zip(counts, users, strict=True)},
        unknown_rows=0 if samples.contest is None else samples.contest.unknown_rows,
        catalogue_size=0 if samples.contest is None else samples.contest.catalogue_size,
        unknown_items={} if samples.contest is None else _unknown_items(samples.contest),
        train=len(split.train),
        positives=len(sample.train),
        repeated_in_train=split.train.duplicates,
        repeated_in_test=split.test.duplicates,
        cold=int(np.sum(split.train.user_counts[sample.users] == 0)),
        **tally_times(split, first_test),
        shared_rows=int(known_to_all(sample).sum()),
        **({} if propensity is None else _of_weights(sample, propensity)),
        rated=0 if ratings is None else ratings.rows,
        rated_users=0 if ratings is None else len(ratings.users),
        rated_pairs=0 if ratings is None else ratings.pairs_in_all,
        rated_dropped={} if ratings is None else dict(ratings.dropped),
        rated_tied={} if ratings is None else {name: _count_tied(ranks) for name, ranks in ratings.ranks.items()},
        levels=_levels(split.test.values) if positive is None and not split.exposed else {},
        models={name: _of_model(samples, name, ranks, models.get(name)) for name, ranks in sample.ranks.items()},
    )


def known_to_all(sample: Sample) -> Bools:
    """Which judged rows belong to users whom all models know."""
    known = [ranks.known for ranks in sample.ranks.values() if ranks.known is not None]
    return np.all(known, axis=0) if known else np.ones(sample.rows, dtype=bool)


def tally_times(split: Split, first_test: float | None) -> dict[str, Any]:
    """Numbers of test rows before and after their user's last training row, and of training rows after `first_test`."""
    train, test = split.train, split.test
    if train.times is None or test.times is None or first_test is None or not len(train):
        return {}
    last = np.full(len(split.user_vocabulary), -np.inf)
    np.maximum.at(last, train.users, train.times)
    latest = last[test.users]
    dated = np.isfinite(latest)
    return {
        "timed": len(test),
        "older": int(np.sum(test.times < latest)),
        "later": int(np.sum((test.times > latest) & dated)),
        "dated": int(dated.sum()),
        "late": int(np.sum(train.times > first_test)),
    }


def _of_weights(sample: Sample, propensity: Propensity) -> dict[str, Any]:
    """The weight of rows whose items have no training row; it depends on the item alone."""
    items = np.arange(sample.train.n_items)
    rows, new = np.bincount(sample.items, minlength=len(items)), sample.train.item_counts == 0
    counted = rows if sample.weights is None else np.bincount(sample.items, sample.weights, len(items))
    weights = counted / np.asarray(propensity(items, items), dtype=float)
    return {
        "new_rows": int(rows[new].sum()),
        "new_weight": float(np.nansum(weights[new])),
        "weight": float(np.nansum(weights)),
    }


def _levels(values: Floats | None) -> dict[str, int]:
    """Number of rows by rating; empty if there are no ratings, or more different ones than a scale has."""
    if values is None:
        return {}
    levels, counts = np.unique(values, return_counts=True)
    return {repr(float(level)): int(n) for level, n in zip(levels, counts, strict=True)} if len(levels) <= SCALE else {}


def _count_tied(ranks: Ranks) -> int:
    return int(np.sum(ranks.tied > 0))


def _unknown_items(contest: Contest) -> dict[str, int]:
    return {name: binding.unknown_items for name, binding in contest.bindings.items()}


def _of_model(samples: Samples, name: str, ranks: Ranks, model: Fitted | None) -> ModelTally:
    sample, contest = samples.judged, samples.contest
    firsts = sample.offsets[:-1]  # what is the same for all rows of a user is looked up once
    held, known, in_list = sample.listed(name), ranks.known, ranks.in_list()
    candidates, tied = ranks.candidates[firsts], ranks.tied > 0
    numbers: dict[str, int] = {}
    if contest is not None and name in contest.bindings:
        binding = contest.bindings[name]
        scorer = None if model is None else model.ranker
        if isinstance(scorer, ListScorer) and ranks.listed is not None and not contest.among:
            rows = binding.rows[sample.users]
            listed = ranks.listed[firsts][rows >= 0]
            lengths = np.diff(scorer.offsets)[rows[rows >= 0]]
            numbers["skipped"] = int(np.sum(lengths - listed))
            numbers["listed"] = int(lengths.sum())
            numbers["unfilled"] = int(np.sum(listed < candidates[rows >= 0]))
    return ModelTally(
        unknown_users=0 if known is None else int(np.sum(~sample.served(name))),
        unknown_rows=0 if known is None else int(np.sum(~known)),
        most_candidates=int(candidates.max(initial=0)),
        longest_list=-1 if held is None or not len(ranks) else int(held[firsts].max()),
        tied=int(np.count_nonzero(tied)),
        tied_in_list=int(np.count_nonzero(tied if in_list is None else tied & (ranks.above < in_list))),
        **numbers,
    )
