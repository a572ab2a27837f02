"""What the estimators say in many random draws of the same population, for each model and cut-off."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.correlations import SIZE, Truth
from unskew.studies.wang2024.draws import chances_of, draw_exposed
from unskew.studies.wang2024.rankings import discounts, full_dcg, hits
from unskew.studies.wang2024.strata import FORMS, Draw, Strata

KS = (1, 2, 5, 10, 20, 30, 50, 100, 300, 1000)
"""Cut-offs at which all forms are computed."""
IDEAL = 10
"""The cut-off of NDCG."""
NORMAL = 1.959963984540054
DRAWS, FAST_DRAWS = 200, 8


@dataclass(frozen=True, eq=False)
class Estimates:
    """The numbers of each draw, arrays (draws, models, cut-offs) unless said otherwise.

    Parameters
    ----------
    truth : Truth
    size : int
        N-bar, or l.
    ks : tuple of int
    recall : mapping
        By form.
    precision, dcg : array
        Horvitz-Thompson sums.
    ndcg : array (draws, models)
        The pooled ratio, at `IDEAL`.
    covered : array of bool
        Whether the 95 % delta interval of the pooled ratio holds the truth.
    own : array (models, users, cut-offs)
        Sums over draws of users' own shares, of the draws in which they have a positive.
    times, variance : array (users,)
        How many these are, and the sum over them of (N - n) / (n (N - 1)), by which p (1 - p) is to be multiplied.
    """

    truth: Truth
    size: int
    ks: tuple[int, ...]
    recall: Mapping[str, Floats]
    precision: Floats
    dcg: Floats
    ndcg: Floats
    covered: Floats
    own: Floats
    times: Floats
    variance: Floats

    def at(self, form: str, k: int) -> Floats:
        """Recall, an array (draws, models)."""
        return np.asarray(self.recall[form][:, :, self.ks.index(k)])

    def target(self, form: str) -> Floats:
        """What a form is to estimate: full recall, an array (models, cut-offs)."""
        return np.asarray(self.truth.of_form(form)[np.array(self.ks) - 1].T)

    def expected(self) -> Floats:
        r"""What the published mean comes to: :math:`\sum P_u R_u / \sum P_u` with the chance of a positive.

        From the known numbers of positives; an array (models, cut-offs).
        """
        chance = chances_of(self.truth.log, self.size)
        own = [_own_recall(self.truth, model, self.ks) for model in self.truth.ranks]
        return np.asarray(np.stack([chance @ mine for mine in own]) / chance.sum())


def estimates(context: Context, truth: Truth, size: int = SIZE) -> Estimates:
    """Draw and estimate, once a run.

    Parameters
    ----------
    context : Context
    truth : Truth
    size : int
        l.
    """
    name = truth.log.world.name
    return context.once(f"wang2024 ure {name} {size}", lambda: measure(context, truth, size))


def measure(context: Context, truth: Truth, size: int) -> Estimates:
    """Draw and estimate.

    Parameters
    ----------
    context : Context
    truth : Truth
    size : int
        l.
    """
    name = truth.log.world.name
    ks = tuple(k for k in KS if k < int(truth.log.population.min()))
    strata = Strata.of(truth.log, truth.ranks, ks)
    rng = context.rng("wang2024", "ure", name, size)
    tally = _Tally(truth, strata, context.n_trials(DRAWS, FAST_DRAWS))
    for done in context.counted(f"{name}, ure in samples of {size}", range(tally.draws)):
        tally.add(done, Draw.of(strata, draw_exposed(truth.log.held, size, rng)))
    return Estimates(
        truth,
        size,
        ks,
        tally.recall,
        tally.precision,
        tally.dcg,
        tally.ndcg,
        tally.covered,
        tally.own,
        tally.times,
        tally.variance,
    )


def full_sums(truth: Truth, ks: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Precision@K and DCG@K over all held items, means over users: two arrays (models, cut-offs)."""
    precision, dcg = [], []
    for ranks in truth.ranks.values():
        found, _ = hits(ranks, truth.log, ks)
        precision.append(found.mean(axis=0) / np.array(ks))
        dcg.append([float(full_dcg(ranks, truth.log, k)[0].mean()) for k in ks])
    return np.array(precision), np.array(dcg)


def full_ndcg(truth: Truth) -> Floats:
    """Summed DCG over summed ideal DCG at `IDEAL`, for each model."""
    both = (full_dcg(ranks, truth.log, IDEAL) for ranks in truth.ranks.values())
    return np.array([found.sum() / ideal.sum() for found, ideal in both])


