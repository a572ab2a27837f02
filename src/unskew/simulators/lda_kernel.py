"""Compiled steps of drawing likes by topics."""

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import njit


@njit(nogil=True, cache=True)
def alias_tables(themes: Floats) -> tuple[Floats, Ints]:
    """Tables to draw from each row's distribution in one step [walker1977]: chances to keep an item, and its alias."""
    topics, items = themes.shape
    kept = np.ones((topics, items))
    other = np.empty((topics, items), dtype=np.int32)
    small = np.empty(items, dtype=np.int32)
    large = np.empty(items, dtype=np.int32)
    for topic in range(topics):
        few = many = 0
        for item in range(items):
            kept[topic, item] = themes[topic, item] * items
            other[topic, item] = item
            if kept[topic, item] < 1:
                small[few] = item
                few += 1
            else:
                large[many] = item
                many += 1
        while few and many:
            few -= 1
            low, high = small[few], large[many - 1]
            other[topic, low] = high
            kept[topic, high] -= 1 - kept[topic, low]
            if kept[topic, high] < 1:
                many -= 1
                small[few] = high
                few += 1
        for k in range(few):  # only rounding is left
            kept[topic, small[k]] = 1.0
    return kept, other


@njit(nogil=True, cache=True)
def choose_items(
    tastes: Floats, kept: Floats, other: Ints, choices: Ints, generator: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Choose topics and items for each user; return the distinct items, ascending, and how often each was chosen."""
    n_users, n_items = len(tastes), kept.shape[1]
    topics = kept.shape[0]
    offsets = np.zeros(n_users + 1, dtype=np.int64)
    total = choices.sum()
    items = np.empty(total, dtype=np.int32)
    times = np.empty(total, dtype=np.int32)
    seen = np.zeros(n_items, dtype=np.int32)
    for u in range(n_users):
        start = place = offsets[u]
        for _ in range(choices[u]):
            topic = min(
                np.searchsorted(tastes[u], generator.random() * tastes[u, topics - 1], side="right"), topics - 1
            )
            spot = generator.random() * n_items
            item = min(int(spot), n_items - 1)
            if spot - item >= kept[topic, item]:
                item = other[topic, item]
            if seen[item] == 0:
                items[place] = item
                place += 1
            seen[item] += 1
        items[start:place].sort()
        for k in range(start, place):
            times[k] = seen[items[k]]
            seen[items[k]] = 0
        offsets[u + 1] = place
    return offsets, items[: offsets[-1]].copy(), times[: offsets[-1]].copy()


@njit(nogil=True, cache=True)
def choose_evenly(n_items: int, counts: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Choose `counts` items for each user, with equal chances; ascending."""
    offsets = np.append(0, np.cumsum(counts))
    items = np.empty(offsets[-1], dtype=np.int32)
    taken_by = np.full(n_items, -1, dtype=np.int64)
    for u in range(len(counts)):
        place = offsets[u]
        for last in range(
            n_items - counts[u], n_items
        ):  # Floyd's algorithm: each step adds one of the first `last` + 1
            item = int(generator.random() * (last + 1))
            if taken_by[item] == u:
                item = last
            taken_by[item] = u
            items[place] = item
            place += 1
        items[offsets[u] : place].sort()
    return offsets, items
