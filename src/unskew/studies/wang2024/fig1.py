"""Figure 1: recall inside a sample orders models by recall far down the full list, not at its top."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import kendall
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.full_recall import DRAWS, INNER, SIZE, Truth, describe_apart, inner_recall, truths
from unskew.studies.wang2024.models import describe_variants
from unskew.studies.wang2024.resampling import CORRELATIONS, RESAMPLES, SURE, Correlation, resampled, sure
from unskew.studies.wang2024.worlds import NEEDS, without_kuairec

CUT = 5
"""K-bar."""
TOP = (1, 5)
"""Cut-offs of the full list that a user of the system sees."""
LOW, LOW_UNTIL = 0.6, 10
HIGH, HIGH_FROM, HIGH_UNTIL = 0.9, 100, 500
"""Of KuaiRec the paper says that Pearson's correlation is below 0.6 for K below 10 and above 0.9 for K above 100. It
must fall again where K nears L, so we ask up to 500, the largest K of the paper's tables."""
RULE = (
    "Where the paper gives a bound for a curve, the mean over draws is judged. That something is lower, rises or falls "
    "holds if it is true in {sure:.1%} of {resamples} resamples of variants and draws, fails if it is true in at most "
    "{rest:.1%}, and is left open otherwise: the settings of the variants are drawn at random, those of the paper were "
    "others, and a correlation over few of them depends on which they are."
)
"""How the figures over variants are judged."""


def pearson(first: Floats, second: Floats) -> Floats:
    """Pearson's correlation of each row of the first with each row of the second; NaN where a row is constant."""
    a, b = (part - part.mean(axis=1, keepdims=True) for part in (np.atleast_2d(first), np.atleast_2d(second)))
    size = np.sqrt(np.outer((a**2).sum(axis=1), (b**2).sum(axis=1)))
    return np.asarray(np.divide(a @ b.T, size, out=np.full(size.shape, np.nan), where=size > 0))


def correlations(inner: Floats, truth: Truth) -> dict[str, Floats]:
    """Of recall in the sample (draws, models) with full recall@K, by name: arrays (draws, L)."""
    kinds = {"Pearson": pearson, "Kendall": kendall}
    return {name: np.nan_to_num(correlate(inner, truth.macro)) for name, correlate in kinds.items()}


def matched(truth: Truth, inner: int, size: int) -> int:
    """K = K-bar L / N-bar, rounded: the cut-off of the full list that theorem 1 pairs with that of the sample."""
    return max(1, round(inner * float(truth.log.population.mean()) / size))


def run(context: Context, worlds: Sequence[Truth] | None = None) -> Findings:
    """The figure of the models of some worlds, or of all that are available."""
    worlds = truths(context) if worlds is None else worlds
    inner = [inner_recall(context, truth, SIZE)[:, :, INNER.index(CUT)] for truth in worlds]
    curves = [(truth, correlations(values, truth)) for values, truth in zip(inner, worlds, strict=True)]
    again = [
        {kind: resampled(context, truth, values, kind) for kind in CORRELATIONS}
        for values, truth in zip(inner, worlds, strict=True)
    ]
    how = (
        f"Each of {context.size(DRAWS)} draws has {SIZE} held items of each user; recall@{CUT} inside it is the mean "
        "over users with a positive, full recall@K that over users with a positive among all held items. The paper "
        f"draws curves, without numbers. Its sentence about K above {HIGH_FROM} is judged up to K = {HIGH_UNTIL}, "
        "because recall is 1 for every model where K is L."
    )
    return Findings(
        cells=tuple(cell for each in curves for cell in _cells(*each)),
        claims=tuple(
            claim
            for (truth, means), resamples in zip(curves, again, strict=True)
            for claim in _claims(truth, means, resamples)
        ),
        figures=(_correlations(curves), _orders(zip(inner, worlds, strict=True))),
        notes=(
            *without_kuairec(context),
            *(truth.log.world.description for truth in worlds),
            describe_variants(context),
            describe_apart(worlds),
            how,
            how_judged(context),
        ),
    )


def how_judged(context: Context) -> str:
    """The rule for sentences about correlations over variants, as a note."""
    return RULE.format(sure=SURE, rest=1 - SURE, resamples=context.size(RESAMPLES))


def _cells(truth: Truth, curves: Mapping[str, Floats]) -> Iterator[ReproducedCell]:
    predicted = matched(truth, CUT, SIZE)
    for k in sorted({k for k in (1, 5, 10, 30, 100, 300, predicted) if k < len(truth.macro)}):
        note = "as theorem 1 pairs it with 5 in the sample" if k == predicted else ""
        for name, values in curves.items():
            yield cell(f"full recall@{k}", name, truth.name, values[:, k - 1], note=note)
        column = f"Pearson of full recall@{predicted}"
        yield cell(f"full recall@{k}", column, truth.name, _of_full(truth, k, predicted))


