"""Whether the popularity of a training log knows what came after the test began."""

import numpy as np

from unskew.data import Split

MOSTLY = 0.9  # share of test rows later than all of their user's training rows from which a split is one by time


def find_hindsight(split: Split) -> str | None:
    """Say so when a split by time counts popularity on training rows later than its first test row.

    A split is one by time when nearly all test rows are later than their user's last training row. The last row of each
    user held out, for one, makes such a split: it looks ahead for nobody, but n* does. A random split has no before and
    after, and is not warned of.

    Parameters
    ----------
    split : Split

    Returns
    -------
    str or None
        The warning; None without times, for a random split, and when train ends before the test begins.
    """
    train, test = split.train, split.test
    if train.times is None or test.times is None or not len(train) or not len(test):
        return None
    last = np.full(len(split.user_vocabulary), -np.inf)
    np.maximum.at(last, train.users, train.times)
    known = np.isfinite(last[test.users])
    if not known.any() or np.mean(test.times[known] > last[test.users[known]]) < MOSTLY:
        return None
    late = int(np.sum(train.times > test.times.min()))
    if not late:
        return None
    return (
        f"the split is by time, but popularity was counted on {late:,} training rows ({late / len(train):.0%}) later "
        "than the first test row, which nobody could know then; use --temporal, or end train where the test begins"
    )
