"""`next_point`: the next point to try, from a small Gaussian process fitted to the points tried."""

# mypy: disable-error-code="untyped-decorator"

import math

import numpy as np

from unskew.arrays import Floats
from unskew.compiling import njit

CANDIDATES = 1000
_ANYWHERE = 0.5  # share of the candidates that are uniform; the others are near one of the best
_BEST = 5
_MOVED = 0.6  # chance of each coordinate to move
_STEPS = (0.01, 0.3)  # smallest and largest standard deviation of a move
_FACTORS = (4.0, 2.0, 1.4)  # by which rates and noise are changed, coarse ones first
_LEAST, _MOST, _SWEEPS = 1e-4, 1e3, 8


def next_point(points: Floats, values: Floats, rng: np.random.Generator) -> Floats:
    r"""Choose the candidate with the largest expected improvement on the best, smallest, value.

    Points are in the unit cube, one row each. Values are cut off at the distance above their median that the best is
    below it, so that a world which could not be drawn does not flatten all others. They are modelled by a Gaussian
    process with covariance

    .. math:: s^2 \Bigl(1 + \sqrt 5 h + \frac{5}{3} h^2\Bigr) e^{-\sqrt 5 h},
        \quad h^2 = \sum_j \theta_j (x_j - x'_j)^2,

    and noise. The rates :math:`\theta_j` and the noise are the most likely on a grid, under the prior of optuna's
    sampler; the scale s is that of greatest likelihood.

    The choice is one of a fixed set of candidates, with rates from a grid. All sums are in a fixed order, without BLAS.
    So a difference in the last bit, as between processors, changes a choice only if two candidates tie up to that bit.

    With the same 40 evaluations from the same starts, it fits ml-100k, lastfm-hetrec2011 and a sample of ml-1m as well
    as optuna's sampler does, within the spread between seeds (``benchmarks/calibration.py``). Its settings were
    chosen on simulated logs.
    """
    middle = np.median(values)
    scores = np.minimum(values - middle, middle - values.min())
    scores -= scores.mean()
    candidates = _candidates(points[np.argsort(values, kind="stable")[:_BEST]], rng)
    return np.asarray(candidates[int(np.argmax(log_improvements(points, scores, fit(points, scores), candidates)))])


def _candidates(best: Floats, rng: np.random.Generator) -> Floats:
    """Random candidates: some anywhere, the others near one of the best points, with some coordinates unchanged."""
    count, width = CANDIDATES, best.shape[1]
    smallest, largest = _STEPS
    step = smallest * (largest / smallest) ** rng.random((count, 1))
    moved = rng.random((count, width)) < _MOVED
    points = best[rng.integers(0, len(best), count)] + moved * step * rng.standard_normal((count, width))
    anywhere = int(_ANYWHERE * count)
    points[:anywhere] = rng.random((anywhere, width))
    reflected = 1 - np.abs(1 - np.abs(points))  # at the walls, so that corners are reached
    return np.asarray(np.clip(reflected, 0.0, np.nextafter(1.0, 0.0)))


@njit(nogil=True, cache=True)
def covariance(a: Floats, b: Floats, rates: Floats) -> float:
    """Matérn covariance (5/2) of two points, 1 for a point with itself."""
    square = 0.0
    for k in range(len(a)):
        square += rates[k] * (a[k] - b[k]) ** 2
    root = math.sqrt(5 * square)
    return (1 + root + 5 * square / 3) * math.exp(-root)


@njit(nogil=True, cache=True)
def factor(points: Floats, at: Floats) -> Floats:
    """Lower Cholesky factor of the covariance of noisy values; `at` holds the rates, and last the noise."""
    n = len(points)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            left = covariance(points[i], points[j], at[:-1]) + (at[-1] if i == j else 0.0)
            for k in range(j):
                left -= lower[i, k] * lower[j, k]
            lower[i, j] = math.sqrt(left) if i == j else left / lower[j, j]
    return lower


@njit(nogil=True, cache=True)
def solve(lower: Floats, right: Floats) -> Floats:
    """The solution of a triangular system."""
    solution = np.empty(len(right))
    for i in range(len(right)):
        left = right[i]
        for k in range(i):
            left -= lower[i, k] * solution[k]
        solution[i] = left / lower[i, i]
    return solution


@njit(nogil=True, cache=True)
def evidence(points: Floats, scores: Floats, at: Floats) -> float:
    """Log likelihood at the best scale plus log prior, up to a constant."""
    lower = factor(points, at)
    square, total = 1e-9, 0.1 * math.log(at[-1]) - 30 * at[-1]
    for rate in at[:-1]:
        total -= 0.1 * (rate + 1 / rate)
    for k, each in enumerate(solve(lower, scores)):
        square += each * each
        total -= math.log(lower[k, k])
    return float(total - 0.5 * len(scores) * math.log(square))


@njit(nogil=True, cache=True)
def fit(points: Floats, scores: Floats) -> Floats:
    """Rates and noise, each multiplied or divided by a factor as long as that makes them more likely."""
    at = np.ones(points.shape[1] + 1)
    at[-1] = 0.01
    best = evidence(points, scores, at)
    for by in _FACTORS:
        for _ in range(_SWEEPS):
            before = best
            for k in range(len(at)):
                for new in (at[k] * by, at[k] / by):
                    old, at[k] = at[k], min(max(new, _LEAST), _MOST)
                    value = evidence(points, scores, at)
                    if value > best:
                        best = value
                        break
                    at[k] = old
            if best == before:
                break
    return at


@njit(nogil=True, cache=True)
def log_improvements(points: Floats, scores: Floats, at: Floats, candidates: Floats) -> Floats:
    """Logarithm of the expected improvement of each candidate on the smallest score."""
    n, lower = len(points), factor(points, at)
    white = solve(lower, scores)
    scale, least = 1e-12, scores.min()
    for each in white:
        scale += each * each / n
    improvement, covariances = np.empty(len(candidates)), np.empty(n)
    for c in range(len(candidates)):
        for k in range(n):
            covariances[k] = covariance(candidates[c], points[k], at[:-1])
        mean, left = 0.0, 1.0
        for each, known in zip(solve(lower, covariances), white):  # noqa: B905
            mean += each * known
            left -= each * each
        spread = math.sqrt(scale * max(left, 1e-10))
        z = (least - mean) / spread
        if z < -5:  # to leading order, where the difference below would lose its digits
            improvement[c] = math.log(spread) - 0.5 * z * z - 0.5 * math.log(2 * math.pi) - 2 * math.log(-z)
        else:
            density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
            improvement[c] = math.log(spread * (density + 0.5 * z * math.erfc(-z / math.sqrt(2))))
    return improvement
