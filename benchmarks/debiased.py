"""Time of an epoch of each debiased model, relative to the product of all user and item factors."""

import time

import numpy as np

from unskew.data import Interactions
from unskew.models import Model
from unskew.ranking.scorers import FactorScorer

N_USERS, N_ITEMS, OBSERVED, WIDTH = 1411, 3327, 0.41, 12
EPOCHS = 6
WORDS = ["bias", "ips", "dr", "autodebias(frozen=0)", "negs", "negs(hardest=100)"]


def rows(rng, share, name):
    users, items = np.nonzero(rng.random((N_USERS, N_ITEMS)) < share)
    labels = (rng.random(len(users)) < 0.1).astype(float)
    return Interactions.from_arrays(users, items, labels, n_users=N_USERS, n_items=N_ITEMS, name=name)


def seconds_of_an_epoch(model, train, uniform):
    """Seconds between the ends of epochs, without the time before the first."""
    ends = []
    model.train(train, uniform=uniform, say=lambda _: ends.append(time.perf_counter()))
    return float(np.median(np.diff(ends)))


def product(rng):
    """Seconds of the plain product, with columns for factors and biases."""
    users, items = (rng.standard_normal((n, WIDTH)).astype(np.float32) for n in (N_USERS, N_ITEMS))
    scorer = FactorScorer(users, items)
    everybody = np.arange(N_USERS)
    seconds = []
    for _ in range(20):
        start = time.perf_counter()
        scorer.score(everybody)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def bench_debiased():
    rng = np.random.default_rng(0)
    train, uniform = rows(rng, OBSERVED, "train"), rows(rng, 0.001, "uniform")
    floor = product(rng)
    print(f"Debiased models: {len(train):,} labelled rows of {N_USERS:,} x {N_ITEMS:,}, one thread")
    print(f"  floor (product of {WIDTH} factors)            {floor * 1e3:8.1f} ms")
    for word in WORDS:
        for backbone in ("mf", "lightgcn"):
            options = f"epochs={EPOCHS}, backbone={backbone}"
            text = f"{word[:-1]}, {options})" if word.endswith(")") else f"{word}({options})"
            seconds = seconds_of_an_epoch(Model.from_word(text), train, uniform)
            print(
                f"  {word:<22}{backbone:<10} an epoch {seconds * 1e3:8.1f} ms   {seconds / floor:6.1f} x floor",
                flush=True,
            )
