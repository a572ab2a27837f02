"""Beyond the paper: how estimates drift from the truth when a recommender's output becomes the next log."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.feedback import METRICS, Feedback, simulate_feedback
from unskew.metrics import parse_metric
from unskew.ranking import Threads
from unskew.simulators import Lda
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Key, Trials
from unskew.studies.tian2020.runs import COLUMNS, KNOWN, METHODS, NAIVE, POPULARITY_RATIO, TRUTH

RECALL, ADG = METRICS[:2]
WORLD = Size(
    Lda(users=1000, items=800, topics=10, likes=100, sizes="pareto(scale=10, shape=1, upper=60)"),
    Lda(users=150, items=150, topics=5, likes=40, sizes="pareto(scale=5, shape=1, upper=20)"),
)
ROUNDS = Size(10, 3)
REPLICATIONS = Size(10, 2, trials=True)
LEARNT = "als(factors=16)"
JUDGED = ("oracle", "popular", LEARNT)
"""Recommenders that are judged in every loop, next to the one that shows the lists."""
K, ETA, TAKE, ORGANIC = 20, 1.0, 0.5, 0.02
ENDS = {"first round": 0, "last round": -1}
LOG, ROWS, HEAD = "log", "rows of the log", "share of the head"
ERRORS, LIMIT = 3.0, 4.0
"""Standard errors that make a difference clear, and that no estimate without bias should reach, among some thirty."""


@dataclass(frozen=True)
class Loop:
    """Who shows the lists, and how often a user consumes an item that is looked at but not liked."""

    recommender: str
    dislikes: float = 0.0

    def __str__(self) -> str:
        return self.recommender + (f", dislikes {self.dislikes:g}" if self.dislikes else "")

    @property
    def judged(self) -> tuple[str, ...]:
        """Recommenders judged in this loop; the one that shows the lists comes last."""
        return (*(each for each in JUDGED if each != self.recommender), self.recommender)


LOOPS = (Loop("popular"), Loop(LEARNT), Loop("random"), Loop(LEARNT, 0.1))
SHOWN = (TRUTH, NAIVE, KNOWN, POPULARITY_RATIO)
"""The truth and the methods in the figure and the notes."""
PURE = LOOPS[:3]
"""Loops in which only what is liked is consumed."""
WITH_POPULAR, DISLIKED = LOOPS[0], LOOPS[3]


def run(context: Context) -> Findings:
    """Play all loops, and judge the recommenders in each round."""
    return findings(simulate(context), context.size(WORLD))


def simulate(context: Context) -> Trials:
    """One value per replication and round, by loop, recommender, metric and column: the truth or an estimate.

    The k-th replications of all loops start from the same log. Of the recommender `LOG` are the number of rows and the
    head's share, which have one more value: before the first round, and after each.
    """
    seeds = [int(context.rng("tian2020", "feedback", k).integers(2**31)) for k in range(context.size(REPLICATIONS))]
    tasks, world, rounds = list(product(seeds, LOOPS)), context.size(WORLD), context.size(ROUNDS)
    in_rounds = partial(simulate_feedback, k=K, eta=ETA, take=TAKE, organic=ORGANIC, methods=METHODS, others=JUDGED)

    def play(task: tuple[int, Loop]) -> Feedback:
        seed, loop = task
        return in_rounds(world, loop.recommender, rounds, dislikes=loop.dislikes, seed=seed)

    rows: list[tuple[Key, Any]] = []
    for (_, loop), played in zip(context.counted("loops", tasks), Threads().map(play, tasks), strict=True):
        rows += [((loop, LOG, ROWS, LOG), played.rows), ((loop, LOG, HEAD, LOG), played.head)]
        for who, metric in product(loop.judged, METRICS):
            rows.append(((loop, who, metric, TRUTH), played.truth(who, metric)))
            labels = [method.label for method in METHODS if method.admits(parse_metric(metric))]
            rows += [((loop, who, metric, label), played.estimate(who, metric, label)) for label in labels]
    return Trials.collect(("loop", "recommender", "metric", "column"), "replication, round", rows)


def findings(values: Trials, world: Lda) -> Findings:
    """The table of these loops."""
    figures, said = tuple(_figures(values)), tuple(notes(values, world))
    return Findings(tuple(_cells(values)), tuple(claims(values)), figures, said, trials=values)


def error_of(values: Trials, loop: Loop, method: str, recommender: str = "", metric: str = RECALL) -> Floats:
    """Estimate minus truth; without a name, of the recommender that shows the lists."""
    key = (loop, recommender or loop.recommender, metric)
    return values[(*key, method)] - values[(*key, TRUTH)]


def _cells(values: Trials) -> Iterator[ReproducedCell]:
    """The truth, and each error in the first and the last round."""
    for loop in LOOPS:
        data = f"lists of {loop}"  # the full word of the world is in the notes
        for name, (when, place) in product((ROWS, HEAD), ENDS.items()):
            yield cell(f"{name}, {when}", LOG, data, values[loop, LOG, name, LOG][:, place])
        for recommender, metric, (when, place) in product(loop.judged, METRICS, ENDS.items()):
            row = f"error of {metric} of {recommender}, {when}"
            ours = values.at(loop=loop, recommender=recommender, metric=metric)
            for (column,), numbers in ours.groups.items():
                shown = numbers if column == TRUTH else numbers - ours[TRUTH,]
                yield cell(row, COLUMNS[column], data, shown[:, place])


def _figures(values: Trials) -> Iterator[Figure]:
    """Recall of the recommender that shows the lists, loop by loop; and how the log changes."""
    replications, states = values[WITH_POPULAR, LOG, ROWS, LOG].shape
    panels = []
    for loop in LOOPS:
        lines = {COLUMNS[each]: list(values[loop, loop.recommender, RECALL, each].T) for each in SHOWN}
        panels.append(Panel.over(f"lists of {loop}", range(1, states), lines, COLUMNS[NAIVE]))
    title = f"{RECALL} of the recommender that shows the lists, over the rounds"
    note = f"Means over {replications} replications; bands are 1.96 standard errors to both sides."
    yield Figure(title, "round", tuple(panels), note=note)
    lines = {f"lists of {loop}": list(values[loop, LOG, HEAD, LOG].T) for loop in LOOPS}
    title = "Share of the log's rows that the 5 % most consumed items have"
    panel = Panel.over(title, range(states), lines)
    yield Figure(title, "rounds played", (panel,), note="Means over replications; bands as above.")


def notes(values: Trials, world: Lda) -> Iterator[str]:
    """How it was done, and the numbers in sentences."""
    replications, states = values[WITH_POPULAR, LOG, ROWS, LOG].shape
    yield (
        f"Beyond the paper, so there is no printed number. {world}: likes do not change, and the first log is what "
        f"that world observes. In each of {states - 1} rounds a recommender learns from the log and shows every user "
        f"the best {K} items that are not in the user's log. Users look at place j with probability j^-{ETA:g}, "
        f"consume what they like there with probability {TAKE:g}, and find each liked item without a list with a "
        f"probability of {ORGANIC:g} on average, in proportion to how many users like it. What is consumed is the test "
        "of models trained on the log before, and then becomes part of the log. The probability of each row is known "
        "exactly: known P."
    )
    yield (
        f"{replications} replications; the loops of one replication start from the same log. Users who like something "
        "outside the log are judged; the true value is over all that they like there. Errors are estimate minus truth. "
        "Lists are shown from the first round on."
    )
    for loop in LOOPS:
        yield _loop_note(values, loop)
    ahead = {
        column: values[WITH_POPULAR, LEARNT, ADG, column] > values[WITH_POPULAR, "popular", ADG, column]
        for column in SHOWN
    }
    yield (
        f"Lists of popular, {LEARNT} against popular. {LEARNT} is truly better in {ahead[TRUTH].mean():.0%} of rounds "
        f"by {ADG}; the naive average says so in {ahead[NAIVE].mean():.0%} ({ahead[NAIVE][:, 0].mean():.0%} of first "
        f"rounds), ips with known P in {ahead[KNOWN].mean():.0%}, popularity in {ahead[POPULARITY_RATIO].mean():.0%}."
    )


def _loop_note(values: Trials, loop: Loop) -> str:
    truth, head = values[loop, loop.recommender, RECALL, TRUTH], values[loop, LOG, HEAD, LOG]
    titles = {NAIVE: "naive", KNOWN: "ips with known P", POPULARITY_RATIO: "by popularity"}
    parts = [f"{title} {_ends(error_of(values, loop, method))}" for method, title in titles.items()]
    moved = moved_in(error_of(values, loop, NAIVE))
    if moved.error is None or abs(moved.value) <= ERRORS * moved.error:
        direction = "does not clearly move"
    else:
        direction = "grows over the rounds" if moved.value > 0 else "shrinks over the rounds"
    return (
        f"Lists of {loop}. True {RECALL} of {loop.recommender}: {truth[:, 0].mean():.3f} in the first round, "
        f"{truth[:, -1].mean():.3f} in the last. Its error, first to last: {'; '.join(parts)}. The naive error "
        f"{direction}. The head's share of the log: {head[:, 0].mean():.3f} before, {head[:, -1].mean():.3f} after."
    )


def _ends(values: Floats) -> str:
    return f"{values[:, 0].mean():+.3f} to {values[:, -1].mean():+.3f}"


def moved_in(values: Floats) -> Mean:
    """Last minus first round, over replications."""
    return Mean.of(values[:, -1] - values[:, 0])


def score(errors: Floats) -> float:
    """Sum of the errors of all rounds over its standard error.

    Given the log before a round, the error of an estimate without bias has mean 0, so errors of different rounds are
    uncorrelated and their squares add up.
    """
    return float(errors.sum() / np.sqrt((errors**2).sum()))


def claims(values: Trials) -> Iterator[Claim]:
    """Ours, not the paper's; whether errors grow is measured, not claimed."""
    for text, verdict in (*_of_corrections(values), *_of_lists(values)):
        yield claim(f"{text[0].upper()}{text[1:]}", verdict)


