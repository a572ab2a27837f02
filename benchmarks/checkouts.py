"""Compare the speed of two checkouts: ``python benchmarks/checkouts.py OLD NEW [W1 W2 W3 command audit]``.

Both run the workloads of this folder with their own sources, in turn. The printed ratio is the median of the ratios of
neighbouring runs, so that a machine that becomes slower has little effect.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
REPEATS = {"W1": 15, "W2": 5, "W3": 7, "command": 9, "audit": 3}


class Checkout:
    """A process that has the sources of a checkout, and runs a workload on request."""

    def __init__(self, place, workload):
        self.environment = {**os.environ, "PYTHONPATH": f"{Path(place).resolve() / 'src'}:{HERE}"}
        self.workload = workload
        self.folder = tempfile.TemporaryDirectory()
        self.process = None
        if workload.startswith("W"):
            command = [sys.executable, __file__, "--serve", workload]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment
            )
        elif workload == "command":
            rng = np.random.default_rng(0)
            for name, rows in (("train", 2_000), ("test", 500)):
                lines = [f"{rng.integers(100)},{rng.integers(300)}" for _ in range(rows)]
                Path(self.folder.name, f"{name}.csv").write_text("user,item\n" + "\n".join(lines) + "\n")

    def seconds(self):
        if self.process is not None:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
            return float(self.process.stdout.readline())
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "unskew", *self.words()], check=True, capture_output=True, env=self.environment
        )
        return time.perf_counter() - start

    def words(self):
        place = self.folder.name
        if self.workload == "audit":
            return ["audit", "ml-100k", "--json", f"{place}/audit.json"]
        rows = ["--train", f"{place}/train.csv", "--test", f"{place}/test.csv"]
        return ["evaluate", *rows, "--model", "popular", "--model", "random", "--json", f"{place}/report.json"]


def serve(name):
    """Create a workload, then run it once for each input line."""
    import workloads

    from unskew import evaluate

    if name == "W3":
        split, scorer, _ = workloads.make_lists(workloads.W3)
        options = {"metrics": ["recall@10", "ndcg@10", "map@10", "mrr@100"], "estimators": ["aoa"]}
    else:
        split, scorer = workloads.make(getattr(workloads, name))
        options = {"metrics": ["auc", "adg", "recall@10", "ndcg@10", "map"]}
    for _ in sys.stdin:
        start = time.perf_counter()
        evaluate({"model": scorer}, split, **options)
        print(time.perf_counter() - start, flush=True)


def main(old, new, *names):
    for name in names or REPEATS:
        pair = [Checkout(place, name) for place in (old, new)]
        for checkout in pair:
            checkout.seconds()  # compiles
        seconds = np.array([[checkout.seconds() for checkout in pair] for _ in range(REPEATS[name])])
        ratios = seconds[:, 1] / seconds[:, 0]
        low, high = np.quantile(ratios, [0.25, 0.75])
        before, after = np.median(seconds, axis=0)
        print(
            f"{name}: {before:.3f} s before, {after:.3f} s now, ratio {np.median(ratios):.3f} "
            f"(middle half {low:.3f} to {high:.3f}, {len(ratios)} pairs)",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        main(*sys.argv[1:])