def _claims(truth: Truth, curves: Mapping[str, Floats], again: Mapping[Correlation, Floats]) -> Iterator[Claim]:
    """The paper's claims about the figure, on this world; `again` has curves of resamples."""
    section = truth.log.world.section("Fig. 1")
    mean, pearsons = curves["Pearson"].mean(axis=0), again["Pearson"]
    last = min(HIGH_UNTIL, truth.shortest - 1)
    low, high = slice(None, LOW_UNTIL - 1), slice(HIGH_FROM, last)
    inside = f"recall@{CUT} in samples of {SIZE}"
    below = np.asarray((pearsons[:, low] < LOW).all(axis=1))
    listed = ", ".join(f"{value:.3f}" for value in mean[low])
    predicted = matched(truth, CUT, SIZE)

    def itself(*ks: int) -> str:
        values = ", ".join(f"{_of_full(truth, k, predicted):.3f} at K = {k}" for k in ks)
        return f"that of full recall@K with full recall@{predicted}: {values}"

    shown = _in_resamples(pearsons[:, LOW_UNTIL - 2], below)
    yield claim(
        f"{truth.name}: Pearson's correlation of {inside} with full recall@K is below {LOW:g} for every K below "
        f"{LOW_UNTIL}",
        (bool((mean[low] < LOW).all()), f"K = 1 to {LOW_UNTIL - 1}: {listed}, {shown}; {itself(1, LOW_UNTIL - 1)}"),
        section=section,
    )
    verdict: Verdict = (None, "no such K")
    if last > HIGH_FROM:
        above = np.asarray((pearsons[:, high] > HIGH).all(axis=1))
        least = HIGH_FROM + int(mean[high].argmin())
        shown = _in_resamples(pearsons[:, least], above)
        evidence = f"smallest {mean[least]:.3f} at K = {least + 1}, {shown}; {itself(least + 1)}"
        verdict = bool((mean[high] > HIGH).all()), evidence
    yield claim(
        f"{truth.name}: Pearson's correlation of {inside} with full recall@K is above {HIGH:g} for every K above "
        f"{HIGH_FROM}, up to {last}",
        verdict,
        section=section,
    )
    kendalls = again["Kendall"]
    gaps = {k: kendalls[:, predicted - 1] - kendalls[:, k - 1] for k in TOP}
    lower = np.all([gap > 0 for gap in gaps.values()], axis=0)
    means = {k: [values[:, k - 1].mean() for values in curves.values()] for k in (predicted, *TOP)}
    parts = (f"K = {k}: Pearson {both[0]:.3f}, Kendall {both[1]:.3f}" for k, both in means.items())
    yield claim(
        f"{truth.name}: {inside} orders models less well by recall at the top, K = 1 and 5, than at K = {CUT} L / "
        f"{SIZE} = {predicted} (Kendall)",
        (sure(lower), f"{'; '.join(parts)}; true in {np.mean(lower):.0%} of the resamples"),
        section=section,
    )


def _of_full(truth: Truth, k: int, predicted: int) -> float:
    """Pearson's correlation of full recall at two cut-offs: how far models have one order, whatever the sample says."""
    return float(pearson(truth.macro[[k - 1]], truth.macro[[predicted - 1]])[0, 0])


def _in_resamples(values: Floats, holds: Bools) -> str:
    """The middle 95 % of a correlation in the resamples, and the share of them in which a sentence holds."""
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:.2f} to {high:.2f} in resamples; true in {np.mean(holds):.0%} of them"


def _correlations(worlds: Sequence[tuple[Truth, Mapping[str, Floats]]]) -> Figure:
    panels = []
    for truth, curves in worlds:
        ks = cut_offs(truth.shortest - 1)
        lines = (band(name, ks, values[:, np.array(ks) - 1]) for name, values in curves.items())
        panels.append(Panel(f"{truth.name} (5 L / l = {matched(truth, CUT, SIZE)})", tuple(lines)))
    title = f"Correlation of recall@{CUT} in samples of {SIZE} with full recall@K, over the variants"
    note = "Means over draws of the sample; bands hold the middle 90 % of the draws."
    return Figure(title, "K of the full list", tuple(panels), log_x=True, note=note)


def cut_offs(largest: int, points: int = 60) -> list[int]:
    """Whole numbers from 1 to `largest`, even on a logarithmic axis."""
    return [int(k) for k in np.unique(np.rint(np.geomspace(1, largest, points)))]


def band(
    name: str, x: Sequence[int], values: Floats, *, middle: Callable[..., Floats] = np.mean, naive: bool = False
) -> Series:
    """The mean or median over draws or models (rows), with a band that holds the middle nine tenths of them."""
    columns = (middle(values, axis=0), *np.quantile(values, [0.05, 0.95], axis=0))
    mean, low, high = (tuple(map(float, column)) for column in columns)
    return Series(name, tuple(map(float, x)), mean, low, high, naive=naive)


def _orders(worlds: Iterable[tuple[Floats, Truth]]) -> Figure:
    """The place of each variant by full recall over its place by recall in the sample."""
    panels = []
    for inner, truth in worlds:
        order = np.argsort(-inner.mean(axis=0), kind="stable")
        x = np.arange(1, len(order) + 1)
        lines = []
        for k in (1, CUT, matched(truth, CUT, SIZE)):
            place = np.empty(len(order))
            place[np.argsort(-truth.macro[k - 1], kind="stable")] = x
            lines.append(Series.exact(f"full recall@{k}", x.tolist(), place[order].tolist()))
        panels.append(Panel(truth.name, tuple(lines)))
    title, x_label = "Place of each variant by full recall (1 is best)", f"place by recall@{CUT} in the sample"
    note = "Recall in the sample is the mean over draws. A straight line would be agreement."
    return Figure(title, x_label, tuple(panels), note=note)


TABLE = Table("fig1", "Recall inside a random sample against full recall@K", run, needs=NEEDS)
