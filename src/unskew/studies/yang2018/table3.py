"""Table 3: how far an evaluation on what users chose is from one on items drawn at random for them."""

from collections.abc import Iterator, Mapping

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.yang2018 import table3_words
from unskew.studies.yang2018.printed import TABLE3, TABLE3_GAMMAS
from unskew.studies.yang2018.table3_data import COAT, COMPARISONS, YAHOO, Benchmark, Comparison, find_benchmark
from unskew.studies.yang2018.table3_runs import (
    AOA,
    CURVE,
    DEFAULT,
    ESTIMATES,
    Runs,
    pairwise,
    published,
    run_draws,
)
from unskew.studies.yang2018.table3_settings import COAT_SETTINGS, YAHOO_SETTINGS, fewer_steps, search
from unskew.studies.yang2018.table3_tally import errors, reduction, taus

PUBLISHED: tuple[str, ...] = (AOA, *map(published, TABLE3_GAMMAS))
REDUCED: tuple[str, ...] = (published(TABLE3_GAMMAS[0]), published(TABLE3_GAMMAS[-1]), pairwise(1.5), DEFAULT)
FULL_DRAWS, FAST_DRAWS = 10, 2
FAST_STEPS = 200  # of yahoo-r3, where the paper has 10,000
TOLERANCE: Mapping[str, float] = {"auc": 0.019, "recall": 0.05}
REASON = (
    "half of the least that UB gains over AOA in the paper, so that the error of one cannot pass for that of the "
    "other; the paper does not say how it drew the 300 songs, nor what chose among its checks"
)
_NOT_COMPARED = "not compared: the small version trains for fewer steps"
_PAIRED = "per cent of AOA's error; the spread is the paired standard error over draws of the biased test"
_TAU = "1: the order of the truth, -1: the reverse; mean over draws of the biased test"


def run(context: Context) -> Findings:
    """The table on Coat, and on Yahoo! R3 where it is at hand."""
    parts = [on_yahoo(find_benchmark(YAHOO, context), context), on_coat(find_benchmark(COAT, context), context)]
    return Findings(
        cells=tuple(cell for part in parts for cell in part.cells),
        claims=tuple(claim for part in parts for claim in part.claims),
        figures=tuple(figure for part in parts for figure in part.figures),
        notes=(table3_words.METHOD, *(note for part in parts for note in part.notes)),
    )


def on_coat(benchmark: Benchmark | None, context: Context) -> Findings:
    """The question of the table, on real data of another kind.

    Parameters
    ----------
    benchmark : Benchmark or None
        None when the data is not at hand.
    context : Context
    """
    if benchmark is None:
        why = context.absence(COAT)
        empty = tuple(
            ReproducedCell(model, _column(each, AOA), COAT, None, None, note=why)
            for each in COMPARISONS[COAT]
            for model in COAT_SETTINGS
        )
        return Findings(empty, tuple(table3_words.unjudged(COAT, why)))
    models = search(benchmark, COAT_SETTINGS, context) if context.tune else COAT_SETTINGS
    runs = run_draws(benchmark, models, context.n_trials(FULL_DRAWS, FAST_DRAWS), context)
    return Findings(
        cells=tuple(_cells(benchmark, runs, compared=False)),
        claims=(*table3_words.paper_claims(benchmark, runs, judged=False), *table3_words.own_claims(benchmark, runs)),
        figures=tuple(_figures(benchmark, runs)),
        notes=tuple(table3_words.notes(benchmark, runs, models)),
    )


def on_yahoo(benchmark: Benchmark | None, context: Context) -> Findings:
    """The table as the paper has it.

    Parameters
    ----------
    benchmark : Benchmark or None
        None when the data is not at hand: then there are the paper's numbers alone.
    context : Context
    """
    if benchmark is None:
        why = context.absence(YAHOO)
        lists = (each for each in COMPARISONS[YAHOO] if each.lists)
        empty = tuple(
            ReproducedCell(model, _column(each, name), YAHOO, _printed(each, model, name), None, note=why)
            for each in lists
            for model in YAHOO_SETTINGS
            for name in PUBLISHED
        )
        return Findings(empty, tuple(table3_words.unjudged(YAHOO, why)))
    models = fewer_steps(YAHOO_SETTINGS, FAST_STEPS) if context.fast else YAHOO_SETTINGS
    # a draw takes minutes, so there is one unless more are asked for
    runs = run_draws(benchmark, models, context.trials or 1, context, ties="optimistic")
    return Findings(
        cells=tuple(_cells(benchmark, runs, compared=not context.fast)),
        claims=tuple(table3_words.paper_claims(benchmark, runs, judged=not context.fast)),
        figures=tuple(_figures(benchmark, runs)),
        notes=tuple(table3_words.notes(benchmark, runs, models)),
    )


