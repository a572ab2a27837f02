"""Beyond the paper: trained models in the simulated worlds, instead of the oracle."""

from collections.abc import Iterator, Mapping

import numpy as np

from unskew.arrays import Bools
from unskew.studies.framework.cells import ReproducedCell, cell, cells
from unskew.studies.framework.claims import Claim, claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Trials
from unskew.studies.tian2020.printed import POPULAR, WORLDS
from unskew.studies.tian2020.runs import NAIVE, NAMES, TRUTH, kept_runs, per_run
from unskew.studies.tian2020.sets import NEEDS, calibrations, provenance, sources_of, world_of
from unskew.trials import METHODS, METRICS, Design, Summary, Trial, judge, resolve_recommenders

LEARNERS = ("popular", "item-knn(neighbours=50)", "als(factors=16, iterations=8)", "svd(rank=16)")
USERS = Size(1500, 250)
RUNS = Size(6, 2, trials=True)
SHOWN = ("recall@50", "auc")
JUDGED = "recall@50"
CORRECTED = "snips, true"
"""The method that the claims are about: it needs only propensities, not the number of relevant items."""
Runs = Mapping[tuple[str, str], Summary]
"""By data set and world."""


def run(context: Context) -> Findings:
    """Errors of every estimate, and how many pairs of models it puts in order."""
    runs = {(data, world): simulate(context, data, world) for data in calibrations(context) for world in WORLDS}
    groups = {
        (*place, *key): values
        for place, summary in runs.items()
        for key, values in per_run(summary.trials).items()
        if key[0] in SHOWN
    }
    values = Trials(("data", "world", "metric", "model", "column"), "run", groups)
    count = len(next(iter(runs.values())).trials) if runs else 0
    note = (
        f"{', '.join(LEARNERS)}, with these fixed settings, trained on the log of a world of at most "
        f"{context.size(USERS):,} users; {count} runs of each world. Columns of models have estimate minus truth; in "
        "rows named 'truth' they have the truth itself. 'clear pairs' have a true difference of more than three "
        "standard errors of the estimate. The truth is each estimator's own target, over users or over pairs."
    )
    return Findings(
        tuple(each for place, summary in runs.items() for each in _cells(values, summary, *place)),
        tuple(claims(values, runs)),
        notes=(note, *provenance(context)),
        used=sources_of(calibrations(context)),
        trials=values,
    )


def simulate(context: Context, data: str, world: str) -> Summary:
    """Models in one world, of a part of its users."""
    model = world_of(context, data, world, context.size(USERS))
    named = resolve_recommenders(LEARNERS)
    design = Design(tuple(named), METRICS, METHODS)

    def task(run: int) -> dict[str, Trial]:
        drawn = model.draw(context.rng("tian2020", "models", data, world, run))
        return {"models": judge(drawn, named, design, seed=run)}

    designs = {"models": design}
    return kept_runs(context, ("models", data, world), str(model), designs, context.size(RUNS), task)["models"]


def _cells(values: Trials, summary: Summary, data: str, world: str) -> Iterator[ReproducedCell]:
    """The truth of each model; then, by method, the bias of each model and the share of pairs in order."""
    ours = values.at(data=data, world=world)
    for metric in SHOWN:
        yield from cells(ours.where(metric=metric, column=TRUTH), f"{world}, {NAMES[metric]}, truth", "{model}", data)
    for metric in SHOWN:
        for label in ours.where(metric=metric).levels("column"):
            if label == TRUTH:
                continue
            row, errors = f"{world}, {NAMES[metric]}, {label}", ours.where(metric=metric, column=label)
            yield from cells(errors, row, "{model}", data)
            yield cell(row, "mean |error|", data, size_of(errors))
            for column, clear in (("pairs in order %", False), ("clear pairs in order %", True)):
                right = in_order(summary, metric, label, clear=clear)
                if len(right):
                    yield cell(row, column, data, 100 * float(np.mean(right)))


def size_of(errors: Trials) -> float:
    """The mean absolute error over models and runs."""
    return float(np.nanmean(np.abs(np.stack(list(errors.groups.values()), axis=1))))


def in_order(summary: Summary, metric: str, label: str, *, clear: bool = False) -> Bools:
    """Whether each pair of models of each run is put in its true order; pairs with equal truth are left out.

    With `clear` only pairs are counted whose true difference exceeds three standard errors.
    """
    trials = summary.trials
    at = (..., trials.design.metrics.index(metric), trials.design.labels.index(label))
    truth, seen = trials.true_difference[at], trials.difference[at]
    counted = np.abs(truth) > 3 * trials.difference_error[at] if clear else truth != 0
    return np.asarray((np.sign(truth) == np.sign(seen))[counted])


def claims(values: Trials, runs: Runs) -> Iterator[Claim]:
    """Whether the method puts more pairs in order where popularity decides what is observed."""
    places = [(data, world) for data, world in runs if world in POPULAR]
    if not places:
        return
    labels = (NAIVE, CORRECTED)
    errors = {label: values.where(metric=JUDGED, column=label) for label in labels}
    naive, ours = (
        float(np.mean([size_of(errors[label].where(data=data, world=world)) for data, world in places]))
        for label in labels
    )
    evidence = f"mean |error| {ours:.4f} against {naive:.4f} in {len(places)} worlds"
    yield claim(
        f"Where popularity decides what is observed, {CORRECTED} is nearer to the true {JUDGED} of models than the "
        "naive mean",
        (ours < naive, evidence),
    )
    orders = ([in_order(runs[place], JUDGED, label) for place in places] for label in labels)
    naive, ours = (float(np.mean(np.concatenate(each))) for each in orders)
    evidence = f"{100 * ours:.1f} % of pairs against {100 * naive:.1f} %"
    yield claim(f"There it also puts more pairs of models in their true order by {JUDGED}", (ours > naive, evidence))


TABLE = Table("models", "Beyond the paper: models of this program in the simulated worlds", run, needs=NEEDS)
