"""Figure 3: factorisations of ratings learnt from what was observed, judged on all ratings."""

from collections.abc import Iterator, Mapping, Sequence

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, all_above, claim, unjudged
from unskew.studies.framework.completed_movielens import DATA, World, completed_world
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import clear_signs
from unskew.studies.framework.study import Context, Table
from unskew.studies.schnabel2016 import jester
from unskew.studies.schnabel2016.factorisations import (
    ALPHA,
    ALPHAS,
    FACTORS,
    FOLDS,
    IPS,
    JESTER,
    LEARNT,
    METRICS,
    MOVIELENS,
    NAIVE,
    PENALTIES,
    TRIALS,
    Case,
    Errors,
    Setting,
    cases,
    measure,
)

_BETTER = "MF-IPS outperforms MF-Naive in MSE at every alpha below 1"
_LEARNT = "MF-IPS with propensities from a random sample of any size is never worse than MF-Naive in MSE"
_ABSOLUTE = "MF-IPS outperforms MF-Naive in MAE too, by the same fits, at every alpha below 1"
_ON_JESTER = "On jester MF-IPS outperforms MF-Naive in MSE at every alpha below 1"
_SECTIONS = {_BETTER: "Sec. 6.3, Fig. 3", _LEARNT: "Sec. 6.4, Fig. 3"}


def run(context: Context) -> Findings:
    """The figure on both data sets, or on those that are available."""
    worlds = ((completed_world(context), MOVIELENS), (jester.jester_world(context), JESTER))
    return Findings.joined(compute(world, context, setting) for world, setting in worlds)


def compute(world: World | None, context: Context, setting: Setting = MOVIELENS) -> Findings:
    """The figure of a world, or of none. What is said about another data set than the paper's is ours."""
    texts = (_BETTER, _LEARNT, _ABSOLUTE) if setting.data == DATA else (_ON_JESTER,)
    if world is None:
        why = context.absence(setting.data)
        places = [(case, metric) for case in cases(ALPHAS.full, setting.sizes.full) for metric in METRICS]
        cells = (_cell(setting.data, case, metric, None, why) for case, metric in places)
        claims = (each for text in texts for each in unjudged((text,), why, section=_SECTIONS.get(text, "")))
        return Findings(tuple(cells), tuple(claims))
    errors = measure(world.ratings, context, setting)
    curve = "the paper draws a curve and prints no number; penalty {:g}"
    cells = (
        _cell(setting.data, case, metric, errors.values(case, metric), curve.format(penalty))
        for case, penalty in errors.penalties.items()
        for metric in METRICS
    )
    figures = tuple(_figures(errors, context, setting))
    notes = (world.origin, *_notes(errors, context, setting))
    return Findings(tuple(cells), tuple(_claims(errors)), figures, notes, trials=errors.trials)


def _cell(data: str, case: Case, metric: str, values: Floats | None, note: str) -> ReproducedCell:
    alpha, method, size = case
    sample = "" if size is None else f", {size} random ratings"
    return cell(method, f"{metric}, alpha={alpha:g}{sample}", data, values, note=note)


def _claims(errors: Errors) -> Iterator[Claim]:
    below = [case for case in errors.penalties if case[0] < 1 and case[1] == IPS]
    if errors.data != DATA:
        yield _judged(_ON_JESTER, errors, below, "MSE")
        return
    learnt = [case for case in errors.penalties if case[1] == LEARNT]
    yield _judged(_BETTER, errors, below, "MSE")
    yield _judged(_LEARNT, errors, learnt, "MSE")
    yield _judged(_ABSOLUTE, errors, below, "MAE")


