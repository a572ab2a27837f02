"""`audit_error`: simulate evaluations on logs like the user's, and measure how wrong they are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from time import perf_counter

import numpy as np

from unskew.arrays import Floats
from unskew.audit.error.matched_world import Likened, below_chance, liken, misfits, unlike
from unskew.audit.error.own_models import Casting, Seen, unlike_models
from unskew.audit.error.plan import Plan
from unskew.audit.error.recommendation import recommend
from unskew.audit.error.result import (
    ORACLE,
    POPULAR,
    ErrorAudit,
    WorldResult,
)
from unskew.audit.error.summary_rows import own_row, reference_errors, reference_rows, value_rows
from unskew.data import Interactions, Split
from unskew.errors import ConfigError, DataError, Option
from unskew.evaluation.run import Run
from unskew.evaluation.settings.settings import Settings
from unskew.progress import Stage
from unskew.ranking import Engine
from unskew.trials.methods import Method
from unskew.trials.runs import Trials, run_trials
from unskew.trials.summary import Summary

FORMS = ("snips", "snips(per=balanced)", "snips(per=user)")
"""Estimators that can be computed on a log, in addition to the naive average."""
METHODS = (Method(), *(Method(form, "estimated") for form in FORMS), Method("snips", "true"))
HOLDOUT = 0.2
"""Share held out in the world if no rows of the log are held out."""
SAME_USERS = 0.05
"""Relative difference below which numbers of users count as the same."""
LEAST_RUNS = 2
"""Smallest number of runs of the reference pair in each world."""
MODEL_RUNS = 8
"""Runs of the user's models in each world; with fewer runs in total, there are fewer worlds."""
NOT_SIMULATED = "nothing was simulated, so it is not known how wrong an evaluation can be: {error}"
NO_EVALUATION = "no evaluation is possible in it: {error}"
NO_HELD_OUT = (
    "there are no held-out rows, so no observed difference: give a test ({test}) to learn the chance that the apparent "
    "winner of your models is the worse one"
)
NO_MODELS = (
    "give two models, as {models}, or {scores} of yours with a {test}, to learn the chance that the apparent winner is "
    "the worse one"
)
UNLIKE = "the world {world} is not similar to this log: {why}"
NONE_ACCEPTED = (
    "none of the {n} simulated worlds is similar to this log, so nothing is claimed about how wrong an evaluation on "
    "it can be; the nearest, {world}: {why}"
)
AUC = "auc"


def audit_error(
    plan: Plan | None,
    split: Split,
    settings: Settings,
    seen: Seen | None,
    models: bool,
    run: Run,
) -> tuple[ErrorAudit | None, tuple[str, ...]]:
    """Simulate as planned, and return the result with warnings.

    The result is None without a plan, and, with a warning, if the log is too small. A world that was given as a word or
    as saved parameters is refused if it cannot be drawn.
    """
    if plan is None:
        return None, ()
    try:
        unjudged = seen is None and models
        return ErrorRun(plan, split, settings, run.engine, seen, unjudged, run.threads, run.progress).run()
    except (DataError, ConfigError) as error:
        if plan.given:
            raise
        return None, (NOT_SIMULATED.format(error=error),)


