"""A gate's decision as text for the terminal, and as Markdown for a pull request."""

from typing import TYPE_CHECKING

from unskew.display.markup import markdown
from unskew.display.numbers import factor, interval, level, move

if TYPE_CHECKING:
    from unskew.evaluation.gating.decision import Gate

MARKS = {"pass": "ok", "warn": "warning", "fail": "FAILED"}
VERDICTS = {"ship": "Ship", "hold": "Hold", "reject": "Reject"}


def as_text(gate: "Gate") -> str:
    """The decision, its reasons, the numbers and the checks."""
    lines = [f"{VERDICTS[gate.decision]}: {_headline(gate)}", *(f"  because {reason}" for reason in gate.reasons), ""]
    width = max(len(name) for name, _ in _numbers(gate))
    lines += [f"  {name:<{width}}  {text}" for name, text in _numbers(gate)]
    lines += ["", *(f"  {MARKS[check.outcome]:<8}{check.name}: {check.text}" for check in gate.checks)]
    return "\n".join(lines)


def to_markdown(gate: "Gate") -> str:
    """The same as Markdown: a headline, a table of numbers and a list of checks."""
    lines = [f"### {VERDICTS[gate.decision]}: {markdown(_headline(gate))}", ""]
    lines += [f"- because {markdown(reason)}" for reason in gate.reasons]
    lines += ["", "| | |", "|---|---|"] if gate.reasons else ["| | |", "|---|---|"]
    lines += [f"| {markdown(name)} | {markdown(text)} |" for name, text in _numbers(gate)]
    lines += ["", "| check | outcome | |", "|---|---|---|"]
    lines += [f"| {markdown(each.name)} | {MARKS[each.outcome]} | {markdown(each.text)} |" for each in gate.checks]
    return "\n".join([*lines, ""])


def _headline(gate: "Gate") -> str:
    allowed = f" by more than {gate.margin:g}" if gate.margin else ""
    if gate.held_by_checks:
        return f"{gate.new} is not worse than {gate.old} on {gate.metric}{allowed}, but checks hold it"
    how = {
        "ship": f"is not worse than {gate.old} on {gate.metric}{allowed}",
        "hold": f"is not shown to be as good as {gate.old} on {gate.metric}"
        if not gate.margin
        else f"may be worse than {gate.old} on {gate.metric}{allowed}",
        "reject": f"is worse than {gate.old} on {gate.metric}{allowed}",
    }
    return f"{gate.new} {how[gate.decision]}"


def _numbers(gate: "Gate") -> list[tuple[str, str]]:
    report, gap = gate.report, gate.difference
    share = level(report.settings.level)
    rows = [
        (name, f"{row.value:.4f} ({interval(row.low, row.high)})")
        for name in (gate.new, gate.old)
        for row in [report.estimate(name, gate.metric, gate.estimator)]
        if row.value is not None
    ]
    rows += [("difference", f"{move(gap.value)} ({share} interval {interval(gap.low, gap.high, '+.4f')})")]
    if gate.assumed:
        names = [each.assumption for each in gate.assumed]
        of_gamma = all(name.startswith("gamma ") for name in names)
        which = f"from {names[0]} to {names[-1][6:]}" if of_gamma else f"by {', '.join(names)}"
        rows += [("over assumptions", f"{interval(gate.assumed_low, gate.assumed_high, '+.4f')}, {which}")]
    if gate.factor is not None and gate.factor > 1:
        rows += [("weights may be wrong", f"by a factor of {factor(gate.factor)} before it is worse than the margin")]
    elif gate.require == "robust":
        why = (
            "it is worse than the margin as they are" if gate.factor else f"{gate.estimator} has none that can be wrong"
        )
        rows += [("weights may be wrong", f"not asked: {why}")]
    corrected = "" if gate.corrects else ", which corrects nothing"
    return [
        *rows,
        ("margin", f"{gate.margin:g}"),
        ("required", gate.require),
        ("estimator", f"{gate.estimator}{corrected}"),
    ]
