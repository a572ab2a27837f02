"""Time to draw worlds, compared with that many random numbers of NumPy and with a buffet for one user at a time."""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from unskew.simulators import Ibp, Lda, UniformLikes

SIZES = "pareto(scale=10, shape=0.5, upper=800)"
WORLDS = {
    "ibp": Ibp(users=71_000, alpha=250, c=4.5, sigma=0, sizes=SIZES),
    "lda": Lda(users=71_000, items=11_000, topics=100, likes=300, alpha=0.2, beta=0.05, sizes=SIZES),
    "uniform": UniformLikes(users=71_000, items=11_000, likes=250, sizes=SIZES),
}
SMALL = Ibp(users=1000, alpha=50, c=1, sigma=0.5)


def urn(model, rng):
    """Likes by the definition: every user decides on every item so far, vectorised over items."""
    takers = np.zeros(0)
    likes = 0
    for n, rate in enumerate(model.new_items()):
        chosen = rng.random(len(takers)) < (takers - model.sigma) / (n + model.c)
        takers += chosen
        new = rng.poisson(rate)
        takers = np.append(takers, np.ones(new))
        likes += int(chosen.sum()) + new
    return likes


def seconds_of(job):
    start = time.perf_counter()
    result = job()
    return time.perf_counter() - start, result


def bench_written():
    """Processor time and peak memory of the command line, from the word to the files."""
    for name, model in WORLDS.items():
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "unskew", "simulate", str(model), folder]
            running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(running.pid, 0)
            if status:
                sys.exit(f"unskew simulate '{model}' ended with status {os.waitstatus_to_exitcode(status)}")
        seconds, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20
        print(f"unskew simulate, {name}: {seconds:.0f} s of processor time, {peak:.2f} GiB at most", flush=True)


def bench_worlds(repeats=3):
    """Likes per second, and the time from likes to train, test and P."""
    for model in (SMALL, Lda(users=50, items=50), UniformLikes(users=50, items=50)):
        model.draw(0)  # compiles
    for name, model in WORLDS.items():
        rows = []
        for seed in range(repeats):
            drawing, likes = seconds_of(lambda model=model, seed=seed: model.like(seed))
            floor, _ = seconds_of(lambda likes=likes: np.random.default_rng(0).standard_exponential(len(likes)))
            whole, world = seconds_of(lambda model=model, seed=seed: model.draw(seed))
            rows.append((drawing, floor, whole, len(likes), len(world.train) + len(world.test)))
        drawing, floor, whole, likes, observed = np.median(rows, axis=0)
        ratios = np.median([(row[0] / row[1], row[2] / row[1]) for row in rows], axis=0)
        print(f"world {name}: {model.users:,} users, {likes / 1e6:.1f} million likes, {observed / 1e6:.1f} observed")
        print(f"  floor (NumPy numbers)    {floor:8.3f} s")
        print(f"  likes                    {drawing:8.3f} s   {ratios[0]:.1f} x floor, {likes / drawing / 1e6:.1f} M/s")
        print(f"  with split and P         {whole:8.3f} s   {ratios[1]:.1f} x floor", flush=True)
    pairs = []
    for seed in range(5):
        ours, _ = seconds_of(lambda seed=seed: SMALL.like(seed))
        plain, _ = seconds_of(lambda seed=seed: urn(SMALL, np.random.default_rng(seed)))
        pairs.append((ours, plain))
    ratio = np.median([plain / ours for ours, plain in pairs])
    print(f"buffet of {SMALL.users:,} users: ours {np.median(pairs, axis=0)[0] * 1e3:.1f} ms, ", end="")
    print(f"user by user in NumPy {np.median(pairs, axis=0)[1] * 1e3:.1f} ms: {ratio:.0f} times as fast", flush=True)
