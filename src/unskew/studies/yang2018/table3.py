"""Table 3: how far an evaluation on what users chose is from one on items drawn at random for them."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from unskew.arrays import Floats
from unskew.models import GradientModel
from unskew.studies.framework.cells import ReproducedCell, absent_cells, cell
from unskew.studies.framework.claims import Claim, Verdict, claim, unjudged
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018.printed import TABLE3, TABLE3_GAMMAS, YAHOO_USERS
from unskew.studies.yang2018.table3_draws import (
    AOA,
    COAT_SETTINGS,
    CURVE,
    DEFAULT,
    Runs,
    describe,
    pairwise,
    published,
    run_draws,
    settings_of,
)
from unskew.studies.yang2018.yahoo import COAT, COMPARISONS, YAHOO, Benchmark

PUBLISHED: tuple[str, ...] = (AOA, *map(published, TABLE3_GAMMAS))
ESTIMATES: tuple[str, ...] = (*PUBLISHED, *map(pairwise, TABLE3_GAMMAS), DEFAULT)
"""What the table shows; the last is what an evaluation does by default."""
REDUCED: tuple[str, ...] = (published(TABLE3_GAMMAS[0]), published(TABLE3_GAMMAS[-1]), pairwise(1.5), DEFAULT)
DRAWN: tuple[str, ...] = (AOA, *map(published, CURVE), *map(pairwise, CURVE))
TOLERANCE: Mapping[str, float] = {"auc": 0.019, "recall": 0.05}
REASON = (
    "half of the smallest difference between the errors of AOA and UB in the paper, so that one cannot be mistaken for "
    "the other; the paper does not say how it drew the 300 songs, or by what it chose the step of a model"
)
METHOD = (
    "An error is the distance between two means over users: an estimate on the biased test and AOA on the random test. "
    "UB is snips(per=user) with popularity(smoothing=0), as published; snips(gamma) is the default form with the same "
    "propensities, 'snips, default' the default form with the default propensities, gamma 0 and smoothing 1. The "
    "default form estimates the mean over relevant pairs; here it is compared with the mean over users nevertheless."
)
ENOUGH = 5  # draws from which on our own claims are judged

REDUCTION = 0.30
_USERS = f"{YAHOO_USERS:,} users of yahoo-r3 can be judged by both tests"
_LESS = "The error of UB is below that of AOA, for every model, metric and gamma"
_FALLS = "The error of UB falls as gamma grows from 1.5 to 3.0"
_THIRTY = "UB reduces the error of AOA by more than 30 %"
_SENTENCES = {_LESS: "Table 3", _FALLS: "Table 3", _THIRTY: "abstract"}
"""Each with the place where the paper says so."""
_NOT_COMPARED = "not compared: the small version trains for fewer steps"
_PAIRED = "per cent of AOA's error; the spread is the paired standard error over draws of the biased test"
_TAU = "1: the order of the truth, -1: the reverse; mean over draws of the biased test"


def run(context: Context) -> Findings:
    """The table on Yahoo! R3 and on Coat, where they are available."""
    parts = [compute(data, Benchmark.find(data, context), context) for data in (YAHOO, COAT)]
    return Findings.joined(parts, METHOD)


def compute(data: str, benchmark: Benchmark | None, context: Context) -> Findings:
    """The table on a data set: that of the paper, or the same question on other real data.

    If the data is not available, there are only the paper's numbers.
    """
    if benchmark is None:
        why = context.absence(data)
        empty = absent_cells(TABLE3, YAHOO, why)
        if data == COAT:
            names = [(model, f"{each.name}: {AOA}") for each in COMPARISONS[COAT] for model in COAT_SETTINGS]
            empty = (cell(*name, COAT, None, note=why) for name in names)
        texts = paper_texts(data).items()
        return Findings(
            tuple(empty), tuple(each for text, place in texts for each in unjudged([text], why, section=place))
        )
    models = settings_of(benchmark, context)
    runs = run_draws(benchmark, models, context)
    return Findings(
        cells=tuple(_cells(benchmark, runs, context)),
        claims=(*paper_claims(benchmark, runs), *(coat_claims(benchmark, runs) if data == COAT else ())),
        figures=tuple(_figures(benchmark, runs)),
        notes=tuple(notes(benchmark, runs, models)),
        trials=runs.trials,
    )


def _cells(benchmark: Benchmark, runs: Runs, context: Context) -> Iterator[ReproducedCell]:
    """Errors, how much less than AOA's they are, and the order of the models."""
    printed = TABLE3 if benchmark.name == YAHOO else {}
    for each in benchmark.comparisons:
        for model in runs.models:
            for name in (*PUBLISHED, DEFAULT) if each.lists else ESTIMATES:
                column, error = f"{each.name}: {name}", runs.error(each.name, model, name)
                paper = printed.get((model, column))
                limits = None if paper is None or context.fast else (TOLERANCE[each.kind], REASON)
                note = "" if paper is None or limits else _NOT_COMPARED
                yield cell(model, column, benchmark.name, error, paper, limits=limits, note=note)
    for each in benchmark.comparisons:
        for model in runs.models:
            for name in REDUCED:
                less = runs.reduction(each.name, model, name)
                yield cell(f"{model}, % below AOA", f"{each.name}: {name}", benchmark.name, less, note=_PAIRED)
    for each in benchmark.comparisons:
        for name in ESTIMATES:
            taus = runs.taus(each.name, name)
            yield cell("Kendall's tau", f"{each.name}: {name}", benchmark.name, taus, note=_TAU)