def _of_corrections(values: Trials) -> Iterator[tuple[str, Verdict]]:
    scores = {
        f"{metric} of {recommender} with lists of {loop}": score(error_of(values, loop, KNOWN, recommender, metric))
        for loop in PURE
        for recommender in dict.fromkeys([*JUDGED, loop.recommender])
        for metric in METRICS
    }
    worst = max(scores, key=lambda key: abs(scores[key]))
    text = (
        "where only what is liked is consumed, ips with known P stays at the truth in all loops, recommenders and "
        f"metrics (within {LIMIT:g} standard errors over all rounds)"
    )
    evidence = f"{len(scores)} combinations; the farthest is {scores[worst]:+.1f} standard errors off, {worst}"
    yield text, (abs(scores[worst]) < LIMIT, evidence)

    naive, left = ({loop: error_of(values, loop, method) for loop in LOOPS} for method in (NAIVE, POPULARITY_RATIO))
    least = {loop: min(Mean.of(errors).z for errors in each.T) for loop, each in naive.items()}
    text = f"the naive {RECALL} of the recommender that shows the lists is too high in every round of every loop"
    listed = "; ".join(f"{loop} {z:.1f}" for loop, z in least.items())
    yield text, (min(least.values()) > ERRORS, f"least mean error of a round, in standard errors: {listed}")

    text = (
        f"propensities from popularity leave the {RECALL} of the recommender that shows the lists too high in every "
        "loop: the log's counts do not show which items were shown to whom"
    )
    means = {loop: Mean.of(each.mean(axis=1)) for loop, each in left.items()}
    listed = "; ".join(f"{loop} {mean.value:+.3f} of {naive[loop].mean():+.3f}" for loop, mean in means.items())
    holds = min(mean.z for mean in means.values()) > ERRORS
    yield text, (holds, f"mean error left, out of the naive one: {listed}")


