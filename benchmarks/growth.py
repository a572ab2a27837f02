"""How time and memory grow: ``python benchmarks/run.py growth split``, or ``python benchmarks/growth.py --docs``.

Every measurement is a process of its own: it makes its inputs, runs the same call once on a tiny log, so that loops are
loaded, and then measures the CPU seconds of one call and its peak memory above the inputs. The cost at a sixteenth of
the smallest size (at one model or metric) is what does not grow; it is subtracted, and the slope is that of the cost
above it by the size above it, on log scales, over the three largest sizes. A cost that grows in proportion to a size
has the slope 1, whatever its fixed part is. ``--docs`` writes the tables to ``docs/speed.md``; with words such as
``evaluate:rows`` and ``split`` only these are measured again.
"""

import ctypes
import datetime as dt
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from workloads import Workload, make

from unskew import audit, evaluate
from unskew.ranking import FactorScorer
from unskew.ranking.engines.threads import usable_cores

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
START, END = "<!-- growth: start -->", "<!-- growth: end -->"
WORDS = [f"{word}@{k}" for k in (10, 5, 20, 50, 100, 1, 3, 200) for word in ("recall", "ndcg", "adg", "map", "mrr")]
BASE = {"users": 40_000, "items": 1_000, "rows": 10, "models": 2, "metrics": 5}
TINY = {"users": 50, "items": 300, "rows": 2, "models": 2, "metrics": 5}
AXES = {
    ("evaluate", "users"): (20_000, 40_000, 80_000, 160_000),
    ("evaluate", "items"): (4_000, 8_000, 16_000, 32_000),
    ("evaluate", "rows"): (32, 64, 128, 256),  # test rows per user; training rows are the same number
    ("evaluate", "models"): (4, 8, 16, 32),
    ("evaluate", "metrics"): (5, 10, 20, 40),
    ("audit", "users"): (20_000, 40_000, 80_000, 160_000),
    ("audit", "items"): (4_000, 8_000, 16_000, 32_000),
    ("split", "rows"): (1_250_000, 2_500_000, 5_000_000, 10_000_000),
}
"""What is measured against what; the other sizes are those of `BASE`."""
FIXED = {"metrics": {"models": 8}}
"""Other sizes than those of `BASE`, where what grows would be lost in the noise."""
SPLIT_ROWS, REPEATS = 10_000_000, 2
HEADER = (
    "| what | against | sizes | CPU seconds | slope | MiB above the inputs | slope |",
    "|---|---|---|---|---|---|---|",
)
FLAT = 8.0  # MiB by which a peak may move although nothing grows


class Usage:
    """CPU seconds, and peak resident memory above that at the start in MiB; Linux only."""

    def __enter__(self):
        ctypes.CDLL(None).malloc_trim(0)  # else what is freed after the inputs were made is used again, and not seen
        self.base = self._read("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        self.start = time.process_time()
        return self

    def __exit__(self, *_):
        self.seconds = time.process_time() - self.start
        self.mebibytes = (self._read("VmHWM") - self.base) / 1024

    @staticmethod
    def _read(field):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(field)).split()[1])


def world(users, items, rows, models, metrics):
    """A split with rows of both parts for each user, factors, and metrics."""
    split, _ = make(Workload("growth", users, items, rows, rows, d=16))
    rng = np.random.default_rng(1)
    scorers = {
        f"model{k}": FactorScorer(*(rng.standard_normal((n, 16), dtype=np.float32) for n in (users, items)))
        for k in range(models)
    }
    return split, scorers, WORDS[:metrics]


def call(what, sizes, folder):
    """The call to measure, with its inputs ready."""
    if what in ("split", "polars", "polars without repeats"):
        path = Path(folder, f"{sizes['rows']}.csv")
        if not path.exists():
            write_log(path, sizes["rows"])
        return lambda: (split_log if what == "split" else split_with_polars)(path, folder, what)
    split, scorers, metrics = world(**{**BASE, **sizes})
    if what == "audit":
        return lambda: audit(split.train, scorers)
    return lambda: evaluate(scorers, split, metrics=metrics, estimators=["aoa"], baselines=False)


def write_log(path, rows):
    """A log of users and items, popular items first; few rows are repeated."""
    rng = np.random.default_rng(0)
    users, items = rng.integers(0, 200_000, rows), rng.random(rows) ** 2 * 50_000
    pl.DataFrame({"user": users, "item": items.astype(np.int64)}).write_csv(path)


def split_log(path, folder, _):
    from unskew.cli.app import main

    sys.argv = ["unskew", "split", str(path), str(Path(folder, "parts")), "--fractions", "80/20"]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError("the split failed") from ended


def split_with_polars(path, folder, what):
    """Read, split by the same draws, write; `what` says whether repeated rows are left out, as `unskew split` does."""
    frame = pl.read_csv(path)
    if what == "polars without repeats":
        frame = frame.unique(subset=["user", "item"], keep="last", maintain_order=True)
    train = np.zeros(len(frame), dtype=bool)
    train[np.random.default_rng(0).permutation(len(frame))[: round(0.8 * len(frame))]] = True
    for name, part in (("train", train), ("test", ~train)):
        frame.filter(pl.Series(part)).write_csv(Path(folder, f"{name}.csv"))


