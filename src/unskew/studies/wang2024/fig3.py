"""Figure 3: the cut-off at which recall inside a sample speaks of the full list, and how well it does there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean, kendall
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.correlations import (
    FAST_SIZES,
    INNER,
    SIZE,
    SIZES,
    Truth,
    inner_recall,
    truths,
)
from unskew.studies.wang2024.fig1 import CUT, matched
from unskew.studies.wang2024.fig3_words import claims, notes
from unskew.studies.wang2024.worlds import KUAIREC, MOVIELENS

CUTS = (1, 2, 5, 10, 20)
"""K-bar, where that varies."""
PART = 10
"""K-bar is a tenth of N-bar, where the part of the list is kept."""
RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class Peak:
    """Where and how well recall@K-bar in samples of N-bar goes with full recall.

    Parameters
    ----------
    inner, size : int
        K-bar and N-bar.
    predicted : int
        K-bar L / N-bar.
    taus : array (draws, L)
        Kendall's tau-b with full recall@K in each draw.
    resampled : array (resamples, draws)
        Weights of draws in bootstrap resamples.
    """

    inner: int
    size: int
    predicted: int
    taus: Floats
    resampled: Floats

    @cached_property
    def curve(self) -> Floats:
        """The mean over draws at each K."""
        return np.asarray(self.taus.mean(axis=0))

    @cached_property
    def at(self) -> float:
        """K_max: where the mean over draws is greatest; the geometric mean of the Ks where several share it."""
        return float(_greatest(self.curve[None])[0])

    @cached_property
    def places(self) -> Floats:
        """K_max in bootstrap resamples of the draws."""
        return _greatest(self.resampled @ self.taus)

    @cached_property
    def best(self) -> Floats:
        """The tau of each draw at K_max."""
        return np.asarray(self.taus[:, int(np.argmax(self.curve))])

    @cached_property
    def height(self) -> Mean:
        """The greatest mean tau."""
        return Mean.of(self.best)

    @cached_property
    def foretold(self) -> Mean:
        """The mean tau at the K that was predicted."""
        return Mean.of(self.taus[:, self.predicted - 1])

    @property
    def ratio(self) -> float:
        """K_max over what was predicted."""
        return self.at / self.predicted


@dataclass(frozen=True, eq=False)
class Peaks:
    """Those of one world.

    Parameters
    ----------
    truth : Truth
    by_size : tuple of Peak
        N-bar grows, K-bar is 5.
    by_inner : tuple of Peak
        K-bar grows, N-bar is 80.
    by_part : tuple of Peak
        N-bar grows and K-bar is a tenth of it, so that K-bar L / N-bar stays.
    """

    truth: Truth
    by_size: tuple[Peak, ...]
    by_inner: tuple[Peak, ...]
    by_part: tuple[Peak, ...]

    @property
    def name(self) -> str:
        """Of the world."""
        return self.truth.log.world.name

    @property
    def all(self) -> tuple[Peak, ...]:
        """Each setting once."""
        return (*self.by_size, *(peak for peak in self.by_inner if peak.inner != CUT))


def run(context: Context) -> Findings:
    """The figure on each world at hand."""
    found = [measure(context, truth) for truth in truths(context)]
    return Findings(
        cells=tuple(cell for peaks in found for cell in _cells(peaks)),
        claims=tuple(claim for peaks in found for claim in claims(peaks, judged=not context.fast)),
        figures=tuple(_figures(found)),
        notes=tuple(notes(found, context)),
    )


def measure(context: Context, truth: Truth) -> Peaks:
    """All peaks of a world."""
    sizes = FAST_SIZES if context.fast else SIZES
    return Peaks(
        truth,
        tuple(_peak(context, truth, CUT, size) for size in sizes),
        tuple(_peak(context, truth, inner, SIZE) for inner in CUTS),
        tuple(_peak(context, truth, size // PART, size) for size in sizes),
    )


def _peak(context: Context, truth: Truth, inner: int, size: int) -> Peak:
    values = inner_recall(context, truth, size)[:, :, INNER.index(inner)]
    draws = len(values)
    rng = context.rng("wang2024", "fig3", truth.log.world.name, inner, size)
    weights = rng.multinomial(draws, np.full(draws, 1 / draws), size=RESAMPLES) / draws
    taus = np.nan_to_num(kendall(values, truth.macro), nan=-1.0)  # where all models tie, nothing is told
    return Peak(inner, size, matched(truth, inner, size), taus, weights)


def _greatest(curves: Floats) -> Floats:
    """Where each row is greatest, from 1; the geometric mean of the places that share it."""
    ks = np.log(np.arange(1, curves.shape[1] + 1))
    shared = curves >= curves.max(axis=1, keepdims=True) - 1e-12
    return np.asarray(np.exp((shared * ks).sum(axis=1) / shared.sum(axis=1)))


def _cells(peaks: Peaks) -> Iterator[ReproducedCell]:
    for peak in peaks.all:
        row = f"recall@{peak.inner} in samples of {peak.size}"
        yield ReproducedCell(row, "K_max", peaks.name, None, peak.at, float(peak.places.std()))
        yield ReproducedCell(row, "K-bar L / N-bar", peaks.name, None, float(peak.predicted))
        yield ReproducedCell(row, "greatest tau", peaks.name, None, peak.height.value, peak.height.spread)
    for peak in peaks.by_part:
        row = f"recall@{peak.inner} in samples of {peak.size}"
        yield ReproducedCell(row, f"tau at K = L / {PART}", peaks.name, None, peak.foretold.value, peak.foretold.spread)


def _figures(found: Sequence[Peaks]) -> Iterator[Figure]:
    bands = "Bands: 95 % of bootstrap resamples of the draws."
    yield Figure(
        f"(a) K_max of recall@{CUT} in the sample",
        "N-bar, items in the sample",
        tuple(Panel(peaks.name, _lines(peaks.by_size, [peak.size for peak in peaks.by_size])) for peaks in found),
        log_x=True,
        log_y=True,
        note=bands,
    )
    yield Figure(
        f"(b) K_max in samples of {SIZE}",
        "K-bar, the cut-off in the sample",
        tuple(Panel(peaks.name, _lines(peaks.by_inner, [peak.inner for peak in peaks.by_inner])) for peaks in found),
        log_x=True,
        log_y=True,
        note=bands,
    )
    yield Figure(
        "(c) Kendall tau of recall in the sample with full recall",
        "N-bar, items in the sample",
        tuple(Panel(peaks.name, _heights(peaks)) for peaks in found),
        log_x=True,
        note="Means over draws; bands are 1.96 standard errors to both sides.",
    )


def _lines(peaks: Sequence[Peak], x: Sequence[int]) -> tuple[Series, ...]:
    places = tuple(float(each) for each in x)
    ends = [np.quantile(peak.places, [0.025, 0.975]) for peak in peaks]
    low, high = (tuple(float(end[side]) for end in ends) for side in (0, 1))
    foretold = [float(peak.predicted) for peak in peaks]
    return (
        Series("K_max", places, tuple(peak.at for peak in peaks), low, high),
        Series.of("K-bar L / N-bar", places, foretold, [0.0] * len(x), naive=True),
    )


def _heights(peaks: Peaks) -> tuple[Series, ...]:
    sizes = [peak.size for peak in peaks.by_size]
    return (
        _means(f"K-bar = {CUT}, at K_max", sizes, [peak.height for peak in peaks.by_size]),
        _means(f"K-bar = N-bar / {PART}, at K = L / {PART}", sizes, [peak.foretold for peak in peaks.by_part]),
    )


def _means(name: str, x: Sequence[int], means: Sequence[Mean]) -> Series:
    return Series.of(name, x, [mean.value for mean in means], [mean.error or 0.0 for mean in means])


TABLE = Table("fig3", "The full cut-off that recall inside a sample speaks of", run, needs=(MOVIELENS, KUAIREC))
