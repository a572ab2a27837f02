"""Figure 5: the unbiased estimate at K orders models by full recall at K."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import kendall, pair_signs
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.fast_ure import FORMS, MEAN, MONOTONE, POOLED, Estimates, estimates, target_of
from unskew.studies.wang2024.fig1 import band, cut_offs
from unskew.studies.wang2024.full_recall import INNER, SIZE, Truth, inner_recall, truths
from unskew.studies.wang2024.models import describe_variants
from unskew.studies.wang2024.worlds import KUAIREC, MOVIELENS

KS = (1, 5, 10, 30, 100, 300, 1000)
APART = 0.1
"""Models whose recall differs by this share or more should be in the right order."""
INSIDE = {f"recall@{inner} in the sample": inner for inner in (1, 5)}
"""What it is compared with, and the K-bar of that."""
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
    """How well estimates, and recall inside the sample, order the models of a world by full recall.

    Numbers are by column, a form or one of `INSIDE`, and K.
    """

    truth: Truth
    ks: tuple[int, ...]  # the cut-offs of the figure that the population has
    tau: Mapping[tuple[str, int], Floats]  # with full recall@K, one per draw
    right: Mapping[tuple[str, int], Floats]  # the share of pairs in the right order, as in `right_pairs`, one per draw
    medians: Mapping[tuple[str, int], Floats]  # of a form alone: tau with full recall at every cut-off, over draws
    peaks: Mapping[tuple[str, int], float]  # where its mean over draws is greatest; the geometric mean of several

    @classmethod
    def of(cls, numbers: Estimates, inner: Floats) -> "Agreement":
        """From the estimates, and recall inside the sample: (draws, models, K-bars)."""
        truth, ks = numbers.truth, tuple(k for k in KS if k in numbers.ks)
        targets = dict.fromkeys(INSIDE, truth.macro) | {form: target_of(truth, form) for form in FORMS}
        tau, right, medians, peaks = {}, {}, {}, {}
        for (column, target), k in product(targets.items(), ks):
            inside = column in INSIDE
            values = inner[:, :, INNER.index(INSIDE[column])] if inside else numbers.at(column, k)
            tau[column, k] = kendall(values, target[[k - 1]])[:, 0]
            right[column, k] = right_pairs(values, target[k - 1], APART)
            if not inside:
                curve = np.nan_to_num(kendall(values, target), nan=-1.0)
                medians[column, k] = np.median(curve, axis=0)
                mean = curve.mean(axis=0)
                peaks[column, k] = float(np.exp(np.log(np.flatnonzero(mean >= mean.max() - 1e-12) + 1).mean()))
        return cls(truth, ks, tau, right, medians, peaks)


def run(context: Context, worlds: Sequence[Truth] | None = None) -> Findings:
    """The figure of the models of some worlds, or of all that are available."""
    worlds = truths(context) if worlds is None else worlds
    agreements = [Agreement.of(estimates(context, truth), inner_recall(context, truth, SIZE)) for truth in worlds]
    return Findings(
        cells=tuple(cell for each in agreements for cell in _cells(each)),
        claims=tuple(claim for each in agreements for claim in _claims(each)),
        figures=(_by_cut_off(agreements), *(_curves(each) for each in agreements)),
        notes=(*(truth.log.world.origin for truth in worlds), describe_variants(context), *_rules(agreements[0])),
    )


def _cells(each: Agreement) -> Iterator[ReproducedCell]:
    name = each.truth.name
    differ = [k for k in each.ks if not np.isnan(each.right[MEAN, k]).any()]  # where some pair differs that much
    rows = [(f"tau with full recall@{k}", each.tau, k) for k in each.ks]
    rows += [(f"pairs in the right order at K = {k}", each.right, k) for k in differ]
    for row, table, k in rows:
        for column in (*INSIDE, *FORMS):
            values = table[column, k]
            yield ReproducedCell(row, column, name, None, float(np.median(values)), float(values.std(ddof=1)))
    for k in each.ks:
        for form in FORMS:
            yield cell(f"where the curve of K = {k} peaks", form, name, each.peaks[form, k])


def _rules(first: Agreement) -> Iterator[str]:
    draws, inside = (len(first.tau[column, first.ks[0]]) for column in (MEAN, next(iter(INSIDE))))
    yield (
        f"{draws} draws of {SIZE} held items of each user for the estimates, {inside} more for recall inside the "
        "sample. Tau-b over the variants. ure and ure(aggregate=ipw) are compared with the mean over users of full "
        "recall, the pooled forms with that over positive pairs. The rules were fixed before the numbers were seen: "
        f"good is a median over draws above {HIGH:g}; poor is one below {POOR:g} for both recall@1 and recall@5 in the "
        f"sample; a peak is at its own K within a factor {FACTOR:g}."
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
    rules = {
        f"{{}}: tau with full recall@K is above {HIGH:g} at every K where recall in the sample is poor": _good,
        f"{{}}: the curve of each K peaks within a factor {FACTOR:g} of its own K": _peaks,
        f"ours, not the paper's: {{}} puts {RIGHT:.0%} of the pairs of variants in the right order, of those that "
        "differ by a tenth or more in full recall@K, at every K": _right,
    }
    verdicts |= {text.format(form): rule(each, form) for text, rule in rules.items() for form in JUDGED}
    return (claim(f"{each.truth.name}: {text}", verdict) for text, verdict in verdicts.items())


def _as_in_the_paper(each: Agreement, k: int) -> Verdict:
    good, *inside = (np.median(each.tau[column, k]) for column in (MEAN, *INSIDE))
    parts = ", ".join(f"{column} {value:.3f}" for column, value in zip(INSIDE, inside, strict=True))
    return bool(good > HIGH and max(inside) < good), f"median tau: {MEAN} {good:.3f}, {parts}"


def _good(each: Agreement, form: str) -> Verdict:
    poor = [k for k in each.ks if max(np.median(each.tau[column, k]) for column in INSIDE) < POOR]
    taus = {k: float(np.median(each.tau[form, k])) for k in poor}
    holds = all(tau > HIGH for tau in taus.values()) if poor else None
    return holds, "; ".join(f"K = {k}: {tau:.3f}" for k, tau in taus.items()) or "it is poor at no K"


def _peaks(each: Agreement, form: str) -> Verdict:
    peaks = {k: each.peaks[form, k] for k in each.ks}
    holds = all(1 / FACTOR <= place / k <= FACTOR for k, place in peaks.items())
    return holds, "; ".join(f"K = {k}: {place:.0f}" for k, place in peaks.items())


def _right(each: Agreement, form: str) -> Verdict:
    shares = {k: float(np.median(each.right[form, k])) for k in each.ks}
    inside = {k: ", ".join(f"{np.median(each.right[column, k]):.1%}" for column in INSIDE) for k in each.ks}
    parts = (f"K = {k}: {share:.1%}, recall@1 and @5 in the sample {inside[k]}" for k, share in shares.items())
    return all(not share < RIGHT for share in shares.values()), "; ".join(parts)


def _by_cut_off(worlds: Sequence[Agreement]) -> Figure:
    panels = []
    for each in worlds:
        columns = (MEAN, MONOTONE, *INSIDE)
        taus = {column: np.stack([each.tau[column, k] for k in each.ks], axis=1) for column in columns}
        lines = (band(name, each.ks, tau, middle=np.median, naive=name in INSIDE) for name, tau in taus.items())
        panels.append(Panel(each.truth.name, tuple(lines)))
    note = "Medians over draws; bands hold the middle 90 % of the draws."
    return Figure("Kendall tau with full recall@K, over the variants", "K", tuple(panels), log_x=True, note=note)


def _curves(each: Agreement) -> Figure:
    """One line for each K, over all cut-offs of full recall; one panel per form."""
    grid = cut_offs(each.truth.shortest - 1)
    panels = []
    for form in (MEAN, MONOTONE):
        medians = {k: each.medians[form, k][np.array(grid) - 1] for k in each.ks}
        panels.append(Panel(form, tuple(Series.exact(f"K = {k}", grid, line.tolist()) for k, line in medians.items())))
    title = f"{each.truth.name}: Kendall tau of the estimate at K with full recall"
    return Figure(title, "cut-off of full recall", tuple(panels), log_x=True, note="Medians over draws.")


TABLE = Table("fig5", "Unbiased recall at K against full recall", run, needs=(MOVIELENS, KUAIREC))