def _figures(benchmark: Benchmark, runs: Runs) -> Iterator[Figure]:
    """Estimate less truth and the order of the models, over gamma, in the full catalogue."""
    full = [each.name for each in benchmark.comparisons if not each.lists]
    band = "Bands: 95 % over draws of the biased test" if runs.draws > 1 else "One draw of the biased test"
    for name in full:
        panels = tuple(
            Panel(model, _lines({form: runs.gap(name, model, form) for form in DRAWN})) for model in runs.models
        )
        note = f"{band}. 0 is right; above it the model is overestimated; gamma = -1 would be AOA."
        yield Figure(f"{benchmark.name}, {name}: estimate less truth", "gamma", panels, note=note)
    orders = tuple(Panel(name, _lines({form: runs.taus(name, form) for form in DRAWN})) for name in full)
    note = f"{band}. 1 is the order of the truth."
    yield Figure(f"{benchmark.name}: Kendall's tau of the four models with the truth", "gamma", orders, note=note)


def _lines(trials: Mapping[str, Floats]) -> tuple[Series, ...]:
    def line(title: str, name: Callable[[float], str]) -> Series:
        means = [Mean.of(trials[name(gamma)]) for gamma in CURVE]
        errors = [mean.error or 0.0 for mean in means]
        return Series.of(title, CURVE, [mean.value for mean in means], errors, naive=title == AOA)

    return line(AOA, lambda _: AOA), line("UB, snips(per=user)", published), line("snips", pairwise)


def paper_texts(data: str) -> dict[str, str]:
    """What the paper says of Yahoo! R3, as sentences about a data set, and where it says so.

    About another data set they are not the paper's, so they have no place.
    """
    texts = {f"{data}: {text}": section for text, section in _SENTENCES.items()}
    return {_USERS: "Sec. 5", **texts} if data == YAHOO else dict.fromkeys(texts, "")


def paper_claims(benchmark: Benchmark, runs: Runs) -> Iterator[Claim]:
    """The paper's claims about Yahoo! R3; for other data the same sentences are ours."""
    verdicts = list(_paper_verdicts(benchmark, runs))
    texts = paper_texts(benchmark.name)
    if benchmark.name == YAHOO:
        users = len(benchmark.users)
        verdicts = [(users == YAHOO_USERS, f"{users:,} users"), *verdicts]
        for (text, section), verdict in zip(texts.items(), verdicts, strict=True):
            yield claim(text, verdict, section=section)
        return
    for text, verdict in zip(texts, verdicts, strict=True):
        yield _of_draws(runs, text, verdict)


def _of_draws(runs: Runs, text: str, verdict: Verdict) -> Claim:
    """A claim of ours, which is not judged by a few draws."""
    holds, evidence = verdict
    if runs.draws < ENOUGH:
        holds, evidence = None, f"{runs.draws} draws are too few to judge; seen: {evidence}"
    return claim(text, (holds, evidence), needs_full=False)


def _paper_verdicts(benchmark: Benchmark, runs: Runs) -> Iterator[Verdict]:
    """Whether UB has a smaller error than AOA, that falls as gamma grows, and is more than 30 % smaller."""
    shown = [each.name for each in benchmark.comparisons if each.lists or benchmark.name != YAHOO]
    cases = [(name, model) for name in shown for model in runs.models]
    where = f"of {len(cases)} pairs of model and comparison"
    curves = {case: [runs.error(*case, published(gamma)).mean() for gamma in TABLE3_GAMMAS] for case in cases}
    naive = {case: runs.error(*case, AOA).mean() for case in cases}
    lower = [max(curves[case]) < naive[case] for case in cases]
    spans = "; ".join(f"{published(gamma)} {_span(runs, cases, published(gamma))}" for gamma in TABLE3_GAMMAS)
    yield all(lower), f"in {sum(lower)} {where}; below AOA by {spans}"
    falls = [bool(np.all(np.diff(curves[case]) < 0)) for case in cases]
    yield all(falls), f"in {sum(falls)} {where}"
    share = {
        (*case, gamma): 1 - curves[case][k] / naive[case] for case in cases for k, gamma in enumerate(TABLE3_GAMMAS)
    }
    least = min(share, key=share.__getitem__)
    name, model, gamma = least
    over = sum(each > REDUCTION for each in share.values())
    evidence = (
        f"in {over} of {len(share)} combinations of model, comparison and gamma, least {share[least]:.0%} ({model}, "
        f"{name}, gamma = {gamma:g}); in the paper's own Table 3 {_own_reductions()}"
    )
    yield over == len(share), evidence


