"""Warnings about tests of randomly exposed items."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unskew.data.candidates import All
from unskew.display.phrases import MOST_NAMED, capital, counted, listed
from unskew.errors import Option
from unskew.estimators import Aoa, Estimator, Snips, Traditional, Ure, difference
from unskew.evaluation.checking.check import check
from unskew.evaluation.checking.data import FEW_USERS
from unskew.evaluation.collecting.exposed import count_hits
from unskew.evaluation.estimating.estimation import Estimation
from unskew.metrics import NDCG, AnyMetric
from unskew.propensities import Uniform

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


USERS_WITHOUT_POSITIVE = "{without:,} of {users} have no positive in the sample. {effects}"
COUNTED_RIGHTLY = "they count as 0 in {cells}, which is right"
NOT_AFFECTED = "they have no effect on {cells}, where the mean is over pairs"
WEIGHTED_UP = "they are excluded from {cells}, which gives other users more weight instead"
COUNTED = "they count as 0 in {cells}"
EXCLUDED = "they are excluded from {cells}, a bias towards users with many positives"


@check(
    "exposed-users-without-positive",
    what="Users have no positive among their exposed items.",
    why="Estimators that average over users leave these users out. That biases the estimates towards users with many "
    "positives.",
    do="Use `ure(aggregate=pooled)`, which averages over pairs and does not depend on these users.",
)
def exposed_users_without_positive(report: "Report") -> Iterator[str]:
    """Yield a warning for users without a positive, with what each estimator does with them."""
    sample = report.samples.judged
    without = sample.dropped["users_without_positive"]
    if not sample.split.exposed or not without:
        return
    by_effect: dict[str, dict[str, list[str]]] = {}
    for metric, estimator in report.settings.pairs:
        by_effect.setdefault(_effect(metric, estimator), {}).setdefault(str(estimator), []).append(str(metric))
    parts = []
    for effect, cells in by_effect.items():
        where = [
            word
            if all(word not in other for other in by_effect.values() if other is not cells)
            else f"{listed(metrics)} by {word}"
            for word, metrics in cells.items()
        ]
        parts.append(effect.format(cells=listed(where)))
    users = counted(len(sample.users) + without, "user")
    yield USERS_WITHOUT_POSITIVE.format(without=without, users=users, effects=capital("; ".join(parts)))


def _effect(metric: AnyMetric, estimator: Estimator) -> str:
    """The template for what an estimator does with users without a positive."""
    if isinstance(estimator, Ure):
        if metric.kind == "sum":
            return COUNTED_RIGHTLY
        if estimator.aggregate == "pooled":
            return NOT_AFFECTED
        if estimator.aggregate == "ipw":
            return WEIGHTED_UP
    elif isinstance(estimator, Aoa | Snips) and estimator.per == "pair":
        return NOT_AFFECTED
    elif estimator.counts_empty_users:
        return COUNTED
    return EXCLUDED


SURPRISE = 5.0  # standard deviations above the rows in train that a random draw would have
ROWS_IN_TRAIN = "{shared:,} of {rows} are also in train"
NOT_RANDOM = ROWS_IN_TRAIN + (
    ", and a random draw would have only {expected:,.1f}; check that the items were drawn at random"
)
ROWS_KEPT = ROWS_IN_TRAIN + (
    " and kept by {all_items}: the numbers are for recommenders that may repeat what a user has, and models could "
    "learn these rows; use {unseen_items} to leave them out"
)
ROWS_DROPPED = ROWS_IN_TRAIN + (
    " and left out of the sample, which is then a random sample of unseen items; nothing to do, unless your "
    "recommender may repeat items ({all_items})"
)


@check(
    "exposed-rows-in-train",
    what="Exposed rows are also in train.",
    why="Items that a user has are not offered again, so these rows leave the sample. The other rows are a random "
    f"sample of unseen items. With `{Option('population', 'all').flag}` these rows stay, and a model that has learnt "
    "them is rewarded for it. If there are more such rows than chance would give, the items were not drawn at "
    "random.",
    do=f"Use `{Option('population', 'all').flag}` only for a recommender that may repeat items.",
)
def exposed_rows_in_train(report: "Report") -> Iterator[str]:
    """Yield a warning for exposed rows in train, and one if there are more than a random draw would have."""
    split = report.samples.judged.split
    shared = int(split.test_in_train.sum()) if split.exposed else 0
    if not shared:
        return
    expected = float(split.train.seen_counts[split.test.users].sum()) / max(len(split.catalogue), 1)
    rows = counted(len(split.test), "exposed row")
    if shared > expected + SURPRISE * (1 + expected**0.5):
        yield NOT_RANDOM.format(shared=shared, rows=rows, expected=expected)
    yield (ROWS_KEPT if isinstance(split.rule, All) else ROWS_DROPPED).format(
        shared=shared,
        rows=rows,
        all_items=Option("population", "all"),
        unseen_items=Option("population", "unseen"),
    )


FEW_HITS = 10  # positives in the top K below which an interval is rough
HITS_ARE_FEW = (
    "fewer than {least} of the {rows:,} exposed positives are in the top {cutoff} of some models ({models}), so "
    "intervals of {metrics} are rough for them; use a larger cut-off, or expose more items"
)
HITS_ARE_FEW_IN_ONE = (
    "only {hits} of the {rows:,} exposed positives are in the top {cutoff} of {model!r} (fewer than {least}), so its "
    "intervals of {metrics} are rough; use a larger cut-off, or expose more items"
)


@check(
    "few-hits",
    what="Few exposed positives are in the top K of a model.",
    why="With fewer than 10 such positives the interval is rough.",
    do="Use a larger cut-off, or expose more items (`unskew exposures` says how many).",
)
def few_hits(report: "Report") -> Iterator[str]:
    """Yield a warning for each cut-off above which some models have few of the positives."""
    sample = report.samples.judged
    by_cutoff: dict[int, dict[str, None]] = {}
    for metric, estimator in report.settings.pairs if sample.split.exposed else ():
        if isinstance(estimator, Ure) and metric.cutoff is not None:
            by_cutoff.setdefault(metric.cutoff, {})[str(metric)] = None
    for cutoff, metrics in by_cutoff.items():
        hits = {model: count_hits(ranks, cutoff) for model, ranks in sample.ranks.items()}
        lacking = sorted((number, model) for model, number in hits.items() if number < FEW_HITS)
        common = {"rows": sample.rows, "cutoff": cutoff, "metrics": listed(metrics), "least": FEW_HITS}
        # a row in a tie counts in part, and 9.7 must not be printed as 10
        few = [(min(round(number), FEW_HITS - 1), model) for number, model in lacking]
        if len(few) == 1:
            ((number, model),) = few
            yield HITS_ARE_FEW_IN_ONE.format(hits=number, model=model, **common)
        elif few:
            named = [f"{model!r} {number}" for number, model in few[:MOST_NAMED]]
            more = [f"{len(few) - MOST_NAMED} more"] if len(few) > MOST_NAMED else []
            yield HITS_ARE_FEW.format(models=listed([*named, *more]), **common)


NO_EFFECT_INSIDE = (
    "{metrics} by traditional: no user has more than {most}, so inside the sample the cut-off has no effect (recall is "
    "then 1 for every model that ranks them all); use a smaller one"
)


@check(
    "cutoff-without-effect-in-sample",
    what="A cut-off is at least as large as every user's number of exposed items.",
    why="Inside the sample, recall is then 1 for every model that ranks all of them.",
    do="Use a smaller cut-off for `traditional`, or `ure`.",
)
def cutoff_without_effect_in_sample(report: "Report") -> Iterator[str]:
    """Yield a warning for metrics whose cut-off has no effect inside the sample."""
    if report.samples.exposed is None:
        return
    most = int(report.samples.exposed.drawn.counts.max())
    beyond = [
        str(metric)
        for metric, estimator in report.settings.pairs
        if isinstance(estimator, Traditional) and (metric.cutoff or 0) >= most
    ]
    if beyond:
        yield NO_EFFECT_INSIDE.format(metrics=listed(beyond), most=counted(most, "exposed row"))


NDCG_TOO_HIGH = (
    "{metrics} by {estimator}: a user with a positive in a small sample is assumed to have too many positives in all, "
    "so the values are far too high and may exceed 1; use ure(aggregate=pooled)"
)


@check(
    "ndcg-of-single-users",
    what="NDCG is estimated for each user separately, from a small sample.",
    why="A user with a positive in a small sample is assumed to have too many positives in all, so the value is far "
    "too high.",
    do="Use `ure(aggregate=pooled)`.",
)
def ndcg_of_single_users(report: "Report") -> Iterator[str]:
    """Yield a warning for NDCG per user, where L / l times the positives of a small sample is too many."""
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
            yield NDCG_TOO_HIGH.format(metrics=listed(metrics), estimator=estimator)


REDUCTION_UNSURE = (
    "{estimator}: the variance reduction is estimated from only {users} users, fewer than {least}, and the interval "
    "does not include that error; use ure(aggregate=pooled)"
)


@check(
    "reduction-of-few-users",
    what="A variance reduction is estimated from fewer than 30 users.",
    why="The size of the reduction is then mostly noise. The interval does not include this noise.",
    do="Use `ure(aggregate=pooled)`.",
)
def reduction_of_few_users(report: "Report") -> Iterator[str]:
    """Yield a warning for each variance reduction that is estimated from few users."""
    sample = report.samples.judged
    users = len(sample.users) + sample.dropped["users_without_positive"]
    for estimator in report.settings.estimators if sample.split.exposed else ():
        if isinstance(estimator, Ure) and estimator.reduce != "none" and users < FEW_USERS:
            yield REDUCTION_UNSURE.format(estimator=estimator, users=users, least=FEW_USERS)


NEEDLESS_WEIGHTS = (
    "{estimator}: exposed items were drawn with equal chances, so weights by {propensity} bias the estimate; use ure, "
    "or {uniform}"
)


@check(
    "weights-on-exposed-rows",
    what="A weighted estimator is used on items that were drawn with equal chances.",
    why="There is no bias to correct, so the weights introduce one.",
    do=f"Use `ure`, or `{Option('propensity', 'uniform').flag}`.",
)
def weights_on_exposed_rows(report: "Report") -> Iterator[str]:
    """Yield a warning for each estimator that weights a random sample."""
    settings = report.settings
    for estimator in settings.estimators if report.samples.judged.split.exposed else ():
        if estimator.uses_propensity and not isinstance(settings.propensity, Uniform):
            yield NEEDLESS_WEIGHTS.format(
                estimator=estimator, propensity=settings.propensity, uniform=Option("propensity", "uniform")
            )


FAR = 3.0  # standard errors of the difference beyond which falling shares do not fit
SHARES_RISE = (
    "{metric} by {estimator}: for some models the share of positives does not fall with rank, as this form assumes; "
    "without that assumption the values are {values}; use reduce=control"
)


@check(
    "shares-that-rise",
    what="The share of positives does not fall with rank for some models.",
    why="`reduce=monotone` assumes that it falls, and is wrong where it does not.",
    do="Use `reduce=control`.",
)
def shares_that_rise(report: "Report") -> Iterator[str]:
    """Yield a warning for each estimate where the share of positives does not fall with rank.

    The form without a reduction does not assume that it falls; the two are compared on the same users.
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
            yield SHARES_RISE.format(metric=cell.metric, estimator=cell.estimator, values=listed(off))
