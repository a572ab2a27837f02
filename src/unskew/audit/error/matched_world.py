"""`liken`: the worlds of an error audit, calibrated to the log or given, and which of them are similar to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.audit.error.plan import KINDS, Plan
from unskew.data import Interactions
from unskew.errors import DataError
from unskew.progress import Stage
from unskew.ranking import Engine
from unskew.simulators import PreferenceWorld
from unskew.trials.seeds import Purpose, stream_of

LEAST_USERS = 50
"""Smallest number of users of a world."""
MOST_EXCESS = 1.0
"""Nats by which the divergence of a statistic may be above its floor.

The floor, the divergence between two logs of the same world, is not 0 and differs between logs: a histogram of how many
users have 1, 2, 3, ... rows has few users in each cell. Over 84 worlds calibrated to ml-100k (seeds 0 to 6, 12 each) it
was 0.08 to 0.73 for the two histograms of counts and below 0.03 for the two of similarities. All were at most 0.67
above it in every statistic (half of them at most 0.20). The limit was set when an earlier search failed in 3 of 84, and
those were more than 2.1 above. On lastfm-hetrec2011 all were 5 or more, because no user has more than 50 rows there,
which no truncated Pareto distribution of sizes imitates. A divergence of 1 nat means that what the log has is e times
less likely in the world, on geometric average.
"""
MOST_RATIO = 2.0
"""Largest ratio of a world's mean relative divergence to that of the best world.

A new log of the same world moves that mean by 4 % (median of 12 worlds) and up to 21 %. Over the same 84 worlds it was
1 to 1.69 times that of the best of their audit, and with the earlier search 1 to 1.95 times without a gap for 78 of 84.
So which of those a search finds depends on its seed, and they count as equally good fits.
"""
LEAST_AUC = 0.5
"""Smallest true AUC of the perfect recommender in an accepted world; chance is a half.

