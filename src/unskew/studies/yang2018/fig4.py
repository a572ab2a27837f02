"""Figure 4: four metrics of four models, as observed and corrected for popularity."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unskew.data import Split
from unskew.evaluation import evaluate
from unskew.studies.framework.cells import ReproducedCell, absent_cells, cells
from unskew.studies.framework.claims import Claim, Verdict, claim, unjudged
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.framework.trials import Row, Trials
from unskew.studies.yang2018.printed import FIG4, FIG4_GAMMAS, METRICS, MODELS
from unskew.studies.yang2018.protocol import DATA, NOT_OURS, PRESET, Learnt, judged_split, learnt_models, split_of

CURVE = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
WIDEST = 0.009
FORMS = {"UB": "snips(per=user)", "snips": "snips"}
DIMS = ("data", "metric", "model", "column")
"""Of the numbers; metrics and models bear the paper's names."""
OUTPUTS = [(metric, model) for metric in METRICS.values() for model in MODELS.values()]

_FALL = "Every metric of every model is lower at every gamma than AOA"
_STABLE = f"Within the range of gamma no output moves by more than {WIDEST:g}"
_ORDER = "Within the range of gamma the models keep their order by every metric"
_FLIP = "Tradesy: by DCG, PMF is above U-CML as observed and below it when corrected"
_RATIO = "Tradesy: the ratio of BPR's Recall@5 to PMF's grows when corrected"
_NOTE = (
    "UB is the paper's correction, with one ratio per user; snips is the default here, with one ratio over all pairs. "
    "full: ranked among all items that the user does not have in training, instead of 200 drawn ones. gamma = -1 is "
    "AOA itself."
)


def run(context: Context) -> Findings:
    """The blocks of all available data sets."""
    table: list[ReproducedCell] = []
    numbers = Trials(DIMS, "run", {})
    figures, notes = [], []
    for data in DATA:
        learnt, split = learnt_models(context, data), split_of(context, data)
        if learnt is None or split is None:
            table += absent_cells(FIG4[data], data, context.absence(data))
            continue
        numbers |= Trials.collect(DIMS, "run", judge(context, data, split, learnt))
        gammas = FIG4_GAMMAS[data]
        full = ("AOA, full", *(f"{form} {gammas[1]:g}, full" for form in FORMS))
        columns = ("AOA", *(f"{form} {gamma:g}" for form in FORMS for gamma in gammas), *full)
        shown = {(data, *output, each): numbers[data, *output, each] for output in OUTPUTS for each in columns}
        names = ("{metric} {model}", "{column}", "{data}")
        table += cells(replace(numbers, groups=shown), *names, printed=FIG4[data], printed_note=NOT_OURS)
        figures.append(_figure(data, numbers))
        notes.append(_comparison(data, numbers, learnt))
    return Findings(tuple(table), tuple(claims(numbers, context)), tuple(figures), (*notes, _NOTE), trials=numbers)


def judge(context: Context, data: str, split: Split, learnt: Mapping[str, Learnt]) -> Iterator[Row]:
    """All columns: sampled and full ranking, AOA and both forms of the correction.

    Each metric is that of the state which validation chose for it.
    """
    for metric, title in METRICS.items():
        scorers = {name: learnt[name].chosen[metric].scorer for name in MODELS}
        for place, rule in {"": PRESET["candidates"], ", full": "unseen"}.items():
            ruled = judged_split(split, rule)
            common: dict[str, Any] = {"metrics": [metric], "ties": PRESET["ties"], "seed": context.seed}
            first = evaluate(scorers, ruled, estimators=["aoa"], **common)
            for name, model in MODELS.items():
                yield (data, title, model, f"AOA{place}"), first.value(name, metric, "aoa")
            for gamma in sorted({*FIG4_GAMMAS[data], *CURVE}):
                word = f"popularity(gamma={gamma:g}, smoothing=0)"
                ranks = dict(first.samples.judged.ranks)
                report = evaluate(ranks, ruled, estimators=list(FORMS.values()), propensity=word, **common)
                for name, model in MODELS.items():
                    for form, estimator in FORMS.items():
                        column = f"{form} {gamma:g}{place}"
                        yield (data, title, model, column), report.value(name, metric, estimator)


