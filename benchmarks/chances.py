"""How good P is, compared with the sum over all orders of a draw and with frequencies in worlds drawn again."""

from dataclasses import replace

import numpy as np

from unskew.data import test_propensity
from unskew.simulators import Ibp, Lda
from unskew.simulators.observation_kernel import solve_chances

HELD = 0.2
SMALL = {
    "1, 2, 4, 9": np.array([1.0, 2, 4, 9]),
    "8 from 1 to 10, evenly": np.linspace(1, 10, 8),
    "12 from 1 to 5, evenly": np.linspace(1, 5, 12),
    "12 from 1 to 100, by ratio": np.geomspace(1, 100, 12),
}
SIZES = "pareto(scale=20, shape=0.51, upper=737)"
TOPICS = Lda(users=943, items=1500, topics=20, likes=300, alpha=0.2, beta=0.1, sizes=SIZES, graded=True)
WORLDS = {
    "ibp, popular": (Ibp(users=943, alpha=200, c=4, sigma=0.1, sizes=SIZES), 60),
    "lda, popular": (TOPICS, 60),
    "lda, preferred": (replace(TOPICS, observe="preferred"), 60),
    "ibp, few likes": (Ibp(users=943, alpha=14, c=1, sigma=0.3, sizes="pareto(scale=3, shape=1, upper=20)"), 600),
}
PARTS = 10


def inclusions(weights):
    """Probability of each item to be among the first n drawn, for every n, summed over all orders."""
    size = len(weights)
    chance = np.zeros(2**size)
    chance[0] = 1
    total = np.zeros((size + 1, size))
    for drawn in range(2**size):
        members = [k for k in range(size) if drawn >> k & 1]
        total[len(members), members] += chance[drawn]
        rest = [k for k in range(size) if not drawn >> k & 1]
        for k in rest:
            chance[drawn | 1 << k] += chance[drawn] * weights[k] / weights[rest].sum()
    return total


def small_errors(weights):
    """Relative errors of P, for every item and every n below the number of items."""
    size = len(weights)
    exact = inclusions(weights)
    errors = []
    for n in range(1, size):
        ours = np.zeros(size)
        solve_chances(np.array([0, size]), weights, np.array([n]), np.array([HELD]), ours)
        errors.append(np.abs(ours / test_propensity(exact[n], 1 - HELD, HELD) - 1))
    return np.array(errors)


def redrawn(model, times, seed=0):
    """Test rows over the sum of P, and 1/P over the rows they represent, by draw and part; and likes per user."""
    rng = np.random.default_rng(seed)
    likes = model.draw(rng).likes
    order = np.argsort(likes.popularity, kind="stable")
    reached = np.cumsum(likes.popularity[order])
    part = np.empty(likes.n_items, dtype=int)  # by popularity, with about the same number of likes in each
    part[order] = np.minimum((reached - likes.popularity[order] / 2) * PARTS // reached[-1], PARTS - 1)
    sums = np.zeros((4, times, PARTS))
    for k in range(times):
        world = model.observe_again(likes, rng)
        chances = world.chances
        ours = part[world.test.items]
        sums[0, k] = np.bincount(ours, minlength=PARTS)
        sums[1, k] = np.bincount(part[world.items], chances, minlength=PARTS)
        sums[2, k] = np.bincount(ours, 1 / world.test.propensity, minlength=PARTS)
        sums[3, k] = np.bincount(part[world.items[chances > 0]], minlength=PARTS)
    return sums, len(likes) / likes.n_users


def bench_chances():
    """The tables of the guide to simulated worlds."""
    print(f"P of small draws, {HELD:.0%} held out: relative errors over all items and numbers of rows")
    for name, weights in SMALL.items():
        errors = small_errors(weights)
        print(f"  weights {name:28} mean {errors.mean():6.1%}   largest {errors.max():6.1%}")
    print("Rows in the test over the sum of P, in tenths by popularity; sum of 1/P over rows, in the rarest tenth")
    for name, (model, times) in WORLDS.items():
        (test, expected, weights, rows), likes = redrawn(model, times)
        ratios = test.sum(axis=0) / expected.sum(axis=0)
        noise = (test - expected * ratios).std(axis=0, ddof=1) * np.sqrt(times) / expected.sum(axis=0)
        rare = weights[:, 0].sum() / rows[:, 0].sum()
        print(
            f"  {name:16} {likes:4.0f} likes per user, {times} draws: {ratios.min():.3f} to {ratios.max():.3f}, "
            f"noise {noise.max():.3f}; rarest {rare:.2f}",
            flush=True,
        )
