"""Table 2: gamma of the four models, and how well the line fits; and how PMF's gamma falls while it trains."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.evaluation import evaluate
from unskew.models import Check
from unskew.propensities import fit_gamma
from unskew.ranking import FactorScorer, count_top
from unskew.studies.framework.cells import Limits, ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim, unjudged
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Row, Trials
from unskew.studies.yang2018.printed import FIG4, FIT_ERRORS, MODELS, TABLE2
from unskew.studies.yang2018.protocol import (
    DATA,
    NOT_OURS,
    PRESET,
    RECIPES,
    STAND_INS,
    TOP,
    judged_split,
    learnt_models,
    paper_form_pmf,
    presented_by,
    split_of,
)

TOLERANCE = 0.25
FOLLOWED = "citeulike-a"
PMF_STEPS: Size[dict[str, Any]] = Size({"iterations": 6000, "every": 500}, {"iterations": 600, "every": 200})
PMF_PAPER = {
    "gamma": TABLE2[FOLLOWED]["PMF", "gamma"],
    "auc": FIG4[FOLLOWED]["AUC PMF", "AOA"],
    "recall@5": FIG4[FOLLOWED]["Recall@5 PMF", "AOA"],
}
"""The paper's numbers of PMF."""
NEAR = {"gamma": 0.1, "auc": 0.005, "recall@5": 0.02}
TITLES = {"gamma": "gamma", "auc": "AUC", "recall@5": "Recall@5"}
SQUARED, NATURAL = "average squared error", "the same by natural logarithms"
DIMS = ("data", "row", "column")
"""Of the gammas and their errors."""

_LOWEST = "A-CML has the lowest gamma"
_BY_DATA = "Gamma varies more by data set than by algorithm"
_FITS = "The average squared errors of the fits of gamma are between {:g} and {:g}".format(*FIT_ERRORS)
_SECTION, _FIT_SECTION = "Table 2", "Sec. 4.2"
_EARLY = (
    "PMF's gamma falls while it trains; at the step with the paper's gamma, AUC and Recall@5 are the paper's "
    "too, so the paper's PMF stopped early"
)
_SMALL = "a small version: fewer factors and steps than the paper's"
_LIMITS: Limits = (
    TOLERANCE,
    "models trained again on another random split; gamma also depends on the step at which training ends",
)
_STAND_IN = "not in the paper: a set for its statements across data sets"
_ERROR = "of the slope, over levels; the paper has none"
_SQUARED = "the paper gives a range for all of them, which a claim judges"
_NATURAL = "the claim is about both"
_PAPER_FORM = "not in the paper: PMF with the weights of the paper's text instead of those of its code"
_WHY = (
    "validation stops PMF later than the paper seems to have done: gamma falls while PMF trains, and the claim about "
    "PMF's steps says whether an earlier step has all of the paper's numbers"
)
_FORMULA = (
    "The average squared error of a fit is the mean of (log10 f(n*) - a - gamma log10 n*)^2 over the levels of the "
    "fit. The paper does not define it. Decimal logarithms and levels were chosen after several readings had been "
    "seen, because they alone come to the paper's range, so the sentence is left open. By natural "
    "logarithms, the errors are 5.3 times as large. "
    "The mean over pairs of L levels, of (log f(y)/f(x) - gamma log y/x)^2, is 2 L / (L - 1) times that over levels."
)
_HOW = (
    "Top 50 of every user over the full catalogue without the user's training items; the 0.5 % most popular items are "
    f"not in the fit. The state of a model is the one that validation chose by DCG; {NOT_OURS}."
)


def run(context: Context) -> Findings:
    """Gammas of all available data sets next to the paper's."""
    gammas = Trials.collect(DIMS, "fit", (row for data in (*DATA, *STAND_INS) for row in fits(context, data)))
    cells = [each for data in (*DATA, *STAND_INS) for each in _cells(context, data, gammas.where(data=data))]
    claims = [lowest(gammas, context), by_data(gammas), well_fitted(gammas, context)]
    notes = (_HOW, _FORMULA)
    if FOLLOWED not in gammas.levels("data"):
        return Findings(tuple(cells), tuple(claims), notes=notes, trials=gammas)
    checks = context.once("yang2018 pmf path", partial(follow_pmf, context))
    early = claim(_EARLY, stopped_early(checks))
    return Findings(tuple(cells), (*claims, early), (_figure(checks),), notes, trials=gammas)


