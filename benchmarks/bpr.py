"""Triplets per second of BPR: ours, that of `implicit`, and a step of torch, on the same rows in one run."""

import os
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from unskew.data import Interactions, split_fractions
from unskew.data.sources import SOURCES
from unskew.models import Bpr
from unskew.models.model import Observed
from unskew.models.training.batches import Positives
from unskew.models.training.gradient_run import Descent
from unskew.ranking.engines.threads import usable_cores

BATCH, FACTORS, ROUNDS = 8000, 50, 5
STEPS, TORCH_STEPS, EPOCHS = 50, 5, 5
RATE, PENALTY = 0.001, 0.01


def training_rows():
    """70 % of citeulike-a, or random rows of its shape."""
    folder = Path(os.environ.get("UNSKEW_DATA", ""), "citeulike-a")
    if folder.is_dir():
        log = SOURCES["citeulike-a"].read(folder)
        return "citeulike-a", split_fractions(log, (0.7, 0.15, 0.15), rng=0).train
    rng = np.random.default_rng(0)
    shares = np.arange(1, 16_981) ** -0.7
    items = rng.choice(16_980, 170_000, p=shares / shares.sum())
    log = Interactions.from_arrays(rng.integers(5551, size=len(items)), items)
    return "random rows of the shape of citeulike-a", log


def ours(observed, threads):
    """Return a job of this many triplets."""
    model = Bpr(factors=FACTORS, batch=BATCH, iterations=10**9, every=STEPS, regularisation=PENALTY)
    run = Descent(model, observed, Positives.of(observed, "benchmark"), 0, threads)
    return lambda: run.advance(lambda *_: None), STEPS * BATCH


def implicit(observed, threads):
    from implicit.cpu.bpr import BayesianPersonalizedRanking

    rows = sparse.csr_matrix(observed.matrix)

    def job():
        model = BayesianPersonalizedRanking(
            factors=FACTORS, learning_rate=0.01, iterations=EPOCHS, num_threads=threads, random_state=0
        )
        model.fit(rows, show_progress=False)

    return job, EPOCHS * rows.nnz


def torch(observed, threads):
    """Autograd and dense Adam: looked-up rows, their penalty, and the same number of samples."""
    import torch

    torch.set_num_threads(threads)
    n_users, n_items = observed.matrix.shape
    shapes = (n_users, FACTORS), (n_items, FACTORS), (n_items, 1)
    P, Q, b = (torch.nn.Parameter(0.01 * torch.randn(shape)) for shape in shapes)
    adam = torch.optim.Adam([P, Q, b], lr=RATE)
    rng = np.random.default_rng(0)
    rows = observed.matrix.tocoo()

    def job():
        for _ in range(TORCH_STEPS):
            picked = rng.integers(rows.nnz, size=BATCH)
            u, i = (torch.from_numpy(axis[picked].astype(np.int64)) for axis in (rows.row, rows.col))
            j = torch.from_numpy(rng.integers(n_items, size=BATCH))
            looked_up = P[u], Q[i], Q[j], b[i], b[j]
            p, qi, qj, bi, bj = looked_up
            gap = (p * (qi - qj)).sum(dim=1) + (bi - bj)[:, 0]
            loss = -torch.nn.functional.logsigmoid(gap.clamp(min=-30)).sum()
            loss = loss + PENALTY / 2 * sum((each**2).sum() for each in looked_up)
            adam.zero_grad()
            loss.backward()
            adam.step()

    return job, TORCH_STEPS * BATCH


def rate(job, triplets):
    """Triplets per second."""
    start = time.perf_counter()
    job()
    return triplets / (time.perf_counter() - start)


def make_jobs(observed, cores):
    """Jobs by name and number of threads, without packages that are not installed."""
    jobs = {}
    several = sorted({1, cores})
    for name, make, threads in (("ours", ours, several), ("implicit", implicit, several), ("torch", torch, [cores])):
        try:
            jobs |= {(name, number): make(observed, number) for number in threads}
        except ImportError:
            print(f"  {name} is not installed: left out")
    return jobs


def bench_bpr():
    name, train = training_rows()
    observed = Observed.of(train)
    n_users, n_items = observed.matrix.shape
    print(f"BPR: {len(train):,} rows of {n_users:,} x {n_items:,} ({name}), d={FACTORS}, batches of {BATCH:,}")
    jobs = make_jobs(observed, usable_cores())
    for job, _ in jobs.values():
        job()  # compiles, warms up
    rates = np.array([[rate(*job) for job in jobs.values()] for _ in range(ROUNDS)])
    medians, ratios = np.median(rates, axis=0), np.median(rates / rates[:, :1], axis=0)
    for (word, threads), median, ratio in zip(jobs, medians, ratios, strict=True):
        print(
            f"  {word:<9}{threads} threads  {median / 1e6:6.2f} million triplets per second  {ratio:5.2f} x ours on 1"
        )
    print(
        "  ours and torch sum the gradient of a batch, then take a dense Adam step on all rows; implicit takes a plain"
    )
    print("  SGD step for each triplet, with no Adam and no sum, and its threads write to the same rows", flush=True)
