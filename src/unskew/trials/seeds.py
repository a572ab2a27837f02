"""Random streams of an error audit, other than those of its simulated runs."""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """The purpose of a random stream."""

    SAMPLE = 1  # users of the log that a world is calibrated to
    DIVERGENCES = 2  # a log of a given world, to compare with the user's
    WORKSHOP = 3  # the world in which stand-ins are fitted


def stream_of(seed: int, purpose: Purpose) -> np.random.Generator:
    """A generator that no simulated run uses."""
    # Run k draws from (seed, k) and its models from (seed, k, 1). Stand-ins fitted in the world of run 3, as a plain
    # (seed, 3) would have it, would be judged there on what they were fitted to. A spawn key is never such a pair.
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))
