"""Which estimate, with which propensities: the corrections that a trial puts to the test."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.errors import ConfigError, DataError, PropensityError
from unskew.estimators import Estimator
from unskew.metrics import AnyMetric
from unskew.propensities import PropensityModel
from unskew.simulators import World
from unskew.trials.rows import Judged

Source: TypeAlias = Literal["none", "true", "estimated"]


@dataclass(frozen=True)
class Correction:
    """An estimator and where its propensities come from.

    Parameters
    ----------
    estimator : str
        Its word.
    propensity : {"none", "true", "estimated"}
        None for the naive average; the world's own; or fitted to the training log.
    model : str
        Word of the propensity model, when they are estimated.
    """

    estimator: str = "aoa"
    propensity: Source = "none"
    model: str = "popularity"

    def __post_init__(self) -> None:
        if self.propensity not in {"none", "true", "estimated"}:
            raise ConfigError(f"propensity={self.propensity!r} of {self.estimator}: choose none, true or estimated")
        uses = self.parsed.uses_propensity
        if uses != (self.propensity != "none"):
            need = "needs propensities, true or estimated" if uses else "uses no propensities"
            raise ConfigError(f"{self.estimator} {need}; it was given {self.propensity}")

    @property
    def label(self) -> str:
        """As in a table: ``snips, true``."""
        return self.estimator if self.propensity == "none" else f"{self.estimator}, {self.propensity}"

    @cached_property
    def parsed(self) -> Estimator:
        """The estimator itself."""
        return Estimator.from_word(self.estimator)

    def admits(self, metric: AnyMetric) -> bool:
        """Whether the estimator applies to a metric: sums have no mean over pairs, and lists only a naive mean."""
        over_users = not self.parsed.target_of(metric.kind).endswith("pairs")
        return metric.kind in self.parsed.kinds and (metric.kind == "mean" or over_users)

    def over_pairs(self, metric: AnyMetric) -> bool:
        """Whether its target is the mean over relevant pairs, not that over users."""
        return metric.kind == "mean" and self.parsed.target_of("mean").endswith("pairs")


FORMS = ("ips", "snips", "snips(per=balanced)", "snips(per=user)")
CORRECTIONS: tuple[Correction, ...] = (
    Correction(),
    *(Correction(form, "true") for form in FORMS),
    *(Correction(form, "estimated") for form in FORMS),
)
"""The naive average, and each way to correct it with true and with estimated propensities."""


@dataclass(frozen=True, eq=False)
class Weighing:
    """The test rows a correction uses, of the users that are kept.

    Parameters
    ----------
    correction : Correction
    estimator : Estimator
    rows : array of int
        Places among the judged rows.
    user : array of int
        0 to m-1, of the users with such a row.
    propensity : array
    relevant : array
        Each user's true number of relevant items.
    empty : int
        Further users of the population, without a test row. They count as 0 where the estimator has it so.
    """

    correction: Correction
    estimator: Estimator
    rows: Ints
    user: Ints
    propensity: Floats
    relevant: Floats
    empty: int = 0

    def terms(self, metric: AnyMetric, gains: Floats) -> tuple[Floats, Floats]:
        """Numerator and denominator of each user, from the gains of all judged rows."""
        own = gains[self.rows]
        if metric.kind == "mean":
            numerator, denominator = self.estimator.terms(own, self.propensity, self.user, self.relevant)
        else:
            numerator, denominator = self.estimator.totals(own, self.propensity, self.user)
        if not self.estimator.counts_empty_users:
            return numerator, denominator
        return np.append(numerator, np.zeros(self.empty)), np.append(denominator, np.ones(self.empty))


def weigh(corrections: Sequence[Correction], judged: Judged, world: World, kept: Bools) -> list[Weighing]:
    r"""Give each correction its rows and propensities.

    Estimated propensities are known up to scale, which is enough for ``snips``. For ``ips`` they are scaled so that the
    weights of the test rows add up to what they stand for, the number N of relevant pairs of the judged users:

    .. math:: \sum_{S^*} \frac{1}{P_{ui}} = N.

    That number is known here alone; so is each user's number of relevant items, which ``ips`` divides by. So ``ips``
    is shown at its best.

    Parameters
    ----------
    corrections : sequence of Correction
    judged : Judged
    world : World
    kept : array of bool
        Which judged users are in the sums.
    """
    rows = judged.test_rows[kept[judged.user[judged.test_rows]]]
    untested = kept & ~judged.tested
    unseen = float(judged.relevant[untested].sum())
    sources: dict[tuple[str, str], tuple[Floats, bool]] = {}
    made = []
    for each in corrections:
        source = (each.propensity, each.model if each.propensity == "estimated" else "")
        if source not in sources:
            sources[source] = _propensities(each, judged, world, rows)
        propensity, absolute = sources[source]
        has = ~np.isnan(propensity)
        own = rows if has.all() else rows[has]
        users, user = np.unique(judged.user[own], return_inverse=True)
        relevant = judged.relevant[users].astype(float)
        chance = propensity if has.all() else propensity[has]
        if each.parsed.needs_absolute and not absolute:
            chance = chance * (float(np.sum(1 / chance)) / (float(np.sum(relevant)) + unseen))
        made.append(Weighing(each, each.parsed, own, user.astype(np.int32), chance, relevant, int(untested.sum())))
    return made


def _propensities(correction: Correction, judged: Judged, world: World, rows: Ints) -> tuple[Floats, bool]:
    """Of some rows, and whether they are known in absolute terms."""
    if correction.propensity == "none":
        return np.ones(len(rows)), True
    if correction.propensity == "true":
        if judged.propensity is None:
            raise DataError(f"{world.made}: its test has no propensities, which {correction.label} asks for")
        return judged.propensity[np.searchsorted(judged.test_rows, rows)], True
    fitted = PropensityModel.from_word(correction.model).fit(world.train, world.test)
    chance = np.asarray(fitted(judged.row_users[rows], judged.items[rows], None), dtype=float)
    wrong = ~np.isnan(chance) & ~((chance > 0) & (chance <= 1))
    if wrong.any() or (len(chance) and np.isnan(chance).all()):
        raise PropensityError(f"{correction.model}: a propensity of a test row is outside (0, 1], or none has one")
    return chance, fitted.absolute
