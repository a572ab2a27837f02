"""`Panel`: more users of the population that a log's users come from."""

from dataclasses import dataclass, replace

import numpy as np

from unskew.arrays import Ints, offsets_of
from unskew.data import Interactions
from unskew.data.vocabulary import Vocabulary
from unskew.errors import DataError
from unskew.simulators import World
from unskew.trials.rows import JudgedRows, Population, judged_rows


@dataclass(frozen=True, eq=False)
class Panel:
    """More users of the population that a log's users come from, as a separate world; see `split_panel`."""

    world: World  # its training rows are only used to exclude their items

    def judged(self, counts: Ints, population: Population = "tested") -> JudgedRows:
        """The relevant items of the panel, under a log in which each item has this number of training rows."""
        rows = judged_rows(self.world, counts, population)
        kept = rows.in_truth
        if kept.all():
            return rows
        return replace(
            rows,
            offsets=offsets_of(rows.relevant),
            items=rows.items[kept],
            in_truth=kept[kept],
            in_test=rows.in_test[kept],
            propensity=None,
            strength=None if rows.strength is None else rows.strength[kept],
        )


def split_panel(world: World, users: int) -> tuple[World, Panel]:
    r"""Split a world into a log of the first users, and a panel of the others that represents the population.

    The users of a simulated world are exchangeable, so the rest represents the population the first come from. An
    interval is about that population, whose true value :math:`\mu` is not known even here; what is known are the true
    values of the own users, :math:`T`, and of the panel, :math:`T'`. With r panel users for each own user,

    .. math:: T^* = (1 - g) T + g T', \qquad g = \sqrt{r / (1 + r)}

    represents :math:`\mu`. To see why, write an estimate as :math:`T + e`, and :math:`\sigma^2 / m` for the variance of
    T over draws of m users. Then

    .. math::

       \mathrm{Var}(T + e - \mu) &= \mathrm{Var}(e) + \sigma^2 / m + 2\,\mathrm{Cov}(e, T), \\
       \mathrm{Var}(T + e - T^*) &= \mathrm{Var}(e) + g^2 (1 + 1/r)\, \sigma^2 / m + 2 g\,\mathrm{Cov}(e, T),

    as :math:`T + e - T^* = e + g (T - T')`. The choice of g makes the middle terms equal, and both means are that of e.
    The last terms vanish for an estimate without bias, whose error has the same mean whoever the users are; then
    coverage of :math:`T^*` is coverage of :math:`\mu`. The bias of a naive estimate differs between users, so there it
    is not exactly that; with r = 1 the covariance counts at .71. Panel users are ranked by the own users' log, which
    does not hold their rows while it holds those of an own user: a difference of one user in all.
    """
    if not 0 < users < world.n_users:
        raise DataError(f"{world.origin}: {users} of {world.n_users} users leave none for a panel; draw a larger world")
    return _between(world, 0, users), Panel(_between(world, users, world.n_users))


def _between(world: World, first: int, last: int) -> World:
    """The part of a world that belongs to some users; the catalogue stays."""

    def part(log: Interactions) -> Interactions:
        kept = log.take((log.users >= first) & (log.users < last))
        users = (kept.users - first).astype(np.int32)
        return replace(kept, users=users, user_vocabulary=Vocabulary.of_range(last - first))

    rows = slice(int(world.offsets[first]), int(world.offsets[last]))
    return replace(
        world,
        train=part(world.train),
        test=part(world.test),
        offsets=world.offsets[first : last + 1] - world.offsets[first],
        items=world.items[rows],
        chances=None if world.chances is None else world.chances[rows],
        strength=None if world.strength is None else world.strength[rows],
        likes=None,
    )
