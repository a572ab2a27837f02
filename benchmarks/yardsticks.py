"""The yardsticks of the benchmarks: the bare matrix product, and plain NumPy."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from unskew.ranking import default_block_size
from unskew.ranking.engines.threads import single_threaded_blas, usable_cores


def matrix_product(scorer):
    """The floor: scores of all users in blocks, on all cores, without using them."""
    users, items = scorer.user_factors, scorer.item_factors
    block = default_block_size(len(items))
    local = threading.local()

    def score(start):
        if not hasattr(local, "out"):
            local.out = np.empty((block, len(items)), dtype=np.float32)
        part = users[start : start + block]
        np.matmul(part, items.T, out=local.out[: len(part)])

    with single_threaded_blas(), ThreadPoolExecutor(usable_cores()) as pool:
        list(pool.map(score, range(0, len(users), block)))


def numpy_sort(split, scorer):
    """Ranks by sorting each block and searching in it, as one would without a library."""
    block = default_block_size(split.train.n_items)
    test_offsets, test_items = split.test.by_user
    seen_offsets, seen_items = split.train.by_user

    def rank(start):
        stop = min(start + block, split.train.n_users)
        scores = scorer.user_factors[start:stop] @ scorer.item_factors.T
        above = []
        for row in range(stop - start):
            u = start + row
            held = scores[row, test_items[test_offsets[u] : test_offsets[u + 1]]]
            scores[row, seen_items[seen_offsets[u] : seen_offsets[u + 1]]] = -np.inf
            ordered = np.sort(scores[row])
            above.append(len(ordered) - np.searchsorted(ordered, held, side="right"))
        return np.concatenate(above)

    with single_threaded_blas(), ThreadPoolExecutor(usable_cores()) as pool:
        return np.concatenate(list(pool.map(rank, range(0, split.train.n_users, block))))


def numpy_lists(split, lists):
    """Recall@10, NDCG@10, MAP@10 and MRR@100 of top-N lists in plain NumPy, as one would write them."""
    n_items = split.test.n_items
    offsets, _ = split.test.by_user
    relevant = np.diff(offsets)
    rows = np.flatnonzero(relevant)
    n, width = lists.shape
    test_keys = np.sort(split.test.users.astype(np.int64) * n_items + split.test.items)
    list_keys = np.arange(n)[:, None] * np.int64(n_items) + lists
    places = np.searchsorted(test_keys, list_keys.ravel())
    places[places == len(test_keys)] = 0
    hits = (test_keys[places] == list_keys.ravel()).reshape(n, width)
    top = hits[:, :10]
    recall = top.sum(axis=1)[rows] / relevant[rows]
    discount = 1 / np.log2(np.arange(2, 12))
    ideal = np.concatenate([[0], np.cumsum(discount)])[np.minimum(relevant, 10)]
    ndcg = (top @ discount)[rows] / ideal[rows]
    precision = np.cumsum(top, axis=1) / np.arange(1, 11)
    average = (precision * top).sum(axis=1)[rows] / relevant[rows]
    first = np.where(hits.any(axis=1), hits.argmax(axis=1), -1)
    reciprocal = np.where(first >= 0, 1 / np.maximum(first + 1, 1), 0.0)[rows]
    return recall.mean(), ndcg.mean(), average.mean(), reciprocal.mean()
