"""`compute`: the cells, claims and figure of a table, from logs on which all methods were judged."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from unskew.errors import first_of
from unskew.studies.framework.cache import key_of
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import MANY, Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.pool import run_missing
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context
from unskew.studies.framework.trials import Trials
from unskew.studies.peers.judge import Judged, judge
from unskew.studies.peers.measures import (
    COVERAGE,
    ERROR,
    SCALED,
    SECONDS,
    TAU,
    USER_ERROR,
    WINNER,
    measure,
)
from unskew.studies.peers.methods import (
    AUTO,
    METHODS,
    NAIVE,
    OURS,
    RECALL,
    SHARE,
    SNIPS,
    SNIPS_USERS,
    USERS,
    WEIGHTED,
    Method,
    of_ours,
)
from unskew.studies.truth.findings import Case
from unskew.studies.truth.forms import MODELS

FORMAT = 1
"""Raised when the judgement of a log changes, so that numbers kept before are not read."""
SHOWN = (ERROR, USER_ERROR, SCALED, TAU, WINNER, COVERAGE, SECONDS)
EQUAL, LOSS = 1e-9, 0.05
"""How far two equal formulas may be apart, and how far tau may be below another package's."""
PLAIN, SLICED = of_ours(AUTO, "recall@10"), of_ours(AUTO, "recall@10", sliced=True)
UNWEIGHTED = of_ours(SNIPS, "recall@10")
DRAWN = tuple(method for method in METHODS if method.target == RECALL and method.package != OURS)
"""Recalls of other packages, which the claims and the figure compare with ours."""

PROTOCOL = (
    "All methods are given the same: the positives of train and test, and the lists of ten of "
    f"{len(MODELS)} models ({', '.join(MODELS)}), trained once per log on the positives of train. A fifth of the rows, "
    "drawn at random, is the test. Users without a positive in train are left out. Candidates are the pairs that are "
    "not positive in train. Ties of scores are broken at random, once for all methods."
)
TARGETS = (
    "Each number is compared with the truth of its own target: the same metric over all relevant candidates. The "
    "recall of other packages, and snips(per=user), is a mean over users; ours by snips and auto is over relevant "
    "pairs. 'error' is by a method's own target, 'error, users' by the mean over users for all of them. Both are "
    "shares of the error of the naive average of the same target, so ir_measures has 1. 'error, scaled' is for methods "
    "whose level means nothing: values are first multiplied by the factor that makes their mean over models the true "
    "one, and so is the naive average. tau: Kendall's with the true order; winner: how often the best model is the "
    "truly best one; coverage: share of 95 % intervals that hold the truth. No other package has intervals for these."
)
PACKAGES = (
    "The numbers of other packages are computed by our own code of their formulas, which the tests compare with "
    "numbers that the packages themselves gave. ir_measures: the plain average. RecTools: the metric after "
    "debias_config has dropped positives of very popular items at random; its NDCG with divide_by_achievable, so that "
    "it is the usual one. RecPack: hits weighted by all interactions over those of the item, fitted on the held-out "
    "positives, as its documentation suggests; its level is not that of a rate. PyTorch Geometric: weights are its "
    "user's, here those of our default propensity popularity. WarpRec: propensity by training counts, power 0.5, "
    "floor 0.1, which are its values; SNIPSDCG is a mean gain per positive, so its target is that of adg@10."
)
SECONDS_NOTE = (
    "seconds: of the processor, all models of one log, in the mean over logs. That of other packages is the time of "
    "our code of their formulas from lists to numbers; ours is from scores to intervals, with the check of auto on "
    "simulated logs."
)


def compute(context: Context, cases: Sequence[Case], *notes: str) -> Findings:
    """Judge all cases; return cells, claims, figure and notes."""
    judged = judge_all(context, cases)
    trials = measure((case.data, each) for case, each in zip(cases, judged, strict=True))
    return Findings(
        tuple(_cells(trials)),
        tuple(claims(trials, judged)),
        (_figure(trials),),
        (PROTOCOL, TARGETS, PACKAGES, SECONDS_NOTE, *notes),
        trials=trials,
    )


def judge_all(context: Context, cases: Sequence[Case]) -> list[Judged]:
    """The judgements of all cases, in their order."""
    folder = context.cached("peers")
    paths = [None if folder is None else folder / f"{_key(case)}.npz" for case in cases]
    return run_missing(
        paths, Judged.read, lambda place, threads: partial(_judge, cases[place], paths[place], threads), "logs", context
    )


