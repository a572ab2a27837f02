"""The bound of the ordinal factorisations of `hl_fit` and its gradient, compiled; arrays in, arrays out."""

import math

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.compiling import njit

# sums may be reordered, so that the loops over factors use the vector unit
REORDER = {"reassoc", "nsz", "contract"}
_ROOT2 = math.sqrt(2.0)
_ROOT_2PI = math.sqrt(2.0 * math.pi)
_LEAST = 1e-300  # so that the logarithm of a chance that underflows is finite


@njit(cache=True, nogil=True, fastmath=REORDER)
def _between(low: float, high: float) -> float:
    """The chance of a standard normal number between two bounds, exact in both tails."""
    if low > 0:
        return 0.5 * (math.erfc(low / _ROOT2) - math.erfc(high / _ROOT2))
    return 0.5 * (math.erfc(-high / _ROOT2) - math.erfc(-low / _ROOT2))


@njit(cache=True, nogil=True, fastmath=REORDER)
def _density(x: float) -> float:
    return math.exp(-0.5 * x * x) / _ROOT_2PI


@njit(cache=True, nogil=True, fastmath=REORDER)
def _moments(user: Floats, user_spread: Floats, item: Floats, item_spread: Floats, factors: int) -> tuple[float, float]:
    """Mean and variance of a product of factors plus both offsets, which follow the factors."""
    mean, variance = user[factors] + item[factors], user_spread[factors] + item_spread[factors]
    for k in range(factors):
        mean += user[k] * item[k]
        variance += user[k] * user[k] * item_spread[k] + user_spread[k] * (item[k] * item[k] + item_spread[k])
    return mean, variance


@njit(cache=True, nogil=True, fastmath=REORDER)
def _pass_back(
    slope: float,
    spread_slope: float,
    means: tuple[Floats, Floats],
    spreads: tuple[Floats, Floats],
    mean_slopes: tuple[Floats, Floats],
    spread_slopes: tuple[Floats, Floats],
    factors: int,
) -> None:
    """Add what a slope of the mean and one of the variance of a product are for its factors and offsets."""
    for side in range(2):
        mean_slopes[side][factors] += slope
        spread_slopes[side][factors] += spread_slope
        here, there = means[side], means[1 - side]
        for k in range(factors):
            other = spreads[1 - side][k]
            mean_slopes[side][k] += slope * there[k] + 2 * spread_slope * here[k] * other
            spread_slopes[side][k] += spread_slope * (there[k] * there[k] + other)


@njit(cache=True, nogil=True, fastmath=REORDER)
def _rated(
    score: float,
    root: float,
    level: int,
    weight: float,
    thresholds: Floats,
    threshold_slopes: Floats,
    nodes: Floats,
    node_weights: Floats,
) -> tuple[float, float, float]:
    """The expected log chance of an observed level, and its slopes in the mean and the variance of the score."""
    last = len(thresholds)
    term, slope, spread_slope = 0.0, 0.0, 0.0
    for q in range(len(nodes)):
        centre, share = score + root * nodes[q], node_weights[q]
        low = -math.inf if level == 0 else thresholds[level - 1] - centre
        high = math.inf if level == last else thresholds[level] - centre
        mass = max(_between(low, high), _LEAST)
        below, above = _density(low) / mass, _density(high) / mass
        term += share * math.log(mass)
        if level > 0:
            threshold_slopes[level - 1] -= weight * share * below
        if level < last:
            threshold_slopes[level] += weight * share * above
        slope += share * (below - above)
        spread_slope += share * (below - above) * nodes[q] / (2 * root)
    return term, slope, spread_slope


@njit(cache=True, nogil=True, fastmath=REORDER)
def _missing(
    score: float,
    root: float,
    weight: float,
    thresholds: Floats,
    threshold_slopes: Floats,
    chance: Floats,
    share: Floats,
    piece: Floats,
) -> tuple[float, float, float]:
    """The same for a missing rating: of the mixture of levels, each with the chance that it is not observed.

    The shares of the levels are added to `share`. The logarithm of such a mixture is almost straight, so a rule with
    two points is enough.
    """
    last = len(thresholds)
    term, slope, spread_slope = 0.0, 0.0, 0.0
    for node in (-1.0, 1.0):
        centre = score + root * node
        mass, below, step = 0.0, 0.0, 0.0
        for k in range(last + 1):
            above = 1.0 if k == last else 0.5 * math.erfc((centre - thresholds[k]) / _ROOT2)
            piece[k] = (above - below) * chance[k]
            mass += piece[k]
            below = above
        for k in range(last):
            part = _density(thresholds[k] - centre) * (chance[k] - chance[k + 1]) / mass
            threshold_slopes[k] += 0.5 * weight * part
            step -= part
        for k in range(last + 1):
            share[k] += 0.5 * piece[k] / mass
        term += 0.5 * math.log(mass)
        slope += 0.5 * step
        spread_slope += 0.25 * step * node / root
    return term, slope, spread_slope


