"""Negative sampling and the trap of the sample: a large H/U does well inside it, but not at the top of the list."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.wang2024.judged import TRADITIONAL, Judged, JudgedWorld
from unskew.studies.wang2024.paired import Gap, clear
from unskew.studies.wang2024.printed import BACKBONES, TABLE4_KUAIREC
from unskew.studies.wang2024.settings import DRAWN, HARDEST, NEGS, Entry

RIVAL = TABLE4_KUAIREC["MF", NEGS].traditional / TABLE4_KUAIREC["MF", "AutoDebias"].traditional
"""Recall inside the sample, as a share of AutoDebias', from which on NegS rivals it: that of the paper's MF."""
LARGE_SHARES = HARDEST[1:]
BOOTSTRAPS, SURE = 500, 0.95
RULE = (
    "The best K of a NegS: where its full recall@K is greatest relative to the better of the other two H/U, among "
    "some forty K from 1 to half of the population, the smallest of equals. A larger H/U moves it up when it does not "
    "fall from H/U to H/U, and is lower for the smallest than for the largest in "
    f"{SURE:.0%} of {BOOTSTRAPS} bootstraps of the users. NegS rivals AutoDebias when its recall inside the "
    f"sample is at least {RIVAL:.1%} of that, as it is in the paper with MF on KuaiRec."
)


def claims(worlds: Sequence[JudgedWorld]) -> Iterator[Claim]:
    """What the paper says of H/U, for each backbone."""
    for world in worlds:
        for backbone in BACKBONES:
            yield _trapped(world, backbone)
            yield _best(world, backbone)


def figures(worlds: Sequence[JudgedWorld]) -> Iterator[Figure]:
    """Full recall@K of each H/U, relative to AutoDebias."""
    for world in worlds:
        yield Figure(
            f"{world.name}: full recall@K of NegS by H/U, relative to AutoDebias",
            "K",
            tuple(Panel(backbone, _lines(world, backbone)) for backbone in BACKBONES),
            log_x=True,
            note="Shaded: 95 % intervals of the ratio over users. A line at 1 is AutoDebias itself.",
        )


def _variants(world: JudgedWorld, backbone: str) -> dict[int, Judged]:
    return {hardest: world.rows[Entry(backbone, NEGS, hardest)] for hardest in HARDEST}


def _lines(world: JudgedWorld, backbone: str) -> tuple[Series, ...]:
    base = world.rows[Entry(backbone, "AutoDebias")]
    ks = base.ks.astype(float).tolist()
    one = [1.0] * len(ks)
    lines = [Series("AutoDebias", tuple(ks), tuple(one), tuple(one), tuple(one), naive=True)]
    for hardest, row in _variants(world, backbone).items():
        ratio, error = _ratio(row.recall, base.recall)
        lines.append(Series.of(f"H/U = {hardest / DRAWN:g}", ks, ratio.tolist(), error.tolist()))
    return tuple(lines)


def _ratio(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """A ratio of means over users and its standard error, by the delta method; NaN where there is nothing below."""
    below = second.mean(axis=0)
    safe = np.where(below > 0, below, np.nan)
    ratio = first.mean(axis=0) / safe
    parts = (first - ratio * second) / safe
    return ratio, np.asarray(parts.std(axis=0, ddof=1) / len(first) ** 0.5)


def _trapped(world: JudgedWorld, backbone: str) -> Claim:
    """Whether a NegS rivals AutoDebias inside the sample, and is clearly worse at the top."""
    small, large = world.ks
    base = world.rows[Entry(backbone, "AutoDebias")]
    own = {f"H/U = {h / DRAWN:g}": row for h, row in _variants(world, backbone).items() if h in LARGE_SHARES}
    share = {name: row.draws[TRADITIONAL].mean() / base.draws[TRADITIONAL].mean() for name, row in own.items()}
    gaps = {name: Gap.of(row.users(small), base.users(small)) for name, row in own.items()}
    signs = clear(gaps)
    trapped = [name for name in own if share[name] >= RIVAL and signs[name] < 0]
    told = "; ".join(
        f"{name}: {share[name]:.1%} inside the sample, {row.full(small) / base.full(small):.1%} at K = {small} "
        f"(difference {gaps[name]}), {row.full(large) / base.full(large):.1%} at K = {large}"
        for name, row in own.items()
    )
    return Claim(
        f"{world.name}, {backbone}: NegS with a large H/U rivals AutoDebias inside the sample, but not by full "
        f"recall@{small}",
        bool(trapped),
        f"of AutoDebias' recall, {told}; paired over users, {len(gaps)} tests with Holm's correction",
    )


def best_ks(recall: Mapping[int, Floats], ks: Sequence[int]) -> dict[int, int]:
    """The best K of each H, from full recall@K, as `RULE` has it.

    Parameters
    ----------
    recall : mapping
        H to full recall at each K.
    ks : sequence of int
    """
    found = {}
    for hardest, own in recall.items():
        others = np.max([other for name, other in recall.items() if name != hardest], axis=0)
        relative = np.divide(own, others, out=np.zeros(len(own)), where=others > 0)
        found[hardest] = int(ks[int(np.argmax(relative))])
    return found


def _best(world: JudgedWorld, backbone: str) -> Claim:
    rows = _variants(world, backbone)
    # the table's own K may be larger
    within = rows[HARDEST[0]].ks <= int(world.log.population.max()) // 2
    ks = rows[HARDEST[0]].ks[within].tolist()
    recall = {hardest: row.recall[:, within] for hardest, row in rows.items()}
    found = best_ks({hardest: each.mean(axis=0) for hardest, each in recall.items()}, ks)
    users = len(recall[HARDEST[0]])
    rng = np.random.default_rng([world.log.world.n_users, users])
    again = []
    for _ in range(BOOTSTRAPS):
        times = rng.multinomial(users, np.full(users, 1 / users))
        again.append(best_ks({hardest: times @ each / users for hardest, each in recall.items()}, ks))
    up = float(np.mean([each[HARDEST[0]] < each[HARDEST[-1]] for each in again]))
    ordered = all(found[a] <= found[b] for a, b in pairwise(HARDEST))
    told = []
    for hardest in HARDEST:
        low, high = np.percentile([each[hardest] for each in again], (2.5, 97.5))
        told.append(f"H/U = {hardest / DRAWN:g}: {found[hardest]} ({low:.0f} to {high:.0f})")
    return Claim(
        f"{world.name}, {backbone}: a larger H/U moves NegS' best K up",
        ordered and up >= SURE,
        f"best K, with 95 % of the bootstraps of users, {'; '.join(told)}; lower for the smallest H/U than for the "
        f"largest in {up:.0%}",
    )
