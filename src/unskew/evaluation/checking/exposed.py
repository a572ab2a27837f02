"""Warnings about randomly exposed tests."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unskew.data.candidates import All
from unskew.display.phrases import MOST_NAMED, counted, listed
from unskew.errors import Option
from unskew.estimators import Estimator, Traditional, Ure, difference
from unskew.evaluation.checking.check import check
from unskew.evaluation.checking.data import FEW_USERS
from unskew.evaluation.collecting.exposed import count_hits
from unskew.evaluation.estimating.estimation import Estimation
from unskew.metrics import NDCG, AnyMetric
from unskew.propensities import Uniform

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


@check(
    "exposed-users-without-positive",
    what="Users have no positive among their exposed items.",
    why="Estimators that average over users leave them out, which biases them towards users with many positives.",
    do="Use `ure(aggregate=pooled)`, where pairs are counted and these users need not be.",
)
def exposed_users_without_positive(report: "Report") -> Iterator[str]:
    """Users without a positive, and what each estimator does with them."""
    sample = report.samples.judged
    without = sample.dropped["users_without_positive"]
    if not sample.split.exposed or not without:
        return
    fates: dict[str, dict[str, list[str]]] = {}
    for metric, estimator in report.settings.pairs:
        fates.setdefault(_fate(metric, estimator), {}).setdefault(str(estimator), []).append(str(metric))
    parts = []
    for fate, cells in fates.items():
        where = [
            word
            if all(word not in other for other in fates.values() if other is not cells)
            else f"{listed(metrics)} by {word}"
            for word, metrics in cells.items()
        ]
        parts.append(fate.format(listed(where)))
    total = len(sample.users) + without
    yield f"{without:,} of {counted(total, 'user')} have no positive in the sample: {'; '.join(parts)}"


def _fate(metric: AnyMetric, estimator: Estimator) -> str:
    """What an estimator does with users without a positive."""
    if isinstance(estimator, Ure):
        if metric.kind == "sum":
            return "counted as 0 in {}, which is right"
        if estimator.aggregate == "pooled":
            return "no effect on {}, which counts pairs"
        if estimator.aggregate == "ipw":
            return "excluded from {}, where other users are weighted up for them"
    elif estimator.counts_empty_users:
        return "counted as 0 in {}"
    return "excluded from {}, a bias towards users with many positives"


SURPRISE = 5.0  # standard deviations above the rows in train that a random draw would have


@check(
    "exposed-rows-in-train",
    what="Exposed rows are also in train.",
    why="A user is not offered again what they have, so these rows leave the sample; the others are a random sample of "
    f"unseen items. With `{Option('population', 'all').flag}` they stay, and a model that has learnt them is "
    "rewarded for it. If there are more than chance would give, the items were not drawn at random.",
    do=f"Use `{Option('population', 'all').flag}` only for a recommender that may repeat items.",
)
def exposed_rows_in_train(report: "Report") -> Iterator[str]:
    """Exposed rows that models could learn, and more of them than a random draw would have."""
    split = report.samples.judged.split
    shared = int(split.test_in_train.sum()) if split.exposed else 0
    if not shared:
        return
    expected = float(split.train.seen_counts[split.test.users].sum()) / max(len(split.catalogue), 1)
    rows = f"{shared:,} of {counted(len(split.test), 'exposed row')} are also in train"
    if shared > expected + SURPRISE * (1 + expected**0.5):
        yield f"{rows}, and a random draw would have only {expected:,.1f}; check that the items were drawn at random"
    if isinstance(split.rule, All):
        yield (
            f"{rows} and kept by {Option('population', 'all')}: the numbers are for recommenders that may repeat "
            f"what a user has, and models could learn these rows; {Option('population', 'unseen')} leaves them out"
        )
    else:
        kept = f"{Option('population', 'all')} keeps them"
        yield f"{rows} and left the sample, which is then a random one of unseen items; {kept}"


FEW_HITS = 10  # positives in the top K below which an interval is rough


@check(
    "few-hits",
    what="Few exposed positives are in the top K of a model.",
    why="With fewer than 10 the interval is rough.",
    do="Use a larger cut-off, or expose more items (`unskew exposures` says how many).",
)
def few_hits(report: "Report") -> Iterator[str]:
    """Cut-offs above which a model has few of the positives."""
    sample = report.samples.judged
    by_cutoff: dict[int, dict[str, None]] = {}
    for metric, estimator in report.settings.pairs if sample.split.exposed else ():
        if isinstance(estimator, Ure) and metric.cutoff is not None:
            by_cutoff.setdefault(metric.cutoff, {})[str(metric)] = None
    for cutoff, metrics in by_cutoff.items():
        hits = {model: count_hits(ranks, cutoff) for model, ranks in sample.ranks.items()}
        lacking = sorted((number, model) for model, number in hits.items() if number < FEW_HITS)
        few = [f"{model!r} {number:.0f}" for number, model in lacking[:MOST_NAMED]]
        if len(lacking) > len(few):
            few.append(f"{len(lacking) - len(few)} more")
        if few:
            yield (
                f"of {sample.rows:,} exposed positives few are in the top {cutoff} of some models ({listed(few)}): "
                f"intervals of {listed(metrics)} are rough there; use a larger cut-off, or expose more items"
            )


@check(
    "cutoff-without-effect-in-sample",
    what="A cut-off is at least as large as every user's number of exposed items.",
    why="Inside the sample recall is then 1 for every model that ranks all of them.",
    do="Use a smaller cut-off for `traditional`, or `ure`.",
)
def cutoff_without_effect_in_sample(report: "Report") -> Iterator[str]:
    """A cut-off that cuts nothing inside the sample."""
    if report.samples.exposed is None:
        return
    most = int(report.samples.exposed.drawn.counts.max())
    beyond = [
        str(metric)
        for metric, estimator in report.settings.pairs
        if isinstance(estimator, Traditional) and (metric.cutoff or 0) >= most
    ]
    if beyond:
        yield (
            f"{listed(beyond)} by traditional: no user has more than {counted(most, 'exposed row')}, so inside the "
            "sample the cut-off has no effect (recall is then 1 for every model that ranks them all); use a smaller one"
        )


@check(
    "ndcg-of-single-users",
    what="NDCG of each user by itself is estimated from a small sample.",
    why="A user with a positive in a small sample is taken to have too many in all, so the value is far too high.",
    do="Use `ure(aggregate=pooled)`.",
)
def ndcg_of_single_users(report: "Report") -> Iterator[str]:
    """NDCG of each user by itself, where L / l times the positives of a small sample is too many."""
    if report.samples.exposed is None:
        return
    drawn = report.samples.exposed.drawn
    has = drawn.positives > 0
    if np.array_equal(drawn.population[has], drawn.counts[has]):  # all is exposed
        return
    pairs = report.settings.pairs
    for estimator in report.settings.estimators:
        if not isinstance(estimator, Ure) or estimator.aggregate == "pooled":
            continue
        metrics = [str(metric) for metric, other in pairs if other == estimator and isinstance(metric, NDCG)]
        if metrics:
            yield (
                f"{listed(metrics)} by {estimator}: users with a positive in a small sample are taken to have too many in "
                "all, so the numbers are far too high, and may be above 1; use ure(aggregate=pooled)"
            )


@check(
    "reduction-of-few-users",
    what="A variance reduction is learnt from fewer than 30 users.",
    why="How much to correct is then noise itself, which the interval does not include.",
    do="Use `ure(aggregate=pooled)`.",
)
def reduction_of_few_users(report: "Report") -> Iterator[str]:
    """Reductions that are learnt from few users."""
    sample = report.samples.judged
    users = len(sample.users) + sample.dropped["users_without_positive"]
    for estimator in report.settings.estimators if sample.split.exposed else ():
        if isinstance(estimator, Ure) and estimator.reduce != "none" and users < FEW_USERS:
            yield (
                f"{estimator}: how much to correct is learnt from {users} users only, fewer than {FEW_USERS}, and its "
                "interval does not include that; use ure(aggregate=pooled)"
            )


@check(
    "weights-on-exposed-rows",
    what="A weighted estimator is used on items that were drawn with equal chances.",
    why="There is no bias to correct, so the weights bring one in.",
    do=f"Use `ure`, or `{Option('propensity', 'uniform').flag}`.",
)
def weights_on_exposed_rows(report: "Report") -> Iterator[str]:
    """Weights that spoil a random sample."""
    settings = report.settings
    for estimator in settings.estimators if report.samples.judged.split.exposed else ():
        if estimator.uses_propensity and not isinstance(settings.propensity, Uniform):
            yield (
                f"{estimator}: exposed items were drawn with equal chances, so weights by {settings.propensity} bias "
                f"the estimate; use ure, or {Option('propensity', 'uniform')}"
            )


FAR = 3.0  # standard errors of the difference beyond which falling shares do not fit


@check(
    "shares-that-rise",
    what="The share of positives does not fall with rank for some models.",
    why="`reduce=monotone` assumes that it falls, and is wrong where it does not.",
    do="Use `reduce=control`.",
)
def shares_that_rise(report: "Report") -> Iterator[str]:
    """Where the share of positives does not fall with rank.

    The form without a reduction makes no such assumption; the two are compared on the same users.
    """
    for cell in () if report.samples.exposed is None else report.estimated.cells:
        if not isinstance(cell.estimator, Ure) or cell.estimator.reduce != "monotone":
            continue
        (plain,) = Estimation(
            report.samples,
            replace(report.settings, pairs=((cell.metric, Ure(aggregate="pooled")),)),
            report.propensities,
        ).cells()
        off = []
        for model, terms in cell.terms.items():
            gap, error = difference(terms, plain.terms[model])
            if gap is not None and error and abs(gap) > FAR * error:
                off.append(f"{model!r} {plain.terms[model].value:.4f}, not {terms.value:.4f}")
        if off:
            yield (
                f"{cell.metric} by {cell.estimator}: the share of positives does not fall with rank for some models, "
                f"and without that assumption they have {listed(off)}; use reduce=control"
            )