def fits(context: Context, data: str) -> Iterator[Row]:
    """Gammas, their standard errors and the errors of the fits, each with its data set, row and column.

    There are none if the data is not available.
    """
    learnt = learnt_models(context, data)
    if learnt is None:
        return
    gammas = []
    for name, title in MODELS.items():
        fit = presented_by(context, data, learnt[name]).fit
        gammas.append(fit.gamma)
        yield (data, title, "gamma"), fit.gamma
        yield (data, title, "standard error"), fit.std_error
        yield (data, title, SQUARED), fit.squared_error / np.log(10) ** 2
        yield (data, title, NATURAL), fit.squared_error
    yield (data, "mean", "gamma"), float(np.mean(gammas))
    if data == FOLLOWED:
        yield (data, "PMF, paper form", "gamma"), presented_by(context, data, paper_form_pmf(context, data)).fit.gamma


def _cells(context: Context, data: str, gammas: Trials) -> Iterator[ReproducedCell]:
    printed = TABLE2.get(data, {})
    if not len(gammas):
        for row in (*MODELS.values(), "mean"):
            yield cell(row, "gamma", data, None, printed.get((row, "gamma")), note=context.absence(data))
    for _, row, column in gammas:
        paper = printed.get((row, column))
        limits = None if paper is None or context.fast else _LIMITS
        note = _SMALL if paper is not None and context.fast else _STAND_IN if not printed else ""
        note = {"standard error": _ERROR, SQUARED: _SQUARED, NATURAL: _NATURAL}.get(column, note)
        each = cell(row, column, data, gammas[data, row, column], paper, limits=limits, note=note)
        yield replace(each, note=_PAPER_FORM) if "form" in row else explained(each)


def explained(each: ReproducedCell) -> ReproducedCell:
    """The cell. PMF's gamma has the reason next to it if it disagrees with the paper's."""
    is_it = (each.row, each.column, each.data) == ("PMF", "gamma", FOLLOWED)
    return replace(each, note=_WHY) if is_it and each.agrees is False else each


def lowest(gammas: Trials, context: Context) -> Claim:
    """Whether A-CML has the lowest gamma on each available data set of the paper."""
    tables = {data: _values(gammas, data) for data in gammas.levels("data") if data in DATA}
    if not tables:
        return unjudged([_LOWEST], context.absence(DATA[0]), section=_SECTION)[0]
    titles = list(MODELS.values())
    holds = all(titles[int(values.argmin())] == "A-CML" for values in tables.values())
    evidence = [
        f"{data}: {', '.join(f'{titles[k]} {values[k]:.2f}' for k in np.argsort(values, kind='stable'))}"
        for data, values in tables.items()
    ]
    return claim(_LOWEST, (holds, "; ".join(evidence)), section=_SECTION)


def by_data(gammas: Trials) -> Claim:
    """Judged on the paper's sets, if two are available; otherwise the evidence reports what the other sets show."""
    tables = {data: _values(gammas, data) for data in gammas.levels("data")}
    ours = {data: values for data, values in tables.items() if data in DATA}
    if len(ours) > 1:
        return claim(_BY_DATA, (np.subtract(*spreads(ours)) > 0, _both(ours)), section=_SECTION)
    seen = f"; seen with sets that are not in the paper: {_both(tables)}" if len(tables) > 1 else ""
    printed = {data: np.array([TABLE2[data][title, "gamma"] for title in MODELS.values()]) for data in DATA}
    why = (
        f"the paper says it of its three sets; this run has {len(ours)} of them, so it is not judged here; the paper's "
        f"numbers have standard deviations of {_both(printed, means=False)}{seen}"
    )
    return unjudged([_BY_DATA], why, section=_SECTION)[0]


