"""The verdict on a report: which models may be best, in sentences that say no more than the evidence shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unskew.display import numbers
from unskew.display.numbers import factor, rounded, signed
from unskew.display.phrases import capital, few, listed, quoted, sentence
from unskew.estimators import Comparison, Estimate
from unskew.evaluation.checking.data import rows_left_out
from unskew.evaluation.estimating.best_models import OF_LISTS, Answer, Standing
from unskew.evaluation.estimating.common_users import lacking_share
from unskew.evaluation.showing import vocabulary as say
from unskew.evaluation.showing.doubts import list_doubts
from unskew.evaluation.showing.remarks import compare_with_popular, describe_scope
from unskew.evaluation.showing.unknown_ids import describe_empty_lists, describe_foreign_items
from unskew.evaluation.showing.vocabulary import OF_A_LOG, OF_A_SAMPLE, Voice
from unskew.metrics import AnyMetric
from unskew.propensities import Uniform

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

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
    """The verdict on a report: a headline, a summary, findings by metric, and reasons for doubt.

    The headline is the `answer`, after `left_out` where many test rows are not judged, and after `foreign` where much
    of what a model lists is in neither train nor test. Where models do not know the same users, `common` is the verdict
    on those whom all know, and `common_users` their number.
    """

    answer: str
    summary: tuple[str, ...]
    findings: tuple[Finding, ...]
    doubts: tuple[str, ...]
    left_out: str = ""
    foreign: str = ""
    common: "Verdict | None" = None
    common_users: int = 0

    @property
    def sentence(self) -> str:
        """The headline, which every output opens with."""
        return " ".join(filter(None, (self.left_out, self.foreign, self.answer)))

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "sentence": self.sentence,
            "summary": list(self.summary),
            "metrics": [finding.answer.to_dict() for finding in self.findings],
            **({} if self.common is None else {"common_users": {"users": self.common_users, **self.common.to_dict()}}),
        }


def judge(report: "Report") -> Verdict:
    """Return the verdict on a report."""
    voice = _voice(report)
    by_word = {str(metric): metric for metric in report.settings.metrics}
    findings = tuple(
        Finding(answer, tuple(_sentences(report, answer, by_word[answer.metric], voice))) for answer in report.answers
    )
    contested = [answer for answer in report.answers if answer.models > 1]
    if contested:
        uniform = voice is OF_A_LOG and isinstance(report.settings.propensity, Uniform)
        headline, summary = _headline(contested, voice, uniform=uniform), tuple(_summary(contested, voice))
    elif not report.answers:
        headline, summary = say.ONLY_CONTENT, ()
    elif len(report.judged.members) > 1 and all(answer.judging.order for answer in report.answers):
        headline, summary = say.NOTHING_TO_COMPARE, ()
    else:
        headline, summary = _lone_headline(report, voice), ()
    other = report.on_common_users if lacking_share(report) > UNEQUAL else None
    if contested and lacking_share(report) > UNEQUAL:
        headline = describe_empty_lists(report, other, headline)
    return Verdict(
        headline,
        (*describe_scope(report), *summary, *compare_with_popular(report)),
        findings,
        tuple(list_doubts(report, voice)),
        next(map(sentence, rows_left_out.look(report)), ""),
        describe_foreign_items(report),
        None if other is None else other.verdict,
        0 if other is None else other.tally.users,
    )


def _voice(report: "Report") -> Voice:
    """The words of a sample if an estimator for samples was asked for, else those of a log."""
    exposed = any(estimator.sees in {"exposed", "inside"} for estimator in report.settings.estimators)
    return OF_A_SAMPLE if exposed else OF_A_LOG


def _headline(answers: Sequence[Answer], voice: Voice, *, uniform: bool) -> str:
    corrected = [answer for answer in answers if answer.corrects]
    if corrected and not any(answer.judging.order for answer in corrected):
        return voice.undefined
    opening = "" if corrected else f"{voice.nothing} "
    if uniform:
        opening = f"{say.UNIFORM} "
    judged = [answer for answer in corrected or answers if answer.judging.order]
    changed = [] if uniform else [answer for answer in judged if answer.changes_winner]
    return opening + " ".join([*_changes(changed, judged, voice), *_answers(judged, changed, voice)])


def _changes(changed: Sequence[Answer], judged: Sequence[Answer], voice: Voice) -> Iterator[str]:
    swaps: dict[tuple[str, str], list[Answer]] = {}
    for answer in changed:
        assert answer.naive is not None
        swaps.setdefault((answer.naive.first[0], answer.judging.first[0]), []).append(answer)
    for (before, after), some in swaps.items():
        yield say.WINNER_CHANGES.format(
            act=voice.act, before=quoted(before), after=quoted(after), metrics=_metrics(some, judged)
        )


def _answers(judged: Sequence[Answer], changed: Sequence[Answer], voice: Voice) -> Iterator[str]:
    """Yield a sentence on which models may be best, metrics with the same answer together."""
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
            clauses.append(say.BEST.format(model=quotes[0], n=models, metrics=on))
        elif kind == "level":
            clauses.append(say.LEVEL.format(models=few(quotes), metrics=on))
        elif kind == "chance":
            clauses.append(say.CHANCE.format(corrected=voice.corrected, metrics=_any(some, judged)))
        elif kind == "depends":
            leaders = [quoted(name) for name in some[0].leaders]
            what = say.METHOD if some[0].by_method else say.ASSUMED_BIAS
            clauses.append(say.DEPENDS.format(metrics=on, what=what, models=few(leaders, last="or")))
        else:
            again = clauses and clauses[-1].startswith(("nor ", f"this {voice.data} "))
            which = f"the {models} models" if len(quotes) == models > 2 else few(quotes)
            clause = (say.OPEN_TOO if again else say.OPEN).format(data=voice.data, models=which, metrics=on)
            clauses.append(clause + _excluded(some, voice))
    rest = len(groups) - GROUPS
    if rest > 0:
        clauses.append(say.OTHER_ANSWER if rest == 1 else say.OTHER_ANSWERS.format(n=rest))
    if clauses:
        yield f"{capital('; '.join(clauses)).replace('; nor ', ', nor ')}."


def _excluded(some: Sequence[Answer], voice: Voice) -> str:
    """The naive winners in brackets, where they are the same for these answers and not among the best models."""
    winners = {answer.naive.first for answer in some if answer.naive is not None and answer.agree is False}
    if len(winners) != 1 or not all(answer.agree is False for answer in some):
        return ""
    return say.NOT_AMONG_THEM.format(models=few([quoted(name) for name in next(iter(winners))]), naive=voice.naive)


def _summary(answers: Sequence[Answer], voice: Voice) -> Iterator[str]:
    judged = [answer for answer in answers if answer.corrects and answer.judging.order] or list(answers)
    if all(c.p_value_holm is None for answer in judged for c in answer.judging.compared):
        yield say.TOO_FEW_USERS.format(data=voice.data)
        return
    sure = [answer for answer in judged if answer.kind == "best"]
    if any(not answer.changes_winner for answer in sure):
        gammas, limits = "", sure[0].assumed
        if all(answer.robust for answer in sure) and limits is not None:
            gammas = say.BEST_AT_GAMMAS.format(low=signed(limits.low), high=signed(limits.high))
        yield say.BEST_MEANS.format(gammas=gammas)
    for answer in sure:
        holds = answer.holds_over
        if answer.robust is False and holds is not None:
            yield say.HOLDS_FOR.format(metric=answer.metric, low=signed(holds.low), high=signed(holds.high))
    small = [
        c.p_value_holm is not None and c.p_value_holm < answer.judging.alpha and not answer.judging.is_beyond_chance(c)
        for answer in judged
        for c in answer.judging.compared
        if c.difference
    ]
    if any(small):
        yield say.FEW_USERS_DECIDE
    apart = [a for a in judged if a.agree is False and not a.changes_winner and a.kind not in {"open", "chance"}]
    for some, why in (
        ([a for a in apart if a.swap is None], say.NOT_BOTH),
        ([a for a in apart if a.swap is not None and not a.confirmed], say.NOT_ON_COMMON_USERS),
        ([a for a in apart if a.swap is not None and a.confirmed], say.NOT_AT_ALL_ASSUMED),
    ):
        if some:
            metrics = _metrics(some, judged)
            yield say.NAMES_DIFFER.format(metrics=metrics, naive=voice.naive, corrected=voice.corrected, why=why)


def _sentences(report: "Report", answer: Answer, metric: AnyMetric, voice: Voice) -> Iterator[str]:
    judging = answer.judging
    if not judging.order:
        yield say.NO_VALUE
        return
    kind = voice.corrected if answer.corrects else voice.uncorrected
    if answer.kind == "chance" and answer.chance is not None and answer.models > 1:
        first = judging.order[0]
        yield say.NONE_ABOVE_CHANCE.format(
            by=f"{kind}, {judging.estimator}",
            chance=rounded(answer.chance),
            model=quoted(first.model),
            value=_value(first),
        )
    else:
        yield from _best_words(judging, kind, report.settings.level, voice)
    if answer.naive is not None and answer.naive.order:
        yield _naive_words(answer, answer.naive, voice)
    if answer.models > 1:
        yield from _gamma_words(answer)
        yield from _method_words(answer)
        if answer.needed is not None:
            leader, runner_up = (quoted(row.model) for row in judging.order[:2])
            candidates = 0 if report.samples.imputed is None else int(report.samples.imputed.candidates.sum())
            yield say.rows_needed(answer.needed, candidates).format(a=leader, b=runner_up)
        yield from _flip_words(answer)
    if not answer.corrects and voice is OF_A_LOG:
        yield f"{say.naive_only(metric)}."


def _best_words(judging: Standing, kind: str, level: float, voice: Voice) -> Iterator[str]:
    best, by = judging.may_be_best, f"{kind}, {judging.estimator}"
    order = judging.order
    if len(order) == 1:
        yield say.HAS.format(model=quoted(order[0].model), value=_value(order[0]), by=by)
        return
    if len(judging.first) == len(order):
        names = few([quoted(name) for name in judging.first])
        yield say.ALL_LEVEL.format(by=by, models=names, value=_value(order[0]))
        return
    values = {row.model: row for row in order}
    if len(best) == 1:
        yield say.ONLY_BEST.format(by=by, model=quoted(best[0]), value=_value(values[best[0]]))
    else:
        names = few([f"{quoted(name)} ({_value(values[name])})" for name in best])
        yield say.MAY_BE_BEST.format(by=by, models=names, data=voice.data)
    yield from _lead_words(judging, judging.lead, level)


def _lead_words(judging: Standing, lead: Comparison | None, level: float) -> Iterator[str]:
    if lead is None or not lead.difference:
        return
    # the smaller error leads; the lead is a positive number nevertheless
    ahead = replace(lead.reversed(), a=lead.a, b=lead.b) if lead.difference < 0 else lead
    text = say.LEADS.format(a=quoted(lead.a), b=quoted(lead.b), gap=rounded(abs(lead.difference)))
    if lead.p_value_holm is None or ahead.low is None or ahead.high is None:
        yield say.LEADS_UNSURE.format(lead=text)
        return
    ends = {"low": rounded(ahead.low), "high": rounded(ahead.high)}
    text = say.LEAD_INTERVAL.format(lead=text, level=numbers.level(level), **ends)
    p = numbers.p_is(lead.p_value_holm)
    if judging.is_beyond_chance(lead):
        yield say.BEYOND_CHANCE.format(lead=text, p=p)
    elif lead.p_value_holm < 1 - level:
        yield say.WITHIN_FEW_USERS.format(lead=text, p=p, users=judging.effective)
    else:
        yield say.WITHIN_CHANCE.format(lead=text, p=p)


def _naive_words(answer: Answer, naive: Standing, voice: Voice) -> str:
    who = f"{capital(voice.naive)}, {naive.estimator},"
    if answer.models == 1:
        return say.NAIVE_HAS.format(naive=who, value=_value(naive.order[0]))
    if answer.changes_winner:
        text = say.NAIVE_CHANGES
    elif not answer.agree:
        text = say.NAIVE_DISAGREES
    else:
        same = set(naive.may_be_best) == set(answer.judging.may_be_best)
        text = say.NAIVE_AGREES if same else say.NAIVE_FITS
    return text.format(naive=who, models=few([quoted(name) for name in naive.may_be_best]), best=_is_best(naive))


def _is_best(standing: Standing) -> str:
    alone = len(standing.may_be_best) == 1
    return say.ALONE_BEST.format(value=_value(standing.order[0])) if alone else "may be best"


def _gamma_words(answer: Answer) -> Iterator[str]:
    if answer.assumed is None:
        return
    low, high = signed(answer.assumed.low), signed(answer.assumed.high)
    if len(answer.spans) == 1 and answer.spans[0][0]:
        names = answer.spans[0][0]
        models = f"{few([quoted(name) for name in names])} {'is' if len(names) == 1 else 'are'}"
        yield say.FIRST_AT_GAMMAS.format(models=models, low=low, high=high)
        return
    parts = [f"{few([quoted(name) for name in names] or ['none'])} {_span(a, b)}" for names, a, b in answer.spans]
    yield say.FIRST_DEPENDS.format(spans=listed(parts))


def _method_words(answer: Answer) -> Iterator[str]:
    """Yield a sentence on which model is first by each method, methods with the same one together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for method, first in answer.by_method:
        groups.setdefault(first, []).append(method)
    if len(groups) == 1:
        names = next(iter(groups))
        models = f"{few([quoted(name) for name in names])} {'is' if len(names) == 1 else 'are'}"
        yield say.FIRST_BY_METHODS.format(models=models, methods=listed(method for method, _ in answer.by_method))
    elif groups:
        parts = [f"{few([quoted(n) for n in names])} by {listed(methods)}" for names, methods in groups.items()]
        of_lists = tuple(method for method, _ in answer.by_method) == OF_LISTS
        yield say.FIRST_BY_METHOD.format(
            parts="; ".join(parts), decides=say.NOTHING_DECIDES if of_lists else say.SLICE_DECIDES
        )


