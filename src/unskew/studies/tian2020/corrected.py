"""Beyond the paper: whether a corrected estimate distinguishes oracle from popular, and where and why it does not."""

from collections.abc import Iterable, Iterator, Sequence

from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Table
from unskew.studies.tian2020.goal import (
    CHANCE,
    CHOSEN,
    CLEAR,
    COVERED,
    Judgement,
    Reach,
    chosen_count,
    covered_counts,
    judgements,
    pass_chance,
    runs_needed,
)
from unskew.studies.tian2020.runs import EXPECTED, NAIVE, NAMES, PANEL, WAYS, Runs, all_runs, how_often, some
from unskew.studies.tian2020.sets import NEEDS, calibrations, provenance, sources_of

LABELS = WAYS[EXPECTED].design.labels
GOAL = (
    f"where the true gap exceeds {CLEAR} standard errors of the paired difference the oracle is chosen in at least "
    f"{100 * CHOSEN:.0f} % of runs, elsewhere the interval of the difference covers at {100 * COVERED[0]:.0f} to "
    f"{100 * COVERED[1]:.0f} %"
)
WEAK = 0.9
"""A coverage that misses the goal, to say how often the runs would not notice."""


def run(context: Context) -> Findings:
    """Every method in every world, and whether it reaches the goal."""
    runs = all_runs(context)
    if not runs:
        return Findings(notes=provenance(context), used=())
    reaches = [Reach(label, tuple(judgements(runs, label))) for label in LABELS]
    return Findings(
        (*(each for reach in reaches for each in _tally(reach)), *_cells(runs, reaches)),
        tuple(claims(reaches)),
        notes=(*notes(runs, reaches), PANEL, how_often(runs), *provenance(context)),
        used=sources_of(calibrations(context)),
    )


def _tally(reach: Reach) -> Iterator[ReproducedCell]:
    """How often a method reaches the goal, counted over worlds and metrics."""
    clear, other = reach.part(clear=True), reach.part(clear=False)
    numbers = {
        "clear gaps": len(clear),
        "of these right": sum(each.reached for each in clear),
        "other gaps": len(other),
        "of these covered": sum(each.reached for each in other),
        "all covered": sum(each.is_covered for each in reach.judgements),
        "mean coverage %": 100 * reach.mean_coverage if reach.judgements else None,
        "lowest coverage %": _lowest(each.coverage for each in reach.judgements),
        "fewest right %": _lowest(each.chosen for each in clear),
    }
    for column, value in numbers.items():
        if value is not None:
            yield cell(reach.method, column, "all worlds", value)


def _lowest(shares: Iterable[float]) -> float | None:
    return min((100 * share for share in shares), default=None)


def _cells(runs: Runs, reaches: Sequence[Reach]) -> Iterator[ReproducedCell]:
    for data, world, way in runs:
        for reach in reaches if way == EXPECTED else ():
            for each in reach.judgements:
                if (each.data, each.world) == (data, world):
                    oracle = runs[data, world, way].cell("oracle", each.pair.metric, reach.method)
                    row = f"{world}, {NAMES[each.pair.metric]}, {reach.method}"
                    for column, value in _numbers(each, oracle.bias).items():
                        if value is not None:
                            yield cell(row, column, data, value)