def measure(what, sizes, folder):
    """Measure one call in this process, and print it as JSON."""
    for module in ("numba", "narwhals", "rich.console", "rich.table", "scipy.sparse", "unskew.cli.app"):
        __import__(module)
    tiny = {"rows": 1_000} if what in ("split", "polars", "polars without repeats") else TINY
    with tempfile.TemporaryDirectory() as other:
        call(what, tiny, other)()
    job = call(what, sizes, folder)
    with Usage() as usage:
        job()
    print(json.dumps({"seconds": usage.seconds, "mebibytes": usage.mebibytes}))


def measured(what, sizes, folder, repeats=REPEATS):
    """The least CPU seconds and memory of some processes, which others on the machine disturb least."""
    command = [sys.executable, __file__, "--measure", what, json.dumps(sizes), str(folder)]
    runs = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        for _ in range(repeats)
    ]
    return tuple(min(run[key] for run in runs) for key in ("seconds", "mebibytes"))


def slope(sizes, costs, flat=0.0):
    """The slope of the cost above the first by the size above the first, over the three largest; None if it is flat."""
    above = np.array(costs[-3:]) - costs[0]
    if above.min() <= 0 or above.max() <= flat:
        return None
    return float(np.polyfit(np.log(np.array(sizes[-3:]) - sizes[0]), np.log(above), 1)[0])


def grow(what, axis, folder):
    """The row of a table: sizes, CPU seconds, MiB, and their slopes."""
    sizes = AXES[what, axis]
    least = 1 if axis in ("models", "metrics", "rows") and what != "split" else sizes[0] // 16
    every = (least, *sizes)
    costs = [measured(what, {**FIXED.get(axis, {}), axis: size}, folder) for size in every]
    seconds, mebibytes = zip(*costs, strict=True)
    slopes = slope(every, seconds), slope(every, mebibytes, FLAT)
    return every, seconds, mebibytes, slopes


def shown(slopes):
    return ["flat" if each is None else f"{each:.2f}" for each in slopes]


def bench_growth():
    """Print time and memory against each size."""
    print("Growth: fixed cost at the first size, then four sizes; slopes above the fixed cost, over the three largest")
    with tempfile.TemporaryDirectory() as folder:
        for what, axis in AXES:
            grow_and_print(what, axis, folder)


def grow_and_print(what, axis, folder):
    """Print the table of one size, and return it as a line of Markdown."""
    sizes, seconds, mebibytes, slopes = grow(what, axis, folder)
    named = "rows per user" if axis == "rows" and what != "split" else axis
    print(f"  {what} against {named}")
    for size, each, memory in zip(sizes, seconds, mebibytes, strict=True):
        print(f"    {size:12,}  {each:8.2f} CPU s  {memory:8.0f} MiB")
    of_time, of_memory = shown(slopes)
    print(f"    slope         {of_time:>8}        {of_memory:>8}", flush=True)
    parts = [f"{sizes[0]:,}; {sizes[1]:,} to {sizes[-1]:,}"]
    parts += [f"{seconds[0]:.2f}; {seconds[1]:.2f} to {seconds[-1]:.2f}", of_time]
    parts += [f"{mebibytes[0]:.0f}; {mebibytes[1]:.0f} to {mebibytes[-1]:.0f}", of_memory]
    return f"| `{what}` | {named} | {' | '.join(parts)} |"


def bench_split():
    """Print `unskew split` next to Polars that reads, splits and writes the same log, and return them as a table."""
    lines = [f"| {SPLIT_ROWS:,} rows | CPU seconds | bytes per row |", "|---|---:|---:|"]
    named = {
        "split": "`unskew split`",
        "polars without repeats": "Polars, repeated rows left out too",
        "polars": "Polars",
    }
    print(f"Split of {SPLIT_ROWS:,} rows of two columns, 80/20")
    with tempfile.TemporaryDirectory() as folder:
        costs = {what: measured(what, {"rows": SPLIT_ROWS}, folder) for what in named}
    for what, (seconds, mebibytes) in costs.items():
        ratio = costs["split"][0] / seconds
        print(f"  {what:24s} {seconds:6.2f} CPU s, {mebibytes * 2**20 / SPLIT_ROWS:5.0f} bytes per row", end="")
        print("" if what == "split" else f"; split takes {ratio:.2f} times as long", flush=True)
        lines.append(f"| {named[what]} | {seconds:.1f} | {mebibytes * 2**20 / SPLIT_ROWS:.0f} |")
    return lines


def write_page(chosen):
    """Measure, and put the tables into the page on speed; lines that are not measured again stay."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    known, _, after = rest.partition(END)
    kept = {line.split(" | ")[0] + line.split(" | ")[1]: line for line in known.splitlines() if line.startswith("| `")}
    growth = {}
    with tempfile.TemporaryDirectory() as folder:
        for what, axis in AXES:
            named = "rows per user" if axis == "rows" and what != "split" else axis
            key = f"| `{what}`{named}"
            if not chosen or f"{what}:{axis}" in chosen:
                growth[key] = grow_and_print(what, axis, folder)
            elif key in kept:
                growth[key] = kept[key]
    split = bench_split() if not chosen or "split" in chosen else [x for x in known.split("\n\n")[-2:-1] if x]
    dated = f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d} on {usable_cores()} cores."
    tables = [*HEADER, *growth.values(), "", *split, "", dated]
    PAGE.write_text("\n".join([before + START, *tables, END + after]), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], json.loads(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:2] == ["--docs"]:
        write_page(sys.argv[2:])
    else:
        sys.exit("give --docs, or run benchmarks/run.py growth split")
