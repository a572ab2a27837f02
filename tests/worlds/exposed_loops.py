"""The estimates of randomly exposed data as plain loops over users and rows, and random users to try them on."""

from dataclasses import dataclass

import numpy as np
from labelled_users import Labelled, Picks

STEP = 1.6


@dataclass(frozen=True)
class World:
    """Users with samples drawn."""

    users: Labelled
    picks: Picks

    @classmethod
    def random(cls, seed: int, users: int = 30, cutoff: int | None = None, *, alike: bool = False) -> "World":
        """Shares of positives fall with rank; sizes of population and sample differ, unless alike."""
        rng = np.random.default_rng(seed)
        labels, gains, picks = [], [], []
        for _ in range(users):
            length = 60 if alike else int(rng.integers(5, 60))
            labels.append((rng.random(length) < 0.5 / (1 + np.arange(length) / 8)).astype(int).tolist())
            gain = 1 / np.log2(np.arange(length) + 2)
            gains.append(np.where(np.arange(length) < (cutoff or length), gain, 0.0).tolist())
            size = 12 if alike else int(rng.integers(1, length + 1))
            picks.append(rng.permutation(length)[:size].tolist())
        return cls(Labelled(labels, gains, cutoff), picks)

    def rows(self) -> list[list[tuple[int, float, int]]]:
        """For each user the (label, gain, rank from 0) of the exposed."""
        return [
            [(self.users.labels[u][rank], self.users.gains[u][rank], rank) for rank in picked]
            for u, picked in enumerate(self.picks)
        ]

    def scale(self, user: int) -> float:
        return len(self.users.labels[user]) / len(self.picks[user])


def published(world: World) -> float:
    found = []
    for rows in world.rows():
        positives = [gain for label, gain, _ in rows if label]
        if positives:
            found.append(sum(positives) / len(positives))
    return sum(found) / len(found)


def pooled(world: World) -> float:
    top = sum(world.scale(u) * label * gain for u, rows in enumerate(world.rows()) for label, gain, _ in rows)
    return top / sum(world.scale(u) * label for u, rows in enumerate(world.rows()) for label, _, _ in rows)


def summed(world: World) -> float:
    top = sum(world.scale(u) * label * gain for u, rows in enumerate(world.rows()) for label, gain, _ in rows)
    return top / len(world.picks)


def deviation(world: World, user: int) -> float:
    """The gains of the sample, scaled up, less those of the whole population."""
    sampled = sum(world.users.gains[user][rank] for rank in world.picks[user])
    return world.scale(user) * sampled - sum(world.users.gains[user])


def controlled(world: World) -> float:
    """The pooled ratio less its regression on the deviations, ten rows of a random order added."""
    ratio, above, below = pooled(world), 0.0, 0.0
    top, bottom = 0.0, 0.0
    rows_of = [(world.scale(u), label, gain) for u, rows in enumerate(world.rows()) for label, gain, _ in rows]
    share = sum(scale * label for scale, label, _ in rows_of) / sum(scale for scale, _, _ in rows_of)
    second, fourth = (sum((scale * gain) ** power for scale, _, gain in rows_of) for power in (2, 4))
    if second:
        added = 10 / (second**2 / fourth) * second
        below += added
        above += added * share * (1 - ratio * sum(scale**2 * gain for scale, _, gain in rows_of) / second)
    for u, rows in enumerate(world.rows()):
        a = world.scale(u) * sum(label * gain for label, gain, _ in rows)
        b = world.scale(u) * sum(label for label, _, _ in rows)
        c = deviation(world, u)
        above, below = above + (a - ratio * b) * c, below + c * c
        top, bottom = top + a, bottom + b
    return (top - above / below * sum(deviation(world, u) for u in range(len(world.picks)))) / bottom


def strata(world: World) -> list[range]:
    """Ranks from 0, widening by 1.6, with an edge at the cut-off, up to the largest population."""
    largest = max(map(len, world.users.labels))
    edges = {largest} if world.users.cutoff is None else {largest, min(world.users.cutoff, largest)}
    width = 1.0
    while round(width) < largest:
        edges.add(round(width))
        width *= STEP
    ends = sorted(edges)
    return [range(first, last) for first, last in zip([0, *ends[:-1]], ends, strict=True)]


def falling(world: World) -> tuple[float, float]:
    """Sums of gains over all users and of positives, with shares by scikit-learn's isotonic regression."""
    from sklearn.isotonic import IsotonicRegression

    shown, liked, gains, places = ([0.0] * len(strata(world)) for _ in range(4))
    for s, ranks in enumerate(strata(world)):
        for u, rows in enumerate(world.rows()):
            inside = [label for label, _, rank in rows if rank in ranks]
            shown[s] += world.scale(u) * len(inside)
            liked[s] += world.scale(u) * sum(inside)
            gains[s] += sum(gain for rank, gain in enumerate(world.users.gains[u]) if rank in ranks)
            places[s] += sum(rank in ranks for rank in range(len(world.users.gains[u])))
    seen = [s for s, number in enumerate(shown) if number > 0]
    regression = IsotonicRegression(increasing=False)
    share = regression.fit_transform(seen, [liked[s] / shown[s] for s in seen], sample_weight=[shown[s] for s in seen])
    full = dict(zip(seen, share, strict=True))
    # where nothing was exposed, the block before it reaches over; the first one has the next
    last = share[0]
    for s in range(len(shown)):
        last = full[s] = full.get(s, last)
    return sum(full[s] * gains[s] for s in full), sum(full[s] * places[s] for s in full)
