"""`gate`: ship, hold or reject a new model, by non-inferiority of the corrected estimate."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from unskew.data.writing import AsJson
from unskew.display.numbers import interval, level, move, number
from unskew.errors import ConfigError, DataError, Option, did_you_mean, first_of
from unskew.evaluation.gating.differences import Difference, assumed_differences, error_factor, own_difference
from unskew.evaluation.gating.preflight import Preflight, check_all
from unskew.metrics import AnyMetric, parse_metric

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Decision = Literal["ship", "hold", "reject"]
EXIT: dict[Decision, int] = {"ship": 0, "hold": 3, "reject": 1}
"""Exit status of ``unskew gate``."""
REQUIRE = ("interval", "band", "robust")
"""What has to be above the margin: the interval; the intervals under everything that may be assumed; and these even if
weights are wrong by `FACTOR`."""
FACTOR = 1.5
NAMED = 3
"""Assumptions that a reason names."""


@dataclass(frozen=True, eq=False)
class Gate(AsJson):
    """The decision about a new model.

    Parameters
    ----------
    decision : {"ship", "hold", "reject"}
    new, old : str
        Names of the models.
    metric, estimator : str
    corrects : bool
        Whether the estimate corrects for the skew of the log.
    margin : float
        By how much the new model may be worse.
    require : {"interval", "band", "robust"}
    difference : Difference
        By the estimate of the run; positive is better.
    assumed : tuple of Difference
        The same under everything that may be assumed; empty if nothing is.
    factor : float or None
        By which weights may be wrong before the new model is worse by more than the margin.
    checks : tuple of Preflight
    reasons : tuple of str
        Why it is not shipped; empty if it is.
    report : Report
    failed : tuple of Preflight
        The checks that keep the new model from being shipped.
    """

    decision: Decision
    new: str
    old: str
    metric: str
    estimator: str
    corrects: bool
    margin: float
    require: str
    difference: Difference
    assumed: tuple[Difference, ...]
    factor: float | None
    checks: tuple[Preflight, ...]
    reasons: tuple[str, ...]
    report: "Report" = field(repr=False)
    failed: tuple[Preflight, ...] = ()

    @property
    def exit_status(self) -> int:
        """0 to ship, 3 to hold, 1 to reject."""
        return EXIT[self.decision]

    @property
    def held_by_checks(self) -> bool:
        """Whether the numbers would let the new model be shipped, and checks alone hold it."""
        return self.decision == "hold" and self.reasons == tuple(map(str, self.failed))

    @property
    def assumed_low(self) -> float | None:
        """The lowest end of the difference under everything that may be assumed; None if nothing is."""
        lows = [each.low for each in self.assumed if each.low is not None]
        return min(lows, default=None)

    @property
    def assumed_high(self) -> float | None:
        """The highest end of the difference under everything that may be assumed; None if nothing is."""
        highs = [each.high for each in self.assumed if each.high is not None]
        return max(highs, default=None)

    @property
    def sentence(self) -> str:
        """The decision and its number."""
        gap, share = self.difference, level(self.report.settings.level, "%")
        ends = interval(self.assumed_low, self.assumed_high, "+.4f")
        band = f"; {ends} under all assumptions" if self.assumed else ""
        return (
            f"{self.decision}: {self.new} minus {self.old} on {self.metric} by {self.estimator}: {move(gap.value)} "
            f"({share} interval {interval(gap.low, gap.high, '+.4f')}{band}), margin {self.margin:g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON; the report is under ``report``."""
        return {
            "decision": self.decision,
            "new": self.new,
            "old": self.old,
            "metric": self.metric,
            "estimator": self.estimator,
            "corrects": self.corrects,
            "margin": self.margin,
            "require": self.require,
            "difference": self.difference.to_dict(),
            "assumed_low": self.assumed_low,
            "assumed_high": self.assumed_high,
            "assumed": [each.to_dict() for each in self.assumed],
            "factor": self.factor,
            "checks": [each.to_dict() for each in self.checks],
            "reasons": list(self.reasons),
            "report": self.report.to_dict(),
        }

    def to_markdown(self) -> str:
        """A summary for a pull request."""
        from unskew.evaluation.showing.gate_summary import to_markdown

        return to_markdown(self)

    def __str__(self) -> str:
        from unskew.evaluation.showing.gate_summary import as_text

        return as_text(self)


