"""The claims of table 4, with the rules that decide them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from unskew.display.phrases import first_of
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.stats import kendall
from unskew.studies.wang2024.coat import JudgedTest
from unskew.studies.wang2024.judged import POOLED, PUBLISHED, TRADITIONAL, JudgedWorld
from unskew.studies.wang2024.paired import LEVEL, Gap, clear
from unskew.studies.wang2024.printed import BACKBONES, Sampled, furthest
from unskew.studies.wang2024.settings import ENTRIES, Entry

COLUMNS = (
    "'full@K' is recall@K over all held items, the mean over users; 'full micro@K' that over positive pairs. 'URE@K' "
    "is the published estimate of the first, the mean over users with a positive in the sample, 'pooled URE@K' that of "
    "the second. 'traditional@5' is recall@5 inside the sample. Spreads are those of the random draws."
)
SAME_ORDER = 0.9
"""Kendall's tau from which on two orders count as the same."""
MANY = 6


def printed_yahoo(row: Sampled) -> dict[str, float]:
    """The paper's numbers on Yahoo! R3 by column."""
    return {TRADITIONAL: row.traditional, f"{PUBLISHED}@5": row.ure_5, f"{PUBLISHED}@500": row.ure_500}


def claims(worlds: Sequence[JudgedWorld]) -> Iterator[Claim]:
    """Sentence by sentence, world by world."""
    for world in worlds:
        yield _near(world)
        yield _pooled(world)
        yield _order(world)
        yield _worse(world)
        yield _orders_differ(world)
        yield _exceeds(world)
        yield _explained(world)


def _near(world: JudgedWorld) -> Claim:
    """Whether the published mean is as near to full recall as in print."""
    good, told = True, []
    for k, allowed in zip(world.ks, (furthest(5), furthest(500)), strict=True):
        off = {str(row.entry): row.draws[f"{PUBLISHED}@{k}"].mean() / row.full(k) - 1 for row in world.ten}
        worst = max(off, key=lambda name: abs(off[name]))
        good &= abs(off[worst]) <= allowed
        told.append(
            f"K = {k}: {min(off.values()):+.1%} to {max(off.values()):+.1%}, furthest {worst}; in the paper "
            f"{allowed:.1%} at most"
        )
    return Claim(
        f"{world.name}: URE tracks full recall for every model: the mean over draws is no further off than the "
        "furthest of the paper's ten rows",
        good,
        f"relative deviations at {'; at '.join(told)}",
    )


def _pooled(world: JudgedWorld) -> Claim:
    gaps = {
        f"{row.entry} at K = {k}": Gap.of(row.draws[f"{POOLED}@{k}"], row.full_micro(k))
        for row in world.ten
        for k in world.ks
    }
    worst = max(gaps, key=lambda name: abs(gaps[name].z))
    off = [name for name, sign in clear(gaps).items() if sign]
    return Claim(
        f"{world.name}: pooled URE is without bias for full recall over positive pairs, for every model and K",
        not off,
        f"{len(gaps)} mean errors over draws, tested together at {LEVEL:.0%} (Holm); clearly off: "
        f"{first_of(off, MANY)}; furthest {worst} {gaps[worst]}",
    )


def _order(world: JudgedWorld) -> Claim:
    told, good = [], True
    for k in world.ks:
        full = np.array([row.full(k) for row in world.ten])
        values = np.array([row.draws[f"{PUBLISHED}@{k}"] for row in world.ten])
        tau = float(kendall(values.mean(axis=1), full)[0, 0])
        single = float(np.nanmedian(kendall(values.T, full)))
        good &= tau >= SAME_ORDER
        told.append(f"K = {k}: {tau:.2f}, and {single:.2f} in the median of single draws")
    return Claim(
        f"{world.name}: the mean of URE@K over draws orders the ten models as full recall@K does, with Kendall's tau "
        f"of at least {SAME_ORDER}",
        good,
        f"tau at {'; at '.join(told)}",
    )


def _worse(world: JudgedWorld) -> Claim:
    small, _ = world.ks
    gaps = {
        str(entry): Gap.of(world.rows[entry].users(small), world.rows[Entry(entry.backbone, "Bias")].users(small))
        for entry in ENTRIES
        if entry.method != "Bias"
    }
    signs = clear(gaps)
    below, above = ([name for name, sign in signs.items() if sign == side] for side in (-1, 1))
    return Claim(
        f"{world.name}: some methods are worse than Bias on the same backbone by full recall@{small}",
        bool(below),
        f"paired over users, {len(gaps)} tests with Holm's correction; worse: {_told(below, gaps)}; better: "
        f"{_told(above, gaps)}",
    )


