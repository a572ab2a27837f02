"""Reasons to doubt numbers from a randomly exposed test, in words."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from unskew.data import Split
from unskew.estimators import Estimator, Traditional, Ure, difference
from unskew.evaluation.evidence import Evidence
from unskew.evaluation.exposures import Exposures
from unskew.evaluation.risks import Cell
from unskew.evaluation.settings import Settings
from unskew.evaluation.wording import counted, listed
from unskew.metrics import NDCG, AnyMetric
from unskew.models import Model
from unskew.propensities import Uniform
from unskew.ranking import Ranks

FEW_HITS = 10  # positives in the top K below which an interval is rough
TOLD_MODELS = 4  # that are named in a warning
SURPRISE = 5.0  # standard deviations above the rows in train that a random draw would have
FAR = 3.0  # standard errors of the difference beyond which falling shares do not fit
FEW_USERS = 30  # below which what a reduction learns from the sample is itself noise


def exposed_doubts(evidence: Evidence, settings: Settings) -> Iterator[str]:
    """Say which users are left out of what, and which numbers rest on few positives.

    Parameters
    ----------
    evidence : Evidence
        Of the positives of an exposed test.
    settings : Settings
    """
    yield from _without_positive(evidence, settings)
    yield from _rows_in_train(evidence)
    yield from _few_hits(evidence, settings)
    yield from _whole_samples(evidence, settings)
    yield from _high_ratios(evidence, settings)
    users = len(evidence.users) + evidence.dropped["users_without_positive"]
    for estimator in settings.estimators:
        if isinstance(estimator, Ure) and estimator.reduce != "none" and users < FEW_USERS:
            yield (
                f"{estimator}: how much to correct is learnt from {users} users only, fewer than {FEW_USERS}; its "
                "interval does not know of that, so use ure(aggregate=pooled)"
            )
        if estimator.uses_propensity and not isinstance(settings.propensity, Uniform):
            yield (
                f"{estimator}: exposed items were drawn with equal chances, so weights by {settings.propensity} spoil "
                "the estimate; use ure, or --propensity uniform"
            )


def _without_positive(evidence: Evidence, settings: Settings) -> Iterator[str]:
    without = evidence.dropped["users_without_positive"]
    if not without:
        return
    fates: dict[str, dict[str, list[str]]] = {}
    for metric, estimator in settings.pairs:
        fates.setdefault(_fate(metric, estimator), {}).setdefault(str(estimator), []).append(str(metric))
    parts = []
    for fate, cells in fates.items():
        where = [
            word
            if all(word not in other for other in fates.values() if other is not cells)
            else f"{listed(own)} by {word}"
            for word, own in cells.items()
        ]
        parts.append(fate.format(listed(where)))
    total = len(evidence.users) + without
    yield f"{without:,} of {counted(total, 'user')} have no positive in the sample: they {'; '.join(parts)}"


def _fate(metric: AnyMetric, estimator: Estimator) -> str:
    """What becomes of users without a positive."""
    if isinstance(estimator, Ure):
        if metric.kind == "sum":
            return "count as 0 in {}, as they should"
        if estimator.aggregate == "pooled":
            return "weigh nothing in {}, where pairs are counted"
        if estimator.aggregate == "ipw":
            return "are left out of {}, where others are weighted for them, which undoes a part of that lean"
    elif estimator.counts_empty_users:
        return "count as 0 in {}"
    return "are left out of {}, a lean to users with many positives"


def _rows_in_train(evidence: Evidence) -> Iterator[str]:
    """Rows that models could learn, and more of them than a random draw would have."""
    split = evidence.split
    shared = int(split.test_in_train.sum())
    if not shared:
        return
    expected = float(split.train.user_counts[split.test.users].sum()) / max(len(split.catalogue), 1)
    told = f"{shared:,} of {counted(len(split.test), 'exposed row')} are also in train"
    if shared > expected + SURPRISE * (1 + expected**0.5):
        yield f"{told}, and of a random draw only {expected:,.1f} would be; check that the items were drawn at random"
    else:
        yield (
            f"{told}, where models could learn them; to judge by items that users have not had, leave these rows out "
            "of the exposed ones and use --population unseen"
        )


def _few_hits(evidence: Evidence, settings: Settings) -> Iterator[str]:
    """Cut-offs above which a model has few of the positives."""
    by_cutoff: dict[int, dict[str, None]] = {}
    for metric, estimator in settings.pairs:
        if isinstance(estimator, Ure) and metric.cutoff is not None:
            by_cutoff.setdefault(metric.cutoff, {})[str(metric)] = None
    for cutoff, metrics in by_cutoff.items():
        hits = {model: count_hits(ranks, cutoff) for model, ranks in evidence.ranks.items()}
        lacking = sorted((number, model) for model, number in hits.items() if number < FEW_HITS)
        few = [f"{model!r} {number:.0f}" for number, model in lacking[:TOLD_MODELS]]
        if len(lacking) > len(few):
            few.append(f"{len(lacking) - len(few)} more")
        if few:
            yield (
                f"of {evidence.rows:,} exposed positives few are in the top {cutoff} of some models ({listed(few)}): "
                f"intervals of {listed(metrics)} are rough there; use a larger cut-off, or expose more items"
            )


def count_hits(ranks: Ranks, cutoff: int) -> float:
    """How many rows are among the first `cutoff`, those in a tie group across it in part."""
    inside = (cutoff - ranks.above) / (ranks.spread + 1)
    return float(np.clip(inside, 0, 1).sum())


def _whole_samples(evidence: Evidence, settings: Settings) -> Iterator[str]:
    """A cut-off that cuts nothing inside the sample."""
    most = int(evidence.split.test.user_counts.max())
    beyond = [
        str(metric)
        for metric, estimator in settings.pairs
        if isinstance(estimator, Traditional) and (metric.cutoff or 0) >= most
    ]
    if beyond:
        yield (
            f"no user has more than {counted(most, 'exposed row')}, so inside the sample the cut-off of "
            f"{listed(beyond)} cuts nothing (recall is then 1 for every model that ranks them all); traditional needs "
            "a smaller one"
        )


def _high_ratios(evidence: Evidence, settings: Settings) -> Iterator[str]:
    """NDCG of each user by itself, where L / l times the positives of a small sample is too many."""
    candidates = next(iter(evidence.ranks.values())).candidates[evidence.offsets[:-1]]
    if np.array_equal(candidates, evidence.split.test.user_counts[evidence.users]):  # all is exposed
        return
    for estimator in settings.estimators:
        if not isinstance(estimator, Ure) or estimator.aggregate == "pooled":
            continue
        own = [str(metric) for metric, other in settings.pairs if other == estimator and isinstance(metric, NDCG)]
        if own:
            yield (
                f"{listed(own)} by {estimator}: users with a positive in a small sample are taken to have too many in "
                "all, so the numbers are far too high, and may be above 1; use ure(aggregate=pooled)"
            )


def rising_doubts(exposures: Exposures, cells: Sequence[Cell]) -> Iterator[str]:
    """Say where the share of positives does not fall with rank, so that taking it to fall is wrong.

    The form without a reduction makes no such assumption; the two are compared on the same users.
    """
    for cell in cells:
        if not isinstance(cell.estimator, Ure) or cell.estimator.reduce != "monotone":
            continue
        plain = exposures.cell(cell.metric, Ure(aggregate="pooled"))
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


def unlabelled_doubts(models: Mapping[str, object], split: Split, positive: str | None) -> Iterator[str]:
    """Say when built-in models take every training row for a positive although the rows have ratings."""
    learning = [name for name, given in models.items() if isinstance(given, str | Model)]
    if split.exposed and positive is None and split.train.values is not None and learning:
        yield (
            f"train has ratings, and no condition says which are positive: {listed(map(repr, learning[:TOLD_MODELS]))} "
            "learnt from all rows alike; say it, as in --positive 'rating>=4'"
        )
