"""How far off the estimators are, and how often their intervals hold the truth, in worlds where it is known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.estimators import Aoa, Delta, Estimator, Ips, Rows, Snips, Terms
from unskew.metrics import ADG
from unskew.simulators import logistic, solve_offset

LEVEL = 0.95
FORMS: tuple[Estimator, ...] = (Aoa(), Aoa(per="pair"), Snips(per="user"), Snips(per="balanced"), Snips())
POSITIVES: Mapping[float, tuple[float, float]] = {1: (34, 1), 2: (68, 1), 5: (170, 1), 20: (150, 5)}
"""Held-out positives per user: (mean number of relevant items, what P is multiplied by)."""
_CELLS = 2**23  # users times items drawn at a time


@dataclass(frozen=True, eq=False)
class Population:
    """Users to draw from, over a fixed catalogue and for one fixed recommender.

    A user is of one of several types, all equally likely. Item i is relevant to a user of type t with chance
    ``liking[t, i]``, gains ``gains[t, i]`` at its rank, and is observed, if relevant, with ``propensity[i]``; all
    independently.
    """

    liking: Floats
    gains: Floats
    propensity: Floats

    @classmethod
    def of_topics(
        cls, items: int, topics: int, relevant: float, propensity: Floats, *, rng: np.random.Generator
    ) -> "Population":
        r"""Users with a favourite topic, and a recommender that half knows it and favours the head; ADG of its ranks.

        Items have topics, and P, in random order. With f = 1 for items of the user's favourite topic, else 0, relevance
        has the chance :math:`\sigma(4 f + b)` for narrow users, to whom two thirds of the mean number `relevant` of
        items are relevant, and :math:`\sigma(2 f + b')` for broad ones, with four thirds; half the users are narrow. So
        the mean over pairs is not that over users. The recommender scores :math:`2 f + \log P + \varepsilon` with
        standard normal noise, drawn once for a favourite topic and an item.
        """
        shuffled = rng.permutation(propensity)
        favourite = (np.arange(topics)[:, None] == rng.permutation(np.arange(items) % topics)).astype(float)
        liking = [
            logistic(taste * favourite + solve_offset(taste * favourite, times * relevant / items))
            for taste, times in ((4.0, 2 / 3), (2.0, 4 / 3))
        ]
        scores = 2 * favourite + np.log(shuffled) + rng.standard_normal(favourite.shape)
        above = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")
        gains = ADG().gain(above, np.full_like(above, items))
        return cls(np.concatenate(liking), np.tile(gains, (2, 1)), shuffled)

    def draw(self, users: int, rng: np.random.Generator) -> "Draw":
        """Draw users, what is relevant to them and what is observed of it."""
        kind = rng.integers(0, len(self.liking), users)
        draws = rng.random((users, self.liking.shape[1]), dtype=np.float32)
        liking = self.liking[kind]
        relevant = draws < liking
        user, item = np.nonzero(draws < liking * self.propensity)  # the same draw: P(observed | relevant) is P
        return Draw(
            users,
            user,
            self.gains[kind[user], item],
            self.propensity[item],
            relevant.sum(axis=1).astype(float),
            np.einsum("ui,ui->u", relevant, self.gains[kind]),
        )


@dataclass(frozen=True, eq=False)
class Draw:
    """Users with their observed rows and, of the truth, how many items are relevant and their total gain."""

    users: int
    user: Ints
    gains: Floats
    propensity: Floats
    relevant: Floats
    total: Floats

    def terms(self, estimator: Estimator, worlds: int) -> Iterator[Terms]:
        """The estimator's terms, world by world; the users of a world are neighbours."""
        kept, user = np.unique(self.user, return_inverse=True)
        of_users = estimator.terms(Rows(self.gains, user, self.propensity, total=self.relevant[kept]), "mean")
        numerator, denominator = of_users.numerator, of_users.denominator
        if estimator.counts_empty_users:  # users with relevant items but no observed row count as 0
            at_risk = np.flatnonzero(self.relevant)
            places = np.searchsorted(at_risk, kept)
            full = np.zeros(len(at_risk))
            full[places] = numerator
            kept, numerator, denominator = at_risk, full, np.ones(len(at_risk))
        bounds = np.searchsorted(kept, np.arange(1, worlds) * (self.users // worlds))
        for pair in zip(np.split(numerator, bounds), np.split(denominator, bounds), strict=True):
            yield Terms(*pair)


@dataclass(frozen=True)
class CoverageRow:
    """An estimator over many worlds.

    Parameters
    ----------
    estimator : str
    worlds, users : int
        How many worlds, and users in each.
    positives : float
        Observed rows per user, on average.
    pairs, over_users : float
        The truth: the mean over relevant pairs, and the mean over users of their means.
    value : float
        Mean estimate.
    spread : float
        Standard deviation of the estimates.
    std_error : float
        Mean standard error that the estimates claim.
    covers_pairs, covers_users : float
        Share of the worlds whose interval holds either truth.
    """

    estimator: str
    worlds: int
    users: int
    positives: float
    pairs: float
    over_users: float
    value: float
    spread: float
    std_error: float
    covers_pairs: float
    covers_users: float

    @property
    def per_pair(self) -> bool:
        """Whether the estimator aims at the mean over pairs, or at that over users."""
        return self.estimator in {"snips", "aoa(per=pair)"}

    @property
    def bias_pairs(self) -> float:
        """Mean error against the mean over relevant pairs."""
        return self.value - self.pairs

    @property
    def bias_users(self) -> float:
        """Mean error against the mean over users."""
        return self.value - self.over_users

    @property
    def bias(self) -> float:
        """Mean error against the estimator's own target."""
        return self.bias_pairs if self.per_pair else self.bias_users

    @property
    def coverage(self) -> float:
        """How often the interval holds the estimator's own target."""
        return self.covers_pairs if self.per_pair else self.covers_users


def simulate(
    population: Population, estimators: Sequence[Estimator], *, worlds: int, users: int, rng: np.random.Generator
) -> list[CoverageRow]:
    """Draw worlds of users from a population, and hold the estimates against the population's truth.

    The truth is that of all users drawn in all worlds together: its own error is that of one world divided by the
    square root of their number, far below any interval.
    """
    results: dict[str, list[tuple[float, float, float, float]]] = {str(estimator): [] for estimator in estimators}
    sums = np.zeros(5)
    step = max(1, _CELLS // (users * population.liking.shape[1]))
    for start in range(0, worlds, step):
        count = min(step, worlds - start)
        draw = population.draw(count * users, rng)
        some = draw.relevant > 0
        means = draw.total[some] / draw.relevant[some]
        sums += (draw.total.sum(), draw.relevant.sum(), means.sum(), some.sum(), len(draw.user))
        for estimator in estimators:
            results[str(estimator)] += [_judge(terms, rng) for terms in draw.terms(estimator, count)]
    pairs, over_users = sums[0] / sums[1], sums[2] / sums[3]
    return [
        _row(name, np.array(judged), users, sums[4] / (worlds * users), pairs, over_users)
        for name, judged in results.items()
    ]


def measure_coverage(*, worlds: int = 4000, users: int = 400, seed: int = 0) -> list[CoverageRow]:
    """How often the 95 % delta interval holds its own target: three estimators, each where it is meant to work.

    The world: 100 items in 5 topics, 20 of them relevant to a user on average. For ``ips`` (which is given the users'
    numbers of relevant items) and ``snips`` the k-th item in random order is observed with P = max(.1, .8 k^-.5), for
    ``aoa(per=pair)`` each with P = .2.
    """
    skewed = np.maximum(0.1, 0.8 * np.arange(1.0, 101) ** -0.5)
    cases = ((Aoa(per="pair"), np.full(100, 0.2)), (Ips(), skewed), (Snips(), skewed))
    rows = []
    for estimator, propensity in cases:
        rng = np.random.default_rng(seed)
        population = Population.of_topics(100, 5, 20, propensity, rng=rng)
        rows += simulate(population, [estimator], worlds=worlds, users=users, rng=rng)
    return rows


def compare_forms(*, worlds: int = 200, users: int = 2000, seed: int = 0) -> list[CoverageRow]:
    """Bias and coverage of the averages and the three forms of ``snips`` as users have more held-out positives.

    The world: 2,000 users, 400 items in 12 topics, P_i = max(.02, .9 k^-.9) for the k-th item in random order. A user
    has about 1, 2 and 5 held-out positives when 34, 68 and 170 items are relevant. These propensities add up to 11.9,
    so nobody can have 20; there P is five times as large (at most 1), with 150 relevant items.
    """
    base = np.maximum(0.02, 0.9 * np.arange(1.0, 401) ** -0.9)
    rows = []
    for relevant, times in POSITIVES.values():
        rng = np.random.default_rng(seed)
        population = Population.of_topics(400, 12, relevant, np.minimum(1, times * base), rng=rng)
        rows += simulate(population, FORMS, worlds=worlds, users=users, rng=rng)
    return rows


def as_table(rows: Sequence[CoverageRow]) -> str:
    """The rows as a Markdown table."""
    names = "positives per user,estimator,mean estimate,truth (pairs),bias,covered,truth (users),bias,covered"
    head = f"| {names.replace(',', ' | ')} |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|\n"
    return head + "".join(
        f"| {row.positives:.1f} | `{row.estimator}` | {row.value:.4f} | {row.pairs:.4f} | {row.bias_pairs:+.4f} | "
        f"{row.covers_pairs:.1%} | {row.over_users:.4f} | {row.bias_users:+.4f} | {row.covers_users:.1%} |\n"
        for row in rows
    )


def _judge(terms: Terms, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Value, standard error, low and high; a world without any row has none."""
    (bounds,), _ = Delta().bounds([terms], [], LEVEL, rng)
    low, high, nan = *bounds, np.nan
    value, error = terms.value, terms.std_error
    if value is None or error is None or low is None or high is None:
        return nan, nan, nan, nan
    return value, error, low, high


def _row(name: str, judged: Floats, users: int, positives: float, pairs: float, over_users: float) -> CoverageRow:
    value, error, low, high = judged.T
    return CoverageRow(
        estimator=name,
        worlds=len(judged),
        users=users,
        positives=float(positives),
        pairs=float(pairs),
        over_users=float(over_users),
        value=float(np.nanmean(value)),
        spread=float(np.nanstd(value)),
        std_error=float(np.nanmean(error)),
        covers_pairs=float(np.mean((low <= pairs) & (pairs <= high))),
        covers_users=float(np.mean((low <= over_users) & (over_users <= high))),
    )
