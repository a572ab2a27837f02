"""What to know before reading anything into the difference between two runs, in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unskew.display.phrases import first_of, listed
from unskew.errors import Option
from unskew.estimators import Estimator
from unskew.evaluation.comparing.changes import Changes, TestSet
from unskew.evaluation.comparing.earlier_run import Earlier
from unskew.evaluation.comparing.size_matching import Coupling
from unskew.evaluation.estimating.size_effects import (
    all_instead,
    moves_with_sample,
    moving,
    ranks_move,
    sizes_differ,
)
from unskew.metrics import AnyMetric

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

FEW = 3  # estimates of one run only that are named one by one
_SETTINGS = {
    "candidates": "the candidate rule",
    "ties": "the tie policy",
    "unlisted": "what is outside a top-N list",
    "positive": "the rule for positives",
    "scale": "the scale of the ratings",
}
_SAMPLE_SIZES = {"rows_a_user": "exposed rows a user", "population_size": "items they were drawn from"}


def find_notes(changes: Changes, report: "Report", earlier: Earlier, coupling: Coupling) -> Iterator[str]:
    """Say what differs besides the models, which metrics can be compared, and what the intervals assume."""
    yield from _meanings(changes, report, earlier)
    yield from _parts(changes, report, earlier)
    yield from _sizes(changes, report)
    compared = {(row.metric, row.estimator) for row in changes.rows}
    pairs = [(metric, e) for metric, e in report.settings.pairs if (str(metric), str(e)) in compared]
    yield from _sample_sizes(pairs, earlier.run, report.run)
    yield from _guesses(changes, earlier, coupling)
    yield from _rated(changes, report, earlier)
    yield from _intervals(changes)
    yield from _unmatched(changes)


def _meanings(changes: Changes, report: "Report", earlier: Earlier) -> Iterator[str]:
    """What makes the same word mean another thing."""
    old, new = earlier.run, report.run
    words = dict(_SETTINGS)
    used = {row.estimator for row in changes.rows}
    if any(e.uses_propensity and str(e) in used for e in report.settings.estimators):
        words["propensity"] = "the propensity"
    differs = False
    for key, what in words.items():
        if old.get(key) != new.get(key):
            differs = True
            was, now = _word(old.get(key)), _word(new.get(key))
            yield f"{what} was {was} before and is {now} now, so the numbers mean different things"
    if differs:
        return
    definitions = {(row.model, row.metric, row.estimator): row.definition for row in earlier.estimates}
    changed = dict.fromkeys(
        r.metric
        for r in report.estimates
        if definitions.get((r.model, r.metric, r.estimator), r.definition) != r.definition
    )
    if changed:
        yield f"{listed(changed)}: defined in another way before, so the numbers mean different things"


def _word(value: object) -> str:
    return "none" if value is None else str(value)


def _parts(changes: Changes, report: "Report", earlier: Earlier) -> Iterator[str]:
    """Other training rows, and models of the same name that were made in another way."""
    if not changes.same_train:
        yield "train is not the same: models trained here are other models, and other items count as seen"
    compared = dict.fromkeys(row.model for row in changes.rows)
    then = earlier.run["models"]
    for name in compared:
        if then.get(name) != report.models[name]:
            yield f"model {name!r} was {then.get(name)} before and is {report.models[name]} now"


def _sizes(changes: Changes, report: "Report") -> Iterator[str]:
    """Which metrics move with the number of positives, what to use instead, and which do not."""
    before, after = changes.before, changes.after
    if not before.differs_in_size(after):
        return
    of_samples = {str(e) for e in report.settings.estimators if e.sees != "observed"}  # which have notes of their own
    compared = {row.metric for row in changes.rows if row.estimator not in of_samples}
    metrics = [metric for metric in report.settings.metrics if str(metric) in compared]
    if any(ranks_move(report.inputs.split.rule, metric) for metric in metrics):
        yield (
            f"candidates {report.run['candidates']}: a positive is a candidate only where it is observed, so every "
            f"metric moves with the number of positives a user ({_numbers(before, after)}); use "
            f"{Option('candidates', 'unseen')}"
        )
        return
    moved, still = moving(metrics), [str(metric) for metric in metrics if metric.unbiased_to_missing]
    if moved:
        yield (
            f"{_move(map(str, moved))} with the number of positives a user{_untold(changes, moved)}; compare by "
            f"{listed(all_instead(moved))} instead"
        )
    if still:
        yield (
            f"{listed(still)} can be compared: expected not to move with the number of positives a user, "
            f"{_numbers(before, after)}, where those that are missing are missing at random"
        )


def _numbers(before: TestSet, after: TestSet) -> str:
    numbers = f"{before.positives_a_user:.2f} before, {after.positives_a_user:.2f} now"
    equal = not sizes_differ(before.positives_a_user, after.positives_a_user)
    return f"{numbers}, spread otherwise over users" if equal else numbers


def _move(metrics: Iterable[str]) -> str:
    words = list(metrics)
    return f"{listed(words)} {'moves' if len(words) == 1 else 'move'}"


def _untold(changes: Changes, moved: Sequence[AnyMetric]) -> str:
    """For which metrics it is not known by how much."""
    known = {row.metric for row in changes.rows if row.expected is not None}
    unknown = [str(metric) for metric in moved if str(metric) not in known]
    return f", and how far {_move(unknown)} cannot be told from these ranks" if unknown else ""


def _sample_sizes(
    pairs: Sequence[tuple[AnyMetric, Estimator]], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    """Say which of the compared numbers the sizes of two samples move; `before` and `after` are records of runs."""
    old, new = before.get("exposed"), after.get("exposed")
    sampled = [(metric, estimator) for metric, estimator in pairs if estimator.sees != "observed"]
    if (old is None) != (new is None):
        yield "one of the runs is on exposed items and the other is not, so the numbers mean different things"
    if old is None or new is None or not sampled or same_sample_sizes(before, after):
        return
    sizes = [f"{what} {_ends(old[size])} before, {_ends(new[size])} now" for size, what in _SAMPLE_SIZES.items()]
    moved = [f"{metric} by {estimator}" for metric, estimator in sampled if moves_with_sample(metric, estimator)]
    still = [f"{metric} by {estimator}" for metric, estimator in sampled if not moves_with_sample(metric, estimator)]
    if moved:
        yield f"the samples differ in size ({'; '.join(sizes)}), with which {_move(moved)}"
    if still and before.get("candidates") == after.get("candidates"):  # else they mean different things
        yield f"{listed(still)} can be compared: expected not to move with the size of the sample"


def same_sample_sizes(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two runs, given by their records, exposed the same number of items per user out of the same number."""
    old, new = before.get("exposed"), after.get("exposed")
    return old is not None and new is not None and all(old.get(size) == new.get(size) for size in _SAMPLE_SIZES)