class _Tally:
    """Collects what draws say."""

    def __init__(self, truth: Truth, strata: Strata, draws: int) -> None:
        shape = (draws, len(truth.ranks), len(strata.ks))
        self.truth, self.strata, self.draws = truth, strata, draws
        self.recall = {form: np.empty(shape) for form in FORMS}
        self.precision, self.dcg, self.covered = np.empty(shape), np.empty(shape), np.empty(shape)
        self.ndcg = np.empty(shape[:2])
        self.own = np.zeros((shape[1], truth.log.world.n_users, shape[2]))
        self.times, self.variance = (np.zeros(truth.log.world.n_users) for _ in range(2))
        self.micro = truth.micro[np.array(strata.ks) - 1].T
        self.relevant = truth.log.relevant.sum(axis=1)

    def add(self, place: int, draw: Draw) -> None:
        """Take a draw."""
        rows = draw.rows
        some = rows.positives > 0
        self.times += some
        n, all_ = np.maximum(rows.positives, 1), np.maximum(self.relevant, 2)
        self.variance += np.where(some, (all_ - n) / (n * (all_ - 1)), 0.0)
        ideal = float(_ideals(draw).sum())
        for number, (model, ranks) in enumerate(self.truth.ranks.items()):
            values, found = draw.values(model)
            for form, recall in values.items():
                self.recall[form][place, number] = recall
            self.own[number] += found / n[:, None]
            numerator = rows.scale[:, None] * found
            self.precision[place, number] = numerator.mean(axis=0) / np.array(self.strata.ks)
            *dcg, at_ideal = _dcg(draw, ranks, (*self.strata.ks, IDEAL))
            self.dcg[place, number] = dcg
            self.ndcg[place, number] = at_ideal * rows.n_users / ideal
            self.covered[place, number] = self._covers(number, numerator, draw)

    def _covers(self, number: int, numerator: Floats, draw: Draw) -> Floats:
        denominator = draw.rows.scale * draw.rows.positives
        value = numerator.sum(axis=0) / denominator.sum()
        error = delta_errors(numerator, denominator)
        return np.asarray(np.abs(value - self.micro[number]) <= NORMAL * error)


def delta_errors(numerator: Floats, denominator: Floats) -> Floats:
    """The delta method's standard errors of ratios of sums over users, one a column."""
    total = denominator.sum()
    influence = (numerator - numerator.sum(axis=0) / total * denominator[:, None]) / total
    n = len(denominator)
    return np.asarray(np.sqrt(n / (n - 1) * (influence**2).sum(axis=0)))


def _dcg(draw: Draw, ranks: Ints, ks: tuple[int, ...]) -> Floats:
    """The Horvitz-Thompson DCG@K, the mean over users."""
    rows = draw.rows
    mine = rows.labels
    above = ranks[rows.user[mine], draw.drawn.ravel()[mine]]
    gains = rows.scale[rows.user[mine]] * discounts(above, ranks.shape[1])
    return np.array([gains[above < k].sum() for k in ks]) / rows.n_users


def _ideals(draw: Draw) -> Floats:
    """Expected ideal DCG of each user, as the pooled form of the estimator has it."""
    reached = np.concatenate([[0.0], np.cumsum(discounts(np.arange(IDEAL), IDEAL))])
    rows = draw.rows
    return rows.prior.expect(
        lambda numbers, *_: reached[np.minimum(numbers.astype(np.int64), IDEAL)],
        rows.positives,
        rows.counts,
        rows.population,
    )


def _own_recall(truth: Truth, model: str, ks: tuple[int, ...]) -> Floats:
    """Full recall of each user; 0 where there is no positive."""
    found, relevant = hits(truth.ranks[model], truth.log, ks)
    return np.asarray(found / np.maximum(relevant, 1)[:, None])


def conditional_scores(mine: Estimates) -> tuple[Floats, Floats]:
    r"""Whether users' own shares, given that they have a positive, have the mean that theorem 3 says.

    For each user, model and cut-off :math:`z = \sum_d (m_d / n_d - R) / \sqrt{\sum_d \mathrm{Var}}` over the draws with
    :math:`n_d \ge 1`, with the known :math:`\mathrm{Var}(m / n) = R (1 - R) (N - n) / (n (N - 1))`. Users are drawn for
    independently, so the sum of their z over the root of their number is standard normal.

    Returns
    -------
    sums : array (models, cut-offs)
        Such sums.
    squares : array (models, cut-offs)
        The mean square of the users' z, 1 in expectation.
    """
    sums, squares = [], []
    for number, model in enumerate(mine.truth.ranks):
        truth = _own_recall(mine.truth, model, mine.ks)
        variance = mine.variance[:, None] * truth * (1 - truth)
        some = variance > 0
        z = np.divide(
            mine.own[number] - mine.times[:, None] * truth,
            np.sqrt(variance),
            out=np.zeros(truth.shape),
            where=some,
        )
        counts = np.maximum(some.sum(axis=0), 1)
        sums.append(z.sum(axis=0) / np.sqrt(counts))
        squares.append((z**2).sum(axis=0) / counts)
    return np.array(sums), np.array(squares)