@njit(cache=True, nogil=True, fastmath=REORDER)
def _habits_of(
    user: Floats, user_spread: Floats, item: Floats, item_spread: Floats, factors: int, effects: Floats, out: Floats
) -> None:
    """Write for each level: the log-odds, the curvature of their bound, and log chances to be observed and not."""
    base, base_variance = _moments(user, user_spread, item, item_spread, factors)
    for k in range(len(effects)):
        at = factors + 1 + k
        logit = base + effects[k] + user[at] + item[at]
        size = math.sqrt(logit * logit + base_variance + user_spread[at] + item_spread[at])
        small = math.exp(-size)
        tangent = 0.5 * size + math.log1p(small)
        out[0, k] = logit
        out[1, k] = (1 - small) / (1 + small) / (4 * size) if size > 1e-6 else 0.125
        out[2, k] = 0.5 * logit - tangent
        out[3, k] = -0.5 * logit - tangent


@njit(cache=True, nogil=True, fastmath=REORDER)
def bound_and_slopes(
    users: Ints,
    items: Ints,
    levels: Ints,
    weights: Floats,
    factors: int,
    thresholds: Floats,
    effects: Floats,
    tastes: tuple[Floats, Floats, Floats, Floats],
    habits: tuple[Floats, Floats, Floats, Floats],
    taste_slopes: tuple[Floats, Floats, Floats, Floats],
    habit_slopes: tuple[Floats, Floats, Floats, Floats],
    threshold_slopes: Floats,
    effect_slopes: Floats,
    nodes: Floats,
    node_weights: Floats,
) -> float:
    """The sum over pairs of the bound on the log-likelihood, with slopes added to the arrays for them.

    A pair whose rating is missing has level -1. The blocks have means and variances of users, then of items; a row
    holds factors and an offset, and in habits the effect of each level. Without effects only ratings are modelled.
    """
    selective = len(effects) > 0
    n_levels = len(thresholds) + 1
    logs = np.zeros((4, n_levels))
    chance, share, piece = np.zeros(n_levels), np.zeros(n_levels), np.zeros(n_levels)
    total = 0.0
    for row in range(len(users)):
        u, i, level, weight = users[row], items[row], levels[row], weights[row]
        means, spreads = (tastes[0][u], tastes[2][i]), (tastes[1][u], tastes[3][i])
        score, variance = _moments(means[0], spreads[0], means[1], spreads[1], factors)
        root = math.sqrt(variance)
        share[:] = 0.0
        if selective:
            _habits_of(habits[0][u], habits[1][u], habits[2][i], habits[3][i], factors, effects, logs)
        if level >= 0:
            term, slope, spread_slope = _rated(
                score, root, level, weight, thresholds, threshold_slopes, nodes, node_weights
            )
            share[level] = 1.0
            total += weight * (term + logs[2, level])
        else:
            chance[:] = np.exp(logs[3])
            term, slope, spread_slope = _missing(
                score, root, weight, thresholds, threshold_slopes, chance, share, piece
            )
            total += weight * term
        _pass_back(
            weight * slope,
            weight * spread_slope,
            means,
            spreads,
            (taste_slopes[0][u], taste_slopes[2][i]),
            (taste_slopes[1][u], taste_slopes[3][i]),
            factors,
        )
        if not selective:
            continue
        slope, spread_slope = 0.0, 0.0
        half = 0.5 if level >= 0 else -0.5
        for k in range(n_levels):
            at = factors + 1 + k
            of_logit = weight * share[k] * (half - 2 * logs[1, k] * logs[0, k])
            of_variance = -weight * share[k] * logs[1, k]
            effect_slopes[k] += of_logit
            habit_slopes[0][u, at] += of_logit
            habit_slopes[2][i, at] += of_logit
            habit_slopes[1][u, at] += of_variance
            habit_slopes[3][i, at] += of_variance
            slope += of_logit
            spread_slope += of_variance
        _pass_back(
            slope,
            spread_slope,
            (habits[0][u], habits[2][i]),
            (habits[1][u], habits[3][i]),
            (habit_slopes[0][u], habit_slopes[2][i]),
            (habit_slopes[1][u], habit_slopes[3][i]),
            factors,
        )
    return total