def _orders_differ(world: JudgedWorld) -> Claim:
    small, large = world.ks
    pairs = list(combinations(ENTRIES, 2))
    gaps = {(a, b, k): Gap.of(world.rows[a].users(k), world.rows[b].users(k)) for a, b in pairs for k in (small, large)}
    signs = clear(gaps)
    turned = [(a, b) for a, b in pairs if signs[a, b, small] * signs[a, b, large] < 0]
    full = [np.array([row.full(k) for row in world.ten]) for k in (small, large)]
    told = [f"{a} against {b} {gaps[a, b, small].mean:+.4f} and {gaps[a, b, large].mean:+.4f}" for a, b in turned]
    return Claim(
        f"{world.name}: the order of the models by full recall@{small} is not that by full recall@{large}",
        bool(turned),
        f"pairs clearly turned round, paired over users, {len(gaps)} tests with Holm's correction: {len(turned)} of "
        f"{len(pairs)} ({first_of(told, MANY)}); Kendall's tau of the two orders {float(kendall(*full)[0, 0]):.2f}",
    )


def _exceeds(world: JudgedWorld) -> Claim:
    """The paper's numbers at K = 500 deviate to one side in all ten rows; whether they do in the mean of draws."""
    _, large = world.ks
    gaps = {str(row.entry): Gap.of(row.draws[f"{PUBLISHED}@{large}"], row.full(large)) for row in world.ten}
    signs = clear(gaps)
    errors = np.array([row.draws[f"{PUBLISHED}@{large}"] - row.full(large) for row in world.ten])
    all_up, all_down = float((errors > 0).all(axis=0).mean()), float((errors < 0).all(axis=0).mean())
    return Claim(
        f"{world.name}: URE@{large} exceeds full recall@{large} for all ten models, as it does in the paper",
        all(sign > 0 for sign in signs.values()),
        f"means over draws clearly above for {sum(sign > 0 for sign in signs.values())} models, clearly below for "
        f"{sum(sign < 0 for sign in signs.values())} ({min(gap.mean for gap in gaps.values()):+.4f} to "
        f"{max(gap.mean for gap in gaps.values()):+.4f}); all ten above in {all_up:.0%} of single draws and all ten "
        f"below in {all_down:.0%}: models share the sample, so chance moves them together",
    )


def _explained(world: JudgedWorld) -> Claim:
    """Whether the weight of users with many positives is all there is to the deviation."""
    gaps = {
        f"{row.entry} at K = {k}": Gap.of(row.draws[f"{PUBLISHED}@{k}"], row.expected[k])
        for row in world.ten
        for k in world.ks
    }
    off = [name for name, sign in clear(gaps).items() if sign]
    told = []
    for k in world.ks:
        leans = [row.expected[k] / row.full(k) - 1 for row in world.ten]
        told.append(f"{min(leans):+.1%} to {max(leans):+.1%} at K = {k}")
    worst = max(gaps, key=lambda name: abs(gaps[name].z))
    return Claim(
        f"{world.name}: how far URE is from full recall is what its weights make it: users count by their chance to "
        "have a positive in the sample",
        not off,
        f"predicted from all labels: {', '.join(told)}; {len(gaps)} means over draws against their predictions, "
        f"tested together at {LEVEL:.0%} (Holm): clearly off {first_of(off, MANY)}, furthest {worst} {gaps[worst]}",
    )


def test_claims(tests: Sequence[JudgedTest]) -> Iterator[Claim]:
    """What one sample can tell: methods that are worse than Bias at a small K."""
    for test in tests:
        small, _ = test.ks
        gaps = {}
        for backbone in BACKBONES:
            plain = test.rows[Entry(backbone, "Bias")][f"{PUBLISHED}@{small}"]
            for entry in ENTRIES:
                if entry.backbone == backbone and entry.method != "Bias":
                    mine = test.rows[entry][f"{PUBLISHED}@{small}"]
                    has = mine.denominator > 0
                    gaps[str(entry)] = Gap.of(mine.numerator[has], plain.numerator[has])
        signs = clear(gaps)
        below, above = ([name for name, sign in signs.items() if sign == side] for side in (-1, 1))
        yield Claim(
            f"{test.name}: some methods are worse than Bias on the same backbone by URE@{small}",
            True if below else None,
            f"paired over {int(has.sum())} users with a positive, {len(gaps)} tests with Holm's correction; worse: "
            f"{_told(below, gaps)}; better: {_told(above, gaps)}; one sample of so few users cannot show that none is",
        )


def _told(names: Sequence[str], gaps: Mapping[str, Gap]) -> str:
    return first_of([f"{name} {gaps[name]}" for name in names], MANY)
