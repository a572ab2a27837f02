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
from unskew.studies.framework.stats import kendall
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.fast_ure import FORMS, MEAN, MONOTONE, POOLED, Estimates, estimates, target_of
from unskew.studies.wang2024.fig1 import band, cut_offs
from unskew.studies.wang2024.full_recall import INNER, SIZE, Truth, describe_apart, inner_recall, truths
from unskew.studies.wang2024.models import describe_variants
from unskew.studies.wang2024.worlds import NEEDS, without_kuairec

KS = (1, 5, 10, 30, 100, 300, 1000)
INSIDE = {f"recall@{inner} in the sample": inner for inner in (1, 5)}
"""What it is compared with, and the K-bar of that."""
SMALLER = 20
"""A second size of the samples, that of the tables."""
JUDGED = (MEAN, POOLED, MONOTONE)
HIGH, POOR, FACTOR, PAPER = 0.9, 0.8, 2.0, 30
"""Tau above which an order is good, below which it is poor; how far off a peak may be; the paper's K."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well estimates, and recall inside the sample, order the models of a world by full recall.

    Numbers are by column, a form or one of `INSIDE`, and K.
    """

    truth: Truth
    ks: tuple[int, ...]  # the cut-offs of the figure that the population has
    tau: Mapping[tuple[str, int], Floats]  # with full recall@K, one per draw
    of_means: Mapping[tuple[str, int], float]  # that of the mean over draws, which chance moves less
    medians: Mapping[tuple[str, int], Floats]  # of a form alone: tau with full recall at every cut-off, over draws
    peaks: Mapping[tuple[str, int], float]  # where its mean over draws is greatest; the geometric mean of several
    heights: Mapping[tuple[str, int], tuple[float, float]]  # that mean there, and at its own K

    @classmethod
    def of(cls, numbers: Estimates, inner: Floats) -> "Agreement":
        """From the estimates, and recall inside the sample: (draws, models, K-bars)."""
        truth, ks = numbers.truth, tuple(k for k in KS if k in numbers.ks)
        targets = dict.fromkeys(INSIDE, truth.macro) | {form: target_of(truth, form) for form in FORMS}
        tau, of_means, medians, peaks, heights = {}, {}, {}, {}, {}
        for (column, target), k in product(targets.items(), ks):
            inside = column in INSIDE
            values = inner[:, :, INNER.index(INSIDE[column])] if inside else numbers.at(column, k)
            tau[column, k] = kendall(values, target[[k - 1]])[:, 0]
            of_means[column, k] = float(kendall(np.nanmean(values, axis=0)[None], target[[k - 1]])[0, 0])
            if not inside:
                curve = np.nan_to_num(kendall(values, target), nan=-1.0)
                medians[column, k] = np.median(curve, axis=0)
                mean = curve.mean(axis=0)
                peaks[column, k] = float(np.exp(np.log(np.flatnonzero(mean >= mean.max() - 1e-12) + 1).mean()))
                heights[column, k] = float(mean.max()), float(mean[k - 1])
        return cls(truth, ks, tau, of_means, medians, peaks, heights)


def run(context: Context, worlds: Sequence[Truth] | None = None) -> Findings:
    """The figure of the models of some worlds, or of all that are available."""
    worlds = truths(context) if worlds is None else worlds
    by_size = {
        size: [Agreement.of(estimates(context, truth, size), inner_recall(context, truth, size)) for truth in worlds]
        for size in (SIZE, SMALLER)
    }
    agreements = by_size[SIZE]
    return Findings(
        cells=tuple(cell for each in agreements for cell in _cells(each)),
        claims=tuple(
            claim for each, smaller in zip(*by_size.values(), strict=True) for claim in _claims(each, smaller)
        ),
        figures=(_by_cut_off(agreements), *(_curves(each) for each in agreements)),
        notes=(
            *without_kuairec(context),
            *(truth.log.world.description for truth in worlds),
            describe_variants(context),
            describe_apart(worlds),
            *_rules(agreements[0]),
        ),
    )


def _cells(each: Agreement) -> Iterator[ReproducedCell]:
    name = each.truth.name
    for k in each.ks:
        for column in (*INSIDE, *FORMS):
            values, row = each.tau[column, k], f"tau with full recall@{k}"
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


def _claims(each: Agreement, smaller: Agreement) -> Iterator[Claim]:
    """The paper's about the published form, and ours about two others.

    The paper does not say how large its samples are here. By theorem 1 recall@1 in samples of 80 is near full recall at
    24, and so cannot be poor at 30; so the same numbers of samples of 20 are in the evidence.
    """
    k = PAPER if PAPER in each.ks else each.ks[-1]
    (good, *inside), (in_smaller, *inside_smaller) = (
        [float(np.median(agreement.tau[column, k])) for column in (MEAN, *INSIDE)] for agreement in (each, smaller)
    )

    def listed(taus: Sequence[float]) -> str:
        return ", ".join(f"{column} {value:.3f}" for column, value in zip(INSIDE, taus, strict=True))

    of_mean = f"{each.of_means[MEAN, k]:.3f}"
    verdicts: dict[tuple[str, str], Verdict] = {
        (f"{MEAN}: tau with full recall@{k} is above {HIGH:g}", "Fig. 5"): (
            good > HIGH,
            f"median tau {good:.3f}, {of_mean} of the mean over draws; in samples of {SMALLER} {in_smaller:.3f}",
        ),
        (f"recall@1 and recall@5 in the sample order models by full recall@{k} less well than {MEAN}", "Fig. 5"): (
            max(inside) < good,
            "median tau: "
            + "; ".join(
                f"in samples of {size} {MEAN} {tau:.3f}, {listed(taus)}"
                for size, tau, taus in ((SIZE, good, inside), (SMALLER, in_smaller, inside_smaller))
            ),
        ),
    }
    for form in JUDGED:
        text = f"{form}: the curve of each K peaks within a factor {FACTOR:g} of its own K"
        verdicts[text, "Fig. 5" if form == MEAN else ""] = _peaks(each, form)
    for form in JUDGED:
        text = f"{form}: tau with full recall@K is above {HIGH:g} at every K where recall in the sample is poor"
        verdicts[text, ""] = _good(each, form)
    return (
        claim(f"{each.truth.name}: {text}", verdict, section=each.truth.log.world.section(section))
        for (text, section), verdict in verdicts.items()
    )


def _good(each: Agreement, form: str) -> Verdict:
    poor = [k for k in each.ks if max(np.median(each.tau[column, k]) for column in INSIDE) < POOR]
    taus = {k: float(np.median(each.tau[form, k])) for k in poor}
    holds = all(tau > HIGH for tau in taus.values()) if poor else None
    return holds, "; ".join(f"K = {k}: {tau:.3f}" for k, tau in taus.items()) or "it is poor at no K"


def _peaks(each: Agreement, form: str) -> Verdict:
    peaks = {k: each.peaks[form, k] for k in each.ks}
    holds = all(1 / FACTOR <= place / k <= FACTOR for k, place in peaks.items())
    tau = {k: "tau {:.3f} there, {:.3f} at its own K".format(*each.heights[form, k]) for k in each.ks}
    listed = "; ".join(f"K = {k}: {place:.0f} ({tau[k]})" for k, place in peaks.items())
    return holds, f"{len(each.truth.ranks)} variants; {listed}"


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


TABLE = Table("fig5", "Unbiased recall at K against full recall", run, needs=NEEDS)
