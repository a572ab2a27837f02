"""Gains by place, averaged over the places that a tied item may take."""

import numpy as np

from unskew.arrays import Floats, Ints


def positions_used(above: Ints, tied: Ints, cutoff: int | None = None) -> int:
    """Return how many places from the top matter for these rows."""
    if not above.size:
        return 0
    top = int((above + tied).max()) + 1 if tied.any() else int(above.max()) + 1
    return top if cutoff is None else min(top, cutoff)


def mean_gain(table: Floats, above: Ints, tied: Ints) -> Floats:
    """Return the mean of ``table`` over the places ``above``, ..., ``above + tied``, zero past its end."""
    from unskew.metrics.exact.tie_kernel import look_up

    # Summed in extended precision: a short group far down is a small difference of two large sums.
    sums = np.append(0.0, np.cumsum(table, dtype=np.longdouble).astype(np.float64))
    values: Floats = look_up(np.asarray(table, dtype=np.float64), sums, above, tied)
    return values


def harmonic_numbers(size: int) -> Floats:
    """Return H(0), ..., H(size), each correct to the last bit or nearly so."""
    terms = 1 / np.arange(1, size + 1, dtype=np.longdouble)
    return np.append(0.0, np.cumsum(terms)).astype(np.float64)
