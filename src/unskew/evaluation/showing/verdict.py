"""What a report says, in plain sentences: what the evidence carries, and no more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unskew.data.candidates import All
from unskew.display import numbers
from unskew.display.numbers import factor, rounded, signed
from unskew.display.phrases import capital, few, listed, lowered, quoted, sentence
from unskew.estimators import Comparison, Estimate
from unskew.evaluation.checking.data import rows_left_out
from unskew.evaluation.estimating.best_models import Answer, Standing
from unskew.evaluation.estimating.common_users import lacking_share
from unskew.evaluation.showing import vocabulary
from unskew.evaluation.showing.vocabulary import OF_A_LOG, OF_A_SAMPLE, Voice
from unskew.metrics import AnyMetric
from unskew.propensities import Uniform

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

TOLD_WARNINGS = 3
UNEQUAL = 0.05  # share of rows of users whom not all models know, from which both answers are given
GROUPS = 3  # different answers that the sentence names, before it counts the rest
LEAST_FACTOR = 1.005  # below which a factor of the weights rounds to 1.00


@dataclass(frozen=True)
class Finding:
    """What one metric says: the answer, and sentences for it."""

    answer: Answer
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The report in words: one sentence, what it rests on, each metric, reasons for doubt.

    The sentence is the `answer`, after `left_out` where many test rows are not judged. Where models do not know the
    same users, `common` is the verdict on those whom all know, `common_users` of them.
    """

    answer: str
    summary: tuple[str, ...]
    findings: tuple[Finding, ...]
    doubts: tuple[str, ...]
    left_out: str = ""
    common: "Verdict | None" = None
    common_users: int = 0

    @property
    def sentence(self) -> str:
        """What every output opens with."""
        return f"{self.left_out} {self.answer}".lstrip()

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "sentence": self.sentence,
            "summary": list(self.summary),
            "metrics": [finding.answer.to_dict() for finding in self.findings],
            **({} if self.common is None else {"common_users": {"users": self.common_users, **self.common.to_dict()}}),
        }


def judge(report: "Report") -> Verdict:
    """Put a report into words."""
    voice = _voice(report)
    by_word = {str(metric): metric for metric in report.settings.metrics}
    findings = tuple(
        Finding(answer, tuple(_sentences(report, answer, by_word[answer.metric], voice))) for answer in report.answers
    )
    contested = [answer for answer in report.answers if answer.models > 1]
    if contested:
        uniform = voice is OF_A_LOG and isinstance(report.settings.propensity, Uniform)
        headline, summary = _headline(contested, voice, uniform=uniform), tuple(_summary(contested, voice))
    elif len(report.models) > 1 and all(answer.judging.order for answer in report.answers):
        headline, summary = "No two models are judged by the same metric, so there is nothing to compare.", ()
    else:
        headline, summary = _lone_headline(report, voice), ()
    other = report.on_common_users if lacking_share(report) > UNEQUAL else None
    if contested and lacking_share(report) > UNEQUAL:
        headline = _by_users(report, other, headline)
    return Verdict(
        headline,
        (*_scope(report), *summary),
        findings,
        tuple(_doubts(report, voice)),
        next(map(sentence, rows_left_out.look(report)), ""),
        None if other is None else other.verdict,
        0 if other is None else len(other.samples.judged.users),
    )


def _by_users(report: "Report", other: "Report | None", headline: str) -> str:
    """Both answers, where models do not know the same users: with empty lists, and on the users whom all know."""
    sample = report.samples.judged
    lacking = [name for name in sample.ranks if not sample.served(name).all()]
    users, known = len(sample.users), 0 if other is None else len(other.samples.judged.users)
    who = f"{few([quoted(name) for name in lacking])} {'has' if len(lacking) == 1 else 'have'}"
    text = (
        f"{who} no lists for up to {users - known:,} of {users:,} users ({100 * lacking_share(report):.0f} % of the "
        f"rows) whom another model serves, which counts as 0 under a cut-off and as a random order otherwise. Judged "
        f"so, {lowered(headline)}"
    )
    if other is None:
        return f"{text} There is no user whom all models know."
    return f"{text} On the {known:,} users whom all models know, {lowered(other.verdict.answer)}"


def _scope(report: "Report") -> Iterator[str]:
    """What the numbers are about, where that is not what a reader expects."""
    split = report.samples.judged.split
    if split.exposed and isinstance(split.rule, All) and split.test_in_train.any():
        rows = f"{int(split.test_in_train.sum()):,} of {len(split.test):,}"
        yield (
            f"This is about recommenders that may repeat what a user already has (population all): {rows} exposed rows "
            "are in train, so a model may have learnt them by heart."
        )
    if report.settings.users == "served" and len(report.models) > 1:
        yield "Each model is judged on the users it knows, and two models are compared on the users of both."


