"""Losses of calibration searches: the Gaussian process of the audit, that of optuna, and quasi-random points."""

import argparse
import time
from pathlib import Path

import numpy as np

from unskew.calibration.quick import HOW, calibrate_quickly
from unskew.calibration.suggest import gp_is_here
from unskew.cli.inputs import read_log
from unskew.data import Columns

LOGS = ("ml-100k", "lastfm-hetrec2011", "ml-1m")
KINDS = ("lda-pop", "ibp-pop")
METHODS = ("compiled", "gp")
EVALUATIONS = 40
SEEDS = 4
ROWS = 100_000
"""Largest number of rows; of a longer log a random sample of the users is used."""


def read(name):
    log = read_log(Path(name), Columns("user", "item", None, None, None))
    order = np.random.default_rng(0).permutation(log.n_users)
    chosen = np.zeros(log.n_users, dtype=bool)
    chosen[order[np.cumsum(log.user_counts[order]) <= ROWS]] = True
    return log if len(log) <= ROWS else log.take(chosen[log.users])


def bench_calibration(names=LOGS, kinds=KINDS, methods=METHODS, seeds=SEEDS):
    """Loss in percent (-100 is a perfect copy) after the same evaluations from the same starts, and CPU seconds.

    All methods of a seed share their starts, and so the scale of the loss.
    """
    methods = [method for method in methods if method != "gp" or gp_is_here()]
    print(f"loss in % after {EVALUATIONS} evaluations, seeds 0 to {seeds - 1}; mean, each, CPU seconds per search")
    for name in names:
        log = read(name)
        print(f"{name}: {len(log):,} rows, {np.count_nonzero(log.user_counts):,} users")
        for kind in kinds:
            for method in methods:
                start = time.process_time()
                results = [calibrate_quickly(log, kind, EVALUATIONS, seed=seed, method=method) for seed in range(seeds)]
                took = (time.process_time() - start) / seeds
                losses = [100 * each.loss for each in results]
                each = " ".join(f"{loss:6.1f}" for loss in losses)
                print(f"  {kind:9} {method:9} {np.mean(losses):6.1f}   {each}   {took:5.1f} s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*", default=LOGS)
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--methods", nargs="+", choices=list(HOW), default=METHODS)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="searches per method; fewer for a quick look")
    asked = parser.parse_args()
    bench_calibration(asked.logs, asked.kinds, asked.methods, asked.seeds)
