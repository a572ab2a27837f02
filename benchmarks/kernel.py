"""The kernels on one core: scores alone, and scores with the counts of held-out items."""

import time

import numpy as np
from workloads import W1, W2, distinct_items

from unskew.ranking import kernel
from unskew.ranking.engines.threads import single_threaded_blas
from unskew.ranking.factors import PackedFactors, score_vectors

USERS = 240


def bench_kernel(repeats=15):
    """A block of users: the product by BLAS, ours, ours with counts, and the counts of a matrix of scores."""
    print(f"Kernel on one core, vectors of {score_vectors.LANES}")
    for workload in (W1, W2):
        with single_threaded_blas():
            jobs = _jobs(workload)
            seconds = _interleaved(list(jobs.values()), repeats)
        ratios = np.median(seconds / seconds[:, :1], axis=0)
        print(f"  {workload.name}: {USERS} users x {workload.items:,} items, {workload.held_out} held-out each")
        for name, ratio, median in zip(jobs, ratios, np.median(seconds, axis=0), strict=True):
            compared = median / (USERS * workload.items * workload.held_out) * 1e9
            print(f"    {name:20} {median * 1e3:7.2f} ms  {ratio:.2f} x product  {compared:.3f} ns per comparison")


def _jobs(workload):
    rng = np.random.default_rng(0)
    factors = [rng.standard_normal((n, workload.d), dtype=np.float32) for n in (USERS, workload.items)]
    packed = PackedFactors(*factors, np.arange(workload.items), np.zeros(0, np.float32), doubled=False, finite=True)
    items = distinct_items(workload, rng)[:USERS].astype(np.int32)
    held, seen = (np.sort(part, axis=1) for part in np.split(items, [workload.held_out], axis=1))
    lists = [each for part in (held, seen) for each in (np.arange(USERS + 1) * part.shape[1], part.ravel())]
    rows, out = np.arange(USERS), np.empty((USERS, workload.items), np.float32)
    scores = packed.score(rows).copy()
    return {
        "product by BLAS": lambda: np.matmul(factors[0], factors[1].T, out=out),
        "product, ours": lambda: packed.score(rows),
        "product and counts": lambda: packed.count(rows, *lists),
        "counts of a matrix": lambda: kernel.count_ranks(scores, *lists),
    }


def _interleaved(jobs, repeats):
    seconds = np.empty((repeats + 1, len(jobs)))
    for repeat in range(repeats + 1):
        for k, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            seconds[repeat, k] = time.perf_counter() - start
    return seconds[1:]
