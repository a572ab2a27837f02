"""The rating factorisation, compared with the same objective and gradient in plain NumPy and SciPy."""

import time

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from unskew.models import Rated
from unskew.models.ratings.mf_fit import CORRECTIONS, STEPS, TOLERANCE, Objective, fit_mf, packed, start_mf

USERS, ITEMS, ROWS, FACTORS = 943, 1682, 79_000, 20
PENALTIES = (0.008, 1.0, 25.0)


def simulated(seed=0):
    """Simulated ratings from five tastes and noise; popular items are observed more often."""
    rng = np.random.default_rng(seed)
    truth = 3 + rng.normal(size=(USERS, 5)) @ rng.normal(size=(5, ITEMS)) / 2 + rng.normal(size=(USERS, ITEMS)) / 2
    ratings = np.clip(np.round(truth), 1, 5)
    keys = rng.standard_exponential((USERS, ITEMS)) * np.arange(1, ITEMS + 1) ** 0.5 / 1.5**ratings
    users, items = np.divmod(np.sort(np.argpartition(keys.ravel(), ROWS)[:ROWS]), ITEMS)
    return Rated.unweighted(users, items, ratings[users, items], USERS, ITEMS)


class PlainObjective:
    """The objective with one gather of both factors and a sparse matrix of slopes, whose pattern is computed once."""

    def __init__(self, objective):
        self.rated, self.d = objective.rated, objective.factors
        self.scale, self.offset_scale = objective.scales
        shape = (self.rated.n_users, self.rated.n_items)
        self.slopes = sparse.csr_array((self.rated.weights.copy(), self.rated.items, self.rated.starts), shape=shape)

    def __call__(self, point):
        rated, d = self.rated, self.d
        U, I = rated.n_users, rated.n_items  # noqa: E741
        V, W = point[: U * d].reshape(U, d), point[U * d : (U + I) * d].reshape(I, d)
        a, b = point[-U - I - 1 : -I - 1], point[-I - 1 : -1]
        predicted = np.einsum("kd,kd->k", V[rated.users], W[rated.items])
        errors = predicted + a[rated.users] + b[rated.items] + point[-1] - rated.values
        weighted = rated.weights * errors
        slopes = np.multiply(2, weighted, out=self.slopes.data)
        gradient = np.empty_like(point)
        gradient[: U * d] = (self.slopes @ W + 2 * self.scale * V).ravel()
        gradient[U * d : (U + I) * d] = (self.slopes.T @ V + 2 * self.scale * W).ravel()
        gradient[-U - I - 1 : -I - 1] = np.bincount(rated.users, slopes, U) + 2 * self.offset_scale * a
        gradient[-I - 1 : -1] = np.bincount(rated.items, slopes, I) + 2 * self.offset_scale * b
        gradient[-1] = slopes.sum()
        factors, offsets = point[: (U + I) * d], point[(U + I) * d : -1]
        penalty = self.scale * (factors @ factors) + self.offset_scale * (offsets @ offsets)
        return float(weighted @ errors) + penalty, gradient


def seconds_of(job, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        job()
    return (time.perf_counter() - start) / repeats


def bench_mf():
    rated = simulated()
    start = packed(start_mf(rated, FACTORS))
    ours = Objective(rated, FACTORS, 1.0, offsets="free")
    plain = PlainObjective(ours)
    (value, slope), (expected, expected_slope) = ours(start), plain(start)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(slope, expected_slope, rtol=1e-9, atol=1e-6)
    rounds = [[seconds_of(lambda f=f: f(start), 10) for f in (ours, plain)] for _ in range(11)]
    ours, plain = np.median(rounds, axis=0)
    print(f"MF: {len(rated):,} ratings of {USERS} x {ITEMS}, d={FACTORS}, free offsets")
    print(f"  loss and gradient  {1e3 * ours:6.2f} ms, NumPy {1e3 * plain:6.2f} ms: {plain / ours:.1f} times as fast")
    for penalty in PENALTIES:
        objective = Objective(rated, FACTORS, penalty, offsets="free")
        begun = time.perf_counter()
        fit = fit_mf(rated, FACTORS, penalty, offsets="free")
        ours = time.perf_counter() - begun
        begun = time.perf_counter()
        options = {"maxiter": STEPS, "maxcor": CORRECTIONS, "gtol": TOLERANCE, "ftol": TOLERANCE}
        first = packed(start_mf(rated, FACTORS))
        other = minimize(PlainObjective(objective), first, jac=True, method="L-BFGS-B", options=options)
        plain = time.perf_counter() - begun
        print(
            f"  fit, penalty {penalty:<6g}{ours:6.2f} s ({fit.evaluations} evaluations), "
            f"NumPy {plain:6.2f} s ({other.nfev}): {plain / ours:.1f} times as fast, "
            f"{plain / other.nfev / (ours / fit.evaluations):.1f} per evaluation; objectives "
            f"{fit.objective:.5g} and {other.fun:.5g}",
            flush=True,
        )
