"""Figure 5: the unbiased estimate at K orders models by full recall at K."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import kendall, pair_signs
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.fast_ure import FORMS, MEAN, MONOTONE, POOLED, Estimates, estimates, target_of
from unskew.studies.wang2024.fig1 import cut_offs
from unskew.studies.wang2024.full_recall import INNER, SIZE, Truth, inner_recall, truths
from unskew.studies.wang2024.models import describe_variants
from unskew.studies.wang2024.worlds import KUAIREC, MOVIELENS

KS = (1, 5, 10, 30, 100, 300, 1000)
APART = 0.1
"""Models whose recall differs by this share or more should be in the right order."""
INSIDE = (1, 5)
"""K-bar of the recalls inside the sample that it is compared with."""
JUDGED = (MEAN, POOLED, MONOTONE)
HIGH, POOR, FACTOR, PAPER = 0.9, 0.8, 2.0, 30
"""Tau above which an order is good, below which it is poor; how far off a peak may be; the paper's K."""
RIGHT = 0.95
"""The share of pairs in the right order that corresponds to a tau of 0.9."""


def right_pairs(values: Floats, truth: Floats, apart: float) -> Floats:
    """The share of pairs of models in the right order, of those that truly differ by a share of `apart` or more.

    A tie counts half; one number per row of `values`, NaN when no pair differs that much.
    """
    left, right = np.triu_indices(len(truth), 1)
    clear = np.abs(truth[left] - truth[right]) >= apart * np.maximum(truth[left], truth[right])
    if not clear.any():
        return np.full(len(values), np.nan)
    agreement = (pair_signs(values) * pair_signs(truth[None]))[:, clear]
    return np.asarray((1 + agreement.mean(axis=1)) / 2)


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well estimates, and recall inside the sample, order the models of a world by full recall."""

    numbers: Estimates
    inner: Floats  # (draws, models, K-bars): recall inside the sample

    @property
    def truth(self) -> Truth:
        """The world, and full recall of its models."""
        return self.numbers.truth

    @cached_property
    def ks(self) -> tuple[int, ...]:
        """The cut-offs of the figure that the population has."""
        return tuple(k for k in KS if k in self.numbers.ks)

    def curve(self, form: str, k: int) -> Floats:
        """Tau of the estimate at k with full recall at every cut-off, an array (draws, L)."""
        return np.nan_to_num(kendall(self.numbers.at(form, k), target_of(self.truth, form)), nan=-1.0)

    def tau(self, form: str, k: int) -> Floats:
        """Tau of the estimate at k with full recall at k, one per draw."""
        return kendall(self.numbers.at(form, k), target_of(self.truth, form)[[k - 1]])[:, 0]

    def inside(self, inner: int, k: int) -> Floats:
        """Tau of recall@K-bar in the sample with full recall at k, one per draw."""
        return kendall(self.inner[:, :, INNER.index(inner)], self.truth.macro[[k - 1]])[:, 0]

    def right(self, form: str, k: int) -> Floats:
        """The share of pairs in the right order, of those whose full recall at k differs by a tenth, one per draw."""
        return right_pairs(self.numbers.at(form, k), target_of(self.truth, form)[k - 1], APART)

    def right_inside(self, inner: int, k: int) -> Floats:
        """The same by recall@K-bar in the sample."""
        return right_pairs(self.inner[:, :, INNER.index(inner)], self.truth.macro[k - 1], APART)

    def peak(self, form: str, k: int) -> float:
        """Where the mean over draws of the curve is greatest; the geometric mean where several share it."""
        curve = self.curve(form, k).mean(axis=0)
        return float(np.exp(np.log(np.flatnonzero(curve >= curve.max() - 1e-12) + 1).mean()))


def run(context: Context) -> Findings:
    """The figure on each available world."""
    return compute(truths(context), context)


def compute(worlds: Sequence[Truth], context: Context) -> Findings:
    """The figure of the models of some worlds."""
    agreements = [Agreement(estimates(context, truth), inner_recall(context, truth, SIZE)) for truth in worlds]
    return Findings(
        cells=tuple(cell for each in agreements for cell in _cells(each)),
        claims=tuple(claim for each in agreements for claim in _claims(each)),
        figures=(_by_cut_off(agreements), *(_curves(each) for each in agreements)),
        notes=(*(truth.log.world.origin for truth in worlds), describe_variants(context), *_rules(agreements[0])),
    )


def _cells(each: Agreement) -> Iterator[ReproducedCell]:
    name = each.truth.name
    for k in each.ks:
        row = f"tau with full recall@{k}"
        for inner in INSIDE:
            yield _cell(row, f"recall@{inner} in the sample", name, each.inside(inner, k))
        for form in FORMS:
            yield _cell(row, form, name, each.tau(form, k))
    for k in each.ks:
        if np.isnan(each.right(FORMS[0], k)).any():
            continue  # no pair differs that much
        row = f"pairs in the right order at K = {k}"
        for inner in INSIDE:
            yield _cell(row, f"recall@{inner} in the sample", name, each.right_inside(inner, k))
        for form in FORMS:
            yield _cell(row, form, name, each.right(form, k))
    for k in each.ks:
        for form in FORMS:
            yield cell(f"where the curve of K = {k} peaks", form, name, each.peak(form, k))


def _cell(row: str, column: str, data: str, values: Floats) -> ReproducedCell:
    return ReproducedCell(row, column, data, None, float(np.median(values)), float(values.std(ddof=1)))


def _rules(first: Agreement) -> Iterator[str]:
    yield (
        f"{first.numbers.draws} draws of {first.numbers.size} held items of each user for the estimates, "
        f"{len(first.inner)} more for recall inside the sample. Tau-b over the variants. ure and ure(aggregate=ipw) "
        "are compared with the mean over users of full recall, the pooled forms with that over positive pairs. The "
        f"rules were fixed before the numbers were seen: good is a median over draws above {HIGH:g}; poor is one below "
        f"{POOR:g} for both recall@1 and recall@5 in the sample; a peak is at its own K within a factor {FACTOR:g}."
    )
    yield (
        "Random search gives many variants that are nearly the same at the top, and tau asks for the order of these "
        "too. So we add the share of pairs in the right order among those whose full recall@K differs by a tenth or "
        f"more; a share of {RIGHT:g} corresponds to a tau of {HIGH:g}. These claims were added after tau was seen."
    )


def _claims(each: Agreement) -> Iterator[Claim]:
    """The paper's and ours, on this world."""
    k = PAPER if PAPER in each.ks else each.ks[-1]
    verdicts = {
        f"{MEAN} orders models by full recall@{k} (tau above {HIGH:g}), and better than recall in the sample does": (
            _as_in_the_paper(each, k)
        )
    }
    verdicts |= {
        f"{form}: tau with full recall@K is above {HIGH:g} at every K where recall in the sample is poor": (
            _good(each, form)
        )
        for form in JUDGED
    }
    verdicts |= {
        f"{form}: the curve of each K peaks within a factor {FACTOR:g} of its own K": _peaks(each, form)
        for form in JUDGED
    }
    verdicts |= {
        f"ours, not the paper's: {form} puts {RIGHT:.0%} of the pairs of variants in the right order, of those that "
        "differ by a tenth or more in full recall@K, at every K": _right(each, form)
        for form in JUDGED
    }
    return (claim(f"{each.truth.name}: {text}", verdict) for text, verdict in verdicts.items())


