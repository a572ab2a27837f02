"""The user's models in the simulated worlds: trained again on each log, or replaced by stand-ins."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from unskew.arrays import dot
from unskew.audit.error.matched_world import Likened
from unskew.audit.error.plan import Plan
from unskew.audit.error.result import ModelRow
from unskew.audit.error.stand_ins import (
    Likeness,
    StandIn,
    Workshop,
    fit_stand_in,
    list_overlaps,
    row_places,
    share_noise,
)
from unskew.data import Interactions
from unskew.data.vocabulary import Vocabulary
from unskew.errors import Option, UnskewError
from unskew.estimators import Comparison, Estimate, Estimator
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.fitting.models import Fitted, ModelLike
from unskew.evaluation.fitting.propensities import Propensities, fit_propensity
from unskew.evaluation.run import Run
from unskew.evaluation.settings.settings import DEFAULT_PROPENSITY, Settings
from unskew.metrics import Metric
from unskew.models import Model, RatingModel
from unskew.models.model import Progress
from unskew.progress import Stage
from unskew.propensities import PropensityModel
from unskew.ranking import Engine, Scorer, Threads, TopCounts, top_lists
from unskew.trials.methods import Method
from unskew.trials.recommenders import Learnt, Recommender, parse_recommender
from unskew.trials.runs import Trials, run_trials
from unskew.trials.seeds import Purpose, stream_of

FEW = 4
"""Up to this number of models, all pairs are compared; with more, each of the best with the next one."""
LEAST_RUNS = 6
"""If there is time for fewer runs in each world, a model is replaced by a stand-in."""
CLOSED = ("popular", "random")
"""Models that need no training to be ranked."""
ESTIMATORS = ("aoa", "snips", "snips(per=balanced)", "snips(per=user)")
NEEDS_MORE = "model {model!r} learns from data that a simulated log does not have; a stand-in is used instead"
NOT_TRAINED = "the models could not be trained on a simulated log, so stand-ins are used instead: {error}"
TOO_SLOW = (
    "retraining {models} takes about {effort:,.1f} billion steps per run, too many for {wanted} runs per world; a "
    "stand-in is used instead (force retraining with {runs})"
)
FEWER_RUNS = (
    "retraining {models} takes about {effort:,.1f} billion steps per run, so there were {possible} runs of your models "
    "per world, not {wanted} (force more with {runs})"
)
UNLIKE_MODEL = (
    "no recommender of the simulated world is quite like {model!r}{where}: {metric} {reached:.3f} there and "
    "{wanted:.3f} on your log, popularity of its lists {reached_popularity:.2f} and {wanted_popularity:.2f}; errors "
    "are assumed to be proportional to the metric"
)


@dataclass(frozen=True)
class Observed:
    """A difference on the user's held-out rows; `level` is the mean value of the two models."""

    comparison: Comparison
    level: float


