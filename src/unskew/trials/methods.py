"""`Method`: an estimator with its source of propensities, as a trial tests it."""

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
    """An estimator and the source of its propensities.

    Parameters
    ----------
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
        """The name in tables, such as ``snips, true``."""
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
    r"""The test rows of the kept users that each method uses; `Rows.with_worth` takes the worth of all test rows.

    Estimated propensities are known up to scale, which is enough for ``snips``. For ``ips`` they are scaled so that the
    weights of the test rows add up to the number N of relevant pairs of the judged users:

    .. math:: \sum_{S^*} \frac{1}{P_{ui}} = N.

    Only a simulation knows N and each user's number of relevant items, which ``ips`` divides by. So this is the best
    case for ``ips``. Kept users without a test row are `Rows.empty`.
    """
    unseen = float(judged.relevant[kept & ~judged.tested].sum())
    sources: dict[tuple[str, str], tuple[Rows, bool]] = {}
    prepared = []
    for each in methods:
        source = (each.propensity, each.model if each.propensity == "estimated" else "")
        if source not in sources:
            sources[source] = _rows(each, judged, world, kept)
        rows, absolute = sources[source]
        if each.parsed.needs_absolute and not absolute:
            assert rows.total is not None
            scale = float(np.sum(1 / rows.chance)) / (float(np.sum(rows.total)) + unseen)
            rows = replace(rows, propensity=rows.chance * scale)
        prepared.append(rows)
    return prepared


def _rows(method: Method, judged: JudgedRows, world: World, kept: Bools) -> tuple[Rows, bool]:
    """The kept users' test rows that have a propensity, and whether propensities are known in absolute terms."""
    among = kept[judged.user[judged.test_rows]]
    propensity, absolute = _propensities(method, judged, world, among)
    has = ~np.isnan(propensity)
    among[among] = has
    users, user = np.unique(judged.user[judged.test_rows[among]], return_inverse=True)
    rows = Rows(
        worth=np.empty(0),
        user=user.astype(np.int32),
        propensity=propensity[has],
        total=judged.relevant[users].astype(float),
        empty=int((kept & ~judged.tested).sum()),
        kept=None if among.all() else among,
    )
    return rows, absolute


def _propensities(method: Method, judged: JudgedRows, world: World, among: Bools) -> tuple[Floats, bool]:
    """The propensities of some test rows, and whether they are known in absolute terms."""
    if method.propensity == "none":
        return np.ones(int(among.sum())), True
    if method.propensity == "true":
        if judged.propensity is None:
            raise DataError(f"{world.origin}: its test has no propensities, which {method.label} asks for")
        return judged.propensity[among], True
    fitted = PropensityModel.from_word(method.model).fit(world.train, world.test)
    rows = judged.test_rows[among]
    chance = np.asarray(fitted(judged.row_users[rows], judged.items[rows], None), dtype=float)
    wrong = ~np.isnan(chance) & ~((chance > 0) & (chance <= 1))
    if wrong.any() or (len(chance) and np.isnan(chance).all()):
        raise PropensityError(f"{method.model}: a propensity of a test row is outside (0, 1], or no test row has one")
    return chance, fitted.absolute
