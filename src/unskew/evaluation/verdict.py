"""What a report says, in plain sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unskew.estimators import Aoa, Comparison, Estimate, Estimator, ExposedEstimator, Traditional
from unskew.evaluation.assumptions import describe_assumption, describe_draw
from unskew.evaluation.counterparts import missing_counterparts, naive_counterpart
from unskew.evaluation.ordering import first_of, lead_of, ranked
from unskew.evaluation.settings import OVER_ALL_PAIRS
from unskew.evaluation.sweep import OrderChange, Sweep
from unskew.evaluation.voice import OF_A_LOG, OF_A_SAMPLE, Voice
from unskew.evaluation.wording import capital, chain, listed, ordinal, quoted, rounded, sentence, signed
from unskew.metrics import AnyMetric
from unskew.propensities import Uniform

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

TOLD_WARNINGS = 3


@dataclass(frozen=True)
class Finding:
    """What one metric says about the models.

    Parameters
    ----------
    metric : str
    naive, corrected : str or None
        The estimators set side by side; both aim at the same target.
    naive_first, corrected_first : tuple of str
        The models they put first; more than one when they are level.
    decided : bool or None
        Whether the lead of the first over the second is beyond chance; None when that cannot be said.
    told_apart, pairs : int
        How many of the pairs of models differ beyond chance.
    leaders : tuple of str
        The models that are first somewhere in the sweep of gamma, in that order.
    sentences : tuple of str
    """

    metric: str
    naive: str | None
    corrected: str | None
    naive_first: tuple[str, ...]
    corrected_first: tuple[str, ...]
    decided: bool | None
    told_apart: int
    pairs: int
    leaders: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether correcting puts other models first."""
        both = bool(self.naive_first and self.corrected_first)
        return both and not set(self.naive_first) & set(self.corrected_first)


@dataclass(frozen=True)
class Verdict:
    """The report in words: one sentence, what it rests on, each metric, reasons for doubt."""

    headline: str
    summary: tuple[str, ...]
    findings: tuple[Finding, ...]
    doubts: tuple[str, ...]


def judge(report: "Report", beside: Sequence[Estimate] | None = None) -> Verdict:
    """Put a report into words.

    Parameters
    ----------
    report : Report
    beside : sequence of Estimate, optional
        Naive counterparts that the report lacks; computed when not given.
    """
    rows = [*report.estimates, *(missing_counterparts(report) if beside is None else beside)]
    sweeps = {sweep.metric: sweep for sweep in report.sweeps}
    findings = tuple(
        _find(report, rows, metric, sweeps.get(str(metric)) if len(report.models) > 1 else None)
        for metric in report.settings.metrics
    )
    contested = tuple(finding for finding in findings if finding.pairs)
    voice = _voice(report)
    if contested:
        uniform = voice is OF_A_LOG and isinstance(report.settings.propensity, Uniform)
        headline, summary = _headline(contested, voice, uniform=uniform), tuple(_summary(contested, voice))
    elif len(report.models) > 1:
        headline, summary = "No two models are judged by the same metric, so there is nothing to compare.", ()
    else:
        headline, summary = _lone_headline(report, rows, findings[0], voice), ()
    return Verdict(headline, summary, findings, tuple(_doubts(report)))


def _voice(report: "Report") -> Voice:
    """A sample's where an estimator of one was asked for, which are refused without one."""
    exposed = any(isinstance(estimator, ExposedEstimator) for estimator in report.settings.estimators)
    return OF_A_SAMPLE if exposed else OF_A_LOG


def describe_change(change: OrderChange) -> str:
    """Say who passes whom between two gammas."""
    place = {model: k for k, model in enumerate(change.before)}
    swaps = [
        (later, earlier)
        for k, later in enumerate(change.after)
        for earlier in change.after[k + 1 :]
        if place[later] > place[earlier]
    ]
    if len(swaps) == 1:
        return f"{_where(change)} {quoted(swaps[0][0])} passes {quoted(swaps[0][1])}"
    return f"{_where(change)} the order becomes {chain(change.after)}"


def describe_new_first(change: OrderChange) -> str:
    """Say who takes first place from whom between two gammas."""
    return f"{_where(change)} {quoted(change.after[0])} takes first place from {quoted(change.before[0])}"


