"""Sentences of the headline on items that the log does not know, and on users whom a model does not know."""

from typing import TYPE_CHECKING

from unskew.display.numbers import percent
from unskew.display.phrases import few, lowered, quoted
from unskew.evaluation.checking.models import FOREIGN, foreign_shares
from unskew.evaluation.estimating.common_users import lacking_share
from unskew.evaluation.showing import vocabulary as say

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


def describe_foreign_items(report: "Report") -> str:
    """A sentence on models whose lists hold many items of neither train nor test; empty without one."""
    shares = {name: share for name, share in foreign_shares(report).items() if share >= FOREIGN}
    if not shares:
        return ""
    parts = [f"{percent(share)} of the places in the lists of {quoted(name)}" for name, share in shares.items()]
    return say.FOREIGN_ITEMS.format(places=few(parts))


def describe_empty_lists(report: "Report", other: "Report | None", headline: str) -> str:
    """The headline where models do not know the same users: with empty lists, and on the users whom all know."""
    known = report.tally.models
    lacking = [
        name
        for name, entries in report.judged.members.items()
        if any(each in known and known[each].unknown_users for each in entries)
    ]
    users, shared = report.tally.users, 0 if other is None else other.tally.users
    missing = {each.unknown_users for each in known.values() if each.unknown_users}
    template = say.EMPTY_LISTS if missing == {users - shared} else say.SOME_EMPTY_LISTS
    text = template.format(
        models=f"{few([quoted(name) for name in lacking])} {'has' if len(lacking) == 1 else 'have'}",
        missing=users - shared,
        users=users,
        share=100 * lacking_share(report),
        headline=lowered(headline),
    )
    if other is None:
        return f"{text} {say.NO_COMMON_USER}"
    return f"{text} {say.COMMON_USERS.format(users=shared, headline=lowered(other.verdict.answer))}"