def gate(
    report: "Report",
    new: str,
    old: str,
    *,
    metric: str | AnyMetric | None = None,
    margin: float = 0.0,
    require: str = "band",
    strict: bool = False,
) -> Gate:
    r"""Decide whether a new model may replace an old one.

    With d the paired difference of the two models, new minus old, and m the margin, the new model is *not inferior*
    under an assumption if the lower end of the interval of d is above :math:`-m`, and *inferior* if the upper end is
    below :math:`-m`. It is shipped if it is not inferior under everything that is required and no check fails. It is
    rejected if it is inferior under everything that is required. Otherwise this log cannot say, and it is held.

    Parameters
    ----------
    report : Report
        Of a run with both models.
    new, old : str
        Their names in the report: of two models, such as ``als`` for the mean of ``als/seed0`` and ``als/seed1``, or of
        two entries.
    metric : str or Metric, optional
        By default the first of the report.
    margin : float
        By how much the new model may be worse, in units of the metric.
    require : {"band", "interval", "robust"}
        ``interval``: the estimate of the run decides. ``band``: the difference at every gamma that may be assumed, or
        by every method, decides. ``robust``: in addition the weights may be wrong by a factor of 1.5.
    strict : bool
        Whether a check that warns also keeps the model from being shipped.

    Returns
    -------
    Gate
    """
    _check_words(report, new, old, margin, require)
    word = report.settings.metrics[0] if metric is None else parse_metric(metric) if isinstance(metric, str) else metric
    if word.kind == "content":
        raise ConfigError(f"{word} describes the lists, so it cannot decide; use a metric such as recall@10")
    answer = next((each for each in report.answers if each.metric == str(word)), None)
    if answer is None:
        raise ConfigError(f"the report has no {word}{did_you_mean(str(word), map(str, report.settings.metrics))}")
    estimator = next(
        e for m, e in report.settings.pairs if (str(m), str(e)) == (answer.metric, answer.judging.estimator)
    )
    gap = own_difference(report, word, str(estimator), new, old)
    if gap is None or gap.value is None:
        raise DataError(f"{new} and {old} are not compared on {word}: a value is undefined; see the warnings")
    assumed = assumed_differences(report, word, estimator, new, old)
    factor = error_factor(report, word, estimator, new, old, margin)
    weighted = estimator.uses_propensity and estimator.sees == "observed" and word.kind == "mean"
    required = (gap, *assumed) if require != "interval" else (gap,)
    base = None if word.lower_is_better else report.value(old, word, estimator)
    checks = check_all(report, required, margin, new, old, base=base)
    failed = _failed(checks, strict=strict)
    decision, reasons = _decide(
        required,
        margin,
        factor if weighted and require == "robust" else None,
        failed,
    )
    if decision != "hold" and require != "interval" and not answer.corrects:
        decision = "hold"
        why = "nothing corrects for the skew of the log, so the naive average alone would decide"
        reasons = (f"{why}; name an estimator, or ask for {Option('require', 'interval')}",)
    return Gate(
        decision,
        new,
        old,
        str(word),
        str(estimator),
        answer.corrects,
        margin,
        require,
        gap,
        assumed,
        factor,
        checks,
        reasons,
        report,
        failed,
    )


def _check_words(report: "Report", new: str, old: str, margin: float, require: str) -> None:
    if require not in REQUIRE:
        raise ConfigError(f"{Option('require', require)}: choose one of {', '.join(REQUIRE)}")
    if not 0 <= margin < float("inf"):
        raise ConfigError(f"{Option('margin', margin)}: give a number of 0 or more, as in 0.002")
    known = dict.fromkeys((*report.judged.members, *report.models))
    for name in (new, old):
        if name not in known:
            raise ConfigError(f"no model {name!r} in the report{did_you_mean(name, known)}")
    if new == old:
        raise ConfigError(f"both models are {new!r}; name a new and an old one")
    shared = set(report.judged.entries(new)) & set(report.judged.entries(old))
    if shared:
        raise ConfigError(f"{shared.pop()} is one of the seeds of the other model; name two models, or two entries")
    if report.merged is not None:
        raise ConfigError("a gate needs all rows in memory, to pair the models under each assumption; give files")


def _decide(
    required: Sequence[Difference],
    margin: float,
    factor: float | None,
    failed: Sequence[Preflight],
) -> tuple[Decision, tuple[str, ...]]:
    """The decision, and why it is not to ship."""
    if all(each.high is not None and each.high < -margin for each in required):
        return "reject", (f"it is worse by more than the margin of {margin:g}, beyond chance",)
    plain, *others = required
    below = [each for each in others if each.low is None or each.low <= -margin]
    reasons = []
    if plain.high is not None and plain.high < -margin:
        names = _listed([each for each in others if each.high is None or each.high >= -margin])
        reasons.append(
            f"it is worse by more than the margin of {margin:g}, beyond chance, but perhaps not if {names} is assumed, "
            "so it is not rejected"
        )
    elif plain.low == plain.high == 0 == margin:
        reasons.append("the two models do not differ for any user, and a difference of 0 is not above a margin of 0")
    elif plain.low is None or plain.low <= -margin:
        low = number(plain.low)
        reasons.append(f"the interval reaches {low}, so a loss of more than the margin of {margin:g} is possible")
    elif below:
        reasons.append(f"a loss of more than the margin of {margin:g} is possible if {_listed(below)} is assumed")
    if factor is not None and 1 < factor < FACTOR:  # at 1 the estimate itself is worse
        reasons.append(f"weights that are wrong by a factor of {factor:.2f} would make it worse than the margin")
    reasons += map(str, failed)
    return ("hold", tuple(reasons)) if reasons else ("ship", ())


def _failed(checks: Sequence[Preflight], *, strict: bool) -> tuple[Preflight, ...]:
    """The checks that keep a model from being shipped."""
    return tuple(check for check in checks if check.outcome in ({"fail", "warn"} if strict else {"fail"}))


def _listed(some: Sequence[Difference]) -> str:
    return first_of([each.assumption for each in some], NAMED)