def _where(change: OrderChange) -> str:
    return f"between gamma {signed(change.low)} and {signed(change.high)}"


def _find(report: "Report", rows: Sequence[Estimate], judged_by: AnyMetric, sweep: Sweep | None) -> Finding:
    metric, lower = str(judged_by), judged_by.lower_is_better
    naive, corrected = _words(report, judged_by)
    by_naive = [] if naive is None else ranked(rows, metric, naive, lower=lower)
    by_corrected = [] if corrected is None else ranked(rows, metric, corrected, lower=lower)
    judging = corrected if corrected is not None else naive
    order = by_corrected if corrected is not None else by_naive
    compared = [c for c in report.comparisons if (c.metric, c.estimator) == (metric, judging)]
    alpha = 1 - report.settings.level
    told = sum(c.p_value_holm is not None and c.p_value_holm < alpha for c in compared)
    known = sum(c.p_value_holm is not None for c in compared)
    lead = lead_of(compared, order, lower=lower)
    sweep = None if sweep is None or len(sweep.values) < 2 else sweep
    leaders = tuple(dict.fromkeys(_leaders(sweep))) if sweep is not None else ()
    voice = _voice(report)
    plain = judged_by.kind in OVER_ALL_PAIRS or voice is OF_A_SAMPLE
    sentences = [
        *_who_is_first(by_naive, by_corrected, voice),
        *(() if plain else _other_average(rows, metric, naive, by_naive)),
        *_lead_words(lead, report.settings.level, voice),
        *_apart_words(told, known, voice),
        *([] if sweep is None else _sweep_words(sweep)),
    ]
    return Finding(
        metric=metric,
        naive=naive,
        corrected=corrected,
        naive_first=first_of(by_naive),
        corrected_first=first_of(by_corrected),
        decided=None if lead is None or lead.p_value_holm is None else lead.p_value_holm < alpha,
        told_apart=told,
        pairs=len(compared),
        leaders=leaders,
        sentences=tuple(sentences),
    )


def _words(report: "Report", metric: AnyMetric) -> tuple[str | None, str | None]:
    """The corrected estimator of a metric and the naive number beside it, as far as there are any."""
    asked = [estimator for other, estimator in report.settings.pairs if str(other) == str(metric)]
    corrected = judging_estimator(asked)
    if corrected is not None:
        return str(naive_counterpart(corrected, metric.kind)), str(corrected)
    naive = sorted((e for e in asked if isinstance(e, Aoa | Traditional)), key=lambda e: isinstance(e, Aoa))
    return (str(naive[0]) if naive else None), None


def judging_estimator(asked: Sequence[Estimator]) -> Estimator | None:
    """The first estimator that corrects, one for exposed items before others; None when none does."""
    corrected = [e for e in asked if e.corrects]
    return next((e for e in corrected if isinstance(e, ExposedEstimator)), corrected[0] if corrected else None)


def _who_is_first(naive: list[Estimate], corrected: list[Estimate], voice: Voice) -> Iterator[str]:
    if not naive and not corrected:
        yield "No model has a defined value."
        return
    if not naive or not corrected:
        best = (naive or corrected)[0]
        kind = voice.only_naive if naive else voice.only_corrected
        who = f"{_names(naive or corrected)} first with" if len(naive or corrected) > 1 else f"{quoted(best.model)} has"
        yield f"{kind}, {best.estimator}: {who} {_value(best)}."
        return
    a, b = naive[0], corrected[0]
    if len(corrected) == 1:
        yield (
            f"{quoted(b.model)} has {_value(a)} by {voice.naive}, {a.estimator}, and {_value(b)} by "
            f"{voice.corrected}, {b.estimator}."
        )
    elif first_of(naive) == first_of(corrected):
        yield (
            f"{capital(voice.naive)}, {a.estimator}, and {voice.corrected}, {b.estimator}, agree: "
            f"{_names(corrected)} first, with {_value(a)} and {_value(b)}."
        )
    else:
        place = next((k for k, row in enumerate(corrected, 1) if row.model == a.model), 0)
        then = f" and {quoted(a.model)} {ordinal(place)} of {len(corrected)}" if place > 1 else ""
        yield (
            f"By {voice.naive}, {a.estimator}, {_names(naive)} first with {_value(a)}. {capital(voice.corrected)}, "
            f"{b.estimator}, disagrees: {_names(corrected)} first with {_value(b)}{then}."
        )


