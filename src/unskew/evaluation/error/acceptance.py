"""Which worlds are like the log: the rules by which a calibrated world is refused."""

from collections.abc import Sequence

from unskew.evaluation.error.likeness import Likened

MOST_EXCESS = 1.0
"""Nats by which the divergence of a statistic may be above its floor.

The floor, the divergence between two logs of the same world, is not 0 and differs between logs: a histogram of how many
users have 1, 2, 3, ... rows has few users in each cell. On ml-100k it was 0.1 to 0.8 for the two histograms of counts
and below 0.05 for the two of similarities. Above their floor, the nearest worlds of four kinds were at most 0.6 on
ml-100k, 0.4 on steam-200k and citeulike-a for the kinds that fit, and 2 to 7 on lastfm-hetrec2011, whose users all have
50 rows at most: no truncated Pareto distribution of sizes does that. At 1 nat a row of the log is e times less likely
in the world, on geometric average.
"""
MOST_RATIO = 2.0
"""How many times the best world's mean relative divergence another's may be.

A new log of the same world moves that mean by a tenth or so. Worlds that are told apart by less than a factor of 2 fit
equally well for this purpose: with 40 evaluations, seeds alone move it by as much.
"""
LEAST_AUC = 0.5
"""What the perfect recommender must reach in truth; chance is a half.

It falls below where users like many items that nobody consumed in training: those are not candidates, so even the
perfect recommender cannot list them, and they count as ranked last. Such a world has a catalogue that its log hardly
shows.
"""


def misfits(worlds: Sequence[Likened]) -> list[str]:
    """Why each calibrated world is refused; nothing where it is not.

    A world that was given is not refused; the audit warns of it instead.
    """
    near = [world.loss for world in worlds if world.loss is not None and not unlike(world)]
    best = 1 + min(near) if near else None
    return [_misfit(world, best) for world in worlds]


def _misfit(world: Likened, best: float | None) -> str:
    if world.loss is None:
        return ""
    apart = unlike(world)
    if apart:
        return apart
    if best is not None and 1 + world.loss > MOST_RATIO * best:
        return f"loss {100 * world.loss:.0f} %, more than {MOST_RATIO:g} times as far from the log as the best world"
    return ""


def unlike(world: Likened) -> str:
    """Which statistic is too far off, and by how much; nothing when none is."""
    excess = world.excess
    if excess is None:
        return ""
    worst = max(excess, key=lambda name: excess[name])
    if excess[worst] <= MOST_EXCESS:
        return ""
    assert world.divergences is not None
    assert world.floor is not None
    return (
        f"{worst} is {world.divergences[worst]:.2f} nats off, {excess[worst]:.2f} more than two logs of this world are "
        f"from each other (at most {MOST_EXCESS:g} is accepted)"
    )


def below_chance(auc: float | None) -> str:
    """Say that even the perfect recommender is below chance; nothing when it is not."""
    if auc is None or auc >= LEAST_AUC:
        return ""
    return (
        f"its perfect recommender has a true AUC of {auc:.2f}, below chance: most of what users like there was "
        "consumed by nobody in training, so it cannot be recommended"
    )