def _of_lists(values: Trials) -> Iterator[tuple[str, Verdict]]:
    naive, known = (
        Mean.of((error_of(values, WITH_POPULAR, method, LEARNT) - error_of(values, WITH_POPULAR, method)).mean(axis=1))
        for method in (NAIVE, KNOWN)
    )
    text = f"with lists of popular, the naive average makes the lead of {LEARNT} over popular in {RECALL} too small"
    evidence = (
        f"error of the lead, mean over rounds: naive {naive.value:+.3f} ({naive.z:+.1f} s.e.), ips with known P "
        f"{known.value:+.3f} ({known.z:+.1f} s.e.)"
    )
    yield text, (naive.z < -ERRORS, evidence)

    errors = error_of(values, DISLIKED, KNOWN)
    moved = moved_in(errors)
    text = (
        "where a tenth of what is looked at and not liked is consumed too, ips with known P is too high for the "
        f"{RECALL} of the recommender that shows the lists, and more so in the last round than in the first"
    )
    evidence = f"error {_ends(errors)}; last minus first {moved.value:+.3f} ({moved.z:+.1f} s.e.)"
    yield text, (Mean.of(errors.mean(axis=1)).z > ERRORS and moved.z > ERRORS, evidence)

    heads = {loop: moved_in(values[loop, LOG, HEAD, LOG]) for loop in PURE}
    listed = "; ".join(f"{loop} {each.value:+.3f}" for loop, each in heads.items())
    holds = heads[WITH_POPULAR].z > ERRORS and heads[PURE[-1]].z < -ERRORS
    yield (
        "lists of popular raise the head's share of the log, and random lists lower it",
        (holds, f"last minus first: {listed}"),
    )


TABLE = Table("feedback", "Beyond the paper: a recommender's output becomes the next log", run)