def _names(order: Sequence[Estimate]) -> str:
    first = first_of(order)
    return f"{quoted(first[0])} is" if len(first) == 1 else f"{listed(map(quoted, first))} are level and"


def _other_average(rows: Sequence[Estimate], metric: str, naive: str | None, by_naive: list[Estimate]) -> Iterator[str]:
    """The plain `aoa` when it crowns another model than the average that shares the corrected target."""
    other = ranked(rows, metric, str(Aoa()))
    if naive != str(Aoa()) and other and by_naive and other[0].model != by_naive[0].model:
        yield f"Averaged over users instead of pairs (aoa), {quoted(other[0].model)} is first with {_value(other[0])}."


def _lead_words(lead: Comparison | None, level: float, voice: Voice) -> Iterator[str]:
    if lead is None or lead.difference is None:
        return
    if lead.difference == 0:
        return  # said already
    # of errors the smaller one leads, and by how much is said as a positive number all the same
    ahead = replace(lead.reversed(), a=lead.a, b=lead.b) if lead.difference < 0 else lead
    gap = f"{quoted(lead.a)} leads {quoted(lead.b)} by {rounded(abs(lead.difference))}"
    if lead.p_value_holm is None or ahead.low is None or ahead.high is None:
        yield f"{gap}; how sure that is cannot be said, because there is no interval."
        return
    gap += f" ({100 * level:.4g} % interval of this pair alone {rounded(ahead.low)} to {rounded(ahead.high)})"
    p = "p < 0.0001" if lead.p_value_holm < 1e-4 else f"p = {lead.p_value_holm:.2g}"
    if lead.p_value_holm < 1 - level:
        yield f"{gap}, more than chance explains ({p} after Holm)."
    else:
        yield (
            f"{gap}, which chance alone can explain ({p} after Holm): the {voice.data} does not settle which of the "
            "two is better."
        )


def _apart_words(told: int, known: int, voice: Voice) -> Iterator[str]:
    if known < 2:
        return
    if told == 0:
        yield f"No two models differ beyond chance: on this metric the {voice.data} cannot tell them apart."
    elif told == known:
        yield f"All {known} pairs of models differ beyond chance."
    else:
        yield f"{told} of {known} pairs of models differ beyond chance."


def _leaders(sweep: Sweep) -> list[str]:
    """The first model at each gamma, where all values are defined."""
    defined = np.all([np.isfinite(column) for column in sweep.values.values()], axis=0)
    return [sweep.order(k)[0] for k in range(len(sweep.gammas))] if defined.all() else []


def _sweep_words(sweep: Sweep) -> Iterator[str]:
    leaders = _leaders(sweep)
    if not leaders:
        return
    ends = f"from {signed(sweep.gammas[0])} (no correction) to {signed(sweep.gammas[-1])}"
    changes = len(sweep.changes)
    if changes == 0:
        yield f"The order of the models is the same for every gamma {ends}."
    elif len(set(leaders)) == 1:
        times = "once" if changes == 1 else f"{changes} times"
        yield f"{quoted(leaders[0])} stays first for every gamma {ends}; below it the order changes {times}."
    else:
        starts = [0, *(k + 1 for k, (a, b) in enumerate(pairwise(leaders)) if a != b), len(leaders)]
        parts = [f"{quoted(leaders[a])} {_span(sweep.gammas[a], sweep.gammas[b - 1])}" for a, b in pairwise(starts)]
        yield f"First place hangs on the assumed bias: {listed(parts)}."


def _span(low: float, high: float) -> str:
    return f"at gamma {signed(low)}" if low == high else f"for gamma {signed(low)} to {signed(high)}"


