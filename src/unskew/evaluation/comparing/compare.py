"""`compare`: a run compared with an earlier one, possibly on a test set of another size."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, isclose
from typing import TYPE_CHECKING

from unskew.errors import ConfigError, DataError
from unskew.estimators import OVER_ALL_PAIRS, Aoa, Estimate, Estimator, normal_quantile, p_value
from unskew.estimators.estimate import standard_error
from unskew.evaluation.comparing.changes import Change, Changes, TestSet
from unskew.evaluation.comparing.earlier_run import Earlier, Other, read_earlier
from unskew.evaluation.comparing.notes import find_notes, same_sample_sizes
from unskew.evaluation.comparing.size_matching import Coupling, counts_by_id, couple
from unskew.evaluation.estimating.size_effects import moves_with_sample, ranks_move
from unskew.metrics import AnyMetric
from unskew.metrics.exact.size_shift import mixed_move

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def compare(report: "Report", other: "Other | Earlier") -> Changes:
    r"""Compare a run with an earlier one: what changed, and what the number of positives alone would change.

    A metric that is a mean over a user's relevant items has the same expectation whatever part of them is observed at
    random (Lim et al. 2015, theorem 1). The others move: NDCG by the factor of theorem 2,
    :math:`s\,IDCG(p) / (p\,IDCG(s))` when s of p positives are observed. So `Change.difference` is split into
    the part explained by the number of positives per user, and the rest.

    The interval of the rest is :math:`rest \pm z \sqrt{se_1^2 + se_2^2}`: it assumes that the errors of the two runs
    are independent, as they are for different users. For the same users with other positives, a user who is easy to
    serve in one test is easy in the other, and the interval is usually too wide. For the same test rows there is no
    interval: evaluate both models in one run, which compares them user by user.

    Models, metrics and estimators are matched by their words.

    Parameters
    ----------
    report : Report
    other : Report, mapping, str or Path
        The earlier run: its report, its JSON, or the file that holds it. A report gives the number of positives of each
        user who is in both runs. JSON only gives how many users have how many positives; then users are assumed to keep
        their rank by number of positives.

    Returns
    -------
    Changes

    Raises
    ------
    DataError
        When the first is not a report, or the other is not the JSON of a report of this version.
    ConfigError
        When the two have nothing in common.

    References
    ----------
    D. Lim, J. McAuley, G. Lanckriet (2015). Top-N Recommendation with Missing Implicit Feedback. RecSys 2015.
    """
    from unskew.evaluation.report import Report

    if not isinstance(report, Report):
        raise DataError(
            f"compare takes the report of this run first, got {type(report).__name__}, and the earlier run second; "
            "make a report with evaluate"
        )
    earlier = read_earlier(other)
    before = earlier.by_words
    now = {(row.model, row.metric, row.estimator): row for row in report.estimates}
    earlier.check_shared(now)
    pair = _Pair(report, earlier)
    rows = tuple(pair.change(before[key], now[key]) for key in now if key in before)
    changes = Changes(
        before=pair.before,
        after=pair.after,
        rows=rows,
        level=report.settings.level,
        same_test=pair.before.sha256 == pair.after.sha256,
        same_train=_fingerprint(earlier, "train") == report.run["data"]["train"]["sha256"],
        same_users=pair.same_users,
        only_before=tuple(" ".join(key) for key in before if key not in now),
        only_after=tuple(" ".join(key) for key in now if key not in before),
        notes=(),
        file=earlier.file,
    )
    return replace(changes, notes=tuple(find_notes(changes, report, earlier, pair.coupling)))


def _fingerprint(earlier: Earlier, part: str) -> str | None:
    sha256 = earlier.run["data"].get(part, {}).get("sha256")
    return sha256 if isinstance(sha256, str) else None


@dataclass(frozen=True)
class _Level:
    """The value expected on a test of the other size, and its standard error."""

    value: float
    error: float | None


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two runs, and how the sizes of their test sets change a metric."""

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
        return set(counts_by_id(self.report.samples.judged)) == set(counts_by_id(self.earlier.report.samples.judged))

    @property
    def from_earlier(self) -> bool:
        """Whether to use the earlier run's ranks: the run with more positives shows better what sizes do."""
        return self.earlier.report is not None and self.before.positives_a_user > self.after.positives_a_user

    @cached_property
    def coupling(self) -> Coupling:
        """The number of positives in the other run, for each user of the run whose ranks are used."""
        if self.from_earlier and self.earlier.report is not None:
            return couple(self.earlier.report.samples.judged, self.report.run, self.report)
        return couple(self.report.samples.judged, self.earlier.run, self.earlier.report)

    def change(self, old: Estimate, new: Estimate) -> Change:
        """The difference of two estimates with the same words, split into an expected part and the rest."""
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
        """The difference that the sizes explain, and the standard error of the rest."""
        estimator = Estimator.from_word(new.estimator)
        if estimator.sees != "observed":
            same = same_sample_sizes(self.earlier.run, self.report.run)
            moves = moves_with_sample(metric, estimator) and not same
            return (None, None) if moves else (0.0, _together(old.std_error, new.std_error))
        part = "rated" if metric.kind in OVER_ALL_PAIRS else "judged"
        then, now = (TestSet.of(run, part) for run in (self.earlier.run, self.report.run))
        if not then.differs_in_size(now) or (
            metric.unbiased_to_missing and not ranks_move(self.report.inputs.split.rule, metric)
        ):
            return 0.0, _together(old.std_error, new.std_error)
        if part == "rated" or new.estimator != str(Aoa()) or old.value is None or new.value is None:
            return None, None
        if self.from_earlier and self.earlier.report is not None:
            level = _at_size_of(self.earlier.report, self.coupling, metric, old)
            return (None, None) if level is None else (level.value - old.value, _together(level.error, new.std_error))
        level = _at_size_of(self.report, self.coupling, metric, new)
        return (None, None) if level is None else (new.value - level.value, _together(level.error, old.std_error))


def _together(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else hypot(a, b)


def _at_size_of(report: "Report", coupling: Coupling, metric: AnyMetric, estimate: Estimate) -> _Level | None:
    """The value expected with the positives per user of the other test; None if that is not known."""
    sample = report.samples.judged
    ranks = sample.ranks[estimate.model]
    ranks = replace(ranks, listed=sample.listed(estimate.model))
    try:
        move = mixed_move(metric, ranks, coupling.mix)
    except ConfigError:  # more positives than observed, which not every metric allows
        return None
    if estimate.value is None or not isclose(move.before, estimate.value, rel_tol=1e-9, abs_tol=1e-12):
        return None  # not an estimate of the plain mean over these users
    per_user = move.per_user_after[move.counted]
    return _Level(move.after, standard_error((per_user - per_user.mean()) / len(per_user)))
