"""Tables kuairec and jester: logs drawn from sets in which every label is known."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from unskew.arrays import Bools
from unskew.data.sources.jester import read_complete
from unskew.studies.framework.cache import key_of
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.truth.findings import Case, compute, missing_data
from unskew.studies.truth.logs import Log, Selection
from unskew.studies.truth.targets import claims

KUAIREC, JESTER = "kuairec-truth", "jester"
FUNNY = 5
"""Jokes rated this or better are positive."""
KUAIREC_SEEDS, JESTER_SEEDS = Size(3, 1, trials=True), Size(20, 1, trials=True)
KUAIREC_GRID: Size[tuple[int, int]] = Size((1411, 3327), (250, 400))
JESTER_USERS = Size(2000, 500)
KUAIREC_SHARES: Size[tuple[float, ...]] = Size((0.001, 0.003, 0.01, 0.03), (0.01,))
JESTER_SHARES: Size[tuple[float, ...]] = Size((0.01, 0.03), (0.01,))
KUAIREC_DRAWS, JESTER_DRAWS = Size(8, 1), Size(4, 1)
"""Slices of each share per log."""
KUAIREC_DENSITY, JESTER_DENSITY = 0.03, 0.15
BY_POPULARITY, BY_AFFINITY = Selection(1.5), Selection(0.7, affinity=1.0)
BY_RELEVANCE = Selection(0.7, relevance=1.5)
KUAIREC_RULES: Mapping[str, Selection] = {
    "popularity": BY_POPULARITY,
    "affinity": BY_AFFINITY,
    "relevance": BY_RELEVANCE,
}
JESTER_RULES: Mapping[str, Selection] = {"popularity": BY_POPULARITY, "relevance": BY_RELEVANCE}
JESTER_LIMITS = {0.0: 0.2, 0.01: 0.16}
"""Largest errors, by the share of the slice."""
RULES = (
    "Logs are drawn by the logit of observation: 1.5 times an item's popularity, or 0.7 times popularity plus a fit of "
    "the labels of rank 8 ('affinity'), or plus 1.5 for relevant pairs ('relevance'); and the user's activity, with a "
    "standard deviation of 0.6. Popularity is in equal parts the standardised rate of relevance and noise."
)


def run_kuairec(context: Context) -> Findings:
    """The table of KuaiRec."""
    if context.find(KUAIREC) is None:
        return missing_data(KUAIREC, context)
    users, items = context.size(KUAIREC_GRID)
    relevant = within(kuairec_labels(context), users, items, context.rng("kuairec grid"))
    shares, seeds = context.size(KUAIREC_SHARES), context.size(KUAIREC_SEEDS)
    draws = context.size(KUAIREC_DRAWS)
    cases = drawn_cases(KUAIREC, relevant, KUAIREC_RULES, KUAIREC_DENSITY, shares, seeds, context, draws)
    targets = partial(claims, limits={})
    return compute(context, cases, targets, RULES, describe(KUAIREC, relevant, KUAIREC_DENSITY))


def run_jester(context: Context) -> Findings:
    """The table of Jester."""
    if context.find(JESTER) is None:
        return missing_data(JESTER, context)
    labels = jester_labels(context)
    relevant = within(labels, context.size(JESTER_USERS), labels.shape[1], context.rng("jester users"))
    shares, seeds = context.size(JESTER_SHARES), context.size(JESTER_SEEDS)
    draws = context.size(JESTER_DRAWS)
    cases = drawn_cases(JESTER, relevant, JESTER_RULES, JESTER_DENSITY, shares, seeds, context, draws)
    targets = partial(claims, limits=JESTER_LIMITS)
    return compute(context, cases, targets, RULES, describe(JESTER, relevant, JESTER_DENSITY))


def drawn_cases(
    name: str,
    relevant: Bools,
    rules: Mapping[str, Selection],
    density: float,
    shares: tuple[float, ...],
    seeds: int,
    context: Context,
    draws: int = 1,
) -> list[Case]:
    """Logs drawn from complete labels by several rules."""
    content = key_of(relevant.shape, np.packbits(relevant).tobytes())
    return [
        Case(
            f"{name}, {rule}",
            partial(_draw, relevant, selection, density, (context.seed, seed, place)),
            (content, selection, density),
            shares,
            (context.seed, seed),
            draws,
        )
        for place, (rule, selection) in enumerate(rules.items())
        for seed in range(seeds)
    ]


def within(labels: Bools, users: int, items: int, rng: np.random.Generator) -> Bools:
    """A random part of the grid, in its order; all of it if that is not larger."""
    rows, columns = (
        np.sort(rng.permutation(size)[:asked]) for size, asked in zip(labels.shape, (users, items), strict=True)
    )
    return np.asarray(labels[np.ix_(rows, columns)])


def kuairec_labels(context: Context) -> Bools:
    """Relevance of all pairs of KuaiRec's small matrix."""
    source = context.find(KUAIREC)
    assert source is not None
    rows = source.read(context.place(KUAIREC))
    relevant = np.zeros((rows.n_users, rows.n_items), dtype=bool)
    relevant[rows.users, rows.items] = np.asarray(rows.values) > 0
    return relevant


def jester_labels(context: Context) -> Bools:
    """Relevance of all jokes for the users who rated all of them."""
    return read_complete(context.place(JESTER)) >= FUNNY


def describe(name: str, relevant: Bools, density: float) -> str:
    """What the logs of a data set are."""
    users, items = relevant.shape
    return (
        f"{name}: {users:,} users and {items:,} items, every label known, {relevant.mean():.1%} of the pairs relevant; "
        f"logs have {density:.0%} of the pairs."
    )


def _draw(relevant: Bools, selection: Selection, density: float, seed: tuple[int, ...]) -> Log:
    return selection.draw(relevant, density, np.random.default_rng([*seed, 3]))


KUAIREC_TABLE = Table("kuairec", "Estimates next to the complete labels of KuaiRec", run_kuairec, needs=(KUAIREC,))
JESTER_TABLE = Table("jester", "Estimates next to the complete ratings of Jester", run_jester, needs=(JESTER,))
