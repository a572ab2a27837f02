"""Figure 3: the K at which recall inside a sample agrees best with full recall@K, and how well it does there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.wang2024.fig1 import CUT, correlations, how_judged, matched
from unskew.studies.wang2024.full_recall import DRAWS, INNER, SIZE, Truth, describe_apart, inner_recall, truths
from unskew.studies.wang2024.models import describe_variants
from unskew.studies.wang2024.resampling import Correlation, resampled, rises
from unskew.studies.wang2024.worlds import NEEDS, LabelledWorld, without_kuairec

SIZES = Size[tuple[int, ...]]((10, 20, 40, 80, 160), (10, 20, 40, 80))
"""N-bar, where that varies."""
PART = 10
"""K-bar is a tenth of N-bar, where the part of the list is kept."""
FACTOR = 2.0
"""K_max is near its prediction within this factor."""


@dataclass(frozen=True, eq=False)
class Peak:
    """Where and how well recall@K-bar in samples of N-bar goes with full recall, by a correlation over the models."""

    inner: int  # K-bar
    size: int  # N-bar
    predicted: int  # K-bar L / N-bar
    at: float  # K_max: where the mean over draws is greatest; the geometric mean of the Ks where several share it
    places: Floats  # K_max in resamples of variants and draws
    ends: tuple[float, float]  # the middle 95 % of these
    height: Mean  # the greatest mean
    at_predicted: Mean  # the mean at the K that was predicted
    again: Mapping[str, Floats]  # these two in the resamples, by their name

    @classmethod
    def of(cls, inner: int, size: int, predicted: int, values: Floats, again: Floats) -> "Peak":
        """From correlations with full recall@K (draws, L), and their means over draws in resamples (resamples, L)."""
        curve, places = values.mean(axis=0), greatest(again)
        at = float(greatest(curve[None])[0])
        low, high = np.quantile(places, [0.025, 0.975])
        height, at_predicted = (Mean.of(values[:, place]) for place in (int(np.argmax(curve)), predicted - 1))
        heights = {"height": again.max(axis=1), "at_predicted": again[:, predicted - 1]}
        return cls(inner, size, predicted, at, places, (float(low), float(high)), height, at_predicted, heights)

    @property
    def near(self) -> bool:
        """Whether K_max is near its prediction."""
        return 1 / FACTOR <= self.at / self.predicted <= FACTOR

    def __str__(self) -> str:
        return f"K-bar {self.inner}, N-bar {self.size}"


@dataclass(frozen=True, eq=False)
class Peaks:
    """The peaks of one world."""

    world: LabelledWorld
    by_size: tuple[Peak, ...]  # N-bar grows, K-bar is 5; Pearson
    by_inner: tuple[Peak, ...]  # K-bar grows, N-bar is 80; Pearson
    taus: tuple[Peak, ...]  # N-bar grows, K-bar is 5; Kendall
    by_part: tuple[Peak, ...]  # N-bar grows and K-bar is a tenth of it, so that K-bar L / N-bar stays; Kendall

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.world.name

    @property
    def all(self) -> tuple[Peak, ...]:
        """Each setting once."""
        return (*self.by_size, *(peak for peak in self.by_inner if peak.inner != CUT))


def run(context: Context, worlds: Sequence[Truth] | None = None) -> Findings:
    """The figure of the models of some worlds, or of all that are available."""
    worlds = truths(context) if worlds is None else worlds
    peaks = [measure(context, truth) for truth in worlds]
    how = (
        f"{context.size(DRAWS)} draws of each size. K_max is the K from 1 to L at which Pearson's correlation of "
        "recall in the sample with full recall@K, over the variants, has the greatest mean over draws; (c) has "
        "Kendall's tau-b, both as in the paper. L is the number of a user's held items, which the samples are drawn "
        f"from. Near is within a factor {FACTOR:g}. Something rises (falls) when it is higher (lower) at the last "
        "setting than at the first, and goes the other way in no step. The last claim, with K-bar in proportion to "
        "N-bar, was added after the others had been seen."
    )
    return Findings(
        cells=tuple(cell for each in peaks for cell in _cells(each)),
        claims=tuple(claim for each in peaks for claim in _claims(each)),
        figures=tuple(_figures(peaks)),
        notes=(
            *without_kuairec(context),
            *(truth.log.world.description for truth in worlds),
            describe_variants(context),
            describe_apart(worlds),
            how,
            how_judged(context),
        ),
    )


def measure(context: Context, truth: Truth) -> Peaks:
    """All peaks of a world."""

    def peak(inner: int, size: int, kind: Correlation) -> Peak:
        values = inner_recall(context, truth, size)[:, :, INNER.index(inner)]
        again = resampled(context, truth, values, kind)
        return Peak.of(inner, size, matched(truth, inner, size), correlations(values, truth)[kind], again)

    sizes = context.size(SIZES)
    return Peaks(
        truth.log.world,
        tuple(peak(CUT, size, "Pearson") for size in sizes),
        tuple(peak(inner, SIZE, "Pearson") for inner in (1, 2, 5, 10, 20)),
        tuple(peak(CUT, size, "Kendall") for size in sizes),
        tuple(peak(size // PART, size, "Kendall") for size in sizes),
    )


def greatest(curves: Floats) -> Floats:
    """Where each row is greatest, from 1; the geometric mean of the places that share it."""
    ks = np.log(np.arange(1, curves.shape[1] + 1))
    shared = curves >= curves.max(axis=1, keepdims=True) - 1e-12
    return np.asarray(np.exp((shared * ks).sum(axis=1) / shared.sum(axis=1)))


def _cells(peaks: Peaks) -> Iterator[ReproducedCell]:
    for peak in peaks.all:
        row = f"recall@{peak.inner} in samples of {peak.size}"
        yield ReproducedCell(row, "K_max", peaks.name, None, peak.at, float(peak.places.std()))
        yield cell(row, "K-bar L / N-bar", peaks.name, peak.predicted)
        yield cell(row, "greatest Pearson", peaks.name, peak.height)
    for peak in peaks.taus:
        yield cell(f"recall@{peak.inner} in samples of {peak.size}", "greatest tau", peaks.name, peak.height)
    for peak in peaks.by_part:
        row = f"recall@{peak.inner} in samples of {peak.size}"
        yield cell(row, f"tau at K = L / {PART}", peaks.name, peak.at_predicted)


def _claims(peaks: Peaks) -> Iterator[Claim]:
    """The paper's claims, and one of ours."""
    near = all(peak.near for peak in peaks.all)
    distances = "; ".join(
        f"{peak}: {peak.at:.0f} for {peak.predicted} (r {peak.height.value:.3f} and {peak.at_predicted.value:.3f})"
        for peak in peaks.all
    )
    verdicts = {
        (f"K_max is within a factor {FACTOR:g} of K-bar L / N-bar in every setting", "Fig. 3a, 3b"): (near, distances),
        ("K_max falls with N-bar", "Fig. 3a"): (
            rises([peak.places for peak in peaks.by_size[::-1]]),
            _course(peaks.by_size),
        ),
        ("K_max rises with K-bar", "Fig. 3b"): (
            rises([peak.places for peak in peaks.by_inner]),
            _course(peaks.by_inner),
        ),
        ("the greatest tau grows with N-bar, K-bar being 5", "Fig. 3c"): (_grows(peaks.taus, "height")),
        ("where K-bar grows with N-bar, so that K stays at a tenth of L, tau there grows", ""): (
            _grows(peaks.by_part, "at_predicted")
        ),
    }
    return (
        claim(f"{peaks.name}: {text}", verdict, section=peaks.world.section(section))
        for (text, section), verdict in verdicts.items()
    )


