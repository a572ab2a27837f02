"""Steps per second of MF-ADG and MF-AUC: ours, LightFM's WARP, and the same steps in plain NumPy, in one run."""

import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from unskew.data import Interactions
from unskew.data.sources.movielens_1m import read_ratings
from unskew.data.splitters import split_per_user
from unskew.models import MfAdg, MfAuc
from unskew.models.model import Observed

FACTORS, ROUNDS = 50, 5
STEPS, LOOPED, EPOCHS = 1_000_000, 2000, 5


def training_rows():
    """70 % of the liked films of half of MovieLens 1M, or random rows of that shape."""
    folder = Path(os.environ.get("UNSKEW_DATA", ""), "ml-1m")
    if folder.is_dir():
        log = read_ratings(folder)
        log = log.take((log.values >= 4) & (log.user_vocabulary.ids[log.users] <= 2999))
        return "half of ml-1m", split_per_user(log, 0.2, validation=0.1, least=5, rng=0).train
    rng = np.random.default_rng(0)
    shares = np.arange(1, 3501) ** -0.8
    items = rng.choice(3500, 260_000, p=shares / shares.sum())
    log = Interactions.from_arrays(rng.integers(2999, size=len(items)), items)
    return "random rows of the shape of half of ml-1m", log


def ours(model, train):
    """A job of a million steps from the start."""
    observed = Observed.of(train)
    return lambda: model.start(observed, train, 0, 1).advance(lambda *_: None), STEPS


def looped(model, train):
    """The same steps in straightforward NumPy."""
    observed = Observed.of(train)
    n_users, n_items = observed.matrix.shape
    rng = np.random.default_rng(0)
    users, items = (rng.normal(0, 0.1, (n, FACTORS)).astype(np.float32) for n in (n_users, n_items))
    bias, costs = np.zeros(n_items, dtype=np.float32), model.costs(n_items)
    starts, members = observed.matrix.indptr, observed.matrix.indices
    rate, penalty = model.learning_rate, model.regularisation

    def job():
        for _ in range(LOOPED):
            u = rng.integers(n_users)
            positives = members[starts[u] : starts[u + 1]]
            i = positives[rng.integers(len(positives))]
            score = users[u] @ items[i] + bias[i]
            for cost in costs:
                v = rng.integers(n_items)
                if v == i or score - users[u] @ items[v] - bias[v] >= 1:
                    continue
                x, y, z = users[u].copy(), items[i].copy(), items[v].copy()
                users[u] += rate * (cost * (y - z) - penalty * x)
                items[i] += rate * (cost * x - penalty * y)
                items[v] += rate * (-cost * x - penalty * z)
                bias[i] += rate * cost
                bias[v] -= rate * cost
                break

    return job, LOOPED


def warp(_, train):
    """LightFM's WARP with identity features: a step for every row of the log, from the start."""
    from lightfm import LightFM

    matrix = Observed.of(train).matrix.tocoo()
    places = matrix.row.astype(np.int32), matrix.col.astype(np.int32)  # LightFM takes no other type
    rows = sparse.coo_matrix((matrix.data, places), shape=matrix.shape)

    def job():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            LightFM(no_components=FACTORS, loss="warp", random_state=0).fit(rows, epochs=EPOCHS, num_threads=1)

    return job, EPOCHS * rows.nnz


def rate(job, steps):
    """Steps per second."""
    start = time.perf_counter()
    job()
    return steps / (time.perf_counter() - start)


def bench_pairwise():
    name, train = training_rows()
    n_users, n_items = Observed.of(train).matrix.shape
    print(f"MF-ADG: {len(train):,} rows of {n_users:,} x {n_items:,} ({name}), d={FACTORS}, one thread")
    settings = {"iterations": STEPS, "every": STEPS, "factors": FACTORS}
    adg, auc = MfAdg(**settings), MfAuc(**settings)
    kinds = (("mf-adg", ours, adg), ("mf-auc", ours, auc), ("LightFM", warp, adg), ("NumPy", looped, adg))
    jobs = {}
    for word, make, model in kinds:
        try:
            jobs[word] = make(model, train)
        except ImportError:
            print(f"  {word} is not installed: left out")
    for job, _ in jobs.values():
        job()  # compiles, warms up
    rates = np.array([[rate(*job) for job in jobs.values()] for _ in range(ROUNDS)])
    medians, ratios = np.median(rates, axis=0), np.median(rates / rates[:, :1], axis=0)
    for word, median, ratio in zip(jobs, medians, ratios, strict=True):
        print(f"  {word:<9}{median / 1e6:8.3f} million steps per second  {ratio:6.3f} x mf-adg")
    print(f"  a million steps of mf-adg take {1e6 / medians[0]:.2f} s")
    print(
        "  LightFM's WARP draws up to 10 items per step, ours up to a hundredth of the catalogue; a step that finds no"
    )
    print("  violator counts as one in both", flush=True)
