"""Factors in the order of a catalogue and in the layout of the kernel."""

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.ranking.factors.plain_scores import fused_scores


def processor_suits() -> bool:
    """Whether the processor multiplies and adds in one step; without it the sums of the kernel would be slow."""
    from unskew.ranking.factors.score_vectors import SUITED

    return SUITED


@dataclass(frozen=True, eq=False, repr=False)
class PackedFactors:
    """Scores and ranks of a model with factors of 32 bits.

    A score is a sum in the order of the factors, from the constant of its item on. Its bits do not depend on who is
    scored at the same time, and items with equal factors have equal scores.

    Parameters
    ----------
    users : array (users, d) of float32
        In memory or a memory map.
    items : array (items, d) of float32
    columns : array
        The row of each item of the catalogue; -1 for an item that the model does not know.
    constants : array of float32
        What is added to the scores of each row of items; empty if nothing is.
    doubled : bool
        Whether users count twice, as they do in a squared distance.
    finite : bool
        Whether no score can overflow.
    plain : bool
        Whether scores are computed with NumPy, which gives the same bits and needs no compiler.
    """

    users: Matrix
    items: Matrix
    columns: Ints
    constants: Matrix
    doubled: bool
    finite: bool
    plain: bool = False
    _buffers: Any = field(default_factory=threading.local, init=False)  # one per thread
    _packing: Any = field(default_factory=threading.Lock, init=False)

    owned = True  # the scores may be written to

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.users, self.items, self.columns, self.constants, self.doubled, self.finite, self.plain
        return PackedFactors, parts  # buffers and panels stay where they are

    def score(self, rows: Ints) -> Matrix:
        """Scores of these rows, valid until the next call of this thread.

        Those of unknown items are minus infinity; 0 if scores may overflow, because they are then checked.
        """
        if self.plain:
            return self._plain_scores(self._factors_of(rows))
        from unskew.ranking.factors import factor_kernel, packing

        buffer = getattr(self._buffers, "buffer", None)
        if buffer is None or len(buffer) < len(rows):
            buffer = self._buffers.buffer = np.empty((len(rows), len(self.columns)), np.float32)
        scores: Matrix = buffer[: len(rows)]
        users = self._factors_of(rows)
        factor_kernel.score_rows(packing.pack_users(users), users.shape[1], self._panels, scores)
        return scores

    def _plain_scores(self, users: Matrix) -> Matrix:
        known = np.flatnonzero(self.columns >= 0)
        places = self.columns[known]
        scores = np.full((len(users), len(self.columns)), -np.inf if self.finite else 0.0, np.float32)
        constants = self.constants[places] if len(self.constants) else self.constants
        scores[:, known] = fused_scores(users, self.items[places], constants)
        return scores

    def count(self, rows: Ints, offsets: Ints, items: Ints, seen_offsets: Ints, seen: Ints) -> tuple[Ints, Ints]:
        """Count the candidates above and tied with held-out items, as `kernel.count_ranks` does.

        Rows of -1 are users whom the model does not know; their counts mean nothing.
        """
        from unskew.ranking.factors import factor_kernel, packing

        users = self._factors_of(rows)
        above, tied = factor_kernel.count_factor_ranks(
            users,
            packing.pack_users(users),
            self.items,
            self.columns,
            self.constants,
            self._panels,
            self._n_known,
            offsets,
            items,
            seen_offsets,
            seen,
        )
        return above, tied

    def _factors_of(self, rows: Ints) -> Matrix:
        known = rows >= 0
        if known.all():
            factors = self.users[rows]
        else:  # the caller knows what an unknown user gets
            factors = np.zeros((len(rows), self.users.shape[1]), np.float32)
            factors[known] = self.users[rows[known]]
        return 2 * factors if self.doubled else factors

    @property
    def _panels(self) -> Matrix:
        with self._packing:  # by one thread, while the others wait
            return self._packed

    @cached_property
    def _packed(self) -> Matrix:
        from unskew.ranking.factors import packing

        lowest = -np.inf if self.finite else 0.0
        panels: Matrix = packing.pack_panels(self.items, self.columns, self.constants, lowest)
        return panels

    @cached_property
    def _n_known(self) -> int:
        return int(np.sum(self.columns >= 0))
