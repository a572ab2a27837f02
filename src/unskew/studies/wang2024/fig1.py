"""Figure 1: recall inside a sample orders models by recall far down the full list, not at its top."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean, kendall
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.full_recall import INNER, SIZE, Truth, inner_recall, truths
from unskew.studies.wang2024.models import describe_variants
from unskew.studies.wang2024.worlds import KUAIREC, MOVIELENS

CUT = 5
"""K-bar."""
TOP = (1, 5)
"""Cut-offs of the full list that a user of the system sees."""
HIGH, ERRORS = 0.9, 3.0
"""A correlation above this is high; a difference of more standard errors over draws than this is clear."""


def pearson(first: Floats, second: Floats) -> Floats:
    """Pearson's correlation of each row of the first with each row of the second; NaN where a row is constant."""
    a, b = (part - part.mean(axis=1, keepdims=True) for part in (np.atleast_2d(first), np.atleast_2d(second)))
    size = np.sqrt(np.outer((a**2).sum(axis=1), (b**2).sum(axis=1)))
    return np.asarray(np.divide(a @ b.T, size, out=np.full(size.shape, np.nan), where=size > 0))


@dataclass(frozen=True, eq=False)
class Curves:
    """Correlations of recall@5 in the sample with full recall@K."""

    truth: Truth
    inner: Floats  # (draws, models): recall@5 in the sample

    @cached_property
    def correlations(self) -> dict[str, Floats]:
        """By name, an array (draws, L)."""
        return {
            "Pearson": np.nan_to_num(pearson(self.inner, self.truth.macro)),
            "Kendall": np.nan_to_num(kendall(self.inner, self.truth.macro)),
        }

    def at(self, name: str, k: int) -> Floats:
        """The correlation of this name with full recall@K, one per draw."""
        return np.asarray(self.correlations[name][:, k - 1])

    @property
    def predicted(self) -> int:
        """The cut-off of the full list that theorem 1 pairs with that of the sample."""
        return matched(self.truth, CUT, SIZE)


def matched(truth: Truth, inner: int, size: int) -> int:
    """K = K-bar L / N-bar, rounded."""
    return max(1, round(inner * truth.population / size))


def run(context: Context) -> Findings:
    """The figure on each available world."""
    return compute(truths(context), context)


def compute(worlds: Sequence[Truth], context: Context) -> Findings:
    """The figure of the models of some worlds."""
    curves = [Curves(truth, inner_recall(context, truth, SIZE)[:, :, INNER.index(CUT)]) for truth in worlds]
    return Findings(
        cells=tuple(cell for each in curves for cell in _cells(each)),
        claims=tuple(claim for each in curves for claim in _claims(each)),
        figures=(_correlations(curves), _orders(curves)),
        notes=(*(truth.log.world.origin for truth in worlds), describe_variants(context), _how(len(curves[0].inner))),
    )


def _cells(curves: Curves) -> Iterator[ReproducedCell]:
    largest = len(curves.truth.macro)
    for k in sorted({k for k in (1, 5, 10, 30, 100, 300, curves.predicted) if k < largest}):
        note = "as theorem 1 pairs it with 5 in the sample" if k == curves.predicted else ""
        for name in curves.correlations:
            yield cell(f"full recall@{k}", name, curves.truth.name, curves.at(name, k), note=note)


def _claims(curves: Curves) -> Iterator[Claim]:
    """The paper's claims about the figure, on this world."""
    name = curves.truth.name
    yield claim(
        f"{name}: recall@{CUT} in samples of {SIZE} correlates with full recall@K where K = {CUT} L / {SIZE} (Pearson "
        f"above {HIGH:g})",
        _high(curves),
    )
    yield claim(
        f"{name}: it orders models less well by recall at the top, K = 1 and 5, than at that K (Kendall; more than "
        f"{ERRORS:g} s.e. over draws)",
        _lower_at_the_top(curves),
    )


def _high(curves: Curves) -> Verdict:
    correlation, tau = (curves.at(name, curves.predicted).mean() for name in ("Pearson", "Kendall"))
    return bool(correlation > HIGH), f"K = {curves.predicted}: Pearson {correlation:.3f}, Kendall {tau:.3f}"


def _lower_at_the_top(curves: Curves) -> Verdict:
    gaps = {k: Mean.of(curves.at("Kendall", curves.predicted) - curves.at("Kendall", k)) for k in TOP}
    parts = (
        f"K = {k}: Pearson {curves.at('Pearson', k).mean():.3f}, Kendall {curves.at('Kendall', k).mean():.3f}, lower "
        f"by {gap.value:.3f} ± {gap.error or 0:.3f}"
        for k, gap in gaps.items()
    )
    return all(gap.value > ERRORS * (gap.error or 0) for gap in gaps.values()), "; ".join(parts)


def _correlations(worlds: Sequence[Curves]) -> Figure:
    panels = []
    for curves in worlds:
        ks = cut_offs(curves.truth.shortest - 1)
        lines = (band(name, ks, values[:, np.array(ks) - 1]) for name, values in curves.correlations.items())
        panels.append(Panel(f"{curves.truth.name} (5 L / l = {curves.predicted})", tuple(lines)))
    title = f"Correlation of recall@{CUT} in samples of {SIZE} with full recall@K, over the variants"
    note = "Means over draws of the sample; bands hold the middle 90 % of the draws."
    return Figure(title, "K of the full list", tuple(panels), log_x=True, note=note)


def cut_offs(largest: int, points: int = 60) -> list[int]:
    """Whole numbers from 1 to `largest`, even on a logarithmic axis."""
    return [int(k) for k in np.unique(np.rint(np.geomspace(1, largest, points)))]


def band(name: str, x: Sequence[int], values: Floats, *, naive: bool = False) -> Series:
    """The mean over draws or models (rows), with a band that holds the middle nine tenths of them."""
    low, high = np.quantile(values, [0.05, 0.95], axis=0)
    mean, low, high = (tuple(float(v) for v in column) for column in (values.mean(axis=0), low, high))
    return Series(name, tuple(float(k) for k in x), mean, low, high, naive=naive)


def _orders(worlds: Sequence[Curves]) -> Figure:
    """The place of each variant by full recall over its place by recall in the sample."""
    panels = []
    for curves in worlds:
        order = np.argsort(-curves.inner.mean(axis=0), kind="stable")
        x = np.arange(1, len(order) + 1)
        lines = []
        for k in (1, CUT, curves.predicted):
            place = np.empty(len(order))
            place[np.argsort(-curves.truth.macro[k - 1], kind="stable")] = x
            lines.append(Series.exact(f"full recall@{k}", x.tolist(), place[order].tolist()))
        panels.append(Panel(curves.truth.name, tuple(lines)))
    title, x_label = "Place of each variant by full recall (1 is best)", f"place by recall@{CUT} in the sample"
    note = "Recall in the sample is the mean over draws. A straight line would be agreement."
    return Figure(title, x_label, tuple(panels), note=note)


def _how(draws: int) -> str:
    return (
        f"Each of {draws} draws has {SIZE} held items of each user; recall@{CUT} inside it is the mean over users with "
        "a positive, full recall@K that over users with a positive among all held items. The paper draws curves and "
        "says of KuaiRec that Pearson's correlation is below 0.6 for K below 10 and above 0.9 for K above 100."
    )


TABLE = Table("fig1", "Recall inside a random sample against full recall@K", run, needs=(MOVIELENS, KUAIREC))
