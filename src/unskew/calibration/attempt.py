"""One evaluation: draw a world, and see how far its log is from the real one."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from unskew.blas import one_thread
from unskew.calibration.search_space import Parameters, Space
from unskew.calibration.suggest import Method, Tried, seeds_of, suggest
from unskew.errors import DataError
from unskew.simulators.likeness import STATISTICS, Statistics, divergences, measure
from unskew.simulators.preference_world import PreferenceWorld

LARGEST_LIKES = 15_000_000
"""Worlds in which more likes are to be expected are not drawn while calibrating: they take too long."""
PENALTY = 50.0
"""Divergence put down for a world that is not drawn; no real one comes near it."""
FLOOR = 1e-6
"""Divergences below it count as this much, so that a ratio to them is defined."""
STARTS, JOINT = "starts", "joint"


@dataclass(frozen=True)
class Trial:
    """What was tried, and how it came out."""

    kind: str  # of the world
    search: str  # ``starts``, a statistic, or ``joint``
    number: int  # place in that search, from 0
    parameters: Parameters
    divergences: dict[str, float]  # by statistic; a penalty for a world that could not be drawn
    refused: str = ""  # why it could not be drawn, or nothing

    def to_line(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> "Trial":
        """Read a line back; refuse what is not a whole line of a calibration."""
        try:
            trial = cls(**json.loads(line))
            if set(trial.divergences) != set(STATISTICS):
                raise KeyError("divergences")  # noqa: TRY301
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise DataError(f"not a line of a calibration: {line[:60]!r}") from error
        return trial


@dataclass(frozen=True)
class Task:
    """What to try next, to be worked out anywhere."""

    space: Space
    search: str
    number: int
    tried: Tried  # what the search knows
    seed: int
    method: Method
    largest: float = LARGEST_LIKES  # draw no world with more likes

    def run(self, real: Statistics) -> Trial:
        """Choose parameters, draw the world and compare it; a function of the task and the statistics alone."""
        with one_thread():
            method = "coarse" if self.search == STARTS else self.method
            parameters = suggest(self.space, self.tried, self.seed, self.search, self.number, method)
            rng = np.random.default_rng(seeds_of(self.seed, self.space.kind, self.search, self.number, "draw"))
            distances, refused = compare(self.space.world(parameters), real, rng, self.largest)
        return Trial(self.space.kind, self.search, self.number, parameters, distances, refused)


def compare(
    world: PreferenceWorld, real: Statistics, rng: np.random.Generator, largest: float = LARGEST_LIKES
) -> tuple[dict[str, float], str]:
    """Divergences of a log drawn from the world, and why it could not be drawn.

    A world that is too large, or in which nothing is observed, gets a penalty instead, which is finite and grows with
    its size, so that a search learns where not to look.
    """
    expected = world.expected_likes()
    if not expected <= largest:
        size = min(expected / largest, 1e6)
        return dict.fromkeys(STATISTICS, PENALTY * size), f"{expected:.3g} likes are to be expected"
    try:
        log = world.log(rng)
    except (DataError, MemoryError) as error:
        return dict.fromkeys(STATISTICS, PENALTY), str(error) or "out of memory"
    if not len(log):
        return dict.fromkeys(STATISTICS, PENALTY), "nothing is observed"
    return divergences(real, measure(log, rng, reference=real)), ""


def mean_ratio(values: Mapping[str, float], best: Mapping[str, float]) -> float:
    """Mean over the statistics of the divergence relative to the best."""
    return float(np.mean([max(values[each], FLOOR) / max(best[each], FLOOR) for each in STATISTICS]))


def value_of(trial: Trial, objective: str, best: Mapping[str, float]) -> float:
    """What a search makes small: the logarithm of a divergence, or of the mean ratio to the best.

    The logarithm has the same minimum. Divergences span some powers of ten, which a Gaussian process handles better so.
    """
    if objective == JOINT:
        return math.log(mean_ratio(trial.divergences, best))
    return math.log(max(trial.divergences[objective], FLOOR))
