"""A run beside an earlier one, perhaps on a test set of another size."""

from dataclasses import dataclass, replace
from math import hypot, isclose
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Ints
from unskew.errors import ConfigError
from unskew.estimators import Aoa, Estimate, normal_quantile, p_value
from unskew.estimators.estimate import standard_error
from unskew.evaluation.change_notes import find_notes
from unskew.evaluation.changes import Change, Changes, TestSet
from unskew.evaluation.earlier import Earlier, Other, read_earlier
from unskew.evaluation.settings import OVER_ALL_PAIRS
from unskew.evaluation.sizes import ranks_move, sizes_differ
from unskew.metrics import AnyMetric, expected_move

if TYPE_CHECKING:
    from unskew.evaluation.evidence import Evidence
    from unskew.evaluation.report import Report


def compare(report: "Report", other: "Other | Earlier") -> Changes:
    r"""Set a run beside an earlier one, and tell what moved from what the number of positives alone moves.

    A metric that is a mean over a user's relevant items has the same expectation whatever part of them is observed at
    random (Lim et al. 2015, theorem 1). The others move: NDCG by the factor of theorem 2,
    :math:`s\,IDCG(p) / (p\,IDCG(s))` when s of p positives are observed. So `Change.difference` is parted into what
    is expected from the number of positives a user and the rest.

    The interval of the rest is :math:`rest \pm z \sqrt{se_1^2 + se_2^2}`: it takes the errors of the two runs as
    independent, as they are for different users. For the same users with other positives, whoever is easy to serve in
    one test is so in the other, and the interval is as a rule too wide. For the same test rows there is none: evaluate
    both models in one run, which compares them user by user.

    Models, metrics and estimators are matched by their words.

    Parameters
    ----------
    report : Report
    other : Report, mapping, str or Path
        The earlier run: its report, its JSON, or the file that holds it. From JSON only the mean number of positives a
        user is known; from a report of the same users, the number of each.

    Returns
    -------
    Changes

    Raises
    ------
    DataError
        When the other is not the JSON of a report of this version.
    ConfigError
        When the two have nothing in common.

    References
    ----------
    D. Lim, J. McAuley, G. Lanckriet (2015). Top-N Recommendation with Missing Implicit Feedback. RecSys 2015.
    """
    earlier = read_earlier(other)
    earlier.check_models(report.models)
    theirs = {(row.model, row.metric, row.estimator): row for row in earlier.estimates}
    mine = {(row.model, row.metric, row.estimator): row for row in report.estimates}
    shared = [key for key in mine if key in theirs]
    if not shared:
        words = dict.fromkeys(f"{metric} by {estimator}" for _, metric, estimator in theirs)
        raise ConfigError(
            f"{earlier.where}: no metric and estimator in common; it has {', '.join(list(words)[:6])}, ask for those"
        )
    pair = _Pair(report, earlier)
    rows = tuple(pair.change(theirs[key], mine[key]) for key in shared)
    changes = Changes(
        before=pair.before,
        after=pair.after,
        rows=rows,
        level=report.settings.level,
        same_test=pair.before.sha256 == pair.after.sha256,
        same_train=_fingerprint(earlier, "train") == report.run["data"]["train"]["sha256"],
        same_users=pair.same_users,
        only_before=tuple(" ".join(key) for key in theirs if key not in mine),
        only_after=tuple(" ".join(key) for key in mine if key not in theirs),
        notes=(),
    )
    return replace(changes, notes=tuple(find_notes(changes, report, earlier)))


def _fingerprint(earlier: Earlier, part: str) -> str | None:
    found = earlier.run["data"].get(part, {}).get("sha256")
    return found if isinstance(found, str) else None