def _headline(findings: Sequence[Finding], voice: Voice, *, uniform: bool) -> str:
    judged = [f for f in findings if f.corrected_first and f.naive_first]
    if not judged and any(f.corrected for f in findings):
        return voice.undefined
    if not judged:
        return voice.nothing
    if uniform:
        return "The propensity is uniform, so nothing here is corrected for the skew of the log."
    changed = [f for f in judged if f.differs]
    if changed:
        swaps = {(f.naive_first, f.corrected_first) for f in changed}
        how = ""
        if len(swaps) == 1:
            before, after = next(iter(swaps))
            how = f" from {listed(map(quoted, before))} to {listed(map(quoted, after))}"
        return f"{voice.act} changes the winner{how} on {_metrics(changed, judged)}."
    winners = {f.corrected_first for f in judged}
    if len(winners) > 1:
        return f"{voice.act} changes the winner on no metric; the metrics differ on who it is."
    first = next(iter(winners))
    verb = f"{quoted(first[0])} is first" if len(first) == 1 else f"{listed(map(quoted, first))} are level at the top"
    return f"{verb} on {_metrics(judged, judged)}, {voice.both}."


def _summary(findings: Sequence[Finding], voice: Voice) -> Iterator[str]:
    judged = [f for f in findings if f.corrected_first] or list(findings)
    sure = [f for f in judged if f.decided]
    if all(f.decided is None for f in judged):
        yield f"There are too few users to say what chance could do: this {voice.data} cannot tell these models apart."
    elif all(f.told_apart == 0 for f in judged):
        yield f"No two models differ beyond chance on any metric: this {voice.data} cannot tell these models apart."
    elif not sure:
        yield "On no metric is the first model's lead over the second beyond chance, though some models differ."
    elif len(sure) == len(judged):
        yield f"The first model's lead over the second is beyond chance on {_metrics(sure, judged)}."
    else:
        yield f"The first model's lead over the second is beyond chance on {_metrics(sure, judged)} only."
    moving = [f for f in judged if len(f.leaders) > 1]
    if moving:
        yield f"On {_metrics(moving, judged)} first place depends on how strong a popularity bias is assumed."
    elif any(f.leaders for f in judged):
        swept = [f for f in judged if f.leaders]
        where = "First" if len(swept) == len(judged) else f"On {_metrics(swept, judged)} first"
        yield f"{where} place does not depend on how strong a popularity bias is assumed."


def _lone_headline(report: "Report", rows: Sequence[Estimate], finding: Finding, voice: Voice) -> str:
    name = quoted(next(iter(report.models)))
    words = {
        kind: next((row for row in ranked(rows, finding.metric, word)), None)
        for kind, word in (("naive", finding.naive), ("corrected", finding.corrected))
        if word is not None
    }
    naive, corrected = words.get("naive"), words.get("corrected")
    if naive is None or corrected is None:
        return f"{name} stands alone, so there is nothing to compare it with."
    return (
        f"{name} stands alone: its {finding.metric} is {_value(corrected)} {voice.with_act}, {_value(naive)} "
        f"{voice.without_act}."
    )


def _doubts(report: "Report") -> Iterator[str]:
    corrected = [row for row in report.estimates if _is_corrected(report, row)]
    if corrected:
        weighted = any(e.uses_propensity for e in report.settings.estimators)
        if _voice(report) is OF_A_SAMPLE:
            yield describe_draw(report.evidence.split.rule)
        if weighted:
            yield describe_assumption(report.settings.propensity, swept=bool(report.sweeps))
        size, total = corrected[0].effective_sample_size, report.evidence_of(corrected[0].metric).rows
        if size is not None and size < total / 2:
            yield (
                f"The weights are uneven: {total:,} held-out rows are worth {size:,.0f} equally weighted ones to "
                f"{corrected[0].estimator}."
            )
    told = report.warnings[:TOLD_WARNINGS]
    yield from map(sentence, told)
    rest = len(report.warnings) - len(told)
    if rest:
        yield f"{rest} more warning{'s' if rest > 1 else ''} below."


def _is_corrected(report: "Report", row: Estimate) -> bool:
    return any(str(e) == row.estimator and e.corrects for e in report.settings.estimators)


def _metrics(some: Sequence[Finding], judged: Sequence[Finding]) -> str:
    if len(some) == len(judged) > 2:
        return f"all {len(judged)} metrics"
    if len(some) > 3:
        return f"{len(some)} of {len(judged)} metrics"
    return listed(f.metric for f in some)


def _value(row: Estimate) -> str:
    return "an undefined value" if row.value is None else rounded(row.value)
