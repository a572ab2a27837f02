"""Ray against threads on the same cores, for the ranks of W2: ``python benchmarks/engines.py``."""

import time

import numpy as np
from workloads import W2, make

from unskew.ranking import Ray, Threads, prepare_contest, rank
from unskew.ranking.engines.threads import usable_cores


def bench_engines(rounds=5):
    split, scorer = make(W2)
    contest = prepare_contest({"factors": scorer}, split)
    engines = {"threads": Threads(), "ray": Ray()}
    for engine in engines.values():  # starts Ray, and loads the kernel there
        rank(scorer, contest, name="factors", engine=engine)
    seconds = np.empty((rounds, len(engines)))
    for each in seconds:
        for k, engine in enumerate(engines.values()):
            start = time.perf_counter()
            rank(scorer, contest, name="factors", engine=engine)
            each[k] = time.perf_counter() - start
    threads, ray = np.median(seconds, axis=0)
    ratio = np.median(seconds[:, 0] / seconds[:, 1])
    print(f"{W2.users:,} users x {W2.items:,} items, {usable_cores()} cores; medians of {rounds} rounds")
    print(f"threads {threads:.2f} s, ray {ray:.2f} s; threads / ray {ratio:.2f}")


if __name__ == "__main__":
    bench_engines()
