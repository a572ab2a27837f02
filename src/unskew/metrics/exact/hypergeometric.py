"""The posterior of the number of items above, given how many drawn items are above. Arrays in, arrays out."""

import numpy as np

from unskew.arrays import Floats
from unskew.compiling import njit


@njit(cache=True, nogil=True)
def posterior(logs: Floats, pool: int, drawn: int, start: int, stop: int) -> Floats:
    """P(A | a) = (n + 1) / (N + 1) C(A, a) C(N - A, n - a) / C(N, n), a row for each A."""
    chances = np.zeros((stop - start, drawn + 1))
    rest = pool - drawn
    constant = np.log(drawn + 1.0) - np.log(pool + 1.0) - logs[pool] + logs[drawn] + logs[rest]
    for whole in range(start, stop):
        for above in range(max(0, whole - rest), min(drawn, whole) + 1):
            log = constant + logs[whole] - logs[above] - logs[whole - above]
            log += logs[pool - whole] - logs[drawn - above] - logs[rest - whole + above]
            if log > -60:  # smaller terms are negligible; skipping them is faster
                chances[whole - start, above] = np.exp(log)
    return chances
