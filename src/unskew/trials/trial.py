"""One evaluation of recommenders on a simulated log, compared with the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.errors import ConfigError
from unskew.estimators import Rows, Terms, difference
from unskew.metrics import AnyMetric, ListMetric, Metric, parse_metric
from unskew.ranking import Ties
from unskew.simulators import World
from unskew.trials.design import METRICS, RECOMMENDERS, Design
from unskew.trials.methods import METHODS, Method, rows_of
from unskew.trials.panel import Panel
from unskew.trials.recommenders import Recommender, Recommenders, resolve_recommenders
from unskew.trials.rows import JudgedRows, Population, judged_rows
from unskew.trials.truth import Rankings, Truth


@dataclass(frozen=True, eq=False)
class Trial:
    """Estimates, their errors and the truth; arrays of recommenders (or pairs) by metrics by methods.

    NaN where a method does not apply to a metric.

    Parameters
    ----------
    design : Design
    truth : array
        The true value for the log's own users, of each estimator's own target: the mean over relevant pairs for
        ``snips``, that over users for the others.
    population : array
        What stands for the true value of the population, see `split_panel`; NaN without a panel, and for models, which
        cannot rank for strangers.
    estimate, std_error : array
    difference, difference_error : array
        Of the estimates of each of `Design.pairs`, paired by user.
    users, panel_users : int
        How many are in the sums, of the log and of the panel.
    dropped : int
        Users with a test row, or all for the population ``all``, who are in no sum: a recommender had nothing to list
        for them, or they like nothing outside train. They are left out for all recommenders, in truth and estimate, so
        that differences are paired.
    """

    design: Design
    truth: Floats
    population: Floats
    estimate: Floats
    std_error: Floats
    difference: Floats
    difference_error: Floats
    users: int
    panel_users: int = 0
    dropped: int = 0

    @property
    def true_difference(self) -> Floats:
        """True difference, pairs by metrics by methods."""
        return self.design.gaps(self.truth)

    @property
    def population_difference(self) -> Floats:
        """Difference of what stands for the population's truth."""
        return self.design.gaps(self.population)


def run_trial(
    world: World,
    recommenders: Recommenders = RECOMMENDERS,
    *,
    metrics: Sequence[str] = METRICS,
    methods: Sequence[Method] = METHODS,
    ties: Ties = "expected",
    panel: Panel | None = None,
    level: float = 0.95,
    graded_truth: bool = False,
    population: Population = "tested",
    seed: int = 0,
) -> Trial:
    """Judge recommenders on a world's log and on its truth (Tian and Ekstrand 2020, section 3).

    Users with a test row are judged, among the candidates seen in training. A user for whom some recommender has
    nothing to list is dropped for all of them, and counted: the paper's code drops such users for that recommender
    alone. That a user has a test row must not be chance for ``ips`` to be without bias: true where the number of rows
    held out is set by that of rows observed, not where each row is held out by a toss of its own. There, let the
    population be ``all``: all users who like something outside train are in the truth, those without a test row count
    as 0 for ``ips``, and the other estimators see those they see.

    Parameters
    ----------
    world : World
    recommenders : sequence or mapping
        Words (``oracle``, ``popular``, ``random``, any model), objects, or, by name, functions that make a scorer from
        the world.
    metrics : sequence of str
    methods : sequence of Method
    ties : str
        ``ordinal`` for the order by item code within ties, as in the paper.
    panel : Panel, optional
        Strangers of the same population, from `split_panel`.
    level : float
    graded_truth : bool
        See `Design`.
    population : {"tested", "all"}
    seed : int
        For models that learn by chance.
    """
    named = resolve_recommenders(recommenders)
    design = Design(tuple(named), tuple(metrics), tuple(methods), level, ties, graded_truth, population)
    return judge(world, named, design, panel=panel, seed=seed)


def judge(
    world: World, recommenders: Mapping[str, Recommender], design: Design, *, panel: Panel | None = None, seed: int = 0
) -> Trial:
    """Judge recommenders as a design has it."""
    judged = judged_rows(world, population=design.population)
    own = _Part.of(judged, world, recommenders, design, seed)
    if not own.kept.any():
        raise ConfigError(f"{world.made}: for every user some recommender has nothing to list; draw a larger world")
    strangers: _Part | None = None
    if panel is not None:
        can = {name: each for name, each in recommenders.items() if each.ranks_strangers}
        strangers = _Part.of(panel.judged(judged.counts, design.population), world, can, design, seed)
    return _Cells(design, own, strangers, rows_of(design.methods, judged, world, own.kept)).trial()


