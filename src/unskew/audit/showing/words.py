"""The sentences of an audit: on the skew of the log, and on how wrong an evaluation on it can be."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from unskew.audit.error.agreement import Span, span_of_shares
from unskew.audit.error.matched_world import SEARCHED
from unskew.audit.error.recommendation import NAIVE, Recommendation
from unskew.audit.error.result import ErrorAudit, PairRow
from unskew.audit.lists import ModelAudit
from unskew.audit.popularity import STRATA
from unskew.display.numbers import one_or_both, percent, rounded
from unskew.display.phrases import MOST_NAMED, counted, listed, quoted

if TYPE_CHECKING:
    from unskew.audit.result import Audit

SHOWN = 0.05  # the share of the items that the headline is about
HEAD, TAIL = STRATA.index("head"), STRATA.index("tail")
CORRECTED = "snips"

# the skew of the log, and of the lists
TOP_ITEMS = "The {items} most popular items have {rows} of all interactions"
HEAD_PLACES = "; {model} gives {places} of its places to the head."
NO_HEAD = "All items are equally popular: there is no head and no tail."
HEAD_AND_TAIL = (
    "The head is {head:,} of {items:,} items with {head_rows} of the {rows}; the tail is {tail:,} items with "
    "{tail_rows}."
)
TO_TAIL = "Of the places in top-{k} lists, the tail gets {shares}{more}."
MORE_MODELS = " ({n} more models below)"
GAMMAS = "Exposure grows with popularity to the power gamma: {gammas}."
NO_GAMMA = "How fast exposure grows with popularity (gamma) is not identified for any model."
GAMMA_ROUGH = " (rough: from {levels} popularity levels, with a standard error of {error:.2f})"

# how wrong an evaluation can be
NOTHING_CLAIMED = (
    "Nothing is claimed: none of the {n} worlds calibrated to this log is like it. The skew of the log above does not "
    "depend on this."
)
ACCEPTED = "{accepted} of {worlds} of {kinds} are accepted as similar to this log."
NO_WINNER = "By {estimator} no run has a winner."
SEEMS_BETTER = (
    "By {estimator}, the popular list seems better than the perfect recommender in {shares} of runs in {metric}"
)
OTHERS_SEEM = "It is {shares}."
ALL_AGREE = "; all {worlds} agree."
DISAGREE = "worlds that fit this log equally well disagree, so this log cannot decide"
UNCLEAR = "there are too few runs to say whether the worlds agree"
BY_KIND = " By kind of world: {shares}."
NO_TRUE_GAP = "The true difference in {metric} is not defined."
TRUE_GAP = "In truth the perfect recommender leads by {gap} in {metric}."
DETECTS = "The smallest difference in {metric} that can be detected is {sizes}."
USE_NAIVE = (
    "On a log like yours, of the naive average and the forms of snips, use the first ({estimator}) for {metric}: its "
    "worst error over the {worlds} is {worst} of the value{second}.{conditional}"
)
SECOND_BEST = ", compared with {worst} for {estimator}, the best correction"
USE_CORRECTED = (
    "On a log like yours, of the naive average and the forms of snips, use {estimators} for {metric}: its worst error "
    "over the {worlds} is {worst} of the value, that of the naive average is {naive}. It beats the naive average in "
    "{beats} of {worlds}{kinds}.{conditional}"
)
USE_ONE_WORLD = (
    "One accepted world is too few to say which estimator to use on a log like yours. In this world the closest for "
    "{metric} is {estimators}: its error is {worst} of the value, that of the naive average is {naive}."
)
USE_ALSO = "In {metric}: {estimators} ({errors})."
OR_AS_GOOD = "{estimator} (or {others}, equally good)"
IF_KNOWN = " If you know which of the two holds, use {estimators}."
USE_IF = "{estimator} if users {consumed} (worst error {worst})"
MODELS_DIFFER = "In {metric}, {leads}{stand_ins}."
STAND_INS = "; in the simulation {models} replaced by a stand-in, so these chances are rough"
MODEL_LEADS = (
    "by {estimator} {winner} leads {loser} by {gap}, and the chance that it is the worse one is {shares}{agreement}"
)
ASSUMED = (
    "Assumed: {worlds}. {holdout:.0%} of each user's rows are held out. The numbers are only as good as the "
    "resemblance of the worlds to the log. Each estimator is compared with its own target: the mean over relevant "
    "pairs for snips, over users for the others. Estimates with true propensities (true P) are possible only in the "
    "simulation."
)
TOO_SMALL_TO_FIT = "the log is too small to say how well the world fits"
REFUSED = "{world} refused: {why}"
_LIKES = {
    "ibp": "users like what many like (Indian buffet process)",
    "lda": "users like what belongs to their topics (latent Dirichlet allocation)",
    "uniform": "users like every item equally",
}
_OBSERVED = {
    "popular": "consume the popular ones of these first",
    "uniform": "consume any of these",
    "preferred": "consume what they like most first",
}
_CONSUME = {
    "popular": "consumed the popular items first",
    "uniform": "consumed any of what they like",
    "preferred": "consumed what they like most first",
}
_KINDS = {
    "lda-pop": "users like what belongs to their topics and consume the popular ones first",
    "lda-unif": "users like what belongs to their topics and consume any of it",
    "ibp-pop": "users like what many like and consume the popular ones first",
    "ibp-unif": "users like what many like and consume any of it",
}


def headline(audit: "Audit") -> str:
    """A sentence on the skew of the log, and on the model that gives most places to popular items."""
    start = TOP_ITEMS.format(items=percent(SHOWN), rows=percent(audit.log.top_share(SHOWN).rows))
    if not audit.models or audit.strata.levels < 2:
        return f"{start}."
    most = max(audit.models, key=lambda row: row.shares[HEAD])
    return start + HEAD_PLACES.format(model=quoted(most.model), places=percent(most.shares[HEAD]))


def summary(audit: "Audit") -> Iterator[str]:
    """Yield sentences on head and tail, and on what the models recommend of them."""
    items, rows = audit.strata.items, audit.strata.rows
    if audit.strata.levels < 2:
        yield NO_HEAD
    else:
        yield HEAD_AND_TAIL.format(
            head=items[HEAD],
            items=items.sum(),
            head_rows=percent(rows[HEAD] / rows.sum()),
            rows=audit.counted_on,
            tail=items[TAIL],
            tail_rows=percent(rows[TAIL] / rows.sum()),
        )
    if audit.models and audit.strata.levels >= 2:
        yield _to_tail(audit)
    if audit.models:
        yield _by_gamma(audit.models)


def _to_tail(audit: "Audit") -> str:
    shown = [f"{percent(row.shares[TAIL])} by {quoted(row.model)}" for row in audit.models[:MOST_NAMED]]
    more = "" if len(audit.models) <= MOST_NAMED else MORE_MODELS.format(n=len(audit.models) - MOST_NAMED)
    return TO_TAIL.format(k=audit.k, shares=listed(shown), more=more)


def _by_gamma(models: tuple[ModelAudit, ...]) -> str:
    known = [row for row in models if row.gamma is not None]
    if not known:
        return NO_GAMMA
    shown = [
        f"{rounded(row.gamma.gamma)} for {quoted(row.model)}{_doubt(row)}" for row in known[:MOST_NAMED] if row.gamma
    ]
    return GAMMAS.format(gammas=listed(shown))


def _doubt(row: ModelAudit) -> str:
    if row.gamma is None or not row.gamma.doubtful:
        return ""
    return GAMMA_ROUGH.format(levels=row.gamma.levels, error=row.gamma.std_error)


def lead(error: ErrorAudit) -> Iterator[str]:
    """Yield sentences on how many worlds fit, how often each estimator is wrong, and which one to use."""
    if not error.accepted:
        yield NOTHING_CLAIMED.format(n=len(error.worlds))
        return
    metric = error.metrics[0]
    first = {row.label: row for row in error.reference if row.metric == metric}
    chosen = next((each for each in error.recommended if each.metric == metric), None)
    shown = list(dict.fromkeys([NAIVE, CORRECTED if chosen is None else chosen.estimator, CORRECTED]))
    if len(error.worlds) > 1:
        kinds = len({world.likened.kind for world in error.worlds})
        yield ACCEPTED.format(
            accepted=len(error.accepted), worlds=counted(len(error.worlds), "world"), kinds=counted(kinds, "kind")
        )
    rows = [first[label] for label in shown]
    others = _by_estimator(rows[1:], error.wrong_span)
    yield f"{_seems_better(error, first[NAIVE])} {OTHERS_SEEM.format(shares=listed(others)) if others else ''}"
    yield _truly_ahead(error, first[NAIVE])
    detects = _by_estimator(rows, error.smallest_span, " of the value")
    yield DETECTS.format(metric=metric, sizes=listed(detects))
    yield from _use(error)
    compared = [row for row in error.model_pairs if row.metric == metric]
    if compared:
        yield _verdict(error, [row for row in compared if (row.a, row.b) == (compared[0].a, compared[0].b)], shown[:2])


def _seems_better(error: ErrorAudit, row: PairRow) -> str:
    """A sentence on how often the naive average has the wrong winner, and whether worlds agree on it."""
    span = error.wrong_span(row)
    if span is None:
        return NO_WINNER.format(estimator=row.label)
    text = SEEMS_BETTER.format(estimator=row.label, shares=_shares(span), metric=row.metric)
    if span.verdict is None:
        return f"{text}."
    if span.verdict == "agree":
        return text + ALL_AGREE.format(worlds=counted(len(error.accepted), "accepted world"))
    why = DISAGREE if span.verdict == "disagree" else UNCLEAR
    return f"{text}: {why}.{_by_kind(error, row)}"


def _by_kind(error: ErrorAudit, row: PairRow) -> str:
    """The shares of runs with the wrong winner by kind of world, where there are several kinds."""
    shares: dict[str, list[float]] = {}
    for world in error.accepted:
        for each in world.pairs:
            if each.key == row.key and each.wrong_winner is not None:
                shares.setdefault(world.likened.kind, []).append(each.wrong_winner)
    if len(shares) < 2:
        return ""
    spans = {kind: span_of_shares(values) for kind, values in shares.items()}
    return BY_KIND.format(
        shares=", ".join(f"{_shares(span)} in {kind}" for kind, span in spans.items() if span is not None)
    )


def _by_estimator(rows: list[PairRow], span_of: Callable[[PairRow], Span | None], of: str = "") -> list[str]:
    """The range over worlds for each estimator that has one."""
    spans = [(row.label, span_of(row)) for row in rows]
    return [f"{_shares(span)}{of} by {label}{_mark(span)}" for label, span in spans if span is not None]


def _truly_ahead(error: ErrorAudit, row: PairRow) -> str:
    gaps = [each.true_gap for each in error.rows_of(row.key) if each.true_gap is not None]
    if not gaps:
        return NO_TRUE_GAP.format(metric=row.metric)
    low, high = min(gaps), max(gaps)
    size = rounded(low) if rounded(low) == rounded(high) else f"{rounded(low)} to {rounded(high)}"
    return TRUE_GAP.format(gap=size, metric=row.metric)


def _mark(span: Span) -> str:
    return {"disagree": " (worlds disagree)", "unclear": " (unclear: few runs)"}.get(span.verdict or "", "")


def _use(error: ErrorAudit) -> Iterator[str]:
    """Yield a sentence for each metric on which estimator to use."""
    for k, each in enumerate(error.recommended):
        also = USE_ALSO.format(metric=each.metric, estimators=_or(each), errors=_worst(each))
        yield _use_first(each) if k == 0 else also


def _use_first(each: Recommendation) -> str:
    worlds = counted(each.worlds, "accepted world")
    if each.worlds == 1:
        return USE_ONE_WORLD.format(
            metric=each.metric, estimators=_or(each), worst=percent(each.worst), naive=percent(each.naive_worst)
        )
    if each.estimator == NAIVE:
        rest = {name: error for name, error in each.errors.items() if name != NAIVE}
        second = min(rest, key=lambda name: rest[name]) if rest else ""
        return USE_NAIVE.format(
            estimator=NAIVE,
            metric=each.metric,
            worlds=worlds,
            worst=percent(each.worst),
            second=SECOND_BEST.format(worst=percent(rest[second]), estimator=second) if second else "",
            conditional=_conditional(each),
        )
    return USE_CORRECTED.format(
        estimators=_or(each),
        metric=each.metric,
        worlds=worlds,
        worst=percent(each.worst),
        naive=percent(each.naive_worst),
        beats=each.beats,
        kinds=_where(each),
        conditional=_conditional(each),
    )


def _where(each: Recommendation) -> str:
    """The number of worlds of each kind in which it beats the naive average, unless that is all or none."""
    if each.beats in {0, each.worlds} or len(each.beats_by_kind) < 2:
        return ""
    return f" ({', '.join(f'{won} of {n} in {kind}' for kind, (won, n) in each.beats_by_kind.items())})"


def _conditional(each: Recommendation) -> str:
    """A sentence on which estimator to use if it is known how users chose what they consumed; "" if always the same."""
    if {estimator for estimator, _ in each.by_observation.values()} <= {each.estimator}:
        return ""
    cases = [
        USE_IF.format(estimator=estimator, consumed=_CONSUME[observe], worst=percent(worst))
        for observe, (estimator, worst) in each.by_observation.items()
    ]
    return IF_KNOWN.format(estimators=listed(cases))


def _or(each: Recommendation) -> str:
    if not each.as_good:
        return each.estimator
    return OR_AS_GOOD.format(estimator=each.estimator, others=" or ".join(each.as_good))


def _worst(each: Recommendation) -> str:
    worst, beats = f"worst error {percent(each.worst)}", f"better than naive in {each.beats} of {each.worlds}"
    return worst if each.estimator == NAIVE else f"{worst}, naive {percent(each.naive_worst)}; {beats}"


def _verdict(error: ErrorAudit, rows: list[PairRow], labels: list[str]) -> str:
    """A sentence on the first pair of the user's models by some estimators, with the range over worlds."""
    leads = []
    for label in labels:
        row = next(row for row in rows if row.label == label)
        span = error.wrong_span(row)
        if row.observed is None or span is None:
            continue
        winner, loser = (row.a, row.b) if row.observed >= 0 else (row.b, row.a)
        leads.append(
            MODEL_LEADS.format(
                estimator=label,
                winner=quoted(winner),
                loser=quoted(loser),
                gap=rounded(abs(row.observed)),
                shares=_shares(span),
                agreement=_mark(span),
            )
        )
    replaced = [row.model for row in error.models if row.how != "trained" and row.model in {rows[0].a, rows[0].b}]
    stand_ins = ""
    if replaced:
        verb = "is" if len(replaced) == 1 else "are each"
        stand_ins = STAND_INS.format(models=f"{listed(map(quoted, replaced))} {verb}")
    return MODELS_DIFFER.format(metric=rows[0].metric, leads="; ".join(leads), stand_ins=stand_ins) if leads else ""


