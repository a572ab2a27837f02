"""What a first user waits for: ``python benchmarks/first_use.py [--runs 7] [--profile]``.

Every number but the last is the median, and the best, of several processes. *Cold* means that the cache of compiled
loops is empty. Bytecode is cached, as it is after an installation. With ``--profile``: the packages that take longest
to import, and each loop that is compiled.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

ITEMS, FACTORS, TRAIN, HELD_OUT = 400, 16, 25, 5
USERS, MORE_USERS = 100, 20_000  # the second are too many to count without compiled loops
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
LISTEN = """
import json, sys, time
from numba.core import event
from unskew.cli import main

class Log(event.Listener):
    open, done = [], []
    def on_start(self, it):
        self.open.append(time.perf_counter())
    def on_end(self, it):
        loop = it.data["dispatcher"].py_func
        seconds = time.perf_counter() - self.open.pop()
        self.done.append((seconds, f"{loop.__module__}.{loop.__name__}", str(it.data["args"])))

event.register("numba:compile", Log())
try:
    main(sys.argv[1:])
finally:
    print(json.dumps(Log.done))
"""


def write(folder, users):
    """Train and test files, and the factors of a model."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    factors = {
        "user_factors": rng.standard_normal((users, FACTORS), dtype=np.float32),
        "item_factors": rng.standard_normal((ITEMS, FACTORS), dtype=np.float32),
    }
    np.savez(folder / "mf.npz", **factors, user_ids=np.arange(users), item_ids=np.arange(ITEMS))
    picked = np.argsort(rng.random((users, ITEMS)), axis=1)[:, : TRAIN + HELD_OUT]
    for name, columns in (("train", slice(0, TRAIN)), ("test", slice(TRAIN, None))):
        rows = "".join(f"{user},{item}\n" for user in range(users) for item in picked[user, columns])
        (folder / f"{name}.csv").write_text(f"user,item\n{rows}")
    return ["evaluate", "--train", folder / "train.csv", "--test", folder / "test.csv", "--factors", folder / "mf.npz"]


def seconds(words, runs, cold=None):
    """Median and best of several processes; `cold` is a folder for caches, each used once."""
    times = []
    for k in range(runs):
        environment = ENVIRONMENT if cold is None else {**ENVIRONMENT, "NUMBA_CACHE_DIR": str(cold / str(k))}
        start = time.perf_counter()
        subprocess.run([sys.executable, *map(str, words)], env=environment, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


def in_process(folder, runs=20):
    """Evaluations in one process that has compiled everything: what is left is fixed."""
    from unskew import Interactions, Split, evaluate
    from unskew.ranking import FactorScorer

    split = Split(*(Interactions.read(folder / f"{name}.csv") for name in ("train", "test")))
    with np.load(folder / "mf.npz") as stored:
        model = FactorScorer(**stored)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        evaluate({"mf": model}, split)
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


def show(what, numbers, limit=None):
    median, best = numbers
    judged = "" if limit is None else f"  under {limit:g} s: {'yes' if median < limit else 'NO'}"
    print(f"{what:<52} {median:>8.3f} s  {best:>8.3f} s{judged}", flush=True)


def profile(words, folder):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "unskew", *words, "--quiet"],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    packages = Counter()
    for line in done.stderr.splitlines()[1:]:
        alone, _, name = line.removeprefix("import time:").split("|")
        packages[name.strip().partition(".")[0]] += int(alone) / 1e6
    print("\nimports, seconds of each package by itself")
    for name, spent in packages.most_common(12):
        print(f"{spent:>8.3f}  {name}")
    done = subprocess.run(
        [sys.executable, "-c", LISTEN, *words, "--quiet"],
        env={**ENVIRONMENT, "NUMBA_CACHE_DIR": str(folder / "listen")},
        check=True,
        capture_output=True,
        text=True,
    )
    print("\nloops compiled when the cache is empty; a loop includes those that it calls")
    for spent, name, types in sorted(json.loads(done.stdout.splitlines()[-1]), reverse=True):
        print(f"{spent:>8.3f}  {name}{types[:100]}")


def bench_first_use(runs, *, profiled):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        few, many = ([*map(str, write(folder / str(users), users))] for users in (USERS, MORE_USERS))
        for words in (few, many):
            seconds(["-m", "unskew", *words], 1)  # bytecode, and loops of this machine
        print(f"{'':<52} {'median':>10}  {'best':>10}")
        bare = seconds(["-c", "pass"], runs)
        show("python -c pass", bare)
        show("unskew --help", seconds(["-m", "unskew", "--help"], runs), 0.4)
        gross = seconds(["-c", "import unskew"], runs)
        show("import unskew, with the interpreter", gross)
        show("import unskew", (gross[0] - bare[0], gross[1] - bare[1]), 0.15)
        show(f"unskew evaluate, {USERS} users, warm", seconds(["-m", "unskew", *few], runs), 1.2)
        show(f"unskew evaluate, {USERS} users, cold", seconds(["-m", "unskew", *few], 3, folder / "a"), 12)
        show(f"unskew evaluate, {MORE_USERS:,} users, warm", seconds(["-m", "unskew", *many], 3))
        show(f"unskew evaluate, {MORE_USERS:,} users, cold", seconds(["-m", "unskew", *many], 3, folder / "b"), 12)
        show(f"evaluate() in a running process, {USERS} users", in_process(folder / str(USERS)))
        if profiled:
            profile(many, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    bench_first_use(asked.runs, profiled=asked.profile)
