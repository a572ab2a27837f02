"""Speed of sums over all candidates as a ratio to the matrix product: ``python benchmarks/candidate_sums.py``."""

import time
from dataclasses import replace

import numpy as np
from numba import njit, uint64
from workloads import W2, make
from yardsticks import matrix_product

from unskew.metrics import parse_metric
from unskew.ranking import everyone, prepare_contest, sum_candidates
from unskew.ranking.engines.threads import usable_cores

MEANS = ["recall@10", "recall@50", "adg@10", "adg", "auc", "precision@10"]
CUT = ["recall@10", "recall@50", "adg@10", "precision@10"]
LISTS = ["ndcg@10", "map(of=min)@10", "mrr@10"]
OF_ALL = ["map@10"]  # its divisor has no limit, so it needs the whole distribution of the number of relevant items
USERS = 10_000


@njit(nogil=True, cache=True, fastmath=True)
def _logistic(of_users, of_items, chances):
    for r in range(chances.shape[0]):
        row, of_user = chances[r], of_users[r]
        for j in range(uint64(row.shape[0])):  # both factors are exponentials, so that no pair needs one
            odds = of_user * of_items[j]
            row[j] = odds / (np.float32(1) + odds)


class Logistic:
    """Chances sigmoid(a_u + b_i) with a mean of about 2 percent."""

    def __init__(self, users, items):
        rng = np.random.default_rng(1)
        self.of_users = np.exp(rng.standard_normal(users) - 5).astype(np.float32)
        self.of_items = np.exp(rng.standard_normal(items)).astype(np.float32)

    def __call__(self, users):
        chances = np.empty((len(users), len(self.of_items)), dtype=np.float32)
        _logistic(self.of_users[users], self.of_items, chances)
        return chances


class Kept:
    """Chances that cost nothing: the same block for all users. Items that a user has seen become 0 in it."""

    def __init__(self, chances, users, largest=256):
        self.block = chances(np.arange(min(users, largest)))

    def __call__(self, users):
        return self.block[: len(users)]


def timed(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def bench_candidate_sums(repeats=7):
    split, scorer = make(replace(W2, users=USERS))
    contest = everyone(prepare_contest({"factors": scorer}, split), split)
    chances = Logistic(USERS, W2.items)
    kept = Kept(chances, USERS)
    jobs = {
        "matrix product": lambda: matrix_product(scorer),
        "6 metrics, chances given": lambda: sums(scorer, contest, kept, MEANS),
        "6 metrics, chances computed": lambda: sums(scorer, contest, chances, MEANS),
        "4 with a cut-off, chances given": lambda: sums(scorer, contest, kept, CUT),
        "3 list metrics, chances given": lambda: sums(scorer, contest, kept, LISTS),
        "map@10, chances given": lambda: sums(scorer, contest, kept, OF_ALL),
    }
    for job in jobs.values():
        job()
    seconds = np.array([[timed(job) for job in jobs.values()] for _ in range(repeats)])
    print(
        f"{USERS:,} users x {W2.items:,} items, d={W2.d}, {usable_cores()} cores; best and median of {repeats} rounds"
    )
    for name, spent in zip(jobs, seconds.T, strict=True):
        ratios = np.min(spent) / np.min(seconds[:, 0]), np.median(spent / seconds[:, 0])
        print(
            f"  {name:32s} {np.min(spent):7.3f} s   {ratios[0]:5.2f} x product   (median {ratios[1]:.2f})", flush=True
        )


def sums(scorer, contest, chances, words):
    return sum_candidates(scorer, contest, chances, [parse_metric(word) for word in words])


if __name__ == "__main__":
    bench_candidate_sums()
