"""Which worlds are like the log: the rules by which a calibrated world is refused."""

from collections.abc import Sequence

from unskew.audit.error.matched_world import Likened

MOST_EXCESS = 1.0
"""Nats by which the divergence of a statistic may be above its floor.

The floor, the divergence between two logs of the same world, is not 0 and differs between logs: a histogram of how many
users have 1, 2, 3, ... rows has few users in each cell. Over 84 worlds calibrated to ml-100k (seeds 0 to 6, 12 each) it
was 0.08 to 0.73 for the two histograms of counts and below 0.03 for the two of similarities. All were at most 0.67
above it in every statistic (half of them at most 0.20). The limit was set when an earlier search failed in 3 of 84, and
those were more than 2.1 above. On lastfm-hetrec2011 all were 5 or more, because no user has more than 50 rows there,
which no truncated Pareto distribution of sizes imitates. A divergence of 1 nat means that what the log has is e times
less likely in the world, on geometric average.
"""
MOST_RATIO = 2.0
"""How many times the best world's mean relative divergence another's may be.

A new log of the same world moves that mean by 4 % (median of 12 worlds) and up to 21 %. Over the same 84 worlds it was
1 to 1.69 times that of the best of their audit, and with the earlier search 1 to 1.95 times without a gap for 78 of 84.
So which of those a search finds is a matter of its seed, and they are taken to fit equally well.
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
