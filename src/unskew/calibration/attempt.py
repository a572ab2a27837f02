"""`Trial`: one evaluation of a search, which draws a log of a world and compares it with the real one."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from unskew.blas import one_thread
from unskew.calibration.search_space import Parameters, Space
from unskew.calibration.suggest import Method, Tried, seeds_of, suggest
from unskew.data.formats.json_file import Each, Least, conform
from unskew.errors import DataError
from unskew.simulators.likeness import STATISTICS, Statistics, divergences, measure
from unskew.simulators.preference_world import PreferenceWorld

LARGEST_LIKES = 15_000_000
"""Worlds with a larger expected number of likes are not drawn while calibrating, because they take too long."""
PENALTY = 50.0
"""Divergence of a world that is not drawn; real divergences are far smaller."""
FLOOR = 1e-6
"""Smallest divergence; smaller ones are set to it, so that ratios are defined."""
STARTS, JOINT = "starts", "joint"


_SCHEMA = {
    "kind": str,
    "search": str,
    "number": Least(0),
    "parameters": Each(float),
    "divergences": dict.fromkeys(STATISTICS, float),
    "refused": str,
}


@dataclass(frozen=True)
class Trial:
    """The parameters that were tried, and the divergences of a log of that world."""

    kind: str  # of the world
    search: str  # ``starts``, a statistic, or ``joint``
    number: int  # place in that search, from 0
    parameters: Parameters
    divergences: dict[str, float]  # by statistic; a penalty for a world that could not be drawn
    refused: str = ""  # why it could not be drawn; empty if it was

    def to_line(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> "Trial":
        """Read a line back; refuse a line that is not a complete trial."""
        try:
            data = json.loads(line)
            conform(data, _SCHEMA, "not a line of a calibration", "")
        except (ValueError, RecursionError) as error:
            raise DataError(f"not a line of a calibration: {line[:60]!r}") from error
        return cls(**data)


@dataclass(frozen=True)
class Task:
    """The next trial of a search, which any process can run."""

    space: Space
    search: str
    number: int
    tried: Tried  # parameters and values that the search knows
    seed: int
    method: Method
    largest: float = LARGEST_LIKES  # draw no world with more likes

    def run(self, real: Statistics) -> Trial:
        """Choose parameters, draw the world and compare it; depends on the task and the statistics only."""
        with one_thread():
            method = "coarse" if self.search == STARTS else self.method
            parameters = suggest(self.space, self.tried, self.seed, self.search, self.number, method)
            rng = np.random.default_rng(seeds_of(self.seed, self.space.kind, self.search, self.number, "draw"))
            distances, refused = compare(self.space.world(parameters), real, rng, self.largest)
        return Trial(self.space.kind, self.search, self.number, parameters, distances, refused)


def compare(
    world: PreferenceWorld, real: Statistics, rng: np.random.Generator, largest: float = LARGEST_LIKES
) -> tuple[dict[str, float], str]:
    """Return the divergences of a log drawn from the world, and "" or the reason why it could not be drawn.

    A world that is too large, or in which nothing is observed, gets a finite penalty that grows with its size, so that
    a search learns to avoid such worlds.
    """
    expected = world.expected_likes()
    if not expected <= largest:
        size = min(expected / largest, 1e6)
        return dict.fromkeys(STATISTICS, PENALTY * size), f"{expected:.3g} likes are expected"
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
    """The value that a search minimises: the logarithm of a divergence, or of the mean ratio to the best.

    Divergences span several powers of ten, and a Gaussian process models their logarithm better. The minimum is the
    same.
    """
    if objective == JOINT:
        return math.log(mean_ratio(trial.divergences, best))
    return math.log(max(trial.divergences[objective], FLOOR))
