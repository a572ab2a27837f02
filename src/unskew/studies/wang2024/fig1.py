"""Figure 1: recall inside a sample orders models by recall far down the full list, not at its top."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean, kendall
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.correlations import INNER, SIZE, Truth, inner_recall, pearson, truths
from unskew.studies.wang2024.variants import told
from unskew.studies.wang2024.worlds import KUAIREC, MOVIELENS

CUT = 5
"""K-bar."""
TOP = (1, 5)
"""Cut-offs of the full list that a user of the system sees."""
HIGH, ERRORS = 0.9, 3.0
"""A correlation above this is high; a difference of so many standard errors over draws is told."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Correlations of recall@5 in the sample with full recall@K.

    Parameters
    ----------
    truth : Truth
    inner : array (draws, models)
        Recall@5 in the sample.
    """

    truth: Truth
    inner: Floats

    @cached_property
    def pearson(self) -> Floats:
        """An array (draws, L)."""
        return np.nan_to_num(pearson(self.inner, self.truth.macro))

    @cached_property
    def kendall(self) -> Floats:
        """An array (draws, L)."""
        return np.nan_to_num(kendall(self.inner, self.truth.macro))

    @property
    def predicted(self) -> int:
        """The cut-off of the full list that theorem 1 pairs with that of the sample."""
        return matched(self.truth, CUT, SIZE)


def matched(truth: Truth, inner: int, size: int) -> int:
    """K = K-bar L / N-bar, rounded."""
    return max(1, round(inner * truth.population / size))


def run(context: Context) -> Findings:
    """The figure on each world at hand."""
    found = [Curves(truth, inner_recall(context, truth, SIZE)[:, :, INNER.index(CUT)]) for truth in truths(context)]
    return Findings(
        cells=tuple(cell for curves in found for cell in _cells(curves)),
        claims=tuple(claim for curves in found for claim in claims(curves, judged=not context.fast)),
        figures=(_correlations(found), _orders(found)),
        notes=(*(curves.truth.log.world.told for curves in found), told(context), _how(found)),
    )


def cut_offs(largest: int, points: int = 60) -> list[int]:
    """Whole numbers from 1 to `largest`, even on a logarithmic axis."""
    return [int(k) for k in np.unique(np.rint(np.geomspace(1, largest, points)))]


def _cells(curves: Curves) -> Iterator[ReproducedCell]:
    largest = len(curves.truth.macro)
    for k in sorted({k for k in (1, 5, 10, 30, 100, 300, curves.predicted) if k < largest}):
        note = "as theorem 1 pairs it with 5 in the sample" if k == curves.predicted else ""
        for name, values in (("Pearson", curves.pearson), ("Kendall", curves.kendall)):
            mean, data = Mean.of(values[:, k - 1]), curves.truth.log.world.name
            yield ReproducedCell(f"full recall@{k}", name, data, None, mean.value, mean.spread, note=note)


def claims(curves: Curves, *, judged: bool = True) -> Iterator[Claim]:
    """What the paper says of the figure, on this world.

    Parameters
    ----------
    curves : Curves
    judged : bool
        False where there are too few models.
    """
    name, far = curves.truth.log.world.name, curves.predicted
    there = curves.pearson[:, far - 1]
    yield Claim(
        f"{name}: recall@{CUT} in samples of {SIZE} goes with full recall@K where K = {CUT} L / {SIZE} (Pearson above "
        f"{HIGH:g})",
        bool(there.mean() > HIGH) if judged else None,
        f"K = {far}: Pearson {there.mean():.3f}, Kendall {curves.kendall[:, far - 1].mean():.3f}",
    )
    gaps = {k: Mean.of((curves.kendall[:, [far - 1]] - curves.kendall[:, [k - 1]]).ravel()) for k in TOP}
    yield Claim(
        f"{name}: it orders models less well by recall at the top, K = 1 and 5, than at that K (Kendall; more than "
        f"{ERRORS:g} s.e. over draws)",
        all(gap.value > ERRORS * (gap.error or 0) for gap in gaps.values()) if judged else None,
        "; ".join(
            f"K = {k}: Pearson {curves.pearson[:, k - 1].mean():.3f}, Kendall {curves.kendall[:, k - 1].mean():.3f}, "
            f"lower by {gap.value:.3f} ± {gap.error or 0:.3f}"
            for k, gap in gaps.items()
        ),
    )


def _correlations(found: list[Curves]) -> Figure:
    panels = []
    for curves in found:
        ks = cut_offs(curves.truth.shortest - 1)
        lines = [
            band(name, ks, values[:, np.array(ks) - 1])
            for name, values in (("Pearson", curves.pearson), ("Kendall", curves.kendall))
        ]
        panels.append(Panel(f"{curves.truth.log.world.name} (5 L / l = {curves.predicted})", tuple(lines)))
    return Figure(
        f"Correlation of recall@{CUT} in samples of {SIZE} with full recall@K, over the variants",
        "K of the full list",
        tuple(panels),
        log_x=True,
        note="Means over draws of the sample; bands hold the middle 90 % of the draws.",
    )


def band(name: str, x: list[int], values: Floats, *, naive: bool = False) -> Series:
    """The mean over draws (rows), and where the middle nine tenths of the draws are."""
    low, high = np.quantile(values, [0.05, 0.95], axis=0)
    mean, low, high = (tuple(float(v) for v in column) for column in (values.mean(axis=0), low, high))
    return Series(name, tuple(float(k) for k in x), mean, low, high, naive=naive)


def _orders(found: list[Curves]) -> Figure:
    """The place of each variant by full recall over its place by recall in the sample."""
    panels = []
    for curves in found:
        order = np.argsort(-curves.inner.mean(axis=0), kind="stable")
        x = np.arange(1, len(order) + 1)
        lines = []
        for k in (1, CUT, curves.predicted):
            place = np.empty(len(order))
            place[np.argsort(-curves.truth.macro[k - 1], kind="stable")] = x
            mine = [float(v) for v in place[order]]
            lines.append(Series.of(f"full recall@{k}", x.tolist(), mine, [0.0] * len(mine)))
        panels.append(Panel(curves.truth.log.world.name, tuple(lines)))
    return Figure(
        "Place of each variant by full recall (1 is best)",
        f"place by recall@{CUT} in the sample",
        tuple(panels),
        note="Recall in the sample is the mean over draws. A straight line would be agreement.",
    )


def _how(found: list[Curves]) -> str:
    draws = len(found[0].inner)
    return (
        f"Each of {draws} draws has {SIZE} held items of each user; recall@{CUT} inside it is the mean over users with "
        "a positive, full recall@K that over users with a positive among all held items. The paper draws curves and "
        "says of KuaiRec that Pearson's correlation is below 0.6 for K below 10 and above 0.9 for K above 100."
    )


TABLE = Table("fig1", "Recall inside a random sample against full recall@K", run, needs=(MOVIELENS, KUAIREC))
