"""Table 1: how close the logs of calibrated worlds come to the real one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from unskew.arrays import Floats
from unskew.calibration.calibrate import real_statistics
from unskew.ranking import Threads
from unskew.simulators.likeness import STATISTICS, Statistics, divergences, measure
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020 import words
from unskew.studies.tian2020.printed import BEST, DATA, TABLE1, WORLDS, best_world, loss, losses
from unskew.studies.tian2020.sets import NEEDS, SETS, absence_of, calibration_of, log_of, provenance, world_of

RUNS, FAST_RUNS = 20, 2
ROUNDED = 0.005
"""Half a unit of the last digit of the printed percentages."""
MEAN_LOSS = "mean loss %"
LUCK = 2.0
"""New logs may be so many times as far from the real one as the log that the parameters were chosen by.

By reason, not by what was found: some luck is in every best of many, but parameters whose logs are typically twice as
far off owe more to their one draw than to what they are.
"""

NOTES = (
    (
        "Smoothed Kullback-Leibler divergences, in nats, of the real log's four distributions from those of a "
        "simulated log: mean over runs, each a log of its own. The loss is how much larger they are than the smallest "
        "that the calibration reached in any world, mean over the statistics. That smallest one is of a single log "
        "that was chosen for it, so it is on the low side, as it is in the paper."
    ),
    (
        "The calibration chose parameters by one log each, the best of many; the means here are of new logs, so they "
        f"may well be larger. A claim says whether they are within a factor of {LUCK:g}, in the mean ratio that the "
        "calibration minimised: the divergences of the four statistics, each relative to its smallest."
    ),
)


@dataclass(frozen=True, eq=False)
class Closeness:
    """Divergences of the logs of one world.

    Parameters
    ----------
    found : mapping
        Statistic to its divergence in each run.
    best : mapping
        The smallest one that calibration reached.
    chosen : mapping
        That of the one log by which calibration chose this world.
    """

    found: Mapping[str, Floats]
    best: Mapping[str, float]
    chosen: Mapping[str, float]

    def mean(self, statistic: str) -> Mean:
        """Over the runs."""
        return Mean.of(self.found[statistic])

    def ratio(self, statistic: str) -> float:
        """Of the mean to the best."""
        return self.mean(statistic).value / self.best[statistic]

    @property
    def loss(self) -> float:
        """Mean over the statistics, in per cent."""
        return float(np.mean([loss(self.mean(each).value, self.best[each]) for each in STATISTICS]))

    @property
    def luck(self) -> float:
        """The mean ratio of new logs over that of the log by which the parameters were chosen; 1 is no luck."""
        then = np.mean([self.chosen[each] / self.best[each] for each in STATISTICS])
        return float(np.mean([self.ratio(each) for each in STATISTICS]) / then)


Found = Mapping[str, Closeness]
"""By world."""


def run(context: Context) -> Findings:
    """The table of every data set at hand."""
    cells: list[ReproducedCell] = []
    found: dict[str, Found] = {}
    for data in SETS:
        if calibration_of(context, data) is None:
            continue
        measured = _measure(context, data)
        if measured is not None:
            found[data] = measured
        cells += _cells(context, data, measured)
    return Findings(
        tuple(cells),
        (*golden(), *words.soften(context, tuple(claims(found)))),
        notes=(*NOTES, *provenance(context)),
        used=tuple(dict.fromkeys(SETS[data].source for data in found)),
    )


def _measure(context: Context, data: str) -> Found | None:
    """Draw logs and compare them; None when the real one is not at hand."""
    log, calibration = log_of(context, data), calibration_of(context, data)
    if log is None or calibration is None:
        return None
    real = real_statistics(log, context.seed)
    total = context.n_trials(RUNS, FAST_RUNS)
    found = {}
    for world in WORLDS:
        stage = f"{data}, {world}: simulated logs"
        context.report(stage, 0, total)
        drawn = []
        for each in Threads().map(_Comparison(context, data, world, real), list(range(total))):
            drawn.append(each)
            context.report(stage, len(drawn), total)
        found[world] = Closeness(
            {name: np.array([each[name] for each in drawn]) for name in STATISTICS},
            calibration.best,
            calibration[world].divergences,
        )
    return found


class _Comparison:
    """One simulated log beside the real one."""

    def __init__(self, context: Context, data: str, world: str, real: Statistics) -> None:
        # divergences depend on the number of users, so also the small version draws all of them
        self.model = world_of(replace(context, fast=False), data, world)
        self.context, self.data, self.world, self.real = context, data, world, real

    def __call__(self, run: int) -> dict[str, float]:
        rng = self.context.rng("tian2020", "table1", self.data, self.world, run)
        return divergences(self.real, measure(self.model.log(rng), rng, reference=self.real))


def _cells(context: Context, data: str, found: Found | None) -> Iterator[ReproducedCell]:
    each = SETS[data]
    note = each.note if found is not None else absence_of(context, data)
    for world in WORLDS:
        own = None if found is None else found[world]
        printed = TABLE1[each.paper][world]
        for name in STATISTICS:
            mean = None if own is None else own.mean(name)
            yield ReproducedCell(
                world,
                name,
                data,
                printed.divergences[name],
                None if mean is None else mean.value,
                None if mean is None else mean.spread,
                note=note,
            )
        for name in STATISTICS:
            ratio = None if own is None else own.ratio(name)
            paper = printed.divergences[name] / BEST[each.paper][name]
            yield ReproducedCell(world, f"{name}: ratio", data, paper, ratio, note=note)
        yield ReproducedCell(world, MEAN_LOSS, data, printed.mean_loss, None if own is None else own.loss, note=note)


def golden() -> Iterator[Claim]:
    """The paper's percentages from its divergences, and the world each data set is said to be closest to."""
    off = max(
        abs(np.mean(list(losses(paper, world).values())) - TABLE1[paper][world].mean_loss)
        for paper in DATA
        for world in WORLDS
    )
    yield Claim(
        "The paper's mean losses follow from its divergences and the smallest ones it reached",
        bool(off <= ROUNDED * (1 + 1e-6)),
        f"largest difference {off:.4f} percentage points of {len(DATA) * len(WORLDS)}",
    )


def claims(found: Mapping[str, Found]) -> Iterator[Claim]:
    """What can be judged of calibrations of our own."""
    for data, own in found.items():
        luck = {world: each.luck for world, each in own.items()}
        ratios = ", ".join(f"{world} {each:.2f}" for world, each in luck.items())
        yield Claim(
            f"{data}: new logs of all worlds are as far from the real one as the logs that the parameters were chosen "
            f"by, within a factor of {LUCK:g}",
            all(1 / LUCK <= each <= LUCK for each in luck.values()),
            f"mean ratio of new logs over that of the chosen: {ratios}",
        )
        best = min(own, key=lambda world: own[world].loss)
        theirs = best_world(SETS[data].paper)
        told = ", ".join(f"{world} {own[world].loss:.0f} %" for world in own)
        yield Claim(
            f"{data}: {_family(theirs)} comes closer than {_other(theirs)}, as to the paper's {SETS[data].paper}",
            _family(best) == _family(theirs),
            f"mean losses {told}; closest {best}, in the paper {theirs}",
        )


def _family(world: str) -> str:
    return world.partition("-")[0].upper()


def _other(world: str) -> str:
    return "IBP" if _family(world) == "LDA" else "LDA"


TABLE = Table("table1", "How close simulated logs come to the real one, by four distributions", run, needs=NEEDS)
