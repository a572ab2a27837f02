"""`Coupling`: the number of positives that each user of one run has, or is assumed to have, in another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.evaluation.record import ROWS_A_USER
from unskew.metrics.exact.size_shift import SizeMix

if TYPE_CHECKING:
    from unskew.evaluation.collecting.sample import Sample
    from unskew.evaluation.report import Report


@dataclass(frozen=True, eq=False)
class Coupling:
    """The number of positives in the other run, for each user of this one."""

    mix: SizeMix
    by_rank: int = 0  # users who are not in the other run, and are matched by their rank
    from_mean: bool = False  # whether only the mean of the other run is known, and is spread in proportion


def couple(sample: "Sample", run: Mapping[str, Any], other: "Report | None") -> Coupling:
    """Return the sizes of another run, from its report if there is one, else from the record of the run."""
    sizes = np.diff(sample.offsets)
    judged = run["judged"]
    if ROWS_A_USER not in judged and other is None:
        return Coupling(SizeMix.between(in_proportion(sizes, judged["rows"] / judged["users"])), from_mean=True)
    mix = match_ranks(sizes, {int(size): users for size, users in judged[ROWS_A_USER].items()})
    if other is None:
        return Coupling(mix, by_rank=len(sizes))
    counts = counts_by_id(other.samples.judged)
    known = np.array([counts.get(user, 0) for user in counts_by_id(sample)], dtype=np.int64)
    has = known > 0
    first = np.arange(len(mix.sizes))[:, None] == 0
    matched = SizeMix(np.where(has, known, mix.sizes), np.where(has, first * 1.0, mix.weights))
    return Coupling(SizeMix.sure(known) if has.all() else matched, by_rank=int(np.sum(~has)))


def counts_by_id(sample: "Sample") -> dict[str, int]:
    """Positives by the id of the user, in the order of the users."""
    ids = sample.split.user_vocabulary.ids
    return {str(ids[int(user)]): int(n) for user, n in zip(sample.users, np.diff(sample.offsets), strict=True)}


def match_ranks(sizes: Ints, histogram: Mapping[int, int]) -> SizeMix:
    """Give users with more positives here the larger sizes there; `histogram` is size to number of users there.

    Users of both runs are sorted by size and stretched to the same total length. Users of the same size here share the
    sizes of the stretch that lies opposite, each with the same probabilities.
    """
    _, group, users = np.unique(sizes, return_inverse=True, return_counts=True)
    there = np.array(sorted(histogram), dtype=np.int64)
    users_there = np.array([histogram[int(size)] for size in there], dtype=np.int64)
    # ends in whole numbers, in units of 1 / (users here * users there)
    ends, their_ends = np.cumsum(users) * users_there.sum(), np.cumsum(users_there) * users.sum()
    starts, their_starts = ends - users * users_there.sum(), their_ends - users_there * users.sum()
    first = np.searchsorted(their_ends, starts, side="right")
    last = np.searchsorted(their_starts, ends, side="left")  # beyond the last
    place = np.minimum(first + np.arange(int((last - first).max()))[:, None], len(there) - 1)
    inside = first + np.arange(len(place))[:, None] < last
    overlap = np.minimum(ends, their_ends[place]) - np.maximum(starts, their_starts[place])
    weights = np.where(inside, overlap / (ends - starts), 0.0)
    return SizeMix(there[place][:, group], weights[:, group])


def in_proportion(sizes: Ints, mean: float) -> Floats:
    """Sizes of at least 1 with that mean, otherwise in proportion to these; not whole."""
    low, high = 0.0, mean / float(sizes.mean()) + 1
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(middle * sizes, 1).mean() <= mean else (low, middle)
    return np.asarray(np.maximum(low * sizes, 1))