@dataclass(frozen=True, eq=False)
class _Part:
    """Users who are judged together, and each recommender's ranks of their rows."""

    judged: JudgedRows
    rankings: Mapping[str, Rankings]
    kept: Bools

    @classmethod
    def of(
        cls, judged: JudgedRows, world: World, recommenders: Mapping[str, Recommender], design: Design, seed: int
    ) -> "_Part":
        kept = np.ones(len(judged.users), dtype=bool)
        rankings = {}
        for name, recommender in recommenders.items():
            ranks = recommender.rank(judged, world, ties=design.ties, seed=seed)
            assert ranks.listed is not None
            kept &= ranks.listed[judged.offsets[:-1]] > 0
            rankings[name] = Rankings(judged, ranks, graded=design.graded_truth)
        return cls(judged, rankings, kept)

    @property
    def users(self) -> int:
        return int(self.kept.sum())


@dataclass(frozen=True, eq=False)
class _Cells:
    """All cells of a trial, metric by metric, so that the gains of one metric are held at a time."""

    design: Design
    own: _Part
    strangers: _Part | None
    rows: Sequence[Rows]
    arrays: dict[str, Floats] = field(default_factory=dict)

    def trial(self) -> Trial:
        design = self.design
        shape = (len(design.metrics), len(design.methods))
        for name in ("truth", "population", "estimate", "std_error"):
            self.arrays[name] = np.full((len(design.recommenders), *shape), np.nan)
        for name in ("difference", "difference_error"):
            self.arrays[name] = np.full((len(design.pairs), *shape), np.nan)
        for place, word in enumerate(design.metrics):
            self._metric(place, parse_metric(word))
        tested = len(self.own.judged.users) + self.own.judged.left_out
        return Trial(
            design,
            **self.arrays,
            users=self.own.users,
            panel_users=0 if self.strangers is None else self.strangers.users,
            dropped=tested - self.own.users,
        )

    def _metric(self, place: int, metric: AnyMetric) -> None:
        terms: list[dict[int, Terms]] = []
        lists = self._lists(metric) if isinstance(metric, ListMetric) else {}
        for k, name in enumerate(self.design.recommenders):
            rankings = self.own.rankings[name]
            gains = rankings.gains(metric) if isinstance(metric, Metric) else None
            truth = rankings.truth(metric, self.own.kept, gains)
            population = self._population(name, metric, truth)
            if gains is None:
                terms.append(self._terms(metric, [lists[name]] * len(self.rows)))
            else:
                worth = gains[self.own.judged.test_rows]
                terms.append(self._terms(metric, [rows.with_worth(worth) for rows in self.rows]))
            for c, made in terms[k].items():
                over_pairs = self.design.methods[c].over_pairs(metric)
                self.arrays["truth"][k, place, c] = truth.pairs if over_pairs else truth.users
                self.arrays["population"][k, place, c] = population.pairs if over_pairs else population.users
                self.arrays["estimate"][k, place, c] = _number(made.value)
                self.arrays["std_error"][k, place, c] = _number(made.std_error)
        for p, (a, b) in enumerate(self.design.pairs):
            for c in terms[a]:
                gap, error = difference(terms[a][c], terms[b][c])
                self.arrays["difference"][p, place, c] = _number(gap)
                self.arrays["difference_error"][p, place, c] = _number(error)

    def _lists(self, metric: ListMetric) -> dict[str, Rows]:
        """The value of each user's list, of the users for whom all recommenders have one."""
        columns = {
            name: metric.values(rankings.lists(observed=True))[self.own.kept & self.own.judged.tested]
            for name, rankings in self.own.rankings.items()
        }
        defined = ~np.any([np.isnan(column) for column in columns.values()], axis=0)
        user = np.arange(int(defined.sum()))
        return {name: Rows(column[defined], user) for name, column in columns.items()}

    def _terms(self, metric: AnyMetric, rows: Sequence[Rows]) -> dict[int, Terms]:
        """By place of the method, for those that apply."""
        return {
            c: method.parsed.terms(of, metric.kind)
            for c, (method, of) in enumerate(zip(self.design.methods, rows, strict=True))
            if method.admits(metric)
        }

    def _population(self, name: str, metric: AnyMetric, own: Truth) -> Truth:
        if self.strangers is None or name not in self.strangers.rankings or not self.strangers.users:
            return Truth(np.nan, np.nan)
        other = self.strangers.rankings[name].truth(metric, self.strangers.kept)
        more = self.strangers.users / self.own.users
        share = np.sqrt(more / (1 + more))
        return Truth(
            float((1 - share) * own.users + share * other.users), float((1 - share) * own.pairs + share * other.pairs)
        )


def _number(value: float | None) -> float:
    return np.nan if value is None else value
