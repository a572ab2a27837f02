"""Variance reduction, using the ranks of the whole population, which are known for each model."""

import numpy as np

from unskew.arrays import Floats, Ints, dot
from unskew.errors import DataError
from unskew.estimators.estimate import Terms
from unskew.estimators.exposed.draw_error import with_draw_errors
from unskew.estimators.rows import Places, Rows

ROUNDING = 1e-9
PRIOR_ROWS = 10  # of the prior, a model that ranks at random, which matters if few rows determine the slope
STEP = 1.6  # how much wider a stratum of ranks is than the one above it


def control(terms: Terms, rows: Rows) -> Terms:
    r"""The terms minus the deviation of the sample's gains, positive or not, from their known expectation.

    The sum of gains over all of a user's candidates is known, :math:`G_u`, so
    :math:`c_u = \frac{L}{l}\sum_{exposed} g - G_u` has mean 0 whatever the labels, and

    .. math:: \frac{\sum_u a_u - \beta c_u}{\sum_u b_u}, \qquad
              \beta = \frac{\sum_u (a_u - \hat v b_u) c_u + \omega \beta_0}{\sum_u c_u^2 + \omega}

    has the same target. For recall@K it corrects the number of sampled items in the top K to its expectation. Few
    sampled items are there if K is small, so the slope is shrunk towards :math:`\beta_0`, its value if positives were
    equally common at all ranks; :math:`\omega` is worth ten rows.
    """
    among = np.array([rows.population.max(initial=0)])
    known = _places(rows).up_to(among)[:, 0]
    off = rows.scale * rows.sums(rows.worth) - known
    off[np.abs(off) <= ROUNDING * np.abs(known)] = 0.0  # all exposed: only rounding errors
    size = dot(off, off)
    if size == 0 or terms.value is None:
        return terms
    prior, worth_of_prior = _prior_slope(terms, rows)
    slope = dot(terms.numerator - terms.value * terms.denominator, off) + worth_of_prior * prior
    slope /= size + worth_of_prior
    weight = rows.scale[rows.user]
    reduced = Terms(terms.numerator - slope * off, terms.denominator)
    above = weight * (rows.labels - slope) * rows.worth
    return with_draw_errors(reduced, above, rows_below(terms, rows), rows)


def _prior_slope(terms: Terms, rows: Rows) -> tuple[float, float]:
    """The slope if labels do not depend on ranks, and its weight compared with the sum of squares."""
    weight = rows.scale[rows.user]
    squares = (weight * rows.worth) ** 2
    total = float(squares.sum())
    if total == 0:  # no row of the sample gains anything
        return 0.0, 0.0
    share = dot(rows.scale, rows.positives) / dot(rows.scale, rows.counts)
    if counts_positives(terms, rows):
        assert terms.value is not None
        share *= 1 - terms.value * dot(weight**2, rows.worth) / total
    as_many = total**2 / dot(squares, squares)  # rows of equal gain determine the slope equally well
    return share, PRIOR_ROWS / as_many * total


def fall(terms: Terms, rows: Rows) -> Terms:
    r"""The terms with a share of positives that falls with the rank.

    Ranks are cut into strata that widen by 1.6, with an edge at the cut-off. In each, the share of positives among the
    exposed rows is an estimate; shares that rise are pooled with their neighbours (isotonic regression). The sum of
    gains is then :math:`\sum_s \hat\lambda_s G_s` with the known sum :math:`G_s` of the gains of all places of a
    stratum, and that of positives :math:`\sum_s \hat\lambda_s N_s`. The error treats the strata as fixed. A denominator
    of `terms` that is not the number of positives is not changed.
    """
    known = _places(rows)
    edges = rank_edges(int(rows.population.max(initial=1)), known.cutoff)
    gains = np.diff(known.up_to(edges), prepend=0.0, axis=1)
    places = np.diff(np.minimum(edges[None], rows.population[:, None]), prepend=0, axis=1).astype(float)
    stratum = np.searchsorted(edges, known.above, side="right").clip(max=len(edges) - 1)
    weight = rows.scale[rows.user]
    shown = _by(stratum, weight, len(edges))
    liked = _by(stratum, weight * rows.labels, len(edges))
    block = falling_blocks(liked, shown)
    blocks = int(block[-1]) + 1
    seen = _by(block, shown, blocks)
    share = _by(block, liked, blocks) / np.maximum(seen, 1e-300)
    row = block[stratum]
    surprise = weight * (rows.labels - share[row])

    def by_row(amounts: Floats) -> Floats:
        """What a row adds to the error of the sum through the shares."""
        factor = _by(block, amounts.sum(axis=0), blocks) / np.maximum(seen, 1e-300)
        return np.asarray(factor[row] * surprise)

    above = by_row(gains)
    numerator = (gains * share[block]).sum(axis=1) + rows.sums(above)
    if not counts_positives(terms, rows):
        return with_draw_errors(Terms(numerator, terms.denominator), above, rows_below(terms, rows), rows)
    below = by_row(places)
    reduced = Terms(numerator, (places * share[block]).sum(axis=1) + rows.sums(below))
    return with_draw_errors(reduced, above, below, rows)


def counts_positives(terms: Terms, rows: Rows) -> bool:
    """Whether the denominator is the number of positives, estimated from each user's sample."""
    return np.array_equal(terms.denominator, rows.scale * rows.positives)


def rows_below(terms: Terms, rows: Rows) -> Floats:
    """What each row adds to a denominator that is not reduced; 0 if it is not a number of positives."""
    if counts_positives(terms, rows):
        return np.asarray(rows.scale[rows.user] * rows.labels)
    return np.zeros(len(rows.user))


def rank_edges(largest: int, cutoff: int | None) -> Ints:
    """Last ranks of the strata, up to that of the largest population."""
    steps = np.rint(STEP ** np.arange(np.ceil(np.log(max(largest, 2)) / np.log(STEP)) + 1)).astype(np.int64)
    cut = [] if cutoff is None else [cutoff]
    edges = np.unique(np.concatenate([steps, np.array([largest, *cut], dtype=np.int64)]))
    return edges[edges <= largest]


def falling_blocks(liked: Floats, shown: Floats) -> Ints:
    """The block of each stratum if shares may only fall (pool adjacent violators)."""
    stack: list[list[float]] = []  # positives, exposed, strata
    for positives, number in zip(liked, shown, strict=True):
        stack.append([float(positives), float(number), 1])
        while len(stack) > 1 and (stack[-1][0] * stack[-2][1] >= stack[-2][0] * stack[-1][1]):
            last = stack.pop()
            stack[-1] = [old + new for old, new in zip(stack[-1], last, strict=True)]
    return np.repeat(np.arange(len(stack)), [int(part[2]) for part in stack])


def _places(rows: Rows) -> Places:
    if rows.places is None:
        raise DataError(
            "to reduce the variance, rows need the places of the model's lists; without them use reduce=none"
        )
    return rows.places


def _by(group: Ints, values: Floats, groups: int) -> Floats:
    return np.asarray(np.bincount(group, weights=values, minlength=groups), dtype=float)
