"""What the peaks of figure 3 say, worked out from their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.variants import told

if TYPE_CHECKING:
    from unskew.studies.wang2024.fig3 import Peak, Peaks

FACTOR, SURE, ERRORS = 2.0, 0.975, 3.0
"""K_max is near what is predicted within this factor; a step is sure in so many resamples, or by so many s.e."""


def notes(found: Sequence["Peaks"], context: Context) -> Iterator[str]:
    """How it was done."""
    for peaks in found:
        yield peaks.truth.log.world.told
    yield told(context)
    yield (
        f"{len(found[0].by_size[0].taus)} draws of each size. K_max is the K from 1 to L at which Kendall's tau-b of "
        "recall in the sample with full recall@K, over the variants, has the greatest mean over draws. N is L, the "
        "number of a user's held items: the samples are drawn from them. The rules of the claims were fixed before "
        f"the numbers were seen: near is within a factor {FACTOR:g}; falling (rising) means that the ends differ so in "
        f"{SURE:.1%} of bootstrap resamples of the draws and no step goes the other way in as many; tau grows when the "
        f"ends differ by {ERRORS:g} standard errors and no step falls by as many. The last claim, with K-bar "
        "in proportion to N-bar, was added after the others had been seen."
    )


def claims(peaks: "Peaks", *, judged: bool = True) -> Iterator[Claim]:
    """The paper's, on this world.

    Parameters
    ----------
    peaks : Peaks
    judged : bool
        False where there are too few models.
    """
    for claim, holds, evidence in (_near(peaks), _falls(peaks), _rises(peaks), _grows(peaks), _grows_in_place(peaks)):
        yield Claim(f"{peaks.name}: {claim}", holds if judged else None, evidence)


def _near(peaks: "Peaks") -> tuple[str, bool, str]:
    holds = all(1 / FACTOR <= peak.ratio <= FACTOR for peak in peaks.all)
    told_ = "; ".join(f"K-bar {p.inner}, N-bar {p.size}: {p.at:.0f} for {p.predicted}" for p in peaks.all)
    return f"K_max is within a factor {FACTOR:g} of K-bar L / N-bar in every setting", holds, told_


def _falls(peaks: "Peaks") -> tuple[str, bool, str]:
    places = [peak.places for peak in peaks.by_size]
    return "K_max falls with N-bar", _sure(places[::-1]), _course(peaks.by_size)


def _rises(peaks: "Peaks") -> tuple[str, bool, str]:
    places = [peak.places for peak in peaks.by_inner]
    return "K_max rises with K-bar", _sure(places), _course(peaks.by_inner)


def _sure(places: Sequence[Floats]) -> bool:
    """Whether K_max surely rises from first to last, and surely falls in no step."""
    ends = np.mean(places[-1] > places[0]) >= SURE
    return bool(ends and not any(np.mean(after < before) >= SURE for before, after in pairwise(places)))


def _grows(peaks: "Peaks") -> tuple[str, bool, str]:
    means = {peak.size: peak.height for peak in peaks.by_size}
    return "the greatest tau grows with N-bar, K-bar being 5", _grow(list(means.values())), _heights(means)


def _grows_in_place(peaks: "Peaks") -> tuple[str, bool, str]:
    means = {peak.size: peak.foretold for peak in peaks.by_part}
    claim = "ours, not the paper's: where K-bar grows with N-bar, so that K stays at a tenth of L, tau there grows"
    return claim, _grow(list(means.values())), _heights(means)


def _grow(means: Sequence[Mean]) -> bool:
    """Whether they surely rise from first to last, and surely fall in no step; the draws are independent."""
    steps = [_step(before, after) for before, after in pairwise(means)]
    return _step(means[0], means[-1]) > ERRORS and min(steps) > -ERRORS


def _step(before: Mean, after: Mean) -> float:
    """How much a mean rises, in standard errors."""
    return (after.value - before.value) / max(float(np.hypot(before.error or 0.0, after.error or 0.0)), 1e-12)


def _heights(means: Mapping[int, Mean]) -> str:
    return ", ".join(f"{mean.value:.3f} ± {mean.error or 0:.3f} at {size}" for size, mean in means.items())


def _course(peaks: Sequence["Peak"]) -> str:
    ends = [np.quantile(peak.places, [0.025, 0.975]) for peak in peaks]
    return "; ".join(
        f"K-bar {peak.inner}, N-bar {peak.size}: {peak.at:.0f} ({low:.0f} to {high:.0f})"
        for peak, (low, high) in zip(peaks, ends, strict=True)
    )
