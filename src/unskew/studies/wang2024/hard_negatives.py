"""Part of table 4: NegS with a large H/U does well inside the sample, but not at the top of the list."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.stats import Gap, clear_signs
from unskew.studies.wang2024.judge import JudgedWorld
from unskew.studies.wang2024.models import DRAWN, HARDEST, NEGS, Entry
from unskew.studies.wang2024.printed import BACKBONES, KUAIREC, TABLE4, TRADITIONAL

AUTO = "AutoDebias"
RIVAL = TABLE4[KUAIREC]["MF NegS", TRADITIONAL] / TABLE4[KUAIREC]["MF AutoDebias", TRADITIONAL]
"""Recall inside the sample, as a share of AutoDebias', from which on NegS rivals it: that of the paper's MF."""
LARGE_SHARES = HARDEST[1:]
BOOTSTRAPS, SURE = 500, 0.95
RULE = (
    "The best K of a NegS is where its full recall@K is greatest relative to the better of the other two H/U, among "
    "about forty K from 1 to half of the population; of equals it is the smallest. A larger H/U moves the best K up when "
    "it falls in no step from one H/U to the next, and is lower for the smallest H/U than for the largest in "
    f"{SURE:.0%} of {BOOTSTRAPS} bootstraps of the users. NegS rivals AutoDebias when its recall inside the sample is at "
    f"least {RIVAL:.1%} of AutoDebias', as it is in the paper with MF on KuaiRec."
)


def claims(worlds: Sequence[JudgedWorld]) -> Iterator[Claim]:
    """The paper's claims about H/U, for each backbone."""
    for world in worlds:
        for backbone in BACKBONES:
            yield claim(
                f"{world.name}, {backbone}: NegS with a large H/U rivals AutoDebias inside the sample, but not by full "
                f"recall@{world.both_ks[0]}",
                _trapped(world, backbone),
            )
            yield claim(f"{world.name}, {backbone}: a larger H/U moves NegS' best K up", _moves_up(world, backbone))


def figures(worlds: Sequence[JudgedWorld]) -> Iterator[Figure]:
    """Full recall@K of each H/U, relative to AutoDebias."""
    for world in worlds:
        yield Figure(
            f"{world.name}: full recall@K of NegS by H/U, relative to AutoDebias",
            "K",
            tuple(Panel(backbone, tuple(_lines(world, backbone))) for backbone in BACKBONES),
            log_x=True,
            note="Shaded: 95 % intervals of the ratio over users. A line at 1 is AutoDebias itself.",
        )


def _lines(world: JudgedWorld, backbone: str) -> Iterator[Series]:
    ks = world.ks.tolist()
    yield Series.exact(AUTO, ks, [1.0] * len(ks), naive=True)
    base = world.recall[Entry(backbone, AUTO)]
    for hardest in HARDEST:
        ratio, error = _ratio(world.recall[Entry(backbone, NEGS, hardest)], base)
        yield Series.of(_share(hardest), ks, ratio.tolist(), error.tolist())


def _share(hardest: int) -> str:
    return f"H/U = {hardest / DRAWN:g}"


def _ratio(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Ratios of means over users (rows) and their standard errors, by the delta method; NaN where `second` is 0."""
    below = second.mean(axis=0)
    safe = np.where(below > 0, below, np.nan)
    ratio = first.mean(axis=0) / safe
    parts = (first - ratio * second) / safe
    return ratio, np.asarray(parts.std(axis=0, ddof=1) / len(first) ** 0.5)


def _trapped(world: JudgedWorld, backbone: str) -> Verdict:
    """Whether a NegS rivals AutoDebias inside the sample, and is clearly worse at the top."""
    small, large = world.both_ks
    base = Entry(backbone, AUTO)
    entries = {_share(hardest): Entry(backbone, NEGS, hardest) for hardest in LARGE_SHARES}
    inside = {
        name: world.numbers[entry, TRADITIONAL].mean() / world.numbers[base, TRADITIONAL].mean()
        for name, entry in entries.items()
    }
    gaps = {name: Gap.of(world.users(entry, small), world.users(base, small)) for name, entry in entries.items()}
    signs = clear_signs(gaps)
    parts = (
        f"{name}: {inside[name]:.1%} inside the sample, {world.full(entry, small) / world.full(base, small):.1%} at K "
        f"= {small} (difference {gaps[name]}), {world.full(entry, large) / world.full(base, large):.1%} at K = {large}"
        for name, entry in entries.items()
    )
    return any(inside[name] >= RIVAL and signs[name] < 0 for name in entries), (
        f"of AutoDebias' recall, {'; '.join(parts)}; paired over users, {len(gaps)} tests with Holm's correction"
    )


def best_ks(recall: Mapping[int, Floats], ks: Sequence[int]) -> dict[int, int]:
    """The best K of each H, from full recall@K, as `RULE` defines it.

    Parameters
    ----------
    recall : mapping
        H to full recall at each K.
    ks : sequence of int
    """
    best = {}
    for hardest, values in recall.items():
        others = np.max([other for name, other in recall.items() if name != hardest], axis=0)
        relative = np.divide(values, others, out=np.zeros(len(values)), where=others > 0)
        best[hardest] = int(ks[int(np.argmax(relative))])
    return best


def _moves_up(world: JudgedWorld, backbone: str) -> Verdict:
    within = world.ks <= int(world.log.population.max()) // 2  # the larger K of the table may be beyond
    ks = world.ks[within].tolist()
    recall = {hardest: world.recall[Entry(backbone, NEGS, hardest)][:, within] for hardest in HARDEST}
    best = best_ks({hardest: values.mean(axis=0) for hardest, values in recall.items()}, ks)
    users = len(recall[HARDEST[0]])
    rng = np.random.default_rng([world.log.world.n_users, users])
    again = []
    for _ in range(BOOTSTRAPS):
        times = rng.multinomial(users, np.full(users, 1 / users))
        again.append(best_ks({hardest: times @ values / users for hardest, values in recall.items()}, ks))
    up = float(np.mean([each[HARDEST[0]] < each[HARDEST[-1]] for each in again]))
    parts = []
    for hardest in HARDEST:
        low, high = np.percentile([each[hardest] for each in again], (2.5, 97.5))
        parts.append(f"{_share(hardest)}: {best[hardest]} ({low:.0f} to {high:.0f})")
    return all(best[a] <= best[b] for a, b in pairwise(HARDEST)) and up >= SURE, (
        f"best K, with 95 % of the bootstraps of users, {'; '.join(parts)}; lower for the smallest H/U than for the "
        f"largest in {up:.0%}"
    )
