"""All forms of the estimator at many cut-offs and for many models at once, from counts by stratum of ranks.

The numbers are those of `Ure`; only the way to them is shorter, because a study asks for some hundred thousand of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats, Ints
from unskew.estimators import Rows, Ure
from unskew.estimators.exposed.reduction import PRIOR_ROWS, falling_blocks, rank_edges
from unskew.studies.wang2024.biased import BiasedLog
from unskew.studies.wang2024.draws import drawn_rows

MEAN, PLUG_IN, BETA_BINOMIAL, POOLED, CONTROL, MONOTONE = FORMS = (
    "ure",
    "ure(aggregate=ipw, counts=plug-in)",
    "ure(aggregate=ipw)",
    "ure(aggregate=pooled)",
    "ure(aggregate=pooled, reduce=control)",
    "ure(aggregate=pooled, reduce=monotone)",
)
MACRO = (MEAN, PLUG_IN, BETA_BINOMIAL)
"""Whose target is the mean over users; that of the others is the mean over positive pairs."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Held items of each user by stratum of their rank, for each model.

    Parameters
    ----------
    log : BiasedLog
    ks : tuple of int
        Cut-offs, ascending.
    steps : array of int
        Last ranks of the strata of the form with falling shares, without a cut-off's own.
    edges : array of int
        Those and the cut-offs.
    models : mapping
        Name to the stratum of each pair, users by items.
    """

    log: BiasedLog
    ks: tuple[int, ...]
    steps: Ints
    edges: Ints
    models: Mapping[str, npt.NDArray[np.uint8]]

    @classmethod
    def of(cls, log: BiasedLog, ranks: Mapping[str, npt.NDArray[np.int32]], ks: Sequence[int]) -> "Strata":
        """Cut the ranks of each model.

        Parameters
        ----------
        log : BiasedLog
        ranks : mapping
            Name of a model to what `places` gives.
        ks : sequence of int
        """
        largest = int(log.population.max())
        steps = rank_edges(largest, None)
        edges = np.unique(np.concatenate([steps, np.asarray(ks, dtype=np.int64)]))
        table = np.searchsorted(edges, np.arange(largest), side="right").astype(np.uint8)
        return cls(log, tuple(ks), steps, edges, {name: table[np.maximum(r, 0)] for name, r in ranks.items()})

    @cached_property
    def cuts(self) -> Ints:
        """Where the cut-offs are among the edges."""
        return np.searchsorted(self.edges, self.ks)

    @cached_property
    def groups(self) -> tuple[Ints, ...]:
        """For each cut-off, where the strata begin that the form with falling shares has."""
        return tuple(self._starts(np.union1d(self.steps, [k])) for k in self.ks)

    @cached_property
    def room(self) -> Floats:
        """How many places each stratum has, over all users."""
        filled = np.minimum(self.edges[None], self.log.population[:, None])
        return np.asarray(np.diff(filled, prepend=0, axis=1).sum(axis=0), dtype=float)

    def _starts(self, edges: Ints) -> Ints:
        return np.concatenate([[0], np.searchsorted(self.edges, edges)[:-1] + 1])


@dataclass(frozen=True, eq=False)
class Draw:
    """One random exposure, and the users' weights in each form.

    Parameters
    ----------
    strata : Strata
    drawn : array of int, users by l
    rows : Rows
        The same with labels; worth nothing.
    weights : mapping
        Form to the weight of each user with a positive in the sample.
    """

    strata: Strata
    drawn: Ints
    rows: Rows
    weights: Mapping[str, Floats]

    @classmethod
    def of(cls, strata: Strata, drawn: Ints) -> "Draw":
        """Take what was drawn."""
        rows = drawn_rows(strata.log, drawn)
        weights = {form: Ure.from_word(form).terms(rows, "mean").denominator for form in MACRO}
        return cls(strata, drawn, rows, weights)

    def counts(self, model: str) -> tuple[Floats, Floats]:
        """How many rows of each user (rows) and stratum (columns) were drawn, and how many of them are positive."""
        codes = np.take_along_axis(self.strata.models[model], self.drawn, axis=1).ravel()
        width = len(self.strata.edges)
        cells = self.rows.user * width + codes
        shape, size = (self.rows.n_users, width), self.rows.n_users * width
        shown = np.bincount(cells, minlength=size).reshape(shape)
        liked = np.bincount(cells[self.rows.labels], minlength=size).reshape(shape)
        return shown.astype(float), liked.astype(float)

    def values(self, model: str) -> tuple[dict[str, Floats], Floats]:
        """Recall at each cut-off by each form, and how many positives of each user stand above, of those drawn."""
        shown, liked = self.counts(model)
        scale, positives = self.rows.scale, self.rows.positives
        found = liked.cumsum(axis=1)[:, self.strata.cuts]
        own = found / np.maximum(positives, 1)[:, None]
        values = {form: weight @ own / max(float(weight.sum()), 1e-300) for form, weight in self.weights.items()}
        numerator, total = scale[:, None] * found, float(scale @ positives)
        values[POOLED] = numerator.sum(axis=0) / total
        values[CONTROL] = values[POOLED] - self._correction(shown, numerator, values[POOLED]) / total
        values[MONOTONE] = self._falling(scale @ shown, scale @ liked)
        return values, found

    def _correction(self, shown: Floats, numerator: Floats, pooled: Floats) -> Floats:
        """What the control variate takes off the sum of numerators, at each cut-off."""
        rows = self.rows
        known = np.minimum(np.asarray(self.strata.ks)[None], rows.population[:, None])
        above = shown.cumsum(axis=1)[:, self.strata.cuts]
        off = rows.scale[:, None] * above - known
        left = numerator - pooled * (rows.scale * rows.positives)[:, None]
        second, fourth = rows.scale**2 @ above, rows.scale**4 @ above
        prior = np.divide(PRIOR_ROWS * fourth, second, out=np.zeros(len(second)), where=second > 0)
        share = float(rows.scale @ rows.positives) / float(rows.scale @ rows.counts)
        size = (off**2).sum(axis=0) + prior
        drawn = (left * off).sum(axis=0) + prior * share * (1 - pooled)
        slope = np.divide(drawn, size, out=np.zeros(len(size)), where=size > 0)
        return np.asarray(slope * off.sum(axis=0))

    def _falling(self, shown: Floats, liked: Floats) -> Floats:
        """With shares of positives that fall with rank, at each cut-off."""
        found = []
        for starts, k in zip(self.strata.groups, self.strata.ks, strict=True):
            good, seen, room = (np.add.reduceat(column, starts) for column in (liked, shown, self.strata.room))
            above = self.strata.edges[starts] <= k  # the cut-off is an edge, so no stratum crosses it
            found.append(_share_above(good, seen, room, above))
        return np.array(found)


def _share_above(liked: Floats, shown: Floats, room: Floats, above: npt.NDArray[np.bool_]) -> float:
    block = falling_blocks(liked, shown)
    seen, good = (np.bincount(block, weights=column) for column in (shown, liked))
    share = (good / np.maximum(seen, 1e-300))[block]
    return float(share[above] @ room[above]) / max(float(share @ room), 1e-300)