def _numbers(each: Judgement, oracle_bias: float | None) -> dict[str, Mean | float | None]:
    pair = each.pair
    return {
        "true gap": pair.true_gap,
        "bias": None if pair.bias is None else Mean(pair.bias, pair.spread, None),
        "rmse": pair.rmse,
        "bias of oracle": oracle_bias,
        "covers users %": _percent(pair.coverage),
        "covers population %": _percent(pair.coverage_population),
        "oracle chosen %": _percent(pair.first_chosen),
        "right %": _percent(pair.right_verdict),
        "cannot tell %": _percent(pair.undecided),
        "wrong %": _percent(pair.wrong_verdict),
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def claims(reaches: Sequence[Reach]) -> Iterator[Claim]:
    """The goal, for each method with the world's own propensities; the notes describe the others."""
    for reach in reaches:
        if reach.method.endswith(", true") and reach.judgements:
            evidence = f"{summarised(reach)}. {tolerance(each.pair.runs for each in reach.judgements)}"
            yield claim(
                f"{reach.method}: in no world and metric do the runs refute that {GOAL}", (not reach.missed, evidence)
            )


def summarised(reach: Reach) -> str:
    """How often a method reaches the goal, and where it fails."""
    clear, other = reach.part(clear=True), reach.part(clear=False)
    right, covered = (sum(each.reached for each in part) for part in (clear, other))
    missed = [
        f"{each.place} right in {100 * each.chosen:.0f} %"
        if each.clear
        else f"{each.place} covers at {100 * each.coverage:.0f} %"
        for each in reach.missed
    ]
    return (
        f"not refuted: right in {right} of {len(clear)} with a clear gap, covered in {covered} of {len(other)} "
        f"without; refuted: {some(missed)}"
    )


def tolerance(counts: Iterable[int]) -> str:
    """Which counts would refute the goal, for each number of runs."""
    parts = []
    for count in sorted(set(counts)):
        low, high = covered_counts(count)
        many = f" or more than {high}" if high < count else ""
        parts.append(
            f"{count} runs would refute it by fewer than {low}{many} that cover, or by fewer than "
            f"{chosen_count(count)} that choose right"
        )
    return f"Not refuted is less than shown: {'; '.join(parts)}"


def notes(runs: Runs, reaches: Sequence[Reach]) -> Iterator[str]:
    """How it was counted, what the other methods reach, and why."""
    counts = sorted({len(each.trials) for each in runs.values()})
    through = "; ".join(f"of {count} runs in {100 * pass_chance(count, WEAK):.0f} %" for count in counts)
    yield (
        "The gap is that between oracle and popular, ties in expectation. 'bias' and 'rmse' are of the estimated less "
        "the true gap of the log's own users; 'right', 'cannot tell' and 'wrong' are the verdicts by the 95 % interval "
        "of the difference; 'covers users' is how often that interval holds the true gap of the own users, 'covers "
        "population' that of the population they come from, which is what it speaks of."
    )
    yield (
        f"Shares of runs have a spread of their own, so a limit counts as broken only when chance would bring the "
        f"share there in fewer than {100 * CHANCE:g} % of studies. {tolerance(counts)}. 'right' and 'covered' in "
        "counts of worlds and metrics mean no more than that. An interval that truly covers at "
        f"{100 * WEAK:.0f} % would often pass: in studies {through}. To tell 95 % from either limit by two standard "
        f"errors, {runs_needed()} runs are needed. Where the gap is not clear a right verdict is as good as 'cannot "
        "tell'; a gap of two or more standard errors is often seen."
    )
    yield (
        "'true' are the world's own propensities, P(in the test | not in train). 'estimated' are popularity(gamma=0), "
        "the square root of the training counts: where items are observed in proportion to how many users like them, "
        "counts go with the square of that, so this is about right; under uniform observation it is wrong, and "
        "nothing should be corrected. ips with estimated propensities is scaled to the true number of relevant pairs, "
        "and all of ips divides by each user's true number of relevant items: no log tells either."
    )
    yield (
        "Two forms miss their target even with true propensities. snips(per=balanced) is made for propensities of "
        "items; here they also differ between users, and it weighs users by 1/P, so under uniform observation it is a "
        "mean over users that is weighted by how little of what they like is held out. snips(per=user) normalises "
        "within each user, which hardly corrects with few rows a user. Such a form chooses right where the gap is "
        "larger than its bias, so 'of these right' says less than 'all covered'. Clipping (clip=0.02) was tried in two "
        "worlds only, IBP by an early calibration to amazon-digital-music, 60 runs each: most of its intervals no "
        "longer covered, so it has no rows here."
    )
    for reach in reaches:
        if not reach.method.endswith(", true") and reach.judgements:
            yield f"{'naive' if reach.method == NAIVE else reach.method}: {summarised(reach)}."
    for reach in reaches:
        if reach.method != NAIVE and reach.uncovered:
            yield f"{reach.method}, intervals that do not cover: {some([_why(each) for each in reach.uncovered])}."


def _why(each: Judgement) -> str:
    """Bias and claimed standard error in terms of the spread over runs."""
    pair = each.pair
    bias, spread, error = pair.bias or 0.0, pair.population_spread or pair.spread or 0.0, pair.std_error or 0.0
    if not spread:
        return f"{each.place} {100 * each.coverage:.0f} %"
    return (
        f"{each.place} {100 * each.coverage:.0f} % (bias {bias / spread:+.1f} times the spread over runs, claimed "
        f"standard error {error / spread:.2f} times)"
    )


TABLE = Table("corrected", "Beyond the paper: does a corrected estimate tell oracle from popular?", run, needs=NEEDS)
