"""Factors in the order in which the kernel reads them."""

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.ranking.factors.score_vectors import GROUP, PANEL

_PACKED = 256  # panels that are packed at once


def pack_panels(items: Matrix, columns: Ints, constants: Matrix, lowest: float) -> Matrix:
    """Item factors in panels: in each the constants of its items, then the first factor of all of them, and so on.

    Parameters
    ----------
    items : array (rows, d) of float32
    columns : array of int64
        The row of each item of the catalogue; -1 if it has none.
    constants : array of float32
        What is added to the scores of each row; empty if nothing is.
    lowest : float
        The score of an item without a row.

    Returns
    -------
    array of float32
        What is behind the last item of the last panel has the score minus infinity.
    """
    n, d = len(columns), items.shape[1]
    n_panels = -(-n // PANEL)
    panels = np.zeros((n_panels, d + 1, PANEL), np.float32)
    for first in range(0, n_panels, _PACKED):
        here = panels[first : first + _PACKED]
        rows = columns[first * PANEL : (first + _PACKED) * PANEL]
        flat = np.zeros((len(here) * PANEL, d + 1), np.float32)
        flat[len(rows) :, 0] = -np.inf
        known = rows >= 0
        flat[: len(rows), 0][~known] = lowest
        flat[: len(rows), 1:][known] = items[rows[known]]
        if len(constants):
            flat[: len(rows), 0][known] = constants[rows[known]]
        here[:] = flat.reshape(len(here), PANEL, d + 1).transpose(0, 2, 1)
    return panels.reshape(-1)


def pack_users(users: Matrix) -> Matrix:
    """Factors of users in groups: in each the first factor of all users, then the second, and so on."""
    n, d = users.shape
    groups = -(-n // GROUP)
    packed = np.zeros((groups * GROUP, d), np.float32)
    packed[:n] = users
    return np.ascontiguousarray(packed.reshape(groups, GROUP, d).transpose(0, 2, 1)).reshape(-1)
