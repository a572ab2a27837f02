"""Worlds in which users consume what they dislike, or by how much they like it, and the trials on them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np

from unskew.arrays import Floats
from unskew.simulators import Ibp, Lda, PreferenceWorld
from unskew.studies.framework.study import Context
from unskew.studies.tian2020.estimates import METHODS, METRICS, NAIVE
from unskew.trials import Summary, run_trials

SIZES = "pareto(scale=10, shape=1, upper=60)"
WORLDS: Mapping[str, PreferenceWorld] = {
    "lda": Lda(users=1000, items=800, topics=10, likes=100, sizes=SIZES),
    "ibp": Ibp(users=1000, alpha=80, c=2, sigma=0.4, sizes=SIZES),
}
FAST_USERS = 150
SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
ORACLE, POPULAR = "oracle", "popular"


@dataclass(frozen=True)
class Setting:
    """How a world is consumed: by popularity with a share of dislikes, all alike, or by how much an item is liked."""

    dislikes: float = 0.0
    observe: Literal["popular", "uniform", "preferred"] = "popular"

    def __str__(self) -> str:
        if self.observe == "popular":
            return f"dislikes {self.dislikes:g}"
        return {"uniform": "all likes alike", "preferred": "by how much it is liked"}[self.observe]

    def of(self, world: PreferenceWorld) -> PreferenceWorld:
        """The world, consumed so."""
        return replace(world, dislikes=self.dislikes, observe=self.observe, graded=self.observe == "preferred")


SETTINGS = (*map(Setting, SHARES), Setting(observe="uniform"), Setting(observe="preferred"))


@dataclass(frozen=True, eq=False)
class Tally:
    """Trials of each world and setting.

    Parameters
    ----------
    summaries : mapping
        By name of the world and setting.
    runs : int
        In each.
    """

    summaries: Mapping[tuple[str, Setting], Summary]
    runs: int

    def truth(self, world: str, setting: Setting, recommender: str, metric: str) -> Floats:
        """The true value, one a run."""
        return self._of("truth", world, setting, recommender, metric, NAIVE)

    def error(self, world: str, setting: Setting, recommender: str, metric: str, method: str) -> Floats:
        """Estimate minus truth, one a run."""
        return self._of("error", world, setting, recommender, metric, method)

    def chosen(self, world: str, setting: Setting, metric: str, method: str) -> float | None:
        """Share of runs in which the oracle's estimate is at least that of popular."""
        return self.summaries[world, setting].pair(ORACLE, POPULAR, metric, method).first_chosen

    def better(self, metric: str) -> float:
        """Share of all worlds in which the oracle is truly better."""
        gaps = [self.truth(*key, ORACLE, metric) - self.truth(*key, POPULAR, metric) for key in self.summaries]
        return float(np.mean(np.concatenate(gaps) > 0))

    def _of(self, name: str, world: str, setting: Setting, recommender: str, metric: str, method: str) -> Floats:
        trials = self.summaries[world, setting].trials
        design = trials.design
        k, m, c = (
            design.recommenders.index(recommender),
            design.metrics.index(metric),
            design.labels.index(method),
        )
        values: Floats = getattr(trials, name)
        return np.asarray(values[:, k, m, c])


def simulate(context: Context, runs: int) -> Tally:
    """Run all worlds and settings; each draws worlds of its own."""
    found = {}
    for name, setting in context.counted("worlds", list(product(WORLDS, SETTINGS))):
        world = setting.of(replace(WORLDS[name], users=FAST_USERS) if context.fast else WORLDS[name])
        seed = int(context.rng("tian2020", "dislikes", name, str(setting)).integers(2**31))
        trials = run_trials(world, runs, (ORACLE, POPULAR), metrics=METRICS, methods=METHODS, seed=seed)
        found[name, setting] = Summary(trials)
    return Tally(found, runs)
