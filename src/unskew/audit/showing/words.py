"""An audit in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unskew.audit.lists import ModelAudit
from unskew.audit.popularity import STRATA
from unskew.display.phrases import listed, quoted, rounded

if TYPE_CHECKING:
    from unskew.audit.result import Audit

SHOWN = 0.05  # the share of the items that the first sentence is about
HEAD, TAIL = STRATA.index("head"), STRATA.index("tail")
MOST_NAMED = 4
ROUNDING = 1e-9  # a share this near to 1 is 1


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


def percent(share: float) -> str:
    """A share for a sentence: whole percents, one decimal near the ends, and never 0 for something or 100 for less."""
    if share == 0 or 0.0995 <= share < 0.995 or share > 1 - ROUNDING:
        return f"{100 * share:.0f} %"
    if share >= 0.9995:
        return "more than 99.9 %"
    return "less than 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %".replace(".0 %", " %")
