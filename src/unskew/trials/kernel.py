"""Compiled loops of a trial; their cost grows with the rows and the users, not with users times items."""

# mypy: disable-error-code="untyped-decorator"

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.compiling import njit


@njit(nogil=True, cache=True)
def merge(users: Ints, truth_offsets: Ints, truth: Ints, test_offsets: Ints, test: Ints) -> tuple[Ints, ...]:
    """Merge truth and test: offsets and items, ascending, and the row of each item in truth and in test, or -1."""
    most = len(truth) + len(test)
    offsets = np.zeros(len(users) + 1, np.int64)
    items = np.empty(most, np.int32)
    from_truth = np.full(most, -1, np.int32)
    from_test = np.full(most, -1, np.int32)
    row = 0
    for k in range(len(users)):
        a, a_end = truth_offsets[users[k]], truth_offsets[users[k] + 1]
        b, b_end = test_offsets[users[k]], test_offsets[users[k] + 1]
        while a < a_end or b < b_end:
            first = b >= b_end or (a < a_end and truth[a] <= test[b])
            second = a >= a_end or (b < b_end and test[b] <= truth[a])
            if first:
                items[row], from_truth[row] = truth[a], a
                a += 1
            if second:
                items[row], from_test[row] = test[b], b
                b += 1
            row += 1
        offsets[k + 1] = row
    return offsets, items[:row], from_truth[:row], from_test[:row]


@njit(nogil=True, cache=True)
def rank_liked(
    offsets: Ints, items: Ints, liked: Bools, strength: Floats | None, counts: Ints, candidates: Ints, ordinal: bool
) -> tuple[Ints, Ints, Ints]:
    """`above`, `tied` and `listed` of each row in lists of the liked candidates, by strength or all tied."""
    above = np.empty(len(items), np.int32)
    tied = np.zeros(len(items), np.int32)
    listed = np.empty(len(items), np.int32)
    for user in range(len(offsets) - 1):
        start, stop = offsets[user], offsets[user + 1]
        length = 0
        for row in range(start, stop):
            length += liked[row] and counts[items[row]] > 0
        before = 0
        for row in range(start, stop):
            listed[row] = length
            if counts[items[row]] == 0:
                above[row] = candidates[user]
            elif liked[row]:
                above[row] = before if ordinal else 0
                tied[row] = length - 1
                before += 1
            else:
                above[row] = length
                tied[row] = max(candidates[user] - length - 1, 0)
        if strength is not None and length > 0:
            liked_rows = np.array([row for row in range(start, stop) if liked[row] and counts[items[row]] > 0])
            order = liked_rows[np.argsort(-strength[liked_rows], kind="mergesort")]
            first = 0
            while first < length:
                last = first
                while last < length and strength[order[last]] == strength[order[first]]:
                    last += 1
                for place in range(first, last):
                    above[order[place]] = place if ordinal else first
                    tied[order[place]] = last - first - 1
                first = last
    return above, tied, listed


@njit(nogil=True, cache=True)
def rank_places(
    offsets: Ints,
    items: Ints,
    places: Ints,
    starts: Ints,
    ends: Ints,
    train_offsets: Ints,
    train_items: Ints,
    candidates: Ints,
    ordinal: bool,
) -> tuple[Ints, Ints]:
    """`above` and `tied` of each row in one order of all items, without the user's own training items.

    `places` are the items' places in it, -1 for one without a training row; a tie group is ``starts:ends``.
    """
    above = np.empty(len(items), np.int32)
    tied = np.zeros(len(items), np.int32)
    for user in range(len(offsets) - 1):
        trained = places[train_items[train_offsets[user] : train_offsets[user + 1]]]
        trained.sort()
        trained = trained[np.searchsorted(trained, 0) :]  # a panel user may have training items that are not candidates
        for row in range(offsets[user], offsets[user + 1]):
            item = items[row]
            if places[item] < 0:
                above[row] = candidates[user]
                continue
            before = np.searchsorted(trained, starts[item])
            within = np.searchsorted(trained, ends[item]) - before
            tied[row] = ends[item] - starts[item] - within - 1
            if ordinal:
                above[row] = places[item] - np.searchsorted(trained, places[item])
            else:
                above[row] = starts[item] - before
    return above, tied


@njit(nogil=True, cache=True)
def ideal_gains(offsets: Ints, strength: Floats, table: Floats) -> Floats:
    """Discounted sum of each user's strengths, the largest first; zero past the end of the table."""
    ideal = np.zeros(len(offsets) - 1)
    for user in range(len(offsets) - 1):
        ordered = np.sort(strength[offsets[user] : offsets[user + 1]])
        for place in range(min(len(ordered), len(table))):
            ideal[user] += ordered[len(ordered) - 1 - place] * table[place]
    return ideal
