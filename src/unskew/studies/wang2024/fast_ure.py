"""All forms of URE at many cut-offs and for many models at once, in many random draws of one population.

A faster road of `Ure` and `Terms`, see benchmarks/study_roads.py: the numbers are those of the estimators, but counts
by stratum of ranks serve all cut-offs and forms, because a study asks for several hundred thousand numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats, Ints
from unskew.estimators import Rows, Terms, Ure
from unskew.estimators.exposed.reduction import PRIOR_ROWS, falling_blocks, rank_edges
from unskew.metrics import NDCG
from unskew.studies.framework.study import Context, Size
from unskew.studies.wang2024.full_recall import SIZE, RankMatrix, Truth, discounts, full_dcg, hits
from unskew.studies.wang2024.worlds import BiasedLog, chances_of, draw_exposed

MEAN, PLUG_IN, BETA_BINOMIAL, POOLED, CONTROL, MONOTONE = FORMS = (
    "ure",
    "ure(aggregate=ipw, counts=plug-in)",
    "ure(aggregate=ipw)",
    "ure(aggregate=pooled)",
    "ure(aggregate=pooled, reduce=control)",
    "ure(aggregate=pooled, reduce=monotone)",
)
MACRO = (MEAN, PLUG_IN, BETA_BINOMIAL)
"""Whose target is the mean over users; that of the others is the mean over positive pairs."""
KS = (1, 2, 5, 10, 20, 30, 50, 100, 300, 1000)
"""Cut-offs at which all forms are computed."""
IDEAL = 10
"""The cut-off of NDCG."""
NORMAL = 1.959963984540054
DRAWS = Size(200, 8, trials=True)


@dataclass(frozen=True, eq=False)
class Strata:
    """Held items of each user by stratum of their rank, for each model."""

    log: BiasedLog
    ks: tuple[int, ...]  # cut-offs, ascending
    edges: Ints  # last ranks of the strata, with an edge at each cut-off
    cuts: Ints  # where the cut-offs are among the edges
    groups: tuple[Ints, ...]  # for each cut-off, where the strata begin that the form with falling shares has
    room: Floats  # how many places each stratum has, over all users
    models: Mapping[str, npt.NDArray[np.uint8]]  # name to the stratum of each pair, users by items

    @classmethod
    def of(cls, log: BiasedLog, ranks: Mapping[str, RankMatrix], ks: Sequence[int]) -> "Strata":
        """The strata of the ranks of each model."""
        largest = int(log.population.max())
        steps = rank_edges(largest, None)
        edges = np.unique(np.concatenate([steps, np.asarray(ks, dtype=np.int64)]))
        groups = tuple(np.append(0, np.searchsorted(edges, np.union1d(steps, [k]))[:-1] + 1) for k in ks)
        filled = np.minimum(edges[None], log.population[:, None])
        room = np.asarray(np.diff(filled, prepend=0, axis=1).sum(axis=0), dtype=float)
        table = np.searchsorted(edges, np.arange(largest), side="right").astype(np.uint8)
        models = {name: table[np.maximum(matrix, 0)] for name, matrix in ranks.items()}
        return cls(log, tuple(ks), edges, np.searchsorted(edges, ks), groups, room, models)


@dataclass(frozen=True, eq=False)
class Draw:
    """One random exposure, and the users' weights in each form."""

    strata: Strata
    drawn: Ints
    rows: Rows  # the same with labels; without a model
    weights: Mapping[str, Floats]  # form to the weight of each user with a positive in the sample

    @classmethod
    def of(cls, strata: Strata, drawn: Ints) -> "Draw":
        """The draw of these items (users by l)."""
        users = np.repeat(np.arange(len(drawn)), drawn.shape[1])
        labels = strata.log.world.labels[users, drawn.ravel()]
        rows = Rows(np.zeros(len(users)), users, total=strata.log.population.astype(float), positive=labels)
        weights = {form: Ure.from_word(form).terms(rows, "mean").denominator for form in MACRO}
        return cls(strata, drawn, rows, weights)

    def values(self, model: str) -> tuple[dict[str, Floats], Floats]:
        """Recall at each cut-off by each form, and how many of each user's positives in the draw rank above it."""
        scale, positives, shape = self.rows.scale, self.rows.positives, (self.rows.n_users, len(self.strata.edges))
        codes = np.take_along_axis(self.strata.models[model], self.drawn, axis=1).ravel()
        cells = self.rows.user * shape[1] + codes
        # how many rows of each user and stratum (columns) were drawn, and how many of them are positive
        shown, liked = (
            np.bincount(chosen, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
            for chosen in (cells, cells[self.rows.labels])
        )
        above = liked.cumsum(axis=1)[:, self.strata.cuts]
        recall = above / np.maximum(positives, 1)[:, None]
        values = {form: weight @ recall / max(float(weight.sum()), 1e-300) for form, weight in self.weights.items()}
        numerator, total = scale[:, None] * above, float(scale @ positives)
        values[POOLED] = numerator.sum(axis=0) / total
        values[CONTROL] = values[POOLED] - self._correction(shown, numerator, values[POOLED]) / total
        values[MONOTONE] = self._falling(scale @ shown, scale @ liked)
        return values, above

    def dcg(self, ranks: RankMatrix, ks: Sequence[int]) -> Floats:
        """The Horvitz-Thompson DCG@K, the mean over users, at each K."""
        rows, labels = self.rows, self.rows.labels
        above = ranks[rows.user[labels], self.drawn.ravel()[labels]]
        gains = rows.scale[rows.user[labels]] * discounts(above, ranks.shape[1])
        return np.array([gains[above < k].sum() for k in ks]) / rows.n_users

    def ideals(self) -> Floats:
        """Expected ideal DCG of each user, as the pooled form of the estimator has it."""
        rows, ideal = self.rows, (NDCG() @ IDEAL).ideal_gains
        return rows.prior.expect(
            lambda numbers, *_: ideal(numbers.astype(np.int64)), rows.positives, rows.counts, rows.population
        )

    def _correction(self, shown: Floats, numerator: Floats, pooled: Floats) -> Floats:
        """The deviation that the control variate subtracts from the sum of numerators, at each cut-off."""
        rows = self.rows
        known = np.minimum(np.asarray(self.strata.ks)[None], rows.population[:, None])
        above = shown.cumsum(axis=1)[:, self.strata.cuts]
        off = rows.scale[:, None] * above - known
        left = numerator - pooled * (rows.scale * rows.positives)[:, None]
        second, fourth = rows.scale**2 @ above, rows.scale**4 @ above
        prior = np.divide(PRIOR_ROWS * fourth, second, out=np.zeros(len(second)), where=second > 0)
        share = float(rows.scale @ rows.positives) / float(rows.scale @ rows.counts)
        size = (off**2).sum(axis=0) + prior
        drawn = (left * off).sum(axis=0) + prior * share * (1 - pooled)
        slope = np.divide(drawn, size, out=np.zeros(len(size)), where=size > 0)
        return np.asarray(slope * off.sum(axis=0))

    def _falling(self, shown: Floats, liked: Floats) -> Floats:
        """Recall with shares of positives that fall with rank, at each cut-off."""
        recall = []
        for starts, k in zip(self.strata.groups, self.strata.ks, strict=True):
            good, seen, room = (np.add.reduceat(column, starts) for column in (liked, shown, self.strata.room))
            above = self.strata.edges[starts] <= k  # the cut-off is an edge, so no stratum crosses it
            block = falling_blocks(good, seen)
            seen_in, good_in = (np.bincount(block, weights=column) for column in (seen, good))
            share = (good_in / np.maximum(seen_in, 1e-300))[block]
            recall.append(float(share[above] @ room[above]) / max(float(share @ room), 1e-300))
        return np.array(recall)


@dataclass(frozen=True, eq=False)
class Estimates:
    """The numbers of each draw, arrays (draws, models, cut-offs) unless described otherwise."""

    truth: Truth
    size: int  # N-bar, or l
    ks: tuple[int, ...]
    recall: Mapping[str, Floats]  # by form
    precision: Floats  # Horvitz-Thompson sums
    dcg: Floats  # the same
    ndcg: Floats  # (draws, models): the pooled ratio, at `IDEAL`
    covered: Floats  # 1 where the 95 % delta interval of the pooled ratio holds the truth, else 0
    shares: Floats  # (models, users, cut-offs): recall in the draw, summed over draws in which the user has a positive
    times: Floats  # (users,): the number of these draws
    variance: Floats  # (users,): the sum over them of (N - n) / (n (N - 1)), the factor of p (1 - p)

    @property
    def draws(self) -> int:
        """The number of draws."""
        return len(self.ndcg)

    def add(self, place: int, draw: Draw) -> None:
        """Compute the numbers of a draw."""
        rows, relevant = draw.rows, self.truth.log.relevant.sum(axis=1)
        has = rows.positives > 0
        n, all_ = np.maximum(rows.positives, 1), np.maximum(relevant, 2)
        self.times[:] += has
        self.variance[:] += np.where(has, (all_ - n) / (n * (all_ - 1)), 0.0)
        ideal, denominator = float(draw.ideals().sum()), rows.scale * rows.positives
        micro = self.target(POOLED)
        for number, (model, ranks) in enumerate(self.truth.ranks.items()):
            values, above = draw.values(model)
            for form, recall in values.items():
                self.recall[form][place, number] = recall
            self.shares[number] += above / n[:, None]
            numerator = rows.scale[:, None] * above
            self.precision[place, number] = numerator.mean(axis=0) / np.array(self.ks)
            *dcg, at_ideal = draw.dcg(ranks, (*self.ks, IDEAL))
            self.dcg[place, number] = dcg
            self.ndcg[place, number] = at_ideal * rows.n_users / ideal
            errors = [Terms(column, denominator).std_error or 0.0 for column in numerator.T]
            self.covered[place, number] = np.abs(values[POOLED] - micro[number]) <= NORMAL * np.array(errors)

    def at(self, form: str, k: int) -> Floats:
        """Recall, an array (draws, models)."""
        return np.asarray(self.recall[form][:, :, self.ks.index(k)])

    def target(self, form: str) -> Floats:
        """The target of a form: full recall, an array (models, cut-offs)."""
        return np.asarray(target_of(self.truth, form)[np.array(self.ks) - 1].T)

    def expected(self) -> Floats:
        r"""The expectation of the published mean: :math:`\sum P_u R_u / \sum P_u` with the chance of a positive.

        From the known numbers of positives; an array (models, cut-offs).
        """
        chance = chances_of(self.truth.log, self.size)
        recall = [user_recall(self.truth, model, self.ks) for model in self.truth.ranks]
        return np.asarray(np.stack([chance @ each for each in recall]) / chance.sum())


def target_of(truth: Truth, form: str) -> Floats:
    """The target of a form of the estimator, an array (L, models): full recall at every cut-off."""
    return truth.macro if form in MACRO else truth.micro


def user_recall(truth: Truth, model: str, ks: Sequence[int]) -> Floats:
    """Full recall of each user; 0 where there is no positive."""
    above, relevant = hits(truth.ranks[model], truth.log.relevant, ks)
    return np.asarray(above / np.maximum(relevant, 1)[:, None])


def estimates(context: Context, truth: Truth, size: int = SIZE) -> Estimates:
    """The estimates from samples of `size` items per user, drawn once per run."""

    def make() -> Estimates:
        ks = tuple(k for k in KS if k < truth.shortest)  # the cut-offs that all populations have
        users, shape = truth.log.world.n_users, (context.size(DRAWS), len(truth.ranks), len(ks))
        recall = {form: np.empty(shape) for form in FORMS}
        means = (np.empty(shape), np.empty(shape), np.empty(shape[:2]), np.empty(shape))
        sums = (np.zeros((shape[1], users, shape[2])), np.zeros(users), np.zeros(users))
        numbers = Estimates(truth, size, ks, recall, *means, *sums)
        strata = Strata.of(truth.log, truth.ranks, numbers.ks)
        rng = context.rng("wang2024", "ure", truth.name, size)
        for place in context.counted(f"{truth.name}, ure in samples of {size}", range(numbers.draws)):
            numbers.add(place, Draw.of(strata, draw_exposed(truth.log.held, size, rng)))
        return numbers

    return context.once(f"wang2024 ure {truth.name} {size}", make)


def full_sums(truth: Truth, ks: Sequence[int]) -> tuple[Floats, Floats]:
    """Precision@K and DCG@K over all held items, means over users: two arrays (models, cut-offs)."""
    precision, dcg = [], []
    for ranks in truth.ranks.values():
        above, _ = hits(ranks, truth.log.relevant, ks)
        precision.append(above.mean(axis=0) / np.array(ks))
        dcg.append([float(full_dcg(ranks, truth.log, k)[0].mean()) for k in ks])
    return np.array(precision), np.array(dcg)


def full_ndcg(truth: Truth) -> Floats:
    """Summed DCG over summed ideal DCG at `IDEAL`, for each model."""
    both = (full_dcg(ranks, truth.log, IDEAL) for ranks in truth.ranks.values())
    return np.array([dcg.sum() / ideal.sum() for dcg, ideal in both])


def conditional_scores(numbers: Estimates) -> tuple[Floats, Floats]:
    r"""Whether the recall of users in the draw, given that they have a positive, has the mean that theorem 3 says.

    For each user, model and cut-off :math:`z = \sum_d (m_d / n_d - R) / \sqrt{\sum_d \mathrm{Var}}` over the draws with
    :math:`n_d \ge 1`, with the known :math:`\mathrm{Var}(m / n) = R (1 - R) (N - n) / (n (N - 1))`. Users are drawn for
    independently, so the sum of their z over the root of their number is standard normal. Returned are such sums, and
    the mean squares of the users' z, 1 in expectation: two arrays (models, cut-offs).
    """
    sums, squares = [], []
    for shares, model in zip(numbers.shares, numbers.truth.ranks, strict=True):
        truth = user_recall(numbers.truth, model, numbers.ks)
        variance = numbers.variance[:, None] * truth * (1 - truth)
        off, some = shares - numbers.times[:, None] * truth, variance > 0
        z = np.divide(off, np.sqrt(variance), out=np.zeros(truth.shape), where=some)
        counts = np.maximum(some.sum(axis=0), 1)
        sums.append(z.sum(axis=0) / np.sqrt(counts))
        squares.append((z**2).sum(axis=0) / counts)
    return np.array(sums), np.array(squares)