def _own_reductions() -> str:
    """In how many cells the paper's own errors bear out its abstract, and the least reduction."""
    share = {
        (row, column): 1 - error / TABLE3[row, f"{column.partition(':')[0]}: {AOA}"]
        for (row, column), error in TABLE3.items()
        if not column.endswith(AOA)
    }
    row, column = min(share, key=share.__getitem__)
    over = sum(each > REDUCTION for each in share.values())
    return f"in {over} of {len(share)}, least {share[row, column]:.0%} ({row}, {column})"


def coat_claims(benchmark: Benchmark, runs: Runs) -> Iterator[Claim]:
    """Our own claims about Coat."""
    judged = partial(_of_draws, runs)
    cases = [(each.name, model) for each in benchmark.comparisons for model in runs.models]
    gaps = [runs.gap(*case, AOA).mean() for case in cases]
    yield judged(
        "On coat AOA on the biased test overestimates every model",
        (min(gaps) > 0, f"above the truth by {min(gaps):.3f} to {max(gaps):.3f}"),
    )
    less = [runs.reduction(*case, DEFAULT) for case in cases]
    sure = sum(each.error is not None and each.value > 1.96 * each.error for each in less)
    evidence = f"{_span(runs, cases, DEFAULT)} below AOA; beyond chance over draws in {sure} of {len(cases)} pairs"
    yield judged(
        "On coat the default snips with its default propensities has a smaller error than AOA, for every model",
        (sure == len(cases), f"{evidence} of model and comparison"),
    )
    form = pairwise(1.5)
    steep = [each.name for each in benchmark.comparisons if not each.lists and each.kind == "recall"]
    ours, naive = (Mean.of(np.concatenate([runs.taus(name, each) for name in steep])) for each in (form, AOA))
    cases = [(name, model) for name in steep for model in runs.models]
    closer = all(runs.error(*case, form).mean() < runs.error(*case, AOA).mean() for case in cases)
    yield judged(
        "On coat a smaller error comes with a worse order: snips at gamma = 1.5 is closer to the true Recall than AOA "
        "for every model, and puts the models in an order that is further from the truth",
        (
            closer and ours.value < naive.value,
            f"{_span(runs, cases, form)} below AOA's error; Kendall's tau {ours.plus_minus} against {naive.plus_minus}",
        ),
    )


def _span(runs: Runs, cases: list[tuple[str, str]], estimate: str) -> str:
    """The least and the greatest reduction, with their standard errors."""
    less = sorted((runs.reduction(*case, estimate) for case in cases), key=lambda each: each.value)
    ends = [f"{each.value:.0f} %" + ("" if each.error is None else f" (± {each.error:.0f})") for each in less]
    return f"{ends[0]} to {ends[-1]}"


def notes(benchmark: Benchmark, runs: Runs, models: Mapping[str, GradientModel]) -> Iterator[str]:
    """How the numbers of a data set came about, and what they say of gamma and of the order of the models."""
    shown = (AOA, published(1.5), published(3.0), pairwise(1.5), DEFAULT)
    orders = []
    for name in (each.name for each in benchmark.comparisons):
        taus = ", ".join(f"{form} {Mean.of(runs.taus(name, form)).plus_minus}" for form in shown)
        orders.append(f"Kendall's tau, {name}: {taus}")
    ends = (f"{'; '.join(parts)}." for parts in (_crossings(benchmark, runs), orders))
    return (f"{benchmark.name}: {each}" for each in (*describe(benchmark, runs, models), *ends))


def _crossings(benchmark: Benchmark, runs: Runs) -> Iterator[str]:
    """The gamma at which each form is right on average over the models."""
    for name in (each.name for each in benchmark.comparisons if not each.lists):
        for title, word in (("UB", published), ("snips", pairwise)):
            gaps = [float(np.mean([runs.gap(name, model, word(gamma)) for model in runs.models])) for gamma in CURVE]
            crossing = zero_of(CURVE, gaps)
            where = "at no gamma that was tried" if crossing is None else f"at gamma = {crossing:.1f}"
            yield f"{title} is right about {name}, on average over models, {where}"


def zero_of(x: tuple[float, ...], y: list[float]) -> float | None:
    """Where a broken line first meets zero; None when it does not."""
    for (left, low), (right, high) in itertools.pairwise(zip(x, y, strict=True)):
        if low == 0 or low * high < 0:
            return left + (right - left) * low / (low - high) if low else left
    return None


TABLE = Table(
    "table3",
    "Distance of an evaluation on chosen items from one on random items, and the order of the models",
    run,
    needs=(COAT, YAHOO),
)
