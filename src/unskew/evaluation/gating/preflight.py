"""Checks before a decision: whether the log can separate the models, what is left out, leakage, and the scorers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unskew.display.numbers import percent
from unskew.evaluation.checking import find_warnings
from unskew.evaluation.checking.models import FOREIGN, foreign_shares
from unskew.evaluation.gating.differences import Difference
from unskew.ranking import ListScorer

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Outcome = Literal["pass", "warn", "fail"]
SCORED_TWICE = 64
"""Users whose scores are computed again."""
DROPPED_WARN, DROPPED_FAIL = 0.05, 0.2
"""Shares of the test rows that are not judged."""
FOREIGN_FAIL = 0.5
"""Share of the places in a model's lists that hold items of neither train nor test."""
LEAKS = ("test-rows-in-train", "test-older-than-train", "popularity-of-the-future", "training-after-test")
"""Warnings of a report about training data that know the test."""


@dataclass(frozen=True)
class Preflight:
    """One check.

    Parameters
    ----------
    name : str
    outcome : {"pass", "warn", "fail"}
        A failure keeps a model from being shipped.
    text : str
        What was seen, and what to do about it.
    """

    name: str
    outcome: Outcome
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


def check_all(
    report: "Report", required: Sequence[Difference], margin: float, *models: str, base: float | None = None
) -> tuple[Preflight, ...]:
    """All checks, in the order in which they are shown.

    `required` are the differences that decide: that of the run first, then those under what may be assumed. `base` is
    the value of the old model if larger values are better.
    """
    warnings = {check.name: text for check, text in find_warnings(report)}
    checks: tuple[Callable[[], Iterator[Preflight]], ...] = (
        lambda: _separates(
            report, required, margin, seeds=any(len(report.judged.entries(name)) > 1 for name in models)
        ),
        lambda: _margin(margin, base),
        lambda: _dropped(report),
        lambda: _foreign(report, *(entry for name in models for entry in report.judged.entries(name))),
        lambda: _leakage(warnings),
        lambda: (_all_repeat(report, name) for name in models),
        lambda: _duplicates(warnings),
    )
    return tuple(each for check in checks for each in check())


def _separates(report: "Report", required: Sequence[Difference], margin: float, *, seeds: bool) -> Iterator[Preflight]:
    """Whether the interval is narrow enough to show a difference of the size of the margin."""
    gap = required[0]
    if gap.low is None or gap.high is None:
        yield Preflight("separates", "fail", "the difference has no interval; a test with more users is needed")
        return
    half, users = (gap.high - gap.low) / 2, report.tally.users
    if gap.low == gap.high == 0:
        yield Preflight("separates", "pass", f"the two models do not differ for any of {users:,} users")
        return
    text = f"{users:,} users show differences of {half:.4f} or more"
    if gap.low > -margin or gap.high < -margin:
        yield Preflight("separates", "pass", text)
        return
    if len({each.value > -margin for each in required if each.value is not None}) > 1:
        text += (
            "; if the differences are what they seem, more users would not decide, because they are on both sides of "
            "the margin over what may be assumed; some items shown at random would"
        )
        yield Preflight("separates", "warn", text)
        return
    # the distance to the margin is what an interval of more users would have to be narrower than
    assert gap.value is not None
    distance = abs(gap.value + margin)
    needed = f"about {int(np.ceil(users * (half / distance) ** 2)):,} users" if distance else "far more users"
    needed = "more users or more seeds" if seeds else needed  # users alone do not reduce the error of seeds
    yield Preflight("separates", "warn", f"{text}; {needed} would decide if the difference is what it seems")


def _margin(margin: float, base: float | None) -> Iterator[Preflight]:
    """Whether a model can fail at all."""
    if base is not None and 0 <= base <= margin and margin:
        text = (
            f"the margin of {margin:g} is not below the old model's value of {base:.4f}, so hardly any model can fail"
        )
        yield Preflight("margin", "warn", f"{text}; give a smaller one")


def _dropped(report: "Report") -> Iterator[Preflight]:
    """The share of the test rows that are not judged."""
    share = report.dropped_share
    outcome: Outcome = "fail" if share > DROPPED_FAIL else "warn" if share > DROPPED_WARN else "pass"
    text = f"{percent(share)} of the test rows are not judged"
    yield Preflight("judged", outcome, text if outcome == "pass" else f"{text}; the warnings of the report say why")


def _foreign(report: "Report", *entries: str) -> Iterator[Preflight]:
    """Whether the log knows what the models list: a wrong id is a miss, so such a model only seems worse."""
    for name, share in foreign_shares(report).items():
        if share >= FOREIGN and name in entries:
            outcome: Outcome = "fail" if share >= FOREIGN_FAIL else "warn"
            text = f"{percent(share)} of the places in its lists hold items of neither train nor test; check the ids"
            yield Preflight(f"items: {name}", outcome, text)


def _leakage(warnings: Mapping[str, str]) -> Iterator[Preflight]:
    leaks = [warnings[name] for name in LEAKS if name in warnings]
    if not leaks:
        yield Preflight("leakage", "pass", "no sign that training knows the test")
    for text in leaks:
        yield Preflight("leakage", "warn", text)


def _all_repeat(report: "Report", name: str) -> Preflight:
    """Whether all entries of a model give the same scores when they are asked again."""
    checks = [_repeats(report, entry) for entry in report.judged.entries(name)]
    first = next((check for check in checks if check.outcome != "pass"), checks[0])
    each = f" (each of {len(checks)} seeds)" if len(checks) > 1 else ""
    return first if first.outcome != "pass" else Preflight(f"repeats: {name}", "pass", f"{first.text}{each}")


def _repeats(report: "Report", name: str) -> Preflight:
    """Whether an entry gives the same scores when it is asked again."""
    check = f"repeats: {name}"
    scorer = report.contenders.models[name].scorer
    if scorer is None or isinstance(scorer, ListScorer):
        return Preflight(check, "pass", "lists and ranks are fixed")
    known = getattr(scorer, "user_ids", None)
    n_users = len(known) if known is not None else report.inputs.split.train.n_users
    users = np.linspace(0, n_users - 1, min(SCORED_TWICE, n_users)).astype(np.int64)
    first, again = (_as_array(scorer.score(users)) for _ in range(2))
    if np.array_equal(first, again):
        return Preflight(check, "pass", f"the scores of {len(users)} users are the same when computed again")
    return Preflight(
        check,
        "fail",
        f"its scores differ when computed again, by up to {np.nanmax(np.abs(first - again)):.2g}; switch off dropout "
        "and sampling, or fix its seed",
    )


def _as_array(scores: Any) -> Any:
    return np.asarray(scores.detach().cpu() if hasattr(scores, "detach") else scores)


def _duplicates(warnings: Mapping[str, str]) -> Iterator[Preflight]:
    text = warnings.get("repeated-rows")
    yield Preflight("duplicates", "warn" if text else "pass", text or "no pair is in a file twice")
