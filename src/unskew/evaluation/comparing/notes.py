"""Notes on two runs: what to know before interpreting the differences between them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unskew.display.phrases import listed
from unskew.errors import Option, first_of
from unskew.estimators import Estimator, Imputing
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
_SAMPLE_SIZES = {"rows_a_user": "exposed rows per user", "population_size": "items they were drawn from"}

SETTING_DIFFERS = "{setting} was {before} before and is {now} now, so the numbers mean different things"
DEFINITION_DIFFERS = "{metrics}: defined differently before, so the numbers mean different things"
TRAIN_DIFFERS = "train is not the same: models trained on it are different models, and other items count as seen"
SLICE_DIFFERS = "the random rows are not the same, so {estimators} may differ for that reason"
MODEL_DIFFERS = "model {model!r} was {before} before and is {now} now"
ALL_MOVE = (
    "candidates {rule}: a positive is a candidate only if it is observed, so every metric moves with the number of "
    "positives per user ({sizes}); use {unseen}"
)
METRICS_MOVE = "{metrics} with the number of positives per user{unknown}; compare by {instead} instead"
MOVE_UNKNOWN = ", and these ranks do not show how far {metrics}"
METRICS_STAY = (
    "{metrics} can be compared: expected not to move with the number of positives per user ({sizes}) if positives are "
    "missing at random"
)
SIZES = "{before:.2f} before, {after:.2f} now"
SPREAD_DIFFERS = "{sizes}, but distributed differently over users"
ONE_EXPOSED = "only one of the runs is on exposed items, so the numbers mean different things"
SAMPLES_DIFFER = "the samples differ in size ({sizes}), and {metrics} with that size"
SAMPLES_COMPARABLE = "{estimates} can be compared: expected not to move with the size of the sample"
ONLY_MEAN = (
    '{run} does not record how many users had how many rows: "by size" spreads their mean in proportion, which is an '
    "approximation"
)
ASSUMES_RANKS = (
    '"by size" assumes that users keep their rank by number of positives, because the JSON does not identify users'
)
MATCHED_BY_RANK = (
    '{users:,} of {total:,} users are in one run only; "by size" matches them with users of the same rank by number of '
    "positives in the other"
)
RATED_MOVE = "{metrics}: may move with the number of rated rows per user ({sizes}); mae and mse do not"
SAME_TEST = (
    "the test rows are the same, so there is no interval; judge both in one run, which compares them user by user"
)
INTERVALS = (
    "intervals and p-values, each for one row alone, assume that the errors of the two runs are independent; {users} "
    "are usually too wide"
)
SAME_USERS = "the same users are in both, so they"
MAYBE_SAME_USERS = "if the same users are in both, they"
UNMATCHED = "only {when}: {estimates}"


def find_notes(changes: Changes, report: "Report", earlier: Earlier, coupling: Coupling) -> Iterator[str]:
    """Yield notes on other differences than the models, on comparable metrics, and on what the intervals assume."""
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
    """Yield a note for each difference that makes the same word mean another thing."""
    old, new = earlier.run, report.run
    words = dict(_SETTINGS)
    used = {row.estimator for row in changes.rows}
    if any(e.uses_propensity and str(e) in used for e in report.settings.estimators):
        words["propensity"] = "the propensity"
    differs = False
    for key, what in words.items():
        if old.get(key) != new.get(key):
            differs = True
            yield SETTING_DIFFERS.format(setting=what, before=_word(old.get(key)), now=_word(new.get(key)))
    if differs:
        return
    definitions = {(row.model, row.metric, row.estimator): row.definition for row in earlier.estimates}
    changed = dict.fromkeys(
        r.metric
        for r in report.estimates
        if definitions.get((r.model, r.metric, r.estimator), r.definition) != r.definition
    )
    if changed:
        yield DEFINITION_DIFFERS.format(metrics=listed(changed))


def _word(value: object) -> str:
    return "none" if value is None else str(value)


def _parts(changes: Changes, report: "Report", earlier: Earlier) -> Iterator[str]:
    """Yield a note if the training rows differ, and one for each model of the same name that differs."""
    if not changes.same_train:
        yield TRAIN_DIFFERS
    slices = [run["data"].get("slice", {}).get("sha256") for run in (earlier.run, report.run)]
    imputing = {str(estimator) for estimator in report.settings.estimators if isinstance(estimator, Imputing)}
    moved = dict.fromkeys(row.estimator for row in changes.rows if row.estimator in imputing)
    if slices[0] != slices[1] and moved:
        yield SLICE_DIFFERS.format(estimators=listed(moved))
    compared = dict.fromkeys(row.model for row in changes.rows)
    then = earlier.run["models"]
    for name in compared:
        if then.get(name) != report.models[name]:
            yield MODEL_DIFFERS.format(model=name, before=then.get(name), now=report.models[name])


def _sizes(changes: Changes, report: "Report") -> Iterator[str]:
    """Yield notes on the metrics that move with the number of positives, and on those that do not."""
    before, after = changes.before, changes.after
    if not before.differs_in_size(after):
        return
    of_samples = {str(e) for e in report.settings.estimators if e.sees != "observed"}  # see `_sample_sizes`
    compared = {row.metric for row in changes.rows if row.estimator not in of_samples}
    metrics = [metric for metric in report.settings.metrics if str(metric) in compared]
    if any(ranks_move(report.inputs.split.rule, metric) for metric in metrics):
        yield ALL_MOVE.format(
            rule=report.run["candidates"], sizes=_numbers(before, after), unseen=Option("candidates", "unseen")
        )
        return
    moved, still = moving(metrics), [str(metric) for metric in metrics if metric.unbiased_to_missing]
    if moved:
        yield METRICS_MOVE.format(
            metrics=_move(map(str, moved)), unknown=_unknown(changes, moved), instead=listed(all_instead(moved))
        )
    if still:
        yield METRICS_STAY.format(metrics=listed(still), sizes=_numbers(before, after))


def _numbers(before: TestSet, after: TestSet) -> str:
    sizes = SIZES.format(before=before.positives_a_user, after=after.positives_a_user)
    equal = not sizes_differ(before.positives_a_user, after.positives_a_user)
    return SPREAD_DIFFERS.format(sizes=sizes) if equal else sizes


def _move(metrics: Iterable[str]) -> str:
    words = list(metrics)
    return f"{listed(words)} {'moves' if len(words) == 1 else 'move'}"


def _unknown(changes: Changes, moved: Sequence[AnyMetric]) -> str:
    """A clause that names the metrics for which it is not known how far they move; "" if there are none."""
    known = {row.metric for row in changes.rows if row.expected is not None}
    unknown = [str(metric) for metric in moved if str(metric) not in known]
    return MOVE_UNKNOWN.format(metrics=_move(unknown)) if unknown else ""


def _sample_sizes(
    pairs: Sequence[tuple[AnyMetric, Estimator]], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    """Yield notes on the estimates that the sizes of two samples move; `before` and `after` are records of runs."""
    old, new = before.get("exposed"), after.get("exposed")
    sampled = [(metric, estimator) for metric, estimator in pairs if estimator.sees != "observed"]
    if (old is None) != (new is None):
        yield ONE_EXPOSED
    if old is None or new is None or not sampled or same_sample_sizes(before, after):
        return
    sizes = [f"{what} {_ends(old[size])} before, {_ends(new[size])} now" for size, what in _SAMPLE_SIZES.items()]
    moved = [f"{metric} by {estimator}" for metric, estimator in sampled if moves_with_sample(metric, estimator)]
    still = [f"{metric} by {estimator}" for metric, estimator in sampled if not moves_with_sample(metric, estimator)]
    if moved:
        yield SAMPLES_DIFFER.format(sizes="; ".join(sizes), metrics=_move(moved))
    if still and before.get("candidates") == after.get("candidates"):  # else they mean different things
        yield SAMPLES_COMPARABLE.format(estimates=listed(still))


def same_sample_sizes(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two runs, given by their records, exposed the same number of items per user out of the same number."""
    old, new = before.get("exposed"), after.get("exposed")
    return old is not None and new is not None and all(old.get(size) == new.get(size) for size in _SAMPLE_SIZES)


