"""A data set larger than memory: peak memory and speed of an evaluation part by part.

``python benchmarks/partitions.py [FOLDER] [--users N]`` writes a log of N users (1,000,000 by default) with 100
training and 10 test rows each, evaluates two factor models on it in a process of its own, and compares the rows read a
second with Polars reading the same files.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from unskew.data import write_parts
from unskew.data.partitions import parts_for

TRAIN, TEST, ITEMS, D = 100, 10, 20_000, 64
EVALUATE = """
import json, resource, sys, time
from pathlib import Path
from unskew import evaluate
from unskew.data import open_split
from unskew.ranking import read_factors
folder, memory = Path(sys.argv[1]), sys.argv[2]
start = time.perf_counter()
split = open_split(folder / "train", folder / "test")
models = {name: read_factors(folder / name) for name in ("first", "second")}
stages = {}
def progress(stage, done, total):
    stages.setdefault(stage, [time.perf_counter(), 0.0])[1] = time.perf_counter()
report = evaluate(models, split, metrics=["recall@10", "adg@10", "auc"], memory=memory, progress=progress)
seconds = time.perf_counter() - start
print(json.dumps({
    "seconds": seconds,
    "stages": {stage: end - begin for stage, (begin, end) in stages.items()},
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    "recall": report.value("first", "recall@10", "snips"),
}))
"""


def batches(users, per_user, seed, first):
    """Rows of users, ten thousand at a time; items are distinct within train and test together."""
    for start in range(0, users, 10_000):
        rng = np.random.default_rng([seed, start])
        n = min(10_000, users - start)
        width = ITEMS // (TRAIN + TEST)
        slots = rng.permuted(np.tile(np.arange(TRAIN + TEST), (n, 1)), axis=1)
        items = slots * width + (width * rng.random(slots.shape) ** 3).astype(np.int64)  # the first of each are popular
        chosen = items[:, first : first + per_user]
        ids = np.repeat(np.arange(start, start + n), per_user)
        yield pl.DataFrame({"user": ids, "item": chosen.ravel().astype(np.int32)})


def write(folder, users):
    parts = parts_for(users * TRAIN)
    start = time.perf_counter()
    write_parts(batches(users, TRAIN, 0, 0), folder / "train", parts)
    write_parts(batches(users, TEST, 0, TRAIN), folder / "test", parts)
    seconds = time.perf_counter() - start
    for name, seed in (("first", 1), ("second", 2)):
        rng, place = np.random.default_rng(seed), folder / name
        place.mkdir(exist_ok=True)
        np.save(place / "user_factors.npy", rng.standard_normal((users, D), dtype=np.float32))
        np.save(place / "item_factors.npy", rng.standard_normal((ITEMS, D), dtype=np.float32))
        np.save(place / "user_ids.npy", np.arange(users))
        np.save(place / "item_ids.npy", np.arange(ITEMS))
    return parts, seconds


def read_with_polars(folder):
    start = time.perf_counter()
    for name in ("train", "test"):
        for file in sorted((folder / name).glob("part-*.parquet")):
            pl.read_parquet(file)
    return time.perf_counter() - start


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", nargs="?")
    options.add_argument("--users", type=int, default=1_000_000)
    options.add_argument("--memory", default="4GiB")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(given.folder or temporary)
        folder.mkdir(exist_ok=True)
        rows = given.users * (TRAIN + TEST)
        parts, seconds = write(folder, given.users)
        print(f"{given.users * TRAIN:,} training and {given.users * TEST:,} test rows, {ITEMS:,} items, {parts} parts")
        print(f"  writing, by user          {seconds:8.1f} s   {rows / seconds / 1e6:8.2f} million rows/s")
        polars = read_with_polars(folder)
        print(f"  Polars reads all files    {polars:8.1f} s   {rows / polars / 1e6:8.2f} million rows/s")
        command = [sys.executable, "-c", EVALUATE, str(folder), given.memory]
        outcome = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for stage, each in outcome["stages"].items():
            print(f"  {stage:25s} {each:8.1f} s   {rows / max(each, 1e-9) / 1e6:8.2f} million rows/s")
        seconds = outcome["seconds"]
        print(f"  evaluation of two models  {seconds:8.1f} s   {rows / seconds / 1e6:8.2f} million rows/s")
        print(f"  Polars / evaluation       {polars / seconds:8.4f}")
        print(f"  peak memory               {outcome['peak']:8.2f} GiB")


if __name__ == "__main__":
    main()
