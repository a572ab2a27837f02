"""The world in which an error audit runs: calibrated to the log, read from a file, or given."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.data import Interactions
from unskew.errors import DataError
from unskew.evaluation.error.depths import Plan
from unskew.evaluation.error.streams import Purpose, stream_of
from unskew.evaluation.stages import Stage
from unskew.simulators import PreferenceWorld

LEAST_USERS = 50
"""A world is not made smaller than this."""


@dataclass(frozen=True)
class Likened:
    """A world that is to be like a log, and how it was found.

    Parameters
    ----------
    world : PreferenceWorld
        With the users that are simulated.
    kind : str
    how : str
        ``a Gaussian process``, ``a coarse quasi-random search``, ``saved parameters`` or ``given``.
    evaluations : int
        How many worlds were tried.
    divergences : dict or None
        K-L divergence of the log from the world for each of the four statistics; None when the log is too small to
        have them.
    loss : float or None
        Mean of the divergences relative to those of a world taken at random from the space that was searched, minus 1:
        -1 would be a perfect copy. None where nothing was searched.
    log_users : int
        Users of the log.
    notes : tuple of str
    """

    world: PreferenceWorld
    kind: str
    how: str
    evaluations: int
    divergences: dict[str, float] | None
    loss: float | None
    log_users: int
    notes: tuple[str, ...] = ()

    @property
    def users(self) -> int:
        """How many are simulated."""
        return self.world.users

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "word": str(self.world),
            "kind": self.kind or None,
            "how": self.how,
            "evaluations": self.evaluations,
            "divergences": self.divergences,
            "loss": self.loss,
            "users": self.users,
            "log_users": self.log_users,
        }


def liken(
    log: Interactions, holdout: float, plan: Plan, *, seed: int, threads: int | None, progress: Stage | None
) -> Likened:
    """Find the world.

    Parameters
    ----------
    log : Interactions
        All rows, held out or not.
    holdout : float
        Share of them that is held out.
    plan : Plan
    seed, threads, progress
        As in an audit.

    Raises
    ------
    DataError
        When the log is too small to calibrate a world to.
    """
    users = int(np.count_nonzero(log.user_counts))
    sample = _sample(log, plan.depth.rows, seed)
    if plan.given is None:
        found = _calibrated(sample, users, plan, seed, threads, progress)
    else:
        found = _given(plan, sample, users, seed)
    world = replace(found.world, holdout=float(holdout))
    expected = world.expected_likes()
    if expected > plan.depth.likes and not plan.own_users:
        fewer = max(LEAST_USERS, int(world.users * plan.depth.likes / expected))
        world = replace(world, users=min(fewer, world.users))
    return replace(found, world=world)


def _calibrated(
    sample: Interactions, users: int, plan: Plan, seed: int, threads: int | None, progress: Stage | None
) -> Likened:
    from unskew.evaluation.calibration import calibrate_quickly
    from unskew.evaluation.calibration.suggesting import HINT

    found = calibrate_quickly(sample, plan.kind, plan.depth.evaluations, seed=seed, progress=progress, threads=threads)
    how = "a Gaussian process" if found.method == "gp" else "a coarse quasi-random search"
    notes = () if found.method == "gp" else (f"the world was found by a coarse search; {HINT} for a better one",)
    return Likened(found.world, plan.kind, how, found.evaluations, found.divergences, found.loss, users, notes)


def _given(plan: Plan, sample: Interactions, users: int, seed: int) -> Likened:
    assert plan.given is not None
    world = plan.given if plan.own_users else replace(plan.given, users=int(np.count_nonzero(sample.user_counts)))
    notes: tuple[str, ...] = ()
    if plan.saved is not None and users == plan.saved.log.users and len(sample) == plan.saved.log.rows:
        own = plan.saved[plan.kind]
        return Likened(world, plan.kind, "saved parameters", own.evaluations, own.divergences, None, users)
    if plan.saved is not None:
        facts = plan.saved.log
        notes = (
            f"the parameters were calibrated to another log: {facts.name}, {facts.rows:,} rows, {facts.users:,} users",
        )
    how = "given" if plan.saved is None else "saved parameters"
    return Likened(world, plan.kind, how, 0, _divergences(world, sample, seed), None, users, notes)


def _divergences(world: PreferenceWorld, log: Interactions, seed: int) -> dict[str, float] | None:
    """Of one log drawn from the world; None when there is too little to compare."""
    from unskew.evaluation.calibration.calibrator import check_log, real_statistics
    from unskew.evaluation.calibration.trying import compare

    try:
        check_log(log)
        found, refused = compare(world, real_statistics(log, seed), stream_of(seed, Purpose.DIVERGENCES))
    except DataError:
        return None
    return None if refused else found


def _sample(log: Interactions, most: int, seed: int) -> Interactions:
    """The log, or so many of its users at random that the rows are few enough.

    Users of these worlds are exchangeable: some of them are like a world with fewer users.
    """
    if len(log) <= most:
        return log
    order = stream_of(seed, Purpose.SAMPLE).permutation(log.n_users)
    chosen = np.zeros(log.n_users, dtype=bool)
    chosen[order[np.cumsum(log.user_counts[order]) <= most]] = True
    return log.take(chosen[log.users])