def _judged(text: str, errors: Errors, some: Sequence[Case], metric: str) -> Claim:
    """Whether these cases are better than MF-Naive, each one clearly, tested together."""
    gaps = {case: errors.gap(case, metric) for case in some}
    signs = list(clear_signs(gaps).values())
    shown = "; ".join(
        f"{f'alpha {alpha:g}' if size is None else f'{size} ratings'} {errors.values(case, metric).mean():.4f} against "
        f"{errors.values((alpha, NAIVE, None), metric).mean():.4f}, difference {gaps[case].plus_minus}"
        for case in some
        for alpha, _, size in (case,)
    )
    trials = len(next(iter(errors.trials.groups.values())))
    evidence = (
        f"paired by trial, {trials} trials: clearly better in {signs.count(1)} of {len(gaps)} (Holm), worse in "
        f"{signs.count(-1)}. {metric}: {shown}"
    )
    return claim(text, (all_above(gaps), evidence), section=_SECTIONS.get(text, ""))


def _figures(errors: Errors, context: Context, setting: Setting) -> Iterator[Figure]:
    alphas, sizes = context.size(ALPHAS), context.size(setting.sizes)
    factors, trials = context.size(FACTORS), context.size(TRIALS)
    bands = f"{factors} factors, {trials} trials, errors over all cells; bands are 95 % intervals over trials."
    known = {method: [(alpha, method, None) for alpha in alphas] for method in (NAIVE, IPS)}
    panels = _panels(errors, known, alphas)
    title = f"Error of factorisations with known propensities{'' if setting.data == DATA else f' on {setting.data}'}"
    yield Figure(title, "alpha (1: no selection)", panels, log_x=True, note=bands)
    if not sizes:
        return
    level = {method: [(ALPHA, method, None)] * len(sizes) for method in (NAIVE, IPS)}
    learnt = {LEARNT: [case for case in errors.penalties if case[1] == LEARNT]}
    panels = _panels(errors, {**level, **learnt}, sizes)
    title = "Error of factorisations with naive Bayes propensities"
    note = f"alpha = {ALPHA:g}, {bands} MF-IPS knows the propensities, MF-IPS-NB learns them from the sample."
    yield Figure(title, "ratings in the random sample", panels, log_x=True, note=note)


def _panels(errors: Errors, lines: Mapping[str, Sequence[Case]], x: Sequence[float]) -> tuple[Panel, ...]:
    def series(metric: str, name: str) -> Series:
        values = [errors.values(case, metric) for case in lines[name]]
        return Series.over(name, x, values, naive=name == NAIVE)

    return tuple(Panel(f"{metric} over all cells", tuple(series(metric, name) for name in lines)) for metric in METRICS)


def _notes(errors: Errors, context: Context, setting: Setting) -> Iterator[str]:
    factors, folds = context.size(FACTORS), context.size(FOLDS)
    shape = context.size(setting.shape)
    part = "" if shape is None else f"{shape[0]:,} users and {shape[1]:,} items at random. "
    if setting.data == DATA:
        grid = ", ".join(f"{penalty:g}" for penalty in context.size(PENALTIES))
        yield (
            f"{part}Factorisations have {factors} factors and free offsets. The penalty of each method at each alpha, "
            f"and at each size of the random sample, was chosen once from {grid} by {folds}-fold cross-validation on a "
            "draw of its own, with the propensities that the method knows or learns; then all trials use it."
        )
        yield (
            "All fits minimise the squared error, and both errors are theirs: fits of the absolute error need about "
            "six times the steps."
        )
    else:
        yield (
            f"{part}{context.size(setting.density):.0%} of the cells are observed: the paper's 5 % would be five "
            "ratings per person, and the offset of a person alone would then fit most of them. The rest is as above."
        )
    chosen = (
        f"{method} at {alpha:g}{'' if size is None else f' with {size} ratings'} {penalty:g}"
        for (alpha, method, size), penalty in errors.penalties.items()
    )
    yield f"Penalties chosen: {', '.join(chosen)}."


TABLE = Table("fig3", "Error of learnt factorisations as selection grows stronger", run, needs=(DATA, jester.DATA))
