"""What Table 3 says: the paper's claims, ours on Coat, and how the numbers came about."""

from collections.abc import Iterator, Mapping

import numpy as np

from unskew.models import GradientModel
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.stats import Mean
from unskew.studies.yang2018.printed import TABLE3_GAMMAS, YAHOO_USERS
from unskew.studies.yang2018.table3_data import COAT, YAHOO, Benchmark
from unskew.studies.yang2018.table3_runs import AOA, AOA_PAIRS, CURVE, DEFAULT, Runs, pairwise, published
from unskew.studies.yang2018.table3_tally import errors, reduction, taus

ENOUGH = 5  # draws from which on our own claims are judged

_USERS = f"{YAHOO_USERS:,} users of yahoo-r3 can be judged by both tests"
_LESS = "The error of UB is below that of AOA, for every model, metric and gamma"
_FALLS = "The error of UB falls as gamma grows from 1.5 to 3.0"
_THIRTY = "The error of UB is more than 30 % below that of AOA, but for bpr"
_EVERY_GAMMA = "for bpr's AUC the paper's own numbers give 26 % at gamma = 1.5 and 30 % at 3.0"

METHOD = (
    "An error is the distance between two means over users: an estimate on the biased test and AOA on the random test. "
    "UB is snips(per=user) with popularity(smoothing=0), as published; snips(gamma) is the default form with the same "
    "propensities, 'snips, default' the default form with the default propensities, gamma 0 and smoothing 1. The "
    "default form estimates the mean over relevant pairs, and is held here against the mean over users all the same."
)


def unjudged(data: str, why: str) -> Iterator[Claim]:
    """The paper's claims, where the data is not at hand."""
    if data == YAHOO:
        yield Claim(_USERS, None, why)
    for claim in (_LESS, _FALLS, _THIRTY):
        yield Claim(f"{data}: {claim}", None, why)


def paper_claims(benchmark: Benchmark, runs: Runs, *, judged: bool) -> Iterator[Claim]:
    """The paper's claims; it made them on Yahoo! R3 alone, so elsewhere it is told what was seen and no more.

    Parameters
    ----------
    benchmark : Benchmark
    runs : Runs
    judged : bool
        Whether they are about this run.
    """
    data = benchmark.name
    if data == YAHOO:
        yield Claim(_USERS, len(benchmark.users) == YAHOO_USERS if judged else None, f"{len(benchmark.users):,} users")
    names = [each.name for each in benchmark.comparisons if each.lists] if data == YAHOO else list(runs.truth)
    cases = [(name, k) for name in names for k in range(len(runs.models))]
    curves = {case: [_error(runs, case, published(gamma)) for gamma in TABLE3_GAMMAS] for case in cases}
    naive = {case: _error(runs, case, AOA) for case in cases}
    beside = "" if judged else "the paper says it of yahoo-r3, so it is not judged here; seen: "
    lower = [case for case in cases if max(curves[case]) < naive[case]]
    span = [f"{published(gamma)} {_span(runs, cases, published(gamma))}" for gamma in TABLE3_GAMMAS]
    yield Claim(
        f"{data}: {_LESS}",
        len(lower) == len(cases) if judged else None,
        f"{beside}in {len(lower)} of {len(cases)} pairs of model and comparison; below AOA by {'; '.join(span)}",
    )
    falls = [case for case in cases if bool(np.all(np.diff(curves[case]) < 0))]
    yield Claim(
        f"{data}: {_FALLS}",
        len(falls) == len(cases) if judged else None,
        f"{beside}in {len(falls)} of {len(cases)} pairs of model and comparison",
    )
    share = {case: 1 - curves[case][0] / naive[case] for case in cases}
    rest = [case for case in cases if runs.models[case[1]] != "bpr"]
    yield Claim(
        f"{data}: {_THIRTY}",
        all(share[case] > 0.30 for case in rest) if judged else None,
        f"{beside}at gamma = 1.5 in {sum(share[case] > 0.30 for case in cases)} of {len(cases)} pairs of model and "
        f"comparison, least {_told(runs, min(cases, key=share.__getitem__), share)}; {_EVERY_GAMMA}",
    )


