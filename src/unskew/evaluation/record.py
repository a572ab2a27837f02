"""What a randomly exposed test consists of, in numbers."""

from typing import Any

import numpy as np

from unskew.arrays import Ints
from unskew.evaluation.collecting.exposed import Exposures

ROWS_A_USER = "rows_a_user"  # the key in the JSON, beside users and rows


def record_exposures(exposures: Exposures, population_by: str) -> dict[str, Any]:
    """The sample as plain data, for the record of a run.

    Parameters
    ----------
    exposures : Exposures
    population_by : str
        How it is known what the items were drawn from.
    """
    exposure = exposures.exposure
    return {
        "population": str(exposures.evidence.split.rule),
        "population_by": population_by,
        "users": exposure.n_users,
        "rows": len(exposure.user),
        "positives": int(exposure.positive.sum()),
        "users_without_positive": int(np.sum(exposure.positives == 0)),
        "rows_a_user": spread(exposure.exposed),
        "population_size": spread(exposure.population),
    }


def spread(sizes: Ints) -> dict[str, float]:
    """Least, middle and largest; whole numbers where they are."""
    middle = float(np.median(sizes))
    return {
        "min": int(sizes.min()),
        "median": int(middle) if middle.is_integer() else middle,
        "max": int(sizes.max()),
    }


def count_sizes(sizes: Ints) -> dict[str, int]:
    """How many users have so many rows, as in the JSON."""
    numbers, users = np.unique(sizes, return_counts=True)
    return {str(number): int(n) for number, n in zip(numbers, users, strict=True)}
