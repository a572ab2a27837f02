"""Figure 5: the unbiased estimate at K orders models by full recall at K."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import kendall
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.correlations import INNER, SIZE, inner_recall, right_pairs, truths
from unskew.studies.wang2024.estimates import Estimates, estimates
from unskew.studies.wang2024.fig1 import cut_offs
from unskew.studies.wang2024.fig5_words import claims, notes
from unskew.studies.wang2024.strata import FORMS, MEAN, MONOTONE
from unskew.studies.wang2024.worlds import KUAIREC, MOVIELENS

KS = (1, 5, 10, 30, 100, 300, 1000)
APART = 0.1
"""Models whose recall differs by this share or more should be told apart."""
INSIDE = (1, 5)
"""K-bar of the recalls inside the sample that it is compared with."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Kendall's tau-b with full recall, over the models of a world.

    Parameters
    ----------
    mine : Estimates
    inner : array (draws, models, K-bars)
        Recall inside the sample.
    """

    mine: Estimates
    inner: Floats

    @property
    def name(self) -> str:
        """Of the world."""
        return self.mine.truth.log.world.name

    @cached_property
    def ks(self) -> tuple[int, ...]:
        """The cut-offs of the figure that the population has."""
        return tuple(k for k in KS if k in self.mine.ks)

    def curve(self, form: str, k: int) -> Floats:
        """Tau of the estimate at k with full recall at every cut-off, an array (draws, L)."""
        return np.nan_to_num(kendall(self.mine.at(form, k), self.mine.truth.of_form(form)), nan=-1.0)

    def tau(self, form: str, k: int) -> Floats:
        """Tau of the estimate at k with full recall at k, one a draw."""
        return kendall(self.mine.at(form, k), self.mine.truth.of_form(form)[[k - 1]])[:, 0]

    def inside(self, inner: int, k: int) -> Floats:
        """Tau of recall@K-bar in the sample with full recall at k, one a draw."""
        return kendall(self.inner[:, :, INNER.index(inner)], self.mine.truth.macro[[k - 1]])[:, 0]

    def right(self, form: str, k: int) -> Floats:
        """The share of pairs in the right order, of those whose full recall at k differs by a tenth, one a draw."""
        return right_pairs(self.mine.at(form, k), self.mine.truth.of_form(form)[k - 1], APART)

    def right_inside(self, inner: int, k: int) -> Floats:
        """The same by recall@K-bar in the sample."""
        return right_pairs(self.inner[:, :, INNER.index(inner)], self.mine.truth.macro[k - 1], APART)

    def peak(self, form: str, k: int) -> float:
        """Where the mean over draws of the curve is greatest; the geometric mean where several share it."""
        curve = self.curve(form, k).mean(axis=0)
        best = np.flatnonzero(curve >= curve.max() - 1e-12) + 1
        return float(np.exp(np.log(best).mean()))


def run(context: Context) -> Findings:
    """The figure on each world at hand."""
    found = [Agreement(estimates(context, truth), inner_recall(context, truth, SIZE)) for truth in truths(context)]
    return Findings(
        cells=tuple(cell for each in found for cell in _cells(each)),
        claims=tuple(claim for each in found for claim in claims(each, judged=not context.fast)),
        figures=(_by_cut_off(found), *(_curves(each) for each in found)),
        notes=tuple(notes(found, context)),
    )


def _cells(each: Agreement) -> Iterator[ReproducedCell]:
    for k in each.ks:
        row = f"tau with full recall@{k}"
        for inner in INSIDE:
            yield _cell(row, f"recall@{inner} in the sample", each.name, each.inside(inner, k))
        for form in FORMS:
            yield _cell(row, form, each.name, each.tau(form, k))
    for k in each.ks:
        if np.isnan(each.right(FORMS[0], k)).any():
            continue  # no pair differs so much
        row = f"pairs in the right order at K = {k}"
        for inner in INSIDE:
            yield _cell(row, f"recall@{inner} in the sample", each.name, each.right_inside(inner, k))
        for form in FORMS:
            yield _cell(row, form, each.name, each.right(form, k))
    for k in each.ks:
        for form in FORMS:
            yield ReproducedCell(f"where the curve of K = {k} peaks", form, each.name, None, each.peak(form, k))


def _cell(row: str, column: str, data: str, taus: Floats) -> ReproducedCell:
    return ReproducedCell(row, column, data, None, float(np.median(taus)), float(taus.std(ddof=1)))


def _by_cut_off(found: Sequence[Agreement]) -> Figure:
    panels = []
    for each in found:
        lines = [_line(form, each.ks, [each.tau(form, k) for k in each.ks]) for form in (MEAN, MONOTONE)]
        lines += [
            _line(f"recall@{inner} in the sample", each.ks, [each.inside(inner, k) for k in each.ks], naive=True)
            for inner in INSIDE
        ]
        panels.append(Panel(each.name, tuple(lines)))
    return Figure(
        "Kendall tau with full recall@K, over the variants",
        "K",
        tuple(panels),
        log_x=True,
        note="Medians over draws; bands hold the middle 90 % of the draws.",
    )


def _curves(each: Agreement) -> Figure:
    """One line for each K, over all cut-offs of full recall; one panel a form."""
    grid = cut_offs(each.mine.truth.shortest - 1)
    panels = [
        Panel(
            form,
            tuple(
                _line(f"K = {k}", grid, list(each.curve(form, k)[:, np.array(grid) - 1].T), banded=False)
                for k in each.ks
            ),
        )
        for form in (MEAN, MONOTONE)
    ]
    return Figure(
        f"{each.name}: Kendall tau of the estimate at K with full recall",
        "cut-off of full recall",
        tuple(panels),
        log_x=True,
        note="Medians over draws.",
    )


def _line(name: str, x: Sequence[int], values: Sequence[Floats], *, naive: bool = False, banded: bool = True) -> Series:
    middle = [float(np.median(each)) for each in values]
    sides = (0.05, 0.95) if banded else (0.5, 0.5)
    low, high = (tuple(float(np.quantile(each, side)) for each in values) for side in sides)
    return Series(name, tuple(float(k) for k in x), tuple(middle), low, high, naive=naive)


TABLE = Table("fig5", "Unbiased recall at K against full recall", run, needs=(MOVIELENS, KUAIREC))
