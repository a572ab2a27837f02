"""An error audit in sentences."""

from collections.abc import Iterator

from unskew.evaluation.audit_words import percent
from unskew.evaluation.error.error_result import ErrorAudit, PairRow
from unskew.evaluation.wording import listed, quoted, rounded

NAIVE, CORRECTED = "aoa", "snips"
_LIKES = {
    "ibp": "users like what many like, by an Indian buffet process",
    "lda": "users like what belongs to their topics, by latent Dirichlet allocation",
    "uniform": "users like every item alike",
}
_OBSERVED = {
    "popular": "consume of it the popular items first",
    "uniform": "consume of it whatever comes",
    "preferred": "consume of it what they like most first",
}


def lead(error: ErrorAudit) -> Iterator[str]:
    """What to read first."""
    metric = error.metrics[0]
    first = {row.label: row for row in error.reference if row.metric == metric}
    picks = [f"{_share(first[label].wrong_winner)} of runs by {label}" for label in (NAIVE, CORRECTED)]
    yield (
        f"On a log like this, the popular list seems better than the perfect recommender in {picks[0]}, {picks[1]}, "
        f"and {_share(first[f'{CORRECTED}, true P'].wrong_winner)} with true propensities. In truth the perfect one is "
        f"ahead by {_number(first[NAIVE].true_gap)} in {metric}{_of_level(first[NAIVE], first[NAIVE].true_gap)}."
    )
    rows = (first[NAIVE], first[CORRECTED])
    detects = [f"{_number(row.smallest)} by {row.label}{_of_level(row, row.smallest)}" for row in rows]
    yield f"The smallest difference in {metric} that can be detected is {listed(detects)}."
    own = [row for row in error.own if row.metric == metric]
    if own:
        yield _verdict([row for row in own if (row.a, row.b) == (own[0].a, own[0].b)])


def _of_level(row: PairRow, value: float | None) -> str:
    return "" if value is None or not row.level else f" ({percent(value / row.level)} of the value)"


def _verdict(rows: list[PairRow]) -> str:
    """The first pair of the user's models, by the naive and by the corrected estimate."""
    said = []
    for label in (NAIVE, CORRECTED):
        row = next(row for row in rows if row.label == label)
        if row.observed is None or row.wrong_winner is None:
            continue
        winner, loser = (row.a, row.b) if row.observed >= 0 else (row.b, row.a)
        said.append(
            f"by {label} {quoted(winner)} is ahead of {quoted(loser)} by {_number(abs(row.observed))}, and the chance "
            f"that it is the worse one is {percent(row.wrong_winner)}"
        )
    return f"In {rows[0].metric}, {'; '.join(said)}." if said else ""


def assumed(error: ErrorAudit) -> str:
    """What the numbers rest on."""
    world = error.likened.world
    name = world.word
    return (
        f"Assumed: {_LIKES.get(name, 'users like what the world says')}, and {_OBSERVED[world.observe]}; "
        f"{error.holdout:.0%} of each user's rows are held out. The numbers are only as good as this resemblance. "
        "Estimates with true propensities (true P) are possible in the simulation alone."
    )


def depth_used(error: ErrorAudit, *, clock: bool = True) -> str:
    """How much work was done, and how well the world fits."""
    found = error.likened
    how = found.how if not found.evaluations else f"{found.how}, {found.evaluations} evaluations"
    kind = f"{found.kind} by {how}" if found.kind else f"{found.world.word}, {how}"
    text = f"Depth {error.depth}: world {kind}"
    if found.loss is not None:
        text += f", loss {100 * found.loss:.0f} % (-100 % is a perfect copy)"
    fit = "the log is too small to tell how well it fits"
    if found.divergences is not None:
        fit = "K-L divergence " + ", ".join(f"{name} {value:.2f}" for name, value in found.divergences.items())
    text += f"; {fit}; {error.runs} runs"
    if error.model_runs:
        text += f", {error.model_runs} of your models,"
    text += f" of {found.users:,} users"
    if found.users != found.log_users:
        text += f" (the log has {found.log_users:,}; spreads are scaled by the square root)"
    return f"{text}; {error.seconds:.0f} s." if clock else f"{text}."


def _share(value: float | None) -> str:
    return "an unknown share" if value is None else percent(value)


def _number(value: float | None) -> str:
    return "an unknown amount" if value is None else rounded(value)
