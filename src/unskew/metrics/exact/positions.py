"""Gains by place, averaged over the places that a tied item may take."""

import numpy as np

from unskew.arrays import Floats, Ints, running_sums
from unskew.compiling import is_short


def positions_used(above: Ints, tied: Ints, cutoff: int | None = None) -> int:
    """Return how many places from the top matter for these rows."""
    if not above.size:
        return 0
    top = int((above + tied).max()) + 1 if tied.any() else int(above.max()) + 1
    return top if cutoff is None else min(top, cutoff)


def mean_gain(table: Floats, above: Ints, tied: Ints) -> Floats:
    """Return the mean of ``table`` over the places ``above``, ..., ``above + tied``, zero past its end."""
    # Summed with twice the digits: a short group far down is a small difference of two large sums.
    sums = running_sums(table)
    table = np.asarray(table, dtype=np.float64)
    if is_short(above.size):
        first, last = (np.minimum(place, table.size) for place in (above, above + tied + 1))
        single = np.append(table, 0.0)[first]
        return np.where(tied == 0, single, (sums[last] - sums[first]) / (tied + 1))
    from unskew.metrics.exact.tie_kernel import look_up

    values: Floats = look_up(table, sums, above, tied)
    return values


def harmonic_numbers(size: int) -> Floats:
    """Return H(0), ..., H(size), each correct to the last bit or nearly so."""
    return running_sums(1 / np.arange(1, size + 1))