It is lower if users like many items that nobody consumed in training: those are not candidates, so even the perfect
recommender cannot list them, and they count as ranked last. The log of such a world hardly shows its catalogue.
"""
TOO_FAR = "loss {loss:.0f} %, more than {ratio:g} times as far from the log as the best world"
STATISTIC_OFF = (
    "{statistic} is {nats:.2f} nats off, {excess:.2f} more than two logs of this world are from each other (at most "
    "{most:g} is accepted)"
)
BELOW_CHANCE = (
    "its perfect recommender has a true AUC of {auc:.2f}, below chance: most of what users like there was consumed by "
    "nobody in training, so it cannot be recommended"
)
NO_WORLD = "no world of the kind {kind} could be drawn: all that were tried are too large"
OTHER_LOG = "the parameters were calibrated to another log: {log}, {rows:,} rows, {users:,} users"
SEARCHED, SAVED, GIVEN = "a Gaussian process", "saved parameters", "given"


@dataclass(frozen=True)
class Likened:
    """A world that should be similar to a log, and how it was found.

    `divergences` are Kullback-Leibler divergences of the log from a new log of the world, by statistic; None if the log
    is too small. `loss` is their mean relative to a random world of the searched spaces, minus 1: -1 would be a perfect
    copy. It is None if there was no search.
    """

    world: PreferenceWorld  # with the users that are simulated
    kind: str
    how: str  # ``a Gaussian process``, ``saved parameters`` or ``given``
    evaluations: int  # worlds that the search tried
    divergences: dict[str, float] | None
    loss: float | None
    log_users: int  # users of the log
    notes: tuple[str, ...] = ()
    search: int = 0  # which of the searches of this kind found it, from 0
    floor: dict[str, float] | None = None  # divergences between two new logs of the world, as of a perfect fit

    @property
    def users(self) -> int:
        """Number of simulated users."""
        return self.world.users

    @property
    def name(self) -> str:
        """The kind and the search, as in ``lda-pop 2``; the word of a world that was given."""
        if not self.kind:
            return self.world.word
        return f"{self.kind} {self.search + 1}" if self.how == SEARCHED else self.kind

    @property
    def excess(self) -> dict[str, float] | None:
        """Each divergence minus its floor."""
        if self.divergences is None or self.floor is None:
            return None
        return {name: value - self.floor[name] for name, value in self.divergences.items()}

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "word": str(self.world),
            "kind": self.kind or None,
            "seed": self.search,
            "how": self.how,
            "evaluations": self.evaluations,
            "divergences": self.divergences,
            "floor": self.floor,
            "loss": self.loss,
            "users": self.users,
            "log_users": self.log_users,
        }


def liken(
    log: Interactions, holdout: float, plan: Plan, engine: Engine, *, seed: int, progress: Stage | None
) -> tuple[Likened, ...]:
    """Return worlds similar to a log with all its rows, which hold out the share `holdout`."""
    from unskew.calibration.quick import sample_users

    users = int(np.count_nonzero(log.user_counts))
    # users of these worlds are exchangeable, so a sample of users is like a world with fewer users
    sample = sample_users(log, plan.depth.rows, stream_of(seed, Purpose.SAMPLE))
    if plan.given:
        worlds = tuple(_given(plan, sample, users, seed))
    else:
        worlds = tuple(_calibrated(sample, users, plan, engine, seed, progress))
    return tuple(replace(each, world=_sized(each.world, holdout, plan)) for each in worlds)


def misfits(worlds: Sequence[Likened]) -> list[str]:
    """Why each calibrated world is refused; "" if it is not.

    A given world is not refused; the audit has a warning instead.
    """
    near = [world.loss for world in worlds if world.loss is not None and not unlike(world)]
    best = 1 + min(near) if near else None
    return [_misfit(world, best) for world in worlds]


def _misfit(world: Likened, best: float | None) -> str:
    if world.loss is None:
        return ""
    if apart := unlike(world):
        return apart
    if best is not None and 1 + world.loss > MOST_RATIO * best:
        return TOO_FAR.format(loss=100 * world.loss, ratio=MOST_RATIO)
    return ""


def unlike(world: Likened) -> str:
    """A clause on the statistic that is too far off, and by how much; "" if none is."""
    excess = world.excess
    if excess is None:
        return ""
    worst = max(excess, key=lambda name: excess[name])
    if excess[worst] <= MOST_EXCESS:
        return ""
    assert world.divergences is not None
    return STATISTIC_OFF.format(statistic=worst, nats=world.divergences[worst], excess=excess[worst], most=MOST_EXCESS)


def below_chance(auc: float | None) -> str:
    """A clause if even the perfect recommender is below chance, else ""."""
    return "" if auc is None or auc >= LEAST_AUC else BELOW_CHANCE.format(auc=auc)


def _sized(world: PreferenceWorld, holdout: float, plan: Plan) -> PreferenceWorld:
    """The world with the share that is held out, and with fewer users if it would be too large."""
    world = replace(world, holdout=float(holdout))
    expected = world.expected_likes()
    if expected <= plan.depth.likes or plan.own_users:
        return world
    fewer = max(LEAST_USERS, int(world.users * plan.depth.likes / expected))
    return replace(world, users=min(fewer, world.users))


def _calibrated(
    sample: Interactions, users: int, plan: Plan, engine: Engine, seed: int, progress: Stage | None
) -> Iterator[Likened]:
    from unskew.calibration import calibrate_ensemble

    depth = plan.depth
    ensemble = calibrate_ensemble(
        sample,
        plan.kinds,
        searches=depth.searches * len(KINDS) // len(plan.kinds),  # a single kind gets all searches
        evaluations=depth.evaluations,
        seed=seed,
        engine=engine,
        progress=progress,
    )
    notes = tuple(NO_WORLD.format(kind=kind) for kind in ensemble.missing)
    for fit in ensemble.fits:
        yield Likened(
            world=fit.world,
            kind=fit.kind,
            how=SEARCHED,
            evaluations=depth.evaluations,
            divergences=fit.divergences,
            loss=fit.loss,
            log_users=users,
            notes=notes,
            search=fit.search,
            floor=fit.floor,
        )


def _given(plan: Plan, sample: Interactions, users: int, seed: int) -> Iterator[Likened]:
    for kind, given in plan.given.items():
        world = given if plan.own_users else replace(given, users=int(np.count_nonzero(sample.user_counts)))
        divergences, floor = _fit(world, sample, seed)
        if plan.saved is None:
            yield Likened(world, kind, GIVEN, 0, divergences, None, users, floor=floor)
            continue
        facts = plan.saved.log
        notes: tuple[str, ...] = ()
        if (users, len(sample)) != (facts.users, facts.rows):
            notes = (OTHER_LOG.format(log=facts.name, rows=facts.rows, users=facts.users),)
        evaluations = plan.saved[kind].evaluations
        yield Likened(world, kind, SAVED, evaluations, divergences, None, users, notes, floor=floor)


def _fit(
    world: PreferenceWorld, log: Interactions, seed: int
) -> tuple[dict[str, float] | None, dict[str, float] | None]:
    """Divergences and their floor; None if the log is too small to compare."""
    from unskew.calibration.calibrate import check_log, real_statistics
    from unskew.calibration.ensemble import fit_of

    try:
        check_log(log)
        return fit_of(world, real_statistics(log, seed), stream_of(seed, Purpose.DIVERGENCES))
    except (DataError, MemoryError):
        return None, None
