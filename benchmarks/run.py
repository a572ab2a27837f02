"""Measure speed as ratios in one run: ``make bench``, or ``python benchmarks/run.py W1 W3`` for some workloads.

``--avx2`` measures with vectors of 256 bits, in our loops and in OpenBLAS, as on a processor without AVX-512.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from bpr import bench_bpr
from catalogue import bench_amazon, bench_top
from chances import bench_chances
from debiased import bench_debiased
from growth import bench_growth, bench_split
from kernel import bench_kernel
from mf import bench_mf
from pairwise import bench_pairwise
from workloads import W1, W2, W3, Workload, make, make_lists
from yardsticks import matrix_product, numpy_lists, numpy_sort

from unskew import evaluate
from unskew.ranking.engines.threads import usable_cores
from worlds import bench_worlds, bench_written

METRICS = ["auc", "adg", "recall@10", "ndcg@10", "map"]
LIST_METRICS = ["recall@10", "ndcg@10", "map@10", "mrr@100"]


def timed(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def interleaved(jobs, repeats):
    """Seconds of each job, run in turn, after one warm-up of each."""
    for job in jobs:
        job()
    return np.array([[timed(job) for job in jobs] for _ in range(repeats)])


def judge(scorer, split, **options):
    # by default `auto` finds that the rows of these logs show no selection, and only averages
    return evaluate({"factors": scorer}, split, metrics=METRICS, **options)


class PeakMemory:
    """Peak resident memory of this process above that at the start, in MiB; Linux only."""

    def __enter__(self):
        self.base = self._read("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        return self

    def __exit__(self, *_):
        self.mebibytes = (self._read("VmHWM") - self.base) / 1024

    @staticmethod
    def _read(field):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1])


def bench_evaluation(workload, repeats, *, peer=False):
    small = make(Workload("small", 50, 200, 5, 5))
    judge(small[1], small[0])  # compiles, so that the compiler's memory is not counted
    split, scorer = make(workload)
    with PeakMemory() as peak:
        judge(scorer, split)
    jobs = [
        lambda: matrix_product(scorer),
        lambda: judge(scorer, split),
        lambda: judge(scorer, split, propensity="popularity"),
    ]
    if peer:
        jobs.append(lambda: numpy_sort(split, scorer))
    seconds = interleaved(jobs, repeats)
    ratios = np.median(seconds / seconds[:, :1], axis=0)
    print(
        f"{workload.name}: {workload.users:,} users x {workload.items:,} items, d={workload.d}, "
        f"{workload.held_out} held-out and {workload.trained} training items per user"
    )
    print(f"  floor (matrix product)   {np.median(seconds[:, 0]):8.3f} s")
    print(f"  evaluation, by default   {np.median(seconds[:, 1]):8.3f} s   {ratios[1]:.2f} x floor")
    print(f"  and snips, nine gammas   {np.median(seconds[:, 2]):8.3f} s   {ratios[2]:.2f} x floor")
    if peer:
        print(f"  NumPy sort, ranks only   {np.median(seconds[:, 3]):8.3f} s   {ratios[3]:.2f} x floor")
    print(f"  peak memory above inputs {peak.mebibytes:8.0f} MiB", flush=True)


def bench_lists(repeats=15):
    split, scorer, lists = make_lists(W3)

    def ours():
        return evaluate({"lists": scorer}, split, metrics=LIST_METRICS, estimators=["aoa"])

    report = ours()
    values = [report.value("lists", metric, "aoa") for metric in LIST_METRICS]
    expected = numpy_lists(split, lists)
    if not np.allclose(values, expected, rtol=1e-12):
        sys.exit(f"W3: we compute {values}, the yardstick {expected}")
    seconds = interleaved([ours, lambda: numpy_lists(split, lists)], repeats)
    ratio = np.median(seconds[:, 1] / seconds[:, 0])
    print(f"W3: top-100 lists of {W3.users:,} users over {W3.items:,} items, {W3.held_out} held-out per user")
    print(f"  ours {np.median(seconds[:, 0]):.3f} s, NumPy {np.median(seconds[:, 1]):.3f} s: {ratio:.2f} times as fast")
    print("  the same numbers to 12 digits", flush=True)


def bench_command_line():
    """A 100-user file through the command line, with a warm numba cache."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in (("train", 2_000), ("test", 500)):
            lines = [f"{rng.integers(100)},{rng.integers(300)}" for _ in range(rows)]
            Path(folder, f"{name}.csv").write_text("user,item\n" + "\n".join(lines) + "\n")
        command = [sys.executable, "-m", "unskew", "evaluate", "--train", f"{folder}/train.csv"]
        command += ["--test", f"{folder}/test.csv", "--model", "popular", "--no-baselines"]
        command += ["--json", f"{folder}/run.json"]
        seconds = [timed(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(4)]
    print(f"Command line, 100 users: {np.median(seconds[1:]):.2f} s", flush=True)


def run_with_avx2(arguments):
    """Run this script again with shorter vectors. The name of a processor alone does not take features away."""
    from unskew.ranking.factors.score_vectors import FEATURES

    kept = [
        part for part in FEATURES.split(",") if part.startswith("+") and "avx512" not in part and "evex" not in part
    ]
    with tempfile.TemporaryDirectory() as cache:  # numba would load loops that were compiled for longer vectors
        names = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ",".join(kept), "NUMBA_CACHE_DIR": cache}
        environment = {**os.environ, **names, "OPENBLAS_CORETYPE": "Haswell"}
        sys.exit(subprocess.run([sys.executable, __file__, *arguments], check=False, env=environment).returncode)


def main(chosen):
    if "--avx2" in chosen:
        run_with_avx2([word for word in chosen if word != "--avx2"])
    from unskew.ranking.factors.score_vectors import LANES

    print(f"{usable_cores()} cores, vectors of {32 * LANES} bits; medians; ratios are medians of pairs run in turn\n")
    jobs = {
        "W1": lambda: bench_evaluation(W1, 21, peer=True),
        "W2": lambda: bench_evaluation(W2, 5),
        "kernel": bench_kernel,
        "growth": bench_growth,
        "split": bench_split,
        "W3": bench_lists,
        "cli": bench_command_line,
        "mf": bench_mf,
        "bpr": bench_bpr,
        "pairwise": bench_pairwise,
        "top": bench_top,
        "amazon": bench_amazon,
        "worlds": bench_worlds,
        "written": bench_written,
        "chances": bench_chances,
        "debiased": bench_debiased,
    }
    for name in chosen or jobs:
        jobs[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
