"""`recommend`: the estimator with the smallest worst error over the accepted worlds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unskew.audit.error.result import ORACLE, POPULAR, PairRow, WorldResult

NAIVE = "aoa"
NEAR = 1.1
"""Estimators whose worst error is at most this multiple of the smallest count as equally good."""


@dataclass(frozen=True)
class Recommendation:
    """The estimator with the smallest worst error in one metric.

    An error is the root mean square error of the difference between the perfect recommender and the popular list, as a
    share of the mean true value of the two in that world. So all worlds count the same, whatever the level of the
    metric there. Each estimator is compared with its own target, the mean over users or over relevant pairs.

    `by_observation` is what would be recommended (estimator and worst error) within the worlds in which users consume
    the popular items first (``popular``), and within those in which they consume any (``uniform``); empty unless there
    are both.
    """

    metric: str
    estimator: str  # among those that can be computed on a real log
    worst: float  # its worst error over the accepted worlds
    naive_worst: float  # that of the naive average
    beats: int  # accepted worlds in which its error is smaller than that of the naive average
    worlds: int  # number of accepted worlds
    as_good: tuple[str, ...]  # other estimators whose worst error is at most a tenth larger
    errors: dict[str, float]  # worst error of every estimator
    by_kind: dict[str, dict[str, float]]  # the same within each kind of world
    beats_by_kind: dict[str, tuple[int, int]]  # worlds of each kind in which it beats the naive average, and all
    by_observation: dict[str, tuple[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


def recommend(worlds: Sequence[WorldResult], metric: str) -> Recommendation | None:
    """Return the recommended estimator for one metric; None if no accepted world has the errors."""
    known = []
    for world in worlds:
        errors = relative_errors(world, metric)
        if world.accepted and NAIVE in errors:
            known.append((world.likened, errors))
    if not known:
        return None
    worst = _worst([errors for _, errors in known])
    best, least = _least(worst)
    by_kind: dict[str, list[dict[str, float]]] = {}
    by_observation: dict[str, list[dict[str, float]]] = {}
    for likened, errors in known:
        by_kind.setdefault(likened.kind, []).append(errors)
        by_observation.setdefault(likened.world.observe, []).append(errors)
    both = by_observation if len(by_observation) > 1 else {}
    return Recommendation(
        metric=metric,
        estimator=best,
        worst=least,
        naive_worst=worst[NAIVE],
        beats=_beaten([errors for _, errors in known], best),
        worlds=len(known),
        as_good=tuple(name for name in worst if name != best and worst[name] <= NEAR * least),
        errors=worst,
        by_kind={kind: _worst(each) for kind, each in by_kind.items()},
        beats_by_kind={kind: (_beaten(each, best), len(each)) for kind, each in by_kind.items()},
        by_observation={observe: _least(_worst(each)) for observe, each in both.items()},
    )


def _beaten(errors: Sequence[dict[str, float]], estimator: str) -> int:
    return sum(each[estimator] < each[NAIVE] for each in errors)


def _least(errors: dict[str, float]) -> tuple[str, float]:
    return min(errors.items(), key=lambda each: each[1])


def relative_errors(world: WorldResult, metric: str) -> dict[str, float]:
    """Error of the reference difference by each estimator that a log allows, as a share of the true value."""
    errors = {}
    for row in world.pairs:
        if row.metric != metric or not row.reference or row.propensity == "true" or row.error is None:
            continue
        level = _true_level(world, row)
        if level:
            errors[row.estimator] = row.error / level
    return errors


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
