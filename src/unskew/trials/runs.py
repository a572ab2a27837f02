"""Many trials, each on a world of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.progress import Stage
from unskew.ranking import Threads, Ties
from unskew.simulators import World, WorldModel
from unskew.trials.design import METRICS, RECOMMENDERS, Design
from unskew.trials.methods import METHODS, Method
from unskew.trials.panel import Panel, split_panel
from unskew.trials.recommenders import Recommenders, resolve_recommenders
from unskew.trials.rows import Population
from unskew.trials.trial import Trial, judge

_ARRAYS = ("truth", "population", "estimate", "std_error", "difference", "difference_error")
_COUNTS = ("users", "panel_users", "dropped")


@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of one world, run by run; arrays as in `Trial` with the runs in front.

    Parameters
    ----------
    design : Design
    world : str
        Word of the world.
    seed : int
    truth, population, estimate, std_error : array (runs, recommenders, metrics, methods)
    difference, difference_error : array (runs, pairs, metrics, methods)
    users, panel_users, dropped : array of int (runs)
    """

    design: Design
    world: str
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
        arrays = {name: np.stack([getattr(trial, name) for trial in trials]) for name in _ARRAYS}
        counts = {name: np.array([getattr(trial, name) for trial in trials]) for name in _COUNTS}
        return cls(trials[0].design, world, seed, **arrays, **counts)

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
        """Difference of what stands for the population's truth."""
        return self.design.gaps(self.population)

    @property
    def difference_of_errors(self) -> Floats:
        """Estimated minus true difference of the own users."""
        return self.difference - self.true_difference


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
    progress: Stage | None = None,
) -> Trials:
    """Draw worlds and judge recommenders on each.

    Run k draws from a generator seeded by (seed, k) alone, so it is the same in any number of runs and threads.

    Parameters
    ----------
    model : WorldModel or callable
        A callable makes a world from a generator; it has no panel.
    runs : int
    recommenders, metrics, methods, ties, level, graded_truth, population
        As in `run_trial`.
    panel : bool
        Draw twice the users, and use the second half to say what the population is like; see `split_panel`.
    seed : int
    threads : int, optional
        Runs side by side; as many as there are cores when not given. Each holds a world in memory.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.
    """
    if runs < 1:
        raise ConfigError(f"{runs} runs: at least 1 is needed")
    if seed < 0:
        raise ConfigError(f"seed {seed} must be 0 or more")
    if not (isinstance(model, WorldModel) or callable(model)):
        raise ConfigError(f"{model!r} is not a world; make one with WorldModel.from_word")
    named = resolve_recommenders(recommenders)
    design = Design(tuple(named), tuple(metrics), tuple(methods), level, ties, graded_truth, population)
    draw = _with_panel(model) if panel else _alone(model)

    def task(run: int) -> Trial:
        world, strangers = draw(np.random.default_rng([seed, run]))
        # models learn from a seed of their own, so that a model more or less does not change the world
        return judge(
            world, named, design, panel=strangers, seed=int(np.random.SeedSequence([seed, run, 1]).generate_state(1)[0])
        )

    word = str(model) if isinstance(model, WorldModel) else "given"
    trials = []
    for trial in Threads(threads).map(task, range(runs)):
        trials.append(trial)
        if progress is not None:
            progress("simulated evaluations", len(trials), runs)
    return Trials.of(trials, world=word, seed=seed)


Drawn = Callable[[np.random.Generator], tuple[World, Panel | None]]


def _alone(model: WorldModel | Callable[[np.random.Generator], World]) -> Drawn:
    draw = model.draw if isinstance(model, WorldModel) else model
    return lambda rng: (draw(rng), None)


def _with_panel(model: WorldModel | Callable[[np.random.Generator], World]) -> Drawn:
    options: Any = model
    users = getattr(options, "users", None)
    if not isinstance(model, WorldModel) or not isinstance(users, int):
        raise ConfigError("a panel needs a world whose number of users can be doubled; leave the panel out")
    own, larger = users, replace(options, users=2 * users)
    return lambda rng: split_panel(larger.draw(rng), own)
