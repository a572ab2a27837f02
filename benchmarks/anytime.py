"""Time until a question is decided, against ranking all users: ``python benchmarks/anytime.py [USERS ...]``."""

import sys
import time

import numpy as np

from unskew import Interactions, Split, evaluate
from unskew.ranking import FactorScorer

ITEMS, FACTORS, TRAIN, HELD_OUT, DRAWN = 20_000, 64, 20, 5, 60
OPTIONS = {"metrics": ["adg"], "estimators": ["aoa(per=pair)", "snips"], "propensity": "popularity"}


def world(users):
    """Held-out items are the best of some random ones, by a model that a second one knows with noise."""
    rng = np.random.default_rng(0)
    tastes, items = (rng.standard_normal((n, FACTORS), dtype=np.float32) for n in (users, ITEMS))
    train, test = [], []
    for first in range(0, users, 10_000):
        some = np.arange(first, min(first + 10_000, users))
        drawn = rng.integers(0, ITEMS, (len(some), DRAWN + TRAIN))
        scores = np.einsum("uf,uif->ui", tastes[some], items[drawn[:, TRAIN:]])
        best = np.argpartition(-scores, HELD_OUT, axis=1)[:, :HELD_OUT]
        test.append((np.repeat(some, HELD_OUT), np.take_along_axis(drawn[:, TRAIN:], best, axis=1).ravel()))
        train.append((np.repeat(some, TRAIN), drawn[:, :TRAIN].ravel()))
    parts = (
        Interactions.from_arrays(*map(np.concatenate, zip(*rows, strict=True)), n_users=users, n_items=ITEMS)
        for rows in (train, test)
    )
    noise = 1.0 * rng.standard_normal(items.shape, dtype=np.float32)
    return {"good": FactorScorer(tastes, items), "noisy": FactorScorer(tastes, items + noise)}, Split(*parts)


def timed(models, split, **more):
    start = time.perf_counter()
    report = evaluate(models, split, **OPTIONS, **more)
    return time.perf_counter() - start, report


def bench_anytime(sizes):
    print(f"{ITEMS:,} items, {FACTORS} factors, two models; adg by snips")
    print(f"{'users':>10}  {'all':>8}  {'decided':>8}  {'share':>6}  {'users':>7}  {'width<.005':>10}  {'users':>7}")
    for users in sizes:
        models, split = world(users)
        timed(models, split, until="decided")  # compiles
        whole, _ = timed(models, split)
        decided, early = timed(models, split, until="decided", on="adg:snips")
        narrow, width = timed(models, split, until="width<0.005", on="adg:snips")
        print(
            f"{users:>10,}  {whole:>7.2f}s  {decided:>7.2f}s  {decided / whole:>6.1%}  {early.stop.users:>7,}"
            f"  {narrow:>9.2f}s  {width.stop.users:>7,}  {'#' * max(1, round(20 * narrow))}"
        )


if __name__ == "__main__":
    bench_anytime([int(word) for word in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
