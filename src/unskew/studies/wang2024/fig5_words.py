"""What figure 5 says, worked out from its numbers."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unskew.studies.framework.claims import Claim
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.strata import MEAN, MONOTONE, POOLED
from unskew.studies.wang2024.variants import told

if TYPE_CHECKING:
    from unskew.studies.wang2024.fig5 import Agreement

HIGH, POOR, FACTOR, PAPER = 0.9, 0.8, 2.0, 30
"""Tau above which an order is good, below which it is poor; how far off a peak may be; the paper's K."""
RIGHT = 0.95
"""The share of pairs in the right order that a tau of 0.9 stands for."""


def notes(found: Sequence["Agreement"], context: Context) -> Iterator[str]:
    """How it was done."""
    for each in found:
        yield each.mine.truth.log.world.told
    yield told(context)
    mine = found[0].mine
    yield (
        f"{len(mine.ndcg)} draws of {mine.size} held items of each user for the estimates, {len(found[0].inner)} more "
        "for recall inside the sample. Tau-b over the variants. ure and ure(aggregate=ipw) are held against the mean "
        "over users of full recall, the pooled forms against that over positive pairs. The rules were fixed before the "
        f"numbers were seen: good is a median over draws above {HIGH:g}, poor one below {POOR:g} of recall@1 and "
        f"recall@5 in the sample both, and a peak is at its own K within a factor {FACTOR:g}."
    )
    yield (
        "Random search gives many variants that are nearly the same at the top, and tau asks for the order of these "
        "too. So we add the share of pairs in the right order among those whose full recall@K differs by a tenth or "
        f"more; {RIGHT:g} is what a tau of {HIGH:g} stands for. These claims came after the numbers of tau were seen."
    )


def claims(each: "Agreement", *, judged: bool = True) -> Iterator[Claim]:
    """The paper's and ours, on this world.

    Parameters
    ----------
    each : Agreement
    judged : bool
        False where there are too few models.
    """
    for claim, holds, evidence in (
        _paper(each),
        *(_good(each, form) for form in (MEAN, POOLED, MONOTONE)),
        *(_peaks(each, form) for form in (MEAN, POOLED, MONOTONE)),
        *(_right(each, form) for form in (MEAN, POOLED, MONOTONE)),
    ):
        yield Claim(f"{each.name}: {claim}", holds if judged else None, evidence)


def _paper(each: "Agreement") -> tuple[str, bool, str]:
    k = PAPER if PAPER in each.ks else each.ks[-1]
    mine, inside = np.median(each.tau(MEAN, k)), {i: np.median(each.inside(i, k)) for i in (1, 5)}
    holds = bool(mine > HIGH and max(inside.values()) < mine)
    told_ = ", ".join(f"recall@{i} in the sample {value:.3f}" for i, value in inside.items())
    claim = f"{MEAN} orders models by full recall@{k} (tau above {HIGH:g}), and better than recall in the sample does"
    return claim, holds, f"median tau: {MEAN} {mine:.3f}, {told_}"


def _good(each: "Agreement", form: str) -> tuple[str, bool | None, str]:
    poor = [k for k in each.ks if max(np.median(each.inside(i, k)) for i in (1, 5)) < POOR]
    taus = {k: float(np.median(each.tau(form, k))) for k in poor}
    claim = f"{form}: tau with full recall@K is above {HIGH:g} at every K where recall in the sample is poor"
    holds = all(tau > HIGH for tau in taus.values()) if poor else None
    return claim, holds, "; ".join(f"K = {k}: {tau:.3f}" for k, tau in taus.items()) or "it is poor nowhere"


def _peaks(each: "Agreement", form: str) -> tuple[str, bool, str]:
    found = {k: each.peak(form, k) for k in each.ks}
    holds = all(1 / FACTOR <= place / k <= FACTOR for k, place in found.items())
    told_ = "; ".join(f"K = {k}: {place:.0f}" for k, place in found.items())
    return f"{form}: the curve of each K peaks within a factor {FACTOR:g} of its own K", holds, told_


def _right(each: "Agreement", form: str) -> tuple[str, bool, str]:
    found = {k: float(np.median(each.right(form, k))) for k in each.ks}
    inside = {k: [float(np.median(each.right_inside(i, k))) for i in (1, 5)] for k in each.ks}
    claim = (
        f"ours, not the paper's: {form} puts {RIGHT:.0%} of the pairs of variants in the right order, of those that "
        "differ by a tenth or more in full recall@K, at every K"
    )
    told_ = "; ".join(
        f"K = {k}: {share:.1%}, recall@1 and @5 in the sample {inside[k][0]:.1%}, {inside[k][1]:.1%}"
        for k, share in found.items()
    )
    return claim, all(not share < RIGHT for share in found.values()), told_
