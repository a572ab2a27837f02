"""Figure 4: four metrics of four models, as observed and corrected for popularity.

The figure has no numbers; those of the authors' program are references.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.data import Split
from unskew.evaluation import evaluate
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim, unjudged
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.framework.trials import Row, Trials
from unskew.studies.yang2018.printed import FIG4, FIG4_GAMMAS, METRICS, MODELS
from unskew.studies.yang2018.protocol import DATA, NOT_OURS, PRESET, Learnt, judged_split, learnt_models, split_of

CURVE = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
WIDEST = 0.009
"""The largest move in the authors' numbers, 0.0087, rounded up; the paper names no bound."""
FORMS = {"UB": "snips(per=user)", "snips": "snips"}
DIMS = ("data", "metric", "model", "column")
"""Of the numbers; metrics and models bear the paper's names."""
AUTHORS = Trials.collect(
    DIMS,
    "run",
    (((data, *row.split(), column), value) for data in FIG4 for (row, column), value in FIG4[data].items()),
)
"""The authors' numbers, in the same form as ours."""
OUTPUTS = [(metric, model) for metric in METRICS.values() for model in MODELS.values()]

_FALL = "Every metric of every model is lower at every gamma than AOA"
_STABLE = f"The outputs hardly depend on gamma within its range: none moves by more than {WIDEST:g}"
_ORDER = "Within the range of gamma the models keep their order by every metric"
_FLIP = "Tradesy: by DCG, PMF is above U-CML as observed and below it when corrected"
_RATIO = "Tradesy: the ratio of BPR's Recall@5 to PMF's grows when corrected"
_GAP = "Amazon: by DCG, the lead of BPR over U-CML, relative to it, diminishes when corrected"
_FIGURE, _SECTION = "Fig. 4", "Sec. 4.4"
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
            why = context.absence(data)
            table += (cell(*place, data, None, reference=value, note=why) for place, value in FIG4[data].items())
            continue
        numbers |= Trials.collect(DIMS, "run", judge(context, data, split, learnt))
        table += _cells(data, numbers)
        figures.append(_figure(data, numbers))
        notes.append(_comparison(data, numbers, learnt))
    return Findings(tuple(table), tuple(claims(numbers, context)), tuple(figures), (*notes, _NOTE), trials=numbers)


def _cells(data: str, numbers: Trials) -> Iterator[ReproducedCell]:
    """AOA and both forms at the paper's gammas, sampled; and AOA and the mean gamma with full ranking."""
    gammas = FIG4_GAMMAS[data]
    full = ("AOA, full", *(f"{form} {gammas[1]:g}, full" for form in FORMS))
    columns = ("AOA", *(f"{form} {gamma:g}" for form in FORMS for gamma in gammas), *full)
    for (metric, model), column in product(OUTPUTS, columns):
        row, ours = f"{metric} {model}", numbers[data, metric, model, column]
        reference = FIG4[data].get((row, column))
        yield cell(row, column, data, ours, reference=reference, note="" if reference is None else NOT_OURS)


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
    """What the paper concludes from all blocks, and from those of Tradesy and of Amazon."""
    present = numbers.levels("data")
    rules: dict[str, Callable[[Trials, str], Verdict]] = {_FALL: falls, _STABLE: stays, _ORDER: keeps_order}
    for text, rule in rules.items():
        if not present:
            yield from unjudged([text], context.absence(DATA[0]), section="" if rule is stays else _FIGURE)
            continue
        verdicts = {data: rule(numbers, data) for data in present}
        evidence = "; ".join(f"{data}: {words}" for data, (_, words) in verdicts.items())
        section = "" if rule is stays else _FIGURE  # the bound is ours
        yield claim(text, (all(holds for holds, _ in verdicts.values()), evidence), section=section)
    of_one = {_FLIP: ("tradesy", flips), _RATIO: ("tradesy", ratio_grows), _GAP: ("amazon-book", lead_shrinks)}
    for text, (data, verdict) in of_one.items():
        if data in present:
            yield claim(text, verdict(numbers), section=_SECTION)
        else:
            yield from unjudged([text], context.absence(data), section=_SECTION)


def _both(numbers: Trials, data: str, metric: str, model: str) -> Floats:
    """A metric of a model as observed, and corrected with the mean gamma."""
    columns = ("AOA", f"UB {FIG4_GAMMAS[data][1]:g}")
    return np.array([numbers[data, metric, model, column].item() for column in columns])


def flips(numbers: Trials) -> Verdict:
    """Whether PMF is above U-CML as observed, and below it when corrected."""
    gaps = _both(numbers, "tradesy", "DCG", "PMF") - _both(numbers, "tradesy", "DCG", "U-CML")
    return gaps[0] > 0 > gaps[1], f"PMF minus U-CML {gaps[0]:.4f} as observed, {gaps[1]:.4f} corrected"


def ratio_grows(numbers: Trials) -> Verdict:
    """Whether the ratio of BPR to PMF is larger when corrected."""
    ratios = _both(numbers, "tradesy", "Recall@5", "BPR") / _both(numbers, "tradesy", "Recall@5", "PMF")
    return ratios[1] > ratios[0], f"{ratios[0]:.3f} as observed, {ratios[1]:.3f} corrected"


def lead_shrinks(numbers: Trials) -> Verdict:
    """Whether the lead of BPR over U-CML is smaller when corrected; the authors' own numbers say that it is larger."""
    ours, archived = (
        _both(table, "amazon-book", "DCG", "BPR") / _both(table, "amazon-book", "DCG", "U-CML") - 1
        for table in (numbers, AUTHORS)
    )
    shown = "{:.1%} as observed, {:.1%} corrected".format
    return ours[1] < ours[0], f"{shown(*ours)}; in the authors' numbers {shown(*archived)}"


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
    """How close our numbers are to the authors', and at which steps validation chose them."""
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
        f"{data}: ours differ from the authors' {len(apart)} numbers by "
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
