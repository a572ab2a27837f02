"""`Trial`: one evaluation of recommenders on a simulated log, compared with the truth.

It is a faster form of `evaluate` for thousands of small logs: one ranking serves the test and the truth, and
recommenders that need no scores are ranked in closed form. A test compares the two, and `benchmarks/study_roads.py`
prints how much faster it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.estimators import Rows, Terms, difference
from unskew.metrics import AnyMetric, ListMetric, Metric, parse_metric
from unskew.ranking import Ties
from unskew.simulators import World
from unskew.trials.design import METRICS, RECOMMENDERS, Design
from unskew.trials.methods import METHODS, Method, rows_of
from unskew.trials.panel import Panel
from unskew.trials.recommenders import Recommender, Recommenders, resolve_recommenders
from unskew.trials.rows import Population, judged_rows
from unskew.trials.truth import Rankings


@dataclass(frozen=True, eq=False)
class Trial:
    """Estimates, their errors and the truth; arrays of recommenders (or pairs) by metrics by methods.

    NaN where a method does not apply to a metric.

    Parameters
    ----------
    truth : array
        The true value for the log's own users, of each estimator's own target: the mean over relevant pairs for
        ``snips``, that over users for the others.
    population : array
        The value that represents the true value of the population, see `split_panel`; NaN without a panel, and for
        models, which cannot rank for panel users.
    difference, difference_error : array
        Of the estimates of each of `Design.pairs`, paired by user.
    users, panel_users : int
        Numbers of users in the sums, of the log and of the panel.
    dropped : int
        Users with a test row, or all for the population ``all``, who are in no sum: a recommender has nothing to list
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
    """Judge recommenders by a `Design` on a world's log and on its truth (Tian and Ekstrand 2020, section 3).

    Users with a test row are judged, among the candidates seen in training. A user for whom some recommender has
    nothing to list is dropped for all of them, and counted: the paper's code drops such users for that recommender
    alone. ``ips`` is unbiased only if it does not depend on chance which users have a test row. That holds if the
    number of rows held out is set by the number of rows observed, not if each row is held out independently. In the
    latter case, use the population ``all``: all users who like something outside train are in the truth, those without
    a test row count as 0 for ``ips``, and the other estimators use the users with a test row.

    Parameters
    ----------
    recommenders : sequence or mapping
        Words (``oracle``, ``popular``, ``random``, any model), objects, or, by name, functions that make a scorer from
        the world.
    ties : str
        ``ordinal`` for the order by item code within ties, as in the paper.
    panel : Panel, optional
        Other users of the same population, from `split_panel`.
    seed : int
        For models that learn with random numbers.
    """
    named = resolve_recommenders(recommenders)
    design = Design(tuple(named), tuple(metrics), tuple(methods), level, ties, graded_truth, population)
    return judge(world, named, design, panel=panel, seed=seed)


def judge(
    world: World, recommenders: Mapping[str, Recommender], design: Design, *, panel: Panel | None = None, seed: int = 0
) -> Trial:
    """Judge recommenders as `run_trial` does, by a design."""
    judged = judged_rows(world, population=design.population)
    rankings = Rankings.of(judged, world, recommenders, design, seed)
    if not rankings.kept.any():
        raise ConfigError(f"{world.origin}: for every user some recommender has nothing to list; draw a larger world")
    strangers: Rankings | None = None
    if panel is not None:
        can = {name: each for name, each in recommenders.items() if each.ranks_strangers}
        strangers = Rankings.of(panel.judged(judged.counts, design.population), world, can, design, seed)
    cells = _Cells(design, rankings, strangers, rows_of(design.methods, judged, world, rankings.kept))
    for place, word in enumerate(design.metrics):  # the gains of one metric are held at a time
        cells.fill(place, parse_metric(word))
    return Trial(
        design,
        **cells.arrays,
        users=rankings.users,
        panel_users=0 if strangers is None else strangers.users,
        dropped=len(judged.users) + judged.left_out - rankings.users,
    )


class _Cells:
    """The arrays of a trial."""

    def __init__(self, design: Design, rankings: Rankings, strangers: Rankings | None, rows: Sequence[Rows]) -> None:
        self.design, self.rankings, self.strangers, self.rows = design, rankings, strangers, rows
        sizes = dict.fromkeys(("truth", "population", "estimate", "std_error"), len(design.recommenders))
        sizes |= dict.fromkeys(("difference", "difference_error"), len(design.pairs))
        shape = (len(design.metrics), len(design.methods))
        self.arrays = {name: np.full((size, *shape), np.nan) for name, size in sizes.items()}

    def fill(self, place: int, metric: AnyMetric) -> None:
        """Estimate one metric by the methods that apply to it."""
        arrays, rankings = self.arrays, self.rankings
        methods = {c: method for c, method in enumerate(self.design.methods) if method.admits(metric)}
        lists = self._lists(metric) if isinstance(metric, ListMetric) else {}
        terms: list[dict[int, Terms]] = []
        for k, name in enumerate(self.design.recommenders):
            gains = rankings.gains(name, metric) if isinstance(metric, Metric) else None
            truth = rankings.truth(name, metric, gains)
            population = self._population(name, metric, truth)
            worth = None if gains is None else gains[rankings.judged.test_rows]
            terms.append({})
            for c, method in methods.items():
                rows = lists[name] if worth is None else self.rows[c].with_worth(worth)
                estimated = terms[k][c] = method.parsed.terms(rows, metric.kind)
                target = int(method.over_pairs(metric))
                arrays["truth"][k, place, c] = truth[target]
                arrays["population"][k, place, c] = population[target]
                arrays["estimate"][k, place, c] = _number(estimated.value)
                arrays["std_error"][k, place, c] = _number(estimated.std_error)
        for p, (a, b) in enumerate(self.design.pairs):
            for c in methods:
                gap, error = difference(terms[a][c], terms[b][c])
                arrays["difference"][p, place, c] = _number(gap)
                arrays["difference_error"][p, place, c] = _number(error)

    def _lists(self, metric: ListMetric) -> dict[str, Rows]:
        """The value of each user's list, of the users for whom all recommenders have one."""
        kept = self.rankings.kept & self.rankings.judged.tested
        columns = {name: metric.values(self.rankings.lists(name, observed=True))[kept] for name in self.rankings.ranks}
        defined = ~np.any([np.isnan(column) for column in columns.values()], axis=0)
        user = np.arange(int(defined.sum()))
        return {name: Rows(column[defined], user) for name, column in columns.items()}

    def _population(self, name: str, metric: AnyMetric, truth: Floats) -> Floats:
        """The value that represents the truth of the population, see `split_panel`."""
        if self.strangers is None or name not in self.strangers.ranks or not self.strangers.users:
            return np.full(2, np.nan)
        more = self.strangers.users / self.rankings.users
        share = np.sqrt(more / (1 + more))
        return np.asarray((1 - share) * truth + share * self.strangers.truth(name, metric))


def _number(value: float | None) -> float:
    return np.nan if value is None else value
