"""Two runs on randomly exposed items side by side: what the sizes of the samples move, and what they do not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unskew.display.phrases import listed
from unskew.estimators import Estimator, Ure
from unskew.metrics import AnyMetric

_SIZES = {"rows_a_user": "exposed rows a user", "population_size": "items they were drawn from"}


def same_sample_sizes(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two runs, given by their records, exposed the same number of items per user out of the same number."""
    old, new = before.get("exposed"), after.get("exposed")
    return old is not None and new is not None and all(old.get(size) == new.get(size) for size in _SIZES)


def moves_with_sample(metric: AnyMetric, estimator: Estimator) -> bool:
    """Whether an estimate has another expectation when more or fewer items are exposed.

    What ``traditional`` looks at is a matter of the sample's size. A mean over users with a positive leans less to some
    of them when more are exposed. A pooled mean and a sum stay where they are.
    """
    if not isinstance(estimator, Ure):
        return True
    return not (metric.kind == "sum" or (metric.kind == "mean" and estimator.aggregate == "pooled"))


def sample_notes(
    pairs: Sequence[tuple[AnyMetric, Estimator]], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    """Say which of the compared numbers the sizes of two samples move; `before` and `after` are records of runs."""
    old, new = before.get("exposed"), after.get("exposed")
    mine = [(metric, estimator) for metric, estimator in pairs if estimator.sees != "observed"]
    if old is None and new is None:
        return
    if old is None or new is None:
        yield "one of the runs is on exposed items and the other is not, so the numbers mean different things"
        return
    if not mine or same_sample_sizes(before, after):
        return
    told = [f"{what} {_ends(old[size])} before, {_ends(new[size])} now" for size, what in _SIZES.items()]
    moved = [f"{metric} by {estimator}" for metric, estimator in mine if moves_with_sample(metric, estimator)]
    still = [f"{metric} by {estimator}" for metric, estimator in mine if not moves_with_sample(metric, estimator)]
    if moved:
        yield f"the samples differ in size ({'; '.join(told)}), with which {listed(moved)} {_move(moved)}"
    if still and before.get("candidates") == after.get("candidates"):  # else they mean different things
        yield f"{listed(still)} can be compared: expected not to move with the size of the sample"


def _move(cells: Sequence[str]) -> str:
    return "moves" if len(cells) == 1 else "move"


def _ends(size: Mapping[str, float]) -> str:
    return f"{size['min']:g}" if size["min"] == size["max"] else f"{size['min']:g} to {size['max']:g}"