def _ends(size: Mapping[str, float]) -> str:
    return f"{size['min']:g}" if size["min"] == size["max"] else f"{size['min']:g} to {size['max']:g}"


def _guesses(changes: Changes, earlier: Earlier, coupling: Coupling) -> Iterator[str]:
    """Yield a note on what was assumed about the sizes, if a difference by size was computed."""
    if not any(row.expected for row in changes.rows):
        return
    if coupling.from_mean:
        yield ONLY_MEAN.format(run=earlier.where)
    elif earlier.report is None:
        yield ASSUMES_RANKS
    elif coupling.by_rank:
        yield MATCHED_BY_RANK.format(users=coupling.by_rank, total=coupling.mix.sizes.shape[1])


def _rated(changes: Changes, report: "Report", earlier: Earlier) -> Iterator[str]:
    """Yield a note on metrics over ratings that move with the number of rated rows."""
    compared = {row.metric for row in changes.rows}
    metrics = moving((m for m in report.settings.metrics if str(m) in compared), over_all_pairs=True)
    before, after = TestSet.of(earlier.run, "rated"), TestSet.of(report.run, "rated")
    if metrics and before.differs_in_size(after):
        yield RATED_MOVE.format(metrics=listed(map(str, metrics)), sizes=_numbers(before, after))


def _intervals(changes: Changes) -> Iterator[str]:
    if changes.same_test:
        yield SAME_TEST
    elif any(row.low is not None for row in changes.rows):
        yield INTERVALS.format(users=SAME_USERS if changes.same_users else MAYBE_SAME_USERS)


def _unmatched(changes: Changes) -> Iterator[str]:
    for keys, when in ((changes.only_before, "before"), (changes.only_after, "now")):
        if keys:
            yield UNMATCHED.format(when=when, estimates=first_of(keys, FEW))
