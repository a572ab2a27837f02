"""What corrected estimates reach, and where and why they do not."""

from collections.abc import Iterable, Iterator, Sequence

from unskew.studies.framework.claims import Claim
from unskew.studies.tian2020 import words
from unskew.studies.tian2020.goal import (
    CHANCE,
    CHOSEN,
    CLEAR,
    COVERED,
    Judgement,
    Reach,
    chosen_count,
    covered_counts,
    pass_chance,
    runs_needed,
)
from unskew.studies.tian2020.runs import NAIVE, Runs

GOAL = (
    f"where the true gap exceeds {CLEAR} standard errors of the paired difference the oracle is chosen in at least "
    f"{100 * CHOSEN:.0f} % of runs, elsewhere the interval of the difference covers at {100 * COVERED[0]:.0f} to "
    f"{100 * COVERED[1]:.0f} %"
)

WEAK = 0.9
"""A coverage that misses the goal, to say how often the runs would not notice."""


def claims(reaches: Sequence[Reach]) -> Iterator[Claim]:
    """The goal, for each method with the world's own propensities; the others are told in the notes."""
    for reach in reaches:
        if reach.method.endswith(", true") and reach.found:
            yield Claim(
                f"{reach.method}: in no world and metric do the runs refute that {GOAL}",
                not reach.missed,
                f"{told(reach)}. {tolerance(each.pair.runs for each in reach.found)}",
            )


def told(reach: Reach) -> str:
    """How far a method gets, and where it fails."""
    clear, other = reach.part(clear=True), reach.part(clear=False)
    right, covered = (sum(each.reached for each in part) for part in (clear, other))
    missed = [_missed(each) for each in reach.missed]
    return (
        f"not refuted: right in {right} of {len(clear)} with a clear gap, covered in {covered} of {len(other)} "
        f"without; refuted: {words.some(missed)}"
    )


def tolerance(counts: Iterable[int]) -> str:
    """How wide the net is that so many runs make, in plain words."""
    told = []
    for count in sorted(set(counts)):
        low, high = covered_counts(count)
        many = f" or more than {high}" if high < count else ""
        told.append(
            f"{count} runs would refute it by fewer than {low}{many} that cover, or by fewer than "
            f"{chosen_count(count)} that choose right"
        )
    return f"Not refuted is less than shown: {'; '.join(told)}"


def _missed(each: Judgement) -> str:
    if each.clear:
        return f"{each.place} right in {100 * each.chosen:.0f} %"
    return f"{each.place} covers at {100 * each.coverage:.0f} %"


def notes(runs: Sequence[Runs], reaches: Sequence[Reach]) -> Iterator[str]:
    """How it was counted, what the others reach, and why."""
    counts = sorted({len(each) for each in runs})
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
        if not reach.method.endswith(", true") and reach.found:
            name = "naive" if reach.method == NAIVE else reach.method
            yield f"{name}: {told(reach)}."
    for reach in reaches:
        if reach.method != NAIVE and reach.uncovered:
            found = words.some([_why(each) for each in reach.uncovered])
            yield f"{reach.method}, intervals that do not cover: {found}."


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
