"""The demo's marketplace with rows to choose by: a log whose propensities are known, and everything it hides."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.data import Split
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.propensities import PropensityModel
from unskew.simulators import Marketplace, World

HELD, VALIDATION = 0.4, 0.5
"""Share of the log that is held out, and share of that which is for validation; the rest is the test."""
HEAD = 0.05
"""Share of the catalogue that counts as its head."""
KNOWN = "column"
"""The word for the world's own propensities."""


@dataclass(frozen=True, eq=False)
class Draw:
    """A log of a marketplace in three parts, with its truth.

    Validation rows are candidates and count for the truth: what is relevant outside train is the target of either part.

    Parameters
    ----------
    world : World
    split : Split
        Train, validation and test, held-out rows with P(in this part | candidate).
    exposure : array
        P of each item: the chance of a relevant pair to be in the log.
    """

    world: World
    split: Split
    exposure: Floats

    @classmethod
    def of(cls, model: Marketplace, rng: np.random.Generator) -> "Draw":
        """Draw a world and part what it holds out by lot."""
        world = model.draw(rng)
        held, share = world.test, model.holdout
        assert held.propensity is not None
        # h P / (1 - (1 - h) P), turned around
        seen = held.propensity / (share + (1 - share) * held.propensity)
        exposure = np.full(world.n_items, seen.min())  # an item without a held-out row is shown as little as any
        exposure[held.items] = seen
        chosen = rng.random(len(held)) < VALIDATION
        test, validation = (
            held.take(rows).with_propensity(held.propensity[rows] * of_held)
            for rows, of_held in ((~chosen, 1 - VALIDATION), (chosen, VALIDATION))
        )
        return cls(world, Split(world.train, test, validation, origin=world.origin), exposure)

    @property
    def validation(self) -> Split:
        """Train, with the validation rows in the place of the test."""
        assert self.split.validation is not None
        return Split(self.split.train, self.split.validation)

    @property
    def truth(self) -> Split:
        """Train, with all that is relevant outside it in the place of the test."""
        return Split(self.split.train, self.world.truth)

    def training(self, word: str) -> Floats:
        """Propensities of the training rows: by the world, or by a model of them fitted on these rows."""
        if word == KNOWN:
            return np.asarray(self.exposure[self.split.train.items])
        return training_propensity(PropensityModel.from_word(word), self.split.train, scaled=False)

    @cached_property
    def head(self) -> Bools:
        """Which items are the 5 % that are shown most; among equals, those that come first."""
        order = np.argsort(-self.exposure, kind="stable")
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[: int(np.ceil(HEAD * len(order)))]] = True
        return chosen

    @property
    def true_head_share(self) -> float:
        """Share of the head among all relevant pairs, in train or not."""
        items = np.concatenate([self.world.items, self.split.train.items])
        return float(self.head[items].mean())