def _voice(report: "Report") -> Voice:
    """A sample's where an estimator of one was asked for, which are refused without one."""
    exposed = any(estimator.sees != "observed" for estimator in report.settings.estimators)
    return OF_A_SAMPLE if exposed else OF_A_LOG


def _headline(answers: Sequence[Answer], voice: Voice, *, uniform: bool) -> str:
    corrected = [answer for answer in answers if answer.corrects]
    if corrected and not any(answer.judging.order for answer in corrected):
        return voice.undefined
    opening = "" if corrected else f"{voice.nothing} "
    if uniform:
        opening = "The propensity is uniform, so nothing here is corrected for the skew of the log. "
    judged = [answer for answer in corrected or answers if answer.judging.order]
    changed = [] if uniform else [answer for answer in judged if answer.changes_winner]
    return opening + " ".join([*_changes(changed, judged, voice), *_answers(judged, changed, voice)])


def _changes(changed: Sequence[Answer], judged: Sequence[Answer], voice: Voice) -> Iterator[str]:
    swaps: dict[tuple[str, str], list[Answer]] = {}
    for answer in changed:
        assert answer.naive is not None
        swaps.setdefault((answer.naive.first[0], answer.judging.first[0]), []).append(answer)
    for (before, after), some in swaps.items():
        yield f"{voice.act} changes the winner from {quoted(before)} to {quoted(after)} on {_metrics(some, judged)}."


def _answers(judged: Sequence[Answer], changed: Sequence[Answer], voice: Voice) -> Iterator[str]:
    """What may be best, metrics with the same answer together."""
    groups: dict[tuple[str, tuple[str, ...]], list[Answer]] = {}
    for answer in judged:
        names = () if answer.kind == "chance" else tuple(sorted(answer.contenders))
        groups.setdefault((answer.kind, names), []).append(answer)
    shown = [some for some in list(groups.values())[:GROUPS] if not all(answer in changed for answer in some)]
    clauses: list[str] = []
    for some in shown:
        kind, on, models = some[0].kind, _metrics(some, judged), some[0].models
        quotes = [quoted(name) for name in some[0].contenders]
        if kind == "best":
            clauses.append(f"{quotes[0]} is best of {models} models on {on}")
        elif kind == "level":
            clauses.append(f"{few(quotes)} are level on {on}")
        elif kind == "chance":
            clauses.append(
                f"by {voice.corrected} no model is shown to be better than a random order on {_any(some, judged)}"
            )
        elif kind == "depends":
            leaders = [quoted(name) for name in some[0].leaders]
            clauses.append(f"the best model on {on} depends on the assumed bias: {few(leaders, last='or')}")
        else:
            again = clauses and clauses[-1].startswith(("nor ", f"this {voice.data} "))
            opening = "nor" if again else f"this {voice.data} cannot separate"
            clauses.append(f"{opening} {f'the {models} models' if len(quotes) == models > 2 else few(quotes)} on {on}")
            excluded = {answer.naive.first for answer in some if answer.naive is not None and answer.agree is False}
            if len(excluded) == 1 and all(answer.agree is False for answer in some):
                first = few([quoted(name) for name in next(iter(excluded))])
                clauses[-1] += f" (not among them: {first}, first by {voice.naive})"
    rest = len(groups) - GROUPS
    if rest > 0:
        clauses.append(f"{rest} more metric{'s have' if rest > 1 else ' has'} yet another answer")
    if clauses:
        yield f"{capital('; '.join(clauses)).replace('; nor ', ', nor ')}."


