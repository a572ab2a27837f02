"""`run_trials`: many trials, each on a newly drawn world."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.progress import Stage
from unskew.ranking import Engine, Ties, engine_of
from unskew.simulators import World, WorldModel
from unskew.trials.design import METRICS, RECOMMENDERS, Design
from unskew.trials.methods import METHODS, Method
from unskew.trials.panel import split_panel
from unskew.trials.recommenders import Recommenders, resolve_recommenders
from unskew.trials.rows import Population
from unskew.trials.trial import Trial, judge


@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of one world, run by run; arrays as in `Trial` with the runs in front."""

    design: Design
    world: str  # word of the world
    seed: int
    truth: Floats
    population: Floats
    estimate: Floats
    std_error: Floats
    difference: Floats
    difference_error: Floats
    users: Ints
    panel_users: Ints
    dropped: Ints

    def __len__(self) -> int:
        return len(self.users)

    @classmethod
    def of(cls, trials: Sequence[Trial], *, world: str = "given", seed: int = 0) -> "Trials":
        """Stack trials of one design."""
        if not trials:
            raise ConfigError("no trial to summarise; ask for at least 1 run")
        names = [each.name for each in fields(Trial) if each.name != "design"]
        arrays = {name: np.stack([getattr(trial, name) for trial in trials]) for name in names}
        return cls(trials[0].design, world, seed, **arrays)

    @property
    def error(self) -> Floats:
        """Estimate minus truth of the own users."""
        return self.estimate - self.truth

    @property
    def true_difference(self) -> Floats:
        """True difference of the own users, (runs, pairs, metrics, methods)."""
        return self.design.gaps(self.truth)

    @property
    def population_difference(self) -> Floats:
        """Difference of the values that represent the population's truth."""
        return self.design.gaps(self.population)


def run_trials(
    model: WorldModel | Callable[[np.random.Generator], World],
    runs: int,
    recommenders: Recommenders = RECOMMENDERS,
    *,
    metrics: Sequence[str] = METRICS,
    methods: Sequence[Method] = METHODS,
    ties: Ties = "expected",
    level: float = 0.95,
    graded_truth: bool = False,
    population: Population = "tested",
    panel: bool = False,
    seed: int = 0,
    threads: int | None = None,
    engine: Engine | str | None = None,
    progress: Stage | None = None,
) -> Trials:
    """Draw worlds and judge recommenders on each.

    Run k draws from a generator seeded by (seed, k) alone, so it is the same in any number of runs and threads.

    Parameters
    ----------
    model : WorldModel or callable
        A callable makes a world from a generator; it has no panel.
    recommenders, metrics, methods, ties, level, graded_truth, population
        As in `run_trial`.
    panel : bool
        Draw twice the users, and use the second half to represent the population; see `split_panel`.
    threads : int, optional
        Runs at the same time; the number of cores when not given. Each holds a world in memory.
    engine : {"threads", "ray"} or Engine, optional
        Where runs take place.
    """
    if runs < 1:
        raise ConfigError(f"{runs} runs: at least 1 is needed")
    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    if not (isinstance(model, WorldModel) or callable(model)):
        raise ConfigError(f"{model!r} is not a world; make one with WorldModel.from_word")
    named = resolve_recommenders(recommenders)
    design = Design(tuple(named), tuple(metrics), tuple(methods), level, ties, graded_truth, population)
    source: Any = model
    users: Any = getattr(source, "users", None) if isinstance(model, WorldModel) else None
    if panel:
        if not isinstance(users, int):
            raise ConfigError("a panel needs a world whose number of users can be doubled; leave the panel out")
        source = replace(source, users=2 * users)
    word, draw = (str(model), source.draw) if isinstance(model, WorldModel) else ("given", model)

    def task(run: int) -> Trial:
        world, strangers = draw(np.random.default_rng([seed, run])), None
        if panel:
            world, strangers = split_panel(world, users)
        # models have a separate seed, so that adding a model does not change the world
        own_seed = int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0])
        return judge(world, named, design, panel=strangers, seed=own_seed)

    trials = []
    for trial in engine_of(engine, threads).map(task, range(runs)):
        trials.append(trial)
        if progress is not None:
            progress("simulated evaluations", len(trials), runs)
    return Trials.of(trials, world=word, seed=seed)
