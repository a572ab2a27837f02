"""An audit in sentences: the skew of the log, then how wrong an evaluation on it can be."""

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

SHOWN = 0.05  # the share of the items that the first sentence is about
HEAD, TAIL = STRATA.index("head"), STRATA.index("tail")
CORRECTED = "snips"
DISAGREE = "worlds that fit this log equally well disagree, so this log cannot say"
UNCLEAR = "there are too few runs to say whether the worlds agree"
_LIKES = {
    "ibp": "users like what many like, by an Indian buffet process",
    "lda": "users like what belongs to their topics, by latent Dirichlet allocation",
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
    """The skew of the log, and the model that leans on it most."""
    top = audit.log.top_share(SHOWN)
    start = f"The {percent(SHOWN)} most popular items have {percent(top.rows)} of all interactions"
    if not audit.models or audit.strata.levels < 2:
        return f"{start}."
    most = max(audit.models, key=lambda row: row.shares[HEAD])
    return f"{start}; {quoted(most.model)} gives {percent(most.shares[HEAD])} of its places to the head."


def summary(audit: "Audit") -> Iterator[str]:
    """What head and tail are, and what the models make of them."""
    items, rows = audit.strata.items, audit.strata.rows
    if audit.strata.levels < 2:
        yield "All items are equally popular: there is no head and no tail."
    else:
        yield (
            f"The head is {items[HEAD]:,} of {items.sum():,} items with {percent(rows[HEAD] / rows.sum())} of the "
            f"{audit.counted_on}; the tail is {items[TAIL]:,} items with {percent(rows[TAIL] / rows.sum())}."
        )
    if audit.models and audit.strata.levels >= 2:
        yield _to_tail(audit)
    if audit.models:
        yield _by_gamma(audit.models)


def _to_tail(audit: "Audit") -> str:
    shown = [f"{percent(row.shares[TAIL])} by {quoted(row.model)}" for row in audit.models[:MOST_NAMED]]
    more = "" if len(audit.models) <= MOST_NAMED else f" ({len(audit.models) - MOST_NAMED} more models below)"
    return f"Of the places in top-{audit.k} lists the tail is given {listed(shown)}{more}."


def _by_gamma(models: tuple[ModelAudit, ...]) -> str:
    known = [row for row in models if row.gamma is not None]
    if not known:
        return "How fast exposure grows with popularity, gamma, is not identified for any model."
    shown = [
        f"{rounded(row.gamma.gamma)} for {quoted(row.model)}{_doubt(row)}" for row in known[:MOST_NAMED] if row.gamma
    ]
    return f"Exposure grows with popularity to the power gamma: {listed(shown)}."


def _doubt(row: ModelAudit) -> str:
    if row.gamma is None or not row.gamma.doubtful:
        return ""
    rests = f"it rests on {row.gamma.levels} popularity levels, with a standard error of {row.gamma.std_error:.2f}"
    return f" (roughly: {rests})"


def lead(error: ErrorAudit) -> Iterator[str]:
    """Which world fits, how often each estimator is wrong, and which one to use."""
    if not error.accepted:
        yield (
            f"Nothing is claimed: none of the {len(error.worlds)} worlds calibrated to this log is like it. The skew "
            "of the log above does not depend on this."
        )
        return
    metric = error.metrics[0]
    first = {row.label: row for row in error.reference if row.metric == metric}
    chosen = next((each for each in error.recommended if each.metric == metric), None)
    shown = list(dict.fromkeys([NAIVE, CORRECTED if chosen is None else chosen.estimator, CORRECTED]))
    if len(error.worlds) > 1:
        kinds = len({world.likened.kind for world in error.worlds})
        yield (
            f"{len(error.accepted)} of {counted(len(error.worlds), 'world')} of {counted(kinds, 'kind')} are accepted "
            "as like this log."
        )
    rows = [first[label] for label in shown]
    others = _by_estimator(rows[1:], error.wrong_span)
    yield f"{_seems_better(error, first[NAIVE])} {f'It is {listed(others)}.' if others else ''}"
    yield _truly_ahead(error, first[NAIVE])
    detects = _by_estimator(rows, error.smallest_span, " of the value")
    yield f"The smallest difference in {metric} that can be detected is {listed(detects)}."
    yield from _use(error)
    own = [row for row in error.own if row.metric == metric]
    if own:
        yield _verdict(error, [row for row in own if (row.a, row.b) == (own[0].a, own[0].b)], shown[:2])


def _seems_better(error: ErrorAudit, row: PairRow) -> str:
    """How often the naive average has the wrong winner, and whether worlds agree on it."""
    span = error.wrong_span(row)
    if span is None:
        return f"By {row.label} no run has a winner."
    text = (
        f"By {row.label}, the popular list seems better than the perfect recommender in {_shares(span)} of runs"
        f" in {row.metric}"
    )
    if span.verdict is None:
        return f"{text}."
    if span.verdict == "agree":
        return f"{text}; all {counted(len(error.accepted), 'accepted world')} agree."
    why = DISAGREE if span.verdict == "disagree" else UNCLEAR
    return f"{text}: {why}.{_by_kind(error, row)}"


def _by_kind(error: ErrorAudit, row: PairRow) -> str:
    """The same for each kind of world, where there are several."""
    shares: dict[str, list[float]] = {}
    for world in error.accepted:
        for each in world.pairs:
            if each.key == row.key and each.wrong_winner is not None:
                shares.setdefault(world.likened.kind, []).append(each.wrong_winner)
    if len(shares) < 2:
        return ""
    spans = {kind: span_of_shares(own) for kind, own in shares.items()}
    said = [f"{_shares(span)} in {kind}" for kind, span in spans.items() if span is not None]
    return f" By kind of world: {', '.join(said)}."


def _by_estimator(rows: list[PairRow], span_of: Callable[[PairRow], Span | None], of: str = "") -> list[str]:
    """The range over worlds for each estimator that has one."""
    spans = [(row.label, span_of(row)) for row in rows]
    return [f"{_shares(span)}{of} by {label}{_mark(span)}" for label, span in spans if span is not None]


def _truly_ahead(error: ErrorAudit, row: PairRow) -> str:
    gaps = [each.true_gap for each in error.rows_of(row.key) if each.true_gap is not None]
    if not gaps:
        return f"The true difference in {row.metric} is not defined."
    low, high = min(gaps), max(gaps)
    size = rounded(low) if rounded(low) == rounded(high) else f"{rounded(low)} to {rounded(high)}"
    return f"In truth the perfect one is ahead by {size} in {row.metric}."


def _mark(span: Span) -> str:
    return {"disagree": " (worlds disagree)", "unclear": " (unclear: few runs)"}.get(span.verdict or "", "")


def _use(error: ErrorAudit) -> Iterator[str]:
    """Which estimator to use, by metric."""
    for k, each in enumerate(error.recommended):
        yield _use_first(each) if k == 0 else f"In {each.metric}: {_or(each)} ({_worst(each)})."


def _use_first(each: Recommendation) -> str:
    worlds = counted(each.worlds, "accepted world")
    if each.estimator == NAIVE:
        rest = {name: error for name, error in each.errors.items() if name != NAIVE}
        second = min(rest, key=lambda name: rest[name]) if rest else ""
        than = f", against {percent(rest[second])} for {second}, the best correction" if second else ""
        return (
            f"On a log like yours use the naive average ({NAIVE}) for {each.metric}: its worst error over the {worlds} "
            f"is {percent(each.worst)} of the value{than}.{_conditional(each)}"
        )
    return (
        f"On a log like yours use {_or(each)} for {each.metric}: its worst error over the {worlds} is "
        f"{percent(each.worst)} of the value, that of the naive average {percent(each.naive_worst)}. It beats the "
        f"naive average in {each.beats} of {worlds}{_where(each)}.{_conditional(each)}"
    )


def _where(each: Recommendation) -> str:
    """In how many worlds of each kind, where it is not in all or none."""
    if each.beats in {0, each.worlds} or len(each.beats_by_kind) < 2:
        return ""
    return f" ({', '.join(f'{won} of {n} in {kind}' for kind, (won, n) in each.beats_by_kind.items())})"


def _conditional(each: Recommendation) -> str:
    """Which estimator to use if it is known how users chose what they consumed."""
    if {estimator for estimator, _ in each.by_observation.values()} <= {each.estimator}:
        return ""
    said = [
        f"{estimator} if users {_CONSUME[observe]} (worst error {percent(worst)})"
        for observe, (estimator, worst) in each.by_observation.items()
    ]
    return f" If you know which of the two holds, use {listed(said)}."


def _or(each: Recommendation) -> str:
    return each.estimator if not each.as_good else f"{each.estimator} (or {' or '.join(each.as_good)}, as good)"


def _worst(each: Recommendation) -> str:
    worst, beats = f"worst error {percent(each.worst)}", f"better than naive in {each.beats} of {each.worlds}"
    return worst if each.estimator == NAIVE else f"{worst}, naive {percent(each.naive_worst)}; {beats}"


def _verdict(error: ErrorAudit, rows: list[PairRow], labels: list[str]) -> str:
    """The first pair of the user's models by some estimators, with the range over worlds."""
    said = []
    for label in labels:
        row = next(row for row in rows if row.label == label)
        span = error.wrong_span(row)
        if row.observed is None or span is None:
            continue
        winner, loser = (row.a, row.b) if row.observed >= 0 else (row.b, row.a)
        said.append(
            f"by {label} {quoted(winner)} is ahead of {quoted(loser)} by {rounded(abs(row.observed))}, and the chance "
            f"that it is the worse one is {_shares(span)}{_mark(span)}"
        )
    return f"In {rows[0].metric}, {'; '.join(said)}." if said else ""


def _shares(span: Span) -> str:
    """The least and the greatest share, with one percent sign where both have one."""
    low, high = percent(span.low), percent(span.high)
    return one_or_both(low.removesuffix(" %") if low[0].isdigit() and low != high else low, high)


def assumed(error: ErrorAudit) -> str:
    """The assumptions behind the numbers."""
    kinds = list(dict.fromkeys(world.likened.kind for world in error.worlds))
    world = error.likened.world
    if all(kind in _KINDS for kind in kinds):
        what = "; ".join(f"{kind}: {_KINDS[kind]}" for kind in sorted(kinds, key=list(_KINDS).index))
    else:
        what = f"{_LIKES.get(world.word, 'users like what the world says')}, and {_OBSERVED[world.observe]}"
    return (
        f"Assumed: {what}. {error.holdout:.0%} of each user's rows are held out. The numbers are only as good as this "
        "resemblance. Each estimator is compared with its own target: the mean over relevant pairs for snips, over "
        "users for the others. Estimates with true propensities (true P) are possible in the simulation alone."
    )


def depth_used(error: ErrorAudit, *, clock: bool = True) -> str:
    """How much work was done, and how well the nearest world fits."""
    found = error.likened
    text = f"Depth {error.depth}: "
    if found.how == SEARCHED:
        kinds = len({world.likened.kind for world in error.worlds})
        text += (
            f"{counted(len(error.worlds), 'world')} of {counted(kinds, 'kind')}, each from a search of "
            f"{found.evaluations} evaluations by {found.how}; the nearest is {found.name}"
        )
    else:
        how = f"{found.how}, {found.evaluations} evaluations" if found.evaluations else found.how
        text += f"world {found.kind} by {how}" if found.kind else f"world {found.world.word}, {how}"
    if found.loss is not None:
        text += f", loss {100 * found.loss:.0f} % (-100 % is a perfect copy)"
    fit = "the log is too small to say how well it fits"
    if found.divergences is not None:
        fit = "K-L divergence " + ", ".join(f"{name} {value:.2f}" for name, value in found.divergences.items())
    text += f"; {fit}; {counted(error.runs, 'run')}"
    if error.model_runs:
        text += f", {error.model_runs} of your models,"
    text += f" of {_users(error)} users"
    if any(world.likened.users != found.log_users for world in error.accepted):
        text += f" (the log has {found.log_users:,}; spreads are scaled by the square root)"
    return f"{text}; {error.seconds:.0f} s." if clock else f"{text}."


def _users(error: ErrorAudit) -> str:
    users = [world.likened.users for world in error.accepted or error.worlds]
    return one_or_both(f"{min(users):,}", f"{max(users):,}")


def refusals(error: ErrorAudit) -> Iterator[str]:
    """Why each refused world was refused."""
    for world in error.refused:
        yield f"{world.likened.name} refused: {world.why}"