def _summary(answers: Sequence[Answer], voice: Voice) -> Iterator[str]:
    judged = [answer for answer in answers if answer.corrects and answer.judging.order] or list(answers)
    if all(c.p_value_holm is None for answer in judged for c in answer.judging.compared):
        yield f"There are too few users to say what chance could do, so this {voice.data} separates no two models."
        return
    sure = [answer for answer in judged if answer.kind == "best"]
    if any(not answer.changes_winner for answer in sure):
        over, limits = "", sure[0].assumed
        if all(answer.robust for answer in sure) and limits is not None:
            over = f", and first at every gamma tried from {signed(limits.low)} to {signed(limits.high)}"
        yield f"Best means better than every other model beyond chance (after Holm's correction){over}."
    for answer in sure:
        if answer.robust is False and answer.holds_over is not None:
            span = f"gamma {signed(answer.holds_over.low)} to {signed(answer.holds_over.high)}"
            yield f"On {answer.metric} that holds for {span}; at other gammas no model is shown to beat a random order."
    small = [
        c.p_value_holm is not None and c.p_value_holm < answer.judging.alpha and not answer.judging.is_beyond_chance(c)
        for answer in judged
        for c in answer.judging.compared
        if c.difference
    ]
    if any(small):
        yield "Small p-values that rest on the weight of few users are not taken for more than chance (Student's t)."
    apart = [a for a in judged if a.agree is False and not a.changes_winner and a.kind not in {"open", "chance"}]
    for some, why in (
        ([a for a in apart if a.swap is None], "but not each beyond chance over the other"),
        ([a for a in apart if a.swap is not None], "but not on the users whom all models know"),
    ):
        if some:
            yield f"On {_metrics(some, judged)} {voice.naive} and {voice.corrected} name different models, {why}."


def _sentences(report: "Report", answer: Answer, metric: AnyMetric, voice: Voice) -> Iterator[str]:
    judging = answer.judging
    if not judging.order:
        yield "No model has a defined value."
        return
    kind = voice.corrected if answer.corrects else voice.uncorrected
    if answer.kind == "chance" and answer.chance is not None and answer.models > 1:
        yield (
            f"By {kind}, {judging.estimator}, no model is shown to be better than a random order, which would have "
            f"{rounded(answer.chance)}; {quoted(judging.order[0].model)} is first, with {_value(judging.order[0])}."
        )
    else:
        yield from _best_words(judging, kind, report.settings.level, voice)
    if answer.naive is not None and answer.naive.order:
        yield _naive_words(answer, answer.naive, voice)
    if answer.models > 1:
        yield from _gamma_words(answer)
        yield from _flip_words(answer)
    if not answer.corrects and voice is OF_A_LOG:
        yield f"{vocabulary.naive_only(metric)}."


def _best_words(judging: Standing, kind: str, level: float, voice: Voice) -> Iterator[str]:
    best, by = judging.may_be_best, f"{kind}, {judging.estimator}"
    order = judging.order
    if len(order) == 1:
        yield f"{quoted(order[0].model)} has {_value(order[0])} by {by}."
        return
    if len(judging.first) == len(order):
        yield f"By {by}, {few([quoted(name) for name in judging.first])} are level, with {_value(order[0])}."
        return
    values = {row.model: row for row in order}
    if len(best) == 1:
        yield f"By {by}, only {quoted(best[0])} may be best, with {_value(values[best[0]])}."
    else:
        names = [f"{quoted(name)} ({_value(values[name])})" for name in best]
        yield f"By {by}, {few(names)} may be best: this {voice.data} cannot separate them."
    yield from _lead_words(judging, judging.lead, level)


def _lead_words(judging: Standing, lead: Comparison | None, level: float) -> Iterator[str]:
    if lead is None or not lead.difference:
        return
    # of errors the smaller one leads, and by how much is said as a positive number all the same
    ahead = replace(lead.reversed(), a=lead.a, b=lead.b) if lead.difference < 0 else lead
    gap = f"{quoted(lead.a)} leads {quoted(lead.b)} by {rounded(abs(lead.difference))}"
    if lead.p_value_holm is None or ahead.low is None or ahead.high is None:
        yield f"{gap}; how sure that is cannot be said, because there is no interval."
        return
    gap += f" ({numbers.level(level)} interval of this pair alone {rounded(ahead.low)} to {rounded(ahead.high)})"
    p = "p < 0.0001" if lead.p_value_holm < 1e-4 else f"p = {lead.p_value_holm:.2g}"
    if judging.is_beyond_chance(lead):
        yield f"{gap}, more than chance explains ({p} after Holm)."
    elif lead.p_value_holm < 1 - level:
        weight = f"the weight of {judging.effective:.2g} users"
        yield f"{gap}, which chance alone can explain ({p} after Holm, but from no more than {weight})."
    else:
        yield f"{gap}, which chance alone can explain ({p} after Holm)."


def _naive_words(answer: Answer, naive: Standing, voice: Voice) -> str:
    who = f"{capital(voice.naive)}, {naive.estimator},"
    names = few([quoted(name) for name in naive.may_be_best])
    if answer.models == 1:
        return f"{who} has {_value(naive.order[0])}."
    if answer.changes_winner:
        return f"{who} disagrees: {names} {_is_best(naive)}. Each is better than the other beyond chance by its own."
    if not answer.agree:
        return f"{who} disagrees: {names} {_is_best(naive)}, but not beyond chance over each of these by both."
    if set(naive.may_be_best) == set(answer.judging.may_be_best):
        return f"{who} agrees: {names} {_is_best(naive)}."
    return f"{who} does not contradict it: {names} {_is_best(naive)}."