def _cells(benchmark: Benchmark, runs: Runs, *, compared: bool) -> Iterator[ReproducedCell]:
    """Errors, how much less than AOA's they are, and the order of the models."""
    for comparison in benchmark.comparisons:
        shown = (*PUBLISHED, DEFAULT) if comparison.lists else ESTIMATES
        for k in range(len(runs.models)):
            for name in shown:
                yield _error_cell(benchmark, comparison, runs, k, name, compared=compared)
    for comparison in benchmark.comparisons:
        for k, model in enumerate(runs.models):
            for name in REDUCED:
                less = reduction(runs, comparison.name, name, k)
                row, column = f"{model}, % below AOA", _column(comparison, name)
                yield ReproducedCell(row, column, benchmark.name, None, less.value, less.error, note=_PAIRED)
    for comparison in benchmark.comparisons:
        for name in ESTIMATES:
            tau = Mean.of(taus(runs, comparison.name, name))
            column = _column(comparison, name)
            yield ReproducedCell("Kendall's tau", column, benchmark.name, None, tau.value, tau.spread, note=_TAU)


def _error_cell(
    benchmark: Benchmark, comparison: Comparison, runs: Runs, model: int, name: str, *, compared: bool
) -> ReproducedCell:
    error = Mean.of(errors(runs, comparison.name, name)[:, model])
    row, column = runs.models[model], _column(comparison, name)
    paper = _printed(comparison, row, name) if benchmark.name == YAHOO else None
    if paper is None:
        return ReproducedCell(row, column, benchmark.name, None, error.value, error.spread)
    return ReproducedCell(
        row,
        column,
        benchmark.name,
        paper,
        error.value,
        error.spread,
        comparable=compared,
        tolerance=TOLERANCE[_kind(comparison)] if compared else None,
        reason=REASON if compared else "",
        note="" if compared else _NOT_COMPARED,
    )


def _column(comparison: Comparison, name: str) -> str:
    return f"{comparison.name}: {name}"


def _kind(comparison: Comparison) -> str:
    return comparison.biased.partition("@")[0]


def _printed(comparison: Comparison, model: str, name: str) -> float | None:
    """The paper's number, where it has one."""
    if not comparison.lists or name not in PUBLISHED:
        return None
    return TABLE3[model][_kind(comparison)][PUBLISHED.index(name)]


def _figures(benchmark: Benchmark, runs: Runs) -> Iterator[Figure]:
    """Estimate less truth and the order of the models, over gamma, in the full catalogue."""
    full = [each.name for each in benchmark.comparisons if not each.lists]
    band = "Bands: 95 % over draws of the biased test" if runs.draws > 1 else "One draw of the biased test"
    for name in full:
        gaps = {key[1]: values - runs.truth[name] for key, values in runs.estimates.items() if key[0] == name}
        panels = tuple(
            Panel(model, tuple(_lines({form: gap[:, k] for form, gap in gaps.items()})))
            for k, model in enumerate(runs.models)
        )
        note = f"{band}. 0 is right, above it the model is praised too much; gamma = -1 would be AOA."
        yield Figure(f"{benchmark.name}, {name}: estimate less truth", "gamma", panels, note=note)
    orders = tuple(
        Panel(name, tuple(_lines({form: taus(runs, key, form) for key, form in runs.estimates if key == name})))
        for name in full
    )
    note = f"{band}. 1 is the order of the truth."
    yield Figure(f"{benchmark.name}: Kendall's tau of the four models with the truth", "gamma", orders, note=note)


def _lines(by_name: Mapping[str, Floats]) -> Iterator[Series]:
    naive = Mean.of(by_name[AOA])
    flat = [naive.value] * len(CURVE), [naive.error or 0.0] * len(CURVE)
    yield Series.of(AOA, CURVE, *flat, naive=True)
    for title, word in (("UB, snips(per=user)", published), ("snips", pairwise)):
        means = [Mean.of(by_name[word(gamma)]) for gamma in CURVE]
        yield Series.of(title, CURVE, [mean.value for mean in means], [mean.error or 0.0 for mean in means])


TABLE = Table(
    "table3",
    "Distance of an evaluation on chosen items from one on random items, and the order of the models",
    run,
    needs=(COAT, YAHOO),
)