def _span(low: float, high: float) -> str:
    return f"at gamma {signed(low)}" if low == high else f"for gamma {signed(low)} to {signed(high)}"


def _flip_words(answer: Answer) -> Iterator[str]:
    if not answer.weighted or len(answer.judging.first) > 1 or answer.kind == "chance":
        return
    if answer.flip_gamma is None or answer.flips_to is None:
        yield say.NO_FLIP
    elif answer.flip_gamma < LEAST_FACTOR:
        yield say.ANY_FLIP.format(model=quoted(answer.flips_to))
    else:
        yield say.FLIPS_AT.format(model=quoted(answer.flips_to), factor=factor(answer.flip_gamma))


def _lone_headline(report: "Report", voice: Voice) -> str:
    name = quoted(next(iter(report.judged.members)))
    answer = report.answers[0]
    if not answer.judging.order or answer.naive is None or not answer.naive.order:
        return say.ALONE.format(model=name)
    row = answer.judging.order[0]
    interval = "" if row.low is None or row.high is None else _interval(row, row.low, row.high)
    return say.ALONE_WITH.format(
        model=name,
        metric=answer.metric,
        value=_value(row),
        with_act=voice.with_act,
        interval=interval,
        naive=_value(answer.naive.order[0]),
        without_act=voice.without_act,
    )


def _interval(row: Estimate, low: float, high: float) -> str:
    text = say.ALONE_INTERVAL.format(level=numbers.level(row.level), low=rounded(low), high=rounded(high))
    if row.assumed_low is not None and row.assumed_high is not None:
        text += say.ALONE_ASSUMED.format(low=rounded(row.assumed_low), high=rounded(row.assumed_high))
    return f" ({text})"


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