@dataclass(frozen=True)
class _Level:
    """What a value would be on a test of the other size, and its standard error."""

    value: float
    error: float | None


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two runs, and what their sizes do to a metric."""

    report: "Report"
    earlier: Earlier

    @property
    def before(self) -> TestSet:
        return TestSet.of(self.earlier.run)

    @property
    def after(self) -> TestSet:
        return TestSet.of(self.report.run)

    @property
    def same_users(self) -> bool | None:
        if self.before == self.after:
            return True
        if self.earlier.report is None:
            return None
        return set(_counts(self.report.evidence)) == set(_counts(self.earlier.report.evidence))

    def change(self, old: Estimate, new: Estimate) -> Change:
        """The difference of two estimates of the same words, and what is left of it beside the expected one."""
        metric = next(m for m in self.report.settings.metrics if str(m) == new.metric)
        difference = None if old.value is None or new.value is None else new.value - old.value
        expected, error = (None, None) if difference is None else self._expected(metric, old, new)
        rest = None if difference is None or expected is None else difference - expected
        if self.before.sha256 == self.after.sha256:
            error = None
        reach = None if error is None else normal_quantile(self.report.settings.level) * error
        return Change(
            model=new.model,
            metric=new.metric,
            estimator=new.estimator,
            before=old.value,
            after=new.value,
            difference=difference,
            expected=expected,
            rest=rest,
            low=None if rest is None or reach is None else rest - reach,
            high=None if rest is None or reach is None else rest + reach,
            p_value=p_value(rest, error),
        )

    def _expected(self, metric: AnyMetric, old: Estimate, new: Estimate) -> tuple[float | None, float | None]:
        """The difference that the sizes explain, and the standard error of what they do not."""
        part = "rated" if metric.kind in OVER_ALL_PAIRS else "judged"
        sizes = [TestSet.of(run, part).positives_a_user for run in (self.earlier.run, self.report.run)]
        if not sizes_differ(*sizes) or (metric.unbiased_to_missing and not ranks_move(self.report, metric)):
            return 0.0, _together(old.std_error, new.std_error)
        if part == "rated" or new.estimator != str(Aoa()) or old.value is None or new.value is None:
            return None, None
        if self.earlier.report is not None and sizes[0] > sizes[1]:  # fewer of many is better known than more of few
            level = _at_size_of(self.earlier.report, self.after, self.report, metric, old)
            return (None, None) if level is None else (level.value - old.value, _together(level.error, new.std_error))
        level = _at_size_of(self.report, self.before, self.earlier.report, metric, new)
        return (None, None) if level is None else (new.value - level.value, _together(level.error, old.std_error))


def _together(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else hypot(a, b)


def _at_size_of(
    report: "Report", test: TestSet, other: "Report | None", metric: AnyMetric, estimate: Estimate
) -> _Level | None:
    """What an estimate would be with as many positives a user as the other test has; None where that is not known."""
    evidence = report.evidence
    ranks = evidence.ranks[estimate.model]
    ranks = replace(ranks, listed=evidence.listed(estimate.model))
    sizes = _sizes_of(evidence, other)
    if sizes is None:
        sizes = _scaled(np.diff(evidence.offsets), test.positives_a_user)
    try:
        move = expected_move(metric, ranks, sizes=sizes)
    except ConfigError:  # more positives than there are, which not every metric can tell of
        return None
    if estimate.value is None or not isclose(move.before, estimate.value, rel_tol=1e-9, abs_tol=1e-12):
        return None  # an estimate of something else than the plain mean over these users
    per_user = move.per_user_after[move.counted]
    return _Level(move.after, standard_error((per_user - per_user.mean()) / len(per_user)))


def _sizes_of(evidence: "Evidence", other: "Report | None") -> Ints | None:
    """How many positives each user has in the other run; None where that is not known of all."""
    if other is None:
        return None
    theirs = _counts(other.evidence)
    found = [theirs.get(user) for user in _counts(evidence)]
    known = [count for count in found if count is not None]
    return np.array(known, dtype=np.int64) if len(known) == len(found) else None


def _counts(evidence: "Evidence") -> dict[str, int]:
    """Positives by the id of the user, in the order of the users."""
    ids = evidence.split.user_vocabulary.ids
    return {str(ids[int(user)]): int(n) for user, n in zip(evidence.users, np.diff(evidence.offsets), strict=True)}


def _scaled(sizes: Ints, mean: float) -> Ints:
    """Whole sizes of at least 1 with that mean, as near to proportional as they can be."""
    total = max(round(mean * len(sizes)), len(sizes))
    low, high = 0.0, mean / float(sizes.mean()) + 1
    for _ in range(60):  # the largest share whose whole parts do not go beyond the total
        middle = (low + high) / 2
        low, high = (middle, high) if _whole(sizes, middle).sum() <= total else (low, middle)
    whole = _whole(sizes, low)
    order = np.argsort(-(low * sizes - whole), kind="stable")
    whole[order[: total - int(whole.sum())]] += 1
    return whole


def _whole(sizes: Ints, share: float) -> Ints:
    return np.asarray(np.maximum(np.floor(share * sizes), 1), dtype=np.int64)