@dataclass(frozen=True, eq=False)
class Seen:
    """The user's models, with their lists and ranks on the user's log."""

    given: Mapping[str, ModelLike]  # as they were given, by name
    fitted: Mapping[str, Fitted]  # the same models, trained
    lists: Mapping[str, TopCounts]  # number of lists of each model that hold each item
    samples: Samples  # with ranks of the held-out rows
    run: Run
    k: int  # length of the lists

    @property
    def users(self) -> int:
        """Number of judged users."""
        return len(self.samples.judged.users)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of models that are compared, the apparently better one first."""
        names = sorted(self.samples.judged.ranks, key=lambda name: -self._value(name))
        return tuple(combinations(names, 2)) if len(names) <= FEW else tuple(pairwise(names[: FEW + 1]))

    @cached_property
    def cast(self) -> list[str]:
        """The models that are in a pair; all models if there is no pair."""
        return list(dict.fromkeys(name for pair in self.pairs for name in pair)) or list(self.samples.judged.ranks)

    def observed(self) -> Iterator[Observed]:
        """Yield the differences of the pairs, by metric and estimator."""
        _, comparisons = self._estimates
        for a, b in self.pairs:
            for row in comparisons:
                if {row.a, row.b} == {a, b}:
                    level = [self._of(name, row.metric, row.estimator) for name in (a, b)]
                    yield Observed(row if row.a == a else row.reversed(), float(np.mean(level)))

    def likeness(self, name: str) -> Likeness:
        """The naive value of the first metric, and the popularity of the model's lists."""
        counts = self.lists[name].counts
        places = row_places(self.run.positives.item_counts)
        return Likeness(self._value(name), dot(counts, places) / max(float(counts.sum()), 1e-9))

    def overlaps(self, names: Sequence[str]) -> dict[tuple[str, str], float]:
        """The overlaps of the lists of the pairs among some models."""
        pairs = [pair for pair in self.pairs if set(pair) <= set(names)]
        lists = {}
        for name in dict.fromkeys(name for pair in pairs for name in pair):
            scorer = self.fitted[name].scorer
            assert scorer is not None
            lists[name] = top_lists(scorer, self.run.split, self.k, name=name, engine=Threads(self.run.threads))
        same = [(a, b) for a, b in pairs if np.array_equal(lists[a].users, lists[b].users)]
        return list_overlaps({name: each.items for name, each in lists.items()}, same)

    def _value(self, name: str) -> float:
        return self._of(name, str(self.run.settings.metrics[0]), ESTIMATORS[0])

    def _of(self, name: str, metric: str, estimator: str) -> float:
        value = self._table[name, metric, estimator].value
        return 0.0 if value is None else value

    @cached_property
    def _table(self) -> dict[tuple[str, str, str], Estimate]:
        return {(row.model, row.metric, row.estimator): row for row in self._estimates[0]}

    @cached_property
    def _estimates(self) -> tuple[list[Estimate], list[Comparison]]:
        """Estimates and comparisons by all estimators that a log allows, with the popularity propensity."""
        model = PropensityModel.from_word(DEFAULT_PROPENSITY)
        estimators = [Estimator.from_word(word) for word in ESTIMATORS]
        pairs = tuple((metric, each) for metric in self.run.settings.metrics for each in estimators)
        settings = replace(self.run.settings, pairs=pairs, propensity=model)
        propensity = fit_propensity(model, self.run.positives, self.run.split.test, seen=None)
        _, estimates, comparisons = Estimation(
            self.samples, settings, Propensities(propensity, propensity, model), self.run.threads
        ).run()
        return estimates, comparisons


