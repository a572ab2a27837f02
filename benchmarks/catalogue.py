"""The full catalogue: top-k lists, and an evaluation of the size of Amazon's books."""

import time

import numpy as np
from workloads import W2, Workload, make
from yardsticks import matrix_product

from unskew import evaluate
from unskew.ranking import count_top

TOP = 50
AMAZON = Workload("Amazon books", 99_473, 450_166, 2, 7, d=100)


def bench_top(repeats=3):
    """Counting the top 50 of every user, compared with the matrix product that makes the scores."""
    split, scorer = make(W2)
    count_top(scorer, split, TOP)  # compiles
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        matrix_product(scorer)
        middle = time.perf_counter()
        count_top(scorer, split, TOP)
        seconds.append((middle - start, time.perf_counter() - middle))
    floor, ours = np.median(seconds, axis=0)
    ratio = np.median([b / a for a, b in seconds])
    print(f"top {TOP} of {W2.users:,} users x {W2.items:,} items, d={W2.d}")
    print(f"  floor (matrix product)   {floor:8.3f} s")
    print(f"  top {TOP}, counted          {ours:8.3f} s   {ratio:.2f} x floor", flush=True)


def bench_amazon():
    """One model ranked over a simulated catalogue as large as that of the paper's largest data set."""
    small = make(Workload("small", 50, 200, 5, 5))
    evaluate({"factors": small[1]}, small[0])  # compiles
    split, scorer = make(AMAZON)
    print(f"{AMAZON.name}: {AMAZON.users:,} users x {AMAZON.items:,} items, d={AMAZON.d}", flush=True)
    start = time.perf_counter()
    matrix_product(scorer)
    middle = time.perf_counter()
    print(f"  floor (matrix product)   {middle - start:8.1f} s", flush=True)
    evaluate({"factors": scorer}, split, metrics=["auc", "recall@5", "adg", "adg@5"])
    end = time.perf_counter()
    ratio = (end - middle) / (middle - start)
    print(f"  full evaluation          {end - middle:8.1f} s   {ratio:.2f} x floor", flush=True)
