"""Beyond the paper: models that learn from the log, in the place of the oracle."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.ranking import Threads
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020 import words
from unskew.studies.tian2020.keeping import kept_trials
from unskew.studies.tian2020.printed import WORLDS
from unskew.studies.tian2020.runs import NAIVE
from unskew.studies.tian2020.sets import NEEDS, SETS, provenance, sets_at_hand, world_of
from unskew.trials import METHODS, METRICS, Design, Trial, Trials, judge, resolve_recommenders

LEARNERS = ("popular", "item-knn(neighbours=50)", "als(factors=16, iterations=8)", "svd(rank=16)")
USERS, FAST_USERS = 1500, 250
RUNS, FAST_RUNS = 6, 2
SHOWN = ("recall@50", "auc")
JUDGED = "recall@50"
CORRECTED = "snips, true"
"""The method that the claims are about: it needs propensities alone, no number of relevant items."""
_WAY = "models"


@dataclass(frozen=True, eq=False)
class Learnt:
    """The runs of a world with models in it."""

    data: str
    world: str
    trials: Trials

    def column(self, metric: str, label: str) -> tuple[int, int] | None:
        """Places of a metric and a method; None where they do not go together."""
        design = self.trials.design
        m, c = design.metrics.index(metric), design.labels.index(label)
        return (m, c) if design.applies()[m, c] else None

    def errors(self, metric: str, label: str) -> Floats:
        """Estimate less truth, runs by models."""
        m, c = self._place(metric, label)
        return np.asarray(self.trials.error[:, :, m, c])

    def ordered(self, metric: str, label: str, *, clear: bool = False) -> Bools:
        """Whether each pair of models of each run is put in its true order; pairs that are alike are left out.

        With `clear` only those whose true difference exceeds three standard errors.
        """
        m, c = self._place(metric, label)
        truth, seen = self.trials.true_difference[:, :, m, c], self.trials.difference[:, :, m, c]
        kept = truth != 0
        if clear:
            kept = np.abs(truth) > 3 * self.trials.difference_error[:, :, m, c]
        return np.asarray((np.sign(truth) == np.sign(seen))[kept])

    def _place(self, metric: str, label: str) -> tuple[int, int]:
        design = self.trials.design
        return design.metrics.index(metric), design.labels.index(label)


def run(context: Context) -> Findings:
    """Errors of every estimate, and how many pairs of models it puts in order."""
    found = [learnt_of(context, data, world) for data in sets_at_hand(context) for world in WORLDS]
    cells = [cell for each in found for cell in (*_truths(each), *_cells(each))]
    return Findings(
        tuple(cells),
        words.soften(context, tuple(claims(found))),
        notes=(*notes(context, found), *provenance(context)),
        used=tuple(dict.fromkeys(SETS[each.data].source for each in found)),
    )


def learnt_of(context: Context, data: str, world: str) -> Learnt:
    """Models in one world; a part of the users will do."""
    model = world_of(context, data, world)
    model = replace(model, users=min(model.users, FAST_USERS if context.fast else USERS))
    named = resolve_recommenders(LEARNERS)
    design = Design(tuple(named), METRICS, METHODS)

    def task(run: int) -> dict[str, Trial]:
        drawn = model.draw(context.rng("tian2020", "models", data, world, run))
        return {_WAY: judge(drawn, named, design, seed=run)}

    trials = kept_trials(
        context,
        ("models", data, world),
        str(model),
        {_WAY: design},
        context.n_trials(RUNS, FAST_RUNS),
        lambda runs: list(Threads().map(task, list(runs))),
    )
    return Learnt(data, world, trials[_WAY])


def _truths(each: Learnt) -> Iterator[ReproducedCell]:
    """The true value of each model."""
    for metric in SHOWN:
        for k, name in enumerate(LEARNERS):
            m = each.trials.design.metrics.index(metric)
            truth = Mean.of(each.trials.truth[:, k, m, each.trials.design.labels.index(NAIVE)])
            yield ReproducedCell(
                f"{each.world}, {words.NAMES[metric]}, truth", name, each.data, None, truth.value, truth.spread
            )


def _cells(each: Learnt) -> Iterator[ReproducedCell]:
    """Bias of each model and the share of pairs in order, by method."""
    for metric in SHOWN:
        for label in each.trials.design.labels:
            if each.column(metric, label) is None:
                continue
            errors, row = each.errors(metric, label), f"{each.world}, {words.NAMES[metric]}, {label}"
            for k, name in enumerate(LEARNERS):
                bias = Mean.of(errors[:, k])
                yield ReproducedCell(row, name, each.data, None, bias.value, bias.spread)
            numbers = {
                "mean |error|": float(np.nanmean(np.abs(errors))),
                "pairs in order %": _percent(each.ordered(metric, label)),
                "clear pairs in order %": _percent(each.ordered(metric, label, clear=True)),
            }
            for column, value in numbers.items():
                if value is None:
                    continue
                yield ReproducedCell(row, column, each.data, None, value)


def _percent(claims: Bools) -> float | None:
    return 100 * float(np.mean(claims)) if len(claims) else None


def claims(found: Sequence[Learnt]) -> Iterator[Claim]:
    """Whether the method puts more pairs in order where popularity decides what is observed."""
    pop = [each for each in found if each.world in words.POPULAR]
    if not pop:
        return
    shares, sizes = {}, {}
    for label in (NAIVE, CORRECTED):
        own = np.concatenate([each.ordered(JUDGED, label) for each in pop])
        shares[label], sizes[label] = float(np.mean(own)), float(np.mean([_size(each, label) for each in pop]))
    yield Claim(
        f"Where popularity decides what is observed, {CORRECTED} is nearer to the true {JUDGED} of models than the "
        "naive mean",
        sizes[CORRECTED] < sizes[NAIVE],
        f"mean |error| {sizes[CORRECTED]:.4f} against {sizes[NAIVE]:.4f} in {len(pop)} worlds",
    )
    yield Claim(
        f"There it also puts at least as many pairs of models in their true order by {JUDGED}",
        shares[CORRECTED] >= shares[NAIVE],
        f"{100 * shares[CORRECTED]:.1f} % of pairs against {100 * shares[NAIVE]:.1f} %",
    )


def _size(each: Learnt, label: str) -> float:
    return float(np.nanmean(np.abs(each.errors(JUDGED, label))))


def notes(context: Context, found: Sequence[Learnt]) -> Iterator[str]:
    """What was done."""
    most = FAST_USERS if context.fast else USERS
    runs = len(found[0].trials) if found else 0
    yield (
        f"{', '.join(LEARNERS)}, with these settings as they are, trained on the log of a world of at most {most:,} "
        f"users; {runs} runs of each world. Under a model's name is estimate less truth, in rows named 'truth' the "
        "truth itself. 'clear pairs' are those whose true difference exceeds three standard errors of the estimate. "
        "The truth is each estimator's own target, over users or over pairs."
    )


TABLE = Table("models", "Beyond the paper: models of this program in the simulated worlds", run, needs=NEEDS)