def _is_best(standing: Standing) -> str:
    return f"alone may be best, with {_value(standing.order[0])}" if len(standing.may_be_best) == 1 else "may be best"


def _gamma_words(answer: Answer) -> Iterator[str]:
    if answer.assumed is None:
        return
    low, high = signed(answer.assumed.low), signed(answer.assumed.high)
    if len(answer.spans) == 1 and answer.spans[0][0]:
        names = answer.spans[0][0]
        verb = "is" if len(names) == 1 else "are"
        yield f"{few([quoted(name) for name in names])} {verb} first at every gamma tried from {low} to {high}."
        return
    parts = [f"{few([quoted(name) for name in names] or ['none'])} {_span(a, b)}" for names, a, b in answer.spans]
    yield f"Which model is first, and above a random order, depends on the assumed bias: {listed(parts)}."


def _span(low: float, high: float) -> str:
    return f"at gamma {signed(low)}" if low == high else f"for gamma {signed(low)} to {signed(high)}"


def _flip_words(answer: Answer) -> Iterator[str]:
    if not answer.weighted or len(answer.judging.first) > 1 or answer.kind == "chance":
        return
    if answer.flip_gamma is None or answer.flips_to is None:
        yield "No error of the weights could make another model first."
    elif answer.flip_gamma < LEAST_FACTOR:
        yield f"The smallest error of the weights could make {quoted(answer.flips_to)} first."
    else:
        yield (
            f"{capital(quoted(answer.flips_to))} could be first if weights were wrong by a factor of "
            f"{factor(answer.flip_gamma)}, and for no smaller one could any other model."
        )


def _lone_headline(report: "Report", voice: Voice) -> str:
    name = quoted(next(iter(report.models)))
    answer = report.answers[0]
    if not answer.judging.order or answer.naive is None or not answer.naive.order:
        return f"{name} is judged alone, so there is nothing to compare it with."
    row = answer.judging.order[0]
    interval = "" if row.low is None or row.high is None else _interval(row, row.low, row.high)
    return (
        f"{name} is judged alone: its {answer.metric} is {_value(row)} {voice.with_act}{interval}, "
        f"{_value(answer.naive.order[0])} {voice.without_act}."
    )


def _interval(row: Estimate, low: float, high: float) -> str:
    text = f"{numbers.level(row.level)} interval {rounded(low)} to {rounded(high)}"
    if row.assumed_low is not None and row.assumed_high is not None:
        text += f"; {rounded(row.assumed_low)} to {rounded(row.assumed_high)} over what may be assumed"
    return f" ({text})"


def _doubts(report: "Report", voice: Voice) -> Iterator[str]:
    words = {str(estimator) for estimator in report.settings.estimators if estimator.corrects}
    corrected = [row for row in report.estimates if row.estimator in words]
    if corrected:
        if voice is OF_A_SAMPLE:
            yield vocabulary.describe_draw(report.samples.judged.split.rule)
        if any(e.uses_propensity for e in report.settings.estimators):
            assumed = None if report.band is None else report.band.range
            yield vocabulary.describe_assumption(report.settings.propensity, assumed)
        size, users = corrected[0].effective_sample_size, corrected[0].users
        if size is not None and size < users / 2:
            yield (
                f"The weights are uneven: {users:,} users count like {size:,.0f} of equal weight to "
                f"{corrected[0].estimator}."
            )
    told = report.warnings[:TOLD_WARNINGS]
    yield from map(sentence, told)
    rest = len(report.warnings) - len(told)
    if rest:
        yield f"{rest} more warning{'s' if rest > 1 else ''} below."


def _metrics(some: Sequence[Answer], judged: Sequence[Answer]) -> str:
    if len(some) == len(judged) > 2:
        return f"all {len(judged)} metrics"
    if len(some) > 3:
        return f"{len(some)} of {len(judged)} metrics"
    return listed(answer.metric for answer in some)


def _any(some: Sequence[Answer], judged: Sequence[Answer]) -> str:
    return f"any of {len(judged)} metrics" if len(some) == len(judged) > 2 else listed((a.metric for a in some), "or")


def _value(row: Estimate) -> str:
    return "an undefined value" if row.value is None else rounded(row.value)
