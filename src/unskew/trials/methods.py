"""Which estimator, with which propensities: the methods that a trial puts to the test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.errors import ConfigError, DataError, PropensityError
from unskew.estimators import Estimator, Rows
from unskew.metrics import AnyMetric
from unskew.propensities import PropensityModel
from unskew.simulators import World
from unskew.trials.rows import JudgedRows

Source: TypeAlias = Literal["none", "true", "estimated"]


@dataclass(frozen=True)
class Method:
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
        if self.parsed.sees != "observed":
            raise ConfigError(f"{self.estimator} needs items that were drawn at random and labelled; use aoa or snips")
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
METHODS: tuple[Method, ...] = (
    Method(),
    *(Method(form, "true") for form in FORMS),
    *(Method(form, "estimated") for form in FORMS),
)
"""The naive average, and each way to correct it with true and with estimated propensities."""


def rows_of(methods: Sequence[Method], judged: JudgedRows, world: World, kept: Bools) -> list[Rows]:
    r"""The test rows that each method uses, without their worth: `Rows.with_worth` takes that of all test rows.

    Estimated propensities are known up to scale, which is enough for ``snips``. For ``ips`` they are scaled so that the
    weights of the test rows add up to what they stand for, the number N of relevant pairs of the judged users:

    .. math:: \sum_{S^*} \frac{1}{P_{ui}} = N.

    That number is known here alone; so is each user's number of relevant items, which ``ips`` divides by. So ``ips``
    is shown at its best. Kept users without a test row are `Rows.empty`.

    Parameters
    ----------
    methods : sequence of Method
    judged : JudgedRows
    world : World
    kept : array of bool
        Which judged users are in the sums.
    """
    among = kept[judged.user[judged.test_rows]]
    untested = kept & ~judged.tested
    unseen = float(judged.relevant[untested].sum())
    sources: dict[tuple[str, str], tuple[Rows, bool]] = {}
    found = []
    for each in methods:
        source = (each.propensity, each.model if each.propensity == "estimated" else "")
        if source not in sources:
            propensity, absolute = _propensities(each, judged, world, among)
            sources[source] = _rows(judged, among, propensity, int(untested.sum())), absolute
        rows, absolute = sources[source]
        if each.parsed.needs_absolute and not absolute:
            assert rows.total is not None
            scale = float(np.sum(1 / rows.chance)) / (float(np.sum(rows.total)) + unseen)
            rows = replace(rows, propensity=rows.chance * scale)
        found.append(rows)
    return found


def _rows(judged: JudgedRows, among: Bools, propensity: Floats, empty: int) -> Rows:
    """Those test rows that are among the kept users' and have a propensity."""
    has = ~np.isnan(propensity)
    kept = among.copy()
    kept[among] = has
    users, user = np.unique(judged.user[judged.test_rows[kept]], return_inverse=True)
    return Rows(
        worth=np.empty(0),
        user=user.astype(np.int32),
        propensity=propensity[has],
        total=judged.relevant[users].astype(float),
        empty=empty,
        kept=None if kept.all() else kept,
    )


def _propensities(method: Method, judged: JudgedRows, world: World, among: Bools) -> tuple[Floats, bool]:
    """Of some test rows, and whether they are known in absolute terms."""
    if method.propensity == "none":
        return np.ones(int(among.sum())), True
    if method.propensity == "true":
        if judged.propensity is None:
            raise DataError(f"{world.made}: its test has no propensities, which {method.label} asks for")
        return judged.propensity[among], True
    fitted = PropensityModel.from_word(method.model).fit(world.train, world.test)
    rows = judged.test_rows[among]
    chance = np.asarray(fitted(judged.row_users[rows], judged.items[rows], None), dtype=float)
    wrong = ~np.isnan(chance) & ~((chance > 0) & (chance <= 1))
    if wrong.any() or (len(chance) and np.isnan(chance).all()):
        raise PropensityError(f"{method.model}: a propensity of a test row is outside (0, 1], or none has one")
    return chance, fitted.absolute