def claims(numbers: Trials, context: Context) -> Iterator[Claim]:
    """What the paper concludes from all blocks, and from that of Tradesy."""
    present = numbers.levels("data")
    rules: dict[str, Callable[[Trials, str], Verdict]] = {_FALL: falls, _STABLE: stays, _ORDER: keeps_order}
    for text, rule in rules.items():
        verdicts = {data: rule(numbers, data) for data in present}
        evidence = "; ".join(f"{data}: {words}" for data, (_, words) in verdicts.items())
        holds = all(holds for holds, _ in verdicts.values())
        yield claim(text, (holds, evidence)) if present else unjudged([text], context.absence(DATA[0]))[0]
    if "tradesy" not in present:
        yield from unjudged((_FLIP, _RATIO), context.absence("tradesy"))
        return
    columns = ("AOA", f"UB {FIG4_GAMMAS['tradesy'][1]:g}")
    pmf, cml = ([numbers["tradesy", "DCG", model, each].item() for each in columns] for model in ("PMF", "U-CML"))
    gaps = np.subtract(pmf, cml)
    yield claim(_FLIP, (gaps[0] > 0 > gaps[1], f"PMF minus U-CML {gaps[0]:.4f} as observed, {gaps[1]:.4f} corrected"))
    bpr, pmf = ([numbers["tradesy", "Recall@5", model, each].item() for each in columns] for model in ("BPR", "PMF"))
    ratios = np.divide(bpr, pmf)
    yield claim(_RATIO, (ratios[1] > ratios[0], f"{ratios[0]:.3f} as observed, {ratios[1]:.3f} corrected"))


def corrected(numbers: Trials, data: str, metric: str, model: str, gammas: Sequence[float] = ()) -> list[float]:
    """A metric of a model by the paper's form, at some gammas or at the paper's."""
    return [numbers[data, metric, model, f"UB {gamma:g}"].item() for gamma in gammas or FIG4_GAMMAS[data]]


def falls(numbers: Trials, data: str) -> Verdict:
    """Whether no output is above AOA's, by the paper's form."""
    drops = {
        (*output, gamma): numbers[data, *output, "AOA"].item() - value
        for output in OUTPUTS
        for gamma, value in zip(FIG4_GAMMAS[data], corrected(numbers, data, *output), strict=True)
    }
    metric, model, gamma = min(drops, key=drops.__getitem__)
    least = drops[metric, model, gamma]
    return least > 0, f"smallest fall {least:.4f} ({metric} of {model} at {gamma:g})"


def stays(numbers: Trials, data: str) -> Verdict:
    """Whether no output moves much between the least and the largest gamma."""
    spreads = {output: float(np.ptp(corrected(numbers, data, *output))) for output in OUTPUTS}
    metric, model = max(spreads, key=spreads.__getitem__)
    most = spreads[metric, model]
    return most <= WIDEST, f"largest move {most:.4f} ({metric} of {model})"


def keeps_order(numbers: Trials, data: str) -> Verdict:
    """Whether the order of the models is the same at all gammas."""
    words, same = [], True
    for metric in METRICS.values():
        values = {model: corrected(numbers, data, metric, model) for model in MODELS.values()}
        orders = [sorted(values, key=lambda model: -values[model][k]) for k in range(len(FIG4_GAMMAS[data]))]
        same &= all(order == orders[0] for order in orders)
        words.append(f"{metric} {' > '.join(orders[0])}")
    return same, ", ".join(words)


def _comparison(data: str, numbers: Trials, learnt: Mapping[str, Learnt]) -> str:
    """How close our numbers are to the paper's, and at which steps validation chose them."""
    apart = {
        f"{column} of {metric}, {model}": numbers[data, metric, model, column].item() / FIG4[data][row, column] - 1
        for metric, model in OUTPUTS
        for row, column in FIG4[data]
        if row == f"{metric} {model}"
    }
    worst = max(apart, key=lambda name: abs(apart[name]))
    steps = (
        f"{title} {', '.join(f'{learnt[name].chosen[metric].model.iterations:,}' for metric in METRICS)}"
        for name, title in MODELS.items()
    )
    return (
        f"{data}: ours differ from the paper's {len(apart)} numbers by "
        f"{100 * np.mean(np.abs(list(apart.values()))):.1f} % on average and {100 * apart[worst]:+.1f} % at most "
        f"({worst}). Steps chosen by {', '.join(METRICS.values())}: {'; '.join(steps)}."
    )


def _figure(data: str, numbers: Trials) -> Figure:
    def line(metric: str, model: str) -> Series:
        return Series.exact(model, CURVE, corrected(numbers, data, metric, model, CURVE))

    panels = (Panel(metric, tuple(line(metric, model) for model in MODELS.values())) for metric in METRICS.values())
    gammas = ", ".join(map(str, FIG4_GAMMAS[data]))
    note = f"UB, the paper's form, on 200 sampled items; -1 is AOA. The paper's gammas: {gammas}."
    return Figure(f"Metrics on {data} as gamma grows", "gamma", tuple(panels), note=note)


TABLE = Table("fig4", "AUC, Recall, DCG and DCG@5 as observed and corrected", run, needs=DATA)