def _course(peaks: Sequence[Peak]) -> str:
    return "; ".join(f"{peak}: {peak.at:.0f} ({peak.ends[0]:.0f} to {peak.ends[1]:.0f})" for peak in peaks)


def _grows(peaks: Sequence[Peak], name: str) -> Verdict:
    """Whether the greatest tau, or that at the predicted K, grows with N-bar."""
    again = {peak.size: peak.again[name] for peak in peaks}
    parts = []
    for peak, values in zip(peaks, again.values(), strict=True):
        low, high = np.quantile(values, [0.025, 0.975])
        parts.append(f"{getattr(peak, name).value:.3f} ({low:.2f} to {high:.2f}) at {peak.size}")
    return rises(list(again.values())), ", ".join(parts)


def _figures(worlds: Sequence[Peaks]) -> Iterator[Figure]:
    bands = "Bands: 95 % of the resamples of variants and draws."
    title, x = f"(a) K_max of recall@{CUT} in the sample", "N-bar, items in the sample"
    panels = (Panel(each.name, _lines(each.by_size, [peak.size for peak in each.by_size])) for each in worlds)
    yield Figure(title, x, tuple(panels), log_x=True, log_y=True, note=bands)
    title, x = f"(b) K_max in samples of {SIZE}", "K-bar, the cut-off in the sample"
    panels = (Panel(each.name, _lines(each.by_inner, [peak.inner for peak in each.by_inner])) for each in worlds)
    yield Figure(title, x, tuple(panels), log_x=True, log_y=True, note=bands)
    title, x = "(c) Kendall tau of recall in the sample with full recall", "N-bar, items in the sample"
    note = "Means over draws; bands are 1.96 standard errors to both sides."
    yield Figure(title, x, tuple(Panel(each.name, _heights(each)) for each in worlds), log_x=True, note=note)


def _lines(peaks: Sequence[Peak], x: Sequence[int]) -> tuple[Series, ...]:
    low, high = zip(*(peak.ends for peak in peaks), strict=True)
    return (
        Series("K_max", tuple(map(float, x)), tuple(peak.at for peak in peaks), low, high),
        Series.exact("K-bar L / N-bar", x, [peak.predicted for peak in peaks], naive=True),
    )


def _heights(peaks: Peaks) -> tuple[Series, ...]:
    lines = {
        f"K-bar = {CUT}, at its greatest": [peak.height for peak in peaks.taus],
        f"K-bar = N-bar / {PART}, at K = L / {PART}": [peak.at_predicted for peak in peaks.by_part],
    }
    sizes = [peak.size for peak in peaks.taus]
    return tuple(
        Series.of(name, sizes, [mean.value for mean in means], [mean.error or 0.0 for mean in means])
        for name, means in lines.items()
    )


TABLE = Table("fig3", "The K at which recall inside a sample agrees best with full recall@K", run, needs=NEEDS)