def well_fitted(gammas: Trials, context: Context) -> Claim:
    """Whether the errors of all fits on the available data sets of the paper are in its range, in both logarithms.

    The paper does not say which it took, so where only one of them is in the range, the sentence is left open.
    """
    tables = [data for data in gammas.levels("data") if data in DATA]
    if not tables:
        return unjudged([_FITS], context.absence(DATA[0]), section=_FIT_SECTION)[0]
    errors = {
        (data, title): [gammas[data, title, column].item() for column in (SQUARED, NATURAL)]
        for data in tables
        for title in MODELS.values()
    }
    least, most = FIT_ERRORS
    inside = [all(least < error < most for error in each) for each in zip(*errors.values(), strict=True)]
    holds = inside[0] if len(set(inside)) == 1 else None
    listed = ", ".join(f"{data} {title} {a:.4f} ({b:.4f})" for (data, title), (a, b) in errors.items())
    return claim(_FITS, (holds, f"by decimal logarithms (by natural ones): {listed}"), section=_FIT_SECTION)


def spreads(tables: Mapping[str, Floats]) -> tuple[float, float]:
    """Standard deviation of the means of data sets, and the mean of that of algorithms within one."""
    gammas = np.array(list(tables.values()))
    return float(np.std(gammas.mean(axis=1), ddof=1)), float(np.std(gammas, axis=1, ddof=1).mean())


def _values(gammas: Trials, data: str) -> Floats:
    return np.array([gammas[data, title, "gamma"].item() for title in MODELS.values()])


def _both(tables: Mapping[str, Floats], *, means: bool = True) -> str:
    shown = ", ".join(f"{data} {values.mean():.2f}" for data, values in tables.items())
    return "{:.2f} by data set, {:.2f} by algorithm".format(*spreads(tables)) + (f" (means: {shown})" if means else "")


def follow_pmf(context: Context) -> tuple[Check, ...]:
    """Gamma, and AUC and Recall@5 on the test under the published protocol, every 500 steps."""
    split = split_of(context, FOLLOWED)
    assert split is not None
    judged = judged_split(split)
    asked = {"metrics": ["auc", "recall@5"], "estimators": ["aoa"], "ties": PRESET["ties"], "seed": context.seed}

    def look(scorer: FactorScorer) -> Mapping[str, float]:
        report = evaluate({"pmf": scorer}, judged, **asked)
        gamma = fit_gamma(split.train.item_counts, count_top(scorer, split.train, TOP).counts).gamma
        values = {metric: report.value("pmf", metric, "aoa") for metric in ("auc", "recall@5")}
        return {"gamma": gamma, **{metric: float("nan") if v is None else v for metric, v in values.items()}}

    model = replace(RECIPES[FOLLOWED].model("pmf", context), **context.size(PMF_STEPS))
    progress = partial(context.report, "following PMF")
    return model.train(split.train, rng=context.seed, judge=look, metrics=tuple(TITLES), progress=progress).checks


def stopped_early(checks: tuple[Check, ...]) -> Verdict:
    """Whether the step with the paper's gamma has its other numbers too, and gamma is below at the end."""
    gammas = [check.metrics["gamma"] for check in checks]
    nearest = min(checks, key=lambda check: abs(check.metrics["gamma"] - PMF_PAPER["gamma"]))
    near = all(abs(nearest.metrics[name] - PMF_PAPER[name]) <= NEAR[name] for name in NEAR)
    since = gammas[gammas.index(max(gammas)) :]  # the first steps know nothing yet
    falls = since == sorted(since, reverse=True) and gammas[-1] < PMF_PAPER["gamma"] - NEAR["gamma"]
    numbers = (f"{title} {nearest.metrics[name]:.4f} (paper {PMF_PAPER[name]:g})" for name, title in TITLES.items())
    return near and falls, (
        f"step {nearest.iteration:,}: {', '.join(numbers)}; at step {checks[-1].iteration:,} gamma is {gammas[-1]:.2f}"
    )


def _figure(checks: tuple[Check, ...]) -> Figure:
    """The three numbers over steps, the paper's as level lines."""
    steps = [check.iteration for check in checks]
    panels = []
    for name, title in TITLES.items():
        ours = Series.exact("PMF", steps, [check.metrics[name] for check in checks])
        paper = Series.exact("paper", steps, [PMF_PAPER[name]] * len(steps), naive=True)
        panels.append(Panel(title, (ours, paper)))
    note = "Test rows among 200 sampled items, as observed."
    return Figure(f"PMF on {FOLLOWED} while it trains", "step", tuple(panels), note=note)


TABLE = Table("table2", "Gamma, by model and data set", run, needs=(*DATA, *STAND_INS))