def _as_in_the_paper(each: Agreement, k: int) -> Verdict:
    good, inside = np.median(each.tau(MEAN, k)), {i: np.median(each.inside(i, k)) for i in INSIDE}
    parts = ", ".join(f"recall@{i} in the sample {value:.3f}" for i, value in inside.items())
    return bool(good > HIGH and max(inside.values()) < good), f"median tau: {MEAN} {good:.3f}, {parts}"


def _good(each: Agreement, form: str) -> Verdict:
    poor = [k for k in each.ks if max(np.median(each.inside(i, k)) for i in INSIDE) < POOR]
    taus = {k: float(np.median(each.tau(form, k))) for k in poor}
    holds = all(tau > HIGH for tau in taus.values()) if poor else None
    return holds, "; ".join(f"K = {k}: {tau:.3f}" for k, tau in taus.items()) or "it is poor at no K"


def _peaks(each: Agreement, form: str) -> Verdict:
    peaks = {k: each.peak(form, k) for k in each.ks}
    holds = all(1 / FACTOR <= place / k <= FACTOR for k, place in peaks.items())
    return holds, "; ".join(f"K = {k}: {place:.0f}" for k, place in peaks.items())


def _right(each: Agreement, form: str) -> Verdict:
    shares = {k: float(np.median(each.right(form, k))) for k in each.ks}
    inside = {k: ", ".join(f"{np.median(each.right_inside(i, k)):.1%}" for i in INSIDE) for k in each.ks}
    parts = (f"K = {k}: {share:.1%}, recall@1 and @5 in the sample {inside[k]}" for k, share in shares.items())
    return all(not share < RIGHT for share in shares.values()), "; ".join(parts)


def _by_cut_off(worlds: Sequence[Agreement]) -> Figure:
    panels = []
    for each in worlds:
        lines = [_line(form, each.ks, [each.tau(form, k) for k in each.ks]) for form in (MEAN, MONOTONE)]
        lines += [
            _line(f"recall@{inner} in the sample", each.ks, [each.inside(inner, k) for k in each.ks], naive=True)
            for inner in INSIDE
        ]
        panels.append(Panel(each.truth.name, tuple(lines)))
    note = "Medians over draws; bands hold the middle 90 % of the draws."
    return Figure("Kendall tau with full recall@K, over the variants", "K", tuple(panels), log_x=True, note=note)


def _curves(each: Agreement) -> Figure:
    """One line for each K, over all cut-offs of full recall; one panel per form."""
    grid = cut_offs(each.truth.shortest - 1)
    panels = []
    for form in (MEAN, MONOTONE):
        medians = {k: np.median(each.curve(form, k)[:, np.array(grid) - 1], axis=0) for k in each.ks}
        panels.append(Panel(form, tuple(Series.exact(f"K = {k}", grid, line.tolist()) for k, line in medians.items())))
    title = f"{each.truth.name}: Kendall tau of the estimate at K with full recall"
    return Figure(title, "cut-off of full recall", tuple(panels), log_x=True, note="Medians over draws.")


def _line(name: str, x: Sequence[int], values: Sequence[Floats], *, naive: bool = False) -> Series:
    middle = tuple(float(np.median(each)) for each in values)
    low, high = (tuple(float(np.quantile(each, side)) for each in values) for side in (0.05, 0.95))
    return Series(name, tuple(float(k) for k in x), middle, low, high, naive=naive)


TABLE = Table("fig5", "Unbiased recall at K against full recall", run, needs=(MOVIELENS, KUAIREC))