def own_claims(benchmark: Benchmark, runs: Runs) -> Iterator[Claim]:
    """What we say of Coat."""
    cases = [(name, k) for name in runs.truth for k in range(len(runs.models))]
    enough = runs.draws >= ENOUGH
    few = "" if enough else f"{runs.draws} draws are too few to judge; seen: "
    gaps = {(name, k): float((runs.estimates[name, AOA] - runs.truth[name])[:, k].mean()) for name, k in cases}
    yield Claim(
        "On coat AOA on the biased test praises every model too much",
        min(gaps.values()) > 0 if enough else None,
        f"{few}above the truth by {min(gaps.values()):.3f} to {max(gaps.values()):.3f}",
    )
    less = [reduction(runs, name, DEFAULT, k) for name, k in cases]
    sure = [each for each in less if each.error is not None and each.value > 1.96 * each.error]
    yield Claim(
        "On coat the default snips with its default propensities has a smaller error than AOA, for every model",
        len(sure) == len(cases) if enough else None,
        f"{few}{_span(runs, cases, DEFAULT)} below AOA; beyond chance over draws in {len(sure)} of {len(cases)} pairs "
        "of model and comparison",
    )
    steep = [each.name for each in benchmark.comparisons if not each.lists and "recall" in each.biased]
    ours, naive = (Mean.of(np.concatenate([taus(runs, n, e) for n in steep])) for e in (pairwise(1.5), AOA))
    closer = all(_error(runs, (n, k), pairwise(1.5)) < _error(runs, (n, k), AOA) for n in steep for k in _models(runs))
    yield Claim(
        "On coat a smaller error comes with a worse order: snips at gamma = 1.5 is closer to the true Recall than AOA "
        "for every model, and puts the models in an order that is further from the truth",
        closer and ours.value < naive.value if enough else None,
        f"{few}{_span(runs, [(n, k) for n in steep for k in _models(runs)], pairwise(1.5))} below AOA's error; "
        f"Kendall's tau {_pm(ours)} against {_pm(naive)}",
    )


def notes(benchmark: Benchmark, runs: Runs, models: Mapping[str, GradientModel]) -> Iterator[str]:
    """How the numbers of a data set came about, and how far to trust them."""
    yield _protocol(benchmark, runs)
    if benchmark.name == COAT:
        yield _overlaps(benchmark, runs)
    yield f"{benchmark.name}: settings: {'; '.join(str(model) for model in models.values())}."
    yield _doubts(benchmark, runs)
    yield f"{benchmark.name}: {'; '.join(_crossings(benchmark, runs))}."
    yield f"{benchmark.name}: {'; '.join(_orders(runs))}."


def _protocol(benchmark: Benchmark, runs: Runs) -> str:
    lists = {each.name: (each.biased, each.random) for each in benchmark.comparisons if each.lists}
    cut = next(pair for name, pair in lists.items() if "Recall" in name)
    return (
        f"{benchmark.name}: {len(benchmark.users):,} users with two or more positives (rating >= 4) where they chose, "
        f"and a relevant and an irrelevant random item. For each, {benchmark.size} of {benchmark.positives.n_items:,} "
        "items are drawn uniformly; the positives among them are the biased test, the others are learnt from "
        f"(per draw {runs.held_out:,.0f} and {runs.learnt_from:,.0f}, {runs.held_out / len(benchmark.users):.1f} held "
        f"out a user; {runs.unknown:.1f} of them have an item without a training positive, and no propensity unless "
        f"smoothed). {runs.draws} draw{'s' * (runs.draws > 1)}, models trained anew in each. Ranked in the full "
        "catalogue less the user's training positives on both sides; under 'lists', as the paper has it, among the "
        f"{benchmark.size} items of the biased test ({cut[0]}) and among the user's random items ({cut[1]})."
    )


def _overlaps(benchmark: Benchmark, runs: Runs) -> str:
    overlap = benchmark.overlap
    return (
        f"{benchmark.name}: {overlap.cells} cells are both chosen and random, {overlap.same} of them with the same "
        f"rating in both. {overlap.cells - overlap.liked} are rated below 4: no training positives, so their random "
        f"rows stay. {overlap.liked} are positives: of the test users' ones, those that are learnt from are no "
        f"candidates, and their random rows are dropped ({runs.dropped:.1f} a draw); those in the biased test are "
        "candidates, and stay positives of the random test. Test users keep a random positive either way."
    )