@dataclass(eq=False)
class Casting:
    """Trains the user's models or finds stand-ins, and runs the trials; `run` fills the last three fields."""

    seen: Seen
    likened: Likened
    plan: Plan
    settings: Settings
    methods: Sequence[Method]
    engine: Engine
    threads: int | None = None
    progress: Stage | None = None
    first: "Casting | None" = None  # of the first world, after its run: the same models are trained here
    rows: list[ModelRow] = field(default_factory=list)  # how each model took part
    notes: list[str] = field(default_factory=list)  # warnings
    runs: int = 0

    def run(self) -> Trials:
        """Train or find stand-ins, and judge them in many worlds."""
        learnt = self._trained()
        self.runs = self.plan.depth.model_runs
        if self.first is not None:
            trained = {row.model for row in self.first.rows if row.how == "trained"}
            learnt, self.runs = {name: each for name, each in learnt.items() if name in trained}, self.first.runs
        elif not all(each.ranks_strangers for each in learnt.values()):
            learnt = self._affordable(learnt)
        self.rows += [ModelRow(name, "trained") for name in learnt]
        stand_ins = self._stand_ins([name for name in self.seen.cast if name not in learnt])
        cast = {name: learnt.get(name) or stand_ins[name] for name in self.seen.cast}
        return self._trials(cast, self.runs, panel=any(each.ranks_strangers for each in cast.values()))

    def _trained(self) -> dict[str, Recommender]:
        """The models that can be trained on a log without ratings and propensities."""
        recommenders: dict[str, Recommender] = {}
        for name in self.seen.cast:
            model = self._model(name)
            if not isinstance(model, Model):
                continue
            if isinstance(model, RatingModel) or str(getattr(model, "propensity", "")):
                self.notes.append(NEEDS_MORE.format(model=name))
                continue
            word = str(model)
            recommenders[name] = parse_recommender(word) if word in CLOSED else Learnt(OnKnown(model))
        return recommenders

    def _model(self, name: str) -> Any:
        given = self.seen.given[name]
        return Model.from_word(given) if isinstance(given, str) else given

    def _affordable(self, learnt: Mapping[str, Recommender]) -> dict[str, Recommender]:
        """Return the models that are trained, and set the number of runs, by the effort of a run.

        No clock decides: a slow or busy machine gives the same numbers.
        """
        wanted, depth = self.runs, self.plan.depth
        closed = {name: each for name, each in learnt.items() if each.ranks_strangers}
        names = ", ".join(name for name in learnt if name not in closed)
        try:
            self._trials(learnt, 1, panel=False, quiet=True)
        except UnskewError as error:
            self.notes.append(NOT_TRAINED.format(error=error))
            return closed
        train = self.likened.world.draw(stream_of(self.settings.seed, Purpose.WORKSHOP)).train
        effort = sum(self._model(name).effort(train) for name in learnt if name not in closed)
        possible = int(depth.effort / effort)
        if not self.plan.exact and possible < LEAST_RUNS:
            self.notes.append(TOO_SLOW.format(models=names, effort=effort, wanted=wanted, runs=Option("runs", "N")))
            return closed
        if not self.plan.exact and possible < wanted:
            self.runs = possible
            self.notes.append(
                FEWER_RUNS.format(
                    models=names, effort=effort, possible=possible, wanted=wanted, runs=Option("runs", "N")
                )
            )
        return dict(learnt)

    def _stand_ins(self, names: Sequence[str]) -> dict[str, StandIn]:
        """Fit a stand-in for each model, then give them noise in common."""
        metric = self.settings.metrics[0]
        if not names:
            return {}
        assert isinstance(metric, Metric)
        world = self.likened.world.draw(stream_of(self.settings.seed, Purpose.WORKSHOP))
        workshop = Workshop.of(world, metric, self.seen.k, self.settings.seed)
        stand_ins, reached = {}, {}
        for stream, name in enumerate(names, start=1):
            stand_ins[name], reached[name] = fit_stand_in(workshop, self.seen.likeness(name), stream)
            if self.progress is not None:
                self.progress("fitting stand-ins", stream, len(names))
        stand_ins = share_noise(workshop, stand_ins, self.seen.overlaps(names))
        for name, each in stand_ins.items():
            wanted = self.seen.likeness(name)
            row = ModelRow(name, "stand-in", str(metric), each.taste, each.lean, each.shared, wanted, reached[name])
            self.rows.append(row)
        return stand_ins

    def _trials(self, cast: Mapping[str, Recommender], runs: int, *, panel: bool, quiet: bool = False) -> Trials:
        progress = self.progress

        def count(_: str, done: int, total: int) -> None:
            if progress is not None and not quiet:
                progress("simulated evaluations of your models", done, total)

        return run_trials(
            self.likened.world,
            runs,
            cast,
            metrics=[str(metric) for metric in self.settings.metrics],
            methods=self.methods,
            level=self.settings.level,
            panel=panel,
            seed=self.settings.seed,
            engine=self.engine,
            progress=count,
        )


@dataclass(frozen=True, eq=False)
class OnKnown(Model):
    """Trains a model on the items that occur: a simulated world has many more, and each item takes time.

    It is trained with the seed of the run, which differs between runs.
    """

    model: Model

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> Scorer:
        """Train without the items that nobody has."""
        known = np.flatnonzero(train.item_counts)
        items = Vocabulary(train.item_vocabulary.decode(known), declared=True)
        rows = np.searchsorted(known, train.items).astype(np.int32)
        return self.model.fit(replace(train, items=rows, item_vocabulary=items), rng=rng, progress=progress)


def unlike_models(castings: Sequence[Casting]) -> Iterator[str]:
    """Yield a warning for each model whose stand-in differs from it, with the number of worlds."""
    rows = [row for casting in castings for row in casting.rows]
    for name in dict.fromkeys(row.model for row in rows):
        apart = [row for row in rows if row.model == name and not row.is_near]
        if not apart:
            continue
        row, where = apart[0], f" in {len(apart)} of the {len(castings)} worlds" if len(castings) > 1 else ""
        assert row.wanted is not None
        assert row.reached is not None
        yield UNLIKE_MODEL.format(
            model=name,
            where=where,
            metric=row.metric,
            reached=row.reached.metric,
            wanted=row.wanted.metric,
            reached_popularity=row.reached.popularity,
            wanted_popularity=row.wanted.popularity,
        )
