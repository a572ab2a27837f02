"""Figure 4: four metrics of four models, as observed and corrected for popularity."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from unskew.data import Split
from unskew.evaluation import evaluate
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018.printed import FIG4, FIG4_GAMMAS, METRICS, MODELS
from unskew.studies.yang2018.protocol import DATA, LABELS, NOT_OURS, PRESET, Learnt, drop_cold, learnt_models, split_of

NAMES = {"auc": "AUC", "recall@5": "Recall@5", "adg": "DCG", "adg@5": "DCG@5"}
CURVE = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
WIDEST = 0.009
UB, OURS = "snips(per=user)", "snips"
Values = dict[tuple[str, str, str], float]
"""By metric, model and column."""

_FALL = "Every metric of every model is lower at every gamma than AOA"
_STABLE = f"Within the range of gamma no output moves by more than {WIDEST:g}"
_ORDER = "Within the range of gamma the models keep their order by every metric"
_FLIP = "Tradesy: by DCG, PMF is above U-CML as observed and below it when corrected"
_RATIO = "Tradesy: the ratio of BPR's Recall@5 to PMF's grows when corrected"


def run(context: Context) -> Findings:
    """The blocks of all data sets at hand."""
    cells: list[ReproducedCell] = []
    found: dict[str, Values] = {}
    figures, notes = [], []
    for data in DATA:
        learnt = learnt_models(context, data)
        split = split_of(context, data)
        if learnt is not None and split is not None:
            found[data] = judge(context, split, learnt, FIG4_GAMMAS[data])
            figures.append(_figure(data, found[data]))
            notes.append(_told(data, found[data], learnt))
        cells += _cells(context, data, found.get(data))
    notes.append(
        "UB is the paper's correction, a ratio for each user; snips the default here, one ratio over all pairs. full: "
        "ranked among all items the user has not had in training, instead of 200 drawn ones. gamma = -1 is AOA itself."
    )
    claims = [_judged(context, found, *asked) for asked in ((_FALL, falls), (_STABLE, stays), (_ORDER, keeps_order))]
    return Findings(tuple(cells), (*claims, *_tradesy(context, found)), tuple(figures), tuple(notes))


def judge(context: Context, split: Split, learnt: Mapping[str, Learnt], gammas: tuple[float, ...]) -> Values:
    """All columns: sampled and full ranking, AOA and both forms of the correction.

    Each metric is that of the state which validation chose for it.
    """
    values: Values = {}
    rules = {"": PRESET["candidates"], "full": "unseen"}
    for metric in METRICS:
        scorers = {name: learnt[name].chosen[metric].scorer for name in MODELS}
        for place, rule in rules.items():
            ruled = drop_cold(split).with_candidates(rule)
            common: dict[str, Any] = {"metrics": [metric], "ties": PRESET["ties"], "seed": context.seed}
            first = evaluate(scorers, ruled, estimators=["aoa"], **common)
            ranks = first.samples.judged.ranks
            for name in MODELS:
                values[metric, name, _column("AOA", place)] = _value(first, name, metric, "aoa")
            for gamma in sorted({*gammas, *CURVE}):
                word = f"popularity(gamma={gamma:g}, smoothing=0)"
                report = evaluate(dict(ranks), ruled, estimators=[UB, OURS], propensity=word, **common)
                for name in MODELS:
                    for form, title in ((UB, "UB"), (OURS, "snips")):
                        values[metric, name, _column(f"{title} {gamma:g}", place)] = _value(report, name, metric, form)
    return values


def _value(report: Any, model: str, metric: str, estimator: str) -> float:
    value = report.value(model, metric, estimator)
    return float("nan") if value is None else float(value)


def _column(title: str, place: str) -> str:
    return f"{title}, {place}" if place else title


def _columns(data: str) -> Iterator[tuple[str, int | None]]:
    """Titles, with the place of the paper's number where it has one."""
    gammas = FIG4_GAMMAS[data]
    yield "AOA", 0
    for place, gamma in enumerate(gammas, start=1):
        yield f"UB {gamma:g}", place
    for gamma in gammas:
        yield f"snips {gamma:g}", None
    yield "AOA, full", None
    for title in ("UB", "snips"):
        yield f"{title} {gammas[1]:g}, full", None


def _cells(context: Context, data: str, values: Values | None) -> Iterator[ReproducedCell]:
    for metric in METRICS:
        for name in MODELS:
            for column, place in _columns(data):
                paper = None if place is None else FIG4[data][metric][name][place]
                ours = None if values is None else values[metric, name, column]
                note = context.absence(data) if values is None else "" if paper is None else NOT_OURS
                if values is not None or paper is not None:
                    yield ReproducedCell(f"{NAMES[metric]} {LABELS[name]}", column, data, paper, ours, note=note)