def _ends(size: Mapping[str, float]) -> str:
    return f"{size['min']:g}" if size["min"] == size["max"] else f"{size['min']:g} to {size['max']:g}"


def _guesses(changes: Changes, earlier: Earlier, coupling: Coupling) -> Iterator[str]:
    """What was not known of the sizes, where something was said by them."""
    if not any(row.expected for row in changes.rows):
        return
    if coupling.from_mean:
        yield (
            f"{earlier.where} does not say how many users had how many rows: by size spreads their mean in proportion, "
            "and is an approximation"
        )
    elif earlier.report is None:
        yield "by size takes the users with more positives now for those who had more before: JSON does not name users"
    elif coupling.by_rank:
        users = coupling.mix.sizes.shape[1]
        yield (
            f"{coupling.by_rank:,} of {users:,} users are in one run only; by size takes how many positives they would "
            "have in the other from those of the same rank"
        )


def _rated(changes: Changes, report: "Report", earlier: Earlier) -> Iterator[str]:
    """The same for metrics over ratings, whose rows are counted apart."""
    compared = {row.metric for row in changes.rows}
    metrics = moving((m for m in report.settings.metrics if str(m) in compared), over_all_pairs=True)
    before, after = TestSet.of(earlier.run, "rated"), TestSet.of(report.run, "rated")
    if metrics and before.differs_in_size(after):
        yield (
            f"{listed(map(str, metrics))}: may move with the number of rated rows a user ({_numbers(before, after)}); "
            "mae and mse do not"
        )


def _intervals(changes: Changes) -> Iterator[str]:
    if changes.same_test:
        yield (
            "the test rows are the same, so there is no interval; judge both in one run, which compares them user by "
            "user"
        )
    elif any(row.low is not None for row in changes.rows):
        where = (
            "the same users are in both, so they" if changes.same_users else "where the same users are in both, they"
        )
        yield (
            "intervals and p-values, each for one row alone, take the errors of the two runs as independent; "
            f"{where} are as a rule too wide"
        )


def _unmatched(changes: Changes) -> Iterator[str]:
    for keys, when in ((changes.only_before, "before"), (changes.only_after, "now")):
        if keys:
            yield f"only {when}: {first_of(keys, FEW)}"
