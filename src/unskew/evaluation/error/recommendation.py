"""Which estimator to use on a log like this: the one with the smallest worst error over the accepted worlds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unskew.evaluation.error.error_result import ORACLE, POPULAR, PairRow, WorldResult

NAIVE = "aoa"
NEAR = 1.1
"""Estimators whose worst error is at most this many times the smallest are as good."""


@dataclass(frozen=True)
class Recommendation:
    """The estimator with the smallest worst error in one metric.

    An error is the root mean square error of the difference between the perfect recommender and the popular list, as a
    share of the mean true value of the two in that world. So worlds count the same whatever the level of the metric
    there. Each estimator is compared with its own target, the mean over users or over relevant pairs.

    Parameters
    ----------
    metric : str
    estimator : str
        Among those that can be computed on a real log.
    worst, naive_worst : float
        Its worst error over the accepted worlds, and that of the naive average.
    beats : int
        Accepted worlds in which its error is smaller than that of the naive average.
    worlds : int
        How many were accepted.
    as_good : tuple of str
        Other estimators whose worst error is at most a tenth larger.
    errors : dict
        Worst error of every estimator.
    by_kind : dict
        The same within each kind of world.
    """

    metric: str
    estimator: str
    worst: float
    naive_worst: float
    beats: int
    worlds: int
    as_good: tuple[str, ...]
    errors: dict[str, float]
    by_kind: dict[str, dict[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


def recommend(worlds: Sequence[WorldResult], metric: str) -> Recommendation | None:
    """Choose an estimator for one metric; None where no accepted world has the errors.

    Parameters
    ----------
    worlds : sequence of WorldResult
        Those that are refused do not count.
    metric : str
    """
    by_world = [(world.likened.kind, relative_errors(world, metric)) for world in worlds if world.accepted]
    known = [(kind, errors) for kind, errors in by_world if NAIVE in errors]
    if not known:
        return None
    worst = _worst([errors for _, errors in known])
    best = min(worst, key=lambda name: worst[name])
    kinds = dict.fromkeys(kind for kind, _ in known)
    return Recommendation(
        metric=metric,
        estimator=best,
        worst=worst[best],
        naive_worst=worst[NAIVE],
        beats=sum(errors[best] < errors[NAIVE] for _, errors in known),
        worlds=len(known),
        as_good=tuple(name for name in worst if name != best and worst[name] <= NEAR * worst[best]),
        errors=worst,
        by_kind={kind: _worst([errors for own, errors in known if own == kind]) for kind in kinds},
    )


def relative_errors(world: WorldResult, metric: str) -> dict[str, float]:
    """Error of the reference difference by each estimator that a log allows, as a share of the true value."""
    found = {}
    for row in world.pairs:
        if row.metric != metric or not row.reference or row.propensity == "true" or row.error is None:
            continue
        level = _true_level(world, row)
        if level:
            found[row.estimator] = row.error / level
    return found


def _true_level(world: WorldResult, pair: PairRow) -> float | None:
    """Mean true value of the two, of the estimator's own target."""
    known = [
        row.truth
        for row in world.values
        if row.recommender in {ORACLE, POPULAR}
        and row.role == "reference"
        and (row.metric, row.label) == (pair.metric, pair.label)
        and row.truth is not None
    ]
    return sum(known) / len(known) if len(known) == 2 else None


def _worst(errors: Sequence[dict[str, float]]) -> dict[str, float]:
    """The largest error of each estimator that all worlds have."""
    names = [name for name in errors[0] if all(name in each for each in errors)]
    return {name: max(each[name] for each in errors) for name in names}