def falls(data: str, values: Values) -> tuple[bool, str]:
    """Whether no output is above AOA's, by the paper's form."""
    drops = {
        (metric, name, gamma): values[metric, name, "AOA"] - values[metric, name, f"UB {gamma:g}"]
        for metric in METRICS
        for name in MODELS
        for gamma in FIG4_GAMMAS[data]
    }
    metric, name, gamma = min(drops, key=drops.__getitem__)
    least = drops[metric, name, gamma]
    return least > 0, f"smallest fall {least:.4f} ({NAMES[metric]} of {LABELS[name]} at {gamma:g})"


def stays(data: str, values: Values) -> tuple[bool, str]:
    """Whether no output moves much between the least and the largest gamma."""
    spreads = {(metric, name): _spread(data, values, metric, name) for metric in METRICS for name in MODELS}
    metric, name = max(spreads, key=spreads.__getitem__)
    most = spreads[metric, name]
    return most <= WIDEST, f"largest move {most:.4f} ({NAMES[metric]} of {LABELS[name]})"


def _spread(data: str, values: Values, metric: str, name: str) -> float:
    column = [values[metric, name, f"UB {gamma:g}"] for gamma in FIG4_GAMMAS[data]]
    return max(column) - min(column)


def keeps_order(data: str, values: Values) -> tuple[bool, str]:
    """Whether the order of the models is the same at all gammas."""
    told, same = [], True
    for metric in METRICS:
        orders = [_order(values, metric, gamma) for gamma in FIG4_GAMMAS[data]]
        same &= all(order == orders[0] for order in orders)
        told.append(f"{NAMES[metric]} {' > '.join(LABELS[name] for name in orders[0])}")
    return same, ", ".join(told)


def _order(values: Values, metric: str, gamma: float) -> list[str]:
    return sorted(MODELS, key=lambda name: -values[metric, name, f"UB {gamma:g}"])


def _judged(context: Context, found: Mapping[str, Values], claim: str, ask: Any) -> Claim:
    if not found:
        return Claim(claim, None, context.absence(DATA[0]))
    answers = {data: ask(data, values) for data, values in found.items()}
    evidence = "; ".join(f"{data}: {told}" for data, (_, told) in answers.items())
    holds = all(holds for holds, _ in answers.values())
    return Claim(claim, None if context.fast else holds, evidence)


def _tradesy(context: Context, found: Mapping[str, Values]) -> tuple[Claim, Claim]:
    """What the paper reads from Tradesy's block."""
    values = found.get("tradesy")
    if values is None:
        return Claim(_FLIP, None, context.absence("tradesy")), Claim(_RATIO, None, context.absence("tradesy"))
    corrected = f"UB {FIG4_GAMMAS['tradesy'][1]:g}"
    gaps = [values["adg", "pmf", column] - values["adg", "cml", column] for column in ("AOA", corrected)]
    ratios = [values["recall@5", "bpr", c] / values["recall@5", "pmf", c] for c in ("AOA", corrected)]
    return (
        Claim(_FLIP, gaps[0] > 0 > gaps[1], f"PMF minus U-CML {gaps[0]:.4f} as observed, {gaps[1]:.4f} corrected"),
        Claim(_RATIO, ratios[1] > ratios[0], f"{ratios[0]:.3f} as observed, {ratios[1]:.3f} corrected"),
    )


def _told(data: str, values: Values, learnt: Mapping[str, Learnt]) -> str:
    """How near the paper's numbers ours are, and at which steps validation chose them."""
    apart, where = [], []
    for metric in METRICS:
        for name in MODELS:
            for column, place in _columns(data):
                if place is not None:
                    paper = FIG4[data][metric][name][place]
                    apart.append(values[metric, name, column] / paper - 1)
                    where.append(f"{column} of {NAMES[metric]}, {LABELS[name]}")
    worst = int(np.argmax(np.abs(apart)))
    return (
        f"{data}: ours differ from the paper's {len(apart)} numbers by {100 * np.mean(np.abs(apart)):.1f} % on average "
        f"and {100 * apart[worst]:+.1f} % at most ({where[worst]}). Steps chosen by "
        f"{', '.join(NAMES[metric] for metric in METRICS)}: {'; '.join(_steps(learnt[name]) for name in MODELS)}."
    )


def _steps(learnt: Learnt) -> str:
    return f"{LABELS[learnt.name]} {', '.join(f'{learnt.chosen[m].model.iterations:,}' for m in METRICS)}"


def _figure(data: str, values: Values) -> Figure:
    nothing = [0.0] * len(CURVE)

    def series(metric: str, name: str) -> Series:
        column = [values[metric, name, f"UB {gamma:g}"] for gamma in CURVE]
        return Series.of(LABELS[name], CURVE, column, nothing)

    panels = tuple(Panel(NAMES[metric], tuple(series(metric, name) for name in MODELS)) for metric in METRICS)
    low, middle, high = FIG4_GAMMAS[data]
    return Figure(
        f"Metrics on {data} as gamma grows",
        "gamma",
        panels,
        note=f"UB, the paper's form, on 200 sampled items; -1 is AOA. The paper's gammas: {low}, {middle}, {high}.",
    )


TABLE = Table("fig4", "AUC, Recall, DCG and DCG@5 as observed and corrected", run, needs=DATA)