@dataclass(frozen=True, eq=False)
class ErrorRun:
    """Runs an error audit."""

    plan: Plan
    split: Split  # its test is empty if no rows are held out
    settings: Settings
    engine: Engine
    seen: Seen | None = None  # the user's models on the held-out rows
    unjudged: bool = False  # there are models, but no held-out rows to judge them on
    threads: int | None = None
    progress: Stage | None = None

    def run(self) -> tuple[ErrorAudit, tuple[str, ...]]:
        """Return the audit and its warnings."""
        start = perf_counter()
        rows = _joined(self._counted(self.split.train), self._counted(self.split.test))
        share = len(self._counted(self.split.test)) / len(rows)
        holdout = share if share > 0 else HOLDOUT
        likened = liken(rows, holdout, self.plan, self.engine, seed=self.settings.seed, progress=self.progress)
        work = self._simulate(likened)
        castings = self._cast(work)
        worlds = tuple(each.result for each in work)
        error_audit = ErrorAudit(
            worlds=worlds,
            depth=self.plan.name,
            metrics=self._metrics,
            model_runs=sum(casting.runs for casting in castings),
            level=self.settings.level,
            holdout=holdout,
            recommended=tuple(each for metric in self._metrics if (each := recommend(worlds, metric)) is not None),
            models=tuple(castings[0].rows) if castings else (),
            missing=self._missing(),
            seconds=perf_counter() - start,
            errors=_merged([each.errors for each in work if each.result.accepted]),
        )
        return error_audit, tuple(dict.fromkeys(_notes(error_audit, castings)))

    @property
    def _metrics(self) -> tuple[str, ...]:
        return tuple(str(metric) for metric in self.settings.metrics)

    def _counted(self, rows: Interactions) -> Interactions:
        positive = self.settings.positive
        return rows if positive is None or not len(rows) else rows.where(positive)

    def _simulate(self, likened: Sequence[Likened]) -> "list[_Work]":
        """Judge the oracle and the popular list in each world that fits."""
        reasons = misfits(likened)
        fit = reasons.count("")
        runs = max(LEAST_RUNS, ceil(self.plan.depth.runs / max(fit, 1)))
        work: list[_Work] = []
        for world, why in zip(likened, reasons, strict=True):
            if why:
                work.append(_Work(WorldResult(world, why)))
                continue
            done = sum(each.result.runs for each in work)
            try:
                trials = self._trials(world, runs, done, fit * runs)
            except (DataError, ConfigError) as error:
                if self.plan.given:
                    raise
                work.append(_Work(WorldResult(world, NO_EVALUATION.format(error=error))))
                continue
            work.append(self._judged(world, trials))
        return work

    def _judged(self, world: Likened, trials: Trials) -> "_Work":
        auc = Summary(trials).cell(ORACLE, AUC, METHODS[0].label).truth
        scale = self._scale(world, trials)
        result = WorldResult(
            likened=world,
            why="" if self.plan.given else below_chance(auc),
            runs=len(trials),
            auc=auc,
            values=tuple(row for row in value_rows(trials, scale, {}) if row.metric in self._metrics),
            pairs=tuple(row for row in reference_rows(trials, scale) if row.metric in self._metrics),
        )
        return _Work(result, scale, dict(reference_errors(trials, scale)))

    def _trials(self, world: Likened, runs: int, done: int, total: int) -> Trials:
        def count(stage: str, ended: int, _: int) -> None:
            if self.progress is not None:
                self.progress(stage, done + ended, total)

        return run_trials(
            world.world,
            runs,
            (ORACLE, POPULAR),
            metrics=list(dict.fromkeys([*self._metrics, AUC])),  # AUC decides whether the world is accepted
            methods=METHODS,
            level=self.settings.level,
            panel=True,
            seed=self.settings.seed,
            engine=self.engine,
            progress=count,
        )

    def _cast(self, work: "Sequence[_Work]") -> list[Casting]:
        """Simulate the user's models in the nearest accepted world of each kind, and add their rows."""
        if self.seen is None:
            return []
        depth = self.plan.depth
        chosen = _nearest(work)[: max(1, depth.model_runs // MODEL_RUNS)]
        castings: list[Casting] = []
        for each in chosen:
            share = replace(depth, model_runs=ceil(depth.model_runs / len(chosen)), effort=depth.effort / len(chosen))
            casting = Casting(
                self.seen,
                each.result.likened,
                replace(self.plan, depth=share),
                self.settings,
                METHODS,
                self.engine,
                self.threads,
                self.progress,
                first=castings[0] if castings else None,
            )
            trials = casting.run()
            castings.append(casting)
            values = value_rows(trials, each.scale, {row.model: row.how for row in casting.rows})
            pairs = []
            for observed in self.seen.observed():
                row, spread = own_row(trials, observed)
                pairs.append(row)
                each.errors[row.a, row.b, row.metric, row.label] = spread
            each.result = replace(
                each.result, values=(*each.result.values, *values), pairs=(*each.result.pairs, *pairs)
            )
        return castings

    def _scale(self, likened: Likened, trials: Trials) -> float:
        """The factor by which errors spread less with the users of the log than with those simulated."""
        if self.seen is not None:
            ratio = float(trials.users.mean()) / self.seen.users
        else:
            ratio = likened.users / likened.log_users
        return 1.0 if abs(ratio - 1) < SAME_USERS else sqrt(ratio)

    def _missing(self) -> str:
        if self.seen is not None and self.seen.pairs:
            return ""
        if self.unjudged:
            return NO_HELD_OUT.format(test=Option("test"))
        return NO_MODELS.format(
            models=Option("model", ("als", "popular")), scores=Option("scores"), test=Option("test")
        )


def _joined(train: Interactions, test: Interactions) -> Interactions:
    """The distinct rows of both."""
    if not len(test):
        return train
    return Interactions(
        np.append(train.users, test.users),
        np.append(train.items, test.items),
        train.user_vocabulary,
        train.item_vocabulary,
        name=train.name,
    ).distinct()


@dataclass(eq=False)
class _Work:
    """A world while it is worked on."""

    result: WorldResult
    scale: float = 1.0
    errors: dict[tuple[str, str, str, str], Floats] = field(default_factory=dict)


def _nearest(work: Sequence[_Work]) -> list[_Work]:
    """The nearest accepted world of each kind, the nearest of all first."""
    accepted = [each for each in work if each.result.accepted]
    best: dict[str, _Work] = {}
    for each in sorted(accepted, key=lambda each: each.result.likened.loss or 0.0):
        best.setdefault(each.result.likened.kind, each)
    return list(best.values())


def _merged(parts: Sequence[dict[tuple[str, str, str, str], Floats]]) -> dict[tuple[str, str, str, str], Floats]:
    """The runs of all worlds, one after the other."""
    keys = dict.fromkeys(key for part in parts for key in part)
    return {key: np.concatenate([part[key] for part in parts if key in part]) for key in keys}


def _notes(audit: ErrorAudit, castings: Sequence[Casting]) -> Iterator[str]:
    """Yield the warnings of an error audit."""
    for world in audit.worlds:
        yield from world.likened.notes
        if world.likened.loss is None:  # a given world is not refused
            reasons = (unlike(world.likened), below_chance(world.auc))
            yield from (UNLIKE.format(world=world.likened.name, why=why) for why in reasons if why)
    if not audit.accepted:
        refusal = next(world.why for world in audit.worlds if world.likened is audit.likened)
        yield NONE_ACCEPTED.format(n=len(audit.worlds), world=audit.likened.name, why=refusal)
    for casting in castings:
        yield from casting.notes
    yield from unlike_models(castings)