def claims(trials: Trials, judged: Sequence[Judged]) -> Iterator[Claim]:
    """What we say about the packages; every sentence can fail."""
    yield claim(
        "snips(per=user) is the weighted recall of PyTorch Geometric, on every log and model",
        _equality(judged),
        needs_full=False,
    )
    rows = f"{100 * SHARE:g} % random rows"
    for name, by in ((ERROR, "by its own target"), (USER_ERROR, "by the mean over users")):
        for method, given in ((SLICED, f"with {rows}"), (PLAIN, "from the log alone")):
            yield claim(
                f"{by}, auto {given} is closer to the true recall@10 than every other package on every data set",
                nearest(trials, method, name),
            )
    yield claim(
        f"from the log alone, tau of auto is nowhere below that of another package's recall@10 by more than {LOSS:g}",
        ordered(trials, PLAIN),
    )


def nearest(trials: Trials, method: Method, name: str) -> Verdict:
    """Whether a method has a smaller error than every other package's recall, on every data set."""
    beaten, shown = _against_best(trials, method, name, min, lambda ours, best: ours >= best)
    return not beaten, f"another is as close on {first_of(beaten, MANY)}; {shown}"


def ordered(trials: Trials, method: Method) -> Verdict:
    """Whether the order of a method is nowhere much worse than that of another package."""
    worse, shown = _against_best(trials, method, TAU, max, lambda ours, best: ours < best - LOSS)
    return not worse, f"worse on {first_of(worse, MANY)}; {shown}"


def _against_best(
    trials: Trials,
    method: Method,
    name: str,
    better: Callable[..., str],
    loses: Callable[[float, float], bool],
) -> tuple[list[str], str]:
    """The data sets on which a method loses to the best other package, and the two numbers on each, as evidence."""
    parts, lost = [], []
    for data in trials.levels("data"):
        ours = _mean(trials, data, method, name)
        others = {str(other): _mean(trials, data, other, name) for other in DRAWN}
        best = better(others, key=others.__getitem__)
        parts.append(f"{data} {ours:.2f}, {best} {others[best]:.2f}")
        lost += [data] if loses(ours, others[best]) else []
    return lost, f"ours and the best other: {'; '.join(parts)}"


def _equality(judged: Sequence[Judged]) -> Verdict:
    first, second = (METHODS.index(method) for method in (of_ours(SNIPS_USERS, "recall@10", USERS), WEIGHTED))
    gap = max(float(np.abs(each.values[first] - each.values[second]).max()) for each in judged)
    return gap <= EQUAL, f"largest difference {gap:.1e} on {len(judged)} logs"


def _mean(trials: Trials, data: str, method: Method, name: str) -> float:
    return trials.mean(data=data, method=method, measure=name).value


def _judge(case: Case, path: Path | None, threads: int | None) -> Judged:
    judged = judge(case.make(), case.seed, threads=threads)
    judged.write(path)  # at once, so that a run that was stopped goes on from there
    return judged


def _key(case: Case) -> str:
    return key_of(FORMAT, sorted(MODELS.items()), METHODS, case.data, case.identity, case.seed)


def _cells(trials: Trials) -> Iterator[ReproducedCell]:
    for data in trials.levels("data"):
        for method in METHODS:
            for name in SHOWN:
                values = trials.get(data, method, name)
                if values is not None:
                    yield cell(str(method), name, data, values)


def _figure(trials: Trials) -> Figure:
    """Errors of all recalls on all data sets."""
    names = trials.levels("data")
    series = [
        Series.over(
            str(method), range(len(names)), [trials.values(data=data, method=method, measure=ERROR) for data in names]
        )
        for method in (*DRAWN, UNWEIGHTED, PLAIN, SLICED)
    ]
    title, note = "Error of recall@10 as a share of the naive average's", "Means over logs with 95 % intervals."
    return Figure(
        title, "data", (Panel(title, tuple(series)),), log_y=True, note=note, categories=tuple(map(str, names))
    )


def missing_data(name: str, context: Context) -> Findings:
    """The findings of a table whose data is not available."""
    return Findings((cell(str(NAIVE), ERROR, name, None, note=context.absence(name)),))
