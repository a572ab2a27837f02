"""Why popular is put above the oracle by fewer metrics here than in the paper's Table 3: how much users like the same.

The concentration c of an Indian buffet process decides how many items nearly everybody likes. The paper's is not
published. Its archive has popular's true precision, which shows that more is shared there than in our worlds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from unskew.simulators import Ibp
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim
from unskew.studies.framework.stats import Gap, Mean
from unskew.studies.framework.study import Context, Size
from unskew.studies.tian2020.printed import MEANS, METRICS, TABLE3
from unskew.studies.tian2020.runs import NAMES, USERS
from unskew.studies.tian2020.sets import SETS, calibrations, world_of
from unskew.trials import Method, Trials, run_trials

WORLD = "ibp-pop"
"""The world in which the paper's runs put popular first."""
C = 0.5
"""A concentration below all that were calibrated; more items are then liked by nearly everybody."""
RUNS = Size(10, 3, trials=True)
CLEARLY = 3
"""Standard errors over runs."""
NOTE = f"per cent of runs; not in the paper: the same world with c = {C:g}"


def reversed_metrics(data: str) -> list[str]:
    """The metrics by which popular is above the oracle in most of the paper's runs of that world."""
    return [metric for metric in METRICS if TABLE3[SETS[data].paper, WORLD, metric] < 50]


@dataclass(frozen=True, eq=False)
class Shared:
    """Oracle and popular in the world of a data set as calibrated, and with the concentration `C`."""

    data: str
    calibrated: float
    before: Trials
    after: Trials

    @classmethod
    def simulate(cls, context: Context) -> "Iterator[Shared]":
        """Runs for each data set whose world the paper's table puts in the wrong order; ties go by item code."""
        for data in calibrations(context):
            world = world_of(context, data, WORLD, context.size(USERS))
            if reversed_metrics(data) and isinstance(world, Ibp):
                yield cls(data, world.c, *(_trials(context, data, each) for each in (world, replace(world, c=C))))

    def cells(self) -> Iterator[ReproducedCell]:
        """In how many runs the oracle is at least as good."""
        for m, metric in enumerate(METRICS):
            share = float((self.after.difference[:, 0, m, 0] >= 0).mean())
            ours = Mean(100 * share, 100 * sqrt(share * (1 - share)), None)
            yield cell(f"{WORLD}, c = {C:g}, ties ordinal", NAMES[metric], self.data, ours, note=NOTE)

    def claim(self) -> Claim:
        """Whether popular is above the oracle by the paper's metrics if more is shared."""
        metrics, paper = reversed_metrics(self.data), SETS[self.data].paper
        gaps = {name: _gaps(trials, metrics) for name, trials in (("before", self.before), ("after", self.after))}
        holds = all(gap.mean < -CLEARLY * gap.error for gap in gaps["after"])
        moves = ", ".join(
            f"{NAMES[metric]} {before.mean:+.4f} to {after.mean:+.4f}"
            for metric, before, after in zip(metrics, *gaps.values(), strict=True)
        )
        shared = [float(trials.truth[:, 1, 0, 0].mean()) for trials in (self.before, self.after)]
        archived = MEANS[paper, WORLD, "popular", METRICS[0], "truth"]
        names = ", ".join(NAMES[metric] for metric in metrics)
        text = (
            f"{self.data}: with c = {C:g} instead of {self.calibrated:.2g}, so that users like more of the same, "
            f"popular is ranked above the oracle by {names}, as for the paper's {paper}"
        )
        evidence = (
            f"oracle minus popular, observed: {moves}; popular's true precision {shared[0]:.3f} to {shared[1]:.3f}, "
            f"in the authors' archive {archived:.3f}; {len(self.after)} runs"
        )
        return claim(text, (holds, evidence))


def _trials(context: Context, data: str, world: Ibp) -> Trials:
    seed = int(context.rng("tian2020", "concentration", data).integers(2**31))
    runs = context.size(RUNS)
    pair = ("oracle", "popular")
    return run_trials(world, runs, pair, metrics=METRICS, methods=(Method(),), ties="ordinal", seed=seed)


def _gaps(trials: Trials, metrics: Sequence[str]) -> list[Gap]:
    return [Gap.of(trials.difference[:, 0, METRICS.index(metric), 0], 0.0) for metric in metrics]