def _shares(span: Span) -> str:
    """The least and the greatest share, with one percent sign where both have one."""
    low, high = percent(span.low), percent(span.high)
    return one_or_both(low.removesuffix(" %") if low[0].isdigit() and low != high else low, high)


def assumed(error: ErrorAudit) -> str:
    """Sentences on the assumptions behind the numbers."""
    kinds = list(dict.fromkeys(world.likened.kind for world in error.worlds))
    world = error.likened.world
    if all(kind in _KINDS for kind in kinds):
        what = "; ".join(f"{kind}: {_KINDS[kind]}" for kind in sorted(kinds, key=list(_KINDS).index))
    else:
        what = f"{_LIKES.get(world.word, 'users like what the world says')}, and {_OBSERVED[world.observe]}"
    return ASSUMED.format(worlds=what, holdout=error.holdout)


def depth_used(error: ErrorAudit, *, clock: bool = True) -> str:
    """A sentence on how much work was done, and how well the nearest world fits."""
    likened = error.likened
    text = f"Depth {error.depth}: "
    if likened.how == SEARCHED:
        kinds = len({world.likened.kind for world in error.worlds})
        text += (
            f"{counted(len(error.worlds), 'world')} of {counted(kinds, 'kind')}, each from a search of "
            f"{likened.evaluations} evaluations by {likened.how}; the nearest is {likened.name}"
        )
    else:
        how = f"{likened.how}, {likened.evaluations} evaluations" if likened.evaluations else likened.how
        text += f"world {likened.kind} by {how}" if likened.kind else f"world {likened.world.word}, {how}"
    if likened.loss is not None:
        text += f", loss {100 * likened.loss:.0f} % (-100 % is a perfect copy)"
    fit = TOO_SMALL_TO_FIT
    if likened.divergences is not None:
        fit = "K-L divergence " + ", ".join(f"{name} {value:.2f}" for name, value in likened.divergences.items())
    text += f"; {fit}; {counted(error.runs, 'run')}"
    if error.model_runs:
        text += f", {error.model_runs} of your models,"
    text += f" of {_users(error)} users"
    if any(world.likened.users != likened.log_users for world in error.accepted):
        text += f" (the log has {likened.log_users:,}; spreads are scaled by the square root)"
    return f"{text}; {error.seconds:.0f} s." if clock else f"{text}."


def _users(error: ErrorAudit) -> str:
    users = [world.likened.users for world in error.accepted or error.worlds]
    return one_or_both(f"{min(users):,}", f"{max(users):,}")


def refusals(error: ErrorAudit) -> Iterator[str]:
    """Yield why each refused world was refused."""
    for world in error.refused:
        yield REFUSED.format(world=world.likened.name, why=world.why)
