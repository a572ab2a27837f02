"""The loops of the feedback experiment, replicated, and their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.feedback import Feedback, simulate_feedback
from unskew.ranking import Threads
from unskew.simulators import Lda
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context
from unskew.studies.tian2020.estimates import METHODS

WORLD = Lda(users=1000, items=800, topics=10, likes=100, sizes="pareto(scale=10, shape=1, upper=60)")
FAST_WORLD = Lda(users=150, items=150, topics=5, likes=40, sizes="pareto(scale=5, shape=1, upper=20)")
LEARNT = "als(factors=16)"
BESIDE = ("oracle", "popular", LEARNT)
K, ETA, TAKE, ORGANIC = 20, 1.0, 0.5, 0.02


@dataclass(frozen=True)
class Loop:
    """Who shows the lists, and how often what is looked at is consumed though it is not liked."""

    recommender: str
    dislikes: float = 0.0

    def __str__(self) -> str:
        return self.recommender + (f", dislikes {self.dislikes:g}" if self.dislikes else "")


LOOPS = (Loop("popular"), Loop(LEARNT), Loop("random"), Loop(LEARNT, 0.1))
PURE = tuple(loop for loop in LOOPS if not loop.dislikes)


@dataclass(frozen=True, eq=False)
class Tally:
    """Replications of each loop.

    Parameters
    ----------
    world : str
    runs : mapping
        Of each loop, one a replication; all have as many rounds.
    """

    world: str
    runs: Mapping[Loop, Sequence[Feedback]]

    @property
    def rounds(self) -> int:
        """In each loop."""
        return len(self.runs[LOOPS[0]][0])

    @property
    def replications(self) -> int:
        """Of each loop."""
        return len(self.runs[LOOPS[0]])

    def truth(self, loop: Loop, recommender: str, metric: str) -> Floats:
        """Replications by rounds, mean over users."""
        return np.array([run.truth(recommender, metric) for run in self.runs[loop]])

    def estimate(self, loop: Loop, recommender: str, metric: str, method: str) -> Floats:
        """Replications by rounds."""
        return np.array([run.estimate(recommender, metric, method) for run in self.runs[loop]])

    def error(self, loop: Loop, recommender: str, metric: str, method: str) -> Floats:
        """Estimate minus truth, replications by rounds."""
        return np.array([run.error(recommender, metric, method) for run in self.runs[loop]])

    def z(self, loop: Loop, recommender: str, metric: str, method: str) -> float:
        """Sum of the errors of all rounds over its standard error.

        Given the log before a round, the error of an estimate without bias has mean 0, so errors of different rounds
        are uncorrelated and their squares add up.
        """
        errors = self.error(loop, recommender, metric, method)
        return float(errors.sum() / np.sqrt((errors**2).sum()))

    def chosen(self, loop: Loop, first: str, second: str, metric: str, method: str) -> float:
        """Share of rounds, over all replications, in which the first has the higher estimate."""
        ahead = self.estimate(loop, first, metric, method) > self.estimate(loop, second, metric, method)
        return float(ahead.mean())

    def better(self, loop: Loop, first: str, second: str, metric: str) -> float:
        """Share of rounds in which the first is truly better."""
        return float((self.truth(loop, first, metric) > self.truth(loop, second, metric)).mean())

    def head(self, loop: Loop) -> Floats:
        """Share of the log's rows that the head has, replications by states of the log."""
        return np.array([run.head for run in self.runs[loop]])

    def rows(self, loop: Loop) -> Floats:
        """Size of the log, replications by states."""
        return np.array([run.rows for run in self.runs[loop]], dtype=float)

    def moved(self, values: Floats) -> Mean:
        """Last less first round, over replications."""
        return Mean.of(values[:, -1] - values[:, 0])


def simulate(context: Context, rounds: int, replications: int) -> Tally:
    """Run all loops; the k-th replications of all of them start from the same log."""
    world = FAST_WORLD if context.fast else WORLD
    seeds = [int(context.rng("tian2020", "feedback", k).integers(2**31)) for k in range(replications)]
    tasks = [(loop, seed) for seed in seeds for loop in LOOPS]

    def play(task: tuple[Loop, int]) -> Feedback:
        loop, seed = task
        return simulate_feedback(
            world,
            loop.recommender,
            rounds,
            k=K,
            eta=ETA,
            take=TAKE,
            organic=ORGANIC,
            dislikes=loop.dislikes,
            methods=METHODS,
            others=BESIDE,
            seed=seed,
        )

    runs: dict[Loop, list[Feedback]] = {loop: [] for loop in LOOPS}
    for done, (task, found) in enumerate(zip(tasks, Threads().map(play, tasks), strict=True), start=1):
        runs[task[0]].append(found)
        context.report("loops", done, len(tasks))
    return Tally(str(world), runs)