def _doubts(benchmark: Benchmark, runs: Runs) -> str:
    parts = [
        f"{name} {np.nanmean(runs.noise[name]):.3f}, best from worst model told apart at 5 % in {100 * share:.0f} % of "
        "draws"
        for name, share in runs.told_apart.items()
    ]
    off = [float(np.mean(runs.truth[name] - runs.pairs[name])) for name in runs.truth]
    away, less = _own_target(runs)
    return (
        f"{benchmark.name}: the draws share users, items and random test, so spreads and standard errors over draws do "
        f"not cover the noise of the truth itself. Its standard error over users: {'; '.join(parts)}. The mean over "
        f"relevant pairs, at which the default snips aims, is {min(off):.3f} to {max(off):.3f} below that over users; "
        f"{DEFAULT!r} is {away} away from it, {less} less than {AOA_PAIRS} is: the fairer comparison of the two."
    )


def _own_target(runs: Runs) -> tuple[str, str]:
    """Errors of the default against the mean over relevant pairs, and how far below those of the plain mean."""
    mine, naive = (
        np.array([np.abs(runs.estimates[name, form] - runs.pairs[name]).mean(axis=0) for name in runs.truth])
        for form in (DEFAULT, AOA_PAIRS)
    )
    less = 100 * (1 - mine / naive)
    return f"{mine.min():.3f} to {mine.max():.3f}", f"{less.min():.0f} to {less.max():.0f} %"


def _crossings(benchmark: Benchmark, runs: Runs) -> Iterator[str]:
    """The gamma at which each form is right on average over the models."""
    for comparison in benchmark.comparisons:
        name = comparison.name
        if comparison.lists:
            continue
        for title, word in (("UB", published), ("snips", pairwise)):
            gaps = [float((runs.estimates[name, word(gamma)] - runs.truth[name]).mean()) for gamma in CURVE]
            found = zero_of(CURVE, gaps)
            where = "at no gamma that was tried" if found is None else f"at gamma = {found:.1f}"
            yield f"{title} is right about {name}, on average over models, {where}"


def zero_of(x: tuple[float, ...], y: list[float]) -> float | None:
    """Where a broken line first meets zero; None when it does not."""
    for (left, low), (right, high) in zip(zip(x, y, strict=True), zip(x[1:], y[1:], strict=True), strict=False):
        if low == 0 or low * high < 0:
            return left + (right - left) * low / (low - high) if low else left
    return None


def _orders(runs: Runs) -> Iterator[str]:
    for name in runs.truth:
        shown = (AOA, published(1.5), published(3.0), pairwise(1.5), DEFAULT)
        told = ", ".join(f"{each} {_pm(Mean.of(taus(runs, name, each)))}" for each in shown)
        yield f"Kendall's tau, {name}: {told}"


def _models(runs: Runs) -> range:
    return range(len(runs.models))


def _error(runs: Runs, case: tuple[str, int], name: str) -> float:
    return float(errors(runs, case[0], name)[:, case[1]].mean())


def _span(runs: Runs, cases: list[tuple[str, int]], name: str) -> str:
    """The least and the greatest reduction, with their standard errors."""
    found = sorted((reduction(runs, *_placed(case, name)) for case in cases), key=lambda each: each.value)
    ends = [f"{each.value:.0f} %" + ("" if each.error is None else f" (± {each.error:.0f})") for each in found]
    return f"{ends[0]} to {ends[-1]}"


def _placed(case: tuple[str, int], name: str) -> tuple[str, str, int]:
    return case[0], name, case[1]


def _told(runs: Runs, case: tuple[str, int], share: Mapping[tuple[str, int], float]) -> str:
    return f"{100 * share[case]:.0f} % ({runs.models[case[1]]}, {case[0]})"


def _pm(mean: Mean) -> str:
    return f"{mean.value:.2f}" + ("" if mean.error is None else f" ± {mean.error:.2f}")
